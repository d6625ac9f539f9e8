#include "matrix/problem_classes.h"

#include <slipstick/app/problem_file.h>
#include <slipstick/app/solve_profile.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "support/dense_problem.h"
#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

bool want_all() {
  const char* text = std::getenv("SLIPSTICK_MATRIX");
  return text != nullptr && std::string(text) == "all";
}

/// One block of mass 1 on a plane: pushed with `side` times the weight, friction 0.5.
Problem block_on_plane(double side, FrictionModel model) {
  SceneProblem scene;
  const int body = scene.add_box(Vec3(0, 0, 0.5), 1, Vec3::Ones());
  add_face(&scene, body, -1, -0.5, 0.5, -0.5, 0.5, 0, 0.5);
  scene.push(body, Vec3(0.8, 0.6, 0) * side * kGravity * kStep);
  for (RowBlock& block : scene.problem().blocks) block.friction = model;
  return scene.problem();
}

ProblemClass make_hand_solved() {
  ProblemClass list;
  for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid, FrictionModel::Box})
    for (const double side : {0.0, 0.3, 0.5, 0.9})
      list.push_back({"block " + std::to_string(static_cast<int>(model)) + " pushed " + std::to_string(side),
                      block_on_plane(side, model)});
  SceneProblem falling;
  const int ball = falling.add_sphere(Vec3(0, 0, 1), 1, 0.1);
  falling.add_contact(ball, -1, Vec3(0, 0, 0.9), Vec3::UnitZ(), 0.5, 1.0);
  list.push_back({"ball that does not touch", falling.problem()});
  list.push_back({"chain without contacts", chain(5)});
  Problem empty;
  empty.add_column(6).setIdentity();
  list.push_back({"no rows", empty});
  return list;
}

/// w = M z + q with single rows.
Problem make_lcp(const MatX& m, const VecX& q) {
  Problem problem;
  problem.coupling.start = {0};
  for (int r = 0; r < q.size(); ++r) {
    problem.add_block(LawKind::Nonnegative, 1);
    problem.c[r] = q[r];
    for (int c = 0; c < q.size(); ++c) {
      if (m(r, c) == 0) continue;
      problem.coupling.column.push_back(c);
      problem.coupling.value.push_back(m(r, c));
    }
    problem.coupling.start.push_back(static_cast<int>(problem.coupling.column.size()));
  }
  return problem;
}

ProblemClass make_lcps() {
  ProblemClass list;
  test::Random random(7);
  for (const int n : {1, 3, 10, 30}) {
    MatX a(n, n);
    VecX q(n);
    for (int i = 0; i < n; ++i) {
      q[i] = random.normal();
      for (int j = 0; j < n; ++j) a(i, j) = random.normal();
    }
    const MatX spd = a * a.transpose() + 0.1 * MatX::Identity(n, n);
    list.push_back({"LCP, symmetric, n = " + std::to_string(n), make_lcp(spd, q)});
    const MatX skew = a - a.transpose();
    list.push_back({"LCP, positive definite, n = " + std::to_string(n), make_lcp(spd + 0.3 * skew, q)});
    Problem bounded = make_lcp(spd, q);
    for (int i = 0; i < n; i += 2) {
      bounded.blocks[i].law = i % 4 == 0 ? LawKind::Box : LawKind::Equality;
      bounded.lower[i] = -0.1;
      bounded.upper[i] = 0.2;
    }
    list.push_back({"mixed LCP, n = " + std::to_string(n), bounded});
  }
  return list;
}

ProblemClass make_random(FrictionModel model) {
  ProblemClass list;
  const unsigned count = want_all() ? 200 : 12;
  for (unsigned seed = 1; seed <= count; ++seed) {
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 7);
    o.contacts = 2 + static_cast<int>(seed % 19);
    o.joints = seed % 3 == 0 ? o.bodies / 2 : 0;
    o.planar = seed % 4 == 1;
    o.all_laws = seed % 2 == 0;
    o.friction = model;
    o.mass_ratio = seed % 5 == 0 ? 1000 : 10;
    o.compliance = seed % 6 == 0 ? 1e-3 : 0;
    list.push_back({"random " + std::to_string(seed), random_problem(seed, o)});
  }
  return list;
}

ProblemClass make_degenerate() {
  ProblemClass list;
  list.push_back({"stack at rest", stack(5)});
  list.push_back({"pushed to the limit", block_on_plane(0.5, FrictionModel::Cone)});
  list.push_back({"friction zero", stack(3, 0)});
  Problem twice = stack(2);
  const Problem once = twice;
  for (const RowBlock& block : once.blocks) {  // every contact twice
    RowBlock& copy = twice.add_block(block.law, block.size);
    const int row = copy.row, entry = copy.entry;
    copy = block;
    copy.row = row;
    copy.entry = entry;
    copy.entries = 0;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      twice.add_entry(once.entries[e].column) = once.jacobian_block(block, once.entries[e]);
  }
  list.push_back({"every contact twice", twice});
  RandomOptions o;
  o.bodies = 3, o.contacts = 6, o.joints = 2, o.redundant_joints = true;
  list.push_back({"redundant joints", random_problem(3, o)});
  return list;
}

ProblemClass make_hyperstatic() {
  ProblemClass list{{"wall 3 x 3", wall(3, 3)}, {"spheres 3", pile(3)}, {"disks 5", disks(5)}, {"stack 20", stack(20)}};
  if (want_all()) {
    list.push_back({"wall 5 x 5", wall(5, 5)});
    list.push_back({"spheres 4", pile(4)});
    list.push_back({"disks 11", disks(11)});
    list.push_back({"stack 40", stack(40)});
  }
  return list;
}

