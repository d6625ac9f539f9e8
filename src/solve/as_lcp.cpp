#include "solve/as_lcp.h"

#include <cmath>
#include <numbers>

#include "solve/laws.h"

namespace slipstick {

namespace {

void add_regular(const FrictionPolygon& p, FrictionDirections* directions) {
  for (int k = 0; k < p.count; ++k) {
    const double angle = p.phase + 2 * std::numbers::pi * k / p.count;
    directions->vertex.emplace_back(p.radius * std::cos(angle), p.radius * std::sin(angle));
  }
}

void add_aligned(double phase, const ConeAlignment& alignment, FrictionDirections* directions) {
  const double step = 2 * std::numbers::pi / alignment.facets;
  const auto add = [&](double angle) { directions->vertex.emplace_back(std::cos(angle), std::sin(angle)); };
  const double near[4] = {alignment.spread, 2 * alignment.spread, 4 * alignment.spread, 8 * alignment.spread};
  const bool refine = alignment.spread > 0;
  add(phase);
  for (int i = 0; i < 4 && refine; ++i)
    if (near[i] < 0.75 * step) add(phase + near[i]);
  for (int k = 1; k < alignment.facets; ++k) add(phase + k * step);
  for (int i = 3; i >= 0 && refine; --i)
    if (near[i] < 0.75 * step) add(phase - near[i]);
}

}  // namespace

void update_directions(const Problem& problem, const ConeAlignment& alignment, FrictionDirections* directions) {
  directions->start.assign(1, 0);
  directions->vertex.clear();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    if (block.law == LawKind::Friction && block.mu > 0) {
      if (block.size == 2) {
        directions->vertex.emplace_back(1, 0);
        directions->vertex.emplace_back(-1, 0);
      } else if (block.friction == FrictionModel::Cone) {
        add_aligned(alignment.phase.empty() ? 0.0 : alignment.phase[i], alignment, directions);
      } else {
        add_regular(friction_polygon(block), directions);
      }
    }
    directions->start.push_back(static_cast<int>(directions->vertex.size()));
  }
}

void LcpForm::add_block(const Problem& problem, const DualForm& dual, const FrictionDirections& directions, int index) {
  const RowBlock& block = problem.blocks[index];
  const auto add = [this](int row, const Vec2& p, int count) {
    group_of_.push_back(static_cast<int>(groups_.size()) - 1);
    pattern_row_.push_back(row);
    pattern_.push_back(p);
    pattern_size_.push_back(count);
  };
  for (int r = block.row; r < block.row + block.size; ++r) {
    const int row = dual.reduced_row(r);
    if (row < 0) continue;
    LcpGroup& group = groups_.emplace_back();
    group.block = index;
    group.row = row;
    group.first = size();
    group.upper = std::numeric_limits<double>::infinity();
    if (block.law == LawKind::Friction && block.mu > 0) {
      group.kind = LcpGroup::Kind::Contact;
      group.mu = block.mu;
      group.tangents = block.size - 1;
      group.directions = directions.start[index + 1] - directions.start[index];
      add(row, Vec2(1, 0), 1);
      for (int k = directions.start[index]; k < directions.start[index + 1]; ++k)
        add(row + 1, directions.vertex[k], group.tangents);
      add(-1, Vec2::Zero(), 0);
      return;
    }
    if (block.law == LawKind::Box) {
      group.lower = problem.lower[r] / dual.scale(r);
      group.upper = problem.upper[r] / dual.scale(r);
    }
    if (std::isinf(group.lower)) group.sign = -1;
    if (std::isfinite(group.lower) && std::isfinite(group.upper)) group.kind = LcpGroup::Kind::Boxed;
    add(row, Vec2(group.sign, 0), 1);
    if (group.kind == LcpGroup::Kind::Boxed) add(-1, Vec2::Zero(), 0);
    if (block.law == LawKind::Friction) return;  // mu = 0: the normal row only
  }
}

void LcpForm::update(const Problem& problem, const DualForm& dual, const FrictionDirections& directions) {
  dual_ = &dual;
  groups_.clear();
  group_of_.clear();
  pattern_.clear();
  pattern_row_.clear();
  pattern_size_.clear();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    if (problem.blocks[i].law != LawKind::Equality) add_block(problem, dual, directions, static_cast<int>(i));
  base_.setZero(dual.size());
  for (const LcpGroup& g : groups_)
    if (g.kind != LcpGroup::Kind::Contact) base_[g.row] = g.sign > 0 ? g.lower : g.upper;
  velocity_ = dual.offset();
  velocity_.noalias() += dual.matrix() * base_;
  offset_.resize(size());
  for (int i = 0; i < size(); ++i) {
    const int row = pattern_row_[i];
    offset_[i] = 0;
    for (int k = 0; k < pattern_size_[i]; ++k) offset_[i] += pattern_[i][k] * velocity_[row + k];
    if (row < 0 && group_of(i).kind == LcpGroup::Kind::Boxed) offset_[i] = group_of(i).upper - group_of(i).lower;
  }
}

