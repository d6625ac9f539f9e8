// A name as messages show it.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

/// 'text' (std::quoted, found by argument-dependent lookup, is why this is not called quoted).
inline std::string as_quoted(std::string_view text) { return std::string(1, '\'').append(text).append(1, '\''); }

}  // namespace slipstick
