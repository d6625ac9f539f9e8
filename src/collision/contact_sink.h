// Where the narrow phase puts its contacts: fills in the names and turns the pair round if it was asked the other way.
#pragma once

#include <slipstick/state.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace slipstick {

class ContactSink {
 public:
  /// Contacts are appended to `contacts`; `names` has the key's shapes, bodies and materials. `swapped`: the narrow
  /// phase sees B as its first shape.
  ContactSink(const Contact& names, double reach, bool swapped, std::vector<Contact>* contacts)
      : names_(names), reach_(reach), swapped_(swapped), contacts_(contacts), first_(contacts->size()) {}

  /// A contact is of interest when gap <= reach.
  double reach() const { return reach_; }

  /// `normal` from the first shape to the second, point_second - point_first = gap * normal. Drops gap > reach.
  void add(const Vec3& point_first, const Vec3& point_second, const Vec3& normal, double gap, std::uint32_t feature) {
    if (!(gap <= reach_)) return;
    Contact& c = contacts_->emplace_back(names_);
    c.key.feature = feature;
    c.point_a = swapped_ ? point_second : point_first;
    c.point_b = swapped_ ? point_first : point_second;
    c.normal = swapped_ ? Vec3(-normal) : normal;
    c.gap = gap;
  }

  /// The same from one point: `on_first` says whose surface it is on, the other one follows from the gap.
  void add_from(bool on_first, const Vec3& point, const Vec3& normal, double gap, std::uint32_t feature) {
    if (on_first) {
      add(point, point + gap * normal, normal, gap, feature);
    } else {
      add(point - gap * normal, point, normal, gap, feature);
    }
  }

  /// Contacts of this pair so far.
  std::size_t count() const { return contacts_->size() - first_; }

  /// This pair has a contact of that name already.
  bool has(std::uint32_t feature) const {
    for (std::size_t i = first_; i < contacts_->size(); ++i) {
      if ((*contacts_)[i].key.feature == feature) return true;
    }
    return false;
  }

  /// This pair has a contact within `radius` of a point whose gap is between the two.
  bool has_shallower(const Vec3& point, double radius, double gap_above, double gap_below) const {
    for (std::size_t i = first_; i < contacts_->size(); ++i) {
      const Contact& c = (*contacts_)[i];
      if (c.gap > gap_above && c.gap <= gap_below && (c.point_a - point).squaredNorm() <= radius * radius) return true;
    }
    return false;
  }

  /// This pair has a contact within `radius` of a point with more than this gap that pushes another way: the cosine of
  /// the angle between the normals is below `same`.
  bool has_other_way(const Vec3& point, double radius, double gap_above, const Vec3& normal, double same) const {
    for (std::size_t i = first_; i < contacts_->size(); ++i) {
      const Contact& c = (*contacts_)[i];
      if (c.gap > gap_above && (c.point_a - point).squaredNorm() <= radius * radius &&
          std::abs(c.normal.dot(normal)) < same) {
        return true;
      }
    }
    return false;
  }

  /// Contacts of this pair at one place (within `place`) and with one normal become one: it has the name that was found
  /// first and the least gap.
  void merge(double place) {
    std::vector<Contact>& c = *contacts_;
    std::size_t kept = first_;
    for (std::size_t i = first_; i < c.size(); ++i) {
      std::size_t k = first_;
      while (k < kept && !((c[k].point_a - c[i].point_a).squaredNorm() <= place * place &&
                           (c[k].normal - c[i].normal).squaredNorm() <= kSameNormal)) {
        ++k;
      }
      if (k == kept) {
        if (kept != i) c[kept] = c[i];
        ++kept;
      } else if (c[i].gap < c[k].gap) {
        const std::uint32_t name = c[k].key.feature;
        c[k] = c[i];
        c[k].key.feature = name;
      }
    }
    c.resize(kept);
  }

  /// Puts the contacts of this pair in the order of their features. There are few of them: insertion.
  void sort() {
    std::vector<Contact>& c = *contacts_;
    for (std::size_t i = first_ + 1; i < c.size(); ++i) {
      if (c[i - 1].key.feature <= c[i].key.feature) continue;
      const Contact moved = c[i];
      std::size_t j = i;
      for (; j > first_ && c[j - 1].key.feature > moved.key.feature; --j) c[j] = c[j - 1];
      c[j] = moved;
    }
  }

 private:
  static constexpr double kSameNormal = 2e-8;  ///< of the square of their difference: 1 - cos < 1e-8

  const Contact& names_;
  double reach_;
  bool swapped_;
  std::vector<Contact>* contacts_;
  std::size_t first_;
};

}  // namespace slipstick
