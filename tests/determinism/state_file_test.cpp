// A state as bytes and as a file: exact, whole, and never taken for that of another model.
#include <slipstick/state_file.h>
#include <slipstick/surface.h>
#include <unistd.h>

#include "support/simulate.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

namespace slipstick::test {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone at the end of the test.
struct StateFolder {
  StateFolder() {
    std::string pattern = (fs::temp_directory_path() / "slipstick-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~StateFolder() {
    std::error_code code;
    fs::remove_all(path, code);
  }
  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

/// Any bits but those of a signalling NaN, which a register may change.
double make_number(std::mt19937_64* random) {
  const double x = std::bit_cast<double>((*random)());
  return std::isnan(x) ? -0.0 : x;
}

State make_random_state(std::mt19937_64* random) {
  State state;
  const auto count = [&] { return static_cast<std::size_t>((*random)() % 5); };
  const auto fill = [&](auto* v) {
    for (auto& x : *v) x = make_number(random);
  };
  state.time = make_number(random);
  state.step = static_cast<std::int64_t>((*random)());
  const std::size_t bodies = count();
  state.pose.resize(bodies);
  state.velocity.resize(bodies);
  state.previous_velocity.resize((*random)() % 2 ? bodies : 0);
  for (Pose& q : state.pose) {
    fill(&q.position);
    fill(&q.orientation.coeffs());
  }
  for (auto* twists : {&state.velocity, &state.previous_velocity})
    for (Twist& v : *twists) {
      fill(&v.linear);
      fill(&v.angular);
    }
  state.contact_memory.resize(count());
  std::int32_t shape = std::numeric_limits<std::int32_t>::min();
  for (ContactMemory& memory : state.contact_memory) {
    memory.key = {shape += 1 << 28, static_cast<std::int32_t>((*random)()), static_cast<std::uint32_t>((*random)())};
    fill(&memory.impulse);
    for (bool* flag : {&memory.loaded, &memory.collided, &memory.closed, &memory.sticking}) *flag = (*random)() % 2;
    memory.normal_force = make_number(random);
    memory.friction_reserve = make_number(random);
    memory.force_time = make_number(random);
  }
  state.joint_impulse.resize(count());
  state.axis.resize(count());
  fill(&state.joint_impulse);
  fill(&state.axis);
  state.idle_axis.resize(count());
  fill(&state.idle_axis);
  return state;
}

TEST(StateBytes, GiveBackEveryBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const State state = make_random_state(&random);
    const std::string bytes = make_state_bytes(state);
    const Result<State> again = read_state_bytes(bytes);
    ASSERT_TRUE(again) << again.faults().front().text();
    EXPECT_EQ(hash(state), hash(*again));
    EXPECT_EQ(bytes, make_state_bytes(*again));  // the hash takes -0 for 0, bytes do not
    ASSERT_EQ(state.contact_memory.size(), again->contact_memory.size());
    for (std::size_t k = 0; k < state.contact_memory.size(); ++k)
      EXPECT_EQ(state.contact_memory[k].key, again->contact_memory[k].key);
  }
}

TEST(StateBytes, RefuseWhatIsCutOffOrLonger) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i) {
    const std::string bytes = make_state_bytes(make_random_state(&random));
    for (std::size_t n = 0; n < bytes.size(); ++n)
      EXPECT_FALSE(read_state_bytes(std::string_view(bytes).substr(0, n))) << n;
    EXPECT_FALSE(read_state_bytes(bytes + '\0'));
  }
}

TEST(StateBytes, SurviveHostileBytes) {
  std::mt19937_64 random(3);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = make_state_bytes(make_random_state(&random));
    for (int k = 0; k < 1 + i % 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 5 == 0 && bytes.size() > 32) bytes.replace(20, 8, 8, static_cast<char>(0xff));  // a count without end
    const Result<State> state = read_state_bytes(bytes);
    EXPECT_TRUE(!state || make_state_bytes(*state) == bytes);  // what is accepted is a state, and that one
    read += state.ok();
  }
  EXPECT_GT(read, 1000);  // flips inside numbers are no faults: the checksum of a file finds those
}

TEST(StateFiles, GoOnWithTheSameBits) {
  const StateFolder folder;
  const Scene scene = shipped_scene("chain.yaml");
  Simulation simulation = simulation_of(scene);
  for (int i = 0; i < 20; ++i) simulation.step();
  ASSERT_TRUE(save_state(folder.file("a.state"), simulation).empty());
  const Result<State> state = load_state(folder.file("a.state"), scene.model);
  ASSERT_TRUE(state) << state.faults().front().text();
  EXPECT_EQ(make_state_bytes(*state), make_state_bytes(simulation.state()));
  Simulation other(scene.model, *state, scene.options);
  for (int i = 0; i < 20; ++i) {
    simulation.step();
    other.step();
  }
  EXPECT_EQ(make_state_bytes(other.state()), make_state_bytes(simulation.state()));
}

