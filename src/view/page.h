// The page itself: one HTML file made from viewer/ by tools/build_viewer and carried inside the program.
#pragma once

#include "view/clip.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// The whole page, or nothing when this build was made without it (no npm).
std::string_view viewer_page();
/// Why there is no page, in one line with the remedy.
std::string make_no_page_fault();
/// The Content-Security-Policy that the page carries in its head.
std::string find_policy(std::string_view page);

/// The page with its data inside. Each packet becomes a block of base64 text.
std::string make_page(std::string_view page, const std::vector<std::string>& packets);

/// A path as part of a file: address.
std::string escape_path(const std::string& path);

}  // namespace slipstick
