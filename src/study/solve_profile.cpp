#include <slipstick/app/solve_profile.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "report/json_text.h"
#include "report/print_text.h"

namespace slipstick {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kWidest = 1e4;  // the axis of times ends here at the latest

/// Time over the best time, for each problem at this tolerance; infinite where it was not solved.
std::vector<double> calc_ratios(const SolveProfile& profile, double tolerance, std::size_t solver) {
  std::vector<double> ratios;
  for (const ProfileEntry& entry : profile.entries) {
    if (entry.tolerance != tolerance) continue;
    double best = kNever;
    for (const SolveRun& run : entry.runs)
      if (run.solved()) best = std::min(best, run.cpu_ms);
    const SolveRun& run = entry.runs[solver];
    ratios.push_back(run.solved() ? run.cpu_ms / best : kNever);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

std::string short_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

std::vector<std::string> list_problems(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".hdf5" || ending == ".h5") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

SolveProfile make_profile(const std::vector<std::string>& paths, const std::vector<double>& tolerances,
                          const SolveRequest& request, const std::function<void(const std::string&)>& progress) {
  SolveProfile profile;
  profile.tolerances = tolerances;
  for (const std::string_view name : solver_choices()) profile.solvers.emplace_back(name);
  for (const std::string& path : paths) {
    if (progress) progress(path);
    const Result<ProblemFile> file = load_problem(path);
    if (!file) {
      profile.faults.insert(profile.faults.end(), file.faults().begin(), file.faults().end());
      continue;
    }
    for (const double tolerance : tolerances) {
      SolveRequest one = request;
      one.tolerance = tolerance;
      ProfileEntry entry{path, tolerance, solve_with_all(*file, one)};
      for (SolveRun& run : entry.runs) {
        run.solution = {};
        if (!run.solved() || run.cpu_ms <= 1e3 * request.time_limit) continue;
        run.status = name_of(SolveStatus::NotConverged);  // not every solver can be stopped: late is late
        run.note = "time limit";
      }
      profile.entries.push_back(std::move(entry));
    }
  }
  return profile;
}

std::vector<Plot> make_profile_plots(const SolveProfile& profile) {
  double widest = 10;
  for (const double tolerance : profile.tolerances)
    for (std::size_t s = 0; s < profile.solvers.size(); ++s)
      for (const double ratio : calc_ratios(profile, tolerance, s))
        if (ratio != kNever) widest = std::clamp(1.5 * ratio, widest, kWidest);
  std::vector<Plot> panels;
  for (const double tolerance : profile.tolerances) {
    Plot plot;
    plot.title = "relative residual " + print_text("%.0e", tolerance);
    plot.x = {"CPU time / best CPU time", true, 1.0, widest};
    plot.y = {"part of the problems solved", false, -0.02, 1.02};
    for (std::size_t s = 0; s < profile.solvers.size(); ++s) {
      const std::vector<double> ratios = calc_ratios(profile, tolerance, s);
      const double count = static_cast<double>(std::max<std::size_t>(ratios.size(), 1));
      PlotLine line;
      line.label = profile.solvers[s];
      line.steps = true;
      line.dashed = s == 0;  // auto: a choice of the others
      double solved = 0;
      for (const double ratio : ratios) solved += ratio <= 1 ? 1 : 0;
      line.x.push_back(1);
      line.y.push_back(solved / count);
      for (const double ratio : ratios) {
        if (ratio <= 1 || ratio == kNever) continue;
        line.x.push_back(ratio);
        line.y.push_back(++solved / count);
      }
      line.x.push_back(widest);
      line.y.push_back(solved / count);
      plot.lines.push_back(std::move(line));
    }
    panels.push_back(std::move(plot));
  }
  return panels;
}

std::string make_profile_text(const SolveProfile& profile) {
  std::string text;
  for (const double tolerance : profile.tolerances) {
    text +=
        print_text("To %g: CPU ms, or the residual in brackets where it is not solved\n%-42s", tolerance, "problem");
    for (const std::string& solver : profile.solvers) text += print_text("%13s", solver.c_str());
    text += "\n";
    int problems = 0;
    std::vector<int> solved(profile.solvers.size(), 0);
    for (const ProfileEntry& entry : profile.entries) {
      if (entry.tolerance != tolerance) continue;
      ++problems;
      text += print_text("%-42.41s", short_name(entry.problem).c_str());
      for (std::size_t s = 0; s < entry.runs.size(); ++s) {
        const SolveRun& run = entry.runs[s];
        solved[s] += run.solved() ? 1 : 0;
        text += run.solved()                  ? print_text("%13.3f", run.cpu_ms)
                : run.status == "unsupported" ? print_text("%13s", "-")
                                              : print_text("%13s", print_text("(%.1e)", run.residual).c_str());
      }
      text += "\n";
    }
    text += print_text("%-42s", ("solved of " + std::to_string(problems)).c_str());
    for (const int count : solved) text += print_text("%13d", count);
    text += "\n\n";
  }
  return text;
}

std::string make_profile_json(const SolveProfile& profile) {
  JsonText json;
  json.begin_array();
  for (const ProfileEntry& entry : profile.entries)
    for (const SolveRun& run : entry.runs) {
      json.begin_object(true);
      json.field("problem", std::string_view(entry.problem));
      json.field("tolerance", entry.tolerance);
      json.field("solver", std::string_view(run.solver));
      json.field("status", std::string_view(run.status));
      json.field("residual", run.residual);
      json.field("iterations", run.iterations);
      json.field("ms", run.ms);
      json.field("cpu_ms", run.cpu_ms);
      json.end_object();
    }
  json.end_array();
  return json.text() + "\n";
}

}  // namespace slipstick
