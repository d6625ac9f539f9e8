// Benchmarks as one page: for each scene time against error of all engines, and the figures.
#include <slipstick/app/benchmark.h>
#include <slipstick/app/plot.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "report/print_text.h"
#include "report/web_text.h"
#include "study/benchmark_notes.h"

namespace slipstick {
namespace {

bool has_peers(const BenchmarkTable& table) { return table.rows.size() > 1; }

/// Engine, without its version, and setting of a name such as "Bullet 3, 10 iterations".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t comma = std::min(name.find(", "), name.size());
  std::string engine = name.substr(0, comma);
  const std::size_t digit = engine.find_first_of("0123456789");
  if (digit != std::string::npos && digit > 0 && engine[digit - 1] == ' ') engine.resize(digit - 1);
  return {engine, comma == name.size() ? "" : name.substr(comma + 2)};
}

/// Nobody is quicker at an error to the right of these. The staircase ends at `right`.
PlotLine make_front(const BenchmarkTable& table, BenchmarkError error, double right) {
  PlotLine line{.label = "front", .x = {}, .y = {}, .steps = true, .dashed = true, .notes = {}};
  std::vector<std::pair<double, double>> points;
  for (const std::size_t k : find_front(table, error))
    points.emplace_back(std::max(error_of(table.rows[k], error), kLeastError), table.rows[k].ms_mean);
  std::sort(points.begin(), points.end());
  for (const auto& [x, y] : points) {
    line.x.push_back(x);
    line.y.push_back(y);
  }
  if (!points.empty()) {
    line.x.push_back(right);
    line.y.push_back(line.y.back());
  }
  return line;
}

/// A point for each engine and setting, a colour for each engine.
Plot make_plot(const BenchmarkTable& table, BenchmarkError error) {
  Plot plot;
  plot.title = table.name;
  plot.x = {.label = std::string(name_of(error)) + ", m", .log = true, .low = 0.5 * kLeastError, .high = {}};
  plot.y = {.label = "CPU ms a step, mean", .log = true, .low = {}, .high = {}};
  double right = kLeastError;
  for (const BenchmarkFigures& row : table.rows) {
    const auto [engine, setting] = split_name(row.engine);
    auto line = std::find_if(plot.lines.begin(), plot.lines.end(),
                             [&name = engine](const PlotLine& each) { return each.label == name; });
    if (line == plot.lines.end())
      line = plot.lines.insert(plot.lines.end(),
                               {.label = engine, .x = {}, .y = {}, .markers = true, .joined = false, .notes = {}});
    if (!is_comparable(table, row)) continue;
    line->x.push_back(std::max(error_of(row, error), kLeastError));
    line->y.push_back(row.ms_mean);
    line->notes.push_back(setting);
    right = std::max(right, line->x.back());
  }
  plot.lines.push_back(make_front(table, error, right));
  return plot;
}

std::string make_rows(const BenchmarkTable& table) {
  std::string html =
      "<table><tr><th>engine<th>ms mean<th>median<th>99 %<th>worst<th>depth, m<th>joints, m<th>drift, m<th>rise, "
      "J<th>certified<th class=from></tr>\n";
  for (const BenchmarkFigures& row : table.rows) {
    html += "<tr><td>" + escape_html(row.engine);
    if (row.steps > 0) {
      html += print_text("<td>%.3f<td>%.3f<td>%.3f<td>%.3f<td>%.1e<td>%.1e<td>%.1e<td>%.1e<td>%s", row.ms_mean,
                         row.ms_median, row.ms_p99, row.ms_max, row.penetration_max, row.joint_error_max,
                         row.displacement, row.energy_rise, print_certified(row).c_str());
    } else {
      html += "<td><td><td><td><td><td><td><td><td>";
    }
    html += "<td class=from>" + escape_html(make_note(table, row)) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string make_overview(const std::vector<BenchmarkTable>& tables) {
  std::string html =
      "<nav><table><tr><th>scene<th class=from>error<th>ours: ms<th>m<th class=from>quickest other<th>ms<th>m"
      "<th class=from>most accurate other<th>ms<th>m<th class=from>ours</tr>\n";
  for (const BenchmarkTable& table : tables) {
    html += "<tr><td><a href='#" + table.name + "'>" + table.name + "</a>";
    const BenchmarkSummary summary = summarize(table);
    html += "<td class=from>" + std::string(name_of(summary.error));
    const auto put = [&](const BenchmarkFigures* row) {
      html += row == nullptr ? "<td><td>" : print_text("<td>%.3g<td>%.1e", row->ms_mean, error_of(*row, summary.error));
    };
    put(summary.ours);
    for (const BenchmarkFigures* row : {summary.quickest, summary.best}) {
      html += "<td class=from>" + (row == nullptr ? "" : escape_html(row->engine));
      put(row);
    }
    html += "<td class=from>" + std::string(summary.verdict) + "</tr>\n";
  }
  return html + "</table></nav>\n";
}

}  // namespace

Faults save_benchmarks(const std::string& folder, const std::vector<BenchmarkTable>& tables) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return {Fault{{folder, 0, 0}, "cannot make this folder: " + code.message()}};
  std::string html =
      make_page_head("Slipstick: benchmarks", "Time against error") +
      "<p>The same scenes in several engines, one thread each, in turn. Times are CPU times of the steps; errors are "
      "the worst at some fifty instants, from one geometry for all: overlap (depth), the distance of joined points "
      "(joints), or how far something is at the end that should stay (drift). Lower left is better; below a nanometre "
      "points are drawn at one. Who was cut short before half of what another one simulated has no point. <q>wasm</q>: "
      "WebAssembly in single precision, which takes several times as long as "
      "native code.</p>\n" +
      make_overview(tables);
  for (const BenchmarkTable& table : tables) {
    html += "<h2 id='" + table.name + "'>" + table.name + " <small>" + escape_html(table.about) + "</small></h2>\n";
    if (!table.remark.empty()) html += "<p>" + escape_html(table.remark) + "</p>\n";
    if (has_peers(table)) {
      std::vector<Plot> panels;
      for (const BenchmarkError error : table.errors) panels.push_back(make_plot(table, error));
      const std::string path = folder + "/" + table.name + ".png";
      Faults faults = save_plot(path, panels);
      if (!faults.empty()) return faults;
      html += make_picture(table.name, path);
    }
    html += make_rows(table);
  }
  return save_page(folder, "bench.html", html + "</html>\n");
}

}  // namespace slipstick
