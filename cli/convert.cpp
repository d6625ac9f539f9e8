// slipstick convert: a URDF or MJCF model as a scene file, with the files that it names; or what of it is not modelled.
#include "commands.h"
#include "output_paths.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/import.h>
#include <slipstick/output_file.h>

#include <filesystem>

namespace {

bool write_file(const std::string& path, const std::string& bytes) {
  slipstick::OutputFile file;
  std::string fault;
  if (file.open(path, &fault) && file.write(bytes, &fault)) return true;
  say("convert", fault);
  return false;
}

}  // namespace

int convert(const ConvertArguments& arguments) {
  if (arguments.output.empty() && !arguments.report) {
    say("convert", "give -o SCENE.yaml, or --report");
    return kBadInput;
  }
  slipstick::ImportReport report;
  const std::optional<slipstick::Scene> scene = load("convert", arguments.scene, {}, &report);
  if (!scene) return kBadInput;
  if (report.format.empty()) {
    say("convert", arguments.scene.scene + ": is a scene already; models are .urdf and .xml (MJCF)");
    return kBadInput;
  }
  if (arguments.report && !write_out(arguments.json ? make_json(report) : make_text(report))) return kFailed;
  if (arguments.output.empty()) return kDone;
  if (!check_outputs("convert", {{"-o", arguments.output}}, "model", scene->files, arguments.no_clobber))
    return kBadInput;
  namespace fs = std::filesystem;
  const fs::path output(arguments.output);
  const std::string folder = output.stem().string() + "_files";
  const slipstick::SceneText made = write_scene_text(*scene, report, folder);
  std::error_code error;
  if (!made.files.empty()) fs::create_directories(output.parent_path() / folder, error);
  for (const slipstick::SceneText::File& file : made.files)
    if (!write_file((output.parent_path() / file.name).string(), file.bytes)) return kBadInput;
  if (!write_file(arguments.output, made.text)) return kBadInput;
  say(arguments.output + ": " + std::to_string(scene->model.bodies.size()) + " bodies, " +
      std::to_string(scene->model.joints.size()) + " joints; " + std::to_string(report.ignored.size()) +
      " items of the model are not modelled (--report lists them)");
  return kDone;
}
