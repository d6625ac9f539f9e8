#include "audit/world_audit.h"

#include "audit/box_strips.h"

#include <algorithm>
#include <array>

#include "audit/surface_tree.h"

namespace slipstick {
namespace {

/// What a pair may overlap beyond its contacts, as a part of the smaller shape: the contact finder's own accuracy for
/// curved shapes is 1e-7.
constexpr double kAllowedPart = 1e-6;
/// Prices: of placing the centre of a shape, of placing a shape, and how many bounds are compared for one unit.
constexpr long kCenterWork = 1, kPlaceWork = 8, kBoundsForOne = 4;

/// Kinds that live in the plane z = 0 meet each other, spheres and planes; all others meet all but these.
bool kinds_touch(ShapeKind a, ShapeKind b) {
  const auto is_flat = [](ShapeKind kind) { return kind == ShapeKind::Polygon; };
  const auto is_plain = [](ShapeKind kind) {
    return kind == ShapeKind::Plane || kind == ShapeKind::Sphere || kind == ShapeKind::Disk;
  };
  if (a == ShapeKind::Plane && b == ShapeKind::Plane) return false;
  return is_flat(a) == is_flat(b) || is_plain(a) || is_plain(b);
}

double reported_depth(std::span<const Contact> contacts, int a, int b) {
  const auto before = [](const Contact& c, const std::array<int, 2>& pair) {
    return c.key.shape_a != pair[0] ? c.key.shape_a < pair[0] : c.key.shape_b < pair[1];
  };
  double depth = 0;
  for (auto c = std::lower_bound(contacts.begin(), contacts.end(), std::array<int, 2>{a, b}, before);
       c != contacts.end() && c->key.shape_a == a && c->key.shape_b == b; ++c) {
    depth = std::max(depth, -c->gap);
  }
  return depth;
}

}  // namespace

std::string_view name_of(AuditMode mode) {
  switch (mode) {
    case AuditMode::Share:
      return "share";
    case AuditMode::Every:
      return "every";
    case AuditMode::Off:
      return "off";
  }
  return "share";
}

void WorldVerdict::add(const WorldVerdict& verdict) {
  pairs += verdict.pairs;
  overlap = std::max(overlap, verdict.overlap);
  missed += verdict.missed;
  work += verdict.work;
  if (crossed == 0) first_crossed = verdict.first_crossed;
  crossed += verdict.crossed;
  if (verdict.worst.depth > worst.depth) worst = verdict.worst;
}

/// What every shape is asked about again and again, with nothing else between.
struct Ball {
  Vec3 center = Vec3::Zero();
  double radius = kInfinity;
};

struct WorldAudit::Impl {
  explicit Impl(const Model& m)
      : model(&m), solids(m.shapes.size()), placed(m.shapes.size()), trees(m.surfaces.size()) {
    for (int s = 0; s < static_cast<int>(m.shapes.size()); ++s) {
      const Shape& shape = m.shapes[s];
      const bool body = shape.body != kWorld;
      movable.push_back(body && m.bodies[shape.body].kind == BodyKind::Dynamic && m.bodies[shape.body].dof > 0);
      if (movable.back()) rounds_of.push_back(s);
      balls.push_back({Vec3::Zero(), shape.bound});
    }
  }

  void place(const State& next);
  Solid make(int s);
  const Solid& solid(int s);
  bool may_touch(int a, int b) const;
  bool is_near(int a, int b);
  int skip_far(int s, int partner) const;
  void check(int a, int b, std::span<const Contact> contacts, WorldVerdict* verdict);
  void find_pairs();
  long work_of_all() const { return own_work + meter.work(); }