TEST(StateFiles, NoDamageGoesUnseen) {
  const Scene scene = shipped_scene("pendulum.yaml");
  const std::string bytes = make_file_bytes(make_state_file(simulation_of(scene), 7));
  const Result<StateFile> good = read_file_bytes(bytes, "a");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->start_hash, 7u);
  EXPECT_EQ(good->model_hash, hash(scene.model));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(read_file_bytes(bad, "a")) << i;
    EXPECT_FALSE(read_file_bytes(std::string_view(bytes).substr(0, i), "a")) << i;
  }
  EXPECT_FALSE(read_file_bytes(bytes + "x", "a"));
}

TEST(StateFiles, OtherModelsAreRefusedByName) {
  const StateFolder folder;
  const Scene scene = shipped_scene("pendulum.yaml"), other = shipped_scene("chain.yaml");
  ASSERT_TRUE(save_state(folder.file("a"), simulation_of(scene)).empty());
  const Result<State> state = load_state(folder.file("a"), other.model);
  ASSERT_FALSE(state);
  ASSERT_EQ(state.faults().size(), 1u);
  const std::string text = state.faults().front().text();
  EXPECT_NE(text.find("'" + scene.model.name + "'"), std::string::npos) << text;
  EXPECT_NE(text.find("'" + other.model.name + "'"), std::string::npos) << text;
  // A file made on purpose: the right digest, a state of other sizes.
  StateFile forged = make_state_file(simulation_of(scene));
  forged.state.pose.resize(forged.state.pose.size() + 1);
  forged.state.velocity.resize(forged.state.pose.size());
  EXPECT_FALSE(find_model_fault(forged, scene.model).empty());
}

/// A file made on purpose, with a right checksum: nothing of it is used as an index before it was held against the
/// model.
TEST(StateFiles, MemoryOfWhatTheModelDoesNotHaveIsRefused) {
  const Scene scene = shipped_scene("stack.yaml");
  Simulation simulation = simulation_of(scene);
  for (int k = 0; k < 3; ++k) simulation.step();
  const StateFile good = make_state_file(simulation);
  ASSERT_FALSE(good.state.contact_memory.empty());
  ASSERT_EQ(find_model_fault(good, scene.model), "");
  const auto shapes = static_cast<std::int32_t>(scene.model.shapes.size());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(State*)>> lies = {
      [&](State* s) { s->contact_memory.back().key.shape_a = shapes; },
      [&](State* s) { s->contact_memory.back().key.shape_b = shapes; },
      [&](State* s) { s->contact_memory.back().key.shape_b = -1; },
      [&](State* s) { s->contact_memory.back().key.shape_b = std::numeric_limits<std::int32_t>::max(); },
      [&](State* s) { s->contact_memory.front().key.shape_a = -1; },
      [&](State* s) { s->contact_memory.front().key.shape_a = kFirstLimitKey; },  // a stack has no limits
      [&](State* s) { s->contact_memory.front().key.shape_a = std::numeric_limits<std::int32_t>::min(); },
      [&](State* s) { s->contact_memory.front().impulse[1] = nan; },
      [&](State* s) { s->contact_memory.front().normal_force = nan; },
      [&](State* s) { s->step = std::numeric_limits<std::int64_t>::max(); },
      [&](State* s) { s->pace.next = -1; },
      [&](State* s) { s->pose[1].orientation.coeffs().setZero(); },
  };
  for (std::size_t k = 0; k < lies.size(); ++k) {
    StateFile forged = good;
    lies[k](&forged.state);
    EXPECT_NE(find_model_fault(forged, scene.model), "") << k;
    EXPECT_FALSE(simulation.set_state(forged.state).empty()) << k;
    Simulation begun(scene.model, forged.state, scene.options);  // the same by the constructor
    EXPECT_TRUE(begun.step().failed) << k;
    EXPECT_FALSE(begun.step().note.empty()) << k;
  }
}

