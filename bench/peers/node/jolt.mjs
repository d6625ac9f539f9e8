// Jolt as WebAssembly (npm's jolt-physics: single precision, one thread, no SIMD), nothing sleeps.
//   default       its own settings: ten iterations, 2 cm of overlap allowed
//   4, 10         so many substeps a step, 1 mm allowed
//   50            fifty iterations, 1 mm allowed
import initJolt from "jolt-physics";
import { findPairsApart, makeWarmUp, multiply, place, readPeerScene, refuse, runPeer, warmSteps } from "./peer.mjs";

const settings = {
  default: { substeps: 1, title: "default" },
  4: { substeps: 4, slop: 1e-3, title: "4 substeps" },
  10: { substeps: 10, slop: 1e-3, title: "10 substeps" },
  50: { substeps: 1, slop: 1e-3, iterations: 50, title: "50 iterations" },
};
const quarterAboutX = [Math.SQRT1_2, Math.SQRT1_2, 0, 0]; // its capsules and cylinders have their axis along y
const still = 0, moving = 1; // layers
const mostTouching = 10240; // pairs of bodies; what is above is left out without a word

class Engine {
  constructor(Jolt, scene, setting) {
    this.jolt = Jolt;
    this.scene = scene;
    this.name = "Jolt (wasm), " + setting.title;
    this.substeps = setting.substeps;
    this.world = this.makeWorld();
    this.system = this.world.GetPhysicsSystem();
    this.system.SetGravity(this.vector(scene.gravity));
    const physics = this.system.GetPhysicsSettings();
    physics.mAllowSleeping = false;
    if (setting.slop) physics.mPenetrationSlop = setting.slop;
    if (setting.iterations) physics.mNumVelocitySteps = setting.iterations;
    this.system.SetPhysicsSettings(physics);
    this.bodies = scene.bodies.map((body, i) => (body.mass > 0 ? this.addMoving(body, i) : this.addFixed(body, i)));
    for (const ball of scene.balls) this.addBall(ball);
    this.system.OptimizeBroadPhase();
    this.force = new Jolt.Vec3(0, 0, 0);
  }
  vector = ([x, y, z]) => new this.jolt.Vec3(x, y, z);
  place = ([x, y, z]) => new this.jolt.RVec3(x, y, z);
  turn = ([w, x, y, z]) => new this.jolt.Quat(x, y, z, w);

