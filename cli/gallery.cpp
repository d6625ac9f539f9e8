// slipstick gallery: runs every shipped scene, or the scenes and models given, and makes one page of replays, with
// pictures.
#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/import.h>
#include <slipstick/app/recording.h>
#include <slipstick/app/report.h>
#include <slipstick/app/view.h>
#include <slipstick/output_file.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kModelSeconds = "4";  // files of robots do not say how long

/// What the run of one scene told.
struct Outcome {
  double time = 0;  ///< simulated, s
  double wall = 0;
  double residual = 0;
  std::size_t bodies = 0;
};

/// Simulates into a recording, for at most `max_seconds` of wall time.
bool record(const slipstick::Scene& scene, const std::string& path, double max_seconds, Outcome* outcome) {
  auto recorder = slipstick::Recorder::create(path, scene, "slipstick gallery");
  if (!recorder) return false;
  slipstick::Simulation simulation(scene.model, scene.initial, scene.options);
  slipstick::RunStatistics statistics(scene, simulation);
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const double steps = std::ceil(scene.options.duration / scene.options.step - 1e-6);
  recorder->append(simulation, nullptr);
  for (double k = 0; k < steps && elapsed() < max_seconds; ++k) {
    const slipstick::StepReport& report = simulation.step();
    if (report.failed) break;
    recorder->append(simulation, &report);
    statistics.add(simulation, report, 0, 0);
  }
  *outcome = {simulation.state().time, elapsed(), statistics.residual_max(), scene.model.bodies.size()};
  return recorder->close();
}

std::string make_facts(const Outcome& outcome) {
  char text[160];
  std::snprintf(text, sizeof text, "%zu bodies · %.3g s in %.2g s · residual at most %.1e m/s", outcome.bodies,
                outcome.time, outcome.wall, outcome.residual);
  return text;
}

bool write_file(const fs::path& path, const std::string& text) {
  slipstick::OutputFile file;
  std::string fault;
  if (file.open(path.string(), &fault) && file.write(text, &fault)) return true;
  say("gallery", fault);
  return false;
}

/// One scene: its run, its page, its picture. False when something could not be written.
bool make_card(const Example& example, const GalleryArguments& arguments, const std::string& browser,
               slipstick::GalleryCard* card) {
  const fs::path folder = arguments.folder, recording = folder / (example.name + ".h5"),
                 page = folder / (example.name + ".html");
  SceneArguments scene_arguments;
  scene_arguments.scene = example.path;
  scene_arguments.model = arguments.model;
  SimulationArguments simulation_arguments;
  if (slipstick::is_model_file(example.path)) simulation_arguments.duration = kModelSeconds;
  slipstick::ImportReport report;
  const auto scene = load("gallery", scene_arguments, simulation_arguments, &report);
  if (!scene) return false;
  Outcome outcome;
  const bool recorded = record(*scene, recording.string(), arguments.max_seconds, &outcome);
  const auto made = slipstick::make_export_page({recording.string()});
  std::error_code code;
  fs::remove(recording, code);
  if (!recorded || !made || !write_file(page, *made)) {
    say("gallery", example.name + ": could not be recorded in " + arguments.folder);
    return false;
  }
  const std::string about = report.format.empty() ? example.about
                                                  : report.format + ", " + std::to_string(report.ignored.size()) +
                                                        " items of it not modelled";
  *card = {scene->name.empty() ? example.name : scene->name, about, make_facts(outcome), example.name + ".html", ""};
  if (browser.empty()) return true;
  const fs::path picture = folder / (example.name + ".png");
  if (slipstick::render_picture(browser, page.string(), 0.4 * outcome.time, picture.string()))
    card->picture = picture.filename().string();
  else
    say("gallery", example.name + ": Chromium made no picture of it");
  return true;
}

/// The files given, each under a name of its own.
std::vector<Example> find_given(const std::vector<std::string>& files) {
  std::vector<Example> given;
  for (const std::string& file : files) {
    const fs::path path = fs::absolute(file);
    std::string name = path.parent_path().filename().string() + "_" + path.stem().string();
    while (std::any_of(given.begin(), given.end(), [&](const Example& each) { return each.name == name; })) name += "_";
    given.push_back({name, file, ""});
  }
  return given;
}

}  // namespace

int gallery(const GalleryArguments& arguments) {
  if (!slipstick::has_viewer_page()) {
    say("gallery", slipstick::no_viewer_page_reason());
    return kFailed;
  }
  const std::vector<Example> found =
      arguments.files.empty() ? find_examples(arguments.scenes) : find_given(arguments.files);
  if (found.empty()) {
    say("gallery", "no scenes" + (arguments.scenes.empty() ? std::string("; set SLIPSTICK_SCENES")
                                                           : " in '" + arguments.scenes + "'"));
    return kBadInput;
  }
  std::error_code code;
  fs::create_directories(arguments.folder, code);
  if (!fs::is_directory(arguments.folder, code)) {
    say("gallery", arguments.folder + ": cannot be made a folder");
    return kBadInput;
  }
  const std::string browser = arguments.pictures ? slipstick::find_browser() : "";
  if (arguments.pictures && browser.empty())
    say("gallery", "no Chromium here (package chromium): the page has no pictures");
  std::vector<slipstick::GalleryCard> cards;
  bool good = true;
  for (const Example& example : found) {
    slipstick::GalleryCard card;
    say(example.name);
    if (make_card(example, arguments, browser, &card))
      cards.push_back(std::move(card));
    else
      good = false;
  }
  const fs::path index = fs::path(arguments.folder) / "index.html";
  if (!write_file(index, slipstick::make_gallery_page(cards)) || !write_out(index.string() + "\n")) return kFailed;
  return good ? kDone : kFailed;
}
