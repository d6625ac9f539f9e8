// What can be plotted: each returns {lines: [{label, values}], unit, log} over the clip's frames.
import { norm, subtract } from "../scene/math.js";

const column = (values, width, k) => Array.from({ length: Math.floor(values.length / width) }, (_, i) => values[width * i + k]);
const positive = (values) => values.map((v) => (v > 0 ? v : null));

function energyLines(clip) {
  const e = clip.series.energy;
  const kinetic = column(e, 3, 0), potential = column(e, 3, 1);
  return { kinetic, potential, total: kinetic.map((k, i) => k + potential[i]), dissipated: column(e, 3, 2) };
}

/** Motion of one body: exact from the server, from the poses in a file that has only those. */
async function bodyMotion(clip, body) {
  clip.motions ??= new Map();
  const key = `${body} ${clip.json.live ? clip.version : ""}`;
  if (!clip.motions.has(key)) {
    if (clip.motions.size > 8) clip.motions.clear();
    clip.motions.set(key, clip.loadBody ? fromServer(await clip.loadBody(body)) : fromPoses(clip, body));
  }
  return clip.motions.get(key);
}

function fromServer({ pose, velocity }) {
  const n = pose.length / 7;
  const list = (values, width, from, count) => Array.from({ length: n }, (_, i) => [...values.slice(width * i + from, width * i + from + count)]);
  return { position: list(pose, 7, 0, 3), orientation: list(pose, 7, 3, 4), velocity: list(velocity, 6, 0, 3), angular: list(velocity, 6, 3, 3) };
}

function fromPoses(clip, body) {
  const position = [], orientation = [], velocity = [], angular = [];
  for (let k = 0; k < clip.frames; ++k) {
    const p = [NaN, NaN, NaN], q = [1, 0, 0, 0];
    clip.bodyPosition(k, body, p);
    clip.bodyOrientation(k, body, q);
    position.push(p);
    orientation.push(q);
    const v = clip.poseChunks[k]?.velocity;
    if (clip.json.live && v) {
      velocity.push([...v.slice(6 * body, 6 * body + 3)]);
      angular.push([...v.slice(6 * body + 3, 6 * body + 6)]);
    }
  }
  if (!clip.json.live) {
    for (let k = 0; k < clip.frames; ++k) {
      const a = Math.max(0, k - 1), b = Math.min(clip.frames - 1, k + 1), dt = clip.time[b] - clip.time[a] || 1;
      velocity.push(subtract(position[b], position[a]).map((x) => x / dt));
      angular.push(turnRate(orientation[a], orientation[b], dt));
    }
  }
  return { position, orientation, velocity, angular };
}

/** Angular velocity that turns q into r in dt. */
function turnRate(q, r, dt) {
  const w = r[0] * q[0] + r[1] * q[1] + r[2] * q[2] + r[3] * q[3];
  const v = [
    -r[0] * q[1] + r[1] * q[0] - r[2] * q[3] + r[3] * q[2],
    -r[0] * q[2] + r[1] * q[3] + r[2] * q[0] - r[3] * q[1],
    -r[0] * q[3] - r[1] * q[2] + r[2] * q[1] + r[3] * q[0],
  ];
  const s = norm(v), angle = 2 * Math.atan2(s, Math.abs(w));
  return s > 0 ? v.map((x) => x / s * angle / dt * Math.sign(w || 1)) : [0, 0, 0];
}

/** Sum of the contact forces on a body (its length), or of all normal forces. */
async function contactForce(clip, body) {
  await clip.needAllContacts();
  const values = [];
  for (let k = 0; k < clip.frames; ++k) {
    const c = clip.contacts(k);
    if (!c) { values.push(null); continue; }
    const sum = [0, 0, 0];
    let all = 0;
    for (let i = c.from; i < c.to; ++i) {
      const sign = c.b[i] === body ? 1 : c.a[i] === body ? -1 : 0;
      for (let d = 0; d < 3; ++d) { sum[d] += sign * c.force[3 * i + d]; all += c.force[3 * i + d] * c.normal[3 * i + d]; }
    }
    values.push(body >= 0 ? norm(sum) : all);
  }
  return values;
}

/** Distance between the bodies of the same name in two clips: the largest and the root of the mean square. */
function distances(clip, other) {
  const pairs = clip.bodies.map((b, i) => [i, other.findBody(b.name)]).filter(([i, j]) => j >= 0 && clip.bodies[i].kind === "dynamic");
  const largest = [], mean = [], p = [0, 0, 0], q = [0, 0, 0], r = [0, 0, 0];
  for (let k = 0; k < clip.frames; ++k) {
    const at = other.at(clip.time[k]);
    let most = 0, sum = 0, known = clip.time[k] <= other.end + 1e-9;
    for (const [i, j] of pairs) {
      if (!clip.bodyPosition(k, i, p) || !other.bodyPosition(at.frame, j, q) || !other.bodyPosition(at.next, j, r)) { known = false; break; }
      let d2 = 0;
      for (let d = 0; d < 3; ++d) d2 += (p[d] - q[d] - at.fraction * (r[d] - q[d])) ** 2;
      most = Math.max(most, d2);
      sum += d2;
    }
    largest.push(known ? Math.sqrt(most) : null);
    mean.push(known && pairs.length ? Math.sqrt(sum / pairs.length) : null);
  }
  return { largest, mean };
}

