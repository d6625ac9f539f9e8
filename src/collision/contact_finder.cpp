#include "collision/contact_finder.h"

#include "base/thread_team.h"
#include "collision/contact_finder_impl.h"
#include "collision/narrow_phase.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace slipstick {
namespace {

/// Bounds are widened by this part of the size of their numbers, so that rounding never hides a pair that touches.
constexpr double kRoundingPart = 1e-11;

/// Pairs that one thread takes at a time; the contacts of a portion stay together, in the order of the pairs.
constexpr std::size_t kPortion = 256;
/// The same of shapes.
constexpr std::size_t kShapePortion = 512;

/// A shape has few partners, as a rule: insertion.
void sort_by_second(std::span<IndexPair> pairs) {
  constexpr std::size_t kMany = 32;
  if (pairs.size() > kMany) {
    std::sort(pairs.begin(), pairs.end(), [](const IndexPair& x, const IndexPair& y) { return x.b < y.b; });
    return;
  }
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const IndexPair moved = pairs[i];
    std::size_t j = i;
    for (; j > 0 && moved.b < pairs[j - 1].b; --j) pairs[j] = pairs[j - 1];
    pairs[j] = moved;
  }
}

}  // namespace

Bounds ContactFinder::Impl::calc_bounds(int s, std::span<const double> reach) const {
  const PlacedShape& shape = placed[s];
  const Vec3 half = calc_half_extent(shape);
  const double rounding = kRoundingPart * (half.maxCoeff() + shape.center.cwiseAbs().maxCoeff());
  const Vec3 wide = half + Vec3::Constant(reach_of(reach, s) + rounding);
  return {shape.center - wide, shape.center + wide};
}

void ContactFinder::Impl::update_shape(const State& state, std::span<const double> reach, int s) {
  ShapeBrief& brief = briefs[s];
  if (brief.is_centered) {
    placed[s].center = state.pose[brief.body].position;
  } else {
    place_shape(state, s);
  }
  brief.center = placed[s].center;
  brief.reach = reach_of(reach, s);
}

/// Places, briefs and bounds in one go: the memory of a large heap is walked through once.
void ContactFinder::Impl::update_shapes(const State& state, std::span<const double> reach) {
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    // Of `moving`, which is in ascending order.
    auto next = std::lower_bound(moving.begin(), moving.end(), static_cast<std::int32_t>(first));
    for (int s = static_cast<int>(first); s < static_cast<int>(last); ++s) {
      update_shape(state, reach, s);
      if (next == moving.end() || *next != s) continue;
      Bounds& box = bounds[next - moving.begin()];
      box = calc_bounds(s, reach);
      if (const double spare = calc_spare(s); spare > 0) {
        box.low -= Vec3::Constant(spare);
        box.high += Vec3::Constant(spare);
      }
      ++next;
    }
  });
}

/// Places and briefs for a state in which everything is within the bounds of the pairs that are at hand. False: it is
/// not, or there are none.
bool ContactFinder::Impl::update_within(const State& state, std::span<const double> reach) {
  if (!has_pairs || moving.size() < kManyMoving) return false;
  std::atomic<bool> within = true;
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    auto next = std::lower_bound(moving.begin(), moving.end(), static_cast<std::int32_t>(first));
    for (int s = static_cast<int>(first); s < static_cast<int>(last) && within; ++s) {
      update_shape(state, reach, s);
      if (next == moving.end() || *next != s) continue;
      const Bounds &known = bounds[next - moving.begin()], now = calc_bounds(s, reach);
      const bool same = calc_spare(s) > 0 ? (known.low.array() <= now.low.array()).all() &&
                                                (now.high.array() <= known.high.array()).all()
                                          : known.low == now.low && known.high == now.high;
      if (!same) within.store(false, std::memory_order_relaxed);
      ++next;
    }
  });
  const auto is_same = [&](const PlacedPlane& plane) {
    const Vec3& normal = placed[plane.shape].axis;
    return plane.normal == normal && plane.offset == normal.dot(placed[plane.shape].center) &&
           plane.reach == briefs[plane.shape].reach;
  };
  return within && std::all_of(placed_planes.begin(), placed_planes.end(), is_same) && !moves_statics(state, reach);
}

/// Whether they are elsewhere than the tree has them.
bool ContactFinder::Impl::moves_statics(const State& state, std::span<const double> reach) const {
  for (std::size_t k = 0; k < statics.size(); ++k) {
    const int body = model->shapes[statics[k]].body;
    const Pose pose = body == kWorld ? Pose() : state.pose[body];
    if (pose.position != static_pose[k].position || reach_of(reach, statics[k]) != static_reach[k] ||
        pose.orientation.coeffs() != static_pose[k].orientation.coeffs())
      return true;
  }
  return false;
}

