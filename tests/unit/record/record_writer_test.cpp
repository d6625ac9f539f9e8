#include "unit/record/record_files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace slipstick {
namespace {

using namespace test_files;

constexpr int kBodies = 3;

TEST(RecordWriter, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  auto writer = RecordWriter::create(path, make_header(kBodies));
  ASSERT_TRUE(writer) << writer.faults()[0].text();
  EXPECT_EQ(check_recording(path, kBodies), 0) << "readable before the first frame";
  FrameMaker maker(kBodies);
  for (int k = 0; k < 5000; ++k) {
    ASSERT_TRUE(writer->append(maker.make(k)));
    if (k % 700 == 0) {
      ASSERT_TRUE(writer->flush());
    }
  }
  ASSERT_TRUE(writer->close()) << writer->error();
  EXPECT_EQ(check_recording(path, kBodies), 5000);
  const auto file = Hdf5Reader::open(path);
  EXPECT_EQ(file->shape("/pose"), (std::vector<std::size_t>{5000, kBodies, 7}));
  EXPECT_EQ(file->shape("/contacts/offset"), (std::vector<std::size_t>{5001}));
  EXPECT_EQ(file->read_text_attribute("/", "scene_text"), "slipstick: 1\nname: größe\n");
  EXPECT_EQ(file->read_texts("/names/joints"), std::vector<std::string>{"hinge of größe"});
  EXPECT_EQ(file->read_texts("/names/bodies"), (std::vector<std::string>{"body_0", "body_1", "body_2"}));
  EXPECT_EQ(file->read_numbers("/events/time")->size(), 1666u);
}

// The clock's part of whole states: the first frame, then every five seconds, and the last frame.
TEST(RecordWriter, WholeStatesAreKeptNowAndThenAndAtTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  auto writer = RecordWriter::create(path, make_header(kBodies));
  ASSERT_TRUE(writer);
  FrameMaker maker(kBodies);
  RecordWriter::Clock::time_point now = RecordWriter::Clock::now();
  for (int k = 0; k < 121; ++k, now += std::chrono::milliseconds(100)) ASSERT_TRUE(writer->append(maker.make(k), now));
  ASSERT_TRUE(writer->close("interrupted"));
  const auto frames = Hdf5Reader::open(path)->read_integers("/state/frame");
  ASSERT_TRUE(frames);
  ASSERT_EQ(frames->size(), 4u);  // at 0, 5 and 10 seconds, and at the end
  EXPECT_EQ(frames->front(), 0);
  EXPECT_EQ(frames->back(), 120);
  EXPECT_EQ(check_last_state(path), 120);
  EXPECT_EQ(RecordReader::open(path)->ended(), "interrupted");
}

TEST(RecordWriter, ShapesAndLinksAreReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  RecordHeader header = make_header(1);
  header.shapes.push_back({0, 1, {1, 2, 3, 1, 0, 0, 0}, {4, 5, 6}, 0, 0, {}, "#c33", false});
  header.shapes.push_back({0, 0, {}, {}, 7, 8, {{1, 2}, {3, 4}, {5, 6}}, "", true});
  header.links.push_back({1, "rubber", 0, -1, {1, 2, 3}, {4, 5, 6}});
  auto writer = RecordWriter::create(path, header);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->close());
  const auto file = Hdf5Reader::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->read_numbers("/shapes/size"), (std::vector<double>{4, 5, 6, 0, 0, 0}));
  EXPECT_EQ(file->read_integers("/shapes/points_offset"), (std::vector<std::int64_t>{0, 0, 3}));
  EXPECT_EQ(file->read_numbers("/shapes/points"), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file->read_texts("/shapes/color"), (std::vector<std::string>{"#c33", ""}));
  EXPECT_EQ(file->read_integers("/links/b"), (std::vector<std::int64_t>{-1}));
}

