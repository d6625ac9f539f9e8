// ODE: its iterative (quick) or its direct solver, double precision, nothing sleeps.
#include <ode/ode.h>

#include <cmath>
#include <string_view>

#include "peer.h"

namespace {

constexpr int kMaxContacts = 16;  ///< a pair of shapes

struct Surface {
  int body = -1;
  double friction = 0;
};

class Ode {
 public:
  Ode(const PeerScene& scene, bool direct);
  ~Ode();
  Ode(const Ode&) = delete;
  Ode& operator=(const Ode&) = delete;
  std::string name() const { return direct_ ? "ODE, direct" : "ODE, quick"; }
  void push(int body, const std::array<double, 3>& f) { dBodyAddForce(bodies_[body], f[0], f[1], f[2]); }
  void step(double h) {
    dSpaceCollide(space_, this, [](void* self, dGeomID a, dGeomID b) { static_cast<Ode*>(self)->touch(a, b); });
    if (direct_) {
      dWorldStep(world_, h);
    } else {
      dWorldQuickStep(world_, h);
    }
    dJointGroupEmpty(contacts_);
  }
  PeerPose pose(int body) const {
    if (bodies_[body] == nullptr) return scene_.bodies[body].pose;
    const dReal *x = dBodyGetPosition(bodies_[body]), *q = dBodyGetQuaternion(bodies_[body]);
    return {{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
  }
  std::array<double, 3> velocity(int body) const { return array_of(body, dBodyGetLinearVel); }
  std::array<double, 3> spin(int body) const { return array_of(body, dBodyGetAngularVel); }

 private:
  std::array<double, 3> array_of(int body, const dReal* (*get)(dBodyID)) const {
    if (bodies_[body] == nullptr) return {};
    const dReal* v = get(bodies_[body]);
    return {v[0], v[1], v[2]};
  }
  void add_body(const PeerBody& body);
  void add_shape(const PeerShape& shape);
  void touch(dGeomID a, dGeomID b);

  const PeerScene& scene_;
  bool direct_;
  dWorldID world_;
  dSpaceID space_;
  dJointGroupID contacts_;
  std::vector<dBodyID> bodies_;  ///< null: fixed
  std::vector<Surface> surfaces_;
};

Ode::Ode(const PeerScene& scene, bool direct) : scene_(scene), direct_(direct) {
  dInitODE2(0);
  world_ = dWorldCreate();
  space_ = dHashSpaceCreate(nullptr);
  contacts_ = dJointGroupCreate(0);
  dWorldSetGravity(world_, scene.gravity[0], scene.gravity[1], scene.gravity[2]);
  for (const PeerBody& body : scene.bodies) add_body(body);
  surfaces_.reserve(scene.shapes.size());  // addresses are kept
  for (const PeerShape& shape : scene.shapes) add_shape(shape);
  for (const PeerBall& ball : scene.balls) {
    dJointID joint = dJointCreateBall(world_, nullptr);
    const dBodyID a = ball.a < 0 ? nullptr : bodies_[ball.a], b = ball.b < 0 ? nullptr : bodies_[ball.b];
    dJointAttach(joint, a, b);
    dVector3 at{ball.at_a[0], ball.at_a[1], ball.at_a[2]};
    if (a != nullptr) dBodyGetRelPointPos(a, ball.at_a[0], ball.at_a[1], ball.at_a[2], at);
    dJointSetBallAnchor(joint, at[0], at[1], at[2]);
  }
}

Ode::~Ode() {
  dJointGroupDestroy(contacts_);
  dSpaceDestroy(space_);
  dWorldDestroy(world_);
  dCloseODE();
}

void Ode::add_body(const PeerBody& body) {
  if (body.mass == 0) {
    bodies_.push_back(nullptr);
    return;
  }
  dBodyID made = dBodyCreate(world_);
  dMass mass;
  dMassSetParameters(&mass, body.mass, 0, 0, 0, body.inertia[0], body.inertia[1], body.inertia[2], 0, 0, 0);
  dBodySetMass(made, &mass);
  const auto &x = body.pose.position, &v = body.velocity, &w = body.spin;
  dBodySetPosition(made, x[0], x[1], x[2]);
  dBodySetQuaternion(made, body.pose.orientation.data());
  dBodySetLinearVel(made, v[0], v[1], v[2]);
  dBodySetAngularVel(made, w[0], w[1], w[2]);
  dBodySetAutoDisableFlag(made, 0);
  bodies_.push_back(made);
}

void Ode::add_shape(const PeerShape& shape) {
  const auto& s = shape.size;
  const auto& x = shape.pose.position;
  const auto& q = shape.pose.orientation;
  dGeomID geom = nullptr;
  if (shape.kind == "plane") {
    // Of a fixed body: its place is the world's. The normal is the third column of both rotations.
    const PeerPose& body = scene_.bodies[shape.body].pose;
    dMatrix3 r_body, r_shape, r;
    dQuaternion q_body{body.orientation[0], body.orientation[1], body.orientation[2], body.orientation[3]};
    dQuaternion q_shape{q[0], q[1], q[2], q[3]};
    dRfromQ(r_body, q_body);
    dRfromQ(r_shape, q_shape);
    dMultiply0_333(r, r_body, r_shape);
    const dVector3 local{x[0], x[1], x[2]};
    dVector3 place;
    dMultiply0_331(place, r_body, local);
    const double offset = r[2] * (place[0] + body.position[0]) + r[6] * (place[1] + body.position[1]) +
                          r[10] * (place[2] + body.position[2]);
    geom = dCreatePlane(space_, r[2], r[6], r[10], offset);
  } else {
    if (shape.kind == "sphere") geom = dCreateSphere(space_, s[0]);
    if (shape.kind == "box") geom = dCreateBox(space_, 2 * s[0], 2 * s[1], 2 * s[2]);
    if (shape.kind == "capsule") geom = dCreateCapsule(space_, s[0], 2 * s[1]);
    if (shape.kind == "cylinder") geom = dCreateCylinder(space_, s[0], 2 * s[1]);
    if (bodies_[shape.body] != nullptr) {
      dGeomSetBody(geom, bodies_[shape.body]);
      dGeomSetOffsetPosition(geom, x[0], x[1], x[2]);
      dGeomSetOffsetQuaternion(geom, q.data());
    } else {  // carried by a body that is never stepped
      dBodyID carrier = dBodyCreate(world_);
      const PeerPose& body = scene_.bodies[shape.body].pose;
      dBodySetKinematic(carrier);
      dBodySetPosition(carrier, body.position[0], body.position[1], body.position[2]);
      dBodySetQuaternion(carrier, body.orientation.data());
      dGeomSetBody(geom, carrier);
      dGeomSetOffsetPosition(geom, x[0], x[1], x[2]);
      dGeomSetOffsetQuaternion(geom, q.data());
    }
  }
  surfaces_.push_back({shape.body, shape.friction});
  dGeomSetData(geom, &surfaces_.back());
}

void Ode::touch(dGeomID a, dGeomID b) {
  const auto &one = *static_cast<Surface*>(dGeomGetData(a)), &other = *static_cast<Surface*>(dGeomGetData(b));
  if (one.body == other.body || (bodies_[one.body] == nullptr && bodies_[other.body] == nullptr)) return;
  for (const std::array<int, 2>& pair : scene_.apart)
    if ((pair[0] == one.body && pair[1] == other.body) || (pair[1] == one.body && pair[0] == other.body)) return;
  dContact found[kMaxContacts] = {};
  const int count = dCollide(a, b, kMaxContacts, &found[0].geom, sizeof(dContact));
  for (int k = 0; k < count; ++k) {
    found[k].surface.mode = dContactApprox1;
    found[k].surface.mu = std::sqrt(one.friction * other.friction);
    dJointID joint = dJointCreateContact(world_, contacts_, &found[k]);
    dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  }
}

}  // namespace

int main(int count, char** words) {
  PeerScene scene;
  const std::string_view setting = count == 2 ? words[1] : "";
  if ((setting != "quick" && setting != "direct") || !read_peer_scene(std::cin, &scene)) {
    std::fprintf(stderr, "usage: %s quick|direct < scene\n", words[0]);
    return 2;
  }
  Ode engine(scene, setting == "direct");
  return run_peer(scene, &engine);
}
