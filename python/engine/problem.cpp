// Complementarity problems in Python's hands, and solvers written in it.
#include <slipstick/app/problem_file.h>
#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <array>

#include "boxes.h"
#include "python_solver.h"

namespace slipstick::python {

namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array_t<double> as_array(const VecX& values) { return py::array_t<double>(values.size(), values.data()); }

/// Compressed sparse rows as SciPy takes them: values, columns, where rows begin.
using Sparse = std::tuple<py::array_t<double>, py::array_t<int>, py::array_t<int>>;

/// J, columns sorted.
Sparse make_jacobian(const Problem& p) {
  std::vector<int> start{0}, column;
  std::vector<double> value;
  std::vector<JacobianEntry> entries;
  for (const RowBlock& block : p.blocks) {
    const auto first = p.entries.begin() + block.entry;
    entries.assign(first, first + block.entries);
    std::sort(entries.begin(), entries.end(),
              [](const JacobianEntry& a, const JacobianEntry& b) { return a.column < b.column; });
    for (int r = 0; r < block.size; ++r) {
      for (const JacobianEntry& e : entries) {
        const ConstBlockMap j = p.jacobian_block(block, e);
        for (int k = 0; k < j.cols(); ++k) {
          column.push_back(p.column_start[e.column] + k);
          value.push_back(j(r, k));
        }
      }
      start.push_back(static_cast<int>(column.size()));
    }
  }
  return {as_array(value), as_array(column), as_array(start)};
}

std::vector<py::array_t<double>> make_mass_blocks(const Problem& p) {
  std::vector<py::array_t<double>> made;
  for (int k = 0; k < p.columns(); ++k) {
    const ConstBlockMap block = p.mass_block(k);
    made.emplace_back(std::vector<py::ssize_t>{block.rows(), block.cols()}, block.data());
  }
  return made;
}

constexpr std::array<const char*, 4> kLaws{"equality", "nonnegative", "box", "friction"};
constexpr std::array<const char*, 3> kFrictions{"cone", "pyramid", "box"};

using LawTuple = std::tuple<int, int, std::string, double, std::string, int>;

std::vector<LawTuple> make_laws(const Problem& p) {
  std::vector<LawTuple> made;
  for (const RowBlock& b : p.blocks) {
    const bool friction = b.law == LawKind::Friction;
    made.emplace_back(b.row, b.size, kLaws[static_cast<std::size_t>(b.law)], b.mu,
                      friction ? kFrictions[static_cast<std::size_t>(b.friction)] : "",
                      friction && b.friction == FrictionModel::Pyramid ? b.facets : 0);
  }
  return made;
}

VecX as_vector(const Numbers& values, int size, const char* what) {
  if (values.ndim() != 1 || values.size() != size)
    raise_value_error(std::string(what) + " must be an array of " + std::to_string(size) + " numbers");
  return Eigen::Map<const VecX>(values.data(), size);
}

py::dict as_dict(const Residuals& r) {
  py::dict made;
  made["verdict"] = r.verdict();
  made["relative"] = r.relative;
  made["natural"] = r.natural;
  made["law"] = r.law;
  made["momentum"] = r.momentum;
  made["worst"] = std::string(name_of(r.worst.part));
  made["block"] = r.worst.block;
  return made;
}

// ------------------------------------------------------------------ pickles

py::tuple as_tuple(const ProblemBox& box) {
  const Problem& p = *box.problem;
  std::vector<std::array<int, 8>> blocks;
  std::vector<double> mu;
  for (const RowBlock& b : p.blocks) {
    blocks.push_back({b.row, b.size, b.entry, b.entries, static_cast<int>(b.law), static_cast<int>(b.friction),
                      b.facets, static_cast<int>(b.mode)});
    mu.push_back(b.mu);
  }
  std::vector<std::array<int, 2>> entries;
  for (const JacobianEntry& e : p.entries) entries.push_back({e.column, e.offset});
  return seal(py::make_tuple(p.column_start, p.mass_start, p.mass, p.b, p.symmetric, blocks, mu, entries, p.jacobian,
                             p.c, p.compliance, p.lower, p.upper, p.coupling.start, p.coupling.column, p.coupling.value,
                             p.place));
}

std::shared_ptr<ProblemBox> from_tuple(const py::tuple& sealed) {
  const py::tuple parts = unseal(sealed, "a problem");
  auto p = std::make_shared<Problem>();
  const auto read = [&](std::size_t k, auto* to) { *to = parts[k].cast<std::decay_t<decltype(*to)>>(); };
  read(0, &p->column_start), read(1, &p->mass_start), read(2, &p->mass), read(3, &p->b), read(4, &p->symmetric);
  const auto blocks = parts[5].cast<std::vector<std::array<int, 8>>>();
  const auto mu = parts[6].cast<std::vector<double>>();
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto& b = blocks[k];
    p->blocks.push_back({b[0], b[1], b[2], b[3], static_cast<LawKind>(b[4]), static_cast<FrictionModel>(b[5]), b[6],
                         mu.at(k), static_cast<SolveMode>(b[7])});
  }
  for (const auto& e : parts[7].cast<std::vector<std::array<int, 2>>>()) p->entries.push_back({e[0], e[1]});
  read(8, &p->jacobian), read(9, &p->c), read(10, &p->compliance), read(11, &p->lower), read(12, &p->upper);
  read(13, &p->coupling.start), read(14, &p->coupling.column), read(15, &p->coupling.value);
  if (parts.size() > 16) read(16, &p->place);
  return std::make_shared<ProblemBox>(ProblemBox{std::move(p)});
}

