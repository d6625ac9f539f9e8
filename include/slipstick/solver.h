// Room: solve. The face of a solver, the one judge of all solvers, and the registry of both.
#pragma once

#include <slipstick/problem.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// The parts of the law that the judge looks at one by one; docs/certificate.md has the formulas.
enum class LawPart : std::uint8_t {
  None,             ///< nothing was judged, or everything holds exactly
  NaturalMap,       ///< the island's natural map as a whole, m/s
  Momentum,         ///< v is not what the impulses produce, m/s
  Approach,         ///< bodies approach where they touch: w_n < 0, m/s
  NegativeImpulse,  ///< a contact or limit pulls: lambda_n < 0, N s
  Complementarity,  ///< an impulse where bodies separate, m/s
  Cone,             ///< friction beyond mu lambda_n, N s
  Slip,             ///< slip that friction does not oppose with all it may, m/s
  Joint,            ///< an equality row moves: w != 0, m/s
  Bound             ///< a row between bounds: outside them, or moving inside, m/s
};
std::string_view name_of(LawPart part);
std::string_view unit_of(LawPart part);

/// Where a solution is furthest from the law, measured against that place's own scale.
struct WorstPart {
  LawPart part = LawPart::None;
  int island = -1;      ///< in the order of Islands: by first row block; -1: a column that no row touches
  int block = -1;       ///< row block; -1: Momentum
  int column = -1;      ///< the column itself (Momentum), or the first that the block touches
  int other = -1;       ///< the last that the block touches, if it touches several
  double value = 0;     ///< in the part's unit (rad/s, N m s for angular rows)
  double relative = 0;  ///< the same as a part of the scale; what the tolerance is held against
};

/// What the judge says about (problem, solution); docs/certificate.md has the formulas. Each island is measured against
/// its own scale; the numbers are the largest over all islands.
struct Residuals {
  double natural = 0;      ///< max_i |F_i|_inf, the natural map in m/s (rad/s for angular rows)
  double relative = 0;     ///< max over islands of ||F||_2 / ||q||_2, q = J A^-1 b + c (0/0 = 0)
  double law = 0;          ///< max over row blocks and parts of the law, each over its own scale
  double momentum = 0;     ///< max over columns of |v - A^-1 (b + J^T lambda)| over the column's speeds
  double dynamics = 0;     ///< max |v - A^-1 (b + J^T lambda)|: a solution must satisfy (P1) too
  double cone = 0;         ///< max(0, |lambda_t| - mu lambda_n), N s: outside the friction limit
  double dissipation = 0;  ///< max(0, lambda_t . w_t) over friction blocks, J: friction that drives
  double scale = 0;        ///< ||q||_2 of the whole problem, m/s
  double speed = 0;        ///< max |v|
  WorstPart worst;         ///< of relative, law and momentum; a part of the law before the map, where it is near it

  /// What a tolerance is held against: the worst of natural map, law and momentum, by island, row block and column.
  double verdict() const { return worst.relative; }
  /// (P1) and (P2) with (P3) hold to the relative tolerance, in every island.
  bool within(double tolerance) const { return worst.relative <= tolerance; }
};

/// Takes the worse of the two, number by number. A NaN must show: it wins over every number and stays.
void raise_to(double value, double* worst);
void raise_to(const WorstPart& value, WorstPart* worst);
void raise_to(const Residuals& value, Residuals* worst);

class ThreadTeam;
class Islands;
class MassBlocks;

/// One judge for all: computed from the problem and lambda alone; v is recomputed and compared, w never read.
/// A non-finite solution has infinite residuals.
class Judge {
 public:
  Judge();
  ~Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;
  /// Who helps from now on; null: nobody. The certificate is the same.
  void set_team(const ThreadTeam* team);
  Residuals certify(const Problem& problem, const Solution& solution);
  /// The same where somebody has the islands of this very problem at hand (solve/presolve.h): they depend on nothing
  /// but the problem.
  Residuals certify(const Problem& problem, const Solution& solution, const Islands& islands);
  /// And the inverse masses (solve/mass_blocks.h).
  Residuals certify(const Problem& problem, const Solution& solution, const Islands& islands, const MassBlocks& masses);
  /// Of the last certificate: that of each island by itself, in the order of their first row blocks. `scale` is the
  /// whole's.
  const std::vector<Residuals>& islands() const;

 private:
  struct Scratch;
  Scratch& scratch();
  std::unique_ptr<Scratch> scratch_;  ///< null before there is a question: many judges are never asked
};
Residuals certify(const Problem& problem, const Solution& solution);

enum class SolveStatus { Solved, NotConverged, Unsupported };
std::string_view name_of(SolveStatus status);

struct SolverReport {
  SolveStatus status = SolveStatus::NotConverged;
  int iterations = 0;     ///< pivots, sweeps or Newton steps
  bool warm_hit = false;  ///< the guess' own basis or active set was still right (solvers that pivot)
  bool settled = false;   ///< ended at SolverOptions::settle
  bool hurried = false;   ///< the problem was too dear for more than that
  std::string_view note;  ///< static text: why it was not solved
  Residuals residual;     ///< of the answer, by the judge; infinite where there is none
  int couplings = 0;      ///< split: times that the sweeps and a direct solve followed each other
  double direct_residual = 0, iterative_residual = 0;  ///< split: of its halves at the end (CouplingResidual)
};

