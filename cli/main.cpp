// Reads the command line. The only file that knows CLI11.
#include "closest.h"
#include "commands.h"
#include "python_command.h"
#include "terminal.h"

#include <slipstick/app/hdf5_exit.h>
#include <slipstick/version.h>

#include <CLI/CLI.hpp>

namespace {

void add_model_options(CLI::App* app, ModelArguments* model) {
  const std::string group = "Models of other programs (.urdf, MJCF .xml)";
  app->add_option("--key", model->key, "Start from this keyframe, by name or number")->type_name("NAME")->group(group);
  app->add_option("--mesh", model->mesh, "Collision of meshes: hull, or exact (their triangles)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"hull", "exact"}))
      ->group(group);
  app->add_option("--base", model->base, "Root link of a URDF: fixed to the world, or free")
      ->type_name("HOW")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->group(group);
  app->add_flag("--floor", model->floor, "Add a floor just below the model")->group(group);
  app->add_flag("--repair-inertia", model->repair_inertia, "Repair missing and impossible inertias of a URDF")
      ->group(group);
}

/// How a scene is read, wherever its name comes from.
void add_reading_options(CLI::App* app, SceneArguments* arguments) {
  app->add_option("--set", arguments->set, "Override a variable of the scene's `let`: NAME=EXPRESSION")
      ->type_name("K=V")
      ->expected(1)
      ->take_all();
  app->add_flag("--allow-path", arguments->allow_path, "Let includes leave the scene's folder");
  app->add_option("--max-bodies", arguments->max_bodies, "Refuse scenes with more bodies")->type_name("N");
  add_model_options(app, &arguments->model);
}

void add_scene_options(CLI::App* app, SceneArguments* arguments) {
  app->add_option("SCENE", arguments->scene, "Scene file (.yaml), or a model: .urdf, MJCF .xml")->required();
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
  app->add_option("--accuracy", arguments->accuracy,
                  "m per second of motion: steps choose themselves (trapezoid), --step is the time between frames")
      ->type_name("E");
  app->add_option("--effort", arguments->effort, "exact, balanced or swift: what a step is worth (docs/solvers.md)")
      ->type_name("E");
  app->add_option("--threads", arguments->threads, "Threads to use")->type_name("N");
}

void add_run(CLI::App* app, RunArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  CLI::Option* output = app->add_option("-o,--output", arguments->output, "Record the run (HDF5)")->type_name("FILE");
  app->add_flag("--all", arguments->all,
                "Record every step and all that it was made of, for 'slipstick recheck'; some 350 bytes for each body "
                "and part of a step")
      ->needs(output);
  app->add_option("--report", arguments->report, "Write the report (JSON)")->type_name("FILE");
  app->add_flag("--json", arguments->json, "Print the report on standard output");
  app->add_flag("--strict", arguments->strict,
                "Exit with 1 if a step could not be certified or the health report has an alarm");
  app->add_flag("--keep-going", arguments->keep_going, "Go on where the state is beyond repair (to watch it)");
  app->add_flag("--audit", arguments->audit,
                "Look for missed contacts at all pairs after every step (default: at a few, and at all in the end)");
  app->add_flag("-q,--quiet", arguments->quiet, "No progress bar, no summary");
  app->add_option("--realtime", arguments->realtime,
                  "Keep pace with the clock, at RATE simulated seconds a second (1); missed deadlines are reported")
      ->type_name("RATE")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::Range(1e-3, 1e3));
  app->add_option("--budget", arguments->budget,
                  "Work per problem, as that of N sweeps over its rows; what it does not suffice for is reported. With "
                  "--realtime: only in steps that begin late, which are swept and counted")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  CLI::Option* checkpoint =
      app->add_option("--checkpoint", arguments->checkpoint, "Keep the whole state here, replaced as the run goes on")
          ->type_name("FILE");
  CLI::Option* every =
      app->add_option("--every", arguments->every, "Simulated seconds between two checkpoints; an expression")
          ->type_name("T")
          ->needs(checkpoint);
  checkpoint->needs(every);
  app->add_option("--resume", arguments->resume,
                  "Go on from a checkpoint or a recording, with the same bits as never having stopped")
      ->type_name("FILE");
  app->add_flag("--no-clobber", arguments->no_clobber, "Refuse to replace a file that is there");
  app->footer(
      "Examples:\n  slipstick run scenes/dominoes.yaml --step 1/240 -o run.h5 --report run.json\n"
      "  slipstick run scenes/stack.yaml -o run.h5 --all && slipstick recheck run.h5\n"
      "  slipstick run scenes/wall.yaml --checkpoint wall.state --every 0.5\n"
      "  slipstick run scenes/wall.yaml --resume wall.state --duration 20 -o rest.h5\n"
      "  slipstick run scenes/wheel_loader.yaml --realtime --budget 30");
}

void add_check(CLI::App* app, CheckArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->add_flag("--json", arguments->json, "Print JSON");
  app->add_flag("--assemble", arguments->assemble, "Exit 1 if joints that start open cannot be put together");
  app->add_option("--at", arguments->at, "Run to this time, s, and look there; an expression")->type_name("T");
  app->footer("Examples:\n  slipstick check scenes/arch.yaml\n  slipstick check scenes/pawl.yaml --at 0.9e-3");
}

void add_convert(CLI::App* app, ConvertArguments* arguments) {
  app->add_option("MODEL", arguments->scene.scene, "URDF or MJCF file")->required();
  app->add_option("-o,--output", arguments->output, "Scene file; meshes go into a folder beside it")->type_name("FILE");
  app->add_flag("--report", arguments->report, "List what is read but not modelled, with its place");
  app->add_flag("--json", arguments->json, "The report as JSON");
  app->add_flag("--no-clobber", arguments->no_clobber, "Refuse to replace a file that is there");
  add_reading_options(app, &arguments->scene);
  app->footer(
      "Examples:\n  slipstick convert robot.urdf -o robot.yaml\n  slipstick convert humanoid.xml --report --json");
}

void add_solve(CLI::App* app, SolveArguments* arguments) {
  app->add_option("PROBLEM", arguments->problem, "Problem file (HDF5: FCLib, or an LCP; docs/problems.md)");
  app->add_option("--profile", arguments->profile,
                  "Every solver on every problem of a folder, and a performance profile")
      ->type_name("DIR");
  app->add_option("--solver", arguments->solver, "A solver's name, auto, or all for a table")->type_name("X");
  app->add_option("--tol", arguments->tolerances,
                  "Relative residual up to which the answer is certified (1e-8); with --profile a list: 1e-4,1e-8")
      ->type_name("E");
  app->add_option("--time-limit", arguments->time_limit, "Seconds a solver may take")->type_name("S");
  app->add_option("--threads", arguments->threads, "Threads to use")->type_name("N");
  app->add_option("--repeat", arguments->repeat, "Solve N times and give the shortest time")->type_name("N");
  app->add_option("-o,--output", arguments->output,
                  "Write the answer (HDF5, as FCLib does); with --profile a picture (.png or .svg)")
      ->type_name("FILE");
  app->add_flag("--guess", arguments->guess, "Start from the guess in the file");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer(
      "Examples:\n  slipstick solve problem.hdf5 --json\n  slipstick solve problem.hdf5 --solver all\n"
      "  slipstick solve --profile problems --tol 1e-4,1e-8 -o profile.png");
}

void add_dump(CLI::App* app, DumpArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->add_option("--at", arguments->at, "Time at which the step begins, s; an expression")->type_name("T")->required();
  app->add_option("-o,--output", arguments->output, "Problem file (HDF5, FCLib's global form)")
      ->type_name("FILE")
      ->required();
  app->footer("Example:\n  slipstick dump scenes/arch.yaml --at 0.5 -o arch.hdf5\n  slipstick solve arch.hdf5");
}

void add_view(CLI::App* app, ViewArguments* arguments) {
  app->add_option("FILE", arguments->inputs, "A recording (.h5), two to compare, or a scene with --live")->required();
  app->add_flag("--live", arguments->live, "Simulate the scene FILE and watch it");
  app->add_option("-o,--record", arguments->record, "With --live: record what runs; after a reset into FILE_2.h5, ...")
      ->type_name("FILE.h5");
  app->add_option("--export", arguments->output,
                  "Write one page that opens without a server (.html), or the motion for Blender and its like (.glb)")
      ->type_name("FILE");
  app->add_option("--video", arguments->video, "Write a film: .mp4, .webm, .webp or .apng (by Chromium and ffmpeg)")
      ->type_name("FILE");
  app->add_option("--png", arguments->pictures, "Write the film's pictures: DIR/frame_00000.png, ...")
      ->type_name("DIR");
  app->add_option("--fps", arguments->rate, "Pictures per second of film")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1000.0));
  app->add_option("--speed", arguments->speed, "Simulated seconds per second of film")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 1e6));
  app->add_option("--from", arguments->from, "Where the film begins, s")->type_name("T");
  app->add_option("--to", arguments->to, "Where it ends, s")->type_name("T");
  app->add_option("--size", arguments->size, "Of the film's pictures, pixels; 1280x720 by default")->type_name("WxH");
  app->add_option("--look", arguments->look,
                  "Settings of the page, as after # in its address: 'theme=light&forces=1&view=front&caption=1'")
      ->type_name("TEXT");
  app->add_flag("!--no-open", arguments->open, "Print the address only, open no browser");
  app->add_option("--port", arguments->port, "Port of 127.0.0.1; any that is free by default")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  add_reading_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->footer(
      "Examples:\n  slipstick view run.h5\n  slipstick view one.h5 other.h5\n"
      "  slipstick view scenes/dominoes.yaml --live\n  slipstick view run.h5 --export page.html\n"
      "  slipstick view run.h5 --export run.glb\n"
      "  slipstick view run.h5 --video run.mp4 --from 1 --to 5 --speed 0.5 --look 'theme=light&forces=1'");
}

