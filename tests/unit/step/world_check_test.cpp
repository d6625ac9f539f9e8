#include "step/world_check.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

/// Boxes on a floor, one of them `depth` in it, one above the others that falls.
ModelDescription make_boxes(double depth) {
  ModelDescription description;
  for (int k = 0; k < 4; ++k) {
    BodyDescription body;
    body.name = k == 0 ? "floor" : "box" + std::to_string(k);
    body.kind = k == 0 ? BodyKind::Fixed : BodyKind::Dynamic;
    body.density = 1000;
    ShapeDescription shape;
    shape.kind = ShapeKind::Box;
    shape.size = k == 0 ? Vec3(4, 4, 1) : Vec3(0.2, 0.2, 0.2);
    body.pose.position = k == 0 ? Vec3(0, 0, -0.5) : Vec3(0.3 * k, 0.01 * k, 0.1);
    if (k == 1) body.pose.position.z() -= depth;
    if (k == 3) body.pose.position = {0.6, 0.05, 0.4};
    body.shapes.push_back(shape);
    description.bodies.push_back(body);
  }
  return description;
}

TEST(WorldCheck, MissedContactTakesTheCertificate) {
  State state;
  const Model model = compile(make_boxes(1e-3), &state).model;
  for (const AuditMode mode : {AuditMode::Every, AuditMode::Share, AuditMode::Off}) {
    WorldCheck check(model);
    StepReport report;
    int missed = 0;
    for (int k = 0; k < 100; ++k) {
      report = {};
      report.certified = true;
      report.rows = 12;
      check.run(state, {}, mode, &report);  // as if no contact had been found
      EXPECT_EQ(report.certified, report.world.missed == 0);
      missed += report.world.missed;
      if (report.world.missed == 0) continue;
      EXPECT_EQ(report.world.worst.body_a, 0);
      EXPECT_EQ(report.world.worst.body_b, 1);
      EXPECT_NEAR(report.world.worst.depth, 1e-3, 1e-12);
      EXPECT_FALSE(report.note.empty());
    }
    EXPECT_EQ(missed > 0, mode != AuditMode::Off);
    if (mode == AuditMode::Every) {
      EXPECT_EQ(missed, 100);
    }
  }
}

TEST(WorldCheck, NoBitOfTheStateDependsOnIt) {
  for (const char* scheme : {"stabilized", "trapezoid", "spook"}) {
    std::vector<std::uint64_t> hashes;
    for (const AuditMode mode : {AuditMode::Every, AuditMode::Share, AuditMode::Off}) {
      State state;
      const Model model = compile(make_boxes(0), &state).model;
      SimulationOptions options;
      options.scheme = scheme;
      options.audit = mode;
      Simulation simulation(model, state, options);
      long pairs = 0;
      for (int k = 0; k < 60; ++k) {
        const StepReport& report = simulation.step();
        pairs += report.world.pairs;
        EXPECT_EQ(report.world.missed, 0) << scheme << " " << k;
      }
      EXPECT_EQ(pairs > 0, mode != AuditMode::Off);
      EXPECT_EQ(simulation.check_world().missed, 0);
      EXPECT_GT(simulation.check_world().pairs, 2);
      hashes.push_back(hash(simulation.state()));
    }
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
  }
}

}  // namespace
}  // namespace slipstick
