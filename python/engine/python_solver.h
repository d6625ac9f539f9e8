// Room: python. A function of Python as a solver that is tried out (solver_ladder.h), and what it is given.
#pragma once

#include <slipstick/solver_ladder.h>

#include <memory>
#include <optional>
#include <string>

#include "boxes.h"

namespace slipstick::python {

/// A problem that Python may keep; never changed.
struct ProblemBox {
  std::shared_ptr<const Problem> problem;
};

/// Calls function(ProblemBox, guess) with the GIL held. What it raises is counted and kept as text, and the engine goes
/// on without its answer; what is no Exception (Ctrl-C) waits for `rethrow`.
class PythonSolver : public PrototypeSolver {
 public:
  PythonSolver(py::object function, std::string name);
  ~PythonSolver() override;
  std::string_view name() const override { return name_; }
  bool solve(const Problem& problem, double tolerance, VecX* lambda) override;

  bool is_pending() const { return pending_.has_value(); }
  void rethrow();  ///< with the GIL, after a step
  long failures() const { return failures_; }
  const std::string& last_failure() const { return last_failure_; }
  const py::object& function() const { return function_; }

 private:
  void note_failure(const std::string& what);

  py::object function_;
  std::string name_;
  std::optional<py::error_already_set> pending_;
  long failures_ = 0;
  std::string last_failure_;
};

/// From (name, function), or null from None.
std::shared_ptr<PythonSolver> make_python_solver(const py::object& function);

}  // namespace slipstick::python
