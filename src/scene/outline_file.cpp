#include "scene/outline_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxPoints = 200'000;  // of one drawing: more is a mistake, or meant to take all memory
constexpr double kPi = std::numbers::pi;

/// "line:column: message" of a place in a text.
std::string as_problem(std::string_view text, std::size_t at, const std::string& message) {
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
  bool overflows() const { return count_ > kMaxPoints; }
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

/// Numbers of path data and attributes: "10-5.5.25e1,3".
class NumberText {
 public:
  NumberText(std::string_view text, std::size_t place) : text_(text), place_(place) {}

  void skip() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == ',')) ++at_;
  }
  bool at_end() { return skip(), at_ >= text_.size(); }
  char peek() { return skip(), at_ < text_.size() ? text_[at_] : '\0'; }
  char take() { return text_[at_++]; }
  std::size_t place() const { return place_ + at_; }
  std::optional<double> number() {
    skip();
    const std::size_t plus = at_ < text_.size() && text_[at_] == '+' ? 1 : 0;
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_ + plus, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  /// 0 or 1, which need nothing between them: "a1 1 0 01 5 5".
  std::optional<bool> flag() {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '0' && text_[at_] != '1')) return std::nullopt;
    return text_[at_++] == '1';
  }

 private:
  std::string_view text_;
  std::size_t place_, at_ = 0;
};

class SvgReader {
 public:
  SvgReader(std::string_view text, double tolerance) : text_(text), pen_(tolerance) {}

  OutlineFile read() {
    if (text_.find("<svg") == std::string_view::npos) fail(0, "no drawing: '<svg' is missing");
    for (std::size_t at = 0; problem_.empty() && (at = text_.find('<', at)) != std::string_view::npos;) {
      if (text_.substr(at).starts_with("<!--")) {
        at = text_.find("-->", at);
        continue;
      }
      const std::size_t end = text_.find('>', at);
      if (end == std::string_view::npos) {
        fail(at, "this tag has no end");
        break;
      }
      read_tag(at, text_.substr(at + 1, end - at - 1));
      at = end;
    }
    pen_.lift();
    OutlineFile file;
    file.problem = problem_;
    if (problem_.empty() && pen_.rings.empty()) file.problem = as_problem(text_, 0, "has no closed line of a part");
    for (auto& ring : pen_.rings) {
      for (Vec2& p : ring) p.y() = -p.y();
      file.rings.push_back(std::move(ring));
    }
    return file;
  }

