// DART: its Dantzig solver of boxed LCPs, or projected Gauss-Seidel; contacts by ODE's geometry, double precision,
// nothing sleeps. Ball joints make trees of generalized coordinates; those that close a loop are constraints.
#include <dart/collision/CollisionFilter.hpp>
#include <dart/collision/CollisionOption.hpp>
#include <dart/collision/ode/OdeCollisionDetector.hpp>
#include <dart/config.hpp>
#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/PgsBoxedLcpSolver.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CapsuleShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PlaneShape.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <cmath>
#include <iostream>
#include <string_view>

#include "peer.h"
#include "tree.h"

namespace {

/// It takes the smaller coefficient of a pair.
constexpr double kMoreThanAny = 1e6;

Eigen::Vector3d vector_of(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
std::array<double, 3> array_of(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
Eigen::Isometry3d transform_of(const PeerPose& pose) {
  const auto& q = pose.orientation;
  Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
  place.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
  place.translation() = vector_of(pose.position);
  return place;
}

class Dart {
 public:
  Dart(const PeerScene& scene, std::string setting);
  std::string name() const { return "DART " DART_VERSION ", " + setting_; }
  void push(int body, const std::array<double, 3>& force) { nodes_[body]->addExtForce(vector_of(force)); }
  void step(double) { world_->step(); }
  PeerPose pose(int body) const {
    const Eigen::Isometry3d& place = nodes_[body]->getWorldTransform();
    const Eigen::Quaterniond q(place.linear());
    return {array_of(place.translation()), {q.w(), q.x(), q.y(), q.z()}};
  }
  std::array<double, 3> velocity(int body) const { return array_of(nodes_[body]->getLinearVelocity()); }
  std::array<double, 3> spin(int body) const { return array_of(nodes_[body]->getAngularVelocity()); }

 private:
  void add_tree(int root);
  dart::dynamics::BodyNode* add_root(int body, const dart::dynamics::SkeletonPtr& skeleton);
  dart::dynamics::BodyNode* hang(int body, int parent, const dart::dynamics::SkeletonPtr& skeleton);
  void furnish(int body);
  void add_loop(const PeerBall& ball);
  void keep_apart();
  double friction_of(const PeerShape& shape) const;

  const PeerScene& scene_;
  std::string setting_;
  Tree tree_;
  dart::simulation::WorldPtr world_ = dart::simulation::World::create();
  std::vector<dart::dynamics::BodyNode*> nodes_;
};

Dart::Dart(const PeerScene& scene, std::string setting)
    : scene_(scene), setting_(std::move(setting)), tree_(scene), nodes_(scene.bodies.size()) {
  auto solver = std::make_unique<dart::constraint::BoxedLcpConstraintSolver>();
  if (setting_ == "pgs") solver->setBoxedLcpSolver(std::make_shared<dart::constraint::PgsBoxedLcpSolver>());
  world_->setConstraintSolver(std::move(solver));
  world_->getConstraintSolver()->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
  world_->setGravity(vector_of(scene.gravity));
  world_->setTimeStep(scene.step);
  world_->getConstraintSolver()->getCollisionOption().maxNumContacts = 100 + 24 * scene.shapes.size();
  for (const int root : tree_.roots) add_tree(root);
  for (const int k : tree_.loops) add_loop(scene.balls[k]);
  keep_apart();
}

void Dart::add_tree(int root) {
  const auto skeleton = dart::dynamics::Skeleton::create("s" + std::to_string(root));
  std::deque<std::pair<int, int>> open = {{root, -1}};
  while (!open.empty()) {
    const auto [body, parent] = open.front();
    open.pop_front();
    nodes_[body] = tree_.joint[body] < 0 ? add_root(body, skeleton) : hang(body, parent, skeleton);
    furnish(body);
    for (const int each : tree_.below[body]) open.push_back({each, body});
  }
  skeleton->setSelfCollisionCheck(true);
  skeleton->setAdjacentBodyCheck(false);
  if (is_fixed(scene_, root)) skeleton->setMobile(false);
  world_->addSkeleton(skeleton);
}

dart::dynamics::BodyNode* Dart::add_root(int body, const dart::dynamics::SkeletonPtr& skeleton) {
  const PeerBody& b = scene_.bodies[body];
  if (is_fixed(scene_, body)) {
    auto [joint, node] = skeleton->createJointAndBodyNodePair<dart::dynamics::WeldJoint>();
    joint->setTransformFromParentBodyNode(transform_of(b.pose));
    return node;
  }
  auto [joint, node] = skeleton->createJointAndBodyNodePair<dart::dynamics::FreeJoint>();
  joint->setTransform(transform_of(b.pose));
  joint->setLinearVelocity(vector_of(b.velocity));
  joint->setAngularVelocity(vector_of(b.spin));
  return node;
}

dart::dynamics::BodyNode* Dart::hang(int body, int parent, const dart::dynamics::SkeletonPtr& skeleton) {
  const PeerBall& ball = scene_.balls[tree_.joint[body]];
  const Eigen::Isometry3d own = transform_of(scene_.bodies[body].pose);
  const Eigen::Isometry3d above = parent < 0 ? Eigen::Isometry3d::Identity() : transform_of(scene_.bodies[parent].pose);
  auto [joint, node] =
      skeleton->createJointAndBodyNodePair<dart::dynamics::BallJoint>(parent < 0 ? nullptr : nodes_[parent]);
  const Eigen::Translation3d anchor(vector_of(ball.a == body ? ball.at_a : ball.at_b));
  joint->setTransformFromChildBodyNode(Eigen::Isometry3d(anchor));
  joint->setTransformFromParentBodyNode(above.inverse() * own * anchor);
  Eigen::Vector3d spin = vector_of(scene_.bodies[body].spin);
  if (parent >= 0) spin -= vector_of(scene_.bodies[parent].spin);
  joint->setVelocities(own.linear().transpose() * spin);
  return node;
}

/// Mass and shapes.
void Dart::furnish(int body) {
  const PeerBody& b = scene_.bodies[body];
  if (b.mass > 0)
    nodes_[body]->setInertia(
        dart::dynamics::Inertia(b.mass, Eigen::Vector3d::Zero(), vector_of(b.inertia).asDiagonal().toDenseMatrix()));
  for (const PeerShape& shape : scene_.shapes) {
    if (shape.body != body) continue;
    const auto& s = shape.size;
    dart::dynamics::ShapePtr made;
    if (shape.kind == "sphere") made = std::make_shared<dart::dynamics::SphereShape>(s[0]);
    if (shape.kind == "box") made = std::make_shared<dart::dynamics::BoxShape>(2 * vector_of(s));
    if (shape.kind == "capsule") made = std::make_shared<dart::dynamics::CapsuleShape>(s[0], 2 * s[1]);
    if (shape.kind == "cylinder") made = std::make_shared<dart::dynamics::CylinderShape>(s[0], 2 * s[1]);
    if (shape.kind == "plane") {  // this version of its ODE planes knows the world's frame alone
      const Eigen::Isometry3d place = transform_of(b.pose) * transform_of(shape.pose);
      const Eigen::Vector3d normal = place.linear().col(2);
      made = std::make_shared<dart::dynamics::PlaneShape>(normal, normal.dot(place.translation()));
    }
    auto* node =
        nodes_[body]->createShapeNodeWith<dart::dynamics::CollisionAspect, dart::dynamics::DynamicsAspect>(made);
    node->setRelativeTransform(shape.kind == "plane" ? transform_of(b.pose).inverse() : transform_of(shape.pose));
    node->getDynamicsAspect()->setFrictionCoeff(friction_of(shape));
    node->getDynamicsAspect()->setRestitutionCoeff(shape.restitution);
  }
}

/// The smaller of two is the geometric mean if what moves has that with the ground. (Two moving bodies of different
/// friction are then not exact; all benchmarks have one coefficient there.)
double Dart::friction_of(const PeerShape& shape) const {
  if (is_fixed(scene_, shape.body)) return kMoreThanAny;
  for (const PeerShape& other : scene_.shapes)
    if (is_fixed(scene_, other.body)) return std::sqrt(shape.friction * other.friction);
  return shape.friction;
}

void Dart::add_loop(const PeerBall& ball) {
  const bool swap = is_fixed(scene_, ball.a);
  dart::dynamics::BodyNode* one = nodes_[swap ? ball.b : ball.a];
  const int other = swap ? ball.a : ball.b;
  const Eigen::Vector3d at = one->getWorldTransform() * vector_of(swap ? ball.at_b : ball.at_a);
  world_->getConstraintSolver()->addConstraint(
      is_fixed(scene_, other) ? std::make_shared<dart::constraint::BallJointConstraint>(one, at)
                              : std::make_shared<dart::constraint::BallJointConstraint>(one, nodes_[other], at));
}

void Dart::keep_apart() {
  auto& filter = world_->getConstraintSolver()->getCollisionOption().collisionFilter;
  auto* list = dynamic_cast<dart::collision::BodyNodeCollisionFilter*>(filter.get());
  for (const std::array<int, 2>& pair : scene_.apart)
    if (pair[0] >= 0 && pair[1] >= 0 && list != nullptr)
      list->addBodyNodePairToBlackList(nodes_[pair[0]], nodes_[pair[1]]);
}

}  // namespace

int main(int count, char** words) {
  PeerScene scene;
  const std::string setting = count == 2 ? words[1] : "";
  if ((setting != "dantzig" && setting != "pgs") || !read_peer_scene(std::cin, &scene)) {
    std::fprintf(stderr, "usage: %s dantzig|pgs < scene\n", words[0]);
    return 2;
  }
  std::cout.setstate(std::ios::failbit);  // its messages would be in the answer
  Dart engine(scene, setting);
  return run_peer(scene, &engine);
}
