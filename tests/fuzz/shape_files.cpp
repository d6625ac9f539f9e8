// libFuzzer: any bytes as a file of a shape. Built and run by tools/fuzz only. The first byte chooses the format.
#include <slipstick/surface.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collision/surface_index.h"
#include "scene/surface_file.h"

namespace slipstick {
namespace {

void try_surface(const SurfaceFile& file) {
  if (!file.problem.empty()) return;
  const MadeSurface made = make_surface(file.vertices, file.triangles);
  if ((made.surface == nullptr) == made.problem.empty()) __builtin_trap();
  if (!made.surface) return;
  const SurfaceIndex index(made.surface);
  int near = 0;
  index.tree().find(index.tree().bounds(), [&](int) { ++near; });
  if (near != static_cast<int>(made.surface->triangles.size())) __builtin_trap();
  calc_surface_mass(*made.surface);
}

void try_heights(const HeightFile& file) {
  if (!file.problem.empty()) return;
  const MadeSurface made = make_heightfield(file.heights, file.columns, 2, 3);
  if (made.surface) SurfaceIndex{made.surface};
}

}  // namespace
}  // namespace slipstick

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      slipstick::try_surface(slipstick::parse_obj(bytes));
      break;
    case 1:
      slipstick::try_surface(slipstick::parse_stl(bytes));
      break;
    case 2:
      slipstick::try_heights(slipstick::parse_csv(bytes));
      break;
    default:
      slipstick::try_heights(slipstick::parse_pgm(bytes));
      break;
  }
  return 0;
}
