#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/as_quoted.h"
#include "scene/outline_pen.h"

namespace slipstick {
namespace {

/// Pairs of lines: a number that says what the other one is.
class DxfReader {
 public:
  DxfReader(std::string_view text, double tolerance) : text_(text), tolerance_(tolerance), pen_(tolerance) {}

  OutlineFile read() {
    OutlineFile file;
    bool entities = false;
    while (problem_.empty() && next()) {
      if (code_ == 2 && value_ == "ENTITIES") entities = true;
      if (code_ == 0 && value_ == "ENDSEC") entities = false;
      while (problem_.empty() && entities && code_ == 0 && value_ != "ENDSEC" && value_ != "EOF") {
        if (!read_entity()) break;
      }
    }
    pen_.lift();
    join_pieces();
    file.problem = problem_;
    if (problem_.empty() && pen_.rings.empty()) file.problem = as_problem(text_, 0, "has no closed line of a part");
    file.rings = std::move(pen_.rings);
    return file;
  }

 private:
  bool fail(const std::string& message) {
    if (problem_.empty()) problem_ = as_problem(text_, place_, message);
    return false;
  }
  std::string_view take_line() {
    place_ = at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    return line;
  }
  /// The next pair; false at the end.
  bool next() {
    if (at_ >= text_.size()) return false;
    const std::string_view code = take_line();
    if (code.empty() && at_ >= text_.size()) return false;
    const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), code_);
    if (error != std::errc() || end != code.data() + code.size())
      return fail("expected the number of a group, got " + as_quoted(code));
    value_ = take_line();
    return true;
  }
  double number() {
    double value = 0;
    const auto [end, error] = std::from_chars(value_.data(), value_.data() + value_.size(), value);
    if (error != std::errc() || end != value_.data() + value_.size() || !std::isfinite(value))
      fail(as_quoted(value_) + " is not a number");
    return value;
  }

  struct Vertex {
    Vec2 at = Vec2::Zero();
    double bulge = 0;
  };

  /// One entity; stands at the next one after it. False: the file ends.
  bool read_entity() {
    const std::string kind(value_);
    const std::size_t place = place_;
    static constexpr std::array kKnown{"LINE",   "ARC",   "CIRCLE", "LWPOLYLINE", "POLYLINE", "VERTEX",
                                       "SEQEND", "POINT", "TEXT",   "MTEXT",      "DIMENSION"};
    if (std::find(kKnown.begin(), kKnown.end(), kind) == kKnown.end())
      return fail("entity " + as_quoted(kind) + " is not read; draw with lines, arcs, circles and polylines");
    std::array<Vec2, 2> point{Vec2::Zero(), Vec2::Zero()};
    double radius = 0, from = 0, to = 360, bulge = 0;
    int flags = 0;
    bool more = false;
    while ((more = next()) && code_ != 0) {
      if (code_ == 10 && kind == "LWPOLYLINE") vertices_.emplace_back().at.x() = number();
      if (code_ == 20 && kind == "LWPOLYLINE" && !vertices_.empty()) vertices_.back().at.y() = number();
      if (code_ == 42 && kind == "LWPOLYLINE" && !vertices_.empty()) vertices_.back().bulge = number();
      if (code_ == 42 && kind == "VERTEX") bulge = number();
      if (code_ == 10 || code_ == 11) point[code_ - 10].x() = number();
      if (code_ == 20 || code_ == 21) point[code_ - 20].y() = number();
      if (code_ == 40) radius = number();
      if (code_ == 50) from = number();
      if (code_ == 51) to = number();
      if (code_ == 70) flags = static_cast<int>(number());
      if (vertices_.size() > kMaxOutlinePoints)
        return fail("more than " + std::to_string(kMaxOutlinePoints) + " points");
    }
    if (!problem_.empty()) return false;
    const std::size_t after = place_;
    place_ = place;
    if (kind == "LINE") pieces_.push_back({point[0], point[1]});
    if (kind == "CIRCLE" || kind == "ARC") {
      if (!(radius > 0)) return fail("this " + kind + " has no radius");
      add_round(point[0], radius, from, to, kind == "CIRCLE");
    }
    if (kind == "LWPOLYLINE") finish_polyline((flags & 1) != 0);
    if (kind == "POLYLINE") closed_ = (flags & 1) != 0;
    if (kind == "VERTEX") vertices_.push_back({point[0], bulge});
    if (kind == "SEQEND") finish_polyline(closed_);
    place_ = after;
    return more;
  }