/** One number of a joint over the run; `pick` gets its nine (data/clip.js). Null where it is not known. */
async function jointSeries(clip, joint, pick) {
  await clip.needAllJoints();
  return Array.from({ length: clip.frames }, (_, k) => {
    const row = clip.joint(k, joint), value = row ? pick(row) : NaN;
    return Number.isFinite(value) ? value : null;
  });
}

const TURNS = new Set(["hinge", "cylindrical", "screw", "planar", "wheel", "universal"]);
/** Units of a joint's coordinate, its speed, and the force along it. */
export function jointUnits(link) {
  return TURNS.has(link.kind) ? { position: "rad", speed: "rad/s", motor: "N m" } : { position: "m", speed: "m/s", motor: "N" };
}

const jointPlot = (title, unit, lines) => ({ title, joint: true, unit: (link) => (typeof unit === "string" ? unit : unit(link)),
  make: async ({ clip, joint }) => Promise.all(lines.map(async ([label, pick]) => [label, await jointSeries(clip, joint, pick)])) });
const size = (r, from) => Math.hypot(r[from], r[from + 1], r[from + 2]);
const parts = (from) => [["size", (r) => size(r, from)], ["x", (r) => r[from]], ["y", (r) => r[from + 1]], ["z", (r) => r[from + 2]]];

/** Plots of the chosen joint. */
export const JOINT_PLOTS = {
  joint_position: jointPlot("Position", (link) => jointUnits(link).position, [["position", (r) => r[0]]]),
  joint_speed: jointPlot("Speed", (link) => jointUnits(link).speed, [["speed", (r) => r[1]]]),
  joint_motor: jointPlot("Motor", (link) => jointUnits(link).motor, [["motor", (r) => r[2]]]),
  joint_force: jointPlot("Reaction force", "N", parts(3)),
  joint_moment: jointPlot("Reaction moment", "N m", parts(6)),
};

/** The plot of the chosen sensor. */
export const SENSOR_PLOTS = {
  sensor: { title: "Sensor", sensor: true, unit: "", make: async ({ clip, sensor }) => {
    await clip.needAllJoints();
    return [["value", Array.from({ length: clip.frames }, (_, k) => { const x = clip.sensor(k, sensor); return Number.isFinite(x) ? x : null; })]];
  } },
};

const axes = (rows) => ["x", "y", "z"].map((label, d) => ({ label, values: rows.map((r) => r[d]) }));

export const PLOTS = {
  energy: { title: "Energy", unit: "J", make: ({ clip }) => {
    const e = energyLines(clip);
    return [["kinetic", e.kinetic], ["potential", e.potential], ["total", e.total]];
  } },
  ledger: { title: "Energy ledger", unit: "J", make: ({ clip }) => {
    const e = energyLines(clip);
    return [["change", e.total.map((x) => x - e.total[0])], ["dissipated", e.dissipated],
      ["put in", e.total.map((x, i) => x - e.total[0] + e.dissipated[i])]];
  } },
  residual: { title: "Residual", unit: "m/s", log: true, make: ({ clip }) => [["natural map", positive(clip.series.residual)]] },
  penetration: { title: "Penetration", unit: "m", make: ({ clip }) => [["deepest", clip.series.penetration]] },
  joint_error: { title: "Joint error", unit: "m or rad", make: ({ clip }) => [["largest", clip.series.joint_error]] },
  iterations: { title: "Iterations", unit: "", make: ({ clip }) => [["iterations", clip.series.iterations], ["escalations", clip.series.escalations]] },
  contacts: { title: "Contacts", unit: "", make: ({ clip }) => [["contacts", clip.series.contact_count]] },
  speed: { title: "Speed", unit: "m/s", body: true, make: async ({ clip, body }) => [["speed", (await bodyMotion(clip, body)).velocity.map(norm)]] },
  position: { title: "Position", unit: "m", body: true, make: async ({ clip, body }) => axes((await bodyMotion(clip, body)).position).map((l) => [l.label, l.values]) },
  velocity: { title: "Velocity", unit: "m/s", body: true, make: async ({ clip, body }) => axes((await bodyMotion(clip, body)).velocity).map((l) => [l.label, l.values]) },
  spin: { title: "Angular speed", unit: "rad/s", body: true, make: async ({ clip, body }) => [["angular speed", (await bodyMotion(clip, body)).angular.map(norm)]] },
  force: { title: "Contact force", unit: "N", make: async ({ clip, body }) => [[body >= 0 ? "on the body" : "all normal forces", await contactForce(clip, body)]] },
  distance: { title: "Distance between the two", unit: "m", compare: true, make: ({ clip, other }) => {
    const d = distances(clip, other);
    return [["largest", d.largest], ["r.m.s.", d.mean]];
  } },
};

export { bodyMotion };
