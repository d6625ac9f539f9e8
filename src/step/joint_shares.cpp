#include "step/joint_shares.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstick {

namespace {

/// The arm on which a joint's moment counts as a force, over the size of the bodies: a bearing is small against what it
/// carries, so that hinges apart from each other carry forces and no moments (to the square of this), as in
/// every textbook. Not zero: hinges that are nearly in one place share a moment instead of forces without bound.
constexpr double kArmShare = 1e-3;
constexpr int kMostShareRows = 500;
// Of the largest pivot: directions in which joints can hardly do anything are left out, unless something is done there,
// as a share of the whole: joints whose positions are off by 1e-9 do not carry what that would allow.
constexpr double kPivot = 1e-6, kCarried = 1e-7;
constexpr double kRelease = 1e-9;  // of the largest impulse: a slope that is none

int find_representative(std::vector<int>* group, int i) {
  while ((*group)[i] != i) i = (*group)[i] = (*group)[(*group)[i]];
  return i;
}

/// y of least norm with A^T y as it is: the part of y in the range of A. `multiplier`, unless null: d with y = A d.
VecX project(const MatX& a, const VecX& y, VecX* multiplier) {
  Eigen::ColPivHouseholderQR<MatX> qr(a);
  const Eigen::Index most = std::min(a.rows(), a.cols());
  const auto pivot = [&](Eigen::Index k) { return std::abs(qr.matrixQR()(k, k)); };
  VecX c = qr.householderQ().adjoint() * y;
  Eigen::Index rank = 0;
  while (rank < most && pivot(rank) > kPivot * pivot(0)) ++rank;
  while (rank > 0 && rank < most && pivot(rank) * std::abs(c[rank]) > kCarried * pivot(0) * c.head(rank).norm()) ++rank;
  c.tail(c.size() - rank).setZero();
  if (multiplier != nullptr) {
    VecX z = VecX::Zero(a.cols());
    z.head(rank) = qr.matrixQR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(c.head(rank));
    *multiplier = qr.colsPermutation() * z;
  }
  return qr.householderQ() * c;
}

/// The same between bounds: an active set that starts from y, which is within them.
VecX project_within(const MatX& a, VecX y, const VecX& lower, const VecX& upper) {
  const Eigen::Index n = y.size();
  std::vector<Eigen::Index> inside(n);
  std::vector<int> bound(n, 0);
  for (Eigen::Index turn = 0; turn < 3 * n + 10; ++turn) {
    inside.clear();
    for (Eigen::Index i = 0; i < n; ++i)
      if (bound[i] == 0) inside.push_back(i);
    VecX multiplier;
    const VecX target = project(a(inside, Eigen::all), y(inside), &multiplier);
    double step = 1;
    Eigen::Index stops = -1;
    for (std::size_t k = 0; k < inside.size(); ++k) {
      const Eigen::Index i = inside[k];
      const double way = target[static_cast<Eigen::Index>(k)] - y[i], room = (way > 0 ? upper[i] : lower[i]) - y[i];
      if (std::abs(way) * step > std::abs(room)) step = std::abs(room / way), stops = i;
    }
    for (std::size_t k = 0; k < inside.size(); ++k)
      y[inside[k]] += step * (target[static_cast<Eigen::Index>(k)] - y[inside[k]]);
    if (stops >= 0) {
      bound[stops] = y[stops] - lower[stops] < upper[stops] - y[stops] ? -1 : 1;
      y[stops] = bound[stops] < 0 ? lower[stops] : upper[stops];
      continue;
    }
    // What is at a bound and would rather be within it.
    double worst = kRelease * y.cwiseAbs().maxCoeff();
    Eigen::Index released = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double slope = bound[i] == 0 ? 0 : bound[i] * (y[i] - a.row(i).dot(multiplier));
      if (slope > worst) worst = slope, released = i;
    }
    if (released < 0) break;
    bound[released] = 0;
  }
  return y;
}

}  // namespace

Reaction calc_reaction(const Joint& joint, std::span<const Pose> pose, const PairRow& row) {
  const bool on_b = joint.b != kWorld;
  const Vec6 part = on_b ? row.b : Vec6(-row.a);
  const Quat& to_world = pose[on_b ? joint.b : joint.a].orientation;
  const Vec3 force = part.head<3>(), arm = to_world * (on_b ? joint.anchor_b : joint.anchor_a);
  return {force, to_world * Vec3(part.tail<3>()) - arm.cross(force)};
}

