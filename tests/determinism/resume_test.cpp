// Going on from a stored state gives the same bits as never having stopped, whatever the scheme, with events, sticking
// contacts, joints and warm starts.
#include <slipstick/state_file.h>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

struct ResumeCase {
  const char* scene;
  const char* scheme;  ///< empty: the scene's own
  int steps;
};

void PrintTo(const ResumeCase& given, std::ostream* out) { *out << given.scene << " " << given.scheme; }

class Resume : public ::testing::TestWithParam<ResumeCase> {};

TEST_P(Resume, HasTheSameBitsAsNeverHavingStopped) {
  Scene scene = shipped_scene(std::string(GetParam().scene) + ".yaml");
  if (*GetParam().scheme != 0) scene.options.scheme = GetParam().scheme;
  const int steps = GetParam().steps;
  Simulation whole = simulation_of(scene);
  std::vector<std::string> stored;  // at three instants, the last just before the end
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 3 || i == 2 * steps / 3 || i == steps - 1)
      stored.push_back(make_file_bytes(make_state_file(whole)));
    ASSERT_FALSE(whole.step().failed);
  }
  for (const std::string& bytes : stored) {
    Result<StateFile> file = read_file_bytes(bytes, "stored");
    ASSERT_TRUE(file);
    ASSERT_EQ(find_model_fault(*file, scene.model), "");
    Simulation rest(scene.model, file->state, scene.options);
    while (rest.state().step < steps) rest.step();
    EXPECT_EQ(hash(rest.state()), hash(whole.state())) << "from step " << file->state.step;
    EXPECT_EQ(make_state_bytes(rest.state()), make_state_bytes(whole.state()));
    EXPECT_EQ(rest.contacts().size(), whole.contacts().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, Resume,
                         ::testing::Values(ResumeCase{"arch", "", 12}, ResumeCase{"ball_and_wall", "", 60},
                                           ResumeCase{"bouncing_ball", "", 80}, ResumeCase{"cannonball", "", 12},
                                           ResumeCase{"chain", "", 30}, ResumeCase{"coin", "", 60},
                                           ResumeCase{"cylinders", "", 20}, ResumeCase{"dominoes", "", 20},
                                           ResumeCase{"double_pendulum", "", 60}, ResumeCase{"excavator", "", 6},
                                           ResumeCase{"heap", "", 12}, ResumeCase{"heavy_stack", "", 20},
                                           ResumeCase{"incline", "", 30}, ResumeCase{"ladder", "", 30},
                                           ResumeCase{"mesh_floor", "", 12}, ResumeCase{"motor_arm", "", 30},
                                           ResumeCase{"newtons_cradle", "", 40}, ResumeCase{"painleve_rod", "", 30},
                                           ResumeCase{"slider_crank", "", 30}, ResumeCase{"squeezed_box", "", 30},
                                           ResumeCase{"stack", "", 20}, ResumeCase{"stick_slip_block", "", 60},
                                           ResumeCase{"turntable", "", 30}, ResumeCase{"two_carts", "", 30},
                                           ResumeCase{"wheel_loader", "", 6}, ResumeCase{"whip_chain", "", 12},
                                           ResumeCase{"winch", "", 20}, ResumeCase{"wrecking_ball", "", 12}));

INSTANTIATE_TEST_SUITE_P(Schemes, Resume,
                         ::testing::Values(ResumeCase{"stack", "euler", 15}, ResumeCase{"stack", "stabilized", 15},
                                           ResumeCase{"stack", "trapezoid", 15}, ResumeCase{"stack", "alpha-gamma", 15},
                                           ResumeCase{"stack", "spook", 15}, ResumeCase{"incline", "euler", 30},
                                           ResumeCase{"incline", "stabilized", 30},
                                           ResumeCase{"incline", "trapezoid", 30},
                                           ResumeCase{"incline", "alpha-gamma", 30}, ResumeCase{"incline", "spook", 30},
                                           ResumeCase{"chain", "euler", 20}, ResumeCase{"chain", "stabilized", 20},
                                           ResumeCase{"chain", "trapezoid", 20}, ResumeCase{"chain", "alpha-gamma", 20},
                                           ResumeCase{"chain", "spook", 20}, ResumeCase{"bouncing_ball", "euler", 80},
                                           ResumeCase{"bouncing_ball", "stabilized", 80},
                                           ResumeCase{"bouncing_ball", "alpha-gamma", 80},
                                           ResumeCase{"bouncing_ball", "spook", 80}));

}  // namespace
}  // namespace slipstick::test
