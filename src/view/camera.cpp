// Pictures of a recording: an exported page in a headless browser, asked for one moment after the other.
#include <slipstick/app/view.h>

#include "view/browser.h"
#include "view/page.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

namespace slipstick {

namespace {

namespace fs = std::filesystem;

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;  // '=': the end
    buffer = buffer << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(buffer >> bits & 0xff);
  }
  return bytes;
}

/// A page that has drawn its first frame.
Result<Browser> open_page(const std::string& program, const std::string& page, const std::string& look, int width,
                          int height) {
  auto browser = Browser::start(program);
  if (!browser) return browser;
  std::error_code code;
  const std::string address =
      "file://" + escape_path(fs::absolute(page, code).string()) + "#ui=0&quality=2&theme=dark&t=0&" + look;
  const auto opened = browser->open(address, width, height);
  if (!opened) return opened.faults();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto ready = browser->evaluate("document.getElementById('app')?.dataset.ready === '1'");
    if (!ready) return ready.faults();
    if (*ready == true) return browser;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Fault{{}, "the page did not draw its first frame within five minutes"};
}

/// A PNG of a moment.
Result<std::string> shoot(Browser* browser, double time) {
  char expression[80];
  std::snprintf(expression, sizeof expression, "slipstick.shoot(%.17g)", time);
  const auto picture = browser->evaluate(expression);
  if (!picture) return picture.faults();
  constexpr std::string_view kHead = "data:image/png;base64,";
  const std::string text = picture->is_string() ? picture->get<std::string>() : "";
  if (!text.starts_with(kHead)) return Fault{{}, "the page made no picture"};
  return decode_base64(std::string_view(text).substr(kHead.size()));
}

/// Removes a file at the end of its life.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    std::error_code code;
    if (!path.empty()) fs::remove(path, code);
  }
};

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return static_cast<bool>(file.flush());
}

}  // namespace

std::string find_browser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

bool render_picture(const std::string& browser, const std::string& page, double time, const std::string& picture) {
  auto opened = open_page(browser, page, "", 960, 600);
  if (!opened) return false;
  const auto made = shoot(&opened.value(), time);
  return made && write_file(picture, *made);
}

Result<bool> render_pictures(const std::string& browser, const std::vector<std::string>& recordings,
                             const PictureOptions& options, const PictureSink& sink) {
  ExportOptions exported;
  exported.frames_per_second = std::max(exported.frames_per_second, options.rate / options.speed);
  const auto page = make_export_page(recordings, exported);
  if (!page) return page.faults();
  std::string name = (fs::temp_directory_path() / "slipstick-page-XXXXXX.html").string();
  const int descriptor = mkstemps(name.data(), 5);
  if (descriptor < 0) return Fault{{}, "no file can be made in " + fs::temp_directory_path().string()};
  close(descriptor);
  const TemporaryFile file{name};
  if (!write_file(name, *page)) return Fault{{name, 0, 0}, "cannot be written"};
  auto opened = open_page(browser, name, options.look, options.width, options.height);
  if (!opened) return opened.faults();
  const auto span = opened->evaluate("[slipstick.start, slipstick.end]");
  if (!span) return span.faults();
  const double start = (*span)[0].get<double>(), end = (*span)[1].get<double>();
  const double from = std::max(start, options.from.value_or(start)), to = std::min(end, options.to.value_or(end));
  if (!(from <= to)) return Fault{{}, "nothing is between these times: the recording is of other ones"};
  const double step = options.speed / options.rate;
  const auto count = static_cast<std::size_t>(std::floor((to - from) / step + 1e-9)) + 1;
  for (std::size_t k = 0; k < count; ++k) {
    const auto picture = shoot(&opened.value(), std::min(to, from + static_cast<double>(k) * step) - start);
    if (!picture) return picture.faults();
    if (!sink(*picture, k, count)) return false;
  }
  return true;
}

}  // namespace slipstick
