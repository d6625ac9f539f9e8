// Complementarity problems of typical scenes, built directly (no collision, no mechanics): one step of length 1/60 with
// A = M, b = M v + h f and c_n = gap / h. Bodies have axes parallel to the world's, so that J is easy to write.
#pragma once

#include <slipstick/problem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace slipstick::test_support {

constexpr double kStep = 1.0 / 60, kGravity = 9.81;

/// Writes a Problem body by body and row by row. Planar bodies have (x, y, angle) and move in x-y with gravity along
/// -y.
class SceneProblem {
 public:
  explicit SceneProblem(bool planar = false) : planar_(planar) {}

  int add_body(const Vec3& position, double mass, const Vec3& inertia, const Vec3& velocity = Vec3::Zero(),
               const Vec3& spin = Vec3::Zero()) {
    const int size = planar_ ? 3 : 6;
    const int first = problem_.unknowns();
    auto a = problem_.add_column(size);
    const int linear = planar_ ? 2 : 3;
    for (int k = 0; k < linear; ++k) a(k, k) = mass;
    for (int k = linear; k < size; ++k) a(k, k) = planar_ ? inertia.z() : inertia[k - 3];
    for (int k = 0; k < linear; ++k) problem_.b[first + k] = mass * velocity[k];
    for (int k = linear; k < size; ++k)
      problem_.b[first + k] = planar_ ? inertia.z() * spin.z() : inertia[k - 3] * spin[k - 3];
    problem_.b[first + (planar_ ? 1 : 2)] -= kStep * mass * kGravity;
    centre_.push_back(position);
    return problem_.columns() - 1;
  }
  int add_sphere(const Vec3& position, double mass, double radius, const Vec3& velocity = Vec3::Zero()) {
    const double i = (planar_ ? 0.5 : 0.4) * mass * radius * radius;
    return add_body(position, mass, Vec3::Constant(i), velocity);
  }
  int add_box(const Vec3& position, double mass, const Vec3& size, const Vec3& velocity = Vec3::Zero()) {
    const Vec3 s = size.cwiseAbs2();
    const Vec3 inertia = mass / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
    return add_body(position, mass, inertia, velocity);
  }
  void push(int body, const Vec3& impulse) {
    for (int k = 0; k < (planar_ ? 2 : 3); ++k) problem_.b[problem_.column_start[body] + k] += impulse[k];
  }

  /// A friction contact of body a on body b (-1: the fixed world); the normal points from b to a.
  RowBlock& add_contact(int a, int b, const Vec3& point, const Vec3& normal, double mu, double gap = 0) {
    const Vec3 n = normal.normalized();
    Vec3 t1 =
        planar_ ? Vec3(-n.y(), n.x(), 0) : (std::abs(n.x()) < 0.7 ? n.cross(Vec3::UnitX()) : n.cross(Vec3::UnitY()));
    t1.normalize();
    const Vec3 t2 = n.cross(t1);
    const std::array<Vec3, 3> axes{n, t1, t2};
    const int count = planar_ ? 2 : 3;
    RowBlock& block = problem_.add_block(LawKind::Friction, count);
    block.mu = mu;
    problem_.c[block.row] = gap / kStep;
    add_rows(a, 1, point, axes.data(), count);
    if (b >= 0) add_rows(b, -1, point, axes.data(), count);
    return problem_.blocks.back();
  }
  /// A ball joint (pin in the plane) between a and b (-1: world).
  void add_ball(int a, int b, const Vec3& point, double error = 0) {
    const std::array<Vec3, 3> axes{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
    const int count = planar_ ? 2 : 3;
    const RowBlock& block = problem_.add_block(LawKind::Equality, count);
    for (int k = 0; k < count; ++k) problem_.c[block.row + k] = error / kStep;
    add_rows(a, 1, point, axes.data(), count);
    if (b >= 0) add_rows(b, -1, point, axes.data(), count);
  }
  /// One row along an axis through a point under any law.
  RowBlock& add_row(LawKind law, int a, int b, const Vec3& point, const Vec3& axis) {
    problem_.add_block(law, 1);
    add_rows(a, 1, point, &axis, 1);
    if (b >= 0) add_rows(b, -1, point, &axis, 1);
    return problem_.blocks.back();
  }

  Problem& problem() { return problem_; }
  const Vec3& centre(int body) const { return centre_[body]; }

 private:
  void add_rows(int body, double sign, const Vec3& point, const Vec3* axes, int count) {
    auto j = problem_.add_entry(body);
    const Vec3 arm = point - centre_[body];
    for (int k = 0; k < count; ++k) {
      const Vec3 turn = arm.cross(axes[k]);
      const int linear = planar_ ? 2 : 3;
      for (int i = 0; i < linear; ++i) j(k, i) = sign * axes[k][i];
      if (planar_) {
        j(k, 2) = sign * turn.z();
      } else {
        for (int i = 0; i < 3; ++i) j(k, 3 + i) = sign * turn[i];
      }
    }
  }

  bool planar_;
  Problem problem_;
  std::vector<Vec3> centre_;
};

/// Four contacts under the box [centre +- half] at height z.
inline void add_face(SceneProblem* scene, int a, int b, double x0, double x1, double y0, double y1, double z,
                     double mu) {
  for (const double x : {x0, x1})
    for (const double y : {y0, y1}) scene->add_contact(a, b, Vec3(x, y, z), Vec3::UnitZ(), mu);
}

/// A column of unit cubes with the given masses on the floor, four contacts an interface.
inline Problem cube_column(const std::vector<double>& masses, double mu = 0.5, double sideways = 0) {
  SceneProblem scene;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const int body = scene.add_box(Vec3(0, 0, 0.5 + i), masses[i], Vec3::Ones());
    add_face(&scene, body, static_cast<int>(i) - 1, -0.5, 0.5, -0.5, 0.5, i, mu);
    if (sideways != 0) scene.push(body, Vec3(sideways * masses[i] * kGravity * kStep, 0, 0));
  }
  return scene.problem();
}
inline Problem stack(int n, double mu = 0.5) { return cube_column(std::vector<double>(n, 1.0), mu); }
/// Five cubes, each `ratio` times as heavy as the one below.
inline Problem heavy(double ratio, int n = 5) {
  std::vector<double> masses;
  for (int i = 0; i < n; ++i) masses.push_back(std::pow(ratio, i));
  return cube_column(masses);
}

