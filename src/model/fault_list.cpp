#include "model/fault_list.h"

#include <cmath>
#include <cstdio>

#include "base/closest_name.h"

namespace slipstick {
namespace {

// Each search looks at every name; after so many the reader has been helped enough and the cost stays linear.
constexpr int kMostSearches = 100;

}  // namespace

std::string as_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

std::string as_text(const Vec3& x) {
  char text[96];
  std::snprintf(text, sizeof text, "[%.9g, %.9g, %.9g]", x.x(), x.y(), x.z());
  return text;
}

void FaultList::add(SourceTag source, std::string message) { faults_.push_back({source, std::move(message)}); }

std::string FaultList::as_unknown_name(std::string_view what, std::string_view wanted,
                                       const std::vector<std::string>& known) {
  std::string text = "unknown " + std::string(what) + " " + as_quoted(wanted);
  if (searches_++ >= kMostSearches) return text;
  if (const auto near = closest_name(wanted, known)) text += "; did you mean " + as_quoted(*near) + "?";
  return text;
}

void ItemCheck::fail(const std::string& sentence) {
  good_ = false;
  faults_->add(source_, label_ + ": " + sentence);
}

bool ItemCheck::finite(std::string_view what, double x) {
  if (std::isfinite(x)) return true;
  fail(std::string(what) + " must be a finite number, not " + as_text(x));
  return false;
}

bool ItemCheck::finite(std::string_view what, const Vec3& x) {
  if (x.allFinite()) return true;
  fail(std::string(what) + " must be finite numbers, not " + as_text(x));
  return false;
}

bool ItemCheck::positive(std::string_view what, double x) {
  if (!finite(what, x)) return false;
  if (x > 0) return true;
  fail(std::string(what) + " must be positive, not " + as_text(x));
  return false;
}

bool ItemCheck::not_negative(std::string_view what, double x) {
  if (!finite(what, x)) return false;
  if (x >= 0) return true;
  fail(std::string(what) + " must not be negative, but is " + as_text(x));
  return false;
}

bool ItemCheck::within(std::string_view what, double x, double low, double high) {
  if (!finite(what, x)) return false;
  if (x >= low && x <= high) return true;
  fail(std::string(what) + " must be between " + as_text(low) + " and " + as_text(high) + ", not " + as_text(x));
  return false;
}

bool ItemCheck::in_plane(std::string_view what, const Vec3& x) {
  if (x.z() == 0) return true;
  fail(std::string(what) + " must lie in the x-y plane of a planar model, not at z = " + as_text(x.z()));
  return false;
}

bool ItemCheck::finite(std::string_view what, const std::array<Expression, 3>& x) {
  const Vec3 start(x[0].at(0), x[1].at(0), x[2].at(0));
  if (start.allFinite()) return true;
  fail(std::string(what) + " must be finite numbers at t = 0, not " + as_text(start));
  return false;
}

}  // namespace slipstick
