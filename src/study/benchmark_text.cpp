#include <slipstick/app/benchmark.h>

#include <algorithm>

#include "report/json_text.h"
#include "report/print_text.h"
#include "study/benchmark_notes.h"

namespace slipstick {
namespace {

constexpr double kLeastPart = 0.5;

/// Ours beside the quickest and the most accurate of the others.
std::string make_summary_text(const std::vector<BenchmarkTable>& tables) {
  std::string text = print_text("\n%-12s %-7s%19s   %-46s   %-46s   %s\n", "scene", "error", "ours: ms, m",
                                "quickest other: ms, m", "most accurate other: ms, m", "ours");
  for (const BenchmarkTable& table : tables) {
    const BenchmarkSummary summary = summarize(table);
    if (summary.quickest == nullptr) continue;
    text += print_text("%-12s %-7s", table.name.c_str(), std::string(name_of(summary.error)).c_str());
    if (summary.ours != nullptr) {
      text += print_text("%9.3g%10.1e", summary.ours->ms_mean, error_of(*summary.ours, summary.error));
    } else {
      text += print_text("%19s", "-");
    }
    for (const BenchmarkFigures* row : {summary.quickest, summary.best})
      text += print_text("   %-28s%9.3g%9.1e", row->engine.c_str(), row->ms_mean, error_of(*row, summary.error));
    text += "   " + std::string(summary.verdict) + "\n";
  }
  return text;
}

}  // namespace

bool is_comparable(const BenchmarkTable& table, const BenchmarkFigures& row) {
  const auto reach_of = [&](const BenchmarkFigures& each) {
    if (each.steps == 0 || !each.failure.empty()) return 0.0;
    return each.cut_at > 0 ? each.cut_at : table.duration;
  };
  double farthest = 0;
  for (const BenchmarkFigures& each : table.rows) farthest = std::max(farthest, reach_of(each));
  return reach_of(row) > 0 && reach_of(row) >= kLeastPart * farthest;
}

std::string print_certified(const BenchmarkFigures& row) {
  if (row.uncertified < 0 || row.steps == 0) return "-";
  if (row.uncertified == 0) return "all";
  return print_text("%.2f %%", 100 - 100 * static_cast<double>(row.uncertified) / static_cast<double>(row.steps));
}

std::string make_note(const BenchmarkTable& table, const BenchmarkFigures& row) {
  std::string note = row.failure;
  if (row.cut_at > 0) {
    note += note.empty() ? "" : "; ";
    note += print_text("cut short at %.3g of %.3g s", row.cut_at, table.duration);
  }
  return note;
}

std::vector<std::size_t> find_front(const BenchmarkTable& table, BenchmarkError error) {
  const auto error_at = [&](std::size_t k) { return std::max(error_of(table.rows[k], error), kLeastError); };
  std::vector<std::size_t> front;
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    bool beaten = !is_comparable(table, table.rows[k]);
    for (std::size_t i = 0; i < table.rows.size() && !beaten; ++i) {
      if (i == k || !is_comparable(table, table.rows[i])) continue;
      const double quicker = table.rows[k].ms_mean - table.rows[i].ms_mean, better = error_at(k) - error_at(i);
      beaten = quicker >= 0 && better >= 0 && (quicker > 0 || better > 0);
    }
    if (!beaten) front.push_back(k);
  }
  return front;
}

BenchmarkSummary summarize(const BenchmarkTable& table) {
  BenchmarkSummary summary{table.errors.empty() ? BenchmarkError::Depth : table.errors[0], nullptr, nullptr, nullptr,
                           ""};
  const auto error_at = [&](const BenchmarkFigures& row) { return error_of(row, summary.error); };
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    const BenchmarkFigures& row = table.rows[k];
    if (!is_comparable(table, row)) continue;
    if (k == 0) {
      summary.ours = &row;
      continue;
    }
    if (summary.quickest == nullptr || row.ms_mean < summary.quickest->ms_mean) summary.quickest = &row;
    if (summary.best == nullptr || error_at(row) < error_at(*summary.best)) summary.best = &row;
  }
  if (summary.ours == nullptr || summary.quickest == nullptr) return summary;
  const std::vector<std::size_t> front = find_front(table, summary.error);
  const bool on_front = !front.empty() && front[0] == 0;
  const bool most_accurate = std::max(error_at(*summary.ours), kLeastError) < error_at(*summary.best);
  const bool quickest = summary.ours->ms_mean <= summary.quickest->ms_mean;
  summary.verdict = most_accurate && quickest ? "quickest and most accurate"
                    : most_accurate           ? "most accurate"
                    : quickest                ? "quickest"
                    : on_front                ? "on the front"
                                              : "beaten in both";
  return summary;
}

std::string make_benchmark_text(const std::vector<BenchmarkTable>& tables) {
  std::string text = print_text("%-13s %-28s%9s%9s%9s%9s%11s%11s%11s%10s%11s\n", "scene", "engine", "ms/step", "median",
                                "p99", "max", "depth, m", "joints, m", "moved, m", "certified", "rise, J");
  for (const BenchmarkTable& table : tables) {
    for (const BenchmarkFigures& row : table.rows) {
      text += print_text("%-13s %-28s", table.name.c_str(), row.engine.c_str());
      if (row.steps > 0)
        text += print_text("%9.3f%9.3f%9.3f%9.3f%11.2e%11.2e%11.2e%10s%11.2e", row.ms_mean, row.ms_median, row.ms_p99,
                           row.ms_max, row.penetration_max, row.joint_error_max, row.displacement,
                           print_certified(row).c_str(), row.energy_rise);
      const std::string note = make_note(table, row);
      text += (note.empty() ? "" : "  " + note) + "\n";
    }
    if (!table.remark.empty()) text += print_text("%-13s %s\n", table.name.c_str(), table.remark.c_str());
  }
  if (std::any_of(tables.begin(), tables.end(), [](const auto& table) { return table.rows.size() > 1; }))
    text += make_summary_text(tables);
  return text +
         "\nms/step, median, p99, max: CPU time of the steps (mean, median, 99 %, worst); depth, joints: worst at some "
         "fifty\ninstants, from the geometry; moved (drift): the farthest that a body is from its start at the end; "
         "rise: of the\ntotal energy above an earlier instant; wasm: WebAssembly, single precision\n";
}

std::string make_benchmark_json(const std::vector<BenchmarkTable>& tables) {
  JsonText json;
  json.begin_array();
  for (const BenchmarkTable& table : tables) {
    json.begin_object();
    json.field("scene", std::string_view(table.name));
    json.field("remark", std::string_view(table.remark));
    json.field("duration", table.duration);
    json.key("engines");
    json.begin_array();
    for (const BenchmarkFigures& row : table.rows) {
      json.begin_object();
      json.field("engine", std::string_view(row.engine));
      json.field("failure", std::string_view(row.failure));
      json.field("steps", row.steps);
      json.field("cut_at", row.cut_at);
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