TEST(ModelHash, EveryChangeThatMattersCounts) {
  const Scene scene = shipped_scene("wheel_loader.yaml");
  const std::uint64_t given = hash(scene.model);
  const std::vector<std::pair<const char*, std::function<void(Model*)>>> changes{
      {"gravity", [](Model* m) { m->gravity.z() *= 1 + 1e-15; }},
      {"mass", [](Model* m) { m->bodies[2].mass *= 1.5; }},
      {"friction", [](Model* m) { m->pair_laws[0].friction += 0.1; }},
      {"friction by slip",
       [](Model* m) {
         m->pair_laws[0].by_slip = FrictionBySlip{0.1, 1};
       }},
      {"shape", [](Model* m) { m->shapes[0].pose.position.x() += 1e-12; }},
      {"anchor", [](Model* m) { m->joints[1].anchor_b.y() += 1e-9; }},
      {"joint kind", [](Model* m) { m->joints[1].solve = SolveMode::Iterative; }},
      {"body name", [](Model* m) { m->bodies[1].name += "_"; }},
      {"pairs", [](Model* m) { m->pairs_without_contact.pop_back(); }},
      {"motor", [](Model* m) {
         for (Axis& axis : m->axes)
           if (axis.motor) axis.motor->target = Expression(0.125);
       }}};
  std::vector<std::uint64_t> seen{given};
  for (const auto& [what, change] : changes) {
    Model model = scene.model;
    change(&model);
    const std::uint64_t now = hash(model);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), now), 0) << what;
    seen.push_back(now);
  }
  Model renamed = scene.model;
  renamed.name = "another";
  EXPECT_EQ(hash(renamed), given);
  EXPECT_EQ(hash(shipped_scene("wheel_loader.yaml").model), given);
}

TEST(ModelHash, SeesFormulasAndSurfaces) {
  const auto make = [](const char* speed) {
    return hash(scene_of("bodies:\n- {name: a, kinematic: {velocity: [\"" + std::string(speed) +
                         "\", 0, 0]}, shapes: [{sphere: {radius: 1}}]}\n")
                    .model);
  };
  EXPECT_EQ(make("sin(t)"), make("sin( t )"));
  EXPECT_NE(make("sin(t)"), make("cos(t)"));
  EXPECT_NE(make("sin(t)"), make("sin(2*t)"));
  EXPECT_NE(make("0"), make("0*t"));
  Model model = shipped_scene("mesh_floor.yaml").model;
  const std::uint64_t given = hash(model);
  ASSERT_FALSE(model.surfaces.empty());
  auto surface = std::make_shared<Surface>(*model.surfaces[0]);
  surface->vertices[3].z() += 1e-9;
  model.surfaces[0] = surface;
  EXPECT_NE(hash(model), given);
  auto soil = std::make_shared<Surface>(*surface);
  soil->rolling_friction = {{0, 0, 0, 0}, 2};
  const std::uint64_t before = hash(model);
  model.surfaces[0] = soil;
  EXPECT_NE(hash(model), before);
}

TEST(StateFiles, SettingsThatChangeTheMotionAreNamed) {
  const Scene scene = shipped_scene("pendulum.yaml");
  const StateFile file = make_state_file(simulation_of(scene));
  SimulationOptions options = scene.options;
  options.duration = 77;
  options.threads = 3;
  EXPECT_EQ(find_settings_fault(file, options), "");
  options.step = 0.125;
  EXPECT_NE(find_settings_fault(file, options).find("step "), std::string::npos);
  EXPECT_NE(find_settings_fault(file, options).find(", not 0.125"), std::string::npos);
  options = scene.options;
  options.spook.anticipate = false;
  EXPECT_EQ(find_settings_fault(file, options), "spook.anticipate true, not false");
}

TEST(StateFiles, AppearWholeOrNotAtAll) {
  const StateFolder folder;
  const Scene scene = shipped_scene("pendulum.yaml");
  Simulation simulation = simulation_of(scene);
  EXPECT_FALSE(save_state(folder.file("none/a"), simulation).empty());
  EXPECT_FALSE(save_state(folder.path, simulation).empty());
  EXPECT_TRUE(fs::is_empty(folder.path));
  ASSERT_TRUE(save_state(folder.file("a"), simulation).empty());
  simulation.step();
  ASSERT_TRUE(save_state(folder.file("a"), simulation).empty());
  EXPECT_EQ(load_state(folder.file("a"), scene.model)->step, 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 1);
  EXPECT_FALSE(load_state(folder.file("b"), scene.model));
  EXPECT_FALSE(load_state(folder.path, scene.model));
  std::ofstream(folder.file("c")) << "slipstick: 1\n";
  EXPECT_EQ(load_state(folder.file("c"), scene.model).faults().front().message, "is not a state file");
}

}  // namespace
}  // namespace slipstick::test
