#include "solve/solvers/lemke_polish.h"

#include <cmath>
#include <numbers>

#include "solve/laws.h"

namespace slipstick {

namespace {

constexpr double kNoise = 1e-11;  // of the largest |w|: an idle row stays idle within it
constexpr double kLeastPolishShare = 1e-7;
constexpr int kRefinements = 4;

}  // namespace

void update_scaled_velocity(const DualForm& dual, const VecX& w, VecX* scaled) {
  scaled->resize(dual.size());
  for (int i = 0; i < dual.size(); ++i) (*scaled)[i] = w[dual.problem_row(i)] * dual.scale(dual.problem_row(i));
}

void update_scaled_impulse(const DualForm& dual, const VecX& lambda, VecX* scaled) {
  scaled->resize(dual.size());
  for (int i = 0; i < dual.size(); ++i) (*scaled)[i] = lambda[dual.problem_row(i)] / dual.scale(dual.problem_row(i));
}

LemkePolish::State LemkePolish::make_slide(const Vec2& along, double limit, double share) {
  State state;
  state.kind = Kind::Slide;
  state.along = along;
  state.across = Vec2(-along.y(), along.x());
  state.limit = limit;
  state.share = share;
  return state;
}

// c_n, the beta and lambda_j in the basis say which of the contact's velocities vanish.
LemkePolish::State LemkePolish::make_contact_state(const LcpForm& lcp, const LcpGroup& g,
                                                   const std::vector<char>& basis) {
  State state;
  if (!basis[g.first]) return state;
  int found[3], count = 0;
  for (int k = 0; k < g.directions && count < 3; ++k)
    if (basis[g.first + 1 + k]) found[count++] = k;
  const bool sliding = basis[g.price()];
  if (count == 0) {
    state.kind = sliding ? Kind::AtBase : Kind::Normal;
    return state;
  }
  const Vec2 a = lcp.direction(g, found[0]);
  state.along = a.normalized();
  state.across = Vec2(-state.along.y(), state.along.x());
  if (count == 1 && sliding) return make_slide(a.normalized(), g.mu * a.norm(), 0);
  state.kind = Kind::Stick;
  if (g.tangents == 1) return state;
  if (count == 1) {
    state.kind = Kind::Along;
  } else if (count == 2 && sliding) {
    const Vec2 b = lcp.direction(g, found[1]), chord = (b - a).normalized();
    const Vec2 normal(chord.y(), -chord.x());
    if (std::abs(normal.dot(a)) < 1e-9) {  // opposite directions: lambda_j = 0 along them
      state.kind = Kind::Along;
      return state;
    }
    const double side = normal.dot(a) > 0 ? 1 : -1;
    return make_slide(side * normal, side * g.mu * normal.dot(a), 1);
  }
  return state;
}

void LemkePolish::set_states(const LcpForm& lcp, const std::vector<char>& basis) {
  states_.clear();
  for (const LcpGroup& g : lcp.groups()) {
    State& state = states_.emplace_back();
    if (g.kind == LcpGroup::Kind::Contact) {
      state = make_contact_state(lcp, g, basis);
    } else if (basis[g.first]) {
      state.kind = g.kind == LcpGroup::Kind::Boxed && basis[g.price()] ? Kind::AtUpper : Kind::Active;
    }
  }
}

LemkePolish::State LemkePolish::find_contact_state(const RowBlock& block, const LcpGroup& g, const VecX& x,
                                                   const VecX& w, double noise) {
  double y[3] = {0, 0, 0}, p[3];
  bool idle = true;
  for (int k = 0; k < block.size; ++k) {
    y[k] = x[g.row + k] - w[g.row + k];
    idle = idle && x[g.row + k] == 0;
  }
  y[0] -= de_saxce_term(block, w.data() + g.row);
  std::copy(y, y + 3, p);
  project_impulse(block, nullptr, nullptr, p);
  State state;
  if (p[0] <= (idle ? noise : 0.0)) return state;
  state.kind = Kind::Stick;
  const Vec2 pt(p[1], p[2]), yt(y[1], y[2]);
  if (pt == yt && p[0] == y[0]) return state;
  if (g.tangents == 1) return make_slide(Vec2(p[1] < 0 ? -1 : 1, 0), g.mu, 0);
  if (block.friction == FrictionModel::Cone) return make_slide(pt.normalized(), g.mu, pt.norm() / yt.norm());
  const FrictionPolygon polygon = friction_polygon(block);
  const double step = 2 * std::numbers::pi / polygon.count;
  const double sector = (std::atan2(p[2], p[1]) - polygon.phase) / step;
  const double vertex = std::round(sector) * step + polygon.phase;
  if (std::abs(sector - std::round(sector)) < 1e-12)
    return make_slide(Vec2(std::cos(vertex), std::sin(vertex)), g.mu * polygon.radius, 0);
  const double middle = (std::floor(sector) + 0.5) * step + polygon.phase;
  return make_slide(Vec2(std::cos(middle), std::sin(middle)), g.mu * polygon.radius * std::cos(step / 2), 1);
}

void LemkePolish::set_states(const Problem& problem, const LcpForm& lcp, const VecX& x, const VecX& w) {
  const double noise = w.size() > 0 ? kNoise * w.cwiseAbs().maxCoeff() : 0;
  states_.clear();
  for (const LcpGroup& g : lcp.groups()) {
    State& state = states_.emplace_back();
    if (g.kind == LcpGroup::Kind::Contact) {
      state = find_contact_state(problem.blocks[g.block], g, x, w, noise);
      continue;
    }
    const double y = x[g.row] - w[g.row];
    const bool at_lower = x[g.row] == g.lower, at_upper = x[g.row] == g.upper;
    const bool below = y <= g.lower + (at_lower ? noise : 0), above = y >= g.upper - (at_upper ? noise : 0);
    state.kind = Kind::Active;
    if (below) state.kind = g.sign > 0 ? Kind::AtBase : Kind::Active;
    if (above) state.kind = g.sign > 0 ? Kind::AtUpper : Kind::AtBase;
  }
}

void LemkePolish::turn_slides(const Problem& problem, const LcpForm& lcp, const VecX& x, const VecX& w) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const LcpGroup& g = lcp.groups()[i];
    if (states_[i].kind != Kind::Slide || g.tangents == 1) continue;
    if (problem.blocks[g.block].friction != FrictionModel::Cone) continue;
    const Vec2 y(x[g.row + 1] - w[g.row + 1], x[g.row + 2] - w[g.row + 2]);
    const double size = y.norm();
    if (size > 0) states_[i] = make_slide(y / size, g.mu, std::clamp(g.mu * x[g.row] / size, 0.0, 1.0));
  }
}

