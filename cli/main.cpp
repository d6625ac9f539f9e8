// Reads the command line. The only file that knows CLI11.
#include "closest.h"
#include "commands.h"
#include "terminal.h"

#include <slipstick/info.h>

#include <CLI/CLI.hpp>

namespace {

/// How a scene is read, wherever its name comes from.
void add_reading_options(CLI::App* app, SceneArguments* arguments) {
  app->add_option("--set", arguments->set, "Override a variable of the scene's `let`: NAME=EXPRESSION")
      ->type_name("K=V")
      ->expected(1)
      ->take_all();
  app->add_flag("--allow-path", arguments->allow_path, "Let includes leave the scene's folder");
  app->add_option("--max-bodies", arguments->max_bodies, "Refuse scenes with more bodies")->type_name("N");
}

void add_scene_options(CLI::App* app, SceneArguments* arguments) {
  app->add_option("SCENE", arguments->scene, "Scene file (.yaml)")->required();
  add_reading_options(app, arguments);
}

void add_simulation_options(CLI::App* app, SimulationArguments* arguments) {
  app->add_option("--step", arguments->step, "Time step, s; an expression such as 1/60")->type_name("H");
  app->add_option("--duration", arguments->duration, "Simulated time, s")->type_name("T");
  app->add_option("--scheme", arguments->scheme, "Time-stepping scheme (see 'slipstick info')")->type_name("S");
  app->add_option("--solver", arguments->solver, "Solver of each step's problem (see 'slipstick info')")
      ->type_name("X");
  app->add_option("--friction", arguments->friction, "cone, pyramid or box")->type_name("MODEL");
  app->add_option("--facets", arguments->facets, "Facets of the friction pyramid")->type_name("N");
  app->add_option("--tolerance", arguments->tolerance, "Relative residual up to which a step is certified")
      ->type_name("E");
  app->add_option("--threads", arguments->threads, "Threads to use")->type_name("N");
}

void add_run(CLI::App* app, RunArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->add_option("-o,--output", arguments->output, "Record the run (HDF5)")->type_name("FILE");
  app->add_option("--report", arguments->report, "Write the report (JSON)")->type_name("FILE");
  app->add_flag("--json", arguments->json, "Print the report on standard output");
  app->add_flag("--strict", arguments->strict, "Exit with 1 if a step could not be certified");
  app->add_flag("-q,--quiet", arguments->quiet, "No progress bar, no summary");
  app->footer("Example:\n  slipstick run scenes/dominoes.yaml --step 1/240 -o run.h5 --report run.json");
}

void add_check(CLI::App* app, CheckArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer("Example:\n  slipstick check scenes/arch.yaml");
}

void add_view(CLI::App* app, ViewArguments* arguments) {
  app->add_option("FILE", arguments->inputs, "A recording (.h5), two to compare, or a scene with --live")->required();
  app->add_flag("--live", arguments->live, "Simulate the scene FILE and watch it");
  app->add_option("--export", arguments->output, "Write one page that opens without a server")->type_name("PAGE");
  app->add_flag("!--no-open", arguments->open, "Print the address only, open no browser");
  app->add_option("--port", arguments->port, "Port of 127.0.0.1; any that is free by default")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  add_reading_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->footer(
      "Examples:\n  slipstick view run.h5\n  slipstick view one.h5 other.h5\n"
      "  slipstick view scenes/dominoes.yaml --live\n  slipstick view run.h5 --export page.html");
}

void add_examples(CLI::App* app, ExamplesArguments* arguments) {
  app->add_option("NAME", arguments->name, "Show this scene");
  app->add_flag("--list", arguments->list, "List the scenes (as without NAME)");
  app->add_option("--copy", arguments->copy, "Copy NAME, or all of them, into a folder")->type_name("DIR");
  app->add_flag("--path", arguments->path, "Print where NAME is");
  app->add_flag("--run", arguments->run, "Run NAME");
  app->add_flag("--json", arguments->json, "List as JSON");
  app->footer("Examples:\n  slipstick examples\n  slipstick examples dominoes --run\n  slipstick examples --copy mine");
}

/// The command line as a shell would read it again.
std::string join_command(int count, char** words) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string word = i == 0 ? "slipstick" : words[i];
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=./,:@%^") == std::string::npos;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += (i ? " " : "") + (plain ? word : quoted + "'");
  }
  return text;
}

/// One line: what is wrong, and where help is.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string command;
  for (const CLI::App* sub : app.get_subcommands()) command = sub->get_name();
  std::string what = error.what();
  std::replace(what.begin(), what.end(), '\n', ' ');
  const std::string name = command.empty() ? "slipstick" : "slipstick " + command;
  say(name + ": " + what + "; see '" + name + " --help'");
  return kBadInput;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Rigid bodies with hard contact: every step solved, certified and accounted for.", "slipstick");
  app.set_version_flag("--version", "slipstick " + slipstick::version());
  app.require_subcommand(1);
  app.footer(
      "'slipstick COMMAND --help' says more. Begin with:\n  slipstick examples\n  slipstick examples dominoes --run");
  RunArguments run_arguments;
  CheckArguments check_arguments;
  ViewArguments view_arguments;
  ExamplesArguments examples_arguments;
  InfoArguments info_arguments;
  CLI::App* run_command = app.add_subcommand("run", "Simulate a scene");
  CLI::App* check_command = app.add_subcommand("check", "Validate a scene and diagnose it before a run");
  CLI::App* view_command = app.add_subcommand("view", "See a recording or a running scene in the browser");
  CLI::App* examples_command = app.add_subcommand("examples", "List, show, copy or run a shipped scene");
  CLI::App* info_command = app.add_subcommand("info", "Version, build, schemes, solvers, shapes, joints");
  add_run(run_command, &run_arguments);
  add_check(check_command, &check_arguments);
  add_view(view_command, &view_arguments);
  add_examples(examples_command, &examples_arguments);
  info_command->add_flag("--json", info_arguments.json, "Print JSON");
  info_command->footer("Example:\n  slipstick info --json");

  if (count < 2) {
    say(app.help());
    return kBadInput;
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  if (words[1][0] != '-' && std::find(commands.begin(), commands.end(), words[1]) == commands.end()) {
    const std::string hint = make_hint(words[1], commands);
    say("slipstick: unknown command '" + std::string(words[1]) + "'" + (hint.empty() ? ";" : hint) +
        " See 'slipstick --help'");
    return kBadInput;
  }
  try {
    app.parse(count, words);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  run_arguments.command = join_command(count, words);
  if (*run_command) return run(run_arguments);
  if (*check_command) return check(check_arguments);
  if (*view_command) return view(view_arguments);
  if (*examples_command) return examples(examples_arguments);
  return info(info_arguments);
}
