// Collects what is wrong with a description, in sentences that name the item and the remedy.
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
  void add(SourceTag source, std::string message);
  bool empty() const { return faults_.empty(); }
  std::vector<CompileFault> take() { return std::move(faults_); }

  /// "unknown body 'groud'; did you mean 'ground'?"
  std::string as_unknown_name(std::string_view what, std::string_view wanted, const std::vector<std::string>& known);

 private:
  std::vector<CompileFault> faults_;
  int searches_ = 0;
};

/// The checks of one item: each puts "LABEL: what must be so, not x" on the list if it fails, and says whether it held.
class ItemCheck {
 public:
  ItemCheck(SourceTag source, std::string label, FaultList* faults)
      : source_(source), label_(std::move(label)), faults_(faults) {}

  void fail(const std::string& sentence);
  bool finite(std::string_view what, double x);
  bool finite(std::string_view what, const Vec3& x);
  bool positive(std::string_view what, double x);
  bool not_negative(std::string_view what, double x);
  bool within(std::string_view what, double x, double low, double high);
  /// A point or vector of a planar model has no part along z.
  bool in_plane(std::string_view what, const Vec3& x);
  /// Formulas of t: finite at t = 0.
  bool finite(std::string_view what, const std::array<Expression, 3>& x);

  bool good() const { return good_; }  ///< nothing failed so far
  SourceTag source() const { return source_; }
  const std::string& label() const { return label_; }
  FaultList* faults() const { return faults_; }

 private:
  SourceTag source_;
  std::string label_;
  FaultList* faults_;
  bool good_ = true;
};

}  // namespace slipstick
