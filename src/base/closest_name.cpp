#include "base/closest_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace slipstick {
namespace {

constexpr std::size_t kLongestName = 64;  // longer names are no typing slips, and the cost stays bounded
using Row = std::array<std::size_t, kLongestName + 1>;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Edit distance with swaps of neighbours (optimal string alignment), ignoring letter case.
std::size_t calc_distance(std::string_view a, std::string_view b) {
  Row before_last{}, last{}, now{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      now[j] = std::min({replace, last[j] + 1, now[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> closest_name(std::string_view wanted, const std::vector<std::string>& known) {
  if (wanted.empty() || wanted.size() > kLongestName) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& name : known) {
    if (name.empty() || name.size() > kLongestName) continue;
    const std::size_t longer = std::max(name.size(), wanted.size());
    const std::size_t shorter = std::min(name.size(), wanted.size());
    const std::size_t limit = longer / 3;
    if (longer - shorter > limit) continue;
    const std::size_t distance = calc_distance(wanted, name);
    if (distance > limit || (best && distance >= best_distance)) continue;
    best = &name;
    best_distance = distance;
    if (distance == 0) break;
  }
  if (!best) return std::nullopt;
  return *best;
}

}  // namespace slipstick
