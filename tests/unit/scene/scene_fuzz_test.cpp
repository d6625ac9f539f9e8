// Broken text never breaks the reader: it gives a scene or faults with places in the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

/// True if it was a scene.
bool check(const std::string& text) {
  SceneLoadOptions options;
  options.max_bodies = 200;
  const Result<Scene> result = parse_scene(text, "fuzz.yaml", options);
  if (result.ok()) return true;
  EXPECT_FALSE(result.faults().empty());
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const Fault& fault : result.faults()) {
    EXPECT_FALSE(fault.message.empty());
    EXPECT_GE(fault.place.line, 0);
    EXPECT_LE(fault.place.line, lines + 1) << fault.text();
    EXPECT_EQ(fault.message.find('\n'), std::string::npos) << fault.text();
  }
  return false;
}

/// One random change: half of them of a digit, so that many texts get past the YAML parser.
void edit(std::size_t digit, const std::string& alphabet, std::mt19937* generator, std::string* text) {
  const std::size_t at = (*generator)() % text->size();
  switch ((*generator)() % 8) {
    case 0:
      (*text)[at] = static_cast<char>((*generator)() % 256);
      break;
    case 1:
      (*text)[at] = alphabet[(*generator)() % alphabet.size()];
      break;
    case 2:
      text->erase(at, 1 + (*generator)() % 4);
      break;
    case 3:
      text->insert(at, 1, alphabet[(*generator)() % alphabet.size()]);
      break;
    default:
      (*text)[std::min(digit, text->size() - 1)] = "0123456789-+ij"[(*generator)() % 14];
  }
}

TEST(SceneFuzz, Truncations) {
  for (const std::string text : {kFullScene, kPlanarScene}) {
    for (std::size_t length = 0; length < text.size(); ++length) check(text.substr(0, length));
  }
}

TEST(SceneFuzz, RandomEdits) {
  std::mt19937 generator(20240607);
  const std::string alphabet = "{}[]:,-&*#'\"|>!%@`?~ \n\t0123456789abcxyzijn._+*/()<=";
  int good = 0, bad = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? kFullScene : kPlanarScene;
    const int edits = 1 + static_cast<int>(generator() % 3);
    for (int k = 0; k < edits; ++k) {
      edit(text.find_first_of("0123456789", generator() % (text.size() - 20)), alphabet, &generator, &text);
    }
    (check(text) ? good : bad)++;
  }
  EXPECT_GT(good, 200);  // otherwise nothing but the YAML parser would be tested
  EXPECT_GT(bad, 500);
}

TEST(SceneFuzz, LinesMixed) {
  std::mt19937 generator(99);
  const std::string text = kFullScene;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> mixed = lines;
    const std::size_t a = generator() % mixed.size(), b = generator() % mixed.size();
    if (round % 2 == 0) {
      std::swap(mixed[a], mixed[b]);
    } else {
      mixed.insert(mixed.begin() + a, mixed[b]);
    }
    std::string joined;
    for (const std::string& line : mixed) joined += line;
    check(joined);
  }
}

}  // namespace
}  // namespace slipstick
