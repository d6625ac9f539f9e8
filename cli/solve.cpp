#include "closest.h"
#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/problem_file.h>
#include <slipstick/app/solve_profile.h>
#include <slipstick/app/solve_report.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>

namespace {

void say_faults(const slipstick::Faults& faults) {
  for (const slipstick::Fault& fault : faults) say(fault.text());
}

/// "1e-4,1e-8" to numbers; nothing if one is none.
std::optional<std::vector<double>> read_list(const std::string& text) {
  std::vector<double> numbers;
  std::size_t first = 0;
  while (first <= text.size() && !text.empty()) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    std::string fault;
    const std::optional<double> number = read_expression("--tol", text.substr(first, comma - first), &fault);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    first = comma + 1;
  }
  return numbers;
}

/// Everything about the options that can be wrong before a file is read.
bool check_options(const SolveArguments& arguments) {
  bool good = true;
  const auto require = [&good](bool right, const std::string& text) {
    if (!right) say("solve", text);
    good = good && right;
  };
  require(arguments.problem.empty() != arguments.profile.empty(),
          "give either a PROBLEM file or --profile FOLDER; see 'slipstick solve --help'");
  const auto tolerances = read_list(arguments.tolerances);
  bool within = tolerances.has_value();
  for (const double tolerance : tolerances.value_or(std::vector<double>{}))
    within = within && tolerance > 0 && tolerance < 1;
  require(within, "--tol '" + arguments.tolerances + "': must lie between 0 and 1");
  require(!within || tolerances->size() <= 1 || !arguments.profile.empty(), "--tol: a list is for --profile only");
  require(arguments.time_limit > 0, "--time-limit must be a positive time in seconds");
  require(arguments.repeat.value_or(1) >= 1, "--repeat must be at least 1");
  require(arguments.threads >= 1 && arguments.threads <= 1024, "--threads must be from 1 to 1024");
  std::vector<std::string> names{"all"};
  for (const std::string_view name : slipstick::solver_choices()) names.emplace_back(name);
  const bool known = std::find(names.begin(), names.end(), arguments.solver) != names.end();
  std::string list;
  for (const std::string& name : names) list += " " + name;
  require(known,
          "unknown solver '" + arguments.solver + "'" + make_hint(arguments.solver, names) + " (known:" + list + ")");
  const std::string ending = std::filesystem::path(arguments.output).extension().string();
  require(arguments.profile.empty() || arguments.output.empty() || ending == ".png" || ending == ".svg",
          arguments.output + ": a picture's name must end in .png or .svg");
  std::error_code code;
  const bool same =
      !arguments.output.empty() &&
      (arguments.output == arguments.problem || std::filesystem::equivalent(arguments.output, arguments.problem, code));
  require(!same, arguments.output + ": is the problem itself; choose another name");
  return good;
}

slipstick::SolveRequest make_request(const SolveArguments& arguments) {
  slipstick::SolveRequest request;
  request.solver = arguments.solver;
  if (!arguments.tolerances.empty()) request.tolerance = read_list(arguments.tolerances)->front();
  request.time_limit = arguments.time_limit;
  request.threads = arguments.threads;
  request.repeat = arguments.repeat.value_or(arguments.solver == "all" || !arguments.profile.empty() ? 0 : 1);
  request.use_guess = arguments.guess;
  return request;
}

int solve_one(const SolveArguments& arguments) {
  const slipstick::Result<slipstick::ProblemFile> file = slipstick::load_problem(arguments.problem);
  if (!file) {
    say_faults(file.faults());
    return kBadInput;
  }
  const slipstick::SolveRequest request = make_request(arguments);
  std::vector<slipstick::SolveRun> runs;
  if (arguments.solver == "all") {
    runs = slipstick::solve_with_all(*file, request);
  } else {
    runs.push_back(slipstick::solve_problem(*file, request));
  }
  const slipstick::SolveRun& best = runs[slipstick::find_best(runs)];
  bool good = write_out(arguments.json ? slipstick::make_solve_json(*file, runs)
                                       : slipstick::make_solve_text(*file, runs, request.tolerance));
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

/// Reports on all problems of a folder. Problems that nobody solves are part of the answer, not a failure.
int solve_folder(const SolveArguments& arguments) {
  const std::vector<std::string> paths = slipstick::list_problems(arguments.profile);
  if (paths.empty()) {
    say("solve", arguments.profile + ": no such folder, or no problem files (*.hdf5, *.h5) in it");
    return kBadInput;
  }
  std::vector<double> tolerances = *read_list(arguments.tolerances);
  if (tolerances.empty()) tolerances = {1e-4, 1e-8};
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const slipstick::SolveProfile profile =
      slipstick::make_profile(paths, tolerances, make_request(arguments), [&](const std::string& path) {
        if (terminal) say("solve", path);
      });
  say_faults(profile.faults);
  if (profile.entries.empty()) return kBadInput;
  bool good = write_out(arguments.json ? slipstick::make_profile_json(profile) : slipstick::make_profile_text(profile));
  if (!arguments.output.empty()) {
    const slipstick::Faults faults = slipstick::save_plot(arguments.output, slipstick::make_profile_plots(profile));
    say_faults(faults);
    good = good && faults.empty();
  }
  return good && profile.faults.empty() ? kDone : kFailed;
}

}  // namespace

int solve(const SolveArguments& arguments) {
  if (!check_options(arguments)) return kBadInput;
  return arguments.profile.empty() ? solve_one(arguments) : solve_folder(arguments);
}
