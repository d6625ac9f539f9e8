// What the programs of this folder share: a scene in plain lines (docs/benchmarks.md) from standard input, and the
// answer. The same as ../peer.h, for engines that are WebAssembly.
import { readFileSync } from "node:fs";

/// Null: not such a scene.
export function readPeerScene() {
  const words = readFileSync(0, "utf8").split(/\s+/);
  let at = 0;
  const word = () => words[at++];
  const number = () => Number(word());
  const numbers = (count) => Array.from({ length: count }, number);
  const pose = () => ({ position: numbers(3), orientation: numbers(4) });
  const scene = { steps: 0, interval: 1, step: 0, limit: 0, gravity: [0, 0, 0], bodies: [], shapes: [], balls: [], apart: [], forces: [] };
  const items = {
    steps: () => ([scene.steps, scene.interval, scene.step] = numbers(3)),
    limit: () => (scene.limit = number()),
    gravity: () => (scene.gravity = numbers(3)),
    body: () => scene.bodies.push({ mass: number(), inertia: numbers(3), pose: pose(), velocity: numbers(3), spin: numbers(3) }),
    shape: () =>
      scene.shapes.push({ kind: word(), body: number(), friction: number(), restitution: number(), size: numbers(3), pose: pose() }),
    ball: () => scene.balls.push({ a: number(), b: number(), atA: numbers(3), atB: numbers(3) }),
    apart: () => scene.apart.push(numbers(2)),
    force: () => scene.forces.push({ body: number(), first: number(), last: number(), force: numbers(3) }),
  };
  if (word() !== "slipstick-peer" || number() !== 1) return null;
  while (at < words.length) {
    const key = word();
    if (key === "end") return scene;
    if (!Object.hasOwn(items, key)) return null;
    items[key]();
  }
  return null;
}

/// Quaternions are w x y z.
export function multiply([a, b, c, d], [w, x, y, z]) {
  return [
    a * w - b * x - c * y - d * z,
    a * x + b * w + c * z - d * y,
    a * y - b * z + c * w + d * x,
    a * z + b * y - c * x + d * w,
  ];
}

export function rotate(q, v) {
  return multiply(multiply(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]).slice(1);
}

/// The pose of a shape in the world.
export function place(body, shape) {
  const turned = rotate(body.orientation, shape.position);
  return { position: body.position.map((x, i) => x + turned[i]), orientation: multiply(body.orientation, shape.orientation) };
}

/// Pairs of bodies that do not touch: those named, and those that a joint holds together.
export function findPairsApart(scene) {
  return [...scene.apart, ...scene.balls.map((ball) => [ball.a, ball.b])].filter(([a, b]) => a >= 0 && b >= 0);
}

function readCpuSeconds() {
  const { user, system } = process.cpuUsage();
  return 1e-6 * (user + system);
}

/// The first hundred bodies of a scene: WebAssembly is compiled when it is first called, which is no part of a step's time.
/// An engine that is not measured takes some steps with them.
export const warmSteps = 30;
export function makeWarmUp(scene) {
  const has = (i) => i < 100;
  return {
    ...scene,
    bodies: scene.bodies.filter((_, i) => has(i)),
    shapes: scene.shapes.filter(({ body }) => has(body)),
    balls: scene.balls.filter(({ a, b }) => has(a) && has(b)),
    apart: scene.apart.filter(([a, b]) => has(a) && has(b)),
    forces: [],
  };
}

/// Steps an engine through the scene and prints the answer. Engine: name, push(body, force), step(h), and state(body), the
/// thirteen numbers of a sample.
export function runPeer(scene, engine) {
  const lines = ["engine " + engine.name];
  const seconds = [];
  const sample = () => {
    lines.push("sample");
    for (let i = 0; i < scene.bodies.length; ++i) lines.push(engine.state(i).join(" "));
  };
  const begin = performance.now();
  for (let k = 0; k < scene.steps; ++k) {
    for (const each of scene.forces) if (k >= each.first && k < each.last) engine.push(each.body, each.force);
    const start = readCpuSeconds();
    engine.step(scene.step);
    seconds.push(readCpuSeconds() - start);
    const late = scene.limit > 0 && k + 1 < scene.steps && performance.now() - begin > 1e3 * scene.limit;
    if ((k + 1) % scene.interval === 0 || k + 1 === scene.steps || late) sample();
    if (late) lines.push("cut");
    if (late) break;
  }
  for (const each of seconds) lines.push("seconds " + each.toFixed(9));
  lines.push("end\n");
  process.stdout.write(lines.join("\n"));
}

/// One line why the engine cannot take the scene.
export function refuse(name, why) {
  process.stdout.write("engine " + name + "\nfailure " + why + "\nend\n");
}
