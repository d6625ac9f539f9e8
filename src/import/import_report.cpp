#include <slipstick/app/import.h>

#include <nlohmann/json.hpp>

namespace slipstick {
namespace {

std::string as_line(const ImportItem& item) { return Fault{item.place, item.what + ": " + item.why}.text() + "\n"; }

nlohmann::json as_json(const std::vector<ImportItem>& items) {
  nlohmann::json list = nlohmann::json::array();
  for (const ImportItem& item : items)
    list.push_back({{"file", item.place.file},
                    {"line", item.place.line},
                    {"column", item.place.column},
                    {"what", item.what},
                    {"why", item.why}});
  return list;
}

}  // namespace

std::string make_text(const ImportReport& report) {
  std::string text = std::to_string(report.ignored.size()) + " items are read but not modelled:\n";
  for (const ImportItem& item : report.ignored) text += as_line(item);
  if (report.notes.empty()) return text;
  text += "\n" + std::to_string(report.notes.size()) + " notes on how others are modelled:\n";
  for (const ImportItem& item : report.notes) text += as_line(item);
  return text;
}

std::string make_json(const ImportReport& report) {
  const nlohmann::json json{
      {"format", report.format}, {"ignored", as_json(report.ignored)}, {"notes", as_json(report.notes)}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace slipstick
