// Room: report. What this build is and what it can do.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace slipstick {

struct BuildInfo {
  std::string version;
  std::string build_type;
  std::string compiler;
  std::string simd;  ///< the widest instructions that the compiler was allowed to use
  int threads = 1;   ///< of this machine
  std::vector<std::pair<std::string, std::string>> dependencies;  ///< name, version
  std::vector<std::string> schemes, solvers, shapes, joints;
};

BuildInfo make_build_info();
std::string make_json(const BuildInfo& info);

}  // namespace slipstick
