#include "view/page.h"

#include <algorithm>

#include "report/web_text.h"

// The assembler puts the file into the program as it is; SLIPSTICK_VIEWER_PAGE is its path.
asm(".section .rodata\n"
    ".balign 16\n"
    "slipstick_viewer_page_begin:\n"
    ".incbin \"" SLIPSTICK_VIEWER_PAGE
    "\"\n"
    "slipstick_viewer_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" {
extern const char slipstick_viewer_page_begin[];
extern const char slipstick_viewer_page_end[];
}

namespace slipstick {

namespace {

constexpr std::string_view kNoPage = "no viewer: ";  ///< what tools/build_viewer writes when it cannot build
constexpr std::string_view kDataPlace = "<!--data-->";

std::string_view embedded() {
  return {slipstick_viewer_page_begin,
          static_cast<std::size_t>(slipstick_viewer_page_end - slipstick_viewer_page_begin)};
}

}  // namespace

std::string_view viewer_page() { return embedded().starts_with(kNoPage) ? std::string_view() : embedded(); }

std::string make_no_page_fault() {
  std::string reason(embedded().substr(std::min(kNoPage.size(), embedded().size())));
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  return "this build has no viewer (" + reason + "); run './slipstick view' with npm and a network, or build again";
}

std::string find_policy(std::string_view page) {
  constexpr std::string_view kBefore = "http-equiv=\"Content-Security-Policy\" content=\"";
  const std::size_t at = page.find(kBefore);
  if (at == std::string_view::npos) return "default-src 'none'";
  const std::size_t begin = at + kBefore.size();
  return std::string(page.substr(begin, page.find('"', begin) - begin));
}

std::string make_page(std::string_view page, const std::vector<std::string>& packets) {
  std::string data;
  for (const std::string& packet : packets)
    data += "<script type=\"application/x-slipstick\">" + encode_base64(packet) + "</script>\n";
  const std::size_t place = page.find(kDataPlace);
  if (place == std::string_view::npos) return std::string(page) + data;
  return std::string(page.substr(0, place)) + data + std::string(page.substr(place + kDataPlace.size()));
}

std::string escape_path(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/._-~").find(c) != std::string_view::npos;
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    escaped += plain ? std::string(1, c) : std::string(hex);
  }
  return escaped;
}

}  // namespace slipstick
