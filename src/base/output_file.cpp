#include <slipstick/output_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace slipstick {

namespace fs = std::filesystem;

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

bool OutputFile::open(const std::string& path, std::string* fault) {
  path_ = path;
  std::error_code code;
  const fs::path folder = fs::path(path).parent_path().empty() ? fs::path(".") : fs::path(path).parent_path();
  if (fs::is_directory(path, code)) {
    *fault = path + ": is a folder; give the name of a file in it";
    return false;
  }
  if (!fs::is_directory(folder, code)) {
    *fault = path + ": the folder '" + folder.string() + "' does not exist; create it first";
    return false;
  }
  // What is neither a file nor absent (a pipe, /dev/stdout) is written to directly.
  const bool special = fs::exists(path, code) && !fs::is_regular_file(path, code);
  const std::string name = special ? path : path + ".partial." + std::to_string(::getpid());
  descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    *fault = path + ": cannot be written: " + std::strerror(errno);
    return false;
  }
  if (!special) temporary_ = name;
  return true;
}

bool OutputFile::write(const std::string& text, std::string* fault) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(descriptor_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  // On the disk before it has its name: a power cut leaves the old file or the new one.
  const bool written = done == text.size() && (temporary_.empty() || ::fsync(descriptor_) == 0);
  const bool closed = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!written || !closed || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    *fault = path_ + ": cannot be written: " + std::strerror(errno);
    return false;
  }
  temporary_.clear();
  return true;
}

}  // namespace slipstick
