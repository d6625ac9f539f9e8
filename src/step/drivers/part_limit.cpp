#include "step/drivers/part_limit.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"

namespace slipstick {

namespace {

constexpr double kFarTurn = 0.3;                     // rad: more is far
constexpr double kQuarterTurn = 1.5707963267948966;  // rad
constexpr double kRowTurn = 0.1;                     // rad, of a part with frozen lever arms
constexpr double kPart = 0.5;                        // of the radii of both interior balls

Vec3 calc_point_velocity(const State& state, int body, const Vec3& p) {
  if (body == kWorld) return Vec3::Zero();
  const Pose& pose = state.pose[body];
  return point_velocity(pose, state.velocity[body], pose.orientation.conjugate() * (p - pose.position));
}

bool is_round(const Shape& shape) { return shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Disk; }

/// One pair of shapes, by all of its contacts.
double calc_pair_limit(const Model& model, const State& state, std::span<const Twist> after,
                       std::span<const Contact> contacts, const FastPairs& fast, Open open, double h) {
  const Contact& one = contacts.front();
  const Shape &a = model.shapes[one.key.shape_a], &b = model.shapes[one.key.shape_b];
  const double solid = kPart * (fast.radius(one.key.shape_a) + fast.radius(one.key.shape_b));
  double spin = 0, swing = 0;  // rad/s, m/s
  const auto add = [&](const Shape& shape) {
    if (shape.body == kWorld || is_round(shape)) return;
    const double speed = std::max(state.velocity[shape.body].angular.norm(), after[shape.body].angular.norm());
    spin += speed;
    swing += speed * model.bodies[shape.body].reach_radius;
  };
  add(a);
  add(b);
  // A hit that was answered by spin leaves points that part and a centre that comes: the next corner is on its way.
  const auto reach = [&](int body) { return body == kWorld ? kInfinity : model.bodies[body].reach_radius; };
  const int smaller = reach(one.body_a) < reach(one.body_b) ? one.body_a : one.body_b;
  const Vec3 center = smaller == kWorld ? one.point_a : state.pose[smaller].position;
  double gap = kInfinity, closing = 0;
  for (const Contact& contact : contacts) {
    gap = std::min(gap, contact.gap);
    const auto closes = [&](const Vec3& on_a, const Vec3& on_b) {
      return contact.normal.dot(calc_point_velocity(state, contact.body_a, on_a) -
                                calc_point_velocity(state, contact.body_b, on_b));
    };
    closing = std::max({closing, closes(contact.point_a, contact.point_b), closes(center, center)});
  }
  const bool rows = open == Open::HaveRows;
  // Beyond a quarter of a turn what parts now may come back: the velocities of the start say nothing.
  const bool turns = spin * h > kFarTurn && (closing * h > 0.1 * solid || spin * h > kQuarterTurn);
  if (!turns && (rows || !(closing * h > solid))) return h;
  const auto linear = [&](int body) { return body == kWorld ? Vec3(Vec3::Zero()) : state.velocity[body].linear; };
  const double speed = (linear(one.body_a) - linear(one.body_b)).norm() + swing;
  if (rows) return std::min(h, std::max(std::max(gap, 0.0) / speed, kRowTurn / spin));
  const double touching = std::min(spin > 0 ? kFarTurn / spin : kInfinity, closing > 0 ? solid / closing : kInfinity);
  return std::min(h, std::max(std::max(gap, 0.0) / speed, touching));
}

}  // namespace

bool turns_far(const Model& model, std::span<const Twist> velocity, double h) {
  const double most = kFarTurn / h;
  return std::any_of(model.shapes.begin(), model.shapes.end(), [&](const Shape& shape) {
    return shape.body != kWorld && velocity[shape.body].angular.squaredNorm() > most * most && !is_round(shape);
  });
}

double calc_part_limit(const Model& model, const State& state, std::span<const Twist> after,
                       std::span<const Contact> contacts, const FastPairs& fast, Open open, double h) {
  double limit = h;
  for (std::size_t i = 0, j = 0; i < contacts.size(); i = j) {
    const ContactKey& key = contacts[i].key;
    for (j = i;
         j < contacts.size() && contacts[j].key.shape_a == key.shape_a && contacts[j].key.shape_b == key.shape_b;)
      ++j;
    if (contacts[i].limit >= 0) continue;
    const auto is_plane = [&](int shape) { return model.shapes[shape].kind == ShapeKind::Plane; };
    if (open == Open::Watched && (is_plane(key.shape_a) || is_plane(key.shape_b))) continue;  // no other side
    limit = std::min(limit, calc_pair_limit(model, state, after, contacts.subspan(i, j - i), fast, open, h));
  }
  return limit;
}

}  // namespace slipstick
