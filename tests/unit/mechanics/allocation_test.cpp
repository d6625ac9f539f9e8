// The equations of a step are made without touching the heap once the vectors have their sizes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "mechanics/equations.h"
#include "unit/mechanics/scenery.h"

namespace {
long allocations = 0;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
  ++allocations;
  const std::size_t unit = static_cast<std::size_t>(align);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace slipstick {
namespace {

using namespace test;

TEST(Allocation, NoneAfterWarmUp) {
  Dice dice(1);
  ModelDescription world = make_bodies(4, false, &dice);
  for (const JointKind kind :
       {JointKind::Ball, JointKind::Hinge, JointKind::Slider, JointKind::Fixed, JointKind::Rod}) {
    JointDescription joint;
    joint.kind = kind;
    joint.a = std::string("0");
    joint.b = std::string("1");
    joint.at_b = Vec3(1, 2, 3);
    world.joints.push_back(joint);
  }
  for (const double rest : {0.0, 1.0}) {
    SpringDescription spring;
    spring.a = "1";
    spring.b = "2";
    spring.at_b = Vec3(1, 0, 0);
    spring.stiffness = 1;
    spring.rest_length = rest;
    world.springs.push_back(spring);
  }
  ExpressionContext context;
  context.allow_time = true;
  LoadDescription load;
  load.body = "3";
  load.force[0] = std::get<Expression>(compile_expression("8*cos(t) + t^2", context));
  world.loads = {load};
  State state;
  const Model model = compile_good(world, &state);
  ContactSet contacts;
  contacts.contacts.resize(10);
  for (Contact& contact : contacts.contacts) contact.body_b = 3;
  Equations equations;
  std::vector<JointRows> scratch;
  update_equations(model, nullptr, state, contacts, &equations);
  calc_joint_error(model, state.pose, &scratch);

  const long before = allocations;
  for (int i = 0; i < 3; ++i) {
    contacts.contacts.resize(i % 2 ? 10 : 5);  // fewer, and as many again
    state.time += 0.1;
    update_equations(model, nullptr, state, contacts, &equations);
    calc_joint_error(model, state.pose, &scratch);
    calc_energy(model, state.pose, state.velocity, state.axis);
    calc_free_turn(model.bodies[0], Vec3(1, 2, 3), 0.01);
  }
  EXPECT_EQ(allocations, before);
  std::vector<double> proof(3);
  EXPECT_GT(allocations, before) << "the count itself does not work";
}

}  // namespace
}  // namespace slipstick
