#include "audit/fast_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "audit/surface_tree.h"
#include "base/se3.h"

namespace slipstick {
namespace {

/// Of the radii of both interior balls: what moves less against each other is seen to overlap before it is through.
constexpr double kFarPart = 0.5;
/// Of the largest ball's radius: a centre of mass with so much room is the core.
constexpr double kWellInside = 0.3;
/// More fast shapes than this are sorted before they are compared with all.
constexpr std::size_t kFew = 16;

bool is_closed_surface(const Solid& solid) { return solid.kind == ShapeKind::Mesh && !solid.tree->is_sheet(); }

}  // namespace

Pose BodyPath::at(double t) const { return {from.position + t * move, from.orientation * exp_rotation(t * turn)}; }

BodyPath make_path(const Pose& from, const Pose& to, const Vec3& about) {
  BodyPath path{from, to.position - from.position, Vec3::Zero()};
  Quat turned = from.orientation.conjugate() * to.orientation;
  if (turned.w() < 0) turned.coeffs() = -turned.coeffs();
  const double sine = turned.vec().norm(), asked = about.norm();
  const double angle = 2 * std::atan2(sine, turned.w());
  if (asked < 0.5 * std::numbers::pi) {  // no whole turns
    if (sine > 0) path.turn = angle / sine * turned.vec();
    return path;
  }
  const Vec3 axis = sine > 1e-9 ? Vec3(turned.vec() / sine) : Vec3(about / asked);
  const double whole = std::round((about.dot(axis) - angle) / (2 * std::numbers::pi));
  path.turn = (angle + 2 * std::numbers::pi * whole) * axis;
  return path;
}

FastPairs::FastPairs(const Model& model, WorldAudit* audit)
    : model_(model),
      audit_(*audit),
      radius_(model.shapes.size(), 0.0),
      least_(model.bodies.size(), kInfinity),
      paths_(model.bodies.size()),
      path_call_(model.bodies.size(), 0),
      is_fast_(model.shapes.size(), 0),
      boxes_(model.shapes.size()) {
  for (int s = 0; s < static_cast<int>(model.shapes.size()); ++s) {
    solids_.push_back(audit->make_own(s));
    add_core(s);
  }
  first_core_.push_back(static_cast<int>(cores_.size()));
  for (const Solid& solid : solids_) {
    first_corner_.push_back(static_cast<int>(corners_.size()));
    if (thinnest_ < kInfinity)
      for (const Vec3& corner : find_corners(solid)) corners_.push_back(corner);
  }
  first_corner_.push_back(static_cast<int>(corners_.size()));
  for (double& least : least_)
    if (least < kInfinity) least = std::min(least, thinnest_);
  fast_.reserve(solids_.size());
  pairs_.reserve(2 * cores_.size());
  swept_.reserve(2 * solids_.size());
}

void FastPairs::add_core(int s) {
  const Shape& shape = model_.shapes[s];
  first_core_.push_back(static_cast<int>(cores_.size()));
  if (shape.kind == ShapeKind::Plane || shape.kind == ShapeKind::Heightfield) return;
  const std::vector<InteriorBall> balls = find_interior_balls(solids_[s]);
  const double room = calc_any_room(solids_[s], Vec3::Zero());
  if (room > 0 && room >= kWellInside * balls.front().radius) cores_.push_back({Vec3::Zero(), room});
  if (balls.size() > 1 || first_core_.back() == static_cast<int>(cores_.size()))
    for (const InteriorBall& ball : balls) cores_.push_back({ball.center, ball.radius});
  radius_[s] = cores_[first_core_.back()].radius;
  if (is_closed_surface(solids_[s])) thinnest_ = std::min(thinnest_, radius_[s]);
  if (shape.body != kWorld) least_[shape.body] = std::min(least_[shape.body], kFarPart * radius_[s]);
}

const BodyPath& FastPairs::path(int body) {
  if (body == kWorld) return still_;
  if (path_call_[body] == calls_) return paths_[body];
  path_call_[body] = calls_;
  const Vec3 about = h_ * ((1 - gamma_) * from_->velocity[body].angular + gamma_ * to_->velocity[body].angular);
  return paths_[body] = make_path(from_->pose[body], to_->pose[body], about);
}

void FastPairs::find(const State& from, const State& to, double h, double gamma, double part,
                     std::span<const Contact> contacts) {
  from_ = &from;
  to_ = &to;
  h_ = h;
  gamma_ = gamma;
  part_ = part;
  ++calls_;
  pairs_.clear();
  swept_.clear();
  find_deep(contacts);
  find_fast();
  if (fast_.empty()) return;
  const auto count = static_cast<int>(solids_.size());
  for (int s = 0; s < count; ++s) update_box(s);
  if (fast_.size() <= kFew) {
    for (const int s : fast_)
      for (int t = 0; t < count; ++t)
        if (!(is_fast_[t] && t <= s) && boxes_[s].meets(boxes_[t])) try_pair(s, t);
  } else {
    for (const BoxStrips::Pair& pair : strips_.find(boxes_, is_fast_)) try_pair(pair.a, pair.b);
  }
  const auto order = [](const FastPair& p) { return std::array{p.mover, p.partner, p.core}; };
  std::sort(pairs_.begin(), pairs_.end(), [&](const FastPair& x, const FastPair& y) { return order(x) < order(y); });
  const auto same = [&](const FastPair& x, const FastPair& y) { return order(x) == order(y); };
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), same), pairs_.end());
  std::sort(swept_.begin(), swept_.end(), [](const SweptPair& x, const SweptPair& y) {
    return x.mover != y.mover ? x.mover < y.mover : x.partner < y.partner;
  });
}