/// Fixed bodies stay where they are; should a caller move one, the tree is built again.
void ContactFinder::Impl::update_static_tree(const State& state, std::span<const double> reach) {
  if (has_static_tree && !moves_statics(state, reach)) return;
  static_pose.resize(statics.size());
  static_reach.resize(statics.size());
  for (std::size_t k = 0; k < statics.size(); ++k) {
    const int body = model->shapes[statics[k]].body;
    static_pose[k] = body == kWorld ? Pose() : state.pose[body];
    static_reach[k] = reach_of(reach, statics[k]);
  }
  static_bounds.resize(statics.size());
  for (std::size_t k = 0; k < statics.size(); ++k) {
    static_bounds[k] = calc_bounds(statics[k], reach);
    const bool finite = static_bounds[k].low.allFinite() && static_bounds[k].high.allFinite();
    if (!finite) static_bounds[k] = {Vec3::Constant(-1e300), Vec3::Constant(1e300)};  // not a number: anywhere
  }
  static_tree.build(static_bounds);
  has_static_tree = true;
}

void ContactFinder::Impl::find_static_pairs() {
  if (static_tree.empty()) return;
  const auto look = [&](std::size_t first, std::size_t last, std::vector<IndexPair>* found) {
    for (std::size_t k = first; k < last; ++k) {
      const std::int32_t s = moving[k];
      if (!briefs[s].movable) continue;
      static_tree.find(bounds[k], [&](std::int32_t i) {
        const std::int32_t other = statics[i];
        if (may_touch(s, other)) found->push_back({std::min(s, other), std::max(s, other)});
      });
    }
  };
  gather_portions(team, moving.size(), kShapePortion, look, &pair_portions, &pairs);
}

bool ContactFinder::Impl::may_touch(int shape_a, int shape_b) const {
  const ShapeBrief &a = briefs[shape_a], &b = briefs[shape_b];
  if ((!a.movable && !b.movable) || a.body == b.body) return false;
  if (has_groups && a.body != kWorld && b.body != kWorld && model->bodies[a.body].group >= 0 &&
      model->bodies[a.body].group == model->bodies[b.body].group) {
    return false;
  }
  if (has_bits && !bits_touch(model->shapes[shape_a], model->shapes[shape_b])) return false;
  if (!can_touch(a.kind, b.kind)) return false;
  if (!a.has_excluded || !b.has_excluded) return true;
  const std::array<int, 2> bodies = {std::min(a.body, b.body), std::max(a.body, b.body)};
  return !std::binary_search(model->pairs_without_contact.begin(), model->pairs_without_contact.end(), bodies);
}

/// Planes have no bounds: each solid against each of them.
void ContactFinder::Impl::find_plane_pairs() {
  placed_planes.clear();
  for (const std::int32_t plane : planes) {
    const Vec3& normal = placed[plane].axis;
    placed_planes.push_back({normal, normal.dot(placed[plane].center), briefs[plane].reach, plane});
  }
  if (planes.empty()) return;
  const auto look = [&](std::size_t first, std::size_t last, std::vector<IndexPair>* found) {
    for (std::size_t k = first; k < last; ++k) find_planes_of(solids[k], found);
  };
  gather_portions(team, solids.size(), kShapePortion, look, &pair_portions, &pairs);
}

void ContactFinder::Impl::find_planes_of(std::int32_t s, std::vector<IndexPair>* found) const {
  const ShapeBrief& shape = briefs[s];
  for (const PlacedPlane& plane : placed_planes) {
    const double along = plane.normal.dot(shape.center);
    const double rounding = kRoundingPart * (shape.bound + std::abs(along) + std::abs(plane.offset));
    if (along - plane.offset > shape.bound + shape.reach + plane.reach + calc_spare(s) + rounding) continue;
    if (may_touch(plane.shape, s)) found->push_back({std::min(plane.shape, s), std::max(plane.shape, s)});
  }
}

/// From pairs of moving solids to pairs of shapes.
void ContactFinder::Impl::name_pairs() {
  if (pairs.empty()) return;
  const std::int32_t first = moving.front();
  const bool in_a_row = moving.back() - first == static_cast<std::int32_t>(moving.size()) - 1;  // they are ascending
  for (IndexPair& p : pairs) {
    p = in_a_row ? IndexPair{p.a + first, p.b + first} : IndexPair{moving[p.a], moving[p.b]};
  }
}

