// Random frictional problems within the hypotheses of the existence theorem [AnitescuPotra97, 2.1]: A positive
// definite, mu >= 0, c_n >= 0, equality offsets 0. Redundant on purpose. The same seed gives the same problem
// everywhere.
#pragma once

#include <slipstick/problem.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace slipstick::test {

/// A small portable generator: the standard distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x1234567ull) {}
  double uniform() {  // [0, 1)
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
  int below(int n) { return static_cast<int>(uniform() * n); }
  bool chance(double p) { return uniform() < p; }
  double normal() {
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  Vec3 direction() {
    const Vec3 d(normal(), normal(), normal());
    return d.norm() > 1e-6 ? Vec3(d.normalized()) : Vec3(Vec3::UnitX());
  }

 private:
  std::uint64_t state_;
};

struct RandomProblemOptions {
  int contacts = 10;
  int bodies = 5;
  bool planar = false;
  bool symmetric = true;
  double mass_ratio_exponent = 2;  ///< masses 10^0 .. 10^this
  double mu_max = 1;
  double duplicate_chance = 0.2;  ///< a contact is a copy of an earlier one, or shares its point and normal
  double joint_chance = 0.3;      ///< joints per body
  double other_rows = 0.2;        ///< Nonnegative and Box blocks per contact
  double compliance_chance = 0.1;
  FrictionModel friction = FrictionModel::Pyramid;  ///< Pyramid: facets 4, 6 or 8 at random
  double turning_chance = 0;                        ///< cones: a contact also has limits on spinning and rolling
};

class RandomProblemMaker {
 public:
  RandomProblemMaker(std::uint64_t seed, const RandomProblemOptions& options) : random_(seed), o_(options) {}

  Problem make() {
    Problem p;
    p.symmetric = o_.symmetric;
    for (int k = 0; k < o_.bodies; ++k) add_body(&p);
    for (int k = 0; k < o_.bodies; ++k)
      if (random_.chance(o_.joint_chance)) add_joint(&p, k);
    for (int k = 0; k < o_.contacts; ++k) {
      add_contact(&p);
      if (random_.chance(o_.other_rows)) add_other(&p);
    }
    return p;
  }

 private:
  struct Contact {
    int a, b;  // b = -1: the world
    Vec3 r, s, normal, tangent;
  };

  void add_body(Problem* p) {
    const int n = o_.planar ? 3 : 6, linear = o_.planar ? 2 : 3;
    const double mass = std::pow(10.0, random_.uniform(0, o_.mass_ratio_exponent));
    BlockMap a = p->add_column(n);
    for (int i = 0; i < n; ++i) a(i, i) = i < linear ? mass : mass * random_.uniform(0.05, 0.5);
    if (!o_.symmetric) {  // SPD + skew: x^T A x is that of the symmetric part
      for (int i = linear; i < n; ++i)
        for (int j = o_.planar ? 0 : linear; j < i; ++j) {
          const double f = 0.5 * mass * random_.normal() * 0.3;
          a(i, j) += f;
          a(j, i) -= f;
        }
    }
    VecX v(n);
    for (int i = 0; i < n; ++i) v[i] = random_.normal();
    if (random_.chance(0.3)) v.setZero();
    v[linear - 1] -= 0.1;  // a step's gravity
    const VecX b = a * v;
    for (int i = 0; i < n; ++i) p->b[p->column_start[p->columns() - 1] + i] = b[i];
  }

  Contact make_place() {
    Contact c;
    c.a = random_.below(o_.bodies);
    c.b = random_.chance(0.5) ? -1 : random_.below(o_.bodies);
    if (c.b == c.a) c.b = -1;
    c.normal = random_.chance(0.5) ? Vec3(o_.planar ? Vec3::UnitY() : Vec3::UnitZ()) : random_.direction();
    c.r = random_.direction() * random_.uniform(0, 1);
    c.s = random_.direction() * random_.uniform(0, 1);
    if (o_.planar) {
      c.normal.z() = c.r.z() = c.s.z() = 0;
      c.normal = c.normal.norm() > 1e-6 ? Vec3(c.normal.normalized()) : Vec3(Vec3::UnitY());
    }
    Vec3 other = random_.direction();
    other -= other.dot(c.normal) * c.normal;
    c.tangent = o_.planar ? Vec3(-c.normal.y(), c.normal.x(), 0)
                          : (other.norm() > 1e-3 ? Vec3(other.normalized()) : Vec3(c.normal.unitOrthogonal()));
    return c;
  }

  /// Rows e . (velocity of the point) for the directions e.
  void fill(Problem* p, const Contact& c, const std::vector<Vec3>& directions) const {
    for (int side = 0; side < (c.b < 0 ? 1 : 2); ++side) {
      BlockMap j = p->add_entry(side == 0 ? c.a : c.b);
      const Vec3 arm = side == 0 ? c.r : c.s;
      for (std::size_t k = 0; k < directions.size(); ++k) {
        const Vec3 e = side == 0 ? directions[k] : Vec3(-directions[k]);
        const Vec3 moment = arm.cross(e);
        const int row = static_cast<int>(k), linear = o_.planar ? 2 : 3;
        for (int i = 0; i < linear; ++i) j(row, i) = e[i];
        if (o_.planar) j(row, 2) = moment.z();
        for (int i = 0; i < 3 && !o_.planar; ++i) j(row, 3 + i) = moment[i];
      }
    }
  }

  void soften(Problem* p, const RowBlock& block) {
    if (!random_.chance(o_.compliance_chance)) return;
    for (int k = 0; k < block.size; ++k) p->compliance[block.row + k] = std::pow(10.0, random_.uniform(-8, 0));
  }

  void add_joint(Problem* p, int k) {
    Contact c = make_place();
    c.a = k;
    if (c.b == k) c.b = -1;
    std::vector<Vec3> directions{Vec3::UnitX(), Vec3::UnitY()};
    if (!o_.planar) directions.push_back(Vec3::UnitZ());
    const int copies = random_.chance(0.3) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const RowBlock block = p->add_block(LawKind::Equality, static_cast<int>(directions.size()));
      fill(p, c, directions);
      if (copies == 1) soften(p, block);
    }
  }

  /// Rows of the relative turning after the first three: about the normal (size 4, 6), about the tangents (5, 6).
  void add_turning_rows(Problem* p, const RowBlock& block, const Contact& c) {
    std::vector<Vec3> axes;
    if (block.size != 5) axes.push_back(c.normal);
    if (block.size > 4) axes.insert(axes.end(), {c.tangent, c.normal.cross(c.tangent)});
    const double arm = random_.uniform(0.01, 0.5);
    const RowBlock& filled = p->blocks.back();
    for (int e = filled.entry; e < filled.entry + filled.entries; ++e) {
      BlockMap j(p->jacobian.data() + p->entries[e].offset, filled.size, 6);
      j.bottomRows(filled.size - 3).setZero();
      for (std::size_t k = 0; k < axes.size(); ++k)
        j.row(3 + static_cast<int>(k)).tail<3>() = (e == filled.entry ? arm : -arm) * axes[k].transpose();
    }
  }

  void add_contact(Problem* p) {
    Contact c = make_place();
    if (!places_.empty() && random_.chance(o_.duplicate_chance)) {
      const Contact& old = places_[random_.below(static_cast<int>(places_.size()))];
      const double arm = random_.chance(0.5) ? 0.0 : 0.3;
      c = old;
      c.r += arm * old.tangent;
      c.s += arm * old.tangent;
    }
    places_.push_back(c);
    const bool turning = o_.turning_chance > 0 && !o_.planar && random_.chance(o_.turning_chance);
    RowBlock& block = p->add_block(LawKind::Friction, o_.planar ? 2 : (turning ? 4 + random_.below(3) : 3));
    block.friction = o_.friction;
    block.facets = 4 + 2 * random_.below(3);
    block.mu = random_.chance(0.1) ? 0.0 : random_.uniform(0, o_.mu_max);
    p->c[block.row] = random_.chance(0.6) ? 0.0 : random_.uniform(0, 1);
    const RowBlock copy = block;
    if (o_.planar)
      fill(p, c, {c.normal, c.tangent});
    else
      fill(p, c, {c.normal, c.tangent, c.normal.cross(c.tangent)});
    if (turning) add_turning_rows(p, copy, c);
    soften(p, copy);
  }

  void add_other(Problem* p) {
    const Contact c = make_place();
    const bool box = random_.chance(0.6);
    const RowBlock block = p->add_block(box ? LawKind::Box : LawKind::Nonnegative, 1 + random_.below(2));
    fill(p, c, block.size == 1 ? std::vector<Vec3>{c.normal} : std::vector<Vec3>{c.normal, c.tangent});
    for (int r = block.row; r < block.row + block.size; ++r) {
      const double infinity = std::numeric_limits<double>::infinity(), size = random_.uniform(0, 1);
      const int kind = random_.below(8);
      p->c[r] = size;
      if (!box) continue;
      p->lower[r] = kind == 0 || kind == 1 ? -infinity : random_.uniform(-1, 1);
      p->upper[r] = kind == 0 || kind == 2 ? infinity : std::max(p->lower[r], -2.0) + 3 * random_.uniform();
      if (kind == 0) p->c[r] = 0;      // an equality in disguise
      if (kind == 1) p->c[r] = -size;  // only an upper bound
      if (kind == 3) p->upper[r] = p->lower[r];
      if (kind > 3) p->c[r] = random_.normal();
    }
    soften(p, block);
  }

  Random random_;
  RandomProblemOptions o_;
  std::vector<Contact> places_;
};

inline Problem make_random_problem(std::uint64_t seed, const RandomProblemOptions& options) {
  return RandomProblemMaker(seed, options).make();
}

/// Options that vary with the seed: many small problems, some with 60 contacts.
inline RandomProblemOptions make_varied_options(std::uint64_t seed) {
  Random random(seed ^ 0xABCDEFull);
  RandomProblemOptions o;
  const double size = random.uniform();
  o.contacts = 1 + static_cast<int>(59.999 * std::pow(size, 3));
  o.bodies = 1 + random.below(std::max(1, o.contacts / 2) + 1);
  o.planar = random.chance(0.4);
  o.symmetric = !random.chance(0.3);
  o.mass_ratio_exponent = random.chance(0.3) ? 6 : 2;
  o.mu_max = 2;
  o.duplicate_chance = random.chance(0.3) ? 0.6 : 0.1;
  o.joint_chance = random.chance(0.5) ? 0.5 : 0;
  o.friction = random.chance(0.25) ? FrictionModel::Box : FrictionModel::Pyramid;
  return o;
}

}  // namespace slipstick::test