 private:
  struct Attribute {
    std::string_view value;
    std::size_t place;
  };
  bool fail(std::size_t at, const std::string& message) {
    if (problem_.empty()) problem_ = as_problem(text_, at, message);
    return false;
  }
  /// name="value" of the tag whose text is given.
  std::optional<Attribute> find(std::string_view tag, std::string_view name) const {
    for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
      if (at == 0 || !std::isspace(static_cast<unsigned char>(tag[at - 1]))) continue;
      std::size_t equals = at + name.size();
      while (equals < tag.size() && std::isspace(static_cast<unsigned char>(tag[equals]))) ++equals;
      if (equals >= tag.size() || tag[equals] != '=') continue;
      const std::size_t open = tag.find_first_of("\"'", equals);
      if (open == std::string_view::npos) return std::nullopt;
      const std::size_t close = tag.find(tag[open], open + 1);
      if (close == std::string_view::npos) return std::nullopt;
      return Attribute{tag.substr(open + 1, close - open - 1),
                       static_cast<std::size_t>(tag.data() - text_.data()) + open + 1};
    }
    return std::nullopt;
  }
  double read_length(std::string_view tag, std::string_view name, double otherwise) {
    const auto attribute = find(tag, name);
    if (!attribute) return otherwise;
    const auto value = NumberText(attribute->value, attribute->place).number();
    if (!value) fail(attribute->place, as_quoted(attribute->value) + " is not a number");
    return value.value_or(0);
  }

  void read_tag(std::size_t at, std::string_view tag) {
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const bool is_shape = name == "path" || name == "polygon" || name == "polyline" || name == "rect" ||
                          name == "circle" || name == "ellipse";
    if (const auto turn = find(tag, "transform"); turn && (is_shape || name == "g")) {
      fail(turn->place, "transforms are not read; apply them in the drawing program");
      return;
    }
    if (name == "path") {
      if (const auto data = find(tag, "d")) read_path(*data);
    } else if (name == "polygon" || name == "polyline") {
      if (const auto points = find(tag, "points")) read_points(*points);
    } else if (name == "rect") {
      const double x = read_length(tag, "x", 0), y = read_length(tag, "y", 0);
      const double w = read_length(tag, "width", 0), h = read_length(tag, "height", 0);
      if (find(tag, "rx") || find(tag, "ry")) {
        fail(at, "rounded rectangles are not read; make it a path");
        return;
      }
      pen_.move_to({x, y});
      for (const Vec2& p : {Vec2(x + w, y), Vec2(x + w, y + h), Vec2(x, y + h)}) pen_.line_to(p);
      pen_.close();
    } else if (name == "circle" || name == "ellipse") {
      const Vec2 center(read_length(tag, "cx", 0), read_length(tag, "cy", 0));
      const double r = read_length(tag, "r", 0);
      const Vec2 size = name == "circle" ? Vec2(r, r) : Vec2(read_length(tag, "rx", 0), read_length(tag, "ry", 0));
      if (!(size.minCoeff() > 0)) {
        fail(at, "this " + std::string(name) + " has no size");
        return;
      }
      pen_.move_to(center + Vec2(size.x(), 0));
      pen_.arc(center, size, 0, 0, 2 * kPi, &pen_.here());
      pen_.close();
    }
  }

  void read_points(const Attribute& attribute) {
    NumberText numbers(attribute.value, attribute.place);
    bool first = true;
    while (!numbers.at_end()) {
      const std::size_t place = numbers.place();
      const auto x = numbers.number(), y = numbers.number();
      if (!x || !y) {
        fail(place, "expected two numbers of a point");
        return;
      }
      first ? pen_.move_to({*x, *y}) : pen_.line_to({*x, *y});
      first = false;
    }
    pen_.close();
  }

  void read_path(const Attribute& attribute) {
    NumberText data(attribute.value, attribute.place);
    char command = '\0';
    while (!data.at_end() && problem_.empty()) {
      const std::size_t place = data.place();
      if (std::isalpha(static_cast<unsigned char>(data.peek()))) {
        command = data.take();
      } else if (command == '\0' || command == 'Z' || command == 'z') {
        fail(place, "expected a command of a path, as M or L");
        return;
      } else if (command == 'M' || command == 'm') {
        command = command == 'M' ? 'L' : 'l';  // further points after a move are lines
      }
      draw(command, place, &data);
      if (pen_.overflows())
        fail(place, "more than " + std::to_string(kMaxPoints) + " points; a larger tolerance needs fewer");
    }
    pen_.lift();
  }

  std::optional<Vec2> read_point(const Vec2& base, NumberText* data) {
    const std::size_t place = data->place();
    const auto x = data->number(), y = data->number();
    if (x && y) return base + Vec2(*x, *y);
    fail(place, "expected two numbers of a point");
    return std::nullopt;
  }

  void draw(char command, std::size_t place, NumberText* data) {
    const Vec2 from = pen_.here(), base = std::islower(static_cast<unsigned char>(command)) ? from : Vec2(0, 0);
    const char kind = static_cast<char>(std::toupper(static_cast<unsigned char>(command)));
    std::array<Vec2, 3> p;
    const auto points = [&](int count) {
      for (int k = 0; k < count; ++k) {
        const auto each = read_point(base, data);
        if (!each) return false;
        p[k] = *each;
      }
      return true;
    };
    const Vec2 smooth = last_ == 'C' || last_ == 'Q' ? Vec2(2 * from - control_) : from;
    switch (kind) {
      case 'M':
        if (points(1)) pen_.move_to(p[0]);
        break;
      case 'L':
        if (points(1)) pen_.line_to(p[0]);
        break;
      case 'H':
      case 'V': {
        const auto value = data->number();
        if (!value) fail(data->place(), "expected a number");
        const double x = value.value_or(0);
        pen_.line_to(kind == 'H' ? Vec2(base.x() + x, from.y()) : Vec2(from.x(), base.y() + x));
        break;
      }
      case 'C':
        if (points(3)) pen_.curve_to(p[0], p[1], p[2]), control_ = p[1];
        break;
      case 'S':
        if (points(2)) pen_.curve_to(last_ == 'C' ? smooth : from, p[0], p[1]), control_ = p[0];
        break;
      case 'Q':
        if (points(2)) bend_to(p[0], p[1]);
        break;
      case 'T':
        if (points(1)) bend_to(last_ == 'Q' ? smooth : from, p[0]);
        break;
      case 'A':
        draw_arc(base, data);
        break;
      case 'Z':
        pen_.close();
        break;
      default:
        fail(place, "unknown command " + as_quoted(std::string(1, command)) + " of a path");
    }
    last_ = kind == 'S' ? 'C' : kind == 'T' ? 'Q' : kind;
  }

  /// A curve of second order as one of third.
  void bend_to(const Vec2& middle, const Vec2& to) {
    const Vec2 from = pen_.here();
    pen_.curve_to(from + 2.0 / 3 * (middle - from), to + 2.0 / 3 * (middle - to), to);
    control_ = middle;
  }

  /// As in appendix F.6 of SVG 1.1: radii, tilt, two flags and the end; the centre follows.
  void draw_arc(const Vec2& base, NumberText* data) {
    const std::size_t place = data->place();
    const auto rx = data->number(), ry = data->number(), degrees = data->number();
    const auto large = data->flag(), positive = data->flag();
    if (!rx || !ry || !degrees || !large || !positive) {
      fail(place, "expected rx ry angle large-arc sweep x y of an arc");
      return;
    }
    const auto end = read_point(base, data);
    if (!end || *end == pen_.here()) return;
    Vec2 size(std::abs(*rx), std::abs(*ry));
    if (!(size.minCoeff() > 0)) return pen_.line_to(*end);
    const double tilt = *degrees * kPi / 180;
    const Vec2 half = Eigen::Rotation2Dd(-tilt) * ((pen_.here() - *end) / 2);
    const double need = half.cwiseQuotient(size).squaredNorm();
    if (need > 1) size *= std::sqrt(need);
    const Vec2 scaled = half.cwiseQuotient(size);
    const double rest = std::sqrt(std::max(0.0, (1 - scaled.squaredNorm()) / scaled.squaredNorm()));
    const Vec2 unit = (*large == *positive ? -1 : 1) * rest * Vec2(scaled.y(), -scaled.x());
    const Vec2 center = Eigen::Rotation2Dd(tilt) * unit.cwiseProduct(size) + (pen_.here() + *end) / 2;
    const Vec2 first = scaled - unit, last = -scaled - unit;
    double sweep = std::atan2(last.y(), last.x()) - std::atan2(first.y(), first.x());
    if (*positive && sweep < 0) sweep += 2 * kPi;
    if (!*positive && sweep > 0) sweep -= 2 * kPi;
    pen_.arc(center, size, tilt, std::atan2(first.y(), first.x()), sweep, &*end);
  }

  std::string_view text_;
  Pen pen_;
  std::string problem_;
  char last_ = '\0';
  Vec2 control_ = Vec2::Zero();
};