void LemkePolish::add_unknowns(const LcpGroup& g, const State& state) {
  const auto add = [this, &g](int skip, int count) -> Unknown& {
    Unknown& u = unknowns_.emplace_back();
    u.row = g.row + skip;
    u.count = count;
    return u;
  };
  if (state.kind == Kind::AtBase || state.kind == Kind::AtUpper) return;
  Unknown& normal = add(0, state.kind == Kind::Slide ? 1 + g.tangents : 1);
  normal.column = normal.test = Vec3::UnitX();
  if (state.kind == Kind::Slide) {
    normal.column.tail<2>() = state.limit * state.along;
    if (state.share <= kLeastPolishShare || g.tangents == 1) return;
    Unknown& across = add(1, 2);
    across.column.head<2>() = across.test.head<2>() = state.across;
    across.diagonal = (1 - state.share) / state.share;
  } else if (state.kind == Kind::Along) {
    Unknown& along = add(1, 2);
    along.column.head<2>() = along.test.head<2>() = state.along;
  } else if (state.kind == Kind::Stick) {
    for (int k = 1; k <= g.tangents; ++k) {
      Unknown& tangent = add(k, 1);
      tangent.column = tangent.test = Vec3::UnitX();
    }
  }
}

void LemkePolish::assemble(const DualForm& dual, double proximal) {
  const int m = static_cast<int>(unknowns_.size());
  const DenseX& d = dual.matrix();
  if (matrix_.rows() < m) matrix_.resize(m, m);
  velocity_.resize(d.rows());
  for (int b = 0; b < m; ++b) {
    const Unknown& column = unknowns_[b];
    velocity_ = column.column[0] * d.col(column.row);
    for (int k = 1; k < column.count; ++k) velocity_ += column.column[k] * d.col(column.row + k);
    for (int a = 0; a < m; ++a) {
      const Unknown& row = unknowns_[a];
      double sum = 0;
      for (int k = 0; k < row.count; ++k) sum += row.test[k] * velocity_[row.row + k];
      matrix_(a, b) = sum;
    }
    matrix_(b, b) += column.diagonal + proximal;
  }
}

