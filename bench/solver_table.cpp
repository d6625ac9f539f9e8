// Prints docs/solver_table.md: each registered solver on each class of the test matrix, accuracy and CPU time.
// tools/solver_table builds and runs it.
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>

#include "matrix/problem_classes.h"

namespace {

using namespace slipstick;

constexpr double kTolerance = 1e-8;

struct Cell {
  int problems = 0, certified = 0, unsupported = 0;
  double worst = 0;             // relative residual of the certified
  std::vector<double> seconds;  // of the certified
};

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(std::string_view solver, const Problem& problem, Cell* cell) {
  LadderOptions options;
  options.solver = solver;
  options.time_limit = 2;
  double best = 1e300;
  LadderResult result;
  for (int k = 0; k < 3; ++k) {
    SolverLadder ladder(options);
    Solution answer;
    const double start = cpu_now();
    result = ladder.solve(problem, &answer);
    best = std::min(best, cpu_now() - start);
  }
  ++cell->problems;
  if (result.unsupported) ++cell->unsupported;
  if (!result.certified) return;
  ++cell->certified;
  cell->worst = std::max(cell->worst, result.residual.relative);
  cell->seconds.push_back(best);
}

double median_ms(const Cell& cell) {
  std::vector<double> sorted = cell.seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? INFINITY : 1e3 * sorted[sorted.size() / 2];
}

std::string cell_text(const Cell& cell) {
  char text[96];
  if (cell.unsupported == cell.problems) return "cannot";
  if (cell.certified == 0) return "0 of " + std::to_string(cell.problems);
  std::snprintf(text, sizeof text, "%d of %d, %.3g ms, %.0e", cell.certified, cell.problems, median_ms(cell),
                cell.worst);
  return text;
}

std::string laws_of(const SolverTraits& traits) {
  std::string text;
  const auto add = [&text](bool can, const char* what) {
    if (can) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(traits.cone, "cone");
  add(traits.pyramid, "pyramid");
  add(traits.box_friction, "box");
  return text;
}

}  // namespace

int main() {
  const std::vector<std::string_view> solvers = solver_choices();
  std::map<std::string, std::map<std::string_view, Cell>> table;
  std::map<std::string, std::pair<int, int>> sizes;
  for (const std::string& name : problem_class_names()) {
    if (name == "files" || name == "impossible") continue;
    int low = 1 << 30, high = 0;
    for (const NamedProblem& named : problem_class(name)) {
      low = std::min(low, named.problem.rows());
      high = std::max(high, named.problem.rows());
      for (const std::string_view solver : solvers) measure(solver, named.problem, &table[name][solver]);
    }
    sizes[name] = {low, high};
  }

  std::printf(
      "# Solvers and problem classes\n\nMade by `tools/solver_table`; do not edit. Each cell: problems certified "
      "to %g by the judge, median CPU time of those from a cold start, worst relative residual of those. The "
      "problems are those of `tests/matrix`; a time limit of 2 s applies.\n\n| problems | rows |",
      kTolerance);
  for (const std::string_view solver : solvers) std::printf(" %s |", std::string(solver).c_str());
  std::printf("\n|---|---|");
  for (std::size_t k = 0; k < solvers.size(); ++k) std::printf("---|");
  std::printf("\n");
  std::map<std::string_view, std::string> fastest, complete;
  for (const std::string& name : problem_class_names()) {
    if (table.count(name) == 0) continue;
    std::printf("| %s | %d to %d |", name.c_str(), sizes[name].first, sizes[name].second);
    std::string_view best;
    for (const std::string_view solver : solvers) {
      const Cell& cell = table[name][solver];
      std::printf(" %s |", cell_text(cell).c_str());
      if (cell.certified < cell.problems || solver == "auto") continue;
      complete[solver] += (complete[solver].empty() ? "" : ", ") + name;
      if (best.empty() || median_ms(cell) < median_ms(table[name][best])) best = solver;
    }
    if (!best.empty()) fastest[best] += (fastest[best].empty() ? "" : ", ") + name;
    std::printf("\n");
  }

  std::printf(
      "\n## When to use which\n`auto` unless you compare: it tries the solvers of its ladder in turn until the "
      "judge is content. The columns below follow from the table.\n\n| solver | friction laws | non-symmetric A "
      "| local form | solves all of | fastest of those on | method |\n|---|---|---|---|---|---|---|\n");
  for (const std::string_view name : solver_names()) {
    const SolverTraits traits = make_solver(name)->traits();
    std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", std::string(name).c_str(), laws_of(traits).c_str(),
                traits.nonsymmetric ? "yes" : "no", traits.local_form ? "yes" : "no", complete[name].c_str(),
                fastest[name].c_str(), std::string(traits.citation).c_str());
  }
  return 0;
}
