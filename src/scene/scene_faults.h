// The faults of a scene, collected while reading goes on.
#pragma once

#include <slipstick/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace slipstick {

struct SceneNode;

class SceneFaults {
 public:
  /// Index of a new file; its name is what a person sees in faults.
  int add_file(std::string name);
  const std::string& file_name(int file) const { return files_[file]; }

  /// A fault at a node, `offset` columns to its right. One place is reported for one item only: the tenth copy of a
  /// repeated body has nothing new to say about a line that was wrong for the first.
  void add(const SceneNode& node, std::string message, int offset = 0);
  void add(int file, int line, int column, std::string message);
  /// A fault of the whole file, or of none (file < 0).
  void add_unplaced(int file, std::string message);
  /// Something is unusable because of a fault that is already listed.
  void note_consequence() { ++raised_; }

  /// What follows belongs to another item (body, joint, ... or one repetition of it).
  void begin_item() { ++item_; }
  /// Grows with every fault, listed or not: an item is sound if this is the same before and after reading it.
  std::size_t raised() const { return raised_; }
  bool empty() const { return raised_ == 0; }

  /// All faults in the order of the files and lines, the first fifty in full.
  Faults list() const;

 private:
  struct Placed {
    int file, line, column;
    std::string message;
  };
  void add_placed(Placed fault);

  std::vector<std::string> files_;
  std::vector<Placed> faults_;
  std::map<std::tuple<int, int, int>, std::int64_t> item_of_place_;
  std::size_t raised_ = 0;
  std::size_t unlisted_ = 0;
  std::int64_t item_ = 0;
};

}  // namespace slipstick