  void add_round(const Vec2& center, double radius, double from, double to, bool whole) {
    const double start = from * std::numbers::pi / 180;
    double sweep = whole ? 2 * std::numbers::pi : (to - from) * std::numbers::pi / 180;
    while (sweep <= 0) sweep += 2 * std::numbers::pi;
    Pen pen(tolerance_);
    pen.move_to(center + radius * Vec2(std::cos(start), std::sin(start)));
    const Vec2 begin = pen.here();
    pen.arc(center, {radius, radius}, 0, start, sweep, whole ? &begin : nullptr);
    pen.lift();
    if (pen.rings.empty()) return;
    (whole ? pen_.rings : pieces_).push_back(std::move(pen.rings[0]));
  }

  /// A bulge is the tangent of a quarter of the angle of the arc to the next vertex.
  void finish_polyline(bool closed) {
    if (vertices_.size() < 2) return vertices_.clear();
    Pen pen(tolerance_);
    pen.move_to(vertices_[0].at);
    for (std::size_t i = 0; i + (closed ? 0 : 1) < vertices_.size(); ++i) {
      const Vec2 from = vertices_[i].at, to = vertices_[(i + 1) % vertices_.size()].at;
      const double bulge = vertices_[i].bulge, length = (to - from).norm();
      if (bulge == 0 || length == 0) {
        pen.line_to(to);
        continue;
      }
      const double angle = 4 * std::atan(bulge), radius = length / (2 * std::sin(std::abs(angle) / 2));
      const Vec2 side = Vec2(-(to - from).y(), (to - from).x()) / length;
      const Vec2 center = (from + to) / 2 + side * (radius * std::cos(angle / 2) * (bulge > 0 ? 1 : -1));
      const Vec2 arm = from - center;
      pen.arc(center, {radius, radius}, 0, std::atan2(arm.y(), arm.x()), angle, &to);
    }
    pen.lift();
    vertices_.clear();
    if (!pen.rings.empty()) (closed ? pen_.rings : pieces_).push_back(std::move(pen.rings[0]));
  }

  /// Lines and arcs that meet end to end.
  void join_pieces() {
    double size = 0;
    for (const auto& piece : pieces_)
      for (const Vec2& p : piece) size = std::max(size, (p - pieces_[0][0]).norm());
    const double same = 1e-6 * size;
    while (!pieces_.empty() && problem_.empty()) {
      std::vector<Vec2> ring = std::move(pieces_.back());
      pieces_.pop_back();
      while ((ring.front() - ring.back()).norm() > same) {
        const auto next = std::find_if(pieces_.begin(), pieces_.end(), [&](const auto& piece) {
          return (piece.front() - ring.back()).norm() <= same || (piece.back() - ring.back()).norm() <= same;
        });
        if (next == pieces_.end()) {
          place_ = 0;
          fail("a line ends at " + std::to_string(ring.back().x()) + ", " + std::to_string(ring.back().y()) +
               " and no other one begins there; parts have closed lines");
          return;
        }
        if ((next->front() - ring.back()).norm() > same) std::reverse(next->begin(), next->end());
        ring.insert(ring.end(), next->begin() + 1, next->end());
        pieces_.erase(next);
      }
      pen_.rings.push_back(std::move(ring));
    }
  }

  std::string_view text_;
  double tolerance_;
  Pen pen_;
  std::size_t at_ = 0, place_ = 0;
  int code_ = 0;
  std::string_view value_;
  std::string problem_;
  std::vector<Vertex> vertices_;
  bool closed_ = false;
  std::vector<std::vector<Vec2>> pieces_;
};

}  // namespace

OutlineFile parse_dxf(std::string_view text, double tolerance) { return read_with<DxfReader>(text, tolerance); }

}  // namespace slipstick