  const Model* model;
  const State* state = nullptr;  ///< of the call that is under way
  std::vector<std::uint8_t> movable;
  std::vector<int> rounds_of;  ///< movable shapes
  std::vector<Ball> balls;     ///< about the shapes
  std::vector<Solid> solids;
  std::vector<long> placed;  ///< the call in which the solid was placed
  std::vector<std::unique_ptr<SurfaceTree>> trees;
  std::vector<Box3> boxes;
  BoxStrips strips;
  std::vector<std::array<int, 2>> pairs;
  OverlapMeter meter;
  long calls = 0, own_work = 0, credit = 0, rounds = 0;
  std::size_t next_shape = 0;
  int next_partner = 0;
};

void WorldAudit::Impl::place(const State& next) {
  state = &next;
  ++calls;
  for (std::size_t s = 0; s < balls.size(); ++s) {
    const Shape& shape = model->shapes[s];
    const Pose body = shape.body == kWorld ? Pose() : next.pose[shape.body];
    balls[s].center = body.position + body.orientation * shape.pose.position;
  }
  own_work += kCenterWork * static_cast<long>(balls.size());
}

Solid WorldAudit::Impl::make(int s) {
  const Shape& shape = model->shapes[s];
  if (shape.surface < 0) return make_solid(*model, shape, nullptr);
  std::unique_ptr<SurfaceTree>& tree = trees[shape.surface];
  if (!tree) {
    tree = std::make_unique<SurfaceTree>(model->surfaces[shape.surface], shape.kind == ShapeKind::Heightfield);
  }
  return make_solid(*model, shape, tree.get());
}

const Solid& WorldAudit::Impl::solid(int s) {
  if (placed[s] == calls) return solids[s];
  const Shape& shape = model->shapes[s];
  if (placed[s] == 0) solids[s] = make(s);
  place_solid(*model, shape, shape.body == kWorld ? Pose() : state->pose[shape.body], &solids[s]);
  placed[s] = calls;
  own_work += kPlaceWork;
  return solids[s];
}

bool WorldAudit::Impl::may_touch(int a, int b) const {
  const int body_a = model->shapes[a].body, body_b = model->shapes[b].body;
  if ((!movable[a] && !movable[b]) || body_a == body_b) return false;
  if (!kinds_touch(model->shapes[a].kind, model->shapes[b].kind)) return false;
  if (!bits_touch(model->shapes[a], model->shapes[b])) return false;
  if (body_a != kWorld && body_b != kWorld && model->bodies[body_a].group >= 0 &&
      model->bodies[body_a].group == model->bodies[body_b].group)
    return false;
  const std::array<int, 2> bodies{std::min(body_a, body_b), std::max(body_a, body_b)};
  return !std::binary_search(model->pairs_without_contact.begin(), model->pairs_without_contact.end(), bodies);
}

/// By the spheres about the shapes; planes by the height of the sphere over them.
bool WorldAudit::Impl::is_near(int a, int b) {
  const Ball &x = balls[a], &y = balls[b];
  const double far = x.radius + y.radius;
  if (far < kInfinity) return (x.center - y.center).squaredNorm() <= far * far;
  const bool first = model->shapes[a].kind == ShapeKind::Plane;
  const Solid& plane = solid(first ? a : b);
  const Ball& other = first ? y : x;
  return plane.frame.col(2).dot(other.center - plane.center) <= other.radius;
}

/// The first from `partner` on whose ball does not keep it away; nothing else is asked about most of them.
int WorldAudit::Impl::skip_far(int s, int partner) const {
  const Ball ball = balls[s];
  const auto count = static_cast<int>(balls.size());
  for (; partner < count; ++partner) {
    const double far = ball.radius + balls[partner].radius;
    if (!((balls[partner].center - ball.center).squaredNorm() > far * far)) break;
  }
  return partner;
}

void WorldAudit::Impl::check(int a, int b, std::span<const Contact> contacts, WorldVerdict* verdict) {
  ++verdict->pairs;
  const double reported = reported_depth(contacts, a, b);
  const double size = 2 * std::min(model->shapes[a].bound, model->shapes[b].bound);
  const CommonBall overlap = meter.measure(solid(a), solid(b), reported + kAllowedPart * size);
  verdict->overlap = std::max(verdict->overlap, overlap.depth);
  if (!(overlap.depth > reported + kAllowedPart * size)) return;
  ++verdict->missed;
  if (!(overlap.depth > verdict->worst.depth)) return;
  verdict->worst = {
      a, b, model->shapes[a].body, model->shapes[b].body, overlap.depth, reported, overlap.center, state->time};
}

/// From boxes about the spheres; planes, which have none, with all.
void WorldAudit::Impl::find_pairs() {
  pairs.clear();
  const auto add = [&](int a, int b) {
    if (may_touch(a, b) && is_near(a, b)) pairs.push_back({std::min(a, b), std::max(a, b)});
  };
  boxes.assign(balls.size(), {});  // those of planes stay without an inside
  for (int s = 0; s < static_cast<int>(balls.size()); ++s) {
    const Vec3 wide = Vec3::Constant(model->shapes[s].bound);
    if (model->shapes[s].kind != ShapeKind::Plane)
      boxes[s] = {balls[s].center - wide, balls[s].center + wide};
    else
      for (const int other : rounds_of) add(s, other);
  }
  for (const BoxStrips::Pair& pair : strips.find(boxes, std::vector<std::uint8_t>(boxes.size(), 1)))
    add(pair.a, pair.b);
  std::sort(pairs.begin(), pairs.end());
}

WorldAudit::WorldAudit(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
WorldAudit::~WorldAudit() = default;
WorldAudit::WorldAudit(WorldAudit&&) noexcept = default;
WorldAudit& WorldAudit::operator=(WorldAudit&&) noexcept = default;

WorldVerdict WorldAudit::check_all(const State& state, std::span<const Contact> contacts) {
  WorldVerdict verdict;
  const long before = impl_->work_of_all();
  impl_->place(state);
  impl_->find_pairs();
  for (const auto& [a, b] : impl_->pairs) impl_->check(a, b, contacts, &verdict);
  verdict.work = impl_->work_of_all() - before;
  return verdict;
}

WorldVerdict WorldAudit::check_pairs(const State& state, std::span<const Contact> contacts,
                                     std::span<const std::array<int, 2>> pairs) {
  WorldVerdict verdict;
  const long before = impl_->work_of_all();
  impl_->place(state);
  for (const auto& [a, b] : pairs)
    if (impl_->is_near(a, b)) impl_->check(a, b, contacts, &verdict);
  verdict.work = impl_->work_of_all() - before;
  return verdict;
}

WorldVerdict WorldAudit::check_some(const State& state, std::span<const Contact> contacts, long allowance) {
  WorldVerdict verdict;
  Impl& impl = *impl_;
  impl.credit += allowance;
  const auto count = static_cast<int>(impl.balls.size());
  // Placing the centres must be worth it.
  if (impl.rounds_of.empty() || impl.credit < 4 * kCenterWork * count) return verdict;
  const long before = impl.work_of_all();
  impl.place(state);
  const auto spent = [&] { return impl.work_of_all() - before; };
  while (spent() < impl.credit) {
    const int s = impl.rounds_of[impl.next_shape];
    const int first = impl.next_partner;
    int partner = first;
    for (; partner < count && spent() < impl.credit; ++partner) {
      partner = impl.skip_far(s, partner);
      if (partner == count) break;
      if (impl.movable[partner] && partner <= s) continue;  // a pair of movable ones is met at the first of them
      if (!impl.is_near(s, partner) || !impl.may_touch(s, partner)) continue;
      impl.check(std::min(s, partner), std::max(s, partner), contacts, &verdict);
    }
    impl.own_work += (partner - first) / kBoundsForOne + 1;
    impl.next_partner = partner;
    if (partner < count) break;
    impl.next_partner = 0;
    if (++impl.next_shape < impl.rounds_of.size()) continue;
    impl.next_shape = 0;
    ++impl.rounds;
    break;  // one state is gone through once
  }
  verdict.work = spent();
  // What a dear pair cost beyond the credit is paid by the next steps; credit for more than all pairs is no use.
  impl.credit = std::min(impl.credit - verdict.work, 0L);
  return verdict;
}

CommonBall WorldAudit::measure(int shape_a, int shape_b, double floor) {
  return impl_->meter.measure(impl_->solid(shape_a), impl_->solid(shape_b), floor);
}
Solid WorldAudit::make_own(int shape) {
  Solid made = impl_->make(shape);
  place_solid(*impl_->model, impl_->model->shapes[shape], Pose(), &made);
  return made;
}
void WorldAudit::place(const State& state) { impl_->place(state); }
bool WorldAudit::may_touch(int shape_a, int shape_b) const { return impl_->may_touch(shape_a, shape_b); }
long WorldAudit::rounds() const { return impl_->rounds; }

}  // namespace slipstick
