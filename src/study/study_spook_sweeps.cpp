// Gauss-Seidel sweeps on the problems of single steps, beside `auto` on the same problems.
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <memory>

#include "report/print_text.h"
#include "study/study_spook.h"

namespace slipstick {

namespace {

constexpr int kSweepsShown = 1000;
constexpr double kSolved = 1e-8;
constexpr double kBelowAll = 1e-15;  // the sweeps go on to the end
constexpr double kFloor = 1e-16;     // what is less is shown there

struct SweepCase {
  std::string file, title;
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<double> instants;  ///< s, rising
};

PlotLine make_sweep_line(std::string label, bool markers) { return {std::move(label), {}, {}, false, markers, false}; }

/// What `split` leaves after each coupling: of the swept rows after the sweeps, of the direct rows after the direct
/// solve, of the whole problem then. Its places are those of its last sweeps.
void add_split_lines(const Problem& problem, Plot* plot) {
  SolverOptions options;
  options.max_iterations = kSweepsShown / options.sweeps;
  options.order = SweepOrder::Natural;
  options.record_history = true;
  const std::unique_ptr<Solver> split = make_solver("split", options);
  Solution answer;
  split->solve(problem, kBelowAll, &answer);
  PlotLine iterative = make_sweep_line("split, iterative half", true),
           direct = make_sweep_line("split, direct half", true);
  PlotLine all = make_sweep_line("split, both", false);
  double sweep = 0;
  for (const CouplingResidual& left : split->history()->couplings) {
    for (PlotLine* line : {&iterative, &direct, &all}) line->x.push_back(sweep);
    iterative.y.push_back(std::max(left.iterative, kFloor));
    direct.y.push_back(std::max(left.direct, kFloor));
    all.y.push_back(std::max(left.all, kFloor));
    sweep += options.sweeps;
  }
  plot->lines.push_back(std::move(iterative));
  plot->lines.push_back(std::move(direct));
  plot->lines.push_back(std::move(all));
}

/// One panel: the residual after each sweep of each splitting, a mark where a row block changed its state, both halves
/// of `split`, and what `auto` reaches.
Plot make_sweep_panel(const std::string& title, const Problem& problem, const Solution& guess, double* reached) {
  Plot plot{title, {"sweep", false, {}, {}}, {"relative residual", true, kFloor, {}}, {}};
  PlotLine marks{"a contact changes its state", {}, {}, false, true, true};
  for (const LocalSolver local : {LocalSolver::Separate, LocalSolver::BlockTangents, LocalSolver::Cone}) {
    SolverOptions options;
    options.local = local;
    options.max_iterations = kSweepsShown;
    options.order = SweepOrder::Natural;
    options.record_history = true;
    const std::unique_ptr<Solver> pgs = make_solver("pgs", options);
    Solution answer;  // from nothing: near the answer of the last step there would be little to see
    pgs->solve(problem, kBelowAll, &answer);
    PlotLine line{
        "pgs, " + std::string(local_solver_names()[static_cast<std::size_t>(local)]), {}, {}, false, false, false};
    const SolverHistory& history = *pgs->history();
    for (std::size_t k = 0; k < history.residual.size(); ++k) {
      line.x.push_back(static_cast<double>(k + 1));
      line.y.push_back(std::max(history.residual[k], kFloor));
      if (local != LocalSolver::Separate || history.changes[k] == 0) continue;
      marks.x.push_back(static_cast<double>(k + 1));
      marks.y.push_back(3 * kFloor);
    }
    plot.lines.push_back(std::move(line));
  }
  SolverLadder ladder({});
  Solution answer = guess;
  *reached = ladder.solve(problem, &answer).residual.relative;
  add_split_lines(problem, &plot);
  const double level = std::max(*reached, kFloor);
  plot.lines.push_back({"auto", {1, kSweepsShown}, {level, level}, false, false, true});
  plot.lines.push_back(std::move(marks));
  return plot;
}

bool add_sweep_case(const SweepCase& one, long* instants, long* solved, StudyRuns* bench) {
  const std::optional<Scene> scene = bench->load({one.file, one.set, {}});
  if (!scene) return false;
  Simulation simulation(scene->model, scene->initial, scene->options);
  Problem problem;
  Solution guess;
  for (std::size_t next = 0; next < one.instants.size();) {
    const double time = simulation.state().time, share = time / one.instants.back();
    const bool wanted = time >= one.instants[next] - 1e-9;
    if (bench->step(one.title, share, &simulation, wanted ? &problem : nullptr, &guess) == nullptr) return false;
    if (!wanted) continue;
    double reached = 0;
    bench->add_panel(make_sweep_panel(one.title + print_text(", t = %.3g s", time), problem, guess, &reached));
    ++*instants;
    *solved += reached <= kSolved;
    ++next;
  }
  return true;
}

Result<Reproduction> reproduce_sweeps(StudyRuns bench, const std::vector<SweepCase>& cases) {
  long instants = 0, solved = 0;
  for (const SweepCase& one : cases)
    if (!add_sweep_case(one, &instants, &solved, &bench)) return bench.finish();
  bench.add("instants solved to 1e-8 by auto", static_cast<double>(instants), static_cast<double>(solved), 0,
            FigureRule::Absolute, FigureSource::ClosedForm);
  return bench.finish();
}

}  // namespace

Result<Reproduction> reproduce_spook_logs(const std::string& scenes, const StudyMonitor& monitor) {
  return reproduce_sweeps(
      StudyRuns(
          {"spook-logs",
           kLacoursiere,
           "figure 8",
           "Logs dropped askew on a slope: landing, in a heap, and in a heap that slides. Row by row (`separate`) "
           "the sweeps stop at a residual of 1e-4 to 1e-2 and stay there; contact by contact they stagnate, "
           "fall in jumps where contacts change their state, and stagnate again. Of `split` the direct half is "
           "at rounding and the sweeps stagnate like the others. The same problems are solved to 1e-8 by `auto`.",
           {},
           {},
           0,
           0,
           {}},
          scenes, monitor),
      {{"logs.yaml", "logs", {{"n", "40"}, {"pitch", "0.5"}, {"twist", "0.05"}}, {0.25, 0.9, 2}}});
}

Result<Reproduction> reproduce_spook_walls(const std::string& scenes, const StudyMonitor& monitor) {
  const std::vector<double> instants{0.1, 0.6, 1};
  const std::vector<std::pair<std::string, std::string>> regular{{"columns", "8"}, {"rows", "6"}, {"hit", "0.4"}};
  std::vector<std::pair<std::string, std::string>> irregular = regular;
  irregular.push_back({"length", "2"});
  return reproduce_sweeps(
      StudyRuns({"spook-walls",
                 kLacoursiere,
                 "figure 9",
                 "A wall of bricks at rest, hit by a ball, and falling; then the same with bricks four times as long "
                 "as high. At rest the sweeps gain a digit in 700, and the first direct solve of `split` is all that "
                 "is needed. Once bricks slide, the sweeps row by row (`separate`) stop near 1e-3, contact by contact "
                 "they jump and stagnate further down, and the halves of `split` do not agree. Bricks change between "
                 "sticking, sliding and open in nearly every sweep. Unlike in the paper, long bricks are not harder.",
                 {},
                 {},
                 0,
                 0,
                 {}},
                scenes, monitor),
      {{"wall.yaml", "wall", regular, instants}, {"wall.yaml", "long bricks", irregular, instants}});
}

Result<Reproduction> reproduce_spook_box(const std::string& scenes, const StudyMonitor& monitor) {
  return reproduce_sweeps(
      StudyRuns({"spook-squeezed-box",
                 kLacoursiere,
                 "figure 10",
                 "A tall box between two plates that are a little too close, pulled sideways: eight contacts that "
                 "slide. Row by row (`separate`) the residual of the sweeps grows and stays ten times above where it "
                 "began; contact by contact it falls in waves, a digit in 300 sweeps. `split`, whose normals are "
                 "direct, is at rounding after a dozen couplings, as `auto` is.",
                 {},
                 {},
                 0,
                 0,
                 {}},
                scenes, monitor),
      {{"squeezed_box.yaml", "squeezed box", {}, {0, 0.25, 0.5}}});
}

}  // namespace slipstick