JointShares::JointShares(const Model& model) : model_(model), column_(model.bodies.size(), -1) { find_groups(); }

/// What is left when bodies that one joint or coupling alone acts on are taken away: its impulses are the only ones.
/// What does not move connects nothing.
void JointShares::find_groups() {
  const int joints = static_cast<int>(model_.joints.size()), links = joints + static_cast<int>(model_.couplings.size());
  std::vector<std::vector<int>> bodies(links);  // of each joint, then of each coupling
  const auto add_bodies = [&](int link, const Joint& joint) {
    for (const int body : {joint.a, joint.b})
      if (body >= 0 && model_.bodies[body].kind == BodyKind::Dynamic && model_.bodies[body].dof > 0 &&
          std::find(bodies[link].begin(), bodies[link].end(), body) == bodies[link].end())
        bodies[link].push_back(body);
  };
  for (int j = 0; j < joints; ++j)
    if (model_.joints[j].compliance == 0) add_bodies(j, model_.joints[j]);
  for (int k = joints; k < links; ++k)
    for (int i = 0; i < model_.couplings[k - joints].count; ++i)
      add_bodies(k, model_.joints[model_.axes[model_.couplings[k - joints].term[i].axis].joint]);
  std::vector<int> degree(model_.bodies.size(), 0), root(model_.bodies.size());
  for (const std::vector<int>& each : bodies)
    for (const int body : each) ++degree[body];
  for (bool more = true; more;) {
    more = false;
    for (std::vector<int>& each : bodies) {
      if (std::none_of(each.begin(), each.end(), [&](int body) { return degree[body] == 1; })) continue;
      for (const int body : each) --degree[body];
      each.clear();
      more = true;
    }
  }
  std::iota(root.begin(), root.end(), 0);
  for (const std::vector<int>& each : bodies)
    for (const int body : each) root[find_representative(&root, each[0])] = find_representative(&root, body);
  std::vector<int> group_of(model_.bodies.size(), -1);
  for (int link = 0; link < links; ++link) {
    if (bodies[link].empty()) continue;
    int& place = group_of[find_representative(&root, bodies[link][0])];
    if (place < 0) place = static_cast<int>(groups_.size()), groups_.emplace_back();
    Group& group = groups_[place];
    (link < joints ? group.joints : group.couplings).push_back(link < joints ? link : link - joints);
    for (const int body : bodies[link]) {
      const Body& b = model_.bodies[body];
      group.size = std::max(group.size, std::sqrt(b.inertia.trace() / (2 * b.mass)));
    }
  }
  for (Group& group : groups_) {
    if (!(group.size > 0)) group.size = 1;
    group.arm = kArmShare * group.size;
    for (std::size_t k = 0; k < model_.axes.size(); ++k)
      if (std::binary_search(group.joints.begin(), group.joints.end(), model_.axes[k].joint))
        group.axes.push_back(static_cast<int>(k));
  }
}

void JointShares::clear() {
  instants_.clear();
  rows_.clear();
  parts_.clear();
}

void JointShares::add_row(int slot, int axis, int coupling, std::span<const double> slots,
                          const std::function<Open(int, bool)>& open) {
  const Open at = open(slot, axis >= 0);
  if (!at.open) return;
  rows_.push_back({slot, axis, coupling, slots[slot], at.lower, at.upper, static_cast<int>(parts_.size()),
                   static_cast<int>(next_.size())});
  parts_.insert(parts_.end(), next_.begin(), next_.end());
}

