#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int find_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string make_clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds > 359999) return "--:--";
  const long s = std::lround(seconds);
  char buffer[32];
  if (s >= 3600) {
    std::snprintf(buffer, sizeof buffer, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  } else {
    std::snprintf(buffer, sizeof buffer, "%ld:%02ld", s / 60, s % 60);
  }
  return buffer;
}

}  // namespace

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }
void say(const char* command, const std::string& line) {
  std::fprintf(stderr, "slipstick %s: %s\n", command, line.c_str());
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool wants_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_colour && *no_colour) return false;
  return ::isatty(descriptor) && !(term && std::strcmp(term, "dumb") == 0);
}

bool write_out(const std::string& text) {
  const bool good = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!good) say("slipstick: cannot write to standard output");
  return good;
}

ProgressBar::ProgressBar(bool wanted) {
  const char* term = std::getenv("TERM");
  active_ = wanted && ::isatty(STDERR_FILENO) && !(term && std::strcmp(term, "dumb") == 0);
  start_ = last_ = std::chrono::steady_clock::now();
}

void ProgressBar::update(const Progress& progress, std::chrono::steady_clock::time_point now) {
  if (!active_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  // One column stays free: a full line would wrap on some terminals.
  draw(make_progress_line(progress, std::chrono::duration<double>(now - start_).count(), find_width() - 1));
}

void ProgressBar::update(std::string_view run, double part) {
  const auto now = std::chrono::steady_clock::now();
  if (!active_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%  ", std::floor(100 * part));
  draw((percent + std::string(run)).substr(0, static_cast<std::size_t>(std::max(8, find_width() - 1))));
}

void ProgressBar::update(std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (!active_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  draw(std::string(what.substr(0, static_cast<std::size_t>(std::max(8, find_width() - 1)))));
}

void ProgressBar::draw(const std::string& line) {
  const std::string text = "\r" + line + "\x1b[K";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::erase() {
  if (!drawn_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

std::string make_progress_line(const Progress& progress, double elapsed, int width) {
  const double part = progress.duration > 0 ? std::clamp(progress.time / progress.duration, 0.0, 1.0) : 1;
  const double factor = elapsed > 0 ? progress.time / elapsed : 0;
  char buffer[96];
  std::vector<std::string> fields;  // in the order of their worth
  std::snprintf(buffer, sizeof buffer, "%3.0f %%", std::floor(100 * part));
  fields.emplace_back(buffer);
  fields.push_back("ETA " + make_clock_text(part > 0 ? elapsed * (1 - part) / part : INFINITY));
  std::snprintf(buffer, sizeof buffer, "t %.2f/%g s", progress.time, progress.duration);
  fields.emplace_back(buffer);
  std::snprintf(buffer, sizeof buffer, "%.3gx real time", factor);
  fields.emplace_back(buffer);
  std::snprintf(buffer, sizeof buffer, "%d contacts", progress.contacts);
  fields.emplace_back(buffer);
  std::snprintf(buffer, sizeof buffer, "residual %.0e", progress.residual);
  fields.emplace_back(buffer);
  std::string text;
  for (const std::string& field : fields) {
    const std::string longer = text.empty() ? field : text + "  " + field;
    if (static_cast<int>(longer.size()) > width) break;
    text = longer;
  }
  const int room = std::min(30, width - static_cast<int>(text.size()) - 2);
  if (room < 6) return text;
  const int full = static_cast<int>(std::floor(part * room));
  std::string bar;
  for (int i = 0; i < room; ++i) bar += i < full ? "━" : "╌";
  return bar + "  " + text;
}
