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
  void push(int body, const std::array<double, 3>& force) { parts_[body][0]->applyCentralForce(vector_of(force)); }
  void step(double h) { world_->stepSimulation(h, 0); }
  PeerPose pose(int body) const {
    if (is_fixed(body)) return scene_.bodies[body].pose;
    const btTransform& place = parts_[body][0]->getWorldTransform();
    const btQuaternion q = place.getRotation();
    return {array_of(place.getOrigin()), {q.w(), q.x(), q.y(), q.z()}};
  }
  std::array<double, 3> velocity(int body) const {
    return is_fixed(body) ? std::array<double, 3>{} : array_of(parts_[body][0]->getLinearVelocity());
  }
  std::array<double, 3> spin(int body) const {
    return is_fixed(body) ? std::array<double, 3>{} : array_of(parts_[body][0]->getAngularVelocity());
  }

 private:
  bool is_fixed(int body) const { return scene_.bodies[body].mass == 0; }
  btCollisionShape* make_shape(const PeerShape& shape, btTransform* place);
  void add_fixed(int i);
  void add_moving(int i);
  void add_part(int i, const btTransform& place, btCollisionShape* shape, const PeerShape* surface);
  void add_ball(const PeerBall& ball);
  template <class T>
  T* keep(T* made) {
    kept_.emplace_back(made, [](void* p) { delete static_cast<T*>(p); });
    return made;
  }

  const PeerScene& scene_;
  int iterations_;
  std::deque<std::shared_ptr<void>> kept_;
  std::unique_ptr<btDiscreteDynamicsWorld> world_;
  std::vector<std::vector<btRigidBody*>> parts_;  ///< one per moving body; one per shape of a fixed one
};

Bullet::Bullet(const PeerScene& scene, int iterations) : scene_(scene), iterations_(iterations) {
  auto* configuration = keep(new btDefaultCollisionConfiguration());
  auto* dispatcher = keep(new btCollisionDispatcher(configuration));
  auto* pairs = keep(new btDbvtBroadphase());
  auto* solver = keep(new btSequentialImpulseConstraintSolver());
  world_ = std::make_unique<btDiscreteDynamicsWorld>(dispatcher, pairs, solver, configuration);
  world_->setGravity(vector_of(scene.gravity));
  world_->getSolverInfo().m_numIterations = iterations;
  parts_.resize(scene.bodies.size());
  for (int i = 0; i < static_cast<int>(scene.bodies.size()); ++i) {
    if (is_fixed(i)) {
      add_fixed(i);
    } else {
      add_moving(i);
    }
  }
  for (const PeerBall& ball : scene.balls) add_ball(ball);
  for (const std::array<int, 2>& pair : scene.apart) {
    if (pair[0] < 0 || pair[1] < 0) continue;
    for (btRigidBody* a : parts_[pair[0]])
      for (btRigidBody* b : parts_[pair[1]]) {
        a->setIgnoreCollisionCheck(b, true);
        b->setIgnoreCollisionCheck(a, true);
      }
  }
}

/// A joint to a fixed body is one to the world: both are where they were.
void Bullet::add_ball(const PeerBall& ball) {
  const bool a_moves = ball.a >= 0 && !is_fixed(ball.a), b_moves = ball.b >= 0 && !is_fixed(ball.b);
  btPoint2PointConstraint* joint = nullptr;
  if (a_moves && b_moves) {
    joint =
        new btPoint2PointConstraint(*parts_[ball.a][0], *parts_[ball.b][0], vector_of(ball.at_a), vector_of(ball.at_b));
  } else if (a_moves || b_moves) {
    joint =
        new btPoint2PointConstraint(*parts_[a_moves ? ball.a : ball.b][0], vector_of(a_moves ? ball.at_a : ball.at_b));
  } else {
    return;
  }
  world_->addConstraint(keep(joint), true);
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

void Bullet::add_part(int i, const btTransform& place, btCollisionShape* shape, const PeerShape* surface) {
  const PeerBody& body = scene_.bodies[i];
  btRigidBody::btRigidBodyConstructionInfo info(body.mass, nullptr, shape, vector_of(body.inertia));
  info.m_startWorldTransform = place;
  // Bullet multiplies the coefficients of a pair: roots give the geometric mean.
  info.m_friction = surface == nullptr ? 0 : std::sqrt(surface->friction);
  info.m_restitution = surface == nullptr ? 0 : surface->restitution;
  auto* made = keep(new btRigidBody(info));
  made->setLinearVelocity(vector_of(body.velocity));
  made->setAngularVelocity(vector_of(body.spin));
  made->setActivationState(DISABLE_DEACTIVATION);
  world_->addRigidBody(made);
  parts_[i].push_back(made);
}

void Bullet::add_fixed(int i) {
  for (const PeerShape& shape : scene_.shapes) {
    if (shape.body != i) continue;
    btTransform place;
    btCollisionShape* made = make_shape(shape, &place);
    add_part(i, transform_of(scene_.bodies[i].pose) * place, made, &shape);
  }
}

void Bullet::add_moving(int i) {
  std::vector<const PeerShape*> shapes;
  for (const PeerShape& shape : scene_.shapes)
    if (shape.body == i) shapes.push_back(&shape);
  btCollisionShape* whole = nullptr;
  btTransform place;
  if (shapes.size() == 1) whole = make_shape(*shapes[0], &place);
  if (shapes.size() != 1 || !(place == btTransform::getIdentity())) {
    auto* compound = keep(new btCompoundShape());
    for (const PeerShape* shape : shapes) {
      btCollisionShape* part = make_shape(*shape, &place);
      compound->addChildShape(place, part);
    }
    whole = compound;
  }
  add_part(i, transform_of(scene_.bodies[i].pose), whole, shapes.empty() ? nullptr : shapes[0]);
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
