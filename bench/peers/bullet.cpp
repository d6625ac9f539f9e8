// Bullet: its sequential-impulse solver with the given number of iterations, double precision, nothing sleeps.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>

#include "peer.h"

namespace {

btVector3 vector_of(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
std::array<double, 3> array_of(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
btTransform transform_of(const PeerPose& pose) {
  const auto& q = pose.orientation;
  return btTransform(btQuaternion(q[1], q[2], q[3], q[0]), vector_of(pose.position));
}

class Bullet {
 public:
  Bullet(const PeerScene& scene, int iterations);
  std::string name() const { return "Bullet 3, " + std::to_string(iterations_) + " iterations"; }
  void push(int body, const std::array<double, 3>& force) { bodies_[body]->applyCentralForce(vector_of(force)); }
  void step(double h) { world_->stepSimulation(h, 0); }
  PeerPose pose(int body) const {
    const btTransform& place = bodies_[body]->getWorldTransform();
    const btQuaternion q = place.getRotation();
    return {array_of(place.getOrigin()), {q.w(), q.x(), q.y(), q.z()}};
  }
  std::array<double, 3> velocity(int body) const { return array_of(bodies_[body]->getLinearVelocity()); }
  std::array<double, 3> spin(int body) const { return array_of(bodies_[body]->getAngularVelocity()); }

 private:
  btCollisionShape* make_shape(const PeerShape& shape, btTransform* place);
  void add_body(const PeerScene& scene, int i);
  template <class T>
  T* keep(T* made) {
    kept_.emplace_back(made, [](void* p) { delete static_cast<T*>(p); });
    return made;
  }

  int iterations_;
  std::deque<std::shared_ptr<void>> kept_;
  std::unique_ptr<btDiscreteDynamicsWorld> world_;
  std::vector<btRigidBody*> bodies_;
};

Bullet::Bullet(const PeerScene& scene, int iterations) : iterations_(iterations) {
  auto* configuration = keep(new btDefaultCollisionConfiguration());
  auto* dispatcher = keep(new btCollisionDispatcher(configuration));
  auto* pairs = keep(new btDbvtBroadphase());
  auto* solver = keep(new btSequentialImpulseConstraintSolver());
  world_ = std::make_unique<btDiscreteDynamicsWorld>(dispatcher, pairs, solver, configuration);
  world_->setGravity(vector_of(scene.gravity));
  world_->getSolverInfo().m_numIterations = iterations;
  for (int i = 0; i < static_cast<int>(scene.bodies.size()); ++i) add_body(scene, i);
  for (const PeerBall& ball : scene.balls) {
    btTypedConstraint* joint = nullptr;
    if (ball.a < 0) {
      joint = new btPoint2PointConstraint(*bodies_[ball.b], vector_of(ball.at_b));
    } else if (ball.b < 0) {
      joint = new btPoint2PointConstraint(*bodies_[ball.a], vector_of(ball.at_a));
    } else {
      joint =
          new btPoint2PointConstraint(*bodies_[ball.a], *bodies_[ball.b], vector_of(ball.at_a), vector_of(ball.at_b));
    }
    world_->addConstraint(keep(static_cast<btPoint2PointConstraint*>(joint)), true);
  }
  for (const std::array<int, 2>& pair : scene.apart) {
    if (pair[0] < 0 || pair[1] < 0) continue;
    bodies_[pair[0]]->setIgnoreCollisionCheck(bodies_[pair[1]], true);
    bodies_[pair[1]]->setIgnoreCollisionCheck(bodies_[pair[0]], true);
  }
}

btCollisionShape* Bullet::make_shape(const PeerShape& shape, btTransform* place) {
  *place = transform_of(shape.pose);
  const auto& s = shape.size;
  if (shape.kind == "sphere") return keep(new btSphereShape(s[0]));
  if (shape.kind == "box") return keep(new btBoxShape(vector_of(s)));
  if (shape.kind == "capsule") return keep(new btCapsuleShapeZ(s[0], 2 * s[1]));
  if (shape.kind == "cylinder") return keep(new btCylinderShapeZ(btVector3(s[0], s[0], s[1])));
  // A plane has no place of its own in Bullet.
  const btVector3 normal = place->getBasis().getColumn(2);
  auto* plane = keep(new btStaticPlaneShape(normal, normal.dot(place->getOrigin())));
  place->setIdentity();
  return plane;
}

void Bullet::add_body(const PeerScene& scene, int i) {
  const PeerBody& body = scene.bodies[i];
  std::vector<const PeerShape*> shapes;
  for (const PeerShape& shape : scene.shapes)
    if (shape.body == i) shapes.push_back(&shape);
  btCollisionShape* whole = nullptr;
  btTransform place;
  if (shapes.size() == 1) whole = make_shape(*shapes[0], &place);
  if (shapes.size() != 1 || !(place == btTransform::getIdentity())) {
    auto* compound = keep(new btCompoundShape());
    if (whole != nullptr) {
      compound->addChildShape(place, whole);
    } else {
      for (const PeerShape* shape : shapes) {
        btCollisionShape* part = make_shape(*shape, &place);
        compound->addChildShape(place, part);
      }
    }
    whole = compound;
  }
  btRigidBody::btRigidBodyConstructionInfo info(body.mass, nullptr, whole, vector_of(body.inertia));
  info.m_startWorldTransform = transform_of(body.pose);
  // Bullet multiplies the coefficients of a pair: roots give the geometric mean.
  info.m_friction = shapes.empty() ? 0 : std::sqrt(shapes[0]->friction);
  info.m_restitution = shapes.empty() ? 0 : shapes[0]->restitution;
  auto* made = keep(new btRigidBody(info));
  made->setLinearVelocity(vector_of(body.velocity));
  made->setAngularVelocity(vector_of(body.spin));
  made->setActivationState(DISABLE_DEACTIVATION);
  world_->addRigidBody(made);
  bodies_.push_back(made);
}

}  // namespace

int main(int count, char** words) {
  PeerScene scene;
  if (count != 2 || std::atoi(words[1]) < 1 || !read_peer_scene(std::cin, &scene)) {
    std::fprintf(stderr, "usage: %s ITERATIONS < scene\n", words[0]);
    return 2;
  }
  Bullet engine(scene, std::atoi(words[1]));
  return run_peer(scene, &engine);
}
