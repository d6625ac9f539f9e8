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

TEST(Clip, ABodyComesWithItsJoints) {
  const TemporaryFolder folder;
  const Scene scene = test::scene_of(
      "bodies:\n"
      "  - {name: upper, mass: 2, position: [0, 0, -1], shapes: [{sphere: {radius: 0.1}}]}\n"
      "  - {name: lower, mass: 1, position: [0, 0, -2], shapes: [{sphere: {radius: 0.1}}]}\n"
      "  - {name: free, mass: 1, position: [5, 0, 0], shapes: [{sphere: {radius: 0.1}}]}\n"
      "joints:\n"
      "  - ball: {between: [world, upper], at: [0, 0, 0]}\n"
      "  - hinge: {between: [upper, lower], at: [0, 0, -1.5], axis: [0, 1, 0]}\n"
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
  const Clip clip = open(path);
  const auto upper = read_packet(clip.make_body_packet(0)), lower = read_packet(clip.make_body_packet(1)),
             free = read_packet(clip.make_body_packet(2));
  EXPECT_EQ(upper.json["joints"], (Json{0, 1}));
  EXPECT_EQ(lower.json["joints"], (Json{1}));
  EXPECT_EQ(free.json["joints"], Json::array());
  ASSERT_EQ(upper.columns.at("joints").size(), 11u * 18);
  ASSERT_EQ(lower.columns.at("joints").size(), 11u * 9);
  EXPECT_NEAR(upper.columns.at("joints")[10 * 18 + 5], 3 * 9.81, 1e-7);
  EXPECT_NEAR(upper.columns.at("joints")[10 * 18 + 9 + 5], 9.81, 1e-7);
  EXPECT_NEAR(lower.columns.at("joints")[10 * 9 + 5], 9.81, 1e-7);
}

TEST(Clip, ThinsALongRecording) {
  const TemporaryFolder folder;
  const Clip clip = open(record(folder), 20);
  EXPECT_EQ(clip.stride(), 6u);
  EXPECT_EQ(clip.frames(), 17u);
  const auto read = read_packet(clip.make_clip_packet(0));
  EXPECT_NEAR(read.columns.at("time")[3], 0.18, 1e-12);
  double iterations = 0;
  for (std::size_t k = 0; k <= 96; ++k) iterations += static_cast<double>(clip.reader().series().iterations[k]);
  double shown = 0;
  for (const double n : read.columns.at("iterations")) shown += n;
  EXPECT_EQ(shown, iterations) << "sums lose nothing";
  EXPECT_FALSE(clip.make_contacts_packet(0, 17, 4, {}).empty());
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
  header.links.push_back({0, "hinge", 0, -1, {1, 2, 3}, {4, 5, 6}, {0, 0, 1}});
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
  EXPECT_EQ(reader->header().centers_of_mass[0], (std::array<double, 3>{0, 0, 0.5}));
  const Json json = make_description(reader->header(), true);
  EXPECT_EQ(json["shapes"][1]["triangles"], (Json{0, 2, 1, 0, 1, 3}));
}

}  // namespace
}  // namespace slipstick