TEST(RecordWriter, NoBodiesAndLargeTextsAndLargeRows) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  RecordHeader header = make_header(0);
  header.scene_text.assign(3u << 20, 'x');
  auto writer = RecordWriter::create(path, header);
  ASSERT_TRUE(writer) << writer.faults()[0].text();
  FrameMaker none(0);
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(writer->append(none.make(k)));
  ASSERT_TRUE(writer->close()) << writer->error();
  EXPECT_EQ(check_recording(path, 0), 100);
  EXPECT_EQ(Hdf5Reader::open(path)->read_text_attribute("/", "scene_text")->size(), 3u << 20);

  auto large = RecordWriter::create(path, make_header(4000));  // a row is larger than a chunk is meant to be
  ASSERT_TRUE(large);
  FrameMaker many(4000);
  for (int k = 0; k < 40; ++k) ASSERT_TRUE(large->append(many.make(k)));
  ASSERT_TRUE(large->close()) << large->error();
  EXPECT_EQ(check_recording(path, 4000), 40);
}

TEST(RecordWriter, WithoutContactsTheOffsetsStayZero) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  RecordHeader header = make_header(1);
  header.contacts = false;
  auto writer = RecordWriter::create(path, header);
  FrameMaker maker(1);
  for (int k = 0; k < 9; ++k) ASSERT_TRUE(writer->append(maker.make(k)));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(Hdf5Reader::open(path)->read_integers("/contacts/offset"), std::vector<std::int64_t>(10, 0));
  EXPECT_EQ(Hdf5Reader::open(path)->shape("/contacts/a"), (std::vector<std::size_t>{0}));
}

TEST(RecordWriter, PlacesThatCannotBeWrittenAreNamed) {
  const TemporaryFolder folder;
  const auto fault = [](const std::string& path) {
    const auto writer = RecordWriter::create(path, make_header(1));
    return writer ? std::string("created") : writer.faults().at(0).text();
  };
  EXPECT_NE(fault(folder.file("missing/run.h5")).find("does not exist; create it first"), std::string::npos);
  EXPECT_NE(fault(folder.path()).find("is a folder"), std::string::npos);
  std::ofstream(folder.file("plain")) << "text";
  EXPECT_NE(fault(folder.file("plain/run.h5")).find("is not a folder"), std::string::npos);
  EXPECT_NE(fault("/dev/null").find("is not a file"), std::string::npos);
  if (::geteuid() != 0) {  // root may write anywhere
    ::mkdir(folder.file("closed").c_str(), 0555);
    EXPECT_NE(fault(folder.file("closed/run.h5")).find("no permission"), std::string::npos);
  }
}

TEST(RecordWriter, AnOlderFileStaysUntilTheNewOneIsReadable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  FrameMaker maker(kBodies);
  for (const int frames : {5, 2}) {
    auto writer = RecordWriter::create(path, make_header(kBodies));
    for (int k = 0; k < frames; ++k) ASSERT_TRUE(writer->append(maker.make(k)));
    ASSERT_TRUE(writer->close());
    EXPECT_EQ(check_recording(path, kBodies), frames);
  }
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 1) << "nothing temporary is left";
}

