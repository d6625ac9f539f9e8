// The table of solvers: a new one adds its factory to solvers.h and a line here.
#include <array>

#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

struct Registered {
  std::string_view name;
  std::unique_ptr<Solver> (*make)();
};

constexpr std::array kSolvers{
    Registered{"lemke", make_lemke},   Registered{"newton", make_newton}, Registered{"block-pivot", make_block_pivot},
    Registered{"keller", make_keller}, Registered{"admm", make_admm},     Registered{"apgd", make_apgd},
};

}  // namespace

std::vector<std::string_view> solver_names() {
  std::vector<std::string_view> names;
  for (const Registered& entry : kSolvers) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Solver> make_solver(std::string_view name) {
  for (const Registered& entry : kSolvers)
    if (entry.name == name) return entry.make();
  return nullptr;
}

}  // namespace slipstick
