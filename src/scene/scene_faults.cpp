#include "scene/scene_faults.h"

#include <algorithm>
#include <utility>

#include "scene/scene_document.h"

namespace slipstick {
namespace {

constexpr std::size_t kListed = 50;
constexpr std::size_t kLongest = 500;  // characters of a message
constexpr std::size_t kKept = 10000;   // bounds the memory that a hopeless file can take

/// A fault is one line of bounded length, whatever text of the file it quotes; no control codes reach a terminal.
std::string as_line(std::string message) {
  if (message.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
    message.resize(end);
    message += "...";
  }
  std::replace_if(
      message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return message;
}

}  // namespace

int SceneFaults::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<int>(files_.size()) - 1;
}

void SceneFaults::add(const SceneNode& node, std::string message, int offset) {
  add(node.file, node.line, node.column + offset, std::move(message));
}

void SceneFaults::add(int file, int line, int column, std::string message) {
  const auto [it, is_new] = item_of_place_.try_emplace({file, line, column}, item_);
  if (!is_new && it->second != item_) {
    ++raised_;
    return;
  }
  add_placed({file, line, column, std::move(message)});
}

void SceneFaults::add_unplaced(int file, std::string message) { add_placed({file, 0, 0, std::move(message)}); }

void SceneFaults::add_placed(Placed fault) {
  ++raised_;
  fault.message = as_line(std::move(fault.message));
  if (faults_.size() >= kKept) {
    ++unlisted_;
  } else {
    faults_.push_back(std::move(fault));
  }
}

Faults SceneFaults::list() const {
  std::vector<const Placed*> sorted;
  for (const Placed& fault : faults_) sorted.push_back(&fault);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Placed* a, const Placed* b) {
    return std::tie(a->file, a->line, a->column) < std::tie(b->file, b->line, b->column);
  });
  const auto same = [](const Placed* a, const Placed* b) {
    return std::tie(a->file, a->line, a->column, a->message) == std::tie(b->file, b->line, b->column, b->message);
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());

  Faults result;
  for (std::size_t i = 0; i < std::min(sorted.size(), kListed); ++i) {
    const Placed& fault = *sorted[i];
    result.push_back({{fault.file < 0 ? "" : files_[fault.file], fault.line, fault.column}, fault.message});
  }
  if (const std::size_t more = sorted.size() - result.size() + unlisted_; more > 0) {
    result.push_back({{}, "and " + std::to_string(more) + (more == 1 ? " more fault" : " more faults")});
  }
  return result;
}

}  // namespace slipstick
