// The hashes of ten scenes after short runs, as they were when somebody last looked: what changes a bit of the physics
// is seen, and renewed on purpose (tools/renew_golden_hashes). Keyed by instruction set and compiler
// (docs/decisions/0014): elsewhere there are no figures to compare with.
#include "support/simulate.h"

#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

namespace slipstick::test {
namespace {

struct GoldenRun {
  const char* scene;
  int steps;
};

/// Every scheme, joints, motors, contacts, a mesh, located events, a heap.
constexpr GoldenRun kGoldenRuns[] = {
    {"stack", 30},         {"cannonball", 10}, {"chain", 40},       {"motor_arm", 60},      {"mesh_floor", 20},
    {"bouncing_ball", 80}, {"two_carts", 60},  {"wheel_loader", 6}, {"newtons_cradle", 60}, {"double_pendulum", 80}};

/// Empty: no figures for such a build.
std::string find_golden_key() {
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__) && defined(__OPTIMIZE__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(SLIPSTICK_SANITIZED)
  return "x86-64-v3/gcc-" + std::to_string(__GNUC__);
#else
  return "";
#endif
}

using GoldenTable = std::map<std::string, std::string>;  ///< "key scene steps" -> hash

const std::string& golden_path() {
  static const std::string path = std::string(SLIPSTICK_SOURCE_DIR) + "/tests/determinism/golden_hashes.txt";
  return path;
}

GoldenTable read_golden() {
  GoldenTable table;
  std::ifstream file(golden_path());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string key, scene, steps, value;
    words >> key >> scene >> steps >> value;
    table[key + " " + scene + " " + steps] = value;
  }
  return table;
}

void write_golden(const GoldenTable& table) {
  std::ofstream file(golden_path());
  file << "# instruction set and compiler, scene, steps, state_hash; made by tools/renew_golden_hashes\n";
  for (const auto& [key, value] : table) file << key << " " << value << "\n";
  ASSERT_TRUE(file.good());
}

TEST(Golden, TenScenesHaveTheHashesTheyHad) {
  const std::string key = find_golden_key();
  if (key.empty()) GTEST_SKIP() << "no golden hashes for this instruction set, compiler or kind of build";
  const bool renew = std::getenv("SLIPSTICK_RENEW_GOLDEN") != nullptr;
  GoldenTable table = read_golden();
  bool known = renew;
  for (const auto& [name, value] : table) known = known || name.compare(0, key.size() + 1, key + " ") == 0;
  if (!known) GTEST_SKIP() << "no golden hashes for " << key << "; tools/renew_golden_hashes makes them";
  for (const GoldenRun& run : kGoldenRuns) {
    Simulation simulation = simulation_of(shipped_scene(std::string(run.scene) + ".yaml"));
    for (int i = 0; i < run.steps; ++i) ASSERT_FALSE(simulation.step().failed) << run.scene;
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << hash(simulation.state());
    std::string& golden = table[key + " " + run.scene + " " + std::to_string(run.steps)];
    if (renew) {
      golden = text.str();
    } else {
      EXPECT_EQ(text.str(), golden) << run.scene
                                    << ": the motion has changed. If that is meant: tools/renew_golden_hashes";
    }
  }
  if (renew) write_golden(table);
}

}  // namespace
}  // namespace slipstick::test
