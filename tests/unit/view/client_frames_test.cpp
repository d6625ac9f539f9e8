#include "view/client_frames.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace slipstick {
namespace {

using Kind = ClientFrame::Kind;

/// A frame by the tables of RFC 6455; `mask` of four bytes, or none.
std::string make_frame(unsigned first, std::string_view data, std::string_view mask) {
  const unsigned masked = mask.empty() ? 0 : 0x80;
  std::string bytes(1, static_cast<char>(first));
  if (data.size() < 126) {
    bytes += static_cast<char>(masked | data.size());
  } else {
    bytes += static_cast<char>(masked | 126);
    bytes += static_cast<char>(data.size() >> 8);
    bytes += static_cast<char>(data.size() & 0xff);
  }
  bytes += mask;
  for (std::size_t i = 0; i < data.size(); ++i)
    bytes += mask.empty() ? data[i] : static_cast<char>(data[i] ^ mask[i % 4]);
  return bytes;
}

TEST(ClientFrames, TheExampleOfTheRfc) {
  FrameReader reader(100);
  reader.add("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  const auto frame = reader.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, Kind::kText);
  EXPECT_EQ(frame->data, "Hello");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.broken());
}

TEST(ClientFrames, AnyDivisionOfTheBytesGivesTheSame) {
  const std::string longer(300, 'x');
  const std::string bytes = make_frame(0x81, "{}", "abcd") + make_frame(0x89, "", "efgh") +
                            make_frame(0x81, longer, "\x01\x02\x03\x04") + make_frame(0x8a, "p", "1234") +
                            make_frame(0x88, "", "5678");
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    FrameReader reader(300);
    std::vector<Kind> kinds;
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      reader.add(std::string_view(bytes).substr(at, part));
      while (const auto frame = reader.next()) {
        kinds.push_back(frame->kind);
        texts.push_back(frame->data);
      }
    }
    EXPECT_EQ(kinds, (std::vector{Kind::kText, Kind::kPing, Kind::kText, Kind::kPong, Kind::kClose})) << part;
    EXPECT_EQ(texts, (std::vector<std::string>{"{}", "", longer, "p", ""})) << part;
    EXPECT_FALSE(reader.broken());
  }
}

TEST(ClientFrames, WhatNoBrowserSendsBreaksIt) {
  const std::string good = make_frame(0x81, "{}", "abcd");
  for (const std::string& bytes :
       {make_frame(0x81, "{}", ""), make_frame(0x89, "", ""), make_frame(0x01, "{", "abcd"),
        make_frame(0x80, "}", "abcd"), make_frame(0x82, "x", "abcd"), make_frame(0x8b, "x", "abcd"),
        make_frame(0xc1, "{}", "abcd"), make_frame(0x81, std::string(301, 'x'), "abcd"),
        make_frame(0x89, std::string(126, 'x'), "abcd"), std::string("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10),
        std::string(2, '\0')}) {
    FrameReader reader(300);
    reader.add(good + bytes);
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
    reader.add(good);
    EXPECT_FALSE(reader.next()) << "broken for good";
  }
}

TEST(ClientFrames, AnyBytesAreStood) {
  std::mt19937 random(20261117);
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (bytes.size() > 1 && i % 2 == 0) bytes[0] = '\x81', bytes[1] = static_cast<char>(0x80 | (bytes[1] & 0x1f));
    FrameReader reader(64);
    reader.add(bytes);
    while (const auto frame = reader.next()) {
      EXPECT_LE(frame->data.size(), 64U);
      ++taken;
    }
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace slipstick
