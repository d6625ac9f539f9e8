// libFuzzer: any bytes as a scene, a problem file, a recording or a state file. Built and run by tools/fuzz only, once
// for each with SLIPSTICK_FUZZ_TARGET = 1, 2, 3, 4. What is read must give a result or faults of one line. With
// SLIPSTICK_FUZZ_GOOD in the environment it must be good: tools/fuzz tries its seeds so, since a target that
// refuses every file at the door finds nothing.
#include <slipstick/app/problem_file.h>
#include <slipstick/scene.h>
#include <slipstick/state_file.h>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "record/record_reader.h"

namespace slipstick {
namespace {

template <class T>
bool is_good(const Result<T>& result) {
  if (result) return true;
  if (std::getenv("SLIPSTICK_FUZZ_GOOD")) std::abort();
  if (result.faults().empty()) std::abort();
  for (const Fault& fault : result.faults())
    if (fault.message.empty() || fault.text().find('\n') != std::string::npos) std::abort();
  return false;
}

/// The bytes as a file in memory, of this process alone. (HDF5 does not open what has no name.)
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) {
    const int file = ::open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    ::close(file);
  }
  ~MemoryFile() { ::unlink(path().c_str()); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  static const std::string& path() {
    static const std::string name = "/dev/shm/slipstick-fuzz-" + std::to_string(::getpid());
    return name;
  }
};

[[maybe_unused]] void try_scene(std::string_view bytes) {
  SceneLoadOptions options;
  options.max_bodies = 200;
  is_good(parse_scene(std::string(bytes), "fuzz.yaml", options));
}

[[maybe_unused]] void try_problem(std::string_view bytes) {
  const MemoryFile file(bytes);
  is_good(load_problem(MemoryFile::path()));
}

[[maybe_unused]] void try_recording(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto reader = RecordReader::open(MemoryFile::path());
  if (!is_good(reader)) return;
  const std::size_t n = reader->frames();
  for (const std::size_t stride : {1, 3}) {
    const std::size_t count = (n + stride - 1) / stride;
    reader->read_poses(0, count, stride);
    reader->read_velocities(0, count, stride);
    reader->read_joints(0, count, stride);
    reader->read_contacts(0, count, stride);
  }
  is_good(reader->read_last_state());
}

[[maybe_unused]] void try_state(std::string_view bytes) { is_good(read_file_bytes(bytes, "fuzz")); }

}  // namespace
}  // namespace slipstick

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
#if SLIPSTICK_FUZZ_TARGET == 1
  slipstick::try_scene(bytes);
#elif SLIPSTICK_FUZZ_TARGET == 2
  slipstick::try_problem(bytes);
#elif SLIPSTICK_FUZZ_TARGET == 3
  slipstick::try_recording(bytes);
#else
  slipstick::try_state(bytes);
#endif
  return 0;
}