// ---------------------------------------------------------------- DXF

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
      if (vertices_.size() > kMaxPoints) return fail("more than " + std::to_string(kMaxPoints) + " points");
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
    const double start = from * kPi / 180;
    double sweep = whole ? 2 * kPi : (to - from) * kPi / 180;
    while (sweep <= 0) sweep += 2 * kPi;
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

bool is_in(const std::vector<Vec2>& ring, const Vec2& p) {
  bool inside = false;
  for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++)
    if ((ring[i].y() > p.y()) != (ring[j].y() > p.y()) &&
        p.x() < (ring[j].x() - ring[i].x()) * (p.y() - ring[i].y()) / (ring[j].y() - ring[i].y()) + ring[i].x())
      inside = !inside;
  return inside;
}

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

bool ends_in(std::string_view name, std::string_view end) {
  if (name.size() < end.size()) return false;
  return std::equal(end.begin(), end.end(), name.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

OutlineFile parse_svg(std::string_view text, double tolerance) { return read_with<SvgReader>(text, tolerance); }
OutlineFile parse_dxf(std::string_view text, double tolerance) { return read_with<DxfReader>(text, tolerance); }

OutlineFile parse_outline(std::string_view name, std::string_view text, double tolerance) {
  if (ends_in(name, ".svg")) return parse_svg(text, tolerance);
  if (ends_in(name, ".dxf")) return parse_dxf(text, tolerance);
  OutlineFile file;
  file.problem = "unknown kind of file; outlines are read from .svg and .dxf";
  return file;
}

std::vector<Outline> group_rings(const std::vector<std::vector<Vec2>>& rings) {
  std::vector<int> depth(rings.size(), 0);
  for (std::size_t i = 0; i < rings.size(); ++i)
    for (std::size_t j = 0; j < rings.size(); ++j) depth[i] += i != j && is_in(rings[j], rings[i][0]) ? 1 : 0;
  std::vector<Outline> parts;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (depth[i] % 2 != 0) continue;
    Outline& part = parts.emplace_back();
    part.rings.push_back(rings[i]);
    for (std::size_t j = 0; j < rings.size(); ++j)
      if (depth[j] == depth[i] + 1 && is_in(rings[i], rings[j][0])) part.rings.push_back(rings[j]);
  }
  return parts;
}

}  // namespace slipstick
