#include <gtest/gtest.h>
#include <slipstick/builder.h>

#include <string>
#include <vector>

namespace slipstick {
namespace {

std::uint64_t run_built(const Scene& scene, int steps) {
  Simulation sim(scene.model, scene.initial, scene.options);
  for (int i = 0; i < steps; ++i) sim.step();
  return hash(sim.state());
}

std::vector<std::string> messages_of(const Result<Scene>& scene) {
  std::vector<std::string> messages;
  if (!scene)
    for (const Fault& fault : scene.faults()) messages.push_back(fault.message);
  return messages;
}

TEST(Builder, MakesTheSceneOfTheFile) {
  Builder builder;
  builder.options.step = 0.005;
  builder.material("rubber", 0.8, 0.3);
  builder.ground();
  BodyDescription& box = builder.body("box", {0, 0, 0.4}, {make_box({0.2, 0.3, 0.4})});
  box.mass = 2;
  box.shapes[0].material = "rubber";
  box.angular_velocity = {1, 2, 3};
  builder.body("rock", {1, 0, 0.5}, {make_hull({{0, 0, 0}, {0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 0.3}})}).density = 900;
  builder.body("arm", {-1, 0, 1}, {make_capsule(0.05, 0.4), make_cylinder(0.1, 0.2)}).mass = 1;
  builder.body("bob", {-1, 0, 0.5}, {make_ellipsoid({0.1, 0.2, 0.1})}).mass = 0.3;
  builder.body("cart", {3, 0, 1}, {make_cone(0.1, 0.2)}).mass = 1.5;
  JointDescription& hinge = builder.hinge("hinge", "world", "arm", {-1, 0, 1.2}, Vec3::UnitY());
  main_axis(&hinge).motor = make_speed_motor(0, 0.5);
  main_axis(&hinge).motor->target = builder.formula("2*cos(t)");
  main_axis(&hinge).limits = {-0.5, 0.5};
  main_axis(&builder.slider("slide", "world", "cart", {3, 0, 1}, Vec3::UnitX())).motor = make_position_motor(0.2, 10);
  builder.rope("rope", "arm", "bob", {-1, 0, 0.9}, {-1, 0, 0.6});
  builder.spring("spring", "arm", "rock", {-1, 0, 1}, {1, 0, 0.5}, 20, 0.1);
  builder.load("wind", "box", {0.5, 0, 0});
  builder.no_contact("box", "rock");
  const Result<Scene> built = builder.compile();
  ASSERT_TRUE(built) << messages_of(built).at(0);

  const Result<Scene> read = parse_scene(R"yaml(
slipstick: 1
materials: {rubber: {friction: 0.8, restitution: 0.3}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: box, mass: 2, position: [0, 0, 0.4], angular_velocity: [1, 2, 3], shapes: [{box: {size: [0.2, 0.3, 0.4]}, material: rubber}]}
  - {name: rock, density: 900, position: [1, 0, 0.5], shapes: [{hull: {points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}}]}
  - {name: arm, mass: 1, position: [-1, 0, 1], shapes: [{capsule: {radius: 0.05, length: 0.4}}, {cylinder: {radius: 0.1, length: 0.2}}]}
  - {name: bob, mass: 0.3, position: [-1, 0, 0.5], shapes: [{ellipsoid: {size: [0.1, 0.2, 0.1]}}]}
  - {name: cart, mass: 1.5, position: [3, 0, 1], shapes: [{cone: {radius: 0.1, length: 0.2}}]}
joints:
  - hinge: {name: hinge, between: [world, arm], at: [-1, 0, 1.2], axis: [0, 1, 0], limits: [-0.5, 0.5], motor: {speed: "2*cos(t)", max: 0.5}}
  - slider: {name: slide, between: [world, cart], at: [3, 0, 1], axis: [1, 0, 0], motor: {position: 0.2, max: 10}}
  - rope: {name: rope, between: [arm, bob], at: [[-1, 0, 0.9], [-1, 0, 0.6]]}
forces:
  - spring: {name: spring, between: [arm, rock], at: [[-1, 0, 1], [1, 0, 0.5]], stiffness: 20, damping: 0.1}
  - load: {name: wind, body: box, force: [0.5, 0, 0]}
pairs_without_contact: [[box, rock]]
simulation: {step: 0.005}
)yaml",
                                         "read");
  ASSERT_TRUE(read) << read.faults().at(0).text();
  EXPECT_EQ(hash(built->initial), hash(read->initial));
  EXPECT_EQ(run_built(*built, 100), run_built(*read, 100));
}

TEST(Builder, ReferencesStayGood) {
  Builder builder;
  BodyDescription& first = builder.body("first", {0, 0, 1});
  for (int i = 0; i < 100; ++i) builder.body("other" + std::to_string(i), {1.0 * i, 0, 0}).mass = 1;
  first.mass = 7;
  first.inertia = Mat3::Identity();
  const Result<Scene> scene = builder.compile();
  EXPECT_FALSE(scene) << "a mass without shapes needs an inertia";
  first.shapes = {make_sphere(0.1)};
  EXPECT_EQ(messages_of(builder.compile()).size(), 100u);
}

TEST(Builder, FaultsAreThoseOfTheReader) {
  Builder builder;
  builder.body("box", {0, 0, 1}, {make_box({1, 0, 1})}).mass = 1;
  builder.body("ball", {0, 0, 3}, {make_sphere(1)}).mass = -2;
  builder.hinge("elbow", "box", "bal", {0, 0, 2}, Vec3::UnitX());
  const std::vector<std::string> built = messages_of(builder.compile());
  const std::vector<std::string> read = messages_of(parse_scene(R"yaml(
slipstick: 1
bodies:
  - {name: box, mass: 1, position: [0, 0, 1], shapes: [{box: {size: [1, 0, 1]}}]}
  - {name: ball, mass: -2, position: [0, 0, 3], shapes: [{sphere: {radius: 1}}]}
joints: [{hinge: {name: elbow, between: [box, bal], at: [0, 0, 2], axis: [1, 0, 0]}}]
)yaml",
                                                                "read"));
  EXPECT_EQ(built.size(), 3u);
  EXPECT_EQ(built, read);
}

TEST(Builder, OptionsAndFormulasAreChecked) {
  Builder builder;
  builder.options.scheme = "trapezoidal";
  builder.options.step = -1;
  builder.body("ball", {0, 0, 1}, {make_sphere(1)}).mass = 1;
  LoadDescription& load = builder.load("push", "ball", {0, 0, 0});
  load.force[0] = builder.formula("2*sinn(t)");
  load.force[1] = builder.formula("1/(");
  EXPECT_EQ(messages_of(builder.compile()).size(), 4u);
}

TEST(Builder, PlanarGroundFacesUp) {
  Builder builder;
  builder.planar = true;
  builder.gravity = {0, -9.81, 0};
  builder.ground();
  builder.body("disk", {0, 1, 0}, {make_disk(0.5)}).mass = 1;
  builder.body("brick", {3, 0.5, 0}, {make_polygon({{-1, -0.5}, {1, -0.5}, {1, 0.5}, {-1, 0.5}})}).mass = 1;
  const Result<Scene> scene = builder.compile();
  ASSERT_TRUE(scene) << messages_of(scene).at(0);
  Simulation sim(scene->model, scene->initial, scene->options);
  for (int i = 0; i < 200; ++i) sim.step();
  EXPECT_NEAR(sim.state().pose[1].position.y(), 0.5, 1e-6);
  EXPECT_NEAR(sim.state().pose[2].position.y(), 0.5, 1e-6);
}

}  // namespace
}  // namespace slipstick
