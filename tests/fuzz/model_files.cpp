// libFuzzer: any bytes as a URDF or MJCF file; a scene with a consistent model, or faults with words. The files that a
// model may name are not there. Built and run by tools/fuzz only.
#include <slipstick/app/import.h>

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipstick;
  if (size == 0) return 0;
  ImportOptions options;  // the first byte chooses them
  options.floor = (data[0] & 1) != 0;
  options.repair_inertia = (data[0] & 2) != 0;
  options.free_base = (data[0] & 4) != 0;
  if ((data[0] & 8) != 0) options.key = "0";
  options.files.max_bodies = 200;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ImportReport report;
  const Result<Scene> scene = parse_model(text, "model.xml", options, &report);
  if (!scene) {
    if (scene.faults().empty()) __builtin_trap();
    for (const Fault& fault : scene.faults())
      if (fault.message.empty() || fault.text().find('\n') != std::string::npos) __builtin_trap();
    return 0;
  }
  if (scene->initial.pose.size() != scene->model.bodies.size()) __builtin_trap();
  write_scene_text(*scene, report, "files");
  return 0;
}
