// Colours as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipstick {

/// "#rrggbb" in lower case for "#rgb", "#rrggbb" or a CSS colour name in any case; nothing for anything else.
std::optional<std::string> as_hex_color(std::string_view text);
/// The CSS name nearest to a mistyped one.
std::optional<std::string> closest_color(std::string_view text);

}  // namespace slipstick