double LcpForm::bilinear(int i, int j) const {
  const DenseX& d = dual_->matrix();
  double sum = 0;
  for (int b = 0; b < pattern_size_[j]; ++b)
    for (int a = 0; a < pattern_size_[i]; ++a)
      sum += pattern_[i][a] * d(pattern_row_[i] + a, pattern_row_[j] + b) * pattern_[j][b];
  return sum;
}

double LcpForm::entry(int i, int j) const {
  if (pattern_size_[i] > 0 && pattern_size_[j] > 0) return bilinear(i, j);
  if (group_of_[i] != group_of_[j] || i == j) return 0;
  const LcpGroup& g = group_of(i);
  if (g.kind == LcpGroup::Kind::Boxed) return i == g.first ? 1 : -1;
  if (j == g.price()) return i == g.first ? 0 : 1;
  return j == g.first ? g.mu : -1;
}

void LcpForm::multiply(const VecX& z, VecX* w) {
  const DenseX& d = dual_->matrix();
  impulse_.setZero(dual_->size());
  for (int i = 0; i < size(); ++i) {
    if (z[i] == 0) continue;
    for (int k = 0; k < pattern_size_[i]; ++k) impulse_[pattern_row_[i] + k] += pattern_[i][k] * z[i];
  }
  velocity_.setZero(dual_->size());
  for (int r = 0; r < dual_->size(); ++r)
    if (impulse_[r] != 0) velocity_.noalias() += impulse_[r] * d.col(r);
  w->resize(size());
  for (const LcpGroup& g : groups_) {
    if (g.kind == LcpGroup::Kind::Contact) {
      const double price = z[g.price()];
      double limit = g.mu * z[g.first];
      (*w)[g.first] = velocity_[g.row];
      for (int i = g.first + 1; i < g.price(); ++i) {
        double along = pattern_[i][0] * velocity_[g.row + 1];
        if (g.tangents == 2) along += pattern_[i][1] * velocity_[g.row + 2];
        (*w)[i] = along + price;
        limit -= z[i];
      }
      (*w)[g.price()] = limit;
      continue;
    }
    (*w)[g.first] = g.sign * velocity_[g.row];
    if (g.kind == LcpGroup::Kind::Single) continue;
    (*w)[g.first] += z[g.price()];
    (*w)[g.price()] = -z[g.first];
  }
}

void LcpForm::update_impulse(const VecX& z, VecX* x) const {
  *x = base_;
  for (int i = 0; i < size(); ++i)
    for (int k = 0; k < pattern_size_[i]; ++k) (*x)[pattern_row_[i] + k] += pattern_[i][k] * z[i];
}

void LcpForm::update_variables(const VecX& x, const VecX& w, VecX* z) const {
  z->setZero(size());
  for (const LcpGroup& g : groups_) {
    if (g.kind != LcpGroup::Kind::Contact) {
      (*z)[g.first] = g.sign * (x[g.row] - base_[g.row]);
      if (g.kind == LcpGroup::Kind::Boxed) (*z)[g.price()] = std::max(0.0, -w[g.row]);
      continue;
    }
    (*z)[g.first] = x[g.row];
    const Vec2 xt(x[g.row + 1], g.tangents == 2 ? x[g.row + 2] : 0.0);
    const Vec2 wt(w[g.row + 1], g.tangents == 2 ? w[g.row + 2] : 0.0);
    double price = 0;
    for (int k = 0; k < g.directions; ++k) price = std::max(price, -direction(g, k).dot(wt));
    (*z)[g.price()] = price;
    for (int k = 0; k < g.directions; ++k) {
      const Vec2 &a = direction(g, k), &b = direction(g, (k + 1) % g.directions);
      if (g.tangents == 1) {
        (*z)[g.first + 1 + k] = std::max(0.0, a[0] * xt[0]);
        continue;
      }
      const double area = a.x() * b.y() - a.y() * b.x();  // x_t = beta_a a + beta_b b with both >= 0: one sector has it
      const double beta_a = (xt.x() * b.y() - xt.y() * b.x()) / area, beta_b = (a.x() * xt.y() - a.y() * xt.x()) / area;
      if (beta_a < 0 || beta_b < 0) continue;
      (*z)[g.first + 1 + k] = beta_a;
      (*z)[g.first + 1 + (k + 1) % g.directions] = beta_b;
      break;
    }
  }
}

MatX LcpForm::calc_matrix() const {
  MatX g(size(), size());
  for (int j = 0; j < size(); ++j)
    for (int i = 0; i < size(); ++i) g(i, j) = entry(i, j);
  return g;
}

}  // namespace slipstick
