// Rapier as WebAssembly (npm's @dimforge/rapier3d-compat: single precision, one thread, no SIMD), nothing sleeps.
//   default   its own settings: four iterations, which are its substeps, 1 mm of overlap allowed
//   20        twenty iterations, 0.1 mm allowed, contacts ten times as stiff (300 Hz)
import RAPIER from "@dimforge/rapier3d-compat";
import { findPairsApart, makeWarmUp, multiply, readPeerScene, runPeer, warmSteps } from "./peer.mjs";

const settings = {
  default: { title: "default" },
  20: { iterations: 20, allowed: 1e-4, frequency: 300, title: "20 iterations" },
};
const quarterAboutX = [Math.SQRT1_2, Math.SQRT1_2, 0, 0]; // its capsules and cylinders have their axis along y
const vector = ([x, y, z]) => ({ x, y, z });
const turn = ([w, x, y, z]) => ({ w, x, y, z });

class Engine {
  constructor(scene, setting) {
    this.scene = scene;
    this.name = "Rapier (wasm), " + setting.title;
    this.world = new RAPIER.World(vector(scene.gravity));
    this.world.timestep = scene.step;
    const parameters = this.world.integrationParameters;
    if (setting.iterations) parameters.numSolverIterations = setting.iterations;
    if (setting.allowed) parameters.normalizedAllowedLinearError = setting.allowed;
    if (setting.frequency) parameters.contact_natural_frequency = setting.frequency;
    this.bodies = scene.bodies.map((body) => this.addBody(body));
    const apart = findPairsApart(scene);
    const touched = new Set(apart.flat());
    this.numberOf = new Map(this.bodies.map((body, i) => [body.handle, i]));
    this.apart = new Set(apart.flatMap(([a, b]) => [a + " " + b, b + " " + a]));
    for (const shape of scene.shapes) this.addShape(shape, touched.has(shape.body));
    for (const ball of scene.balls) this.addBall(ball);
    const filterContactPair = (one, other, a, b) =>
      this.apart.has(this.numberOf.get(a) + " " + this.numberOf.get(b)) ? null : RAPIER.SolverFlags.COMPUTE_IMPULSE;
    this.hooks = apart.length > 0 ? { filterContactPair, filterIntersectionPair: () => true } : undefined;
    this.events = apart.length > 0 ? new RAPIER.EventQueue(true) : undefined; // without one hooks are not asked
    this.pushed = [];
  }

  addBody({ mass, inertia, pose, velocity, spin }) {
    const made = mass > 0 ? RAPIER.RigidBodyDesc.dynamic() : RAPIER.RigidBodyDesc.fixed();
    made.setTranslation(...pose.position).setRotation(turn(pose.orientation)).setCanSleep(false);
    if (mass > 0) {
      made.setLinvel(...velocity).setAngvel(vector(spin));
      made.setAdditionalMassProperties(mass, vector([0, 0, 0]), vector(inertia), turn([1, 0, 0, 0]));
    }
    return this.world.createRigidBody(made);
  }

  makeShape({ kind, size }) {
    switch (kind) {
      case "sphere": return RAPIER.ColliderDesc.ball(size[0]);
      case "box": return RAPIER.ColliderDesc.cuboid(...size);
      case "capsule": return RAPIER.ColliderDesc.capsule(size[1], size[0]);
      case "cylinder": return RAPIER.ColliderDesc.cylinder(size[1], size[0]);
      case "plane": return new RAPIER.ColliderDesc(new RAPIER.HalfSpace(vector([0, 0, 1])));
    }
  }

  /// Friction of a pair is the product of both here: with square roots that is the geometric mean.
  addShape(shape, filtered) {
    const along = shape.kind === "capsule" || shape.kind === "cylinder";
    const made = this.makeShape(shape)
      .setTranslation(...shape.pose.position)
      .setRotation(turn(along ? multiply(shape.pose.orientation, quarterAboutX) : shape.pose.orientation))
      .setDensity(0)
      .setFriction(Math.sqrt(shape.friction))
      .setFrictionCombineRule(RAPIER.CoefficientCombineRule.Multiply)
      .setRestitution(shape.restitution)
      .setRestitutionCombineRule(RAPIER.CoefficientCombineRule.Max);
    if (filtered) made.setActiveHooks(RAPIER.ActiveHooks.FILTER_CONTACT_PAIRS);
    this.world.createCollider(made, this.bodies[shape.body]);
  }

  addBall({ a, b, atA, atB }) {
    this.ground ??= this.world.createRigidBody(RAPIER.RigidBodyDesc.fixed());
    const bodyOf = (i) => (i < 0 ? this.ground : this.bodies[i]);
    this.world.createImpulseJoint(RAPIER.JointData.spherical(vector(atA), vector(atB)), bodyOf(a), bodyOf(b), true);
  }

  push(body, force) {
    this.bodies[body].addForce(vector(force), true);
    this.pushed.push(this.bodies[body]);
  }
  step() {
    this.world.step(this.events, this.hooks);
    for (const body of this.pushed.splice(0)) body.resetForces(true);
  }
  state(i) {
    const body = this.bodies[i], x = body.translation(), q = body.rotation(), v = body.linvel(), w = body.angvel();
    return [x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z];
  }
}

const setting = settings[process.argv[2]];
const scene = setting && process.argv.length === 3 ? readPeerScene() : null;
if (!scene) {
  process.stderr.write("usage: " + process.argv[1] + " " + Object.keys(settings).join("|") + " < scene\n");
  process.exit(2);
}
await RAPIER.init();
const first = new Engine(makeWarmUp(scene), setting);
for (let k = 0; k < warmSteps; ++k) first.step();
runPeer(scene, new Engine(scene, setting));