// ------------------------------------------------------------------ solving

Solution make_guess(const Problem& problem, const std::optional<Numbers>& guess) {
  Solution made;
  if (guess) made.lambda = as_vector(*guess, problem.rows(), "guess");
  return made;
}

py::dict solve(const ProblemBox& box, const std::string& solver, const py::object& function, double tolerance,
               double time_limit, int threads, const std::optional<Numbers>& guess) {
  const Problem& problem = *box.problem;
  LadderOptions options;
  options.solver = solver;
  options.tolerance = tolerance;
  options.threads = threads;
  options.time_limit = time_limit;
  const std::shared_ptr<PythonSolver> prototype = make_python_solver(function);
  options.prototype = prototype;
  Solution solution = make_guess(problem, guess);
  LadderResult result;
  {
    const py::gil_scoped_release release;
    result = SolverLadder(options).solve(problem, &solution);
  }
  if (prototype) prototype->rethrow();
  py::dict made;
  made["impulse"] = as_array(solution.lambda);
  made["velocity"] = as_array(solution.v);
  made["row_velocity"] = as_array(solution.w);
  made["certified"] = result.certified;
  made["residual"] = result.residual.verdict();
  made["solver"] = std::string(result.solver);
  made["iterations"] = result.iterations;
  made["escalations"] = result.escalations;
  made["note"] = std::string(result.note);
  return made;
}

void save(const ProblemBox& box, const std::string& path, const std::string& title,
          const std::optional<Numbers>& guess) {
  const Solution given = make_guess(*box.problem, guess);
  const Faults faults = save_problem(path, *box.problem, title, guess ? &given : nullptr);
  if (!faults.empty()) raise("RecordingError", py::make_tuple(faults.front().text()));
}

std::shared_ptr<ProblemBox> load(const std::string& path) {
  Result<ProblemFile> file = load_problem(path);
  if (!file) raise("RecordingError", py::make_tuple(file.faults().front().text()));
  return std::make_shared<ProblemBox>(
      ProblemBox{std::make_shared<const Problem>(std::move(std::move(file).value().problem))});
}

}  // namespace

PythonSolver::PythonSolver(py::object function, std::string name)
    : function_(std::move(function)), name_(std::move(name)) {}

PythonSolver::~PythonSolver() {
  if (Py_IsInitialized() == 0) {
    (void)function_.release();
    return;
  }
  const py::gil_scoped_acquire acquire;  // the last owner may be a thread of the engine
  function_ = py::object();
  pending_.reset();
}