void add_new(CLI::App* app, NewArguments* arguments) {
  app->add_option("NAME", arguments->name, "Of the scene; its file is NAME.yaml")->required();
  app->footer("Example:\n  slipstick new machine\n  slipstick view machine.yaml --live");
}

void add_gallery(CLI::App* app, GalleryArguments* arguments) {
  app->add_option("-o,--output", arguments->folder, "Folder for the pages")->type_name("DIR")->capture_default_str();
  app->add_option("--scenes", arguments->scenes, "Folder of scenes; the shipped ones by default")->type_name("DIR");
  app->add_option("--max-seconds", arguments->max_seconds, "Stop a scene that takes longer to simulate")
      ->type_name("S")
      ->capture_default_str();
  app->add_flag("!--no-pictures", arguments->pictures, "Leave the thumbnails out (they need Chromium)");
  app->add_option("FILES", arguments->files, "Scenes and models (.urdf, MJCF .xml) instead of a folder of scenes");
  add_model_options(app, &arguments->model);
  app->footer(
      "Examples:\n  slipstick gallery -o gallery\n  slipstick gallery -o robots --floor */scene.xml robot.urdf");
}

void add_plot(CLI::App* app, PlotArguments* arguments) {
  app->add_option("RECORDING", arguments->recording, "A recording (.h5)")->required();
  app->add_option("--what", arguments->what,
                  "What to plot, separated by commas: energy, ledger, residual, relative, penetration, joint_error, "
                  "iterations, contacts; of a body: position, velocity, speed, spin")
      ->required();
  app->add_option("--body", arguments->body, "The body, for what is about one")->type_name("NAME");
  app->add_option("--joint", arguments->joint, "The joint, for series about one")->type_name("NAME");
  app->add_option("--sensor", arguments->sensor, "Only these sensors, separated by commas, for `sensors`")
      ->type_name("NAMES");
  app->add_option("-o,--output", arguments->output, "Picture: .png or .svg")->type_name("FILE")->required();
  app->footer(
      "Examples:\n  slipstick plot run.h5 --what energy,residual -o run.png\n"
      "  slipstick plot run.h5 --what speed --body ball -o ball.svg");
}