void JointShares::add(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots,
                      const std::function<Open(int, bool)>& open) {
  const auto put = [&](int joint, const PairRow& row, double factor) {
    const PairRow scaled{factor * row.a, factor * row.b};
    next_.push_back({joint, scaled, calc_reaction(model_.joints[joint], pose, scaled)});
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    instants_.push_back({static_cast<int>(g), static_cast<int>(rows_.size())});
    for (const int j : groups_[g].joints) {
      for (int r = 0; r < equations.joints[j].count; ++r) {
        next_.clear();
        put(j, equations.joints[j].row[r], 1);
        add_row(model_.joints[j].first_row + r, -1, -1, slots, open);
      }
    }
    for (const int k : groups_[g].axes) {
      next_.clear();
      put(model_.axes[k].joint, equations.axes[k].row, 1);
      for (const int slot : {model_.axes[k].motor_row, model_.axes[k].friction_row})
        if (slot >= 0) add_row(slot, k, -1, slots, open);
    }
    for (const int k : groups_[g].couplings) {
      const Coupling& coupling = model_.couplings[k];
      next_.clear();
      for (int i = 0; i < coupling.count; ++i)
        put(model_.axes[coupling.term[i].axis].joint, equations.axes[coupling.term[i].axis].row,
            equations.couplings[k].factor[i]);
      add_row(coupling.row, -1, k, slots, open);
    }
  }
}

/// Rows over the free directions of their bodies, in units of N s at the arm and at the size: impulse = weight * y, and
/// what is to be least is |y|.
void JointShares::make_matrix(const Group& group, std::span<const Row> rows, MatX* matrix, VecX* weight) {
  int columns = 0;
  const auto each_body = [&](auto visit) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int p = rows[i].first; p < rows[i].first + rows[i].count; ++p) {
        const Joint& joint = model_.joints[parts_[p].joint];
        for (const bool of_b : {false, true}) {
          const int body = of_b ? joint.b : joint.a;
          if (body >= 0 && model_.bodies[body].kind == BodyKind::Dynamic && model_.bodies[body].dof > 0)
            visit(static_cast<Eigen::Index>(i), body, of_b ? parts_[p].row.b : parts_[p].row.a);
        }
      }
  };
  each_body([&](Eigen::Index, int body, const Vec6&) { column_[body] = -1; });
  each_body([&](Eigen::Index, int body, const Vec6&) {
    if (column_[body] >= 0) return;
    column_[body] = columns;
    columns += model_.bodies[body].dof;
  });
  matrix->setZero(static_cast<Eigen::Index>(rows.size()), columns);
  each_body([&](Eigen::Index i, int body, Vec6 part) {
    part.tail<3>() /= group.size;
    const Body& b = model_.bodies[body];
    matrix->row(i).segment(column_[body], b.dof) += (b.free_basis().leftCols(b.dof).transpose() * part).transpose();
  });
  weight->resize(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double cost = 0;
    for (int p = rows[i].first; p < rows[i].first + rows[i].count; ++p)
      cost +=
          parts_[p].reaction.force.squaredNorm() + parts_[p].reaction.moment.squaredNorm() / (group.arm * group.arm);
    (*weight)[static_cast<Eigen::Index>(i)] = cost > 0 ? 1 / std::sqrt(cost) : 0;
    matrix->row(static_cast<Eigen::Index>(i)) *= (*weight)[static_cast<Eigen::Index>(i)];
  }
}

void JointShares::share(const std::function<void(const Row&, std::span<const Part>, double)>& change) {
  MatX matrix;
  VecX weight;
  for (std::size_t k = 0; k < instants_.size(); ++k) {
    const std::size_t end = k + 1 < instants_.size() ? instants_[k + 1].first : rows_.size();
    const std::span<const Row> rows(rows_.data() + instants_[k].first, end - instants_[k].first);
    if (rows.empty() || rows.size() > kMostShareRows) continue;
    make_matrix(groups_[instants_[k].group], rows, &matrix, &weight);
    const auto count = static_cast<Eigen::Index>(rows.size());
    VecX y(count), lower(count), upper(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const double scale = weight[i] > 0 ? 1 / weight[i] : 0;
      y[i] = scale * rows[i].impulse;
      lower[i] = weight[i] > 0 ? scale * rows[i].lower : 0;
      upper[i] = weight[i] > 0 ? scale * rows[i].upper : 0;
    }
    const VecX before = y;
    if (matrix.cols() > 0) y = project(matrix, y, nullptr);
    if ((y.array() < lower.array()).any() || (y.array() > upper.array()).any())
      y = project_within(matrix, before, lower, upper);
    for (Eigen::Index i = 0; i < count; ++i)
      if (y[i] != before[i])
        change(rows[i], {parts_.data() + rows[i].first, static_cast<std::size_t>(rows[i].count)},
               weight[i] * (y[i] - before[i]));
  }
}

}  // namespace slipstick
