// Each fault that `compile` can find, provoked alone: one spoiled place gives exactly one sentence.
#include <gtest/gtest.h>
#include <slipstick/model.h>
#include <slipstick/state.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "unit/model/builders.h"

namespace slipstick {
namespace {

using namespace test;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// A good world with one of everything: sources are 1 ground, 2 crank, 3 its shape, 4 slide, 5 joint, 6 spring, 7 load,
/// 8 steel, 9 the material pair, 10 the pair without contact, 11 the rod, 12 the lift.
ModelDescription make_world() {
  ModelDescription world;
  world.materials = {{"steel", 0.3, 0.2, 8}};
  world.material_pairs = {{"steel", "default", 0.4, 0.1, 9}};
  world.bodies = {fixed("ground", {plane({0, 0, 1}, 0)}), body("crank", 2, {sphere(1)}), body("slide", 1, {sphere(1)}),
                  fixed("lift", {box({1, 1, 1})})};
  world.bodies[0].source = 1;
  world.bodies[1].source = 2;
  world.bodies[1].shapes[0].source = 3;
  world.bodies[2].source = 4;
  world.bodies[3].kind = BodyKind::Kinematic;
  world.bodies[3].source = 12;
  world.joints = {joint(JointKind::Hinge, "pin", "ground", "crank"), joint(JointKind::Rod, "bar", "crank", "slide")};
  world.joints[0].source = 5;
  world.joints[1].source = 11;
  SpringDescription spring;
  spring.name = "coil";
  spring.a = "world";
  spring.b = "slide";
  spring.at_b = Vec3(1, 0, 0);
  spring.stiffness = 5;
  spring.source = 6;
  world.springs = {spring};
  LoadDescription load;
  load.name = "push";
  load.body = "slide";
  load.source = 7;
  world.loads = {load};
  world.pairs_without_contact = {{"ground", "slide"}};
  world.pairs_without_contact_source = {10};
  return world;
}

ModelDescription make_planar_world() {
  ModelDescription world;
  world.planar = true;
  world.gravity = Vec3(0, -9.81, 0);
  world.bodies = {fixed("ground", {plane({0, 1, 0}, 0)}), body("crank", 2, {polygon({{0, 0}, {1, 0}, {0, 1}})})};
  world.bodies[0].source = 1;
  world.bodies[1].source = 2;
  world.bodies[1].shapes[0].source = 3;
  world.joints = {joint(JointKind::Hinge, "pin", "ground", "crank")};
  world.joints[0].source = 5;
  world.joints[0].at_b.setZero();
  return world;
}

using World = ModelDescription&;
struct Case {
  std::function<void(World)> spoil;
  SourceTag source;
  std::string message;
};

void check_cases(const ModelDescription& good, const std::vector<Case>& cases) {
  ASSERT_TRUE(compile(good, nullptr).faults.empty()) << compile(good, nullptr).faults[0].message;
  for (const Case& one : cases) {
    ModelDescription world = good;
    one.spoil(world);
    State start;
    start.time = 42;
    const CompiledModel made = compile(world, &start);
    ASSERT_EQ(made.faults.size(), 1u) << one.message << "\n"
                                      << (made.faults.empty() ? "no fault" : made.faults[1].message);
    EXPECT_EQ(made.faults[0].message, one.message);
    EXPECT_EQ(made.faults[0].source, one.source) << one.message;
    EXPECT_TRUE(made.faults[0].message.starts_with(made.faults[0].item + ": ")) << made.faults[0].item;
    EXPECT_EQ(made.faults[0].unknown_name, one.message.find(": unknown ") != std::string::npos) << one.message;
    EXPECT_TRUE(made.model.bodies.empty());  // half a model is no model
    EXPECT_EQ(start.time, 42);
  }
}

TEST(CompileFaults, Bodies) {
  const std::string crank = "body 'crank': ";
  check_cases(
      make_world(),
      {
          {[](World w) { w.bodies[1].mass = -2; }, 2, crank + "mass must be positive, not -2"},
          {[](World w) { w.bodies[1].mass = 0; }, 2, crank + "mass must be positive, not 0"},
          {[](World w) { w.bodies[1].mass = kNan; }, 2, crank + "mass must be a finite number, not nan"},
          {[](World w) { w.bodies[1].mass.reset(); }, 2,
           crank + "a dynamic body needs a mass or a density; give one, or make the body fixed"},
          {[](World w) { w.bodies[1].density = 5; }, 2, crank + "has both a mass and a density; give only one of them"},
          {[](World w) {
             w.bodies[1].mass.reset();
             w.bodies[1].density = -5;
           },
           2, crank + "density must be positive, not -5"},
          {[](World w) { w.bodies[1].shapes.clear(); }, 2,
           crank + "has a mass but no shape and no inertia; give inertia, add a shape, or lock its rotation"},
          {[](World w) {
             w.bodies[1].shapes.clear();
             w.bodies[1].mass.reset();
             w.bodies[1].density = 1;
           },
           2, crank + "has a density but no shape to fill; give it a mass, or a shape that is not visual_only"},
          {[](World w) {
             w.bodies[1].shapes.push_back(sphere(2));
             w.bodies[1].shapes[0].density = 3;
           },
           2,
           crank + "shape 2 (sphere) has no density while others of the body have one; give it one, or give the body "
                   "one"},
          {[](World w) { w.bodies[1].shapes[0].radius = 1e-120; }, 2,
           crank + "its shapes are too small or too large for mass and inertia to be numbers; check the sizes"},
          {[](World w) { w.bodies[1].inertia = Mat3(Vec3(1, 1, 3).asDiagonal()); }, 2,
           crank + "inertia is not that of any body: it must be symmetric and positive definite, and no principal "
                   "moment may exceed the sum of the other two"},
          {[](World w) { w.bodies[1].inertia = Mat3(Vec3(1, 1, 0).asDiagonal()); }, 2,
           crank + "inertia is not that of any body: it must be symmetric and positive definite, and no principal "
                   "moment may exceed the sum of the other two"},
          {[](World w) { w.bodies[1].inertia = (Mat3() << 1, 0.5, 0, 0, 1, 0, 0, 0, 1).finished(); }, 2,
           crank + "inertia is not that of any body: it must be symmetric and positive definite, and no principal "
                   "moment may exceed the sum of the other two"},
          {[](World w) { w.bodies[1].inertia = Mat3::Constant(kNan); }, 2, crank + "inertia must be finite numbers"},
          {[](World w) { w.bodies[1].center_of_mass = Vec3(0, kInf, 0); }, 2,
           crank + "center_of_mass must be finite numbers, not [0, inf, 0]"},
          {[](World w) { w.bodies[1].pose.position.x() = kNan; }, 2,
           crank + "position must be finite numbers, not [nan, 0, 0]"},
          {[](World w) { w.bodies[1].pose.orientation = Quat(0, 0, 0, 0); }, 2,
           crank + "orientation must be a quaternion other than zero"},
          {[](World w) { w.bodies[1].velocity.y() = kInf; }, 2,
           crank + "velocity must be finite numbers, not [0, inf, 0]"},
          {[](World w) { w.bodies[1].angular_velocity.y() = kInf; }, 2,
           crank + "angular_velocity must be finite numbers, not [0, inf, 0]"},
          {[](World w) {
             w.bodies[1].lock[1] = true;
             w.bodies[1].velocity = Vec3(1, 2, 3);
           },
           2, crank + "moves along its locked y at 2; make that velocity zero, or remove the lock"},
          {[](World w) {
             w.bodies[1].lock[3] = true;
             w.bodies[1].angular_velocity = Vec3(0.5, 2, 3);
           },
           2, crank + "moves along its locked rx at 0.5; make that velocity zero, or remove the lock"},
          {[](World w) { w.bodies[0].velocity.x() = 1; }, 1,
           "body 'ground': a fixed body has no velocity; leave it out, or make the body kinematic"},
          {[](World w) { w.bodies[3].velocity.x() = 1; }, 12,
           "body 'lift': the velocity of a kinematic body is the one under `kinematic`; leave the other out"},
          {[](World w) { w.bodies[3].kinematic_velocity[1] = Expression(kNan); }, 12,
           "body 'lift': kinematic velocity must be finite numbers at t = 0, not [0, nan, 0]"},
          {[](World w) { w.bodies[3].kinematic_angular_velocity[1] = Expression(kNan); }, 12,
           "body 'lift': kinematic angular_velocity must be finite numbers at t = 0, not [0, nan, 0]"},
          {[](World w) { w.bodies.push_back(body("slide", 1, {sphere(1)})); }, -1,
           "body 'slide': another body has this name; names must differ"},
          {[](World w) { w.bodies.push_back(body("world", 1, {sphere(1)})); }, -1,
           "body 'world': this name means the world itself; choose another"},
          {[](World w) { w.gravity.x() = kNan; }, -1, "gravity: it must be finite numbers, not [nan, 0, -9.81]"},
      });
}

TEST(CompileFaults, Shapes) {
  const std::string ball = "body 'crank': shape 1 (sphere): ";
  const auto replace = [](const ShapeDescription& shape) {
    return [shape](World w) {
      w.bodies[1].shapes[0] = shape;
      w.bodies[1].shapes[0].source = 3;
    };
  };
  check_cases(
      make_world(),
      {
          {[](World w) { w.bodies[1].shapes[0].radius = 0; }, 3, ball + "radius must be positive, not 0"},
          {[](World w) { w.bodies[1].shapes[0].radius = kNan; }, 3, ball + "radius must be a finite number, not nan"},
          {[](World w) { w.bodies[1].shapes[0].density = -1; }, 3, ball + "density must be positive, not -1"},
          {[](World w) { w.bodies[1].shapes[0].density = 0; }, 3, ball + "density must be positive, not 0"},
          {[](World w) { w.bodies[1].shapes[0].material = "steal"; }, 3,
           ball + "unknown material 'steal'; did you mean 'steel'?"},
          {[](World w) { w.bodies[1].shapes[0].pose.position.z() = kNan; }, 3,
           ball + "position must be finite numbers, not [0, 0, nan]"},
          {[](World w) { w.bodies[1].shapes[0].pose.orientation = Quat(0, 0, 0, 0); }, 3,
           ball + "orientation must be a quaternion other than zero"},
          {replace(box({1, 0, 1})), 3, "body 'crank': shape 1 (box): size must be positive, not 0"},
          {replace(capsule(-1, 1)), 3, "body 'crank': shape 1 (capsule): radius must be positive, not -1"},
          {replace(capsule(1, -1)), 3, "body 'crank': shape 1 (capsule): length must not be negative, but is -1"},
          {replace(plane({0, 0, 1}, 0)), 3,
           "body 'crank': shape 1 (plane): a plane is unbounded and cannot belong to a dynamic body; make the body "
           "fixed or kinematic"},
          {replace(disk(1)), 3,
           "body 'crank': shape 1 (disk): is a planar shape; use it with planar: true, or take a sphere or a box"},
          {[](World w) { w.bodies[0].shapes[0].normal.setZero(); }, 1,
           "body 'ground': shape 1 (plane): normal must not be zero"},
          {[](World w) { w.bodies[0].shapes[0].normal.x() = kInf; }, 1,
           "body 'ground': shape 1 (plane): normal must be finite numbers, not [inf, 0, 1]"},
          {[](World w) { w.bodies[0].shapes[0].offset = kNan; }, 1,
           "body 'ground': shape 1 (plane): offset must be a finite number, not nan"},
      });
}

TEST(CompileFaults, JointsSpringsLoads) {
  check_cases(
      make_world(),
      {
          {[](World w) { w.joints[0].a = "groud"; }, 5, "joint 'pin': unknown body 'groud'; did you mean 'ground'?"},
          {[](World w) { w.joints[0].b = "nothing like it"; }, 5, "joint 'pin': unknown body 'nothing like it'"},
          {[](World w) { w.joints[0].a = "crank"; }, 5,
           "joint 'pin': joins 'crank' to itself; name two different bodies"},
          {[](World w) { w.joints[0].b = "world"; }, 5,
           "joint 'pin': neither 'ground' nor 'world' can move freely; one must be dynamic"},
          {[](World w) { w.joints[0].b = "lift"; }, 5,
           "joint 'pin': neither 'ground' nor 'lift' can move freely; one must be dynamic"},
          {[](World w) { w.joints[0].at.x() = kNan; }, 5, "joint 'pin': at must be finite numbers, not [nan, 0, 0]"},
          {[](World w) { w.joints[0].axis.setZero(); }, 5, "joint 'pin': axis must not be zero"},
          {[](World w) { w.joints[0].axis.x() = kNan; }, 5,
           "joint 'pin': axis must be finite numbers, not [nan, 0, 1]"},
          {[](World w) { w.joints[0].compliance = -1; }, 5, "joint 'pin': compliance must not be negative, but is -1"},
          {[](World w) { w.joints[0].damping_time = -1; }, 5,
           "joint 'pin': damping_time must not be negative, but is -1"},
          {[](World w) { w.joints[1].name = "pin"; }, 11,
           "joint 'pin': another joint has this name; names must differ"},
          {[](World w) { w.joints[1].at_b = w.joints[1].at; }, 11,
           "joint 'bar': its two ends are at one point; place them apart, or use a ball joint"},
          {[](World w) { w.joints[1].at_b.y() = kNan; }, 11,
           "joint 'bar': at_b must be finite numbers, not [0, nan, 1]"},
          {[](World w) { w.joints[1].length = 0; }, 11, "joint 'bar': length must be positive, not 0"},
          {[](World w) {
             w.joints[1].name.clear();
             w.joints[1].a = "Crnak";
           },
           11, "joint 2 (rod): unknown body 'Crnak'; did you mean 'crank'?"},
          {[](World w) { w.springs[0].a = "word"; }, 6, "spring 'coil': unknown body 'word'; did you mean 'world'?"},
          {[](World w) { w.springs[0].b = "world"; }, 6,
           "spring 'coil': joins 'world' to itself; name two different bodies"},
          {[](World w) { w.springs[0].b = "ground"; }, 6,
           "spring 'coil': neither 'world' nor 'ground' can move freely; one must be dynamic"},
          {[](World w) { w.springs[0].stiffness = -3; }, 6, "spring 'coil': stiffness must not be negative, but is -3"},
          {[](World w) { w.springs[0].damping = kNan; }, 6, "spring 'coil': damping must be a finite number, not nan"},
          {[](World w) { w.springs[0].stiffness = 0; }, 6,
           "spring 'coil': has neither stiffness nor damping; give one, or remove the spring"},
          {[](World w) { w.springs[0].rest_length = -1; }, 6,
           "spring 'coil': rest_length must not be negative, but is -1"},
          {[](World w) { w.springs[0].at_a.z() = kInf; }, 6,
           "spring 'coil': at (first) must be finite numbers, not [0, 0, inf]"},
          {[](World w) { w.springs[0].at_b.z() = kInf; }, 6,
           "spring 'coil': at (second) must be finite numbers, not [1, 0, inf]"},
          {[](World w) { w.springs.push_back(w.springs[0]); }, 6,
           "spring 'coil': another spring has this name; names must differ"},
          {[](World w) { w.loads[0].body = "slid"; }, 7, "load 'push': unknown body 'slid'; did you mean 'slide'?"},
          {[](World w) { w.loads[0].body = "ground"; }, 7,
           "load 'push': 'ground' does not move under forces; a load needs a dynamic body"},
          {[](World w) { w.loads[0].body = "world"; }, 7,
           "load 'push': 'world' does not move under forces; a load needs a dynamic body"},
          {[](World w) { w.loads[0].force[1] = Expression(kNan); }, 7,
           "load 'push': force must be finite numbers at t = 0, not [0, nan, 0]"},
          {[](World w) { w.loads[0].torque[1] = Expression(kNan); }, 7,
           "load 'push': torque must be finite numbers at t = 0, not [0, nan, 0]"},
          {[](World w) { w.loads[0].at = Vec3(0, 0, kNan); }, 7,
           "load 'push': at must be finite numbers, not [0, 0, nan]"},
          {[](World w) { w.loads.push_back(w.loads[0]); }, 7,
           "load 'push': another load has this name; names must differ"},
          {[](World w) { w.pairs_without_contact[0][1] = "slode"; }, 10,
           "pairs_without_contact: unknown body 'slode'; did you mean 'slide'?"},
      });
}

TEST(CompileFaults, Materials) {
  check_cases(make_world(),
              {
                  {[](World w) { w.materials[0].friction = -0.1; }, 8,
                   "material 'steel': friction must not be negative, but is -0.1"},
                  {[](World w) { w.materials[0].friction = kInf; }, 8,
                   "material 'steel': friction must be a finite number, not inf"},
                  {[](World w) { w.materials[0].friction = 1e8; }, 8,
                   "material 'steel': friction must be at most 10000, not 100000000; what never slips has "
                   "1000 or a joint"},
                  {[](World w) { w.materials[0].restitution = 1.5; }, 8,
                   "material 'steel': restitution must be between 0 and 1, not 1.5"},
                  {[](World w) { w.materials.push_back(w.materials[0]); }, 8,
                   "material 'steel': another material has this name; names must differ"},
                  {[](World w) {
                     w.materials.push_back({"", 0, 0, 8});
                   },
                   8, "material '': has no name; give it one"},
                  {[](World w) { w.material_pairs[0].friction = -1; }, 9,
                   "material pair 'steel' and 'default': friction must not be negative, but is -1"},
                  {[](World w) { w.material_pairs[0].restitution = -1; }, 9,
                   "material pair 'steel' and 'default': restitution must be between 0 and 1, not -1"},
                  {[](World w) { w.material_pairs[0].a = "stel"; }, 9,
                   "material pair 'stel' and 'default': unknown material 'stel'; did you mean 'steel'?"},
                  {[](World w) {
                     w.material_pairs.push_back({"default", "steel", 1, 0, 9});
                   },
                   9, "material pair 'default' and 'steel': this pair is given twice; keep one of them"},
              });
}

TEST(CompileFaults, PlanarModels) {
  const std::string crank = "body 'crank': ", shape = "body 'crank': shape 1 (polygon): ";
  const auto points = [](std::initializer_list<Vec2> list) {
    return [p = std::vector<Vec2>(list)](World w) { w.bodies[1].shapes[0].points = p; };
  };
  const std::string no_area = shape + "its points enclose no area; check their order and that they are not on one line";
  const std::string concave = shape + "its points do not form a convex polygon; split it into several convex shapes";
  check_cases(make_planar_world(),
              {
                  {[](World w) { w.gravity = Vec3(0, 0, -9.81); }, -1,
                   "gravity: must lie in the x-y plane of a planar model, as [0, -9.81, 0] does; it is [0, 0, -9.81]"},
                  {[](World w) { w.bodies[1].pose.position.z() = 1; }, 2,
                   crank + "position must lie in the x-y plane of a planar model, not at z = 1"},
                  {[](World w) {
                     w.bodies[1].pose.orientation = turn({1, 0, 0}, 1);
                   },
                   2, crank + "orientation must be a turn about z in a planar model"},
                  {[](World w) { w.bodies[1].velocity.z() = 1; }, 2,
                   crank + "its velocity leaves the x-y plane of a planar model"},
                  {[](World w) { w.bodies[1].angular_velocity.x() = 1; }, 2,
                   crank + "its velocity leaves the x-y plane of a planar model"},
                  {[](World w) {
                     w.bodies[0].kind = BodyKind::Kinematic;
                     w.bodies[0].kinematic_velocity[2] = Expression(1);
                   },
                   1, "body 'ground': its kinematic motion leaves the x-y plane of a planar model"},
                  {[](World w) { w.bodies[1].center_of_mass = Vec3(0, 0, 1); }, 2,
                   crank + "center_of_mass must lie in the x-y plane of a planar model, not at z = 1"},
                  {[](World w) { w.bodies[1].inertia = Mat3(Vec3(1, 1, 0).asDiagonal()); }, 2,
                   crank + "inertia about z must be positive, not 0"},
                  {[](World w) { w.bodies[1].shapes[0].pose.position.z() = 1; }, 3,
                   shape + "position must lie in the x-y plane of a planar model, not at z = 1"},
                  {[](World w) {
                     w.bodies[1].shapes[0].pose.orientation = turn({1, 0, 0}, 1);
                   },
                   3, shape + "orientation must be a turn about z in a planar model"},
                  {[](World w) {
                     w.bodies[1].shapes[0] = sphere(1);
                     w.bodies[1].shapes[0].source = 3;
                   },
                   3, "body 'crank': shape 1 (sphere): is no planar shape; use a disk, a box or a polygon"},
                  {[](World w) { w.bodies[0].shapes[0].normal = Vec3(0, 0, 1); }, 1,
                   "body 'ground': shape 1 (plane): normal must lie in the x-y plane of a planar model, not at z = 1"},
                  {points({{0, 0}, {1, 0}}), 3, shape + "needs at least 3 points, not 2"},
                  {points({{0, 0}, {1, 0}, {kNan, 1}}), 3, shape + "points must be finite numbers, not [nan, 1, 0]"},
                  {points({{0, 0}, {1, 1}, {2, 2}}), 3, no_area},
                  {points({{0, 0}, {1, 1}, {1, 0}, {0, 1}}), 3, no_area},
                  {points({{0, 0}, {1, 0}, {1, 0}, {0, 1}}), 3, shape + "point [1, 0] is given twice in a row"},
                  {points({{0, 0}, {2, 0}, {2, 2}, {1, 0.5}}), 3, concave},
                  // A five-pointed star turns left at every corner, but twice around.
                  {points({{1, 0}, {-0.809, 0.588}, {0.309, -0.951}, {0.309, 0.951}, {-0.809, -0.588}}), 3, concave},
                  // A side that runs back over itself.
                  {points({{0, 0}, {2, 0}, {1, 0}, {1, 1}}), 3, concave},
                  {[](World w) { w.joints[0].axis = Vec3(1, 0, 0); }, 5,
                   "joint 'pin': a hinge of a planar model turns about z; leave its axis out, or make it [0, 0, 1]"},
                  {[](World w) { w.joints[0].kind = JointKind::Slider; }, 5,
                   "joint 'pin': a slider of a planar model needs an axis in the x-y plane, not [0, 0, 1]"},
                  {[](World w) { w.joints[0].at.z() = 1; }, 5,
                   "joint 'pin': at must lie in the x-y plane of a planar model, not at z = 1"},
                  {[](World w) {
                     LoadDescription load;
                     load.body = "crank";
                     load.force[2] = Expression(1);
                     w.loads = {load};
                   },
                   -1, "load 1: force leaves the x-y plane of a planar model"},
                  {[](World w) {
                     LoadDescription load;
                     load.body = "crank";
                     load.torque[1] = Expression(1);
                     w.loads = {load};
                   },
                   -1, "load 1: torque must be about z in a planar model"},
              });
}

TEST(CompileFaults, NameTheItemAndTheKey) {
  struct Named {
    std::function<void(World)> spoil;
    std::string item, key;
  };
  const auto drive = [](World w) -> Motor& {
    w.joints[0].axes.resize(2);
    w.joints[0].axes[1].motor.emplace();
    w.joints[0].axes[1].motor->max = 1;
    return *w.joints[0].axes[1].motor;
  };
  const auto gear = [](World w) {
    JointDescription tie;
    tie.kind = JointKind::Gear;
    tie.name = "tie";
    tie.joints = {"pin", "pim"};
    w.joints.push_back(tie);
  };
  const std::vector<Named> cases{
      {[](World w) { w.gravity.x() = kNan; }, "gravity", "gravity"},
      {[](World w) { w.bodies[1].mass = -1; }, "body 'crank'", "mass"},
      {[](World w) { w.bodies[1].mass.reset(); }, "body 'crank'", ""},
      {[](World w) { w.bodies[1].pose.position.x() = kNan; }, "body 'crank'", "position"},
      {[](World w) { w.bodies[1].angular_velocity.x() = kInf; }, "body 'crank'", "angular_velocity"},
      {[](World w) { w.bodies[3].kinematic_velocity[1] = Expression(kNan); }, "body 'lift'", "kinematic_velocity"},
      {[](World w) { w.bodies.push_back(w.bodies[2]); }, "body 'slide'", "name"},
      {[](World w) { w.bodies[1].shapes[0].radius = -1; }, "body 'crank': shape 1 (sphere)", "radius"},
      {[](World w) { w.bodies[1].shapes[0].kind = ShapeKind::Disk; }, "body 'crank': shape 1 (disk)", "kind"},
      {[](World w) { w.bodies[1].shapes[0].material = "mass"; }, "body 'crank': shape 1 (sphere)", "material"},
      {[](World w) { w.joints[0].a = "axis"; }, "joint 'pin'", "a"},
      {[](World w) { w.joints[0].b = "axis"; }, "joint 'pin'", "b"},
      {[](World w) { w.joints[0].second_axis = Vec3(0, 0, 1); }, "joint 'pin'", "second_axis"},
      {[](World w) { w.joints[1].at_b.y() = kNan; }, "joint 'bar'", "at_b"},
      {[&](World w) { drive(w).max = -1; }, "joint 'pin'", "axes[1].motor.max"},
      {[&](World w) { drive(w).target = Expression(kNan); }, "joint 'pin'", "axes[1].motor.target"},
      {[](World w) {
         w.joints[0].axes.resize(1);
         w.joints[0].axes[0].limits = {1, 0};
       },
       "joint 'pin'", "axes[0].limits"},
      {[](World w) {
         w.joints[0].axes.resize(1);
         w.joints[0].axes[0].freedom = Freedom::X;
       },
       "joint 'pin'", "axes[0].freedom"},
      {gear, "joint 'tie'", "joints[1]"},
      {[](World w) { w.springs[0].at_b.x() = kNan; }, "spring 'coil'", "at_b"},
      {[](World w) { w.loads[0].torque[0] = Expression(kNan); }, "load 'push'", "torque"},
      {[](World w) { w.materials[0].restitution = 2; }, "material 'steel'", "restitution"},
      {[](World w) { w.material_pairs[0].b = "a"; }, "material pair 'steel' and 'a'", "b"},
      {[](World w) { w.pairs_without_contact[0][1] = "x"; }, "pairs_without_contact", "b"},
  };
  for (const Named& one : cases) {
    ModelDescription world = make_world();
    one.spoil(world);
    const CompiledModel made = compile(world, nullptr);
    ASSERT_EQ(made.faults.size(), 1u) << one.item << " " << one.key;
    EXPECT_EQ(made.faults[0].item, one.item) << made.faults[0].message;
    EXPECT_EQ(made.faults[0].key, one.key) << made.faults[0].message;
  }
}

TEST(CompileFaults, AllIndependentFaultsAreListed) {
  ModelDescription world = make_world();
  world.gravity.z() = kNan;
  world.materials[0].friction = -1;
  world.bodies[1].mass = -1;
  world.bodies[2].shapes[0].radius = -1;
  world.bodies[2].velocity.x() = kNan;
  world.joints[0].b = "crnak";
  world.joints[1].compliance = -1;
  world.springs[0].stiffness = -1;
  world.loads[0].body = "nobody";
  world.pairs_without_contact.push_back({"x", "y"});
  EXPECT_EQ(compile(world, nullptr).faults.size(), 11u);
}

TEST(CompileFaults, ManyUnknownNamesStayCheap) {
  ModelDescription world;
  for (int i = 0; i < 2000; ++i)
    world.bodies.push_back(body(std::string("b").append(std::to_string(i)), 1, {sphere(1)}));
  for (int i = 0; i < 20000; ++i)
    world.joints.push_back(joint(JointKind::Ball, "", "world", std::string("bb").append(std::to_string(i))));
  const CompiledModel made = compile(world, nullptr);
  EXPECT_EQ(made.faults.size(), 20000u);
  EXPECT_EQ(made.faults[0].message, "joint 1 (ball): unknown body 'bb0'; did you mean 'b0'?");
  EXPECT_EQ(made.faults[19999].message, "joint 20000 (ball): unknown body 'bb19999'");
}

}  // namespace
}  // namespace slipstick
