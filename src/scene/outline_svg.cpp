#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/as_quoted.h"
#include "scene/outline_pen.h"

namespace slipstick {
namespace {

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
      pen_.arc(center, size, 0, 0, 2 * std::numbers::pi, &pen_.here());
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
        fail(place, "more than " + std::to_string(kMaxOutlinePoints) + " points; a larger tolerance needs fewer");
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
    const double tilt = *degrees * std::numbers::pi / 180;
    const Vec2 half = Eigen::Rotation2Dd(-tilt) * ((pen_.here() - *end) / 2);
    const double need = half.cwiseQuotient(size).squaredNorm();
    if (need > 1) size *= std::sqrt(need);
    const Vec2 scaled = half.cwiseQuotient(size);
    const double rest = std::sqrt(std::max(0.0, (1 - scaled.squaredNorm()) / scaled.squaredNorm()));
    const Vec2 unit = (*large == *positive ? -1 : 1) * rest * Vec2(scaled.y(), -scaled.x());
    const Vec2 center = Eigen::Rotation2Dd(tilt) * unit.cwiseProduct(size) + (pen_.here() + *end) / 2;
    const Vec2 first = scaled - unit, last = -scaled - unit;
    double sweep = std::atan2(last.y(), last.x()) - std::atan2(first.y(), first.x());
    if (*positive && sweep < 0) sweep += 2 * std::numbers::pi;
    if (!*positive && sweep > 0) sweep -= 2 * std::numbers::pi;
    pen_.arc(center, size, tilt, std::atan2(first.y(), first.x()), sweep, &*end);
  }

  std::string_view text_;
  Pen pen_;
  std::string problem_;
  char last_ = '\0';
  Vec2 control_ = Vec2::Zero();
};

}  // namespace

OutlineFile parse_svg(std::string_view text, double tolerance) { return read_with<SvgReader>(text, tolerance); }

}  // namespace slipstick
