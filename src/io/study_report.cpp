// Reproduced experiments as a table, as JSON, and as one page with its pictures inside.
#include <slipstick/reproduce.h>

#include "io/json_text.h"
#include "io/print_text.h"
#include "io/web_text.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace slipstick {
namespace {

std::string make_section(const Reproduction& one, const std::string& picture) {
  std::string html = "<h2>" + one.name + "</h2>\n<p>" + one.about + " <em>" + one.citation + ".</em></p>\n";
  if (one.uncertified > 0) html += "<p>" + std::to_string(one.uncertified) + " steps could not be certified.</p>\n";
  html += "<table><tr><th>quantity<th>published<th>ours<th>ratio<th>verdict</tr>\n";
  for (const ReproducedFigure& figure : one.figures)
    html += "<tr><td>" + figure.quantity +
            print_text("<td>%.4g<td>%.5g<td>%.4f<td class=%s</tr>\n", figure.published, figure.ours, figure.ratio(),
                       figure.ok() ? "ok>agrees" : "bad>differs");
  return html + "</table>\n<img alt='" + one.name + "' src='data:image/png;base64," + encode_base64(picture) + "'>\n";
}

}  // namespace

std::string make_reproduction_text(const std::vector<Reproduction>& all) {
  std::string text;
  for (const Reproduction& one : all) {
    text += (text.empty() ? "" : "\n") + one.name + " (" + one.citation + ")\n";
    text += print_text("  %-44s%12s%13s%9s  %s\n", "quantity", "published", "ours", "ratio", "verdict");
    for (const ReproducedFigure& figure : one.figures)
      text += print_text("  %-44s%12.4g%13.5g%9.4f  %s\n", figure.quantity.c_str(), figure.published, figure.ours,
                         figure.ratio(), figure.ok() ? "agrees" : "DIFFERS");
    if (one.uncertified > 0) text += "  " + std::to_string(one.uncertified) + " steps could not be certified\n";
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
      "<!doctype html>\n<html lang=en><meta charset=utf-8><title>Slipstick: published experiments</title>\n"
      "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 "
      "1em}table{border-collapse:collapse}"
      "td,th{padding:.15em .8em;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child"
      "{text-align:left}.ok{color:#176}.bad{color:#b00;font-weight:bold}img{max-width:100%;margin-top:1em}</style>\n"
      "<h1>Published experiments, run again</h1>\n";
  for (const Reproduction& one : all) {
    const std::string path = folder + "/" + one.name + ".png";
    Faults faults = save_plot(path, one.panels);
    if (!faults.empty()) return faults;
    std::ifstream file(path, std::ios::binary);
    html += make_section(one, std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::ofstream page(folder + "/report.html");
  page << html << "</html>\n";
  page.close();
  if (!page) return {Fault{{folder + "/report.html", 0, 0}, "cannot be written"}};
  return {};
}

}  // namespace slipstick
