#include <slipstick/friction_cone.h>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "mechanics/equations.h"
#include "solve/cone_point.h"

namespace slipstick {
namespace {

constexpr int kMaxConeUnknowns = 700;  ///< a search costs about their cube: seconds
constexpr int kMaxSize = 1500;         ///< dense: unknowns, and rows of joints
constexpr int kMaxJamSearches = 200;
constexpr double kRankThreshold = 1e-9;
constexpr double kNoShare = 1e-9;      ///< a part of a cancelling set below this is rounding
constexpr double kJamDistance = 1e-7;  ///< forces that cancel but for this share do cancel

/// Where each body's free directions begin in a vector of generalised force; -1: none.
std::vector<int> number_unknowns(const Model& model, int* unknowns) {
  std::vector<int> start(model.bodies.size(), -1);
  *unknowns = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].kind != BodyKind::Dynamic || model.bodies[i].dof == 0) continue;
    start[i] = *unknowns;
    *unknowns += model.bodies[i].dof;
  }
  return start;
}

/// row^T over the free directions of both bodies.
void put_force(const Model& model, const std::vector<int>& start, int body_a, int body_b, const PairRow& row,
               Eigen::Ref<VecX> force) {
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0 || start[body] < 0) return;
    const Body& b = model.bodies[body];
    for (int k = 0; k < b.dof; ++k) force[start[body] + k] += part.dot(b.free_basis.col(k));
  };
  side(body_a, row.a);
  side(body_b, row.b);
}

/// Forces of the rigid joints, one column a row that some freedom can move, and which joint each belongs to.
MatX make_joint_forces(const Model& model, std::span<const Pose> pose, const std::vector<int>& start, int unknowns,
                       std::vector<int>* joint_of) {
  std::vector<JointRows> joints;
  update_joint_rows(model, pose, &joints);
  std::vector<VecX> columns;
  for (const JointRows& joint : joints)
    for (int r = 0; r < joint.count && joint.compliance == 0; ++r) {
      VecX force = VecX::Zero(unknowns);
      put_force(model, start, joint.body_a, joint.body_b, joint.row[r], force);
      if (unknowns == 0 || force.cwiseAbs().maxCoeff() < 1e-12) continue;
      columns.push_back(std::move(force));
      joint_of->push_back(joint.joint);
    }
  MatX forces(unknowns, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) forces.col(static_cast<Eigen::Index>(k)) = columns[k];
  return forces;
}

/// Rank of the joints and, from the null space of P R = Q^T G, who takes part in forces that cancel.
void find_tied_joints(const Eigen::ColPivHouseholderQR<MatX>& qr, const std::vector<int>& joint_of,
                      FrictionCone* cone) {
  const Eigen::Index rank = qr.rank(), count = qr.matrixQR().cols();
  cone->joint_rank = static_cast<int>(rank);
  if (rank == count) return;
  const MatX upper = qr.matrixR()
                         .topLeftCorner(rank, rank)
                         .template triangularView<Eigen::Upper>()
                         .solve(MatX(qr.matrixR().topRightCorner(rank, count - rank)));
  std::vector<int> tied;
  for (Eigen::Index k = 0; k < count; ++k) {
    const bool takes_part = k >= rank || upper.row(k).cwiseAbs().maxCoeff() > 1e-8;
    if (takes_part) tied.push_back(joint_of[static_cast<std::size_t>(qr.colsPermutation().indices()[k])]);
  }
  std::sort(tied.begin(), tied.end());
  tied.erase(std::unique(tied.begin(), tied.end()), tied.end());
  cone->tied_joints = std::move(tied);
}

/// Cones of the contacts, less what joints take: the part outside of the range of their forces.
std::vector<ForceCone> make_cones(const Model& model, std::span<const Pose> pose, std::span<const Contact> contacts,
                                  const std::vector<int>& start, int unknowns, const MatX& joint_range) {
  ContactSet set{{contacts.begin(), contacts.end()}};
  std::vector<ContactRows> rows;
  update_contact_rows(model, pose, set, &rows);
  std::vector<ForceCone> cones;
  for (const ContactRows& contact : rows) {
    MatX force = MatX::Zero(unknowns, contact.friction > 0 ? contact.count : 1);
    for (Eigen::Index r = 0; r < force.cols(); ++r)
      put_force(model, start, contact.body_a, contact.body_b, contact.row[static_cast<std::size_t>(r)], force.col(r));
    if (joint_range.cols() > 0) force -= joint_range * (joint_range.transpose() * force);
    cones.push_back({force.col(0), force.rightCols(force.cols() - 1), contact.friction});
  }
  return cones;
}

/// All contacts that can take part: after each set of cancelling forces only those not yet known are counted.
void find_jamming(const std::vector<ForceCone>& cones, FrictionCone* cone) {
  std::vector<char> counted(cones.size(), 1);
  for (int search = 0; search < kMaxJamSearches; ++search) {
    const ConePoint point = find_cone_point(cones, counted);
    const bool cancels = point.distance <= kJamDistance;
    if (search == 0 && (cancels || point.found)) cone->jams = cancels;
    if (search == 0 && point.found && !cancels) cone->strength = 1 / point.distance;
    if (!cancels) break;
    bool any = false;
    for (std::size_t j = 0; j < cones.size(); ++j) {
      if (!counted[j] || point.x[static_cast<Eigen::Index>(j)] <= kNoShare * point.x.maxCoeff()) continue;
      counted[j] = 0;
      any = true;
      cone->jamming.push_back(static_cast<int>(j));
    }
    if (!any || cone->jamming.size() == cones.size()) break;
  }
  std::sort(cone->jamming.begin(), cone->jamming.end());
}

}  // namespace

FrictionCone calc_friction_cone(const Model& model, std::span<const Pose> pose, std::span<const Contact> contacts) {
  FrictionCone cone;
  int unknowns = 0;
  const std::vector<int> start = number_unknowns(model, &unknowns);
  std::vector<int> joint_of;
  if (unknowns > kMaxSize || model.joint_rows > kMaxSize) {
    cone.joint_rows = model.joint_rows;
    return cone;
  }
  const MatX forces = make_joint_forces(model, pose, start, unknowns, &joint_of);
  cone.joint_rows = static_cast<int>(forces.cols());
  cone.joint_rank = 0;
  MatX range(unknowns, 0);
  if (forces.cols() > 0) {
    Eigen::ColPivHouseholderQR<MatX> qr;
    qr.setThreshold(kRankThreshold);
    qr.compute(forces);
    find_tied_joints(qr, joint_of, &cone);
    range = qr.householderQ() * MatX::Identity(unknowns, qr.rank());
  }
  if (contacts.empty() || unknowns == 0) {
    cone.jams = false;
    return cone;
  }
  if (unknowns > kMaxConeUnknowns) return cone;
  find_jamming(make_cones(model, pose, contacts, start, unknowns, range), &cone);
  return cone;
}

}  // namespace slipstick