void LemkePolish::update_impulse(const LcpForm& lcp, VecX* x) const {
  x->setZero();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const LcpGroup& g = lcp.groups()[i];
    if (g.kind == LcpGroup::Kind::Contact) continue;
    if (states_[i].kind == Kind::AtBase) (*x)[g.row] = g.sign > 0 ? g.lower : g.upper;
    if (states_[i].kind == Kind::AtUpper) (*x)[g.row] = g.upper;
  }
  for (std::size_t a = 0; a < unknowns_.size(); ++a)
    for (int k = 0; k < unknowns_[a].count; ++k)
      (*x)[unknowns_[a].row + k] += unknowns_[a].column[k] * value_[static_cast<int>(a)];
}

void LemkePolish::project(const Problem& problem, const LcpForm& lcp, VecX* x) const {
  for (const LcpGroup& g : lcp.groups()) {
    double* at = x->data() + g.row;
    if (g.kind == LcpGroup::Kind::Contact)
      project_impulse(problem.blocks[g.block], nullptr, nullptr, at);
    else
      *at = std::clamp(*at, g.lower, g.upper);
  }
}

bool LemkePolish::solve(const Problem& problem, const LcpForm& lcp, double proximal, DualForm* dual, VecX* x,
                        Solution* solution) {
  unknowns_.clear();
  for (std::size_t i = 0; i < states_.size(); ++i) add_unknowns(lcp.groups()[i], states_[i]);
  const int m = static_cast<int>(unknowns_.size());
  value_.resize(m);
  residual_.resize(m);
  for (int a = 0; a < m; ++a) {
    // The coordinate of x: the first entry of a normal, the projection on a unit direction otherwise.
    const Unknown& u = unknowns_[a];
    value_[a] = 0;
    for (int k = 0; k < u.count; ++k) value_[a] += u.test[k] * (*x)[u.row + k];
  }
  assemble(*dual, proximal);
  if (m > 0 && !lu_.factor(matrix_.topLeftCorner(m, m))) return false;
  double last = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kRefinements && m > 0; ++pass) {
    update_impulse(lcp, x);
    dual->complete(problem, *x, solution);
    update_scaled_velocity(*dual, solution->w, &velocity_);
    for (int a = 0; a < m; ++a) {
      const Unknown& u = unknowns_[a];
      residual_[a] = -u.diagonal * value_[a];
      for (int k = 0; k < u.count; ++k) residual_[a] -= u.test[k] * velocity_[u.row + k];
    }
    const double size = residual_.cwiseAbs().maxCoeff();
    if (!(size < 0.5 * last)) {  // no digit is gained any more
      if (!(size <= last)) value_ -= step_;
      break;
    }
    last = size;
    lu_.solve_in_place(residual_);
    step_ = residual_;
    value_ += step_;
  }
  update_impulse(lcp, x);
  project(problem, lcp, x);
  dual->complete(problem, *x, solution);
  return x->allFinite();
}

}  // namespace slipstick
