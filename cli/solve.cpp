#include "closest.h"
#include "commands.h"
#include "terminal.h"

#include <slipstick/problem_file.h>
#include <slipstick/solve_report.h>

#include <cmath>
#include <filesystem>

namespace {

void say_faults(const slipstick::Faults& faults) {
  for (const slipstick::Fault& fault : faults) say(fault.text());
}

/// Everything about the options that can be wrong before a file is read.
bool check_options(const SolveArguments& arguments) {
  bool good = true;
  const auto require = [&good](bool right, const std::string& text) {
    if (!right) say("solve", text);
    good = good && right;
  };
  require(arguments.tolerance > 0 && arguments.tolerance < 1, "--tol must lie between 0 and 1");
  require(arguments.time_limit > 0, "--time-limit must be a positive time in seconds");
  require(arguments.repeat >= 1, "--repeat must be at least 1");
  require(arguments.threads >= 1 && arguments.threads <= 1024, "--threads must be from 1 to 1024");
  std::vector<std::string> names{"all"};
  for (const std::string_view name : slipstick::solver_choices()) names.emplace_back(name);
  const bool known = std::find(names.begin(), names.end(), arguments.solver) != names.end();
  std::string list;
  for (const std::string& name : names) list += " " + name;
  require(known,
          "unknown solver '" + arguments.solver + "'" + make_hint(arguments.solver, names) + " (known:" + list + ")");
  std::error_code code;
  const bool same =
      !arguments.output.empty() &&
      (arguments.output == arguments.problem || std::filesystem::equivalent(arguments.output, arguments.problem, code));
  require(!same, arguments.output + ": is the problem itself; choose another name");
  return good;
}

}  // namespace

int solve(const SolveArguments& arguments) {
  if (!check_options(arguments)) return kBadInput;
  const slipstick::Result<slipstick::ProblemFile> file = slipstick::load_problem(arguments.problem);
  if (!file) {
    say_faults(file.faults());
    return kBadInput;
  }
  slipstick::SolveRequest request;
  request.solver = arguments.solver;
  request.tolerance = arguments.tolerance;
  request.time_limit = arguments.time_limit;
  request.threads = arguments.threads;
  request.repeat = arguments.repeat;
  request.use_guess = arguments.guess;
  std::vector<slipstick::SolveRun> runs;
  if (arguments.solver == "all") {
    runs = slipstick::solve_with_all(*file, request);
  } else {
    runs.push_back(slipstick::solve_problem(*file, request));
  }
  const slipstick::SolveRun& best = runs[slipstick::find_best(runs)];
  bool good = write_out(arguments.json ? slipstick::make_solve_json(*file, runs)
                                       : slipstick::make_solve_text(*file, runs, arguments.tolerance));
  if (!arguments.output.empty()) {
    const slipstick::Faults faults =
        slipstick::save_answer(arguments.output, slipstick::make_answer(*file, best.solution),
                               {arguments.problem, best.solver, best.status, best.residual});
    say_faults(faults);
    good = good && faults.empty();
  }
  if (!best.solved())
    say("solve", arguments.problem + ": " + best.status + (best.note.empty() ? "" : " (" + best.note + ")"));
  return best.solved() && good ? kDone : kFailed;
}