void add_table(CLI::App* app, TableArguments* arguments) {
  app->add_option("RUN", arguments->recording, "Recording (.h5)")->required();
  app->add_option("--what", arguments->what, "Series, separated by commas; list: what there is (as without it)")
      ->type_name("A,B");
  app->add_option("--body", arguments->body, "Only these bodies, separated by commas")->type_name("NAMES");
  app->add_option("--joint", arguments->joint, "Only these joints, separated by commas")->type_name("NAMES");
  app->add_option("-o,--output", arguments->output, "CSV file; standard output without it")->type_name("FILE");
  app->add_flag("--no-clobber", arguments->no_clobber, "Refuse to replace a file that is there");
  app->footer(
      "Examples:\n  slipstick table run.h5\n  slipstick table run.h5 --what position,velocity --body ball -o ball.csv\n"
      "  slipstick table run.h5 --what contacts -o contacts.csv");
}

void add_converge(CLI::App* app, ConvergeArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->remove_option(app->get_option("--step"));
  app->add_option("--steps", arguments->steps, "Longest and shortest step, s; expressions: 2^-5..2^-9")
      ->type_name("A..B")
      ->required();
  app->add_option("--reference", arguments->reference, "Step of the reference run, s; finest: half of the shortest")
      ->type_name("finest|H")
      ->capture_default_str();
  app->add_option("--plot", arguments->plot, "Picture: .png or .svg")->type_name("FILE");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer("Example:\n  slipstick converge scenes/double_pendulum.yaml --steps 2^-5..2^-9 --plot orders.png");
}

