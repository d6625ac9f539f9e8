// Text for pages: bytes as base64, text as HTML.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

std::string encode_base64(std::string_view bytes);
/// `text` as the content of an HTML element or a quoted attribute.
std::string escape_html(std::string_view text);

}  // namespace slipstick
