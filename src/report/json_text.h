// Writes JSON: indented, short lists of numbers on one line, every number with all its digits, no NaN (null instead).
#pragma once

#include <slipstick/types.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

class JsonText {
 public:
  /// `one_line`: no line breaks from here to the matching end.
  void begin_object(bool one_line = false) { begin('{', one_line); }
  void end_object() { end('}'); }
  void begin_array(bool one_line = false) { begin('[', one_line); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void value(double number);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) { raw(truth ? "true" : "false"); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void value(T number) { raw(std::to_string(number)); }
  void value(std::span<const double> numbers);
  void value(const Vec3& v) { value(std::span<const double>(v.data(), 3)); }
  void value(const Quat& q) {
    const double wxyz[4] = {q.w(), q.x(), q.y(), q.z()};
    value(std::span<const double>(wxyz));
  }
  void null() { raw("null"); }

  template <class T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

  const std::string& text() const { return text_; }

 private:
  struct Level {
    bool one_line = false;
    bool empty = true;
  };
  void begin(char bracket, bool one_line);
  void end(char bracket);
  void separate();
  void raw(std::string_view text);
  void quote(std::string_view text);

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace slipstick
