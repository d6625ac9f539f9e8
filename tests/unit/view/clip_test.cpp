#include "view/clip.h"

#include "support/simulate.h"
#include "unit/record/record_files.h"
#include "unit/view/read_packet.h"

#include <slipstick/app/recording.h>

namespace slipstick {
namespace {

using test::read_packet;
using test_files::TemporaryFolder;

/// A block that slides on a floor, beside one that stands; the recording of a second.
std::string record(const TemporaryFolder& folder) {
  const Scene scene = test::scene_of(
      "name: <b>two</b>\n"
      "materials: {default: {friction: 0.25}}\n"
      "bodies:\n"
      "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
      "  - {name: slides, mass: 2, position: [0, 0, 0.1], velocity: [10, 0, 0], shapes: [{box: {size: [0.2, 0.2, "
      "0.2]}}]}\n"
      "  - {name: stands, mass: 1, position: [0, 1, 0.1], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}\n"
      "joints: []\n"
      "simulation: {duration: 1, step: 1/100}\n");
  const std::string path = folder.file("run.h5");
  auto recorder = Recorder::create(path, scene, "test");
  EXPECT_TRUE(recorder);
  Simulation simulation = test::simulation_of(scene);
  recorder->append(simulation, nullptr);
  for (int k = 0; k < 100; ++k) {
    const StepReport& report = simulation.step();
    recorder->append(simulation, &report);
  }
  EXPECT_TRUE(recorder->close());
  return path;
}

Clip open(const std::string& path, std::size_t max_frames = 1000) {
  auto reader = RecordReader::open(path);
  EXPECT_TRUE(reader);
  return {std::move(reader).value(), max_frames, 1'000'000};
}

TEST(Clip, DescribesWhatIsDrawn) {
  const TemporaryFolder folder;
  const auto read = read_packet(open(record(folder)).make_clip_packet(1));
  EXPECT_EQ(read.json["name"], "<b>two</b>");
  EXPECT_EQ(read.json["frames"], 101);
  EXPECT_EQ(read.json["bodies"][1],
            (Json{{"name", "slides"}, {"kind", "dynamic"}, {"mass", 2.0}, {"com", {0.0, 0.0, 0.0}}}));
  EXPECT_EQ(read.json["shapes"][1]["kind"], "box");
  EXPECT_EQ(read.json["shapes"][1]["size"], (Json{0.2, 0.2, 0.2}));
  EXPECT_EQ(read.columns.at("time").back(), 1.0);
  EXPECT_EQ(read.columns.at("energy").size(), 303u);
  EXPECT_EQ(read.columns.at("contact_count")[50], 8);
}

TEST(Clip, FramesAndContactsAreThoseOfTheRecording) {
  const TemporaryFolder folder;
  const Clip clip = open(record(folder));
  const auto pose = clip.reader().read_poses(20, 30, 1);
  ASSERT_TRUE(pose);
  const auto frames = read_packet(clip.make_frames_packet(20, 30, {}));
  for (std::size_t k = 0; k < 30; ++k)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(frames.columns.at("position")[(k * 3 + b) * 3 + i], (*pose)[(k * 3 + b) * 7 + i], 1e-6);
  const auto contacts = read_packet(clip.make_contacts_packet(20, 30, 1, {}));
  const auto &force = contacts.columns.at("force"), &b = contacts.columns.at("b"), &slip = contacts.columns.at("slip");
  ASSERT_EQ(contacts.columns.at("contact_count").size(), 30u);
  ASSERT_EQ(slip.size(), 240u);
  double weight = 0, drag = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const bool slides = b[i] == 1;
    EXPECT_NEAR(contacts.columns.at("friction")[i], 0.25, 1e-6);
    EXPECT_EQ(slip[i] > 5, slides);
    EXPECT_EQ(slip[i] < 1e-6, !slides);
    weight += force[3 * i + 2];
    drag += force[3 * i];
  }
  EXPECT_NEAR(weight, 3 * 9.81, 1e-3) << "newtons, on body b";
  EXPECT_NEAR(drag, -0.25 * 2 * 9.81, 1e-3) << "the block that slides uses all of its cone";
}

TEST(Clip, JointsAreThoseOfTheRecording) {
  const TemporaryFolder folder;
  const Scene scene = test::scene_of(
      "bodies:\n"
      "  - {name: upper, mass: 2, position: [0, 0, -1], shapes: [{sphere: {radius: 0.1}}]}\n"
      "  - {name: lower, mass: 1, position: [0, 0, -2], shapes: [{sphere: {radius: 0.1}}]}\n"
      "  - {name: fan, mass: 1, position: [5, 0, 0], shapes: [{sphere: {radius: 0.1}}]}\n"
      "joints:\n"
      "  - ball: {between: [world, upper], at: [0, 0, 0]}\n"
      "  - hinge: {name: knee, between: [upper, lower], at: [0, 0, -1.5], axis: [0, 1, 0]}\n"
      "  - hinge: {name: spindle, between: [world, fan], at: [5, 0, 0], axis: [0, 0, 1], motor: {speed: 2, max: 9}}\n"
      "  - gear: {joints: [spindle, knee], ratio: -3}\n"
      "simulation: {duration: 1, step: 1/100}\n");
  const std::string path = folder.file("run.h5");
  {
    auto recorder = Recorder::create(path, scene, "test");
    ASSERT_TRUE(recorder);
    Simulation simulation = test::simulation_of(scene);
    recorder->append(simulation, nullptr);
    for (int k = 0; k < 10; ++k) {
      const StepReport& report = simulation.step();
      recorder->append(simulation, &report);
    }
  }
  const Clip clip = open(path, 3);  // frames 0, 4, 8, and 10, the last
  ASSERT_EQ(clip.joints(), 4u);
  ASSERT_EQ(clip.frames(), 4u);
  const auto recorded = clip.reader().read_joints(0, 11, 1);
  ASSERT_TRUE(recorded);
  const auto packet = read_packet(clip.make_joints_packet(0, 4, 1, 1, 0));
  const auto& rows = packet.columns.at("joints");
  ASSERT_EQ(rows.size(), 4u * 4 * kJointNumbers);
  for (const auto& [frame, index] : {std::pair{1, 4}, {2, 8}, {3, 10}})
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t at = (static_cast<std::size_t>(frame) * 4 + j) * kJointNumbers;
      const std::size_t from = static_cast<std::size_t>(index) * 4 + j;
      if (j == 1 || j == 2) {
        EXPECT_FLOAT_EQ(rows[at + 1], static_cast<float>(recorded->velocity[from]));
      }
      for (std::size_t k = 0; k < 6; ++k)
        EXPECT_FLOAT_EQ(rows[at + 3 + k], static_cast<float>(recorded->reaction[6 * from + k]));
    }
  const auto rounded = read_packet(clip.make_joints_packet(0, 4, 1, 1, 12));
  EXPECT_NEAR(rounded.columns.at("joints")[(3 * 4 + 2) * kJointNumbers + 1], 2, 2e-3);
  EXPECT_TRUE(clip.make_joints_packet(3, 4, 1, 1, 0).empty()) << "beyond the end";
  const auto links = read_packet(clip.make_clip_packet(1)).json["links"];
  EXPECT_FALSE(links[1].contains("motor"));
  EXPECT_EQ(links[2]["motor"], "speed");
  EXPECT_EQ(links[3]["couples"], (Json{{2, 1.0}, {1, 3.0}}));
}