void add_compare(CLI::App* app, CompareArguments* arguments) {
  add_scene_options(app, &arguments->scene);
  add_simulation_options(app, &arguments->simulation);
  app->remove_option(app->get_option("--scheme"));
  app->remove_option(app->get_option("--solver"));
  app->add_option("--schemes", arguments->schemes, "Schemes, separated by commas; the scene's by default")
      ->type_name("A,B");
  app->add_option("--solvers", arguments->solvers, "Solvers, separated by commas; the scene's by default")
      ->type_name("X,Y");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer("Example:\n  slipstick compare scenes/stack.yaml --schemes stabilized,euler --solvers newton,pgs");
}

void add_reproduce(CLI::App* app, ReproduceArguments* arguments) {
  app->add_option("NAME", arguments->name, "An experiment, or all")->capture_default_str();
  app->add_option("-o,--output", arguments->folder, "Folder for plots and report.html")->type_name("DIR");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer("Example:\n  slipstick reproduce double-pendulum -o report");
}

void add_verify(CLI::App* app, VerifyArguments* arguments) {
  app->add_option("NAME", arguments->name, "A problem, or all")->capture_default_str();
  app->add_option("-o,--output", arguments->folder, "Folder for verify.html")->type_name("DIR");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->add_option("--accuracy", arguments->accuracy,
                  "Steps that choose themselves, at this accuracy in m, instead of fixed ones")
      ->type_name("E");
  app->add_option("--step", arguments->step, "Another step in s than the problem's own, and half of it")
      ->type_name("H");
  app->footer("Example:\n  slipstick verify stick-slip");
}

