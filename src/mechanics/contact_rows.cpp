// Rows of contacts: relative velocity of the matter half way between the two surface points, along the normal and the
// tangents.
#include <slipstick/surface.h>

#include <cmath>

#include "base/thread_team.h"
#include "mechanics/equations.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

void update_directions(const Vec3& normal, bool planar, ContactRows* rows) {
  constexpr double kCos25 = 0.90630778703664996;
  rows->direction[0] = normal;
  if (planar) {
    rows->direction[1] = Vec3(-normal.y(), normal.x(), 0);  // z x n
    rows->direction[2].setZero();
    return;
  }
  const int axis = std::abs(normal.x()) < kCos25 ? 0 : 1;
  rows->direction[1] = (Vec3::Unit(axis) - normal[axis] * normal).normalized();
  rows->direction[2] = normal.cross(rows->direction[1]);
}

/// [methods 1] for all directions of one side, written in place: sign * (e, R^T (arm x e)).
void update_half_rows(const Side& side, const Vec3& point, double sign, Vec6 PairRow::*half, ContactRows* rows) {
  if (!side.moves) {
    for (int k = 0; k < rows->count; ++k) (rows->row[k].*half).setZero();
    return;
  }
  const Vec3 arm = sign * (point - side.position);
  for (int k = 0; k < rows->count; ++k) {
    const Vec3& e = rows->direction[k];
    Vec6& row = rows->row[k].*half;
    row.head<3>() = sign * e;
    row.tail<3>().noalias() = side.rotation.transpose() * arm.cross(e);
  }
}

/// Turns t1 to the axis of the material with anisotropic friction, if there is one, and scales t2 by its share of
/// friction across.
void align_tangents(const Model& model, const Contact& contact, const Side& a, const Side& b, ContactRows* rows) {
  constexpr double kAlong = 1e-3;  // an axis nearer to the normal than this leaves no direction in the tangent plane
  for (const bool of_b : {false, true}) {
    const Material& material = model.materials[of_b ? contact.material_b : contact.material_a];
    if (!material.friction_across || model.planar) continue;
    const Vec3& n = rows->direction[0];
    const Vec3 axis = (of_b ? b : a).rotation * material.friction_axis.normalized();
    const Vec3 tangent = axis - axis.dot(n) * n;
    if (tangent.norm() < kAlong) continue;
    rows->direction[1] = tangent.normalized();
    rows->across = *material.friction_across / material.friction;
    rows->direction[2] = rows->across * n.cross(rows->direction[1]);
    return;
  }
}

/// Speed at which B's surface slips over A's.
double calc_slip(const ContactRows& rows, std::span<const Twist> velocity) {
  double sum = 0;
  for (int k = 1; k < rows.count; ++k) {
    const double scaled = rows.drift[k] + calc_pair_speed(velocity, rows.body_a, rows.body_b, rows.row[k]);
    const double speed = k == 2 ? scaled / rows.across : scaled;
    sum += speed * speed;
  }
  return std::sqrt(sum);
}

/// Relative angular velocity of B against A along the world axis e, times `scale`.
PairRow calc_turn_row(const Side& a, const Side& b, const Vec3& e, double scale) {
  PairRow row{};
  row.a.setZero();
  row.b.setZero();
  if (a.moves) row.a.tail<3>() = -scale * (a.rotation.transpose() * e);
  if (b.moves) row.b.tail<3>() = scale * (b.rotation.transpose() * e);
  return row;
}

/// The arm of rolling friction: that of the place, on a heightfield with a map of it, or else the pair's.
double calc_rolling_arm(const Model& model, const PairLaw& law, const Contact& contact, const Side& a, const Side& b,
                        const Vec3& point) {
  if (!model.has_rolling_maps) return law.rolling_friction;
  for (const bool of_b : {false, true}) {
    const Shape& shape = model.shapes[of_b ? contact.key.shape_b : contact.key.shape_a];
    if (shape.surface < 0 || model.surfaces[shape.surface]->rolling_friction.values.empty()) continue;
    const Side& side = of_b ? b : a;
    const Vec3 in_body = side.rotation.transpose() * (point - side.position);
    const Vec3 place = shape.pose.orientation.conjugate() * (in_body - shape.pose.position);
    return calc_rolling_friction(*model.surfaces[shape.surface], place.x(), place.y());
  }
  return law.rolling_friction;
}

/// Rows of the further limits: each moment is bounded by its arm times the normal force, that is by mu times it after
/// scaling.
void add_turn_rows(double rolling, double spinning, bool planar, const Side& a, const Side& b, ContactRows* rows) {
  rows->extra = 0;
  rows->turn.clear();
  if (rows->friction == 0) return;
  const auto add = [&](const Vec3& e, double arm) {
    ++rows->extra;
    rows->turn.push_back(calc_turn_row(a, b, e, arm / rows->friction));
  };
  if (planar) {
    if (rolling > 0) add(Vec3::UnitZ(), rolling);
    return;
  }
  const Vec3& n = rows->direction[0];
  if (spinning > 0) add(n, spinning);
  if (rolling <= 0) return;
  add(rows->direction[1], rolling);
  add(n.cross(rows->direction[1]), rolling);
}

/// The end of a joint's range: one row, pointing into the range.
void update_limit_row(const Model& model, std::span<const Pose> pose, const Contact& contact, ContactRows* out) {
  const Limit& limit = model.limits[contact.limit];
  const AxisRow axis = calc_axis_row(model, pose, limit.axis, 0);
  const double sign = limit.upper ? -1 : 1;
  out->row = {};
  out->row[0] = {sign * axis.row.a, sign * axis.row.b};
  out->direction = {Vec3::UnitX(), Vec3::Zero(), Vec3::Zero()};  // of the remembered impulse, nothing else
  out->friction = limit.law.friction;
  out->restitution = limit.law.restitution;
  out->solve = limit.law.solve;
  out->extra = 0;
  out->drift = {};
}