  makeWorld() {
    const { jolt: Jolt } = this;
    const made = new Jolt.JoltSettings();
    made.mMaxBodies = 4 * this.scene.shapes.length + this.scene.bodies.length + 1024;
    made.mMaxContactConstraints = mostTouching; // more have no room in its scratch memory of a fixed size
    const pairs = new Jolt.ObjectLayerPairFilterTable(2);
    pairs.EnableCollision(still, moving);
    pairs.EnableCollision(moving, moving);
    const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
    for (const layer of [still, moving]) layers.MapObjectToBroadPhaseLayer(layer, new Jolt.BroadPhaseLayer(layer));
    made.mObjectLayerPairFilter = pairs;
    made.mBroadPhaseLayerInterface = layers;
    made.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, pairs, 2);
    return new Jolt.JoltInterface(made);
  }

  makeShape({ kind, size }) {
    const { jolt: Jolt } = this;
    switch (kind) {
      case "sphere": return new Jolt.SphereShapeSettings(size[0]);
      case "box": return new Jolt.BoxShapeSettings(this.vector(size), Math.min(0.05, 0.1 * Math.min(...size)));
      case "capsule": return new Jolt.CapsuleShapeSettings(size[1], size[0]);
      case "cylinder": return new Jolt.CylinderShapeSettings(size[1], size[0], Math.min(0.05, 0.1 * size[0]));
      case "plane": return new Jolt.PlaneShapeSettings(new Jolt.Plane(this.vector([0, 0, 1]), 0));
    }
  }

  /// The rotation from a shape's own frame to its body's.
  static turnOf(shape) {
    const along = shape.kind === "capsule" || shape.kind === "cylinder";
    return along ? multiply(shape.pose.orientation, quarterAboutX) : shape.pose.orientation;
  }

  add(shape, i, pose, kind, layer, adjust) {
    const { jolt: Jolt } = this;
    const made = new Jolt.BodyCreationSettings(shape.Create().Get(), this.place(pose.position), this.turn(pose.orientation), kind, layer);
    made.mFriction = 0;
    made.mAllowSleeping = false;
    made.mLinearDamping = made.mAngularDamping = 0;
    made.mMaxAngularVelocity = made.mMaxLinearVelocity = 1e4;
    made.mApplyGyroscopicForce = true;
    made.mCollisionGroup = this.groupOf(i);
    adjust(made);
    const interface_ = this.system.GetBodyInterface();
    const body = interface_.CreateBody(made);
    interface_.AddBody(body.GetID(), Jolt.EActivation_Activate);
    Jolt.destroy(made);
    return body;
  }

  groupOf(i) {
    const { jolt: Jolt } = this;
    if (!this.filter) {
      this.filter = new Jolt.GroupFilterTable(this.scene.bodies.length);
      for (const [a, b] of findPairsApart(this.scene)) this.filter.DisableCollision(a, b);
    }
    return new Jolt.CollisionGroup(this.filter, 0, i);
  }

  /// A body for each shape of a fixed one.
  addFixed(body, i) {
    for (const shape of this.scene.shapes.filter((each) => each.body === i))
      this.add(this.makeShape(shape), i,
        place(body.pose, { position: shape.pose.position, orientation: Engine.turnOf(shape) }),
        this.jolt.EMotionType_Static, still, (made) => { made.mFriction = shape.friction; made.mRestitution = shape.restitution; });
    return null;
  }

  addMoving(body, i) {
    const { jolt: Jolt } = this;
    const [shape] = this.scene.shapes.filter((each) => each.body === i);
    let whole = shape ? this.makeShape(shape) : new Jolt.EmptyShapeSettings();
    if (shape && Engine.turnOf(shape).slice(1).some((x) => x !== 0))
      whole = new Jolt.RotatedTranslatedShapeSettings(this.vector([0, 0, 0]), this.turn(Engine.turnOf(shape)), whole);
    return this.add(whole, i, body.pose, Jolt.EMotionType_Dynamic, moving, (made) => {
      made.mFriction = shape ? shape.friction : 0;
      made.mRestitution = shape ? shape.restitution : 0;
      made.mLinearVelocity = this.vector(body.velocity);
      made.mAngularVelocity = this.vector(body.spin);
      made.mOverrideMassProperties = Jolt.EOverrideMassProperties_MassAndInertiaProvided;
      made.mMassPropertiesOverride.mMass = body.mass;
      made.mMassPropertiesOverride.mInertia = Jolt.Mat44.prototype.sScaleVec3(this.vector(body.inertia));
    });
  }

  addBall({ a, b, atA, atB }) {
    const { jolt: Jolt } = this;
    const made = new Jolt.PointConstraintSettings();
    const world = (body, at) => this.place(body < 0 ? at : place(this.scene.bodies[body].pose, { position: at, orientation: [1, 0, 0, 0] }).position);
    made.mSpace = Jolt.EConstraintSpace_WorldSpace;
    made.mPoint1 = world(a, atA);
    made.mPoint2 = world(b, atB);
    const bodyOf = (body) => (body < 0 || !this.bodies[body] ? Jolt.JoltInterface.prototype.sGetFixedToWorldBody() : this.bodies[body]);
    this.system.AddConstraint(made.Create(bodyOf(a), bodyOf(b)));
  }

  push(body, force) {
    this.force.Set(...force);
    this.bodies[body].AddForce(this.force);
  }
  step(h) {
    this.world.Step(h, this.substeps);
  }
  state(i) {
    const body = this.bodies[i];
    const { pose } = this.scene.bodies[i];
    if (!body) return [...pose.position, ...pose.orientation, 0, 0, 0, 0, 0, 0];
    const three = (v) => [v.GetX(), v.GetY(), v.GetZ()];
    const x = three(body.GetPosition()), q = body.GetRotation();
    return [...x, q.GetW(), q.GetX(), q.GetY(), q.GetZ(), ...three(body.GetLinearVelocity()), ...three(body.GetAngularVelocity())];
  }
}

/// Empty: nothing.
function findObstacle(scene) {
  if (3 * scene.bodies.length > mostTouching) return "not asked: its WebAssembly has no room for so many contacts";
  const seen = new Set();
  for (const { body, pose } of scene.shapes) {
    if (scene.bodies[body].mass === 0) continue;
    if (seen.has(body) || pose.position.some((x) => x !== 0)) return "not asked: bodies of several shapes";
    seen.add(body);
  }
  return "";
}

const setting = settings[process.argv[2]];
const scene = setting && process.argv.length === 3 ? readPeerScene() : null;
if (!scene) {
  process.stderr.write("usage: " + process.argv[1] + " " + Object.keys(settings).join("|") + " < scene\n");
  process.exit(2);
}
const obstacle = findObstacle(scene);
if (obstacle) {
  refuse("Jolt (wasm), " + setting.title, obstacle);
} else {
  const jolt = await initJolt();
  const first = new Engine(jolt, makeWarmUp(scene), setting);
  for (let k = 0; k < warmSteps; ++k) first.step(scene.step);
  runPeer(scene, new Engine(jolt, scene, setting));
}
