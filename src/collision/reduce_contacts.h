// Fewer points where bodies lie flat on each other: at most four of the points that a pair of shapes has in one plane.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <span>
#include <vector>

namespace slipstick {

/// The rule, for the contacts of each pair of shapes that have one normal:
///   - Of points nearer to each other than a thousandth of the pair's size the deepest stays.
///   - Only points of one level count, those within 1e-4 of the size of the deepest: a tilted face keeps all of its
///     points, because any of them may be the next to touch.
///   - More than four of these: the deepest stays, the one farthest from it, the one farthest from the line of both,
///     and the one farthest outside of the triangle.
/// Where points are as good as each other those stay that carried load in the last step, then those of the lowest key:
/// the names at rest do not change. The size of a pair is the smaller of the radii about both shapes.
/// Holds scratch only: the answer is a function of (model, memory, contacts).
class ContactReducer {
 public:
  /// `memory` and `contacts` are sorted by key; what stays keeps its order.
  void reduce(const Model& model, std::span<const ContactMemory> memory, ContactSet* contacts);

 private:
  struct Point {
    int contact = 0;  ///< index into the set
    Vec3 place = Vec3::Zero();
    double gap = 0;
    bool loaded = false;  ///< in the last step
  };
  void reduce_pair(int first, int last, double size, std::span<const ContactMemory> memory,
                   const std::vector<Contact>& contacts);
  void merge_points(double distance);
  void choose_four(const Vec3& normal, double size);
  template <typename Value>
  int find_best(double tolerance, const Value& value) const;

  std::vector<char> drop_;  ///< beside the contacts
  std::vector<char> seen_;  ///< of a pair's contacts: in some group already
  std::vector<Point> points_;
};

}  // namespace slipstick