// A file size limit stands for a full disk: the write fails half-way, once, with a reason.
TEST(RecordWriter, AFullDiskIsReportedOnceAndLeavesAReadableFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto writer = RecordWriter::create(path, make_header(kBodies));
    const rlimit limit{600000, 600000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    FrameMaker maker(kBodies);
    int k = 0;
    bool good = true;
    for (; k < 20000 && good; ++k) good = writer->append(maker.make(k)) && (k % 50 || writer->flush());
    const bool reported = !good && writer->error().find("File too large") != std::string::npos;
    const bool stays = !writer->append(maker.make(k)) && !writer->close();
    ::_exit(reported && stays ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_GT(check_recording(path, kBodies), 100);
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Exhaustive where it matters: a kill before a system call leaves the bytes that are in the file at that moment. All
// these files are kept and read.
TEST(RecordWriter, KilledBeforeAnyWriteTheFileIsReadable) {
  constexpr int kFrames = 40;
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  RecordHeader header = make_header(kBodies);
  header.expected_frames = 2;  // many chunks: the index grows over its first blocks
  auto writer = RecordWriter::create(path, header);
  ASSERT_TRUE(writer);
  std::vector<std::string> left_behind;
  writer->file().set_before_change([&] { left_behind.push_back(read_bytes(path)); });
  FrameMaker maker(kBodies);
  for (int k = 0; k < kFrames; ++k) {
    ASSERT_TRUE(writer->append(maker.make(k)));
    if (k % 8 == 7) {
      ASSERT_TRUE(writer->flush());
    }
  }
  ASSERT_TRUE(writer->close("complete"));
  ASSERT_EQ(check_recording(path, kBodies), kFrames);
  EXPECT_EQ(Hdf5Reader::open(path)->read_texts("/ended"), std::vector<std::string>{"complete"});
  EXPECT_EQ(Hdf5Reader::open(path)->read_text_attribute("/", "ended"), "complete");
  EXPECT_EQ(check_last_state(path), kFrames - 1);
  ASSERT_GT(left_behind.size(), 300u);
  const std::string killed = folder.file("killed.h5");
  int last = 0, last_state = 0;
  for (std::size_t i = 0; i < left_behind.size(); ++i) {
    std::ofstream(killed, std::ios::binary | std::ios::trunc) << left_behind[i];
    const int frames = check_recording(killed, kBodies);
    ASSERT_GE(frames, last) << "killed before change " << i;
    last = frames;
    if (frames > 0) {
      const int state = check_last_state(killed);
      ASSERT_GE(state, last_state) << "killed before change " << i;
      ASSERT_LT(state, frames);
      last_state = state;
    }
    const auto file = Hdf5Reader::open(killed);
    if (!file->has("/ended")) continue;
    EXPECT_EQ(frames, kFrames) << "says that it has ended before all is there, change " << i;
    EXPECT_EQ(file->read_texts("/ended"), std::vector<std::string>{"complete"}) << "change " << i;
  }
  EXPECT_EQ(last_state, kFrames - 1);
  EXPECT_GE(last, kFrames - 8);
}

// The clock's part, with a clock of our own: whenever it is killed, all frames older than a second are in the file. The
// steps are quick at first and slow later on.
TEST(RecordWriter, WhatIsOlderThanASecondIsInTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  auto writer = RecordWriter::create(path, make_header(kBodies));
  ASSERT_TRUE(writer);
  FrameMaker maker(kBodies);
  RecordWriter::Clock::time_point now = RecordWriter::Clock::now();
  std::vector<RecordWriter::Clock::time_point> appended;
  int flushes = 0, before = 0;
  for (int k = 0; k < 120; ++k) {
    const auto pause = std::chrono::milliseconds(k < 100 ? 20 : k < 110 ? 300 : 1500);
    ASSERT_TRUE(writer->append(maker.make(k), now));
    appended.push_back(now);
    now += pause;
    const int frames = check_recording(path, kBodies);
    flushes += frames != before;
    before = frames;
    for (int i = 0; i <= k; ++i) {
      const bool changed_pace = k == 100 || k == 110;  // nothing can foresee that the next step takes longer
      if (now - appended[i] > std::chrono::seconds(1) && !changed_pace) {
        ASSERT_GT(frames, i) << "at frame " << k;
      }
    }
  }
  EXPECT_LT(flushes, 40) << "the file is not touched at each frame";
  ASSERT_TRUE(writer->close());
}

// Killed from outside while it flushes as fast as it can: the instants that fall inside a system call.
TEST(RecordWriter, KilledWhileFlushingTheFileIsReadable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  ASSERT_TRUE(RecordWriter::create(path, make_header(kBodies)));  // one that is killed too early leaves this one
  for (int trial = 0; trial < 20; ++trial) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto writer = RecordWriter::create(path, make_header(kBodies));
      FrameMaker maker(kBodies);
      for (int k = 0;; ++k) {
        writer->append(maker.make(k));
        writer->flush();
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20000 + 1373 * trial));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_GE(check_recording(path, kBodies), 0) << "trial " << trial;
  }
}

}  // namespace
}  // namespace slipstick
