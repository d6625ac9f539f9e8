// Text for pages: bytes as base64, text as HTML.
#pragma once

#include <slipstick/result.h>

#include <string>
#include <string_view>

namespace slipstick {

std::string encode_base64(std::string_view bytes);
/// `text` as the content of an HTML element or a quoted attribute.
std::string escape_html(std::string_view text);
/// The beginning of a page of tables and pictures, its heading included.
std::string make_page_head(std::string_view title, std::string_view heading);
/// A PNG file as an element that holds it; pictures have two pixels for each unit of the page.
std::string make_picture(std::string_view name, const std::string& path);
/// A file in a folder that is made; it appears whole or not at all. Empty when good.
Faults save_page(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace slipstick
