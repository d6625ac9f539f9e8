// What the readers of drawings share: places in a text, and a pen that turns curves into chords.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "scene/outline_file.h"

namespace slipstick {

inline constexpr std::size_t kMaxOutlinePoints =
    200'000;  // of one drawing: more is a mistake, or meant to take all memory

/// "line:column: message" of a place in a text.
inline std::string as_problem(std::string_view text, std::size_t at, const std::string& message) {
  at = std::min(at, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t start = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t column = start == std::string_view::npos ? at + 1 : at - start;
  return std::to_string(line) + ":" + std::to_string(column) + ": " + message;
}

/// Lines under the pen; curves become chords.
class Pen {
 public:
  explicit Pen(double tolerance) : tolerance_(tolerance) {}

  const Vec2& here() const { return here_; }
  bool is_down() const { return !line_.empty(); }
  bool overflows() const { return count_ > kMaxOutlinePoints; }
  void move_to(const Vec2& p) {
    lift();
    here_ = start_ = p;
    line_ = {p};
  }
  void line_to(const Vec2& p) {
    if (line_.empty()) line_ = {here_};
    line_.push_back(p);
    here_ = p;
    ++count_;
  }
  void close() {
    here_ = start_;
    lift();
  }
  /// What is drawn so far is a line of its own, closed or not: parts have closed ones.
  void lift() {
    if (line_.size() > 2) rings.push_back(std::move(line_));
    line_.clear();
  }
  /// A Bezier curve of third order; chords by bisection, flat where both inner points are within the tolerance of the
  /// chord.
  void curve_to(const Vec2& a, const Vec2& b, const Vec2& to, int depth = 0) {
    const Vec2 from = here_, chord = to - from;
    const double length = chord.norm();
    const auto off = [&](const Vec2& p) {
      return length > 0 ? std::abs(chord.x() * (p - from).y() - chord.y() * (p - from).x()) / length
                        : (p - from).norm();
    };
    const auto beyond = [&](const Vec2& p) { return chord.dot(p - from) < 0 || chord.dot(p - to) > 0; };
    // The curve is within 3/4 of the larger distance.
    const bool flat = 0.75 * std::max(off(a), off(b)) <= tolerance_ && !beyond(a) && !beyond(b);
    if (flat || depth >= 16 || overflows()) return line_to(to);
    const Vec2 fa = (from + a) / 2, ab = (a + b) / 2, bt = (b + to) / 2, left = (fa + ab) / 2, right = (ab + bt) / 2,
               middle = (left + right) / 2;
    curve_to(fa, left, middle, depth + 1);
    curve_to(right, bt, to, depth + 1);
  }
  /// Along an ellipse about `center` with half axes `size`, turned by `tilt`, from angle `from` on over `sweep`.
  void arc(const Vec2& center, const Vec2& size, double tilt, double from, double sweep, const Vec2* end) {
    const int steps = count_arc_steps(size.cwiseAbs().maxCoeff(), sweep, tolerance_);
    for (int k = 1; k <= steps; ++k) {
      const double angle = from + sweep * k / steps;
      const Vec2 p = center + Eigen::Rotation2Dd(tilt) * Vec2(size.x() * std::cos(angle), size.y() * std::sin(angle));
      line_to(k == steps && end != nullptr ? *end : p);
    }
  }

  std::vector<std::vector<Vec2>> rings;

 private:
  double tolerance_;
  Vec2 here_ = Vec2::Zero(), start_ = Vec2::Zero();
  std::vector<Vec2> line_;
  std::size_t count_ = 0;
};

template <class Reader>
OutlineFile read_with(std::string_view text, double tolerance) {
  if (tolerance > 0) return Reader(text, tolerance).read();
  // Coarse first, for the size; then a thousandth of that.
  const OutlineFile coarse = Reader(text, kInfinity).read();
  double size = 0;
  for (const auto& ring : coarse.rings)
    for (const Vec2& p : ring) size = std::max(size, (p - coarse.rings[0][0]).norm());
  return size > 0 ? Reader(text, 1e-3 * size).read() : coarse;
}

}  // namespace slipstick