ProblemClass make_ill_scaled() {
  ProblemClass list;
  for (const double ratio : {10.0, 100.0, 1e-2}) list.push_back({"heavy " + std::to_string(ratio), heavy(ratio)});
  list.push_back({"chain with 1000 kg", chain(20, 1000)});
  Problem small = stack(3);  // in grams and millimetres, say
  for (double& m : small.mass) m *= 1e-9;
  for (double& b : small.b) b *= 1e-9;
  list.push_back({"tiny masses", small});
  Problem large = stack(3);
  for (double& m : large.mass) m *= 1e9;
  for (double& b : large.b) b *= 1e9;
  list.push_back({"huge masses", large});
  return list;
}

/// Steps of shipped scenes.
ProblemClass make_scenes() {
  ProblemClass list;
  for (const char* name :
       {"stack", "arch", "dominoes", "double_pendulum", "incline", "newtons_cradle", "wrecking_ball", "heavy_stack"}) {
    const std::string path = std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/" + name + ".yaml";
    Result<Scene> scene = load_scene(path);
    if (!scene) continue;  // the scenes' own tests say so
    Simulation simulation(scene->model, scene->initial, scene->options);
    for (int k = 0; k < 20; ++k) simulation.step();
    Problem problem;
    Solution guess;
    simulation.step_and_keep(&problem, &guess);
    list.push_back({name, problem});
  }
  return list;
}

/// Dense W = J A^-1 J^T + C of a problem: the same answers without columns.
Problem as_local_form(const Problem& p) {
  const auto& [a, j] = test::DenseProblem(p);
  const Eigen::PartialPivLU<MatX> lu(a);
  MatX w = j * lu.solve(j.transpose());
  const VecX free = j * lu.solve(Eigen::Map<const VecX>(p.b.data(), p.unknowns()));
  Problem local;
  for (const RowBlock& block : p.blocks) {
    RowBlock& copy = local.add_block(block.law, block.size);
    copy.friction = block.friction;
    copy.facets = block.facets;
    copy.mu = block.mu;
  }
  local.lower = p.lower;
  local.upper = p.upper;
  local.coupling.start = {0};
  for (int r = 0; r < p.rows(); ++r) {
    local.c[r] = p.c[r] + free[r];
    w(r, r) += p.compliance[r];
    for (int c = 0; c < p.rows(); ++c) {
      if (w(r, c) == 0) continue;
      local.coupling.column.push_back(c);
      local.coupling.value.push_back(w(r, c));
    }
    local.coupling.start.push_back(static_cast<int>(local.coupling.column.size()));
  }
  return local;
}

ProblemClass make_local_form() {
  ProblemClass list;
  for (const char* name : {"hand_solved", "hyperstatic", "random_cone"})
    for (const NamedProblem& named : problem_class(name))
      if (named.problem.rows() > 0 && named.problem.rows() < 120)
        list.push_back({named.name + ", local form", as_local_form(named.problem)});
  return list;
}

ProblemClass make_impossible() {
  ProblemClass list;
  Problem joints;  // v = -0.1 and v = 0.2
  joints.add_column(1)(0, 0) = 1;
  for (const double c : {0.1, -0.2}) {
    joints.c[joints.add_block(LawKind::Equality, 1).row] = c;
    joints.add_entry(0)(0, 0) = 1;
  }
  list.push_back({"joints that contradict each other", joints, false});
  Problem walls;  // v >= 0.3 and v <= -0.3
  walls.add_column(1)(0, 0) = 1;
  for (const double sign : {1.0, -1.0}) {
    walls.c[walls.add_block(LawKind::Nonnegative, 1).row] = -0.3;
    walls.add_entry(0)(0, 0) = sign;
  }
  list.push_back({"squeezed between walls", walls, false});
  return list;
}

/// Files of a folder that the user names, or of the one beside the source; small ones unless all are wanted.
ProblemClass make_files() {
  ProblemClass list;
  const char* named = std::getenv("SLIPSTICK_DATA");
  const std::string folder = named != nullptr ? named : SLIPSTICK_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::is_directory(folder)) return list;
  std::vector<std::string> paths = list_problems(folder);
  for (const std::string& path : list_problems(folder + "/friction")) paths.push_back(path);
  for (const std::string& path : paths) {
    Result<ProblemFile> file = load_problem(path);
    if (!file || (!want_all() && file->problem.rows() > 300)) continue;
    list.push_back({std::filesystem::path(path).filename().string(), file->problem});
  }
  return list;
}

struct Maker {
  std::string name;
  ProblemClass (*make)();
};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> list{{"hand_solved", make_hand_solved},
                                       {"lcp", make_lcps},
                                       {"random_cone", [] { return make_random(FrictionModel::Cone); }},
                                       {"random_pyramid", [] { return make_random(FrictionModel::Pyramid); }},
                                       {"random_box", [] { return make_random(FrictionModel::Box); }},
                                       {"degenerate", make_degenerate},
                                       {"hyperstatic", make_hyperstatic},
                                       {"ill_scaled", make_ill_scaled},
                                       {"scenes", make_scenes},
                                       {"local_form", make_local_form},
                                       {"impossible", make_impossible},
                                       {"files", make_files}};
  return list;
}

}  // namespace

std::vector<std::string> problem_class_names() {
  std::vector<std::string> names;
  for (const Maker& maker : makers()) names.push_back(maker.name);
  return names;
}

const ProblemClass& problem_class(const std::string& name) {
  static std::map<std::string, ProblemClass> made;
  const auto found = made.find(name);
  if (found != made.end()) return found->second;
  for (const Maker& maker : makers())
    if (maker.name == name) return made[name] = maker.make();
  return made[name];
}

}  // namespace slipstick
