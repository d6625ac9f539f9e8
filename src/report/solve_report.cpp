#include <slipstick/app/solve_report.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/cpu_time.h"
#include "report/json_text.h"
#include "report/part_json.h"
#include "report/print_text.h"

namespace slipstick {

namespace {

constexpr double kEnough = 200;  // ms

std::string_view form_name(ProblemForm form) {
  return form == ProblemForm::Local ? "local" : form == ProblemForm::Global ? "global" : "plain";
}

std::string status_of(const LadderResult& result) {
  const SolveStatus status = result.certified     ? SolveStatus::Solved
                             : result.unsupported ? SolveStatus::Unsupported
                                                  : SolveStatus::NotConverged;
  return std::string(name_of(status));
}

/// The worst part with the file's own number of its contact or row.
void add_worst(const ProblemFile& file, const WorstPart& worst, JsonText* json) {
  json->key("worst");
  if (worst.part == LawPart::None) return json->null();
  json->begin_object(true);
  json->field("island", worst.island);
  if (worst.block >= 0) {
    const int row = file.problem.blocks[worst.block].row;
    const auto find = [row](const std::vector<int>& rows) {
      return std::find(rows.begin(), rows.end(), row) - rows.begin();
    };
    const std::size_t at = find(file.rows), equality = find(file.equalities);
    if (at < file.rows.size() && file.dimension > 0 && at < static_cast<std::size_t>(file.contacts * file.dimension))
      json->field("contact", at / file.dimension);
    if (at < file.rows.size()) json->field("row", at);
    if (equality < file.equalities.size()) json->field("equality", equality);
  }
  add_part(worst, json);
  json->end_object();
}

void add_run(const ProblemFile& file, const SolveRun& run, JsonText* json) {
  json->field("solver", std::string_view(run.solver));
  json->field("solved_by", std::string_view(run.solved_by));
  json->field("status", std::string_view(run.status));
  json->field("note", std::string_view(run.note));
  json->field("residual", run.residual);
  add_worst(file, run.worst, json);
  json->field("iterations", run.iterations);
  json->field("escalations", run.escalations);
  json->field("ms", run.ms);
  json->field("cpu_ms", run.cpu_ms);
}

}  // namespace

SolveRun solve_problem(const ProblemFile& file, const SolveRequest& request) {
  SolveRun run;
  run.solver = request.solver;
  LadderOptions options;
  options.solver = request.solver;
  options.tolerance = request.tolerance;
  options.threads = request.threads;
  options.time_limit = request.time_limit;
  const int repeat = request.repeat > 0 ? request.repeat : 3;
  double spent = 0;  // ms
  for (int k = 0; k < repeat && (k == 0 || request.repeat > 0 || spent < kEnough); ++k) {
    SolverLadder ladder(options);
    Solution solution;
    if (request.use_guess) solution = file.guess;
    const auto start = std::chrono::steady_clock::now();
    const double cpu = read_cpu_seconds();
    const LadderResult result = ladder.solve(file.problem, &solution);
    const double cpu_ms = 1e3 * (read_cpu_seconds() - cpu + file.condense_seconds);
    const double ms =
        1e3 * (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() + file.condense_seconds);
    spent += ms;
    run.ms = k == 0 ? ms : std::min(ms, run.ms);
    run.cpu_ms = k == 0 ? cpu_ms : std::min(cpu_ms, run.cpu_ms);
    if (k > 0) continue;
    run.status = status_of(result);
    run.solved_by = result.solver;
    run.note = result.note;
    run.residual = result.residual.relative;
    run.worst = result.residual.worst;
    run.iterations = result.iterations;
    run.escalations = result.escalations;
    run.solution = std::move(solution);
  }
  return run;
}

std::vector<SolveRun> solve_with_all(const ProblemFile& file, const SolveRequest& request) {
  std::vector<SolveRun> runs;
  for (const std::string_view name : solver_choices()) {
    SolveRequest one = request;
    one.solver = std::string(name);
    runs.push_back(solve_problem(file, one));
  }
  return runs;
}

std::size_t find_best(const std::vector<SolveRun>& runs) {
  const auto better = [](const SolveRun& a, const SolveRun& b) {
    if (a.solved() != b.solved()) return a.solved();
    return a.solved() ? a.ms < b.ms : a.residual < b.residual;
  };
  return std::min_element(runs.begin(), runs.end(), better) - runs.begin();
}

std::string make_solve_json(const ProblemFile& file, const std::vector<SolveRun>& runs) {
  const SolveRun& best = runs[find_best(runs)];
  const ProblemAnswer answer = make_answer(file, best.solution);
  JsonText json;
  json.begin_object();
  json.field("problem", std::string_view(file.path));
  json.field("form", form_name(file.form));
  json.field("contacts", file.contacts);
  json.field("rows", file.rows.size());
  json.field("equalities", file.equalities.size());
  json.field("condensed", file.condensed);
  add_run(file, best, &json);
  json.field("reaction", std::span<const double>(answer.reaction));
  json.field("velocity", std::span<const double>(answer.velocity));
  if (!answer.multipliers.empty()) json.field("multipliers", std::span<const double>(answer.multipliers));
  if (!answer.unknowns.empty()) json.field("unknowns", std::span<const double>(answer.unknowns));
  if (runs.size() > 1) {
    json.key("solvers");
    json.begin_array();
    for (const SolveRun& run : runs) {
      json.begin_object(true);
      add_run(file, run, &json);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return json.text() + "\n";
}

std::string make_solve_text(const ProblemFile& file, const std::vector<SolveRun>& runs, double tolerance) {
  std::string text = file.path + ": " + std::string(form_name(file.form)) + " form, " + std::to_string(file.contacts) +
                     " contacts" + (file.dimension > 0 ? " in " + std::to_string(file.dimension) + "-D" : "") + ", " +
                     std::to_string(file.rows.size()) + " rows";
  if (!file.equalities.empty()) text += ", " + std::to_string(file.equalities.size()) + " equalities";
  if (file.condensed) text += " (M condensed)";
  text += "\n";
  const std::size_t best = find_best(runs);
  const auto line = [&](const SolveRun& run, bool marked) {
    return print_text("%c %-12s %-14s %9.2e %11d %11.3f  %s\n", marked ? '*' : ' ', run.solver.c_str(),
                      run.status.c_str(), run.residual, run.iterations, run.ms, run.note.c_str());
  };
  text += print_text("  %-12s %-14s %9s %11s %11s\n", "solver", "status", "residual", "iterations", "ms");
  for (std::size_t k = 0; k < runs.size(); ++k) text += line(runs[k], runs.size() > 1 && k == best);
  if (runs.size() > 1) {
    text += runs[best].solved() ? "  * the fastest of those that the judge certifies to "
                                : "  * the smallest residual: none is certified to ";
    text += print_text("%g\n", tolerance);
  }
  return text;
}

}  // namespace slipstick
