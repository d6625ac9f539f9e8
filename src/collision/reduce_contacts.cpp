#include "collision/reduce_contacts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slipstick {
namespace {

/// Normals within a milliradian are one.
constexpr double kSameNormal = 1 - 0.5e-6;
// Parts of a pair's size.
constexpr double kMergePart = 1e-3;  ///< nearer points are one
constexpr double kLevelPart = 1e-4;  ///< points within this of the deepest are of one level with it
constexpr double kDepthPart = 1e-6;  ///< less is no difference in depth
constexpr double kPlacePart = 1e-3;  ///< less is no difference in place

constexpr std::size_t kKept = 4;

double calc_area(const Vec3& normal, const Vec3& a, const Vec3& b, const Vec3& c) {
  return normal.dot((b - a).cross(c - a));
}

}  // namespace

/// The point of the largest value; of those within the tolerance of it one that was loaded, then the first.
template <typename Value>
int ContactReducer::find_best(double tolerance, const Value& value) const {
  double largest = -kInfinity;
  for (const Point& point : points_) largest = std::max(largest, value(point));
  int best = -1;
  for (int i = 0; i < static_cast<int>(points_.size()); ++i) {
    if (!(value(points_[i]) >= largest - tolerance)) continue;
    if (points_[i].loaded) return i;
    if (best < 0) best = i;
  }
  return best;
}

void ContactReducer::merge_points(double distance) {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& one = points_[i];
    for (std::size_t j = i + 1; j < points_.size() && !drop_[one.contact]; ++j) {
      const Point& other = points_[j];
      if (drop_[other.contact] || (one.place - other.place).squaredNorm() > distance * distance) continue;
      const bool other_stays = other.gap < one.gap || (other.gap == one.gap && other.loaded && !one.loaded);
      drop_[(other_stays ? one : other).contact] = true;
    }
  }
  std::erase_if(points_, [this](const Point& point) { return drop_[point.contact]; });
}

void ContactReducer::choose_four(const Vec3& normal, double size) {
  double deepest = kInfinity;
  for (const Point& point : points_) deepest = std::min(deepest, point.gap);
  std::erase_if(points_, [&](const Point& point) { return point.gap > deepest + kLevelPart * size; });
  if (points_.size() <= kKept) return;
  int chosen[kKept];
  std::size_t count = 0;
  const auto place = [&](std::size_t k) -> const Vec3& { return points_[chosen[k]].place; };
  chosen[count++] = find_best(kDepthPart * size, [](const Point& p) { return -p.gap; });
  chosen[count++] = find_best(kPlacePart * size, [&](const Point& p) { return (p.place - place(0)).norm(); });
  const double length = (place(1) - place(0)).norm();
  const auto off_line = [&](const Point& p) {
    return std::abs(calc_area(normal, place(0), place(1), p.place)) / length;
  };
  const int third = find_best(kPlacePart * size, off_line);
  if (off_line(points_[third]) > kPlacePart * size) {  // else all are on a line, and its ends are chosen
    chosen[count++] = third;
    if (calc_area(normal, place(0), place(1), place(2)) < 0) std::swap(chosen[1], chosen[2]);
    const auto outside = [&](const Point& p) {
      double most = -kInfinity;
      for (int k = 0; k < 3; ++k) most = std::max(most, -calc_area(normal, place(k), place((k + 1) % 3), p.place));
      return most / length;
    };
    const int fourth = find_best(kPlacePart * size, outside);
    if (outside(points_[fourth]) > kPlacePart * size) chosen[count++] = fourth;
  }
  for (int i = 0; i < static_cast<int>(points_.size()); ++i)
    if (std::find(chosen, chosen + count, i) == chosen + count) drop_[points_[i].contact] = true;
}

void ContactReducer::reduce_pair(int first, int last, double size, std::span<const ContactMemory> memory,
                                 const std::vector<Contact>& contacts) {
  seen_.assign(last - first, false);
  for (int leader = first; leader < last; ++leader) {
    if (seen_[leader - first]) continue;
    points_.clear();
    for (int i = leader; i < last; ++i) {
      if (seen_[i - first] || contacts[i].normal.dot(contacts[leader].normal) < kSameNormal) continue;
      seen_[i - first] = true;
      const auto found =
          std::lower_bound(memory.begin(), memory.end(), contacts[i].key,
                           [](const ContactMemory& entry, const ContactKey& key) { return entry.key < key; });
      const bool loaded = found != memory.end() && found->key == contacts[i].key && found->loaded;
      points_.push_back({i, (contacts[i].point_a + contacts[i].point_b) / 2, contacts[i].gap, loaded});
    }
    if (points_.size() > 1) merge_points(kMergePart * size);
    if (points_.size() > kKept) choose_four(contacts[leader].normal, size);
  }
}

void ContactReducer::reduce(const Model& model, std::span<const ContactMemory> memory, ContactSet* contacts) {
  std::vector<Contact>& all = contacts->contacts;
  const int count = static_cast<int>(all.size());
  drop_.assign(all.size(), false);
  for (int first = 0, last = 0; first < count; first = last) {
    const ContactKey& key = all[first].key;
    for (last = first; last < count && all[last].key.shape_a == key.shape_a && all[last].key.shape_b == key.shape_b;)
      ++last;
    if (last - first < 2) continue;
    const double size = std::min(model.shapes[key.shape_a].bound, model.shapes[key.shape_b].bound);
    reduce_pair(first, last, size, memory, all);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!drop_[i]) all[kept++] = all[i];
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
}

}  // namespace slipstick