/// By (a, b): buckets by a, each sorted by b.
void ContactFinder::Impl::sort_pairs() {
  bucket.assign(placed.size() + 1, 0);
  for (const IndexPair& p : pairs) ++bucket[p.a + 1];
  for (std::size_t s = 0; s < placed.size(); ++s) bucket[s + 1] += bucket[s];
  sorted_pairs.resize(pairs.size());
  constexpr std::size_t kAhead = 16;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k + kAhead < pairs.size()) __builtin_prefetch(sorted_pairs.data() + bucket[pairs[k + kAhead].a], 1);
    sorted_pairs[bucket[pairs[k].a]++] = pairs[k];
  }
  // bucket[s] is now the end of bucket s.
  for_portions(team, placed.size(), kShapePortion, [&](std::size_t first, std::size_t last) {
    std::int32_t start = first == 0 ? 0 : bucket[first - 1];
    for (std::size_t s = first; s < last; start = bucket[s++]) {
      sort_by_second({sorted_pairs.data() + start, static_cast<std::size_t>(bucket[s] - start)});
    }
  });
}

void ContactFinder::Impl::keep_pairs_of(std::span<const char> bodies) {
  const auto is_of = [&](std::int32_t shape) {
    const std::int32_t body = briefs[shape].body;
    return body != kWorld && bodies[body] != 0;
  };
  std::erase_if(pairs, [&](const IndexPair& pair) { return !is_of(pair.a) && !is_of(pair.b); });
}

Contact ContactFinder::Impl::make_names(int shape_a, int shape_b) const {
  const ShapeBrief &a = briefs[shape_a], &b = briefs[shape_b];
  Contact names;
  names.key = {shape_a, shape_b, 0};
  names.body_a = a.body;
  names.body_b = b.body;
  names.material_a = a.material;
  names.material_b = b.material;
  return names;
}

void ContactFinder::Impl::find_portion(std::size_t first, std::size_t last, std::vector<Contact>* contacts) const {
  constexpr std::size_t kAhead = 12;  // partners lie anywhere in memory: asked for before they are needed
  for (std::size_t k = first; k < last; ++k) {
    if (k + kAhead < last) __builtin_prefetch(&briefs[sorted_pairs[k + kAhead].b]);
    const IndexPair& p = sorted_pairs[k];
    const ShapeBrief &a = briefs[p.a], &b = briefs[p.b];
    const double pair_reach = a.reach + b.reach;
    const double far = (a.bound + b.bound + pair_reach) * (1 + kRoundingPart);
    // Bounding spheres; a plane's is infinite.
    if ((b.center - a.center).squaredNorm() > far * far || !may_touch(p.a, p.b)) continue;
    const Contact names = make_names(p.a, p.b);
    if (a.is_ball && b.is_ball) {
      ContactSink sink(names, pair_reach, false, contacts);
      find_ball_ball(a.center, a.bound, b.center, b.bound, &sink);
    } else {
      find_pair(placed[p.a], placed[p.b], names, pair_reach, contacts);
    }
  }
}

/// Portions of the sorted pairs, each into its own list: what comes out does not depend on who did which.
void ContactFinder::Impl::find_all(std::vector<Contact>* contacts) {
  const auto look = [&](std::size_t first, std::size_t last, std::vector<Contact>* found) {
    find_portion(first, last, found);
  };
  gather_portions(team, sorted_pairs.size(), kPortion, look, &portions, contacts);
}

ContactFinder::ContactFinder(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;
ContactFinder& ContactFinder::operator=(ContactFinder&&) noexcept = default;

void ContactFinder::set_team(const ThreadTeam* team) {
  impl_->team = team;
  impl_->broad_phase.set_team(team);
}

double ContactFinder::broad_phase_seconds() const { return impl_->broad_phase_seconds; }

void ContactFinder::find_between(const State& state, int shape_a, int shape_b, double reach,
                                 std::vector<Contact>* contacts) {
  for (const int shape : {shape_a, shape_b}) impl_->place_shape(state, shape);
  find_pair(impl_->placed[shape_a], impl_->placed[shape_b], impl_->make_names(shape_a, shape_b), reach, contacts);
}

std::span<const PlacedShape> ContactFinder::place(const State& state) {
  impl_->place(state);
  return impl_->placed;
}

Bounds ContactFinder::calc_bounds(int shape) const {
  impl_->no_reach.resize(impl_->model->bodies.size());
  return impl_->calc_bounds(shape, impl_->no_reach);
}

void ContactFinder::Impl::find_pairs(const State& state, std::span<const double> reach, std::span<const char> bodies) {
  pairs.clear();
  update_shapes(state, reach);
  update_static_tree(state, reach);
  broad_phase.find(bounds, &pairs);
  name_pairs();
  find_static_pairs();
  find_plane_pairs();
  if (!bodies.empty()) keep_pairs_of(bodies);
  sort_pairs();
  has_pairs = bodies.empty();
}

void ContactFinder::find(const State& state, std::span<const double> reach, std::span<const char> bodies,
                         ContactSet* contacts) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  contacts->contacts.clear();
  if (!bodies.empty() || !impl_->update_within(state, reach)) impl_->find_pairs(state, reach, bodies);
  impl_->broad_phase_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  impl_->find_all(&contacts->contacts);
}

}  // namespace slipstick
