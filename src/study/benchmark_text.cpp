#include <slipstick/app/benchmark.h>

#include "report/json_text.h"
#include "report/print_text.h"

namespace slipstick {
namespace {

std::string print_certified(const BenchmarkFigures& row) {
  if (row.uncertified < 0 || row.steps == 0) return "-";
  if (row.uncertified == 0) return "all";
  return print_text("%.2f %%", 100 - 100 * static_cast<double>(row.uncertified) / static_cast<double>(row.steps));
}

}  // namespace

std::string make_benchmark_text(const std::vector<BenchmarkTable>& tables) {
  std::string text = print_text("%-13s %-25s%9s%9s%9s%11s%11s%11s%10s%11s\n", "scene", "engine", "ms/step", "p99",
                                "max", "depth, m", "joints, m", "moved, m", "certified", "rise, J");
  for (const BenchmarkTable& table : tables) {
    for (const BenchmarkFigures& row : table.rows) {
      text += print_text("%-13s %-25s", table.name.c_str(), row.engine.c_str());
      if (row.steps > 0)
        text += print_text("%9.3f%9.3f%9.3f%11.2e%11.2e%11.2e%10s%11.2e", row.ms_median, row.ms_p99, row.ms_max,
                           row.penetration_max, row.joint_error_max, row.displacement, print_certified(row).c_str(),
                           row.energy_rise);
      text += (row.failure.empty() ? "" : "  " + row.failure) + "\n";
    }
    if (!table.remark.empty()) text += print_text("%-13s %s\n", table.name.c_str(), table.remark.c_str());
  }
  return text +
         "\nms/step, p99, max: CPU time of the steps (median, 99 %, worst); depth, joints: worst at some fifty\n"
         "instants, from the geometry; moved: the farthest that a body is from its start at the end; rise: of the "
         "total energy above an earlier instant\n";
}

std::string make_benchmark_json(const std::vector<BenchmarkTable>& tables) {
  JsonText json;
  json.begin_array();
  for (const BenchmarkTable& table : tables) {
    json.begin_object();
    json.field("scene", std::string_view(table.name));
    json.field("remark", std::string_view(table.remark));
    json.key("engines");
    json.begin_array();
    for (const BenchmarkFigures& row : table.rows) {
      json.begin_object();
      json.field("engine", std::string_view(row.engine));
      json.field("failure", std::string_view(row.failure));
      json.field("steps", row.steps);
      json.key("uncertified_steps");
      if (row.uncertified < 0) {
        json.null();
      } else {
        json.value(row.uncertified);
      }
      json.key("ms_per_step");
      json.begin_object(true);
      json.field("mean", row.ms_mean);
      json.field("median", row.ms_median);
      json.field("p99", row.ms_p99);
      json.field("max", row.ms_max);
      json.end_object();
      json.field("penetration_max", row.penetration_max);
      json.field("penetration_final", row.penetration_final);
      json.field("joint_error_max", row.joint_error_max);
      json.field("displacement", row.displacement);
      json.field("energy_rise", row.energy_rise);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  return json.text() + "\n";
}

}  // namespace slipstick
