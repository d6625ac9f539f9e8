#include "model/fault_list.h"

#include <cmath>
#include <cstdio>

#include "base/closest_name.h"

namespace slipstick {
namespace {

// Each search looks at every name; after so many the reader has been helped enough and the cost stays linear.
constexpr int kMostSearches = 100;

std::string as_subject(std::string_view key, std::string_view words) {
  return std::string(words.empty() ? key : words);
}

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

std::string FaultList::as_unknown_name(std::string_view what, std::string_view wanted,
                                       const std::vector<std::string>& known) {
  std::string text = "unknown " + std::string(what) + " " + as_quoted(wanted);
  if (searches_++ >= kMostSearches) return text;
  if (const auto near = closest_name(wanted, known)) text += "; did you mean " + as_quoted(*near) + "?";
  return text;
}

void ItemCheck::add(std::string_view key, const std::string& sentence, bool unknown_name) {
  good_ = false;
  faults_->add({source_, label_, part_ + std::string(key), label_ + ": " + sentence, unknown_name});
}

void ItemCheck::fail_unknown(std::string_view key, std::string_view what, std::string_view wanted,
                             const std::vector<std::string>& known) {
  add(key, faults_->as_unknown_name(what, wanted, known), true);
}

bool ItemCheck::finite(std::string_view key, double x, std::string_view words) {
  if (std::isfinite(x)) return true;
  fail(key, as_subject(key, words) + " must be a finite number, not " + as_text(x));
  return false;
}

bool ItemCheck::finite(std::string_view key, const Vec3& x, std::string_view words) {
  if (x.allFinite()) return true;
  fail(key, as_subject(key, words) + " must be finite numbers, not " + as_text(x));
  return false;
}

bool ItemCheck::positive(std::string_view key, double x, std::string_view words) {
  if (!finite(key, x, words)) return false;
  if (x > 0) return true;
  fail(key, as_subject(key, words) + " must be positive, not " + as_text(x));
  return false;
}

bool ItemCheck::not_negative(std::string_view key, double x, std::string_view words) {
  if (!finite(key, x, words)) return false;
  if (x >= 0) return true;
  fail(key, as_subject(key, words) + " must not be negative, but is " + as_text(x));
  return false;
}

bool ItemCheck::within(std::string_view key, double x, double low, double high) {
  if (!finite(key, x)) return false;
  if (x >= low && x <= high) return true;
  fail(key, std::string(key) + " must be between " + as_text(low) + " and " + as_text(high) + ", not " + as_text(x));
  return false;
}

bool ItemCheck::in_plane(std::string_view key, const Vec3& x, std::string_view words) {
  if (x.z() == 0) return true;
  fail(key, as_subject(key, words) + " must lie in the x-y plane of a planar model, not at z = " + as_text(x.z()));
  return false;
}

bool ItemCheck::finite(std::string_view key, const std::array<Expression, 3>& x, std::string_view words) {
  const Vec3 start(x[0].at(0), x[1].at(0), x[2].at(0));
  const bool waits = x[0].has_readings() || x[1].has_readings() || x[2].has_readings();  // for what it will see
  if (waits || start.allFinite()) return true;
  fail(key, as_subject(key, words) + " must be finite numbers at t = 0, not " + as_text(start));
  return false;
}

}  // namespace slipstick