TEST(Clip, ThinsALongRecordingAndKeepsItsEnd) {
  const TemporaryFolder folder;
  const Clip clip = open(record(folder), 20);
  EXPECT_EQ(clip.stride(), 6u);
  EXPECT_EQ(clip.frames(), 18u);
  const auto read = read_packet(clip.make_clip_packet(0));
  EXPECT_NEAR(read.columns.at("time")[3], 0.18, 1e-12);
  EXPECT_NEAR(read.columns.at("time")[16], 0.96, 1e-12);
  EXPECT_EQ(read.columns.at("time")[17], clip.reader().series().time.back());
  double iterations = 0;
  for (const auto n : clip.reader().series().iterations) iterations += static_cast<double>(n);
  double shown = 0;
  for (const double n : read.columns.at("iterations")) shown += n;
  EXPECT_EQ(shown, iterations) << "sums lose nothing";
  const auto last = clip.reader().read_poses(100, 1, 1);
  const auto frames = read_packet(clip.make_frames_packet(10, 8, {}));
  EXPECT_NEAR(frames.columns.at("position")[(7 * 3 + 1) * 3], (*last)[7], 1e-6) << "the last frame is the last";
  EXPECT_EQ(read_packet(clip.make_contacts_packet(0, 18, 1, {})).columns.at("contact_count").size(), 18u);
  EXPECT_FALSE(clip.make_contacts_packet(0, 18, 4, {}).empty());
  EXPECT_EQ(read_packet(clip.make_body_packet(1)).columns.at("pose").size(), 18u * 7);
  EXPECT_TRUE(clip.make_frames_packet(10, 30, {}).empty()) << "beyond the end";
}

TEST(RecordReader, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_EQ(RecordReader::open(folder.file("none.h5")).faults()[0].message, "no such file");
  auto writer = RecordWriter::create(folder.file("empty.h5"), test_files::make_header(2));
  ASSERT_TRUE(writer->close());
  const auto empty = RecordReader::open(folder.file("empty.h5"));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.faults()[0].message.find("no frame"), std::string::npos) << empty.faults()[0].text();
}

TEST(RecordReader, SurfacesAreReadBack) {
  const TemporaryFolder folder;
  RecordHeader header = test_files::make_header(1);
  header.masses = {1};
  header.centers_of_mass = {{0, 0, 0.5}};
  RecordShape shape;
  shape.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  shape.triangles = {{0, 2, 1}, {0, 1, 3}};
  header.shapes = {RecordShape{}, shape};
  header.links.push_back({0, "hinge", 0, -1, {1, 2, 3}, {4, 5, 6}, {0, 0, 1}, 2, {-1, -1, -1}, {}});
  const std::string path = folder.file("run.h5");
  auto writer = RecordWriter::create(path, header);
  test_files::FrameMaker maker(1);
  ASSERT_TRUE(writer->append(maker.make(0)));
  ASSERT_TRUE(writer->close());
  const auto reader = RecordReader::open(path);
  ASSERT_TRUE(reader) << reader.faults()[0].text();
  EXPECT_EQ(reader->header().shapes[1].vertices, shape.vertices);
  EXPECT_EQ(reader->header().shapes[1].triangles, shape.triangles);
  EXPECT_TRUE(reader->header().shapes[0].vertices.empty());
  EXPECT_EQ(reader->header().links[0].axis, (std::array<double, 3>{0, 0, 1}));
  EXPECT_EQ(reader->header().links[0].motor, 2);
  EXPECT_EQ(reader->header().centers_of_mass[0], (std::array<double, 3>{0, 0, 0.5}));
  const Json json = make_description(reader->header(), true);
  EXPECT_EQ(json["shapes"][1]["triangles"], (Json{0, 2, 1, 0, 1, 3}));
}

}  // namespace
}  // namespace slipstick