/// A horizontal chain of n links hung at its left end, ball joints, a heavy sphere at the right end.
inline Problem chain(int n, double end_mass = 1000) {
  SceneProblem scene;
  int last = -1;
  for (int i = 0; i < n; ++i) {
    const int link = scene.add_box(Vec3(0.2 * i + 0.1, 0, 0), 1, Vec3(0.2, 0.04, 0.04));
    scene.add_ball(link, last, Vec3(0.2 * i, 0, 0));
    last = link;
  }
  const int ball = scene.add_sphere(Vec3(0.2 * n + 0.3, 0, 0), end_mass, 0.3);
  scene.add_ball(ball, last, Vec3(0.2 * n, 0, 0));
  return scene.problem();
}

/// Rows of bricks 1 x 0.5 x 0.5 m, 25 kg, shifted alternately, each touching those below and its neighbours.
inline Problem wall(int rows, int cols, double mu = 0.5) {
  SceneProblem scene;
  std::vector<std::vector<int>> brick(rows, std::vector<int>(cols));
  const auto left = [](int r, int c) { return c + (r % 2 ? 0.25 : -0.25); };
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c)
      brick[r][c] = scene.add_box(Vec3(left(r, c) + 0.5, 0, 0.5 * r + 0.25), 25, Vec3(1, 0.5, 0.5));
    for (int c = 0; c < cols; ++c) {
      if (r == 0) add_face(&scene, brick[0][c], -1, left(0, c), left(0, c) + 1, -0.25, 0.25, 0, mu);
      for (int d = 0; r > 0 && d < cols; ++d) {
        const double x0 = std::max(left(r, c), left(r - 1, d)), x1 = std::min(left(r, c), left(r - 1, d)) + 1;
        if (x1 - x0 > 0.01) add_face(&scene, brick[r][c], brick[r - 1][d], x0, x1, -0.25, 0.25, 0.5 * r, mu);
      }
      for (int k = 0; c > 0 && k < 4; ++k)
        scene.add_contact(brick[r][c], brick[r][c - 1],
                          Vec3(left(r, c), k % 2 ? 0.25 : -0.25, 0.5 * r + (k / 2 ? 0.5 : 0)), Vec3::UnitX(), mu);
    }
  }
  return scene.problem();
}

/// A pyramid of spheres, n x n at the bottom, on a frictional floor.
inline Problem pile(int n, double mu = 0.5) {
  SceneProblem scene;
  const double r = 0.1;
  std::vector<int> below;
  for (int level = 0; level < n; ++level) {
    const int side = n - level;
    std::vector<int> here(side * side);
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        const Vec3 at(r * (2 * i + level), r * (2 * j + level), r + r * std::numbers::sqrt2 * level);
        const int body = here[i * side + j] = scene.add_sphere(at, 4, r);
        if (level == 0) scene.add_contact(body, -1, at - r * Vec3::UnitZ(), Vec3::UnitZ(), mu);
        for (int k = 0; level > 0 && k < 4; ++k) {
          const int other = below[(i + k / 2) * (side + 1) + j + k % 2];
          const Vec3 normal = at - scene.centre(other);
          scene.add_contact(body, other, at - 0.5 * normal, normal, mu);
        }
        if (i > 0) scene.add_contact(body, here[(i - 1) * side + j], at - r * Vec3::UnitX(), Vec3::UnitX(), mu);
        if (j > 0) scene.add_contact(body, here[i * side + j - 1], at - r * Vec3::UnitY(), Vec3::UnitY(), mu);
      }
    }
    below = here;
  }
  return scene.problem();
}

