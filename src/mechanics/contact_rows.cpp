// Rows of contacts: relative velocity of the matter half way between the two surface points, along the normal and the
// tangents.
#include <cmath>

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

/// Turns t1 to the axis of the material with anisotropic friction, if there is one; its share of friction across.
double align_tangents(const Model& model, const Contact& contact, const Side& a, const Side& b, ContactRows* rows) {
  constexpr double kAlong = 1e-3;  // an axis nearer to the normal than this leaves no direction in the tangent plane
  for (const bool of_b : {false, true}) {
    const Material& material = model.materials[of_b ? contact.material_b : contact.material_a];
    if (!material.friction_across || model.planar) continue;
    const Vec3& n = rows->direction[0];
    const Vec3 axis = (of_b ? b : a).rotation * material.friction_axis.normalized();
    const Vec3 tangent = axis - axis.dot(n) * n;
    if (tangent.norm() < kAlong) continue;
    rows->direction[1] = tangent.normalized();
    rows->direction[2] = n.cross(rows->direction[1]);
    return *material.friction_across / material.friction;
  }
  return 1;
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

/// Rows of the further limits: each moment is bounded by its arm times the normal force, that is by mu times it after
/// scaling.
void add_turn_rows(const PairLaw& law, bool planar, const Side& a, const Side& b, ContactRows* rows) {
  rows->extra = 0;
  if (law.friction == 0) return;
  const auto add = [&](const Vec3& e, double arm) {
    rows->row[rows->count + rows->extra++] = calc_turn_row(a, b, e, arm / law.friction);
  };
  if (planar) {
    if (law.rolling_friction > 0) add(Vec3::UnitZ(), law.rolling_friction);
    return;
  }
  const Vec3& n = rows->direction[0];
  if (law.spinning_friction > 0) add(n, law.spinning_friction);
  if (law.rolling_friction <= 0) return;
  add(rows->direction[1], law.rolling_friction);
  add(n.cross(rows->direction[1]), law.rolling_friction);
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

Vec3 calc_belt_slip(const Model& model, std::span<const Pose> pose, const Contact& contact, double t) {
  const auto run = [&](int s) -> Vec3 {
    const Shape& shape = model.shapes[s];
    if (!runs(shape)) return Vec3::Zero();
    const Vec3 own(shape.surface_velocity[0].at(t), shape.surface_velocity[1].at(t), shape.surface_velocity[2].at(t));
    return shape.body == kWorld ? own : Vec3(pose[shape.body].orientation * own);
  };
  if (!model.has_belts || contact.limit >= 0 || contact.central) return Vec3::Zero();
  const Vec3 slip = run(contact.key.shape_b) - run(contact.key.shape_a);
  return slip - contact.normal.dot(slip) * contact.normal;
}

void update_contact_rows(const Model& model, std::span<const Pose> pose, const ContactSet& contacts,
                         std::vector<ContactRows>* rows, std::optional<double> t) {
  rows->resize(contacts.contacts.size());
  Side a(pose, kWorld), b(pose, kWorld);
  int body_a = kWorld, body_b = kWorld;  // of the sides in hand: the contacts of one pair come one after the other
  for (std::size_t i = 0; i < contacts.contacts.size(); ++i) {
    const Contact& contact = contacts.contacts[i];
    ContactRows& out = (*rows)[i];
    out.contact = static_cast<int>(i);
    out.body_a = contact.body_a;
    out.body_b = contact.body_b;
    out.gap = contact.gap;
    if (contact.limit >= 0) {
      out.count = model.planar ? 2 : 3;
      update_limit_row(model, pose, contact, &out);
      continue;
    }
    const PairLaw& law = model.pair_law(contact.material_a, contact.material_b);
    out.friction = law.friction;
    out.restitution = law.restitution;
    out.solve = law.solve;
    out.count = model.planar ? 2 : 3;
    update_directions(contact.normal, model.planar, &out);
    if (contact.body_a != body_a) a = Side(pose, body_a = contact.body_a);
    if (contact.body_b != body_b) b = Side(pose, body_b = contact.body_b);
    if (contact.central) {
      update_central_row(contact, a, b, &out);
      continue;
    }
    const double across = align_tangents(model, contact, a, b, &out);
    out.direction[2] *= across;
    // Both sides at one point: impulses of an open contact would otherwise be a couple. The normal row is the same.
    const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
    update_half_rows(a, point, -1, &PairRow::a, &out);
    update_half_rows(b, point, 1, &PairRow::b, &out);
    if (model.planar) out.row[2] = PairRow{};
    add_turn_rows(law, model.planar, a, b, &out);
    out.drift = {};
    if (!t || !model.has_belts) continue;
    const Vec3 slip = calc_belt_slip(model, pose, contact, *t);
    for (int k = 1; k < out.count; ++k) out.drift[k] = slip.dot(out.direction[k]);
  }
}

}  // namespace slipstick