void FastPairs::find_deep(std::span<const Contact> contacts) {
  for (const Contact& contact : contacts) {
    if (!(contact.gap < 0) || contact.limit >= 0 || contact.central) continue;
    const int a = contact.key.shape_a, b = contact.key.shape_b;
    const auto is_plane = [&](int s) { return model_.shapes[s].kind == ShapeKind::Plane; };
    if (is_plane(a) || is_plane(b) || !(-contact.gap > kFarPart * (radius_[a] + radius_[b]))) continue;
    try_cores(a, b, true);
    try_cores(b, a, true);
  }
}

/// A shape is fast if a point of its body may have gone farther than half of its own ball: of two that are not, neither
/// can have gone through the other.
void FastPairs::find_fast() {
  for (const int s : fast_) is_fast_[s] = 0;
  fast_.clear();
  for (std::size_t i = 0; i < least_.size(); ++i) {
    const Body& body = model_.bodies[i];
    if (body.kind == BodyKind::Fixed || least_[i] == kInfinity) continue;
    const double speed_sq = std::max(from_->velocity[i].angular.squaredNorm(), to_->velocity[i].angular.squaredNorm());
    const double travel =
        (to_->pose[i].position - from_->pose[i].position).norm() + h_ * std::sqrt(speed_sq) * body.reach_radius;
    if (!(travel > part_ * least_[i])) continue;
    for (int s = body.first_shape; s < body.first_shape + body.shape_count; ++s) {
      if (first_core_[s] == first_core_[s + 1] || !(travel > part_ * std::min(kFarPart * radius_[s], thinnest_)))
        continue;
      fast_.push_back(s);
      is_fast_[s] = 1;
    }
  }
}

/// Of the whole way of a sphere about the shape. One that is off the centre swings out, at most to the other side.
void FastPairs::update_box(int s) {
  const Shape& shape = model_.shapes[s];
  Box3& box = boxes_[s];
  if (!(shape.bound < kInfinity)) {
    box = {Vec3::Constant(kInfinity), Vec3::Constant(-kInfinity)};  // planes: nothing gets through those
    return;
  }
  box = {};
  if (shape.body == kWorld) {
    box.include(shape.pose.position);
  } else {
    box.include(apply(from_->pose[shape.body], shape.pose.position));
    box.include(apply(to_->pose[shape.body], shape.pose.position));
  }
  double swing = 0;
  if (shape.body != kWorld && model_.bodies[shape.body].kind != BodyKind::Fixed) {
    const double turn = path(shape.body).turn.norm();
    swing = std::min(2.0, turn * turn) * shape.pose.position.norm();
  }
  const Vec3 wide = Vec3::Constant(shape.bound + swing);
  box.low -= wide;
  box.high += wide;
}

void FastPairs::try_pair(int s, int t) {
  if (!audit_.may_touch(s, t)) return;
  try_cores(s, t, false);
  try_cores(t, s, false);
  try_corners(s, t);
  try_corners(t, s);
}

void FastPairs::try_corners(int mover, int partner) {
  if (first_corner_[mover] == first_corner_[mover + 1]) return;
  if (!is_closed_surface(solids_[partner]) && !is_closed_surface(solids_[mover])) return;
  const BodyPath &way = path(model_.shapes[mover].body), &frame = path(model_.shapes[partner].body);
  const double straight = (way.move - frame.move).norm();
  const double reach = model_.shapes[mover].pose.position.norm() + model_.shapes[mover].bound;
  const double arm = (way.from.position - frame.from.position).norm() + straight + reach;
  const double travel = straight + way.turn.norm() * reach + frame.turn.norm() * arm;
  if (travel > part_ * radius_[partner]) swept_.push_back({mover, partner});
}

void FastPairs::try_cores(int mover, int partner, bool deep) {
  for (int k = first_core_[mover]; k < first_core_[mover + 1]; ++k)
    if (deep || goes_far(cores_[k], mover, partner)) pairs_.push_back({mover, partner, k});
}

bool FastPairs::goes_far(const Core& core, int mover, int partner) {
  const BodyPath &way = path(model_.shapes[mover].body), &frame = path(model_.shapes[partner].body);
  const double straight = (way.move - frame.move).norm();
  const double arm = (apply(way.from, core.center) - frame.from.position).norm() + straight;
  const double travel = straight + way.turn.norm() * core.center.norm() + frame.turn.norm() * arm;
  return travel > part_ * kFarPart * (core.radius + radius_[partner]);
}

}  // namespace slipstick
