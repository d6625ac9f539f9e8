#include "closest.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace {

/// Insertions, deletions and replacements from one text to the other.
std::size_t calc_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');)
    if (!name.empty()) names.push_back(name);
  return names;
}

std::string make_hint(const std::string& typed, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, typed.size() / 2) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = name.starts_with(typed) ? 1 : calc_distance(typed, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}
