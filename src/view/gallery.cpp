// The page of all scenes, and pictures of pages by headless Chromium.
#include <slipstick/app/view.h>

#include "report/web_text.h"
#include "view/page.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace slipstick {

namespace {

namespace fs = std::filesystem;

constexpr char kStyle[] = R"(
:root { color-scheme: dark light; --back: #10141a; --card: #171c24; --text: #e8ecf2; --muted: #93a0b2; --rule: #28313d; --accent: #5cc8ff }
@media (prefers-color-scheme: light) { :root { --back: #eef1f5; --card: #fff; --text: #1b2430; --muted: #5a6778; --rule: #dde3ea; --accent: #0072b2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 Inter, system-ui, "Segoe UI", Roboto, sans-serif }
header, main { max-width: 1240px; margin: 0 auto; padding: 0 24px }
header { padding-top: 44px; padding-bottom: 22px }
h1 { margin: 0; font-size: 30px; letter-spacing: -0.02em; font-weight: 680 }
header p { margin: 6px 0 0; color: var(--muted) }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 20px; padding-bottom: 60px }
a { display: flex; flex-direction: column; color: inherit; text-decoration: none; background: var(--card); border: 1px solid var(--rule); border-radius: 14px; overflow: hidden }
a:hover, a:focus-visible { border-color: var(--accent); outline: none }
img, .none { display: block; width: 100%; aspect-ratio: 8 / 5; object-fit: cover; background: var(--rule) }
.text { padding: 14px 16px 16px }
h2 { margin: 0 0 4px; font-size: 16px; font-weight: 620 }
p { margin: 0 } .text p { font-size: 13px; color: var(--muted) } .text .facts { margin-top: 8px; font-size: 12px; font-variant-numeric: tabular-nums }
)";

/// Ends the browser and what it started.
void end(pid_t group) {
  kill(-group, SIGKILL);
  waitpid(group, nullptr, 0);
}

bool wait_for(pid_t child, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  end(child);
  return false;
}

/// A path as part of a file: address.
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

}  // namespace

std::string make_gallery_page(const std::vector<GalleryCard>& cards) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' file:; style-src "
      "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Slipstick gallery</title>\n<style>" +
      std::string(kStyle) +
      "</style>\n</head>\n<body>\n<header><h1>Slipstick</h1><p>Every shipped scene, simulated and certified step by "
      "step. "
      "A click opens the replay.</p></header>\n<main>\n";
  for (const GalleryCard& card : cards) {
    html += "<a href=\"" + escape_html(escape_path(card.page)) + "\">";
    html += card.picture.empty()
                ? "<div class=\"none\"></div>"
                : "<img loading=\"lazy\" alt=\"\" src=\"" + escape_html(escape_path(card.picture)) + "\">";
    html += "<div class=\"text\"><h2>" + escape_html(card.title) + "</h2><p>" + escape_html(card.about) +
            "</p><p class=\"facts\">" + escape_html(card.facts) + "</p></div></a>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

std::string find_browser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

bool render_picture(const std::string& browser, const std::string& page, double time, const std::string& picture) {
  std::error_code code;
  const fs::path profile = fs::temp_directory_path(code) / ("slipstick-" + std::to_string(getpid()));
  const std::string address = "file://" + escape_path(fs::absolute(page, code).string()) +
                              "#ui=0&quality=2&theme=dark&t=" + std::to_string(time);
  const std::string output = "--screenshot=" + fs::absolute(picture, code).string();
  const std::string data = "--user-data-dir=" + profile.string();
  // A browser for root, without a sandbox, would be a danger on the web; this one sees only our own file.
  const std::vector<std::string> words{browser,
                                       "--headless",
                                       "--no-sandbox",
                                       "--use-angle=swiftshader",
                                       "--enable-unsafe-swiftshader",
                                       "--disable-background-networking",
                                       "--disable-component-update",
                                       "--disable-sync",
                                       "--no-first-run",
                                       "--hide-scrollbars",
                                       "--window-size=960,600",
                                       "--virtual-time-budget=4000",
                                       data,
                                       output,
                                       address};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  fs::remove(picture, code);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    setpgid(0, 0);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nowhere, descriptor);
    execv(arguments[0], arguments.data());
    _exit(1);
  }
  setpgid(child, child);
  const bool good = wait_for(child, std::chrono::seconds(90));
  fs::remove_all(profile, code);
  return good && fs::exists(picture, code);
}

}  // namespace slipstick
