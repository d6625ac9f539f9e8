// The table of solvers: a new one adds its factory to solvers.h and a line here.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "solve/laws.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

struct Registered {
  using Plain = std::unique_ptr<Solver> (*)();
  using WithOptions = std::unique_ptr<Solver> (*)(const SolverOptions&);
  constexpr Registered(std::string_view name_, Plain make) : name(name_), plain(make) {}
  constexpr Registered(std::string_view name_, WithOptions make, std::span<const std::string_view> options_)
      : name(name_), with_options(make), options(options_) {}

  std::string_view name;
  Plain plain = nullptr;
  WithOptions with_options = nullptr;
  std::span<const std::string_view> options;  ///< the keys of scene files that it reads
};

constexpr std::array<std::string_view, 8> kPgsOptions{"local",      "relaxation", "iterations", "mixing",
                                                      "time_limit", "symmetric",  "order",      "threads"};
constexpr std::array<std::string_view, 8> kSplitOptions{"local",      "relaxation", "coupling", "sweeps",
                                                        "time_limit", "symmetric",  "order",    "threads"};

constexpr std::array<std::string_view, 1> kTimeLimit{"time_limit"};
constexpr std::array<std::string_view, 1> kIterations{"iterations"};

constexpr std::array kSolvers{
    Registered{"lemke", make_lemke, kTimeLimit}, Registered{"newton", make_newton, kTimeLimit},
    Registered{"block-pivot", make_block_pivot}, Registered{"keller", make_keller},
    Registered{"pgs", make_pgs, kPgsOptions},    Registered{"split", make_split, kSplitOptions},
    Registered{"admm", make_admm, kIterations},  Registered{"apgd", make_apgd, kIterations},
};

}  // namespace

std::vector<std::string_view> solver_names() {
  std::vector<std::string_view> names;
  for (const Registered& entry : kSolvers) names.push_back(entry.name);
  return names;
}

std::vector<std::string_view> solver_option_names(std::string_view solver) {
  for (const Registered& entry : kSolvers)
    if (entry.name == solver) return {entry.options.begin(), entry.options.end()};
  return {};
}

std::unique_ptr<Solver> make_solver(std::string_view name, const SolverOptions& options) {
  for (const Registered& entry : kSolvers) {
    if (entry.name != name) continue;
    auto judged = make_judged(entry.plain != nullptr ? entry.plain() : entry.with_options(options), options);
    // Whoever counts the work of a step (solver_ladder.h) asks island by island as it is.
    return name == "newton" && options.work == nullptr ? make_by_islands(std::move(judged), options)
                                                       : std::move(judged);
  }
  return nullptr;
}

std::vector<std::string_view> local_solver_names() {
  return {"separate", "block-projection", "block-tangents", "cone"};
}

std::vector<std::string_view> sweep_order_names() { return {"auto", "natural", "coloured"}; }

std::vector<OptionFault> find_solver_option_faults(const SolverOptions& o) {
  struct Rule {
    bool good;
    const char* key;
    const char* text;
  };
  const Rule rules[] = {
      {o.relaxation > 0 && o.relaxation < 2, "relaxation", "relaxation of the solver must lie between 0 and 2"},
      {o.max_iterations >= 0, "iterations", "iterations or coupling of the solver must be a number, 0 for its own"},
      {o.mixing >= 0 && o.mixing <= 50, "mixing", "mixing of the solver must be a number from 0 to 50"},
      {o.sweeps >= 1, "sweeps", "sweeps of the solver must be 1 or more"},
      {std::isfinite(o.time_limit) && o.time_limit >= 0, "time_limit",
       "time_limit of the solver must be a time in seconds"},
      {o.threads >= 1 && o.threads <= 1024, "threads", "threads of the solver must be a number from 1 to 1024"},
  };
  std::vector<OptionFault> faults;
  for (const Rule& rule : rules)
    if (!rule.good) faults.push_back({"solver", rule.key, rule.text});
  return faults;
}

void set_zero(const Problem& problem, Solution* answer) {
  answer->v.setZero(problem.unknowns());
  answer->lambda.setZero(problem.rows());
  answer->w.setZero(problem.rows());
}

bool has_further_limits(const Problem& problem) {
  return std::any_of(problem.blocks.begin(), problem.blocks.end(), has_several_limits);
}

}  // namespace slipstick
