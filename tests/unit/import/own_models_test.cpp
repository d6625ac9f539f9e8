// Small models in tests/models that use the usual features of MJCF and URDF: each loads, moves, is written and read
// again; what is not modelled is listed, by name; every single mistake in them is one line with its place.
#include <slipstick/simulation.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "unit/import/import_support.h"

namespace slipstick::test {
namespace {

namespace fs = std::filesystem;

const fs::path kOwn = fs::path(SLIPSTICK_SOURCE_DIR) / "tests/models";

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A model, and what of it the report must speak of, each as "what: why" has it.
struct OwnModel {
  const char* file;
  std::vector<const char*> ignored, notes;
};
void PrintTo(const OwnModel& model, std::ostream* out) { *out << model.file; }

const std::vector<OwnModel> kOwnModels{
    {"defaults.xml", {}, {}},
    {"include.xml", {"element light"}, {}},
    {"compiler.xml", {"'discardvisual'"}, {}},
    {"orientations.xml", {}, {}},
    {"primitives.xml", {}, {}},
    {"meshes.xml", {"element texture"}, {"counted as MuJoCo 2.2 does"}},
    {"heightfield.xml", {}, {}},
    {"actuators.xml", {"adhesion", "muscle", "only joints", "ball joint has no axis"}, {}},
    {"equality.xml", {"weld 'off'", "'solref'"}, {}},
    {"contacts.xml", {"'solref'"}, {}},
    {"joints.xml", {"'range' of joint 'ball'", "'damping' of joint 'ball'"}, {"light bodies"}},
    {"springs.xml", {}, {}},
    {"tendons.xml", {"spatial 'three'", "tendon 'idle'", "only joints"}, {}},
    {"options.xml",
     {"'integrator'", "'viscosity'", "element visual", "element statistic", "element size", "element custom",
      "element sensor", "element camera", "element light", "'energy'"},
     {}},
    {"mocap.xml", {"'mocap'"}, {}},
    {"keyframes.xml", {"'home'"}, {}},
    {"replicate.xml", {}, {}},
    {"not_rigid.xml", {"element extension", "element composite", "element flexcomp", "element deformable", "skin"}, {}},
    {"inertials.xml", {}, {"one body with it"}},
    {"quadruped.xml", {}, {}},
    {"four_bar.xml", {}, {}},
    {"gripper_tendon.xml", {"'grip'"}, {}},
    {"arm.urdf", {"transmission", "gazebo", "'velocity'"}, {}},
    {"floating.urdf", {}, {}},
    {"rover.urdf", {}, {"fixed to the world"}},
    {"joint_types.urdf", {"safety_controller"}, {}},
    {"classes.xml", {}, {}},
    {"fitted.xml", {}, {}},
    {"paths.xml", {}, {}},
    {"height_files.xml", {}, {}},
    {"points.xml", {}, {"counted as MuJoCo 2.2 does"}},
    {"frames.xml", {"'bent'"}, {}},
    {"compound.xml", {"'bent'", "'straight'"}, {"light bodies", "with the opposite sign"}},
    {"mimics.urdf", {"'velocity'"}, {"starts at 0.2"}},
    {"tags.urdf",
     {"'xmlns:xacro'", "textures are not drawn", "belongs to Gazebo", "belongs to a controller", "ros2_control"},
     {"fixed to the world", "one body with it"}},
    {"meshes.urdf", {"'velocity'"}, {}},
    {"mujoco_words.urdf", {"'velocity'"}, {}},
};

class OwnModels : public testing::TestWithParam<OwnModel> {};

std::string lines_of(const std::vector<ImportItem>& items) {
  std::string lines;
  for (const ImportItem& item : items)
    lines += item.place.file + ":" + std::to_string(item.place.line) + ": " + item.what + ": " + item.why + "\n";
  return lines;
}

TEST_P(OwnModels, LoadsMovesAndListsWhatIsNotModelled) {
  const OwnModel& model = GetParam();
  ImportReport report;
  const Result<Scene> scene = load_any((kOwn / model.file).string(), {}, &report);
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  const std::string ignored = lines_of(report.ignored), notes = lines_of(report.notes);
  for (const char* each : model.ignored) EXPECT_NE(ignored.find(each), std::string::npos) << each << " in\n" << ignored;
  for (const char* each : model.notes) EXPECT_NE(notes.find(each), std::string::npos) << each << " in\n" << notes;
  if (model.ignored.empty()) {
    EXPECT_EQ(ignored, "");
  }
  for (const ImportItem& item : report.ignored) EXPECT_GT(item.place.line, 0) << item.what;
  Simulation simulation(*scene);
  double joint_error = 0;
  int uncertified = 0;
  for (int k = 0; k < 100; ++k) {
    const StepReport& step = simulation.step();
    ASSERT_FALSE(step.failed) << step.note;
    uncertified += step.certified ? 0 : 1;
    joint_error = std::max(joint_error, step.certificate.joint_error);
  }
  EXPECT_EQ(uncertified, 0);
  EXPECT_LT(joint_error, 1e-5);
}

TEST_P(OwnModels, TheWrittenSceneMovesInTheSameBits) {
  ImportReport report;
  const Result<Scene> direct = load_any((kOwn / GetParam().file).string(), {}, &report);
  ASSERT_TRUE(direct);
  const fs::path folder =
      fs::path(testing::TempDir()) / ("slipstick_own_" + std::to_string(getpid()) + "_" + GetParam().file);
  fs::create_directories(folder / "files");
  const SceneText written = write_scene_text(*direct, report, "files");
  for (const SceneText::File& file : written.files) std::ofstream(folder / file.name) << file.bytes;
  std::ofstream(folder / "scene.yaml") << written.text;
  const Result<Scene> again = load_scene((folder / "scene.yaml").string());
  fs::remove_all(folder);
  ASSERT_TRUE(again) << again.faults()[0].text();
  EXPECT_EQ(hash(direct->model), hash(again->model));
  Simulation one(*direct), two(*again);
  for (int k = 0; k < 20; ++k) {
    one.step();
    two.step();
  }
  EXPECT_EQ(hash(one.state()), hash(two.state()));
}

INSTANTIATE_TEST_SUITE_P(All, OwnModels, testing::ValuesIn(kOwnModels), [](const auto& info) {
  return std::regex_replace(std::string(info.param.file), std::regex("[^a-z0-9]"), "_");
});

TEST(OwnModelList, NamesEveryFile) {
  std::set<std::string> listed{"included_legs.xml", "files"};
  for (const OwnModel& model : kOwnModels) listed.insert(model.file);
  for (const auto& entry : fs::directory_iterator(kOwn))
    EXPECT_TRUE(listed.count(entry.path().filename().string())) << entry.path();
}

// ------------------------------------------------------------------ single mistakes

struct Mistake {
  std::string text;
  int line = 0, column = 0;
};

/// `text` with the value of each attribute of `names` changed, one at a time.
template <class Change>
std::vector<Mistake> spoil(const std::string& text, const std::set<std::string>& names, Change change) {
  std::vector<Mistake> made;
  const std::regex attribute(R"re(([A-Za-z0-9_]+)="([^"]*)")re");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), attribute); at != std::sregex_iterator(); ++at) {
    const std::size_t first = text.rfind('<', static_cast<std::size_t>(at->position()));
    const bool asleep = text.substr(first, text.find('>', first) - first).find("active=\"false\"") != std::string::npos;
    if (!names.count((*at)[1]) || asleep) continue;
    Mistake mistake{text};
    const auto start = static_cast<std::size_t>(at->position());
    mistake.line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + at->position(), '\n'));
    const std::size_t before = text.rfind('\n', start);
    mistake.column = static_cast<int>(before == std::string::npos ? start + 1 : start - before);
    mistake.text.replace(static_cast<std::size_t>(at->position(2)), (*at)[2].length(), change((*at)[2]));
    made.push_back(mistake);
  }
  return made;
}

/// One fault, at the attribute; `follows`: what a class would have given may be missed after it.
void expect_one_line(const std::string& name, const Mistake& mistake, bool follows = false) {
  const Result<Scene> scene = parse_model(mistake.text, name);
  const std::string place = name + ":" + std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + ": ";
  if (scene) {
    ADD_FAILURE() << "nothing is wrong at " << place;
    return;
  }
  EXPECT_LE(scene.faults().size(), follows ? 2u : 1u) << place << scene.faults().back().text();
  EXPECT_EQ(scene.faults()[0].text().substr(0, place.size()), place) << scene.faults()[0].text();
  EXPECT_EQ(scene.faults()[0].text().find('\n'), std::string::npos);
}

const std::set<std::string> kNumbers{"pos",   "size",   "quat",        "euler",    "axis",     "mass",     "fromto",
                                     "xyz",   "rpy",    "diaginertia", "polycoef", "damping",  "armature", "kp",
                                     "kv",    "qpos",   "condim",      "friction", "zaxis",    "xyaxes",   "axisangle",
                                     "lower", "radius", "fullinertia", "ixx",      "timestep", "stiffness"};

TEST(OwnModelMistakes, AWordInsteadOfANumberIsOneLineWithItsPlace) {
  int files = 0;
  for (const char* name : {"defaults.xml", "orientations.xml", "primitives.xml", "equality.xml", "springs.xml",
                           "inertials.xml", "joints.xml", "arm.urdf"}) {
    for (const Mistake& each : spoil(text_of(kOwn / name), kNumbers, [](const std::string&) { return "wrong"; })) {
      expect_one_line(name, each);
      ++files;
    }
  }
  EXPECT_GT(files, 100);
}

TEST(OwnModelMistakes, ANameThatNothingHasIsOneLineWithItsPlace) {
  int files = 0;
  for (const char* name :
       {"defaults.xml", "equality.xml", "tendons.xml", "meshes.xml", "gripper_tendon.xml", "contacts.xml"}) {
    const std::set<std::string> references{"joint", "joint1", "joint2", "body1", "body2", "site", "mesh"};
    const auto change = [](const std::string& s) { return s + "_not"; };
    for (const Mistake& each : spoil(text_of(kOwn / name), references, change)) {
      expect_one_line(name, each);
      ++files;
    }
    for (const Mistake& each : spoil(text_of(kOwn / name), {"childclass"}, change)) expect_one_line(name, each, true);
  }
  EXPECT_GT(files, 25);
}

TEST(OwnModelMistakes, ATagThatIsNotClosedIsOneLine) {
  int files = 0;
  for (const OwnModel& model : kOwnModels) {
    std::string text = text_of(kOwn / model.file);
    const std::size_t at = text.rfind("</");
    const Result<Scene> scene = parse_model(text.substr(0, at), model.file);
    ASSERT_FALSE(scene) << model.file;
    EXPECT_EQ(scene.faults().size(), 1u);
    ++files;
  }
  EXPECT_GT(files, 20);
}

// ------------------------------------------------------------------ single features

const AxisDescription& axis_of(const Scene& scene, const std::string& joint) {
  static const AxisDescription kNone;
  for (const JointDescription& each : scene.description.joints)
    if (each.name == joint && !each.axes.empty()) return each.axes[0];
  ADD_FAILURE() << "no axis of joint " << joint;
  return kNone;
}

Scene own_model(const std::string& name, const std::string& key = "") {
  ImportOptions options;
  options.key = key;
  Result<Scene> scene = load_any((kOwn / name).string(), options);
  if (scene) return std::move(scene).value();
  ADD_FAILURE() << scene.faults()[0].text();
  return {};
}

TEST(MjcfActuators, EachShortcutIsTheMotorThatMujocoMakesOfIt) {
  const Scene scene = own_model("actuators.xml", "on");
  const auto motor = [&](const char* joint) { return *axis_of(scene, joint).motor; };
  EXPECT_DOUBLE_EQ(motor("j0").stiffness, 10);
  EXPECT_NEAR(motor("j0").target.constant(), 0.4 + 2 * 0.1 / 10, 1e-15);  // two actuators: 10 (0.4 - q) + 2 * 0.1
  // A box 0.2 x 0.1 x 0.1 m of water about its middle, and the rotor.
  const double inertia = 0.1 + 2 * (0.04 + 0.01) / 12;
  EXPECT_NEAR(motor("j1").damping, 2 * std::sqrt(10 * inertia), 1e-12);
  EXPECT_DOUBLE_EQ(motor("j2").damping, 3);
  EXPECT_NEAR(motor("j2").target.constant(), 0.3, 1e-15);
  EXPECT_TRUE(motor("j3").drives_force);
  EXPECT_DOUBLE_EQ(motor("j3").target.constant(), 1);
  EXPECT_DOUBLE_EQ(motor("j3").max.constant(), 5);
  EXPECT_DOUBLE_EQ(motor("j4").max.constant(), 2);
  EXPECT_DOUBLE_EQ(motor("j4").target.constant(), (4 * 0.1 + 0.1) / 4);
  EXPECT_DOUBLE_EQ(motor("j5").stiffness, 5);
  EXPECT_DOUBLE_EQ(motor("j5").target.constant(), 0);
  EXPECT_DOUBLE_EQ(motor("j6").damping, 1);  // 2 times its control, 0.5
  EXPECT_DOUBLE_EQ(motor("s").damping, 1);
  EXPECT_DOUBLE_EQ(motor("s").target.constant(), 0.5);
}

TEST(MjcfJoints, TimeConstantAndDampingRatioAreASpringAndADamper) {
  const Scene scene = own_model("springs.xml");
  // 0.4 x 0.1 x 0.1 m, 4 kg, about its end.
  const double inertia = 4 * ((0.16 + 0.01) / 12 + 0.04);
  EXPECT_NEAR(axis_of(scene, "jb").stiffness, inertia / 0.04, 1e-9);
  EXPECT_NEAR(axis_of(scene, "jb").damping, 2 * inertia / 0.2, 1e-9);
}

/// Corners of the hull or mesh that a body touches with: the size that a file and its scale give it.
Vec3 calc_size(const Scene& scene, const std::string& body) {
  for (const BodyDescription& each : scene.description.bodies) {
    if (each.name != body || each.shapes.empty()) continue;
    Vec3 low = each.shapes[0].vertices[0], high = low;
    for (const Vec3& p : each.shapes[0].vertices) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    return high - low;
  }
  ADD_FAILURE() << "no shape of body " << body;
  return Vec3::Zero();
}

TEST(UrdfMeshes, UnitsScalesAndPackagesGiveTheSize) {
  const Scene scene = own_model("meshes.urdf");
  EXPECT_LT((calc_size(scene, "a") - Vec3(0.2, 0.3, 0.4)).norm(), 1e-7);  // 200 x 300 x 400 mm
  // 10 x 20 x 30 inches, halved; its axes stay, whatever its header says of up
  EXPECT_LT((calc_size(scene, "b") - 0.0254 / 2 * Vec3(10, 20, 30)).norm(), 1e-7);
  EXPECT_LT((calc_size(scene, "c") - Vec3(0.1, 0.1, 0.1)).norm(), 1e-9);
  // Two links with the same mesh have one hull.
  std::set<int> hulls;
  for (const Shape& shape : scene.model.shapes) hulls.insert(shape.hull);
  EXPECT_EQ(hulls.size(), 3u);
  EXPECT_EQ(scene.model.hulls.size(), 3u);
}

TEST(UrdfMeshes, MujocosWordsSayWhereTheyAre) {
  const Scene scene = own_model("mujoco_words.urdf");
  EXPECT_LT((calc_size(scene, "a") - Vec3(0.1, 0.1, 0.1)).norm(), 1e-9);
}

/// jb = 0.05 - ja / 2 and jc = 0.1 + 2 jb, with ja at 0.2, the least that it may; the file names jc first.
TEST(UrdfMimics, ChainsStartWhereTheirLeaderSays) {
  const Scene scene = own_model("mimics.urdf");
  EXPECT_NEAR(axis_of(scene, "ja").start, 0.2, 1e-15);
  EXPECT_NEAR(axis_of(scene, "jb").start, -0.05, 1e-15);
  Simulation simulation(scene);
  for (int k = 0; k < 300; ++k) simulation.step();
  const auto at = [&](const char* joint) { return simulation.joint(joint).position; };
  EXPECT_GT(std::abs(at("ja") - 0.2), 0.05);
  EXPECT_NEAR(at("jb"), 0.05 - at("ja") / 2, 1e-6);
  EXPECT_NEAR(at("jc"), 0.1 + 2 * at("jb"), 1e-6);
}

TEST(UrdfMimics, ACircleIsOneLine) {
  std::string text = text_of(kOwn / "mimics.urdf");
  text.replace(text.find("joint=\"ja\""), 10, "joint=\"jc\"");
  const Result<Scene> scene = parse_model(text, "mimics.urdf");
  ASSERT_FALSE(scene);
  EXPECT_EQ(scene.faults().size(), 1u);
  EXPECT_NE(scene.faults()[0].text().find("mimics itself"), std::string::npos) << scene.faults()[0].text();
}

TEST(Urdf, AProgramForXacroIsOneLineThatSaysSo) {
  for (const char* inside : {"<xacro:property name=\"w\" value=\"1\"/>", "<link name=\"${prefix}arm\"/>"}) {
    const Result<Scene> scene = parse_model(std::string("<robot name=\"r\">") + inside + "</robot>", "r.urdf");
    ASSERT_FALSE(scene);
    EXPECT_EQ(scene.faults().size(), 1u);
    EXPECT_NE(scene.faults()[0].text().find("run 'xacro FILE"), std::string::npos) << scene.faults()[0].text();
  }
}

/// Files that are no PNG, are cut, or say one thing and hold another.
TEST(MjcfHeights, BrokenFilesAreOneLine) {
  const fs::path folder = fs::path(testing::TempDir()) / ("slipstick_heights_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string png = text_of(kOwn / "files/hills.png"), binary = text_of(kOwn / "files/hills.bin");
  std::string damaged = png;
  damaged[png.size() / 2] ^= 1;
  const std::vector<std::pair<std::string, std::string>> files{
      {"a.png", "hello"}, {"b.png", png.substr(0, png.size() / 2)}, {"c.png", damaged},     {"d.png", png.substr(0, 8)},
      {"e.bin", "x"},     {"f.bin", binary.substr(0, 20)},          {"g.bin", binary + "x"}};
  for (const auto& [name, bytes] : files) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    std::ofstream(folder / "model.xml") << "<mujoco><asset><hfield name=\"h\" file=\"" + name +
                                               "\" size=\"1 1 1 1\"/></asset><worldbody><geom type=\"hfield\" "
                                               "hfield=\"h\"/></worldbody></mujoco>";
    const Result<Scene> scene = load_any((folder / "model.xml").string());
    ASSERT_FALSE(scene) << name;
    EXPECT_EQ(scene.faults().size(), 1u) << name;
    EXPECT_NE(scene.faults()[0].text().find("'" + name + "'"), std::string::npos) << scene.faults()[0].text();
  }
  fs::remove_all(folder);
}

/// The floor lies 1 mm below the lowest point of every kind of shape, not below a ball around it.
TEST(Import, TheFloorIsAMillimetreBelowTheModel) {
  const std::vector<std::pair<std::string, double>> shapes{
      {"type=\"box\" size=\"0.3 0.2 0.1\"", 0.1},
      {"type=\"box\" size=\"0.3 0.2 0.1\" euler=\"90 0 0\"", 0.2},
      {"type=\"cylinder\" size=\"0.2 0.5\" euler=\"0 90 0\"", 0.2},
      {"type=\"capsule\" size=\"0.1 0.3\"", 0.4},
      {"type=\"ellipsoid\" size=\"0.3 0.2 0.1\" euler=\"0 90 0\"", 0.3},
      {"type=\"sphere\" size=\"0.25\"", 0.25}};
  for (const auto& [form, reach] : shapes) {
    ImportOptions options;
    options.floor = true;
    const Scene scene = model_of("<mujoco><worldbody><body name=\"a\" pos=\"0 0 1\"><freejoint/><geom " + form +
                                     "/></body></worldbody></mujoco>",
                                 options);
    EXPECT_NEAR(scene.description.bodies.back().shapes[0].offset, 1 - reach - 1e-3, 1e-12) << form;
  }
}

TEST(Import, SdfIsOneLine) {
  const Result<Scene> scene = parse_model("<sdf version=\"1.7\"><model name=\"m\"/></sdf>", "m.sdf");
  ASSERT_FALSE(scene);
  EXPECT_EQ(scene.faults().size(), 1u);
  EXPECT_NE(scene.faults()[0].text().find("SDF is not read"), std::string::npos);
}

TEST(Import, WhoWantsToHearsOfEachMesh) {
  std::vector<std::string> heard;
  ImportOptions options;
  options.progress = [&](const std::string& what) { heard.push_back(what); };
  ASSERT_TRUE(load_any((kOwn / "meshes.urdf").string(), options));
  std::string all;
  for (const std::string& each : heard) all += each + "\n";
  EXPECT_NE(all.find("mesh 1, millimetres.dae"), std::string::npos) << all;
  EXPECT_NE(all.find("mesh 3, cube.stl"), std::string::npos) << all;
  EXPECT_EQ(all.find("mesh 4"), std::string::npos) << all;  // the second link with the cube reads nothing again
}

TEST(MjcfReplicate, CopiesHaveNamesAndPlaces) {
  const Scene scene = own_model("replicate.xml");
  for (int k = 0; k < 6; ++k) {
    const double angle = k * std::numbers::pi / 3;
    const int at = *scene.model.find_body("post-" + std::to_string(k));
    EXPECT_NEAR((scene.initial.pose[at].position - Vec3(std::cos(angle), std::sin(angle), 0.3)).norm(), 0, 1e-12);
  }
  const int last = *scene.model.find_body("ball21");  // the inner index first
  EXPECT_NEAR((scene.initial.pose[last].position - Vec3(0.4, 0, 1.1)).norm(), 0, 1e-12);
  EXPECT_EQ(model_faults("<mujoco><worldbody><replicate count=\"0\"><body/></replicate></worldbody></mujoco>").size(),
            1u);
}

TEST(MjcfTendons, RopesThroughPointsOfOneBodyAndSumsThatAreTied) {
  const Scene tendons = own_model("tendons.xml");
  const auto rope = std::find_if(tendons.description.joints.begin(), tendons.description.joints.end(),
                                 [](const JointDescription& joint) { return joint.name == "rope"; });
  ASSERT_NE(rope, tendons.description.joints.end());
  EXPECT_NEAR(*rope->length, 1.3 - 0.2, 1e-12);  // 0.2 m of it lie on the load
  // x - 2 y = 0 as it starts
  const Scene scene = own_model("equality.xml");
  Simulation simulation(scene);
  for (int k = 0; k < 300; ++k) simulation.step();
  EXPECT_NEAR(simulation.joint("x").position - 2 * simulation.joint("y").position, 0, 1e-6);
  EXPECT_GT(std::abs(simulation.joint("y").position), 1e-3);
}

// ------------------------------------------------------------------ joints that are closed

/// The worst joint error of a run, and what its corrections did to the energy.
struct JointRun {
  double error = 0, correction = 0;
};
JointRun run_joints(const Scene& scene, int steps) {
  Simulation simulation(scene);
  JointRun run;
  for (int k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    run.error = std::max(run.error, report.certificate.joint_error);
    run.correction += std::abs(report.certificate.ledger.correction);
  }
  return run;
}

TEST(CloseJoints, BlowsOpenNoJoint) {
  Scene scene = own_model("quadruped.xml");
  scene.options.step = 0.005;
  for (Twist& v : scene.initial.velocity) v.linear = Vec3(1, 0.5, -6);
  const JointRun closed = run_joints(scene, 200);
  scene.options.close_joints = false;
  const JointRun open = run_joints(scene, 200);
  EXPECT_GT(open.error, 2e-6);
  EXPECT_LT(closed.error, 1e-6);
  EXPECT_GT(closed.correction, 0);
  EXPECT_LT(closed.correction, 1e-3);  // J, of 170 that the fall brings
  EXPECT_EQ(open.correction, 0);
}

/// Fingers with rotors, tied to each other: what closes them must not take the rotors' speed for a way.
TEST(CloseJoints, AGripperOfTiedFingersHoldsABox) {
  const Scene scene = own_model("gripper_tendon.xml", "grip");
  const JointRun run = run_joints(scene, 500);
  EXPECT_LT(run.error, 2e-6);
  Simulation simulation(scene);
  for (int k = 0; k < 500; ++k) simulation.step();
  const int box = *scene.model.find_body("box");
  EXPECT_GT(simulation.state().pose[box].position.z(), 0.46);
  EXPECT_LT(simulation.state().velocity[box].linear.norm(), 1e-3);
}

}  // namespace
}  // namespace slipstick::test