struct SolverTraits {
  std::string_view name;
  bool cone = false;  ///< solves the true friction cone
  bool pyramid = false;
  bool box_friction = false;
  bool nonsymmetric = false;  ///< A may be non-symmetric
  bool local_form = false;    ///< Problem::coupling may be present
  std::string_view citation;
};

/// How `pgs` and `split` solve one friction block when all others are held (docs/solvers.md).
enum class LocalSolver : std::uint8_t {
  Separate,         ///< row by row, tangents clipped at what the normal allows
  BlockProjection,  ///< as if sticking; if that is outside the limit, along the same direction at the limit
  BlockTangents,    ///< the normal, then both tangents together within what it allows
  Cone              ///< the block's law, exactly
};

/// The order in which `pgs` and `split` visit the row blocks; the same for any number of threads.
enum class SweepOrder : std::uint8_t {
  Auto,     ///< Natural up to 500 row blocks and for local form, Coloured beyond
  Natural,  ///< as they stand in the problem; little can be done in parallel
  Coloured  ///< colour by colour: blocks of one colour share no column and are visited in parallel
};

/// Work in row operations, the same on every machine: one is what a sweep does for a row between two bodies, about 24
/// multiplications. `newton`, `lemke` and `pgs` count theirs before they do it, and stop where it would pass the limit.
struct WorkMeter {
  double limit = std::numeric_limits<double>::infinity();
  double spent = 0;
  /// Times SolverOptions::settle: of a part of a problem, where the rows that it was cut from ask for less.
  double looseness = 1;
};

/// What a solver may be told. The defaults are what most want; solver_option_names says who reads what.
struct SolverOptions {
  LocalSolver local = LocalSolver::Cone;
  double relaxation = 1;   ///< factor on each local correction, in (0, 2)
  int max_iterations = 0;  ///< sweeps (pgs) or couplings (split); 0: the solver's own number
  int sweeps = 15;         ///< split: Gauss-Seidel sweeps a coupling
  int mixing = 0;          ///< pgs: Anderson's mixing of so many sweeps, 0: none
  double time_limit = 0;   ///< s, 0: none. With a limit the answer depends on the machine's speed
  bool symmetric = false;  ///< every other sweep runs backwards
  SweepOrder order = SweepOrder::Auto;
  int threads = 1;              ///< for one problem; the answer does not depend on it
  bool record_history = false;  ///< keep a SolverHistory; costs a residual a sweep
  /// True: the solver ends as soon as it can, as if its time were over. Null: nobody stops it. Must outlive the solver.
  const std::atomic<bool>* stop = nullptr;
  WorkMeter* work = nullptr;         ///< counts and limits the work; null: neither. It must outlive the solver
  const ThreadTeam* team = nullptr;  ///< who helps, for one problem; the answer does not depend on it. Null: nobody
  /// newton: a relative natural map that will do where the whole of its ladder would be dear (some 60 ms); 0: none, it
  /// goes on to its end.
  double settle = 0;
};

/// One thing wrong with the options of a simulation or a solver.
struct OptionFault {
  std::string item;     ///< whose option it is: "scheme", "solver", "friction"; empty: the simulation's own
  std::string key;      ///< what a scene calls it: "step", "relaxation"
  std::string message;  ///< a whole line with the remedy
};

/// Ranges; empty when good.
std::vector<OptionFault> find_solver_option_faults(const SolverOptions& options);
/// The options that a solver reads, by their names in scene files; empty: none, or no such solver.
std::vector<std::string_view> solver_option_names(std::string_view solver);
/// In the order of the enumerators.
std::vector<std::string_view> local_solver_names();
std::vector<std::string_view> sweep_order_names();

/// What is left after one coupling of `split`, relative as the judge's residual.
struct CouplingResidual {
  double direct = 0;     ///< rows of the direct half after its solve, the others held
  double iterative = 0;  ///< swept rows after the sweeps, the others held
  double all = 0;        ///< the whole problem, after the direct solve
};

/// The course of the last solve, one entry per sweep.
struct SolverHistory {
  std::vector<double> residual;  ///< relative natural-map residual after the sweep, by the judge's formula
  std::vector<int> changes;      ///< row blocks whose state (open, sticking, sliding; at a bound or not) it changed
  std::vector<CouplingResidual> couplings;  ///< split: the first direct solve (`iterative` then before it), then one a
                                            ///< coupling
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual SolverTraits traits() const = 0;
  /// `answer` is a guess on entry (sizes right) or ignored (sizes wrong); v, lambda, w on return.
  /// The status of a solver from make_solver is the judge's: Solved exactly when SolverReport::residual is within the
  /// tolerance.
  virtual SolverReport solve(const Problem& problem, double tolerance, Solution* answer) = 0;
  /// Of the last solve; null unless the solver was told to record one and can.
  virtual const SolverHistory* history() const { return nullptr; }
};

/// Names that make_solver knows, in the order in which they are shown.
std::vector<std::string_view> solver_names();
/// A new solver with its own scratch, or null for an unknown name. Options must be free of faults; those that the
/// solver does not read are ignored.
std::unique_ptr<Solver> make_solver(std::string_view name, const SolverOptions& options = {});

}  // namespace slipstick
