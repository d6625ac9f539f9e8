// The commands of the program. main.cpp reads the command line into these structs; each command has a file of its own
// and returns the exit code: 0 done, 1 failed, 2 bad input, 130 interrupted.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kInterrupted = 130;

/// Models of other programs (URDF, MJCF).
struct ModelArguments {
  std::string key, mesh = "hull", base = "fixed";
  bool floor = false, repair_inertia = false;
};

/// What names a scene and how it is read.
struct SceneArguments {
  std::string scene;
  std::vector<std::string> set;  ///< name=expression
  bool allow_path = false;
  std::optional<int> max_bodies;
  ModelArguments model;
};

/// What a command line may say instead of the scene's `simulation:` section. Numbers are texts: expressions.
struct SimulationArguments {
  std::string step, duration, tolerance;
  std::string scheme, solver, friction, effort, accuracy;
  std::optional<int> facets, threads;
};

struct RunArguments {
  SceneArguments scene;
  SimulationArguments simulation;
  std::string output;  ///< recording
  bool all = false;    ///< with every step and every part of it
  std::string report;
  bool json = false, strict = false, quiet = false;
  bool keep_going = false;         ///< also where the state is beyond repair
  bool audit = false;              ///< every pair after every step
  std::string command;             ///< the whole command line, for the recording
  std::optional<double> realtime;  ///< simulated seconds a second of the clock
  std::optional<int> budget;       ///< sweeps per problem; with `realtime` in steps that begin late
  std::string checkpoint, every;   ///< state file, and simulated seconds between two: an expression
  std::string resume;              ///< state file or recording
  bool no_clobber = false;
};
int run(const RunArguments& arguments);

struct CheckArguments {
  SceneArguments scene;
  SimulationArguments simulation;
  bool json = false;
  bool assemble = false;  ///< joints that cannot be put together are a failure
  std::string at;         ///< moment to look at, an expression; empty: the start
};
int check(const CheckArguments& arguments);

struct ConvertArguments {
  SceneArguments scene;
  std::string output;
  bool report = false, json = false, no_clobber = false;
};
int convert(const ConvertArguments& arguments);

struct SolveArguments {
  std::string problem;
  std::string profile;  ///< a folder, instead of `problem`
  std::string solver = "auto";
  std::string tolerances;                                       ///< a list only with `profile`; empty: the default
  double time_limit = std::numeric_limits<double>::infinity();  ///< s
  int threads = 1;
  std::optional<int> repeat;
  std::string output;  ///< the answer, or the profile's picture
  bool json = false, guess = false;
};
int solve(const SolveArguments& arguments);

struct DumpArguments {
  SceneArguments scene;
  SimulationArguments simulation;
  std::string at;      ///< s; an expression
  std::string output;  ///< the problem
};
int dump(const DumpArguments& arguments);

struct ViewArguments {
  std::vector<std::string> inputs;  ///< recordings, or one scene with --live
  SceneArguments scene;             ///< how a live scene is read; `inputs` names it
  SimulationArguments simulation;
  bool live = false;
  bool open = true;             ///< in a browser
  std::string output;           ///< --export
  std::string record;           ///< --live: file of the recording
  std::string video, pictures;  ///< a film's file, a folder for its pictures
  double rate = 30, speed = 1;  ///< of films
  std::optional<double> from, to;
  std::string size, look;
  int port = 0;
};
int view(const ViewArguments& arguments);

struct NewArguments {
  std::string name;
};
int new_scene(const NewArguments& arguments);

struct GalleryArguments {
  std::string folder = "gallery";
  std::string scenes;              ///< a folder; empty: the shipped scenes
  std::vector<std::string> files;  ///< instead: these
  ModelArguments model;
  double max_seconds = 30;  ///< of wall time, for one scene's run
  bool pictures = true;
};
int gallery(const GalleryArguments& arguments);

struct PlotArguments {
  std::string recording, what, body, joint, sensor, output;
};
int plot(const PlotArguments& arguments);

struct TableArguments {
  std::string recording, what, body, joint, output;
  bool no_clobber = false;
};
int table(const TableArguments& arguments);

struct ConvergeArguments {
  SceneArguments scene;
  SimulationArguments simulation;
  std::string steps;                 ///< A..B, expressions
  std::string reference = "finest";  ///< or a step: an expression
  std::string plot;                  ///< picture
  bool json = false;
};
int converge(const ConvergeArguments& arguments);

struct CompareArguments {
  SceneArguments scene;
  SimulationArguments simulation;
  std::string schemes, solvers;  ///< lists; empty: the scene's own
  bool json = false;
};
int compare(const CompareArguments& arguments);

struct ReproduceArguments {
  std::string name = "all";
  std::string folder;  ///< for plots and report.html
  bool json = false;
};
int reproduce(const ReproduceArguments& arguments);
/// Problems with known answers.
struct VerifyArguments : ReproduceArguments {
  std::string accuracy;  ///< an expression; empty: fixed steps
  std::string step;      ///< an expression; empty: the problem's own
};
int verify(const VerifyArguments& arguments);

struct BenchArguments {
  std::string name = "all";
  bool peers = false, json = false;
  int rounds = 1;
  double limit = 120;  ///< s of wall time for a run of one engine
  double minutes = 0;  ///< of wall time for everything; 0: none, but for `all`
  std::string folder;  ///< of the page; empty: none
};
int bench(const BenchArguments& arguments);

struct ExamplesArguments {
  std::string name;
  std::string copy;  ///< folder
  bool list = false, json = false, path = false, run = false;
};
int examples(const ExamplesArguments& arguments);

/// A shipped scene.
struct Example {
  std::string name, path, about;
};
/// All scenes of a folder, sorted by name; an empty `folder` is that of the shipped ones.
std::vector<Example> find_examples(const std::string& folder);
/// The folder of the shipped scenes; nothing, and the user told, if there are none.
std::optional<std::string> find_shipped_scenes(const char* command);

struct InfoArguments {
  bool json = false;
};
int info(const InfoArguments& arguments);
