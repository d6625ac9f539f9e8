// Problems by class, made once.
#pragma once

#include <slipstick/problem.h>

#include <string>
#include <vector>

namespace slipstick {

struct NamedProblem {
  std::string name;
  Problem problem;
  bool solvable = true;  ///< false: it is known to have no solution
};
using ProblemClass = std::vector<NamedProblem>;

/// In the order in which they are shown.
std::vector<std::string> problem_class_names();
const ProblemClass& problem_class(const std::string& name);

}  // namespace slipstick