/// On the way of the centres of mass: one row, no lever arms.
void update_central_row(const Contact& contact, const Side& a, const Side& b, ContactRows* out) {
  out->row = {};
  if (a.moves) out->row[0].a.head<3>() = -contact.normal;
  if (b.moves) out->row[0].b.head<3>() = contact.normal;
  out->friction = out->restitution = 0;
  out->extra = 0;
  out->drift = {};
}

}  // namespace

double calc_pair_speed(std::span<const Twist> velocity, int body_a, int body_b, const PairRow& row) {
  double speed = 0;
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0) return;
    speed += part.head<3>().dot(velocity[body].linear) + part.tail<3>().dot(velocity[body].angular);
  };
  side(body_a, row.a);
  side(body_b, row.b);
  return speed;
}

Vec3 calc_belt_slip(const Model& model, std::span<const Pose> pose, const Contact& contact, double t) {
  const auto run = [&](int s) -> Vec3 {
    const Shape& shape = model.shapes[s];
    if (!runs(shape)) return Vec3::Zero();
    const Vec3 own((*shape.belt)[0].at(t), (*shape.belt)[1].at(t), (*shape.belt)[2].at(t));
    return shape.body == kWorld ? own : Vec3(pose[shape.body].orientation * own);
  };
  if (!model.has_belts || contact.limit >= 0 || contact.central) return Vec3::Zero();
  const Vec3 slip = run(contact.key.shape_b) - run(contact.key.shape_a);
  return slip - contact.normal.dot(slip) * contact.normal;
}

namespace {

/// Of contacts [first, last).
void update_portion(const Model& model, std::span<const Pose> pose, const std::vector<Contact>& contacts,
                    std::optional<double> t, std::span<const Twist> velocity, std::size_t first, std::size_t last,
                    std::vector<ContactRows>* rows) {
  Side a(pose, kWorld), b(pose, kWorld);
  int body_a = kWorld, body_b = kWorld;  // of the sides in hand: the contacts of one pair come one after the other
  for (std::size_t i = first; i < last; ++i) {
    const Contact& contact = contacts[i];
    ContactRows& out = (*rows)[i];
    out.contact = static_cast<int>(i);
    out.body_a = contact.body_a;
    out.body_b = contact.body_b;
    out.gap = contact.gap;
    out.count = model.planar ? 2 : 3;
    out.across = 1;
    if (contact.limit >= 0) {
      update_limit_row(model, pose, contact, &out);
      continue;
    }
    const PairLaw& law = model.pair_law(contact.material_a, contact.material_b);
    out.friction = law.friction;
    out.restitution = law.restitution;
    out.solve = law.solve;
    update_directions(contact.normal, model.planar, &out);
    if (contact.body_a != body_a) a = Side(pose, body_a = contact.body_a);
    if (contact.body_b != body_b) b = Side(pose, body_b = contact.body_b);
    if (contact.central) {
      update_central_row(contact, a, b, &out);
      continue;
    }
    align_tangents(model, contact, a, b, &out);
    // Both sides at one point: impulses of an open contact would otherwise be a couple. The normal row is the same.
    const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
    update_half_rows(a, point, -1, &PairRow::a, &out);
    update_half_rows(b, point, 1, &PairRow::b, &out);
    if (model.planar) out.row[2] = PairRow{};
    out.drift = {};
    if (t && model.has_belts) {
      const Vec3 slip = calc_belt_slip(model, pose, contact, *t);
      for (int k = 1; k < out.count; ++k) out.drift[k] = slip.dot(out.direction[k]);
    }
    if (law.by_slip && !velocity.empty()) out.friction = calc_friction(law, calc_slip(out, velocity));
    add_turn_rows(calc_rolling_arm(model, law, contact, a, b, point), law.spinning_friction, model.planar, a, b, &out);
  }
}

}  // namespace

void update_contact_rows(const Model& model, std::span<const Pose> pose, const ContactSet& contacts,
                         std::vector<ContactRows>* rows, std::optional<double> t, std::span<const Twist> velocity,
                         const ThreadTeam* team) {
  constexpr std::size_t kPortion = 512;
  const std::size_t count = contacts.contacts.size();
  if (rows->capacity() < count) {  // a little more than is needed, and nothing is moved
    std::vector<ContactRows>().swap(*rows);
    rows->reserve(count + count / 8);
  }
  rows->resize(count);
  for_portions(team, count, kPortion, [&](std::size_t first, std::size_t last) {
    update_portion(model, pose, contacts.contacts, t, velocity, first, last, rows);
  });
}

NormalRow calc_normal_row(const Model& model, std::span<const Pose> pose, const Contact& contact) {
  NormalRow out;
  out.body_a = contact.body_a;
  out.body_b = contact.body_b;
  if (contact.limit >= 0) {
    ContactRows rows;
    update_limit_row(model, pose, contact, &rows);
    out.row = rows.row[0];
    return out;
  }
  const Side a(pose, contact.body_a), b(pose, contact.body_b);
  if (contact.central) {
    ContactRows rows;
    update_central_row(contact, a, b, &rows);
    out.row = rows.row[0];
    return out;
  }
  const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
  const auto half = [&](const Side& side, double sign, Vec6* row) {
    if (!side.moves) return;
    row->head<3>() = sign * contact.normal;
    row->tail<3>().noalias() = side.rotation.transpose() * Vec3(sign * (point - side.position)).cross(contact.normal);
  };
  half(a, -1, &out.row.a);
  half(b, 1, &out.row.b);
  return out;
}

}  // namespace slipstick