void add_bench(CLI::App* app, BenchArguments* arguments) {
  app->add_option("NAME", arguments->name, "A benchmark, the beginning of several (stack), or all")
      ->capture_default_str();
  app->add_flag(
      "--peers", arguments->peers,
      "The same scenes in other engines, in turn (Bullet, ODE, MuJoCo, DART; Jolt and Rapier as WebAssembly)");
  app->add_option("--rounds", arguments->rounds, "So many times in turn; the quickest counts")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--limit", arguments->limit,
                  "Seconds of wall time that an engine may take for a scene before it is cut short")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--minutes", arguments->minutes,
                  "For everything: what takes longer than its share is cut short (all: 14)")
      ->type_name("M")
      ->check(CLI::PositiveNumber);
  app->add_option("-o,--output", arguments->folder, "Folder for bench.html: time against error for each scene")
      ->type_name("DIR");
  app->add_flag("--json", arguments->json, "Print JSON");
  app->footer(
      "Examples:\n  slipstick bench stack\n  slipstick bench wall --peers --rounds 3\n  slipstick bench all --peers -o "
      "bench");
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
  ConvertArguments convert_arguments;
  SolveArguments solve_arguments;
  DumpArguments dump_arguments;
  NewArguments new_arguments;
  ViewArguments view_arguments;
  GalleryArguments gallery_arguments;
  PlotArguments plot_arguments;
  TableArguments table_arguments;
  ConvergeArguments converge_arguments;
  CompareArguments compare_arguments;
  ReproduceArguments reproduce_arguments;
  VerifyArguments verify_arguments;
  BenchArguments bench_arguments;
  ExamplesArguments examples_arguments;
  InfoArguments info_arguments;
  CLI::App* run_command = app.add_subcommand("run", "Simulate a scene");
  CLI::App* new_command = app.add_subcommand("new", "Write a commented scene to begin with");
  CLI::App* check_command = app.add_subcommand("check", "Validate a scene and diagnose it before a run");
  CLI::App* convert_command = app.add_subcommand("convert", "URDF or MJCF to a scene file");
  CLI::App* solve_command = app.add_subcommand("solve", "Solve one complementarity problem from a file and certify it");
  CLI::App* dump_command = app.add_subcommand("dump", "Write one step's complementarity problem to a file");
  CLI::App* view_command = app.add_subcommand("view", "See a recording or a running scene in the browser");
  CLI::App* gallery_command =
      app.add_subcommand("gallery", "Run every shipped scene, or your own, and make a page of replays");
  CLI::App* plot_command = app.add_subcommand("plot", "Plot series of a recording into a picture");
  CLI::App* table_command = app.add_subcommand("table", "Series of a recording as CSV");
  CLI::App* converge_command = app.add_subcommand("converge", "Halve the step: errors, ratios and observed orders");
  CLI::App* compare_command = app.add_subcommand("compare", "One scene under several schemes and solvers");
  CLI::App* reproduce_command = app.add_subcommand("reproduce", "Experiments of the papers against published figures");
  CLI::App* verify_command = app.add_subcommand("verify", "Problems with known answers: errors and observed orders");
  app.add_subcommand("sweep", "Run every case of a study into one table")->prefix_command();
  app.add_subcommand("fit", "Fit parameters of a scene to measured trajectories")->prefix_command();
  app.add_subcommand("validate", "Compare the engine with measured impacts")->prefix_command();
  app.add_subcommand("recheck", "Verify a recording made with 'run --all' from its numbers alone")->prefix_command();
  CLI::App* bench_command = app.add_subcommand("bench", "Benchmark scenes, also beside other engines");
  CLI::App* examples_command = app.add_subcommand("examples", "List, show, copy or run a shipped scene");
  CLI::App* info_command = app.add_subcommand("info", "Version, build, schemes, solvers, shapes, joints");
  add_run(run_command, &run_arguments);
  add_new(new_command, &new_arguments);
  add_check(check_command, &check_arguments);
  add_convert(convert_command, &convert_arguments);
  add_solve(solve_command, &solve_arguments);
  add_dump(dump_command, &dump_arguments);
  add_view(view_command, &view_arguments);
  add_gallery(gallery_command, &gallery_arguments);
  add_plot(plot_command, &plot_arguments);
  add_table(table_command, &table_arguments);
  add_converge(converge_command, &converge_arguments);
  add_compare(compare_command, &compare_arguments);
  add_reproduce(reproduce_command, &reproduce_arguments);
  add_verify(verify_command, &verify_arguments);
  add_bench(bench_command, &bench_arguments);
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
  if (is_python_command(words[1])) return run_python_command(count, words);
  if (std::string_view(words[1]) == "recheck") return run_recheck(count, words);
  try {
    app.parse(count, words);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  run_arguments.command = join_command(count, words);
  slipstick::end_without_hdf5();
  const auto dispatch = [&] {
    if (*run_command) return run(run_arguments);
    if (*new_command) return new_scene(new_arguments);
    if (*check_command) return check(check_arguments);
    if (*convert_command) return convert(convert_arguments);
    if (*solve_command) return solve(solve_arguments);
    if (*dump_command) return dump(dump_arguments);
    if (*view_command) return view(view_arguments);
    if (*gallery_command) return gallery(gallery_arguments);
    if (*plot_command) return plot(plot_arguments);
    if (*table_command) return table(table_arguments);
    if (*converge_command) return converge(converge_arguments);
    if (*compare_command) return compare(compare_arguments);
    if (*reproduce_command) return reproduce(reproduce_arguments);
    if (*verify_command) return verify(verify_arguments);
    if (*bench_command) return bench(bench_arguments);
    if (*examples_command) return examples(examples_arguments);
    return info(info_arguments);
  };
  try {
    return dispatch();
  } catch (const std::bad_alloc&) {
    say(words[1], "not enough memory for this; give it more, or a smaller scene or file");
    return kFailed;
  }
}
