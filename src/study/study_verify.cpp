// Runs problems with known answers, with their step and with half of it.
#include <slipstick/app/verify.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/json_text.h"
#include "report/print_text.h"
#include "report/web_text.h"
#include "study/known_problems.h"
#include "study/study_runs.h"

namespace slipstick {
namespace {

constexpr double kOrderMargin = 0.35;   ///< an observed order this far below the wanted one is worse than it
constexpr double kAccuracyMargin = 10;  ///< errors of a run up to this many times the accuracy asked for are right
constexpr int kFrames = 50;             ///< of a run with an accuracy
constexpr double kExactError = 1e-11;   ///< relative: errors below have no order

std::vector<KnownProblem> make_all_known() {
  std::vector<KnownProblem> all = make_known_mechanisms();
  for (KnownProblem& problem : make_known_contacts()) all.push_back(std::move(problem));
  return all;
}

struct KnownRun {
  std::vector<double> values;  ///< of the problem's figures; empty if it could not be finished
  long parts = 0;              ///< with an accuracy: of all steps, rejected ones included
};

/// With fixed steps of h, or with an accuracy and frames of h.
KnownRun run_known(const KnownProblem& problem, double h, double accuracy, StudyRuns* bench) {
  const std::string source = problem.scene;
  const bool shipped = source.ends_with(".yaml");
  std::optional<Scene> scene =
      shipped ? bench->load({source, problem.set, {}}) : bench->parse(source, problem.name, problem.set);
  if (!scene) return {};
  scene->options.step = h;
  scene->options.duration = problem.duration;
  if (accuracy > 0) set_accuracy(accuracy, &scene->options);
  KnownCourse course;
  KnownRun run;
  const long steps = std::lround(problem.duration / h);
  const auto look = [&](const Simulation& simulation, const StepReport* report) {
    if (report != nullptr) {
      run.parts += report->pace.parts + report->pace.rejected;
      course.events.insert(course.events.end(), simulation.events().begin(), simulation.events().end());
    }
    if (simulation.state().step != steps) return;
    course.simulation = &simulation;
    for (const KnownFigure& figure : problem.figures) run.values.push_back(figure.value(course));
  };
  const std::string label = accuracy > 0 ? print_text("accuracy %g", accuracy) : "h = " + as_power(h);
  bench->follow(*scene, label, EnergyRule::Free, look);
  return run;
}

std::string print_steps(const Verification& one) {
  if (one.accuracy > 0) return print_text("accuracy %.3g m, %ld parts", one.accuracy, one.parts);
  return print_text("step %.6g s", one.step);
}

/// The observed order where one is wanted.
std::string print_order(const VerifiedFigure& figure) {
  if (!figure.order) return "exact";
  return figure.order_wanted > 0 ? print_text("%.2f", *figure.order) : "-";
}

}  // namespace

WorldMotion KnownCourse::motion(const char* body) const {
  const int i = *simulation->model().find_body(body);
  return calc_world_motion(simulation->model().bodies[i], simulation->state().pose[i], simulation->state().velocity[i]);
}

double KnownCourse::time_of(EventKind kind, std::size_t n) const {
  for (const Event& event : events)
    if (event.kind == kind && n-- == 0) return event.time;
  return std::numeric_limits<double>::quiet_NaN();
}

bool VerifiedFigure::ok() const {
  if (!(error <= tolerance)) return false;
  return order_wanted == 0 || !order || *order >= order_wanted - kOrderMargin;
}

bool Verification::ok() const {
  return failure.empty() && std::all_of(figures.begin(), figures.end(), [](const auto& figure) { return figure.ok(); });
}

std::vector<std::string> known_problem_names() {
  std::vector<std::string> names;
  for (const KnownProblem& problem : make_all_known()) names.emplace_back(problem.name);
  return names;
}

Result<Verification> verify_problem(const std::string& name, const std::string& scenes, const StudyMonitor& monitor,
                                    double step) {
  for (const KnownProblem& problem : make_all_known()) {
    if (name != problem.name) continue;
    StudyRuns bench({problem.name, {}, {}, {}, {}, {}, 0, 0, {}}, scenes, monitor);
    // A run ends at the problem's duration: with a whole number of steps.
    const long count = std::max(1L, std::lround(problem.duration / (step > 0 ? step : problem.step)));
    const double h = step > 0 ? problem.duration / static_cast<double>(count) : problem.step;
    const std::vector<double> coarse = run_known(problem, h, 0, &bench).values;
    const std::vector<double> fine = run_known(problem, h / 2, 0, &bench).values;
    const Result<Reproduction> outcome = bench.finish();
    if (!outcome) return outcome.faults();
    Verification result{name, problem.about, h, 0, count, {}, outcome->steps, outcome->uncertified, outcome->failure};
    for (std::size_t i = 0; i < std::min(coarse.size(), fine.size()); ++i) {
      const KnownFigure& known = problem.figures[i];
      const double error = std::abs(coarse[i] - known.reference), half = std::abs(fine[i] - known.reference);
      VerifiedFigure figure{
          known.quantity, known.reference, coarse[i], error, known.tolerance, {}, known.has_order ? problem.order : 0};
      if (std::min(error, half) > kExactError * std::max(1.0, std::abs(known.reference)))
        figure.order = std::log2(error / half);
      result.figures.push_back(figure);
    }
    return result;
  }
  return Fault{{}, "no problem is called '" + name + "'"};
}

Result<Verification> verify_accuracy(const std::string& name, double accuracy, const std::string& scenes,
                                     const StudyMonitor& monitor) {
  for (const KnownProblem& problem : make_all_known()) {
    if (name != problem.name) continue;
    StudyRuns bench({problem.name, {}, {}, {}, {}, {}, 0, 0, {}}, scenes, monitor);
    const double frame = problem.duration / kFrames;
    const KnownRun run = run_known(problem, frame, accuracy, &bench);
    const Result<Reproduction> outcome = bench.finish();
    if (!outcome) return outcome.faults();
    Verification result{name,           problem.about,        frame,           accuracy, run.parts, {},
                        outcome->steps, outcome->uncertified, outcome->failure};
    for (std::size_t i = 0; i < run.values.size(); ++i) {
      const KnownFigure& known = problem.figures[i];
      const double allowed = kAccuracyMargin * accuracy * std::max(1.0, std::abs(known.reference));
      result.figures.push_back(
          {known.quantity, known.reference, run.values[i], std::abs(run.values[i] - known.reference), allowed, {}, 0});
    }
    return result;
  }
  return Fault{{}, "no problem is called '" + name + "'"};
}

std::string make_verification_text(const std::vector<Verification>& all) {
  std::string text;
  for (const Verification& one : all) {
    text += (text.empty() ? "" : "\n") + one.name + ": " + one.about + " (" + print_steps(one) + ")\n";
    text += print_text("  %-26s%17s%17s%11s%11s%7s  %s\n", "quantity", "reference", "ours", "error", "allowed", "order",
                       "verdict");
    for (const VerifiedFigure& figure : one.figures)
      text += print_text("  %-26s%17.10g%17.10g%11.2e%11.1e%7s  %s\n", figure.quantity.c_str(), figure.reference,
                         figure.ours, figure.error, figure.tolerance, print_order(figure).c_str(),
                         figure.ok() ? "right" : "WRONG");
    if (one.uncertified > 0) text += "  " + std::to_string(one.uncertified) + " steps could not be certified\n";
    if (!one.failure.empty()) text += "  " + one.failure + "\n";
  }
  return text;
}

std::string make_verification_json(const std::vector<Verification>& all) {
  JsonText json;
  json.begin_array();
  for (const Verification& one : all)
    for (const VerifiedFigure& figure : one.figures) {
      json.begin_object();
      json.field("problem", std::string_view(one.name));
      json.field("quantity", std::string_view(figure.quantity));
      json.field("step", one.step);
      if (one.accuracy > 0) json.field("accuracy", one.accuracy);
      json.field("parts", one.parts);
      json.field("reference", figure.reference);
      json.field("ours", figure.ours);
      json.field("error", figure.error);
      json.field("allowed", figure.tolerance);
      json.field("order", figure.order.value_or(std::nan("")));
      json.field("ok", figure.ok());
      json.end_object();
    }
  json.end_array();
  return json.text() + "\n";
}

Faults save_verification(const std::string& folder, const std::vector<Verification>& all) {
  std::string html = make_page_head("Slipstick: known answers", "Problems with known answers");
  for (const Verification& one : all) {
    html += "<h3>" + one.name + "</h3>\n<p>" + escape_html(one.about) + "; " + print_steps(one) +
            (one.failure.empty() ? "" : ". <b class=bad>" + escape_html(one.failure) + "</b>") + "</p>\n" +
            "<table><tr><th>quantity<th>reference<th>ours<th>error<th>allowed<th>order<th>verdict</tr>\n";
    for (const VerifiedFigure& figure : one.figures)
      html += "<tr><td>" + escape_html(figure.quantity) +
              print_text("<td>%.10g<td>%.10g<td>%.2e<td>%.1e<td>%s<td class=%s</tr>\n", figure.reference, figure.ours,
                         figure.error, figure.tolerance, print_order(figure).c_str(),
                         figure.ok() ? "ok>right" : "bad>wrong");
    html += "</table>\n";
  }
  return save_page(folder, "verify.html", html + "</html>\n");
}

}  // namespace slipstick
