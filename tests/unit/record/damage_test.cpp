// Damaged recordings and problem files never break their readers: they give numbers, or faults of one line.
#include <slipstick/app/problem_file.h>
#include <slipstick/app/recording_series.h>
#include <slipstick/app/table.h>

#include <gtest/gtest.h>

#include "support/damage.h"
#include "support/scene_problems.h"
#include "unit/record/record_files.h"

namespace slipstick {
namespace {

using namespace test_files;

constexpr int kManyBodies = 40, kDamagedFrames = 30;
constexpr int kMostSeconds = 60;   // of the processor, for one file
constexpr long kMostMemory = 400;  // MiB above what the tests had before

std::string make_recording(const std::string& path) {
  RecordHeader header = make_header(kManyBodies);
  RecordShape shape;
  shape.kind = 1;
  shape.size = {1, 2, 3};
  shape.points = {{0, 0}, {1, 0}, {0, 1}};
  shape.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  shape.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  shape.color = "#c33";
  header.shapes = {shape, shape};
  header.links = {{0, "hinge", 0, 1, {}, {}, {}}};
  auto writer = RecordWriter::create(path, header);
  EXPECT_TRUE(writer);
  FrameMaker maker(kManyBodies);
  for (int k = 0; k < kDamagedFrames; ++k) EXPECT_TRUE(writer->append(maker.make(k)));
  EXPECT_TRUE(writer->close("complete"));
  return test::read_bytes(path);
}

void check_faults(const Faults& faults) {
  EXPECT_FALSE(faults.empty());
  for (const Fault& fault : faults) {
    EXPECT_FALSE(fault.message.empty());
    EXPECT_EQ(fault.text().find('\n'), std::string::npos) << fault.text();
  }
}

/// Everything that `table`, `plot`, `view` and `run --resume` read; true if the recording could be opened.
bool read_recording(const std::string& path) {
  const auto reader = RecordReader::open(path);
  if (!reader) {
    check_faults(reader.faults());
    return false;
  }
  const std::size_t n = reader->frames();
  for (const std::size_t stride : {1, 3}) {
    const std::size_t count = (n + stride - 1) / stride;
    reader->read_poses(0, count, stride);
    reader->read_velocities(0, count, stride);
    reader->read_joints(0, count, stride);
    reader->read_contacts(0, count, stride);
  }
  if (const auto state = reader->read_last_state(); !state) check_faults(state.faults());
  TableRequest request{path, {}, {}, {}};
  for (const TableSeries& series : table_series()) {
    request.what = {series.name};
    const Faults faults = write_table(request, [](const std::string&) { return true; });
    if (!faults.empty()) check_faults(faults);
  }
  for (const std::string& name : plot_series_names()) {
    const auto plots = make_plots(path, {name}, {"body_1", "hinge of größe"});
    if (!plots) check_faults(plots.faults());
  }
  return true;
}

TEST(Damage, OfRecordings) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  const std::string whole = make_recording(path);
  ASSERT_TRUE(read_recording(path));
  const long before = test::calc_peak_memory();
  const int rounds = test::calc_rounds(150);
  int opened = 0, refused = 0;
  for (int seed = 0; seed < rounds; ++seed) {
    std::mt19937 generator(seed);
    test::write_bytes(path, test::damage(whole, &generator));
    const test::WorkLimit limit(kMostSeconds);
    SCOPED_TRACE(seed);
    (read_recording(path) ? opened : refused)++;
    if (HasFailure()) return;
  }
  EXPECT_GT(opened, rounds / 20);  // both: what is inside is damaged, and what leads to it
  EXPECT_GT(refused, rounds / 20);
  EXPECT_LT(test::calc_peak_memory() - before, kMostMemory);
}

TEST(Damage, OfProblemFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.hdf5");
  ASSERT_TRUE(save_problem(path, test_support::stack(3), "a test", nullptr).empty());
  const std::string whole = test::read_bytes(path);
  ASSERT_TRUE(load_problem(path));
  const long before = test::calc_peak_memory();
  const int rounds = test::calc_rounds(400);
  int read = 0, refused = 0;
  for (int seed = 0; seed < rounds; ++seed) {
    std::mt19937 generator(seed);
    test::write_bytes(path, test::damage(whole, &generator));
    const test::WorkLimit limit(kMostSeconds);
    SCOPED_TRACE(seed);
    const auto problem = load_problem(path);
    if (!problem) check_faults(problem.faults());
    (problem ? read : refused)++;
    if (HasFailure()) return;
  }
  EXPECT_GT(read, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
  EXPECT_LT(test::calc_peak_memory() - before, kMostMemory);
}

}  // namespace
}  // namespace slipstick
