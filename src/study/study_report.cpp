// Reproduced experiments as a table, as JSON, and as one page with its pictures inside.
#include <slipstick/app/reproduce.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "report/json_text.h"
#include "report/print_text.h"
#include "report/web_text.h"

namespace slipstick {
namespace {

/// Enough digits to see what the tolerance is about.
std::string as_figure(const ReproducedFigure& figure, double value) {
  const bool fine = figure.tolerance > 0 && figure.tolerance < 1e-4 * std::abs(figure.published);
  return print_text(fine && figure.rule == FigureRule::Absolute ? "%.10g" : "%.6g", value);
}

/// What a figure is held against: "0.08", or "<= 0.08" where it is a bound.
std::string as_target(const ReproducedFigure& figure) {
  if (figure.rule != FigureRule::AtMost) return as_figure(figure, figure.published);
  return "<= " + as_figure(figure, figure.published == 0 ? figure.tolerance : figure.published);
}

/// The ratio where it says something: not against zero, not against a bound.
std::string as_ratio(const ReproducedFigure& figure) {
  return figure.published == 0 || figure.rule == FigureRule::AtMost ? "" : print_text("%.4f", figure.ratio());
}

std::string count_agreeing(const Reproduction& one) {
  const auto good = std::count_if(one.figures.begin(), one.figures.end(), [](const auto& f) { return f.ok(); });
  return std::to_string(good) + " of " + std::to_string(one.figures.size());
}

std::string make_rows(const Reproduction& one) {
  std::string html = "<table><tr><th>quantity<th>published<th>ours<th>ratio<th>verdict<th class=from>from</tr>\n";
  for (const ReproducedFigure& figure : one.figures)
    html += "<tr><td>" + escape_html(figure.quantity) + "<td>" + escape_html(as_target(figure)) + "<td>" +
            as_figure(figure, figure.ours) + "<td>" + as_ratio(figure) +
            "<td class=" + (figure.ok() ? "ok>agrees" : "bad>differs") + "<td class=from>" +
            std::string(name_of(figure.source)) + "</tr>\n";
  return html + "</table>\n";
}

/// `picture`: an element, or nothing.
std::string make_section(const Reproduction& one, const std::string& picture) {
  std::string html = "<h3 id='" + one.name + "'>" + one.name + " <small>(" + escape_html(one.citation) +
                     ")</small></h3>\n<p>" + escape_html(one.about) + "</p>\n";
  if (!one.failure.empty()) html += "<p class=bad>" + escape_html(one.failure) + "</p>\n";
  if (one.uncertified > 0)
    html += "<p class=bad>" + std::to_string(one.uncertified) + " steps could not be certified.</p>\n";
  return html + picture + "<details open><summary>" + count_agreeing(one) + " figures agree, " +
         std::to_string(one.steps) + " steps</summary>\n" + make_rows(one) + "</details>\n";
}

/// One line an experiment, for who reads no further.
std::string make_overview(const std::vector<Reproduction>& all) {
  std::string html =
      "<nav><table><tr><th>experiment<th class=from>source<th>figures that agree<th>steps<th>verdict</tr>\n";
  for (const Reproduction& one : all)
    html += "<tr><td><a href='#" + one.name + "'>" + one.name + "</a><td class=from>" + escape_html(one.paper) + ", " +
            escape_html(one.citation) + "<td>" + count_agreeing(one) + "<td>" + std::to_string(one.steps) +
            "<td class=" + (one.ok() ? "ok>agrees" : "bad>differs") + "</tr>\n";
  return html + "</table></nav>\n";
}

}  // namespace

std::string make_reproduction_text(const std::vector<Reproduction>& all) {
  std::string text;
  for (const Reproduction& one : all) {
    text += (text.empty() ? "" : "\n") + one.name + " (" + one.paper + ", " + one.citation + ")\n";
    text += print_text("  %-66s%16s%14s%9s  %-8s %s\n", "quantity", "published", "ours", "ratio", "verdict", "from");
    for (const ReproducedFigure& figure : one.figures)
      text += print_text("  %-66s%16s%14s%9s  %-8s %s\n", figure.quantity.c_str(), as_target(figure).c_str(),
                         as_figure(figure, figure.ours).c_str(), as_ratio(figure).c_str(),
                         figure.ok() ? "agrees" : "DIFFERS", std::string(name_of(figure.source)).c_str());
    if (one.uncertified > 0) text += "  " + std::to_string(one.uncertified) + " steps could not be certified\n";
    if (!one.failure.empty()) text += "  " + one.failure + "\n";
  }
  return text;
}

std::string make_reproduction_json(const std::vector<Reproduction>& all) {
  JsonText json;
  json.begin_array();
  for (const Reproduction& one : all)
    for (const ReproducedFigure& figure : one.figures) {
      json.begin_object();
      json.field("experiment", std::string_view(figure.experiment));
      json.field("quantity", std::string_view(figure.quantity));
      json.field("published", figure.published);
      json.field("ours", figure.ours);
      json.field("ratio", figure.ratio());
      json.field("ok", figure.ok());
      json.field("bound", figure.rule == FigureRule::AtMost);
      json.field("source", name_of(figure.source));
      json.end_object();
    }
  json.end_array();
  return json.text() + "\n";
}

Faults save_reproduction(const std::string& folder, const std::vector<Reproduction>& all) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return {Fault{{folder, 0, 0}, "cannot make this folder: " + code.message()}};
  std::string html =
      make_page_head("Slipstick: published experiments", "Published experiments, run again") +
      "<p>Each experiment runs with the published settings; its figures stand beside those of the paper. Where the "
      "paper prints curves but no numbers, <em>from</em> says what took their place: a closed form, a theorem, or the "
      "output "
      "of a separate program. <q>&lt;=</q> marks a bound.</p>\n" +
      make_overview(all);
  std::string paper;
  for (const Reproduction& one : all) {
    if (one.paper != paper) html += "<h2>" + escape_html(paper = one.paper) + "</h2>\n";
    if (one.panels.empty()) {
      html += make_section(one, "");
      continue;
    }
    const std::string path = folder + "/" + one.name + ".png";
    Faults faults = save_plot(path, one.panels);
    if (!faults.empty()) return faults;
    html += make_section(one, make_picture(one.name, path));
  }
  return save_page(folder, "report.html", html + "</html>\n");
}

}  // namespace slipstick
