#include <slipstick/friction_cone.h>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "collision/contact_finder.h"
#include "mechanics/equations.h"
#include "solve/cone_point.h"
#include "step/overlap.h"

namespace slipstick {
namespace {

constexpr int kMaxConeUnknowns = 700;  ///< a search costs about their cube: seconds
constexpr int kMaxSize = 1500;         ///< dense: unknowns, and rows of joints
constexpr int kMaxJamSearches = 200;
constexpr double kRankThreshold = 1e-9;
constexpr double kNoShare = 1e-9;       ///< a part of a cancelling set below this is rounding
constexpr double kHeldByJoints = 1e-9;  ///< of a load: what is left of it when joints have taken their part is rounding
constexpr double kJamDistance = 1e-7;   ///< forces that cancel but for this share do cancel

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

/// A force and a moment over the free directions of a body. Moments count as forces at its reach: what cancels does not
/// depend on the unit of length.
void put_force(const Model& model, const std::vector<int>& start, int body, Vec6 part, Eigen::Ref<VecX> force) {
  if (body < 0 || start[body] < 0) return;
  const Body& b = model.bodies[body];
  if (b.reach_radius > 0) part.tail<3>() /= b.reach_radius;
  for (int k = 0; k < b.dof; ++k) force[start[body] + k] += part.dot(b.free_basis().col(k));
}

/// row^T over the free directions of both bodies.
void put_force(const Model& model, const std::vector<int>& start, int body_a, int body_b, const PairRow& row,
               Eigen::Ref<VecX> force) {
  put_force(model, start, body_a, row.a, force);
  put_force(model, start, body_b, row.b, force);
}

/// What a row would exert on its bodies if all of their directions were free.
double calc_row_size(const Model& model, const JointRows& joint, int row) {
  double size = 0;
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0) return;
    const double reach = model.bodies[body].reach_radius;
    size = std::max({size, part.head<3>().norm(), part.tail<3>().norm() / (reach > 0 ? reach : 1)});
  };
  side(joint.body_a, joint.row[row].a);
  side(joint.body_b, joint.row[row].b);
  return size;
}

/// Forces of the rigid joints, one column of length 1 a row that some freedom can move, and which joint each belongs
/// to.
MatX make_joint_forces(const Model& model, std::span<const Pose> pose, const std::vector<int>& start, int unknowns,
                       std::vector<int>* joint_of) {
  std::vector<JointRows> joints;
  update_joint_rows(model, pose, &joints);
  std::vector<VecX> columns;
  for (const JointRows& joint : joints)
    for (int r = 0; r < joint.count && joint.compliance == 0; ++r) {
      VecX force = VecX::Zero(unknowns);
      put_force(model, start, joint.body_a, joint.body_b, joint.row[r], force);
      // A row that nothing moves is rounding: nearly zero as it stands, in N or in N m at the reach of the bodies.
      const double size = calc_row_size(model, joint, r);
      if (unknowns == 0 || force.cwiseAbs().maxCoeff() < 1e-12 * size) continue;
      columns.push_back(force / force.norm());
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

/// What every question begins with.
struct ForceSpace {
  int unknowns = 0;
  std::vector<int> start;  ///< of each body's directions
  MatX joint_range;        ///< an orthonormal basis of what joints can exert
};

bool is_too_large(const Model& model, int unknowns) { return unknowns > kMaxSize || model.joint_rows > kMaxSize; }

/// The rigid joints' part of the space; what is found about them on the way goes into `cone`.
void find_joint_range(const Model& model, std::span<const Pose> pose, ForceSpace* space, FrictionCone* cone) {
  std::vector<int> joint_of;
  const MatX forces = make_joint_forces(model, pose, space->start, space->unknowns, &joint_of);
  cone->joint_rows = static_cast<int>(forces.cols());
  cone->joint_rank = 0;
  space->joint_range.resize(space->unknowns, 0);
  if (forces.cols() == 0) return;
  Eigen::ColPivHouseholderQR<MatX> qr;
  qr.setThreshold(kRankThreshold);
  qr.compute(forces);
  find_tied_joints(qr, joint_of, cone);
  space->joint_range = qr.householderQ() * MatX::Identity(space->unknowns, qr.rank());
}

/// The body's load as a ray without the part that joints take; of length 1, or nothing if that is all of it.
std::optional<ForceCone> make_ray(const Model& model, const ForceSpace& space, int body, const Wrench& load) {
  Vec6 part;
  part << load.force, load.torque;
  VecX force = VecX::Zero(space.unknowns);
  put_force(model, space.start, body, part, force);
  const double size = force.norm();
  force -= space.joint_range * (space.joint_range.transpose() * force);
  if (!(force.norm() > kHeldByJoints * size)) return std::nullopt;
  return ForceCone{force / force.norm(), MatX(space.unknowns, 0), 0};
}

}  // namespace

FrictionCone calc_friction_cone(const Model& model, std::span<const Pose> pose, std::span<const Contact> contacts) {
  FrictionCone cone;
  ForceSpace space;
  space.start = number_unknowns(model, &space.unknowns);
  if (is_too_large(model, space.unknowns)) {
    cone.joint_rows = model.joint_rows;
    return cone;
  }
  find_joint_range(model, pose, &space, &cone);
  if (contacts.empty() || space.unknowns == 0) {
    cone.jams = false;
    return cone;
  }
  if (space.unknowns > kMaxConeUnknowns) return cone;
  find_jamming(make_cones(model, pose, contacts, space.start, space.unknowns, space.joint_range), &cone);
  return cone;
}

std::vector<Contact> find_touching(const Model& model, const State& state, double share) {
  std::vector<double> reach;
  for (const Body& body : model.bodies) reach.push_back(body.kind == BodyKind::Dynamic ? share * body.reach_radius : 0);
  ContactSet found;
  ContactFinder(model).find(state, reach, &found);
  std::vector<Contact> touching;
  for (const Contact& contact : found.contacts)
    if (contact.limit < 0 && contact.gap <= share * calc_contact_size(model, contact)) touching.push_back(contact);
  return touching;
}

std::optional<std::vector<HeldLoad>> find_held_loads(const Model& model, std::span<const Pose> pose,
                                                     std::span<const Contact> contacts, std::span<const Wrench> load) {
  std::vector<HeldLoad> held;
  ForceSpace space;
  FrictionCone joints;
  space.start = number_unknowns(model, &space.unknowns);
  if (contacts.empty() || space.unknowns == 0) return held;
  if (is_too_large(model, space.unknowns) || space.unknowns > kMaxConeUnknowns) return std::nullopt;
  find_joint_range(model, pose, &space, &joints);
  std::vector<ForceCone> cones = make_cones(model, pose, contacts, space.start, space.unknowns, space.joint_range);
  std::vector<char> counted(cones.size(), 0);
  counted.push_back(1);  // the load
  for (std::size_t body = 0; body < load.size(); ++body) {
    const std::optional<ForceCone> ray = make_ray(model, space, static_cast<int>(body), load[body]);
    if (!ray) continue;
    cones.push_back(*ray);
    const ConePoint point = find_cone_point(cones, counted);
    cones.pop_back();
    if (!(point.distance <= kJamDistance)) continue;
    HeldLoad found{static_cast<int>(body), {}};
    for (std::size_t j = 0; j < cones.size(); ++j)
      if (point.x[static_cast<Eigen::Index>(j)] > kNoShare * point.x.maxCoeff())
        found.contacts.push_back(static_cast<int>(j));
    held.push_back(std::move(found));
  }
  return held;
}

}  // namespace slipstick
