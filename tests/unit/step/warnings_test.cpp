// Options and materials that a scheme does not use are said to be so.
#include <gtest/gtest.h>
#include <slipstick/simulation.h>
#include <slipstick/surface.h>

namespace slipstick {
namespace {

struct Given {
  Material ball{"ball"}, floor{"floor"};
  std::optional<ImpactLaw> impact;  ///< of the pair
  SimulationOptions options;
  bool rolling_map = false;  ///< the floor is a heightfield with one
};

/// A ball above a floor; all warnings in one text.
std::string warnings_of(const Given& given) {
  ModelDescription d;
  d.materials = {given.ball, given.floor};
  if (given.impact) {
    MaterialPairDescription pair;
    pair.a = "ball";
    pair.b = "floor";
    pair.impact = given.impact;
    d.material_pairs.push_back(pair);
  }
  BodyDescription ball;
  ball.name = "ball";
  ball.pose.position = {0, 0, 1};
  ball.density = 1000;
  ShapeDescription sphere;
  sphere.kind = ShapeKind::Sphere;
  sphere.radius = 0.1;
  sphere.material = "ball";
  ball.shapes.push_back(sphere);
  BodyDescription floor;
  floor.name = "floor";
  floor.kind = BodyKind::Fixed;
  ShapeDescription plane;
  plane.kind = ShapeKind::Plane;
  if (given.rolling_map) {
    plane.kind = ShapeKind::Heightfield;
    plane.surface = make_heightfield({0, 0, 0, 0}, 2, 1, 1, Grid{{0, 0.01, 0, 0}, 2}).surface;
  }
  plane.material = "floor";
  floor.shapes.push_back(plane);
  d.bodies = {ball, floor};
  State state;
  const CompiledModel compiled = compile(d, &state);
  EXPECT_TRUE(compiled.faults.empty());
  EXPECT_TRUE(find_option_faults(given.options).empty());
  const Simulation simulation(compiled.model, state, given.options);
  std::string text;
  for (const std::string& warning : simulation.warnings()) text += warning + "\n";
  return text;
}

TEST(Warnings, NoneOfDefaults) {
  for (const std::string_view scheme : scheme_names()) {
    Given given;
    given.options.scheme = scheme;
    given.ball.restitution = 0.5;
    EXPECT_EQ(warnings_of(given), "") << scheme;
  }
}

TEST(Warnings, StabilizedWithoutItsImpactStageDoesNotUseImpactLaws) {
  const auto says = [](const Given& given) { return warnings_of(given).find("`impact`") != std::string::npos; };
  Given given;
  given.options.impact_stage = false;
  given.options.impact = ImpactLaw::Simplified;
  EXPECT_FALSE(says(given));  // nothing rebounds
  given.floor.restitution = 0.5;
  EXPECT_TRUE(says(given));
  given.options.impact = ImpactLaw::Newton;
  EXPECT_FALSE(says(given));  // that is its law
  given.impact = ImpactLaw::Poisson;
  EXPECT_TRUE(says(given));
  given.options.locate = true;
  EXPECT_FALSE(says(given));
  given.options.locate.reset();
  for (const char* scheme : {"euler", "trapezoid", "alpha-gamma", "spook"}) {
    given.options.scheme = scheme;
    EXPECT_FALSE(says(given)) << scheme;
  }
}

TEST(Warnings, StabilizedWithoutItsImpactStageDoesNotUseTangentialRestitution) {
  Given given;
  given.options.impact_stage = false;
  given.ball.tangential_restitution = 0.4;
  EXPECT_EQ(
      warnings_of(given),
      "materials 'ball' and 'floor': scheme stabilized does not use tangential_restitution without `impact_stage`; "
      "`locate: true` and the other schemes do\n");
  given.options.scheme = "spook";
  EXPECT_EQ(warnings_of(given), "");
}

TEST(Warnings, OthersDoNotUseStabilization) {
  for (const std::string_view scheme : scheme_names()) {
    Given given;
    given.options.scheme = scheme;
    given.options.stabilization = 0.5;
    EXPECT_EQ(warnings_of(given).find("does not use `stabilization`") != std::string::npos, scheme != "stabilized")
        << scheme;
  }
}

/// Rolling and spinning friction are parts of one cone with friction: where that is zero, so are they.
TEST(Warnings, RollingFrictionNeedsFriction) {
  for (const std::string_view scheme : scheme_names()) {
    for (double Material::*arm : {&Material::rolling_friction, &Material::spinning_friction}) {
      Given given;
      given.options.scheme = scheme;
      given.ball.*arm = 0.01;
      EXPECT_EQ(warnings_of(given), "") << scheme;
      given.floor.friction = 0;  // the pair's is the root of the product
      EXPECT_NE(warnings_of(given).find("materials 'ball' and 'floor': rolling_friction"), std::string::npos) << scheme;
      given.floor.friction = 0.5;
      given.ball.friction = 0;
      EXPECT_NE(warnings_of(given).find("do nothing where friction is 0"), std::string::npos) << scheme;
    }
  }
  Given given;
  given.rolling_map = true;
  EXPECT_EQ(warnings_of(given), "");
  given.floor.friction = 0;
  EXPECT_NE(warnings_of(given).find("materials 'ball' and 'floor': rolling_friction"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
