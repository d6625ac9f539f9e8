// slipstick view: opens the viewer on recordings or on a running scene, or writes a page that needs no server.
#include "commands.h"
#include "film.h"
#include "output_paths.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/import.h>
#include <slipstick/app/view.h>
#include <slipstick/output_file.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace {

int tell(const slipstick::Faults& faults) {
  for (const slipstick::Fault& fault : faults) say("view", fault.text());
  return kBadInput;
}

/// Asks the desktop to open the page; nothing happens where there is none.
void open_browser(const std::string& url) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = fork();
  if (child != 0) {
    if (child > 0) waitpid(child, nullptr, 0);
    return;
  }
  if (fork() != 0) _exit(0);  // the browser is nobody's child, so that Ctrl-C here does not end it
  setsid();
  const int nowhere = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nowhere, descriptor);
  execlp("xdg-open", "xdg-open", url.c_str(), static_cast<char*>(nullptr));
  _exit(1);
}

/// Prints the address and serves until Ctrl-C.
int serve(slipstick::Result<slipstick::ViewServer> started, bool open, const sigset_t& stop) {
  if (!started) {
    tell(started.faults());
    return slipstick::has_viewer_page() ? kBadInput : kFailed;
  }
  if (!write_out(started->url() + "\n")) return kFailed;
  say("The viewer is at this address (only this machine can open it). Ctrl-C ends it.");
  if (open) open_browser(started->url());
  int signal = 0;
  sigwait(&stop, &signal);
  return kDone;
}

/// The scene as the command line reads it, with other values of its variables.
slipstick::SceneReload make_reload(const SceneArguments& scene, const SimulationArguments& simulation) {
  return [=](const std::vector<std::pair<std::string, double>>& variables) -> slipstick::Result<slipstick::Scene> {
    SceneArguments changed = scene;
    for (const auto& [name, value] : variables) {
      char number[32];
      std::snprintf(number, sizeof number, "%.17g", value);
      changed.set.push_back(name + "=" + number);
    }
    slipstick::Faults faults;
    auto loaded = load(changed, simulation, &faults);
    if (!loaded) return faults;
    return std::move(*loaded);
  };
}

int export_page(const ViewArguments& arguments) {
  for (const std::string& path : arguments.inputs) {
    std::error_code code;
    if (path == arguments.output || std::filesystem::equivalent(path, arguments.output, code)) {
      say("view", arguments.output + ": is the recording itself; choose another name");
      return kBadInput;
    }
  }
  slipstick::OutputFile file;
  std::string fault;
  if (!file.open(arguments.output, &fault)) {
    say("view", fault);
    return kBadInput;
  }
  const bool gltf = arguments.output.ends_with(".glb");
  if (gltf && arguments.inputs.size() > 1) {
    say("view", "a .glb file holds one recording");
    return kBadInput;
  }
  const auto page =
      gltf ? slipstick::make_gltf(arguments.inputs.front()) : slipstick::make_export_page(arguments.inputs);
  if (!page) {
    tell(page.faults());
    return gltf || slipstick::has_viewer_page() ? kBadInput : kFailed;
  }
  if (!file.write(*page, &fault)) {
    say("view", fault);
    return kFailed;
  }
  char megabytes[32];
  std::snprintf(megabytes, sizeof megabytes, "%.1f MB", static_cast<double>(page->size()) / 1e6);
  say(arguments.output + ": " + megabytes + (gltf ? ", glTF 2.0 with animation" : ", opens in any browser"));
  return kDone;
}

}  // namespace

int view(const ViewArguments& arguments) {
  const bool films = !arguments.video.empty() || !arguments.pictures.empty();
  if (arguments.live && (films || !arguments.output.empty())) {
    say("view", std::string(films ? "a film is made of" : "--export writes") +
                    " a recording: 'slipstick run SCENE -o RUN.h5' first");
    return kBadInput;
  }
  if ((!arguments.video.empty() && !arguments.pictures.empty()) || (films && !arguments.output.empty())) {
    say("view", "one of --video, --png and --export at a time");
    return kBadInput;
  }
  if (!arguments.live && !arguments.record.empty()) {
    say("view", "--record goes with --live: it records the scene that runs");
    return kBadInput;
  }
  if (arguments.inputs.size() > (arguments.live ? 1u : 2u)) {
    say("view", arguments.live ? "--live takes one scene" : "one recording, or two to compare");
    return kBadInput;
  }
  for (const std::string& path : arguments.inputs) {
    const bool scene = path.ends_with(".yaml") || path.ends_with(".yml") || slipstick::is_model_file(path);
    if (arguments.live || !scene) continue;
    say("view", path + ": is a scene; add --live to run it, or 'slipstick run " + path + " -o RUN.h5' and view that");
    return kBadInput;
  }
  if (films) return film(arguments);
  if (!arguments.output.empty()) return export_page(arguments);

  sigset_t stop;  // before the first thread starts, so that all of them leave these signals to sigwait
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  slipstick::ViewOptions options;
  options.port = arguments.port;
  if (!arguments.live) return serve(slipstick::ViewServer::show(arguments.inputs, options), arguments.open, stop);
  SceneArguments scene_arguments = arguments.scene;
  scene_arguments.scene = arguments.inputs.front();
  std::optional<slipstick::Scene> scene = load("view", scene_arguments, arguments.simulation);
  if (!scene) return kBadInput;
  if (!check_outputs("view", {{"--record", arguments.record}}, "scene", scene->files, false)) return kBadInput;
  options.record = arguments.record;
  if (!scene->variables.empty()) options.reload = make_reload(scene_arguments, arguments.simulation);
  return serve(slipstick::ViewServer::simulate(std::move(*scene), options), arguments.open, stop);
}
