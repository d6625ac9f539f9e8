#include "report/json_text.h"

#include <charconv>
#include <cmath>

namespace slipstick {

namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629), 0 if there is none.
std::size_t calc_utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned c = byte(0);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF && follows(1)) return 2;
  if (c >= 0xE0 && c <= 0xEF && follows(1) && follows(2)) {
    const bool overlong = c == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = c == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (c >= 0xF0 && c <= 0xF4 && follows(1) && follows(2) && follows(3)) {
    const bool out_of_range = (c == 0xF0 && byte(1) < 0x90) || (c == 0xF4 && byte(1) >= 0x90);
    return out_of_range ? 0 : 4;
  }
  return 0;
}

}  // namespace

void JsonText::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.empty) text_ += level.one_line ? ", " : ",";
  level.empty = false;
  if (level.one_line) return;
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

void JsonText::begin(char bracket, bool one_line) {
  separate();
  text_ += bracket;
  levels_.push_back({one_line || (!levels_.empty() && levels_.back().one_line), true});
}

void JsonText::end(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.one_line && !level.empty) {
    text_ += '\n';
    text_.append(2 * levels_.size(), ' ');
  }
  text_ += bracket;
}

void JsonText::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonText::raw(std::string_view text) {
  separate();
  text_ += text;
}

void JsonText::value(double number) {
  if (!std::isfinite(number)) return null();
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);  // the shortest text that reads back exactly
  raw({buffer, static_cast<std::size_t>(end.ptr - buffer)});
}

void JsonText::value(std::span<const double> numbers) {
  begin_array(true);
  for (const double number : numbers) value(number);
  end_array();
}

void JsonText::value(std::string_view text) {
  separate();
  quote(text);
}

void JsonText::quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = calc_utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      text_ += "\xEF\xBF\xBD";  // U+FFFD for what is not text
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace slipstick