/// The planar triangle of disks (r = 3, 10 kg, n rows) on a plank between two walls that lean out by 45 degrees.
inline Problem disks(int n, double mu = 0.15) {
  SceneProblem scene(true);
  const double r = 3;
  std::vector<int> below;
  for (int level = 0; level < n; ++level) {
    const int count = n - level;
    std::vector<int> here(count);
    for (int i = 0; i < count; ++i) {
      const Vec3 at(r * (2 * i + level), r + r * std::sqrt(3.0) * level, 0);
      const int body = here[i] = scene.add_sphere(at, 10, r);
      const Vec3 lean(std::numbers::sqrt2 / 2, std::numbers::sqrt2 / 2, 0), other(-lean.x(), lean.y(), 0);
      if (level == 0) scene.add_contact(body, -1, at - r * Vec3::UnitY(), Vec3::UnitY(), mu);
      if (level == 0 && i == 0) scene.add_contact(body, -1, at - r * lean, lean, mu);
      if (level == 0 && i == count - 1) scene.add_contact(body, -1, at - r * other, other, mu);
      if (i > 0) scene.add_contact(body, here[i - 1], at - r * Vec3::UnitX(), Vec3::UnitX(), mu);
      for (int k = 0; level > 0 && k < 2; ++k) {
        const Vec3 normal = at - scene.centre(below[i + k]);
        scene.add_contact(body, below[i + k], at - 0.5 * normal, normal, mu);
      }
    }
    below = here;
  }
  return scene.problem();
}

struct RandomOptions {
  int bodies = 5;
  int contacts = 10;
  int joints = 0;
  bool redundant_joints = false;  ///< each joint twice
  bool planar = false;
  bool all_laws = false;  ///< some Nonnegative and Box rows too
  FrictionModel friction = FrictionModel::Cone;
  int facets = 8;
  double mass_ratio = 1;  ///< heaviest over lightest
  double mu_max = 1;
  double compliance = 0;  ///< upper bound; a third of the rows stay rigid
  bool penetrating = false;
};

/// Bodies with random places and speeds and random contacts: nothing like a scene, everything a solver may meet. With
/// c_n >= 0 and no penetration a solution exists.
inline Problem random_problem(unsigned seed, const RandomOptions& o) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1), signed_unit(-1, 1);
  const auto vector = [&] {
    const double x = signed_unit(rng), y = signed_unit(rng), z = o.planar ? 0 : signed_unit(rng);
    return Vec3(x, y, z);
  };
  SceneProblem scene(o.planar);
  for (int i = 0; i < o.bodies; ++i) {
    const double mass = std::pow(o.mass_ratio, unit(rng));
    const Vec3 place = vector() * 3, velocity = vector();
    const Vec3 inertia = mass * Vec3(0.1 + unit(rng), 0.1 + unit(rng), 0.1 + unit(rng));
    scene.add_body(place, mass, inertia, velocity, vector());
  }
  const auto pick = [&](int not_this) {
    const int b = static_cast<int>(rng() % (o.bodies + 1)) - 1;
    return b == not_this ? -1 : b;
  };
  for (int i = 0; i < o.joints; ++i) {
    const int a = static_cast<int>(rng() % o.bodies), b = pick(a);
    const Vec3 at = scene.centre(a) + vector();
    for (int k = 0; k < (o.redundant_joints ? 2 : 1); ++k) scene.add_ball(a, b, at);
  }
  for (int i = 0; i < o.contacts; ++i) {
    const int a = static_cast<int>(rng() % o.bodies), b = pick(a);
    const Vec3 at = scene.centre(a) + vector();
    Vec3 normal = b >= 0 ? Vec3(scene.centre(a) - scene.centre(b) + 0.5 * vector()) : Vec3(scene.centre(a) - at);
    if (normal.norm() < 1e-3) normal = Vec3::UnitY();
    const double gap = o.penetrating ? 0.003 * signed_unit(rng) : (rng() % 2 ? 0.0 : 0.003 * unit(rng));
    const int kind = o.all_laws ? static_cast<int>(rng() % 4) : 0;
    if (kind == 2) {
      const int row = scene.add_row(LawKind::Nonnegative, a, b, at, normal.normalized()).row;
      scene.problem().c[row] = gap / kStep;
    } else if (kind == 3) {
      const int row = scene.add_row(LawKind::Box, a, b, at, normal.normalized()).row;
      scene.problem().lower[row] = -unit(rng);
      scene.problem().upper[row] = rng() % 3 ? unit(rng) : 0.0;
      scene.problem().c[row] = signed_unit(rng);
    } else {
      RowBlock& block = scene.add_contact(a, b, at, normal, o.mu_max * unit(rng), gap);
      block.friction = o.friction;
      block.facets = o.facets;
    }
  }
  for (double& c : scene.problem().compliance) c = o.compliance > 0 && rng() % 3 ? o.compliance * unit(rng) : 0;
  return scene.problem();
}

}  // namespace slipstick::test_support
