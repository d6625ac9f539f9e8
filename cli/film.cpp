// slipstick view --video and --png: pictures by a headless browser, films of them by ffmpeg.
#include "film.h"

#include "output_paths.h"
#include "terminal.h"

#include <slipstick/app/view.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;

/// How ffmpeg makes a film, by the file's ending.
struct Format {
  const char* ending;
  std::vector<std::string> words;
};

const Format* find_format(const std::string& path) {
  static const Format kFormats[] = {
      {".mp4",
       {"-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
      {".webm", {"-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-row-mt", "1", "-pix_fmt", "yuv420p"}},
      {".webp", {"-c:v", "libwebp_anim", "-lossless", "0", "-q:v", "60", "-compression_level", "6", "-loop", "0"}},
      {".apng", {"-f", "apng", "-plays", "0"}}};
  for (const Format& format : kFormats)
    if (path.ends_with(format.ending)) return &format;
  return nullptr;
}

/// A program in PATH, or nothing.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folder;
  for (const char* c = path ? path : "";; ++c) {
    if (*c != ':' && *c != '\0') {
      folder += *c;
      continue;
    }
    if (!folder.empty() && access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
    folder.clear();
    if (*c == '\0') return "";
  }
}

/// ffmpeg that reads PNGs from a pipe.
class Encoder {
 public:
  Encoder(const std::string& program, const Format& format, double rate, const std::string& path) {
    std::vector<std::string> words{program,      "-loglevel",          "error", "-y",  "-f", "image2pipe",
                                   "-framerate", std::to_string(rate), "-c:v",  "png", "-i", "-"};
    words.insert(words.end(), format.words.begin(), format.words.end());
    words.push_back(path);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[0], 0);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[0]);
    pipe_ = ends[1];
  }
  ~Encoder() { finish(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  bool write(const std::string& png) const {
    for (std::size_t sent = 0; sent < png.size();) {
      const ssize_t count = ::write(pipe_, png.data() + sent, png.size() - sent);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  /// True when ffmpeg is content.
  bool finish() {
    if (pipe_ >= 0) close(std::exchange(pipe_, -1));
    if (process_ <= 0) return false;
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

bool read_size(const std::string& text, int* width, int* height) {
  char rest = 0;
  return std::sscanf(text.c_str(), "%dx%d%c", width, height, &rest) == 2 && *width >= 64 && *height >= 64 &&
         *width <= 7680 && *height <= 4320 && *width % 2 == 0 && *height % 2 == 0;
}

/// Takes pictures with a bar that says how far it is. True when all were taken.
bool take(const std::string& browser, const ViewArguments& arguments, const slipstick::PictureOptions& options,
          const slipstick::PictureSink& sink, std::size_t* count) {
  ProgressBar bar(true);
  const auto made = slipstick::render_pictures(
      browser, arguments.inputs, options, [&](const std::string& png, std::size_t number, std::size_t all) {
        bar.update("picture " + std::to_string(number + 1) + " of " + std::to_string(all),
                   static_cast<double>(number) / static_cast<double>(all));
        *count = all;
        return sink(png, number, all);
      });
  bar.erase();
  if (!made)
    for (const slipstick::Fault& fault : made.faults()) say("view", fault.text());
  return made && *made;
}

int write_pictures(const std::string& browser, const ViewArguments& arguments,
                   const slipstick::PictureOptions& options) {
  std::error_code code;
  const fs::path folder = arguments.pictures;
  fs::create_directories(folder, code);
  if (!fs::is_directory(folder, code)) {
    say("view", folder.string() + ": cannot be made a folder");
    return kBadInput;
  }
  std::size_t count = 0;
  const bool all = take(
      browser, arguments, options,
      [&](const std::string& png, std::size_t number, std::size_t) {
        char name[32];
        std::snprintf(name, sizeof name, "frame_%05zu.png", number);
        std::ofstream file(folder / name, std::ios::binary);
        file << png;
        if (file.flush()) return true;
        say("view", (folder / name).string() + ": cannot be written");
        return false;
      },
      &count);
  if (!all) return kFailed;
  say(folder.string() + ": " + std::to_string(count) + " pictures");
  return kDone;
}

int write_film(const std::string& browser, const ViewArguments& arguments, const slipstick::PictureOptions& options) {
  const Format* format = find_format(arguments.video);
  const std::string ffmpeg = find_program("ffmpeg");
  if (ffmpeg.empty()) {
    say("view", "ffmpeg is missing (package ffmpeg); --png DIR writes the pictures without it");
    return kFailed;
  }
  const fs::path path = arguments.video;
  fs::path part = path;  // the film has its name when it is whole
  part.replace_filename(path.stem().string() + ".part" + path.extension().string());
  std::error_code code;
  if (!std::ofstream(part)) {
    say("view", path.string() + ": cannot be written");
    return kBadInput;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::size_t count = 0;
  Encoder encoder(ffmpeg, *format, options.rate, part.string());
  const bool all = take(
      browser, arguments, options, [&](const std::string& png, std::size_t, std::size_t) { return encoder.write(png); },
      &count);
  const bool whole = encoder.finish() && all;
  if (whole) fs::rename(part, path, code);
  if (!whole || code) {
    fs::remove(part, code);
    if (all) say("view", path.string() + ": ffmpeg did not make it");
    return kFailed;
  }
  char text[96];
  std::snprintf(text, sizeof text, ": %zu pictures, %.3g s, %.2f MB", count, static_cast<double>(count) / options.rate,
                static_cast<double>(fs::file_size(path, code)) / 1e6);
  say(path.string() + text);
  return kDone;
}

}  // namespace

int film(const ViewArguments& arguments) {
  slipstick::PictureOptions options;
  options.rate = arguments.rate;
  options.speed = arguments.speed;
  options.from = arguments.from;
  options.to = arguments.to;
  options.look = arguments.look;
  if (!arguments.size.empty() && !read_size(arguments.size, &options.width, &options.height)) {
    say("view", "--size '" + arguments.size + "': must be WIDTHxHEIGHT in pixels, even numbers from 64, as 1280x720");
    return kBadInput;
  }
  if (!arguments.video.empty() && !find_format(arguments.video)) {
    say("view", arguments.video + ": a film ends in .mp4, .webm, .webp or .apng");
    return kBadInput;
  }
  if (!check_outputs("view", {{"--video", arguments.video}}, "recording", arguments.inputs, false)) return kBadInput;
  const std::string browser = slipstick::find_browser();
  if (browser.empty()) {
    say("view", "Chromium is missing, which draws the pictures (package chromium)");
    return kFailed;
  }
  return arguments.video.empty() ? write_pictures(browser, arguments, options)
                                 : write_film(browser, arguments, options);
}
