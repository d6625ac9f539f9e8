// Room: base. A file that is either there whole or not at all.
#pragma once

#include <string>

namespace slipstick {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Makes sure, before any work is done, that the file can be made; `fault` says why not.
  bool open(const std::string& path, std::string* fault);
  /// Writes the text and gives the file its name.
  bool write(const std::string& text, std::string* fault);

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace slipstick
