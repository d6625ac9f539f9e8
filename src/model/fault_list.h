// Collects what is wrong with a description: the item, its key, and a sentence that names the remedy.
#pragma once

#include <slipstick/model.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/as_quoted.h"

namespace slipstick {

/// A number as a person would write it.
std::string as_text(double x);
/// "[1, 2, 3]"
std::string as_text(const Vec3& x);

class FaultList {
 public:
  void add(CompileFault fault) { faults_.push_back(std::move(fault)); }
  bool empty() const { return faults_.empty(); }
  std::vector<CompileFault> take() { return std::move(faults_); }

  /// "unknown body 'groud'; did you mean 'ground'?"
  std::string as_unknown_name(std::string_view what, std::string_view wanted, const std::vector<std::string>& known);

 private:
  std::vector<CompileFault> faults_;
  int searches_ = 0;
};

/// The checks of one item: each puts "LABEL: what must be so, not x" on the list if it fails, and says whether it held.
/// `key` is the member of the description (CompileFault::key); `words` is what the sentence calls it, if not so.
class ItemCheck {
 public:
  ItemCheck(SourceTag source, std::string label, FaultList* faults)
      : source_(source), label_(std::move(label)), faults_(faults) {}

  /// The keys that follow are those of a part of the item, as "axes[0]."; empty: of the item again.
  void set_part(std::string part) { part_ = std::move(part); }

  void fail(std::string_view key, const std::string& sentence) { add(key, sentence, false); }
  /// `wanted`, a `what`, is none of the `known` ones.
  void fail_unknown(std::string_view key, std::string_view what, std::string_view wanted,
                    const std::vector<std::string>& known);
  bool finite(std::string_view key, double x, std::string_view words = {});
  bool finite(std::string_view key, const Vec3& x, std::string_view words = {});
  bool positive(std::string_view key, double x, std::string_view words = {});
  bool not_negative(std::string_view key, double x, std::string_view words = {});
  bool within(std::string_view key, double x, double low, double high);
  /// A point or vector of a planar model has no part along z.
  bool in_plane(std::string_view key, const Vec3& x, std::string_view words = {});
  /// Formulas of t: finite at t = 0.
  bool finite(std::string_view key, const std::array<Expression, 3>& x, std::string_view words = {});

  bool good() const { return good_; }  ///< nothing failed so far
  const std::string& label() const { return label_; }

 private:
  void add(std::string_view key, const std::string& sentence, bool unknown_name);

  SourceTag source_;
  std::string label_, part_;
  FaultList* faults_;
  bool good_ = true;
};

}  // namespace slipstick