bool PythonSolver::solve(const Problem& problem, double /*tolerance*/, VecX* lambda) {
  const py::gil_scoped_acquire acquire;
  if (pending_) return false;
  try {
    const auto box = std::make_shared<ProblemBox>(ProblemBox{std::make_shared<const Problem>(problem)});
    const py::object given = function_(box, as_array(*lambda));
    if (given.is_none()) {
      note_failure("returned None");
      return false;
    }
    const auto answer = Numbers::ensure(given);
    if (!answer || answer.ndim() != 1 || answer.size() != problem.rows()) {
      note_failure("returned something else than an impulse for each of " + std::to_string(problem.rows()) + " rows");
      return false;
    }
    *lambda = Eigen::Map<const VecX>(answer.data(), answer.size());
    return true;
  } catch (py::error_already_set& error) {
    // Ctrl-C and the like are for whoever asked for the step; the step itself is finished first.
    if (!error.matches(PyExc_Exception)) {
      pending_ = error;
    } else {
      note_failure(error.what());
    }
    return false;
  }
}

void PythonSolver::note_failure(const std::string& what) {
  ++failures_;
  last_failure_ = what;
  if (failures_ > 1) return;
  const std::string text = "solver '" + name_ + "' gave no answer (" + what.substr(0, what.find('\n')) +
                           "); 'auto' takes its place there, and Simulation.solver_failures counts";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) pending_ = py::error_already_set();
}

void PythonSolver::rethrow() {
  if (!pending_) return;
  const py::error_already_set error = *pending_;
  pending_.reset();
  throw error;  // NOLINT(misc-throw-by-value-catch-by-reference): the error lives in pending_
}

std::shared_ptr<PythonSolver> make_python_solver(const py::object& function) {
  if (function.is_none()) return nullptr;
  const auto parts = function.cast<py::tuple>();
  return std::make_shared<PythonSolver>(parts[1], parts[0].cast<std::string>());
}

void bind_problem(py::module_* module) {
  py::class_<ProblemBox, std::shared_ptr<ProblemBox>>(*module, "ProblemBox")
      .def("rows", [](const ProblemBox& b) { return b.problem->rows(); })
      .def("unknowns", [](const ProblemBox& b) { return b.problem->unknowns(); })
      .def("symmetric", [](const ProblemBox& b) { return b.problem->symmetric; })
      .def("column_start", [](const ProblemBox& b) { return as_array(b.problem->column_start); })
      .def("mass_blocks", [](const ProblemBox& b) { return make_mass_blocks(*b.problem); })
      .def("b", [](const ProblemBox& b) { return as_array(b.problem->b); })
      .def("c", [](const ProblemBox& b) { return as_array(b.problem->c); })
      .def("compliance", [](const ProblemBox& b) { return as_array(b.problem->compliance); })
      .def("lower", [](const ProblemBox& b) { return as_array(b.problem->lower); })
      .def("upper", [](const ProblemBox& b) { return as_array(b.problem->upper); })
      .def("jacobian", [](const ProblemBox& b) { return make_jacobian(*b.problem); })
      .def("coupling",
           [](const ProblemBox& b) -> std::optional<Sparse> {
             const SparseRows& w = b.problem->coupling;
             if (w.empty()) return std::nullopt;
             return Sparse{as_array(w.value), as_array(w.column), as_array(w.start)};
           })
      .def("laws", [](const ProblemBox& b) { return make_laws(*b.problem); })
      .def("certify",
           [](const ProblemBox& b, const Numbers& impulse, const Numbers& velocity) {
             Solution solution;
             solution.lambda = as_vector(impulse, b.problem->rows(), "impulse");
             solution.v = as_vector(velocity, b.problem->unknowns(), "velocity");
             return as_dict(certify(*b.problem, solution));
           })
      .def("solve", &solve)
      .def("save", &save)
      .def(py::pickle(&as_tuple, &from_tuple));
  module->def("load_problem", &load);
}

}  // namespace slipstick::python
