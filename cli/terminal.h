// What the program shows a person: messages on stderr, colours and a progress bar where there is a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

/// One line on stderr.
void say(const std::string& line);
/// "slipstick COMMAND: line"
void say(const char* command, const std::string& line);

/// "a, b, c"
std::string join(const std::vector<std::string>& names);

/// A terminal that wants colours (NO_COLOR and TERM=dumb are respected).
bool wants_colour(int descriptor);

/// All of `text` to stdout; false if it cannot be written.
bool write_out(const std::string& text);

struct Progress {
  double time = 0, duration = 0;  ///< simulated, s
  int contacts = 0;
  double residual = 0;  ///< worst so far, m/s
};

/// A line at the bottom of a terminal that says how far a run is; elsewhere it does nothing.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar() { erase(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// At most ten times a second; cheap otherwise.
  void update(const Progress& progress, std::chrono::steady_clock::time_point now);
  /// The same for a study of several runs: which one, and what part of it is done.
  void update(std::string_view run, double part);
  /// The same for work whose size nobody knows: what it is about.
  void update(std::string_view what);
  void erase();

 private:
  void draw(const std::string& line);

  bool active_ = false;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

/// The line itself, at most `width` columns: what matters most goes last.
std::string make_progress_line(const Progress& progress, double elapsed_seconds, int width);
