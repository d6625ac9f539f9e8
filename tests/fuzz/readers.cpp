// libFuzzer: any bytes as a scene, a problem file, a recording or a state file. Built and run by tools/fuzz only, once
// for each with SLIPSTICK_FUZZ_TARGET = 1, 2, 3, 4. What is read must give a result or faults of one line.
#include <slipstick/app/problem_file.h>
#include <slipstick/scene.h>
#include <slipstick/state_file.h>

#include <sys/mman.h>
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
  if (result.faults().empty()) std::abort();
  for (const Fault& fault : result.faults())
    if (fault.message.empty() || fault.text().find('\n') != std::string::npos) std::abort();
  return false;
}

/// The bytes as a file that is nowhere on a disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, bytes.data(), bytes.size()) < 0) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

[[maybe_unused]] void try_scene(std::string_view bytes) {
  SceneLoadOptions options;
  options.max_bodies = 200;
  is_good(parse_scene(std::string(bytes), "fuzz.yaml", options));
}

[[maybe_unused]] void try_problem(std::string_view bytes) {
  const MemoryFile file(bytes);
  is_good(load_problem(file.path()));
}

[[maybe_unused]] void try_recording(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto reader = RecordReader::open(file.path());
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
