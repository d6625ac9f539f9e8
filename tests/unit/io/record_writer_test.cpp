#include "record_files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace slipstick {
namespace {

using namespace testing_files;

constexpr int kBodies = 3;
constexpr int kKillFrames = 24;

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
  EXPECT_EQ(file->read_texts("/names/bodies"), (std::vector<std::string>{"body_0", "body_1", "body_2"}));
  EXPECT_EQ(file->read_numbers("/events/time")->size(), 1666u);
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

/// Writes with a flush every 8 frames and counts (limit < 0) or dies before change number `limit`.
int write_with_kill(const std::string& path, int limit) {
  RecordHeader header = make_header(kBodies);
  header.expected_frames = 2;  // many chunks: the index grows over its first blocks
  auto writer = RecordWriter::create(path, header);
  int changes = 0;
  writer->file().set_before_change([&] {
    if (changes++ == limit) ::raise(SIGKILL);
  });
  FrameMaker maker(kBodies);
  for (int k = 0; k < kKillFrames; ++k) {
    writer->append(maker.make(k));
    if (k % 8 == 7) writer->flush();
  }
  writer->close();
  return changes;
}

// Exhaustive where it matters: the writer is killed before EACH system call that changes the file.
TEST(RecordWriter, KilledBeforeAnyWriteTheFileIsReadable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  const int changes = write_with_kill(path, -1);
  ASSERT_EQ(check_recording(path, kBodies), kKillFrames);
  ASSERT_GT(changes, 100);
  int last = 0;
  for (int limit = 0; limit < changes; ++limit) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      write_with_kill(path, limit);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const int frames = check_recording(path, kBodies);
    ASSERT_GE(frames, last) << "killed before change " << limit;
    last = frames;
  }
  EXPECT_GE(last, kKillFrames - 8);
}

// The clock's part: a writer killed from outside at a random instant lacks at most the last second.
TEST(RecordWriter, KilledAtAnyTimeItLacksAtMostASecond) {
  const TemporaryFolder folder;
  for (int trial = 0; trial < 2; ++trial) {
    const std::string path = folder.file("run" + std::to_string(trial) + ".h5");
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto writer = RecordWriter::create(path, make_header(kBodies));
      FrameMaker maker(kBodies);
      for (int k = 0;; ++k) {
        writer->append(maker.make(k));
        if (::write(pipe_ends[1], &k, sizeof k) != sizeof k) ::_exit(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    ::close(pipe_ends[1]);
    std::vector<std::pair<int, RecordWriter::Clock::time_point>> seen;
    const auto start = RecordWriter::Clock::now();
    const auto life = std::chrono::milliseconds(1100 + 370 * trial);
    for (int k; RecordWriter::Clock::now() - start < life && ::read(pipe_ends[0], &k, sizeof k) == sizeof k;)
      seen.emplace_back(k, RecordWriter::Clock::now());
    ::kill(child, SIGKILL);
    const auto end = RecordWriter::Clock::now();
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    const int frames = check_recording(path, kBodies);
    for (const auto& [k, when] : seen) {
      if (end - when > std::chrono::milliseconds(1050)) {
        EXPECT_GT(frames, k);
      }
    }
    EXPECT_GE(frames, 1) << "the first frame is written at once";
  }
}

// Killed from outside while it flushes as fast as it can: the instants that fall inside a system call.
TEST(RecordWriter, KilledWhileFlushingTheFileIsReadable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
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
