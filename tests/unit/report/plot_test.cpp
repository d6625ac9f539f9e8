#include <gtest/gtest.h>
#include <slipstick/app/plot.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/plot_scale.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> labels(const PlotScale& scale) {
  std::vector<std::string> list;
  for (const PlotTick& tick : scale.ticks()) {
    EXPECT_GE(tick.place, -1e-9);
    EXPECT_LE(tick.place, 1 + 1e-9);
    if (!tick.label.empty()) list.push_back(tick.label);
  }
  return list;
}

TEST(PlotScale, LinearTicksAreRound) {
  const PlotScale scale({"", false, 0.0, 1.0}, {});
  EXPECT_EQ(labels(scale), (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_DOUBLE_EQ(scale.place(0.25), 0.25);
}

TEST(PlotScale, LogarithmicTicksArePowersOfTen) {
  const std::vector<double> values{1e-8, 3e-3, -1, 0, NAN};
  const PlotScale scale({"", true, {}, {}}, {&values});
  EXPECT_DOUBLE_EQ(scale.low(), 1e-8);
  EXPECT_DOUBLE_EQ(scale.high(), 1e-2);
  EXPECT_EQ(labels(scale).front(), "10\u207b\u2078");
  EXPECT_NEAR(scale.place(1e-5), 0.5, 1e-12);
  EXPECT_FALSE(scale.shows(0));
}

TEST(PlotScale, NothingAndOneValueHaveARange) {
  const std::vector<double> none, one{3}, bad{NAN, INFINITY};
  for (const bool log : {false, true})
    for (const auto* values : {&none, &one, &bad}) {
      const PlotScale scale({"", log, {}, {}}, {values});
      EXPECT_LT(scale.low(), scale.high());
      EXPECT_FALSE(labels(scale).empty());
    }
}

TEST(Plot, WritesPngAndSvgOrSaysWhyNot) {
  const fs::path folder = fs::temp_directory_path() / ("plot_test." + std::to_string(::getpid()));
  fs::create_directories(folder);
  Plot plot{"title & <more>", {"x", true, {}, {}}, {"y", false, {}, {}}, {}};
  plot.lines.push_back({"a line", {1, 10, 100, NAN, 1000}, {0, 1, 0.5, 2, 3}, true, true, false});
  for (const char* name : {"p.png", "p.svg"}) EXPECT_TRUE(save_plot((folder / name).string(), {plot, plot}).empty());
  std::ifstream file(folder / "p.svg");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("<svg"), std::string::npos);
  EXPECT_EQ(save_plot((folder / "p.jpg").string(), {plot}).size(), 1u);
  EXPECT_EQ(save_plot((folder / "no" / "p.png").string(), {plot}).size(), 1u);
  int files = 0;
  for ([[maybe_unused]] const auto& each : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 2) << "nothing half-written";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace slipstick
