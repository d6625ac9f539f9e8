// Studies as tables for a person, as JSON, and as plots.
#include <slipstick/app/study.h>

#include "report/json_text.h"
#include "report/print_text.h"

#include <cmath>

namespace slipstick {
namespace {

/// error(h) / error(h/2); nothing (NaN) where there is no such number.
double calc_ratio(const std::vector<double>& errors, std::size_t k) {
  return k > 0 && errors[k] > 0 && errors[k - 1] > 0 ? errors[k - 1] / errors[k] : std::nan("");
}

std::string print_ratio(const std::vector<double>& errors, std::size_t k) {
  const double ratio = calc_ratio(errors, k);
  if (std::isnan(ratio)) return print_text("%8s%7s", "-", "-");
  return print_text("%8.3g%7.2f", ratio, std::log2(ratio));
}

void put_errors(const char* name, const std::vector<double>& errors, JsonText* json) {
  std::vector<double> ratio, order;
  for (std::size_t k = 1; k < errors.size(); ++k) {
    ratio.push_back(calc_ratio(errors, k));
    order.push_back(std::log2(ratio.back()));
  }
  json->field(std::string(name) + "_error", std::span<const double>(errors));
  json->field(std::string(name) + "_ratio", std::span<const double>(ratio));
  json->field(std::string(name) + "_order", std::span<const double>(order));
}

}  // namespace

std::string make_convergence_text(const ConvergenceStudy& study) {
  std::string text = study.scene + ", " + study.scheme + ", to t = " + print_text("%.6g", study.time) +
                     " s, against step " + print_text("%.6g", study.reference) + " s\n";
  for (const StudyQuantity& quantity : study.quantities) {
    const char* unit = quantity.kind == "angle" ? "rad" : quantity.kind == "joint" ? "m or rad" : "m";
    text += "\n" + quantity.name + ": " + quantity.kind + " error, " + unit + "\n";
    text += print_text("%12s%12s%8s%7s%12s%8s%7s\n", "step, s", "at the end", "ratio", "order", "largest", "ratio",
                       "order");
    for (std::size_t k = 0; k < study.steps.size(); ++k)
      text += print_text("%12.5g%12.3e", study.steps[k], quantity.end[k]) + print_ratio(quantity.end, k) +
              print_text("%12.3e", quantity.max[k]) + print_ratio(quantity.max, k) + "\n";
  }
  if (study.quantities.empty()) text += "nothing moves otherwise than in the reference: all errors are zero\n";
  return text;
}

std::string make_convergence_json(const ConvergenceStudy& study) {
  JsonText json;
  json.begin_object();
  json.field("scene", std::string_view(study.scene));
  json.field("scheme", std::string_view(study.scheme));
  json.field("solver", std::string_view(study.solver));
  json.field("time", study.time);
  json.field("reference_step", study.reference);
  json.field("reference_uncertified_steps", study.reference_uncertified);
  json.field("steps", std::span<const double>(study.steps));
  json.key("uncertified_steps");
  json.begin_array(true);
  for (const long count : study.uncertified) json.value(count);
  json.end_array();
  json.key("quantities");
  json.begin_array();
  for (const StudyQuantity& quantity : study.quantities) {
    json.begin_object();
    json.field("name", std::string_view(quantity.name));
    json.field("kind", std::string_view(quantity.kind));
    put_errors("end", quantity.end, &json);
    put_errors("max", quantity.max, &json);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::vector<Plot> make_convergence_plots(const ConvergenceStudy& study) {
  Plot plot{"errors at the end", {"step, s", true, {}, {}}, {"error, m or rad", true, {}, {}}, {}};
  for (const StudyQuantity& quantity : study.quantities)
    if (plot.lines.size() < 8)  // more cannot be told apart
      plot.lines.push_back({quantity.name + " " + (quantity.kind == "joint" ? "" : quantity.kind), study.steps,
                            quantity.end, false, true, false});
  for (const int order : {1, 2}) {
    if (study.quantities.empty()) break;
    PlotLine slope{"order " + std::to_string(order), study.steps, {}, false, false, true};
    for (const double h : study.steps)
      slope.y.push_back(study.quantities[0].end[0] * std::pow(h / study.steps[0], order));
    plot.lines.push_back(std::move(slope));
  }
  return {plot};
}

std::string make_comparison_text(const Scene& scene, const std::vector<ComparedRun>& runs) {
  std::string text = scene.path + print_text(", step %.6g s, %.6g s\n\n", scene.options.step, scene.options.duration);
  text += print_text("%-12s %-10s%9s%11s%9s%13s%13s%13s%11s\n", "scheme", "solver", "ms/step", "residual", "uncert.",
                     "penetration", "joint error", "energy, J", "distance");
  for (const ComparedRun& run : runs)
    text +=
        print_text("%-12s %-10s%9.3f%11.1e%9ld%13.2e%13.2e%13.5g%11.2e%s%s\n", run.scheme.c_str(), run.solver.c_str(),
                   run.ms_per_step, run.residual_max, run.uncertified, run.penetration_max, run.joint_error_max,
                   run.energy_change, run.distance, run.failed ? "  failed: " : "", run.note.c_str());
  return text +
         "\nenergy: change from start to end; distance: of the final positions from those of the first line, m\n";
}

std::string make_comparison_json(const Scene& scene, const std::vector<ComparedRun>& runs) {
  JsonText json;
  json.begin_object();
  json.field("scene", std::string_view(scene.path));
  json.field("step", scene.options.step);
  json.field("time", scene.options.duration);
  json.key("runs");
  json.begin_array();
  for (const ComparedRun& run : runs) {
    json.begin_object();
    json.field("scheme", std::string_view(run.scheme));
    json.field("solver", std::string_view(run.solver));
    json.field("failed", run.failed);
    json.field("note", std::string_view(run.note));
    json.field("steps", run.steps);
    json.field("ms_per_step", run.ms_per_step);
    json.field("residual_max", run.residual_max);
    json.field("uncertified_steps", run.uncertified);
    json.field("penetration_max", run.penetration_max);
    json.field("joint_error_max", run.joint_error_max);
    json.field("energy_change", run.energy_change);
    json.field("distance", run.distance);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace slipstick
