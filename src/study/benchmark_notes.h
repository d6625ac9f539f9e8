// What the texts and the page of benchmarks say about a row and about a scene.
#pragma once

#include <slipstick/app/benchmark.h>

namespace slipstick {

/// It has figures that may stand beside others: it did not fail, and was not cut short before half of what the one that
/// came farthest simulated. (Who never comes to the blow has no errors.)
bool is_comparable(const BenchmarkTable& table, const BenchmarkFigures& row);
/// Of the steps: "all", a percentage, or "-" from an engine that certifies nothing.
std::string print_certified(const BenchmarkFigures& row);
/// Why it ended early; empty: it did not.
std::string make_note(const BenchmarkTable& table, const BenchmarkFigures& row);

/// A scene in one line. Null: there is none.
struct BenchmarkSummary {
  BenchmarkError error;
  const BenchmarkFigures *ours, *quickest, *best;
  std::string_view verdict;
};
BenchmarkSummary summarize(const BenchmarkTable& table);

}  // namespace slipstick
