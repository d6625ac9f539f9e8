// Where a clip is and how large: what a camera needs.
import { findReach } from "./joints.js";
import { add, cross, dot, norm, quantile, subtract, times, unit } from "./math.js";

/** Middle, size and up of a clip: what a camera needs. Bodies that run away do not count. */
export function measure(clip) {
  const g = clip.json.gravity, planar = clip.json.planar;
  let up = norm(g) > 0 ? times(unit(g), -1) : planar ? [0, 1, 0] : [0, 0, 1];
  if (planar && Math.abs(up[2]) > 0.5) up = [0, 1, 0];
  const reach = findReach(clip);
  const samples = clip.count <= 400 ? 24 : 6; // of many bodies a few moments are enough
  const frames = clip.frames <= 1 ? [0] : [...new Set(Array.from({ length: samples + 1 }, (_, k) => Math.round(k / samples * (clip.frames - 1))))];
  const held = new Set(clip.json.links.flatMap((link) => [link.a, link.b])); // parts of machines: never out of the picture
  const points = [], p = [0, 0, 0]; // x y z, reach, whether it is loose
  const first = [];
  for (const frame of frames) {
    for (let i = 0; i < clip.count; ++i) {
      const solid = reach[i] > 0 || clip.bodies[i].kind === "dynamic";
      if (!solid || !clip.bodyPosition(frame, i, p)) continue;
      points.push([...p, reach[i], !held.has(i)]);
      if (frame === 0) first.push([...p, reach[i]]);
    }
  }
  for (const link of clip.json.links) { // what hangs, hangs from somewhere
    for (const [body, at] of [[link.a, link.anchor_a], [link.b, link.anchor_b]]) {
      if (body < 0) { points.push([...at, 0]); first.push([...at, 0]); }
    }
  }
  if (points.length === 0) points.push([0, 0, 0, 1]);
  const chase = keepNear(first, points);
  const low = [0, 0, 0], high = [0, 0, 0];
  for (let k = 0; k < 3; ++k) {
    low[k] = quantile(points.map((q) => q[k] - q[3]), 0.02);
    high[k] = quantile(points.map((q) => q[k] + q[3]), 0.98);
    for (const q of first.length <= 400 ? first : []) { low[k] = Math.min(low[k], q[k] - q[3]); high[k] = Math.max(high[k], q[k] + q[3]); }
  }
  const center = times(add(low, high), 0.5);
  const radius = norm(subtract(high, low)) / 2 || 1e-3;
  const lowest = Math.min(...points.map((q) => dot(subtract(q, center), up) - q[3]));
  return { center, radius, up, points, chase, low: Math.max(lowest, -2 * radius), spread: findSpread(points, center, up) };
}

/**
 * The frame of a running scene that has outgrown `frame`, given what it is now; null if it is still in it. Its points are the corners of a box
 * with all of it: those of every moment would soon outnumber the newest, and a camera leaves out the few that are farthest off.
 */
export function growFrame(frame, fit) {
  const ends = (points, sign) => [0, 1, 2].map((k) => sign * Math.max(...points.map((p) => sign * p[k] + p[3])));
  const low = ends(frame.points, -1), high = ends(frame.points, 1);
  if (fit.points.every((p) => [0, 1, 2].every((k) => p[k] - p[3] >= low[k] && p[k] + p[3] <= high[k]))) return null;
  const room = 0.15 * fit.radius; // to grow into
  const grown = ends(fit.points, -1).map((x, k) => (x < low[k] ? x - room : low[k])), raised = ends(fit.points, 1).map((x, k) => (x > high[k] ? x + room : high[k]));
  const points = [0, 1, 2, 3, 4, 5, 6, 7].map((corner) => [0, 1, 2].map((k) => (corner >> k & 1 ? raised : grown)[k]).concat(0));
  return { ...fit, points, center: times(add(grown, raised), 0.5), radius: norm(subtract(raised, grown)) / 2 };
}

/**
 * Leaves out of `points` what should not be in the first picture, given where everything began. True when the whole group
 * goes far away from there: then the picture begins with the group, and the camera goes with it.
 */
function keepNear(first, points) {
  if (first.length === 0) return false;
  const low = [0, 1, 2].map((k) => Math.min(...first.map((p) => p[k] - p[3]))), high = [0, 1, 2].map((k) => Math.max(...first.map((p) => p[k] + p[3])));
  const middle = times(add(low, high), 0.5), size = norm(subtract(high, low)) / 2;
  const within = (reach) => points.filter((p) => norm(subtract(p, middle)) <= reach * size);
  const keep = (near) => points.splice(0, points.length, ...near);
  const far = within(4).length < points.length;
  if (far && within(1.3).length >= 0.5 * points.length) { keep(within(1.6)); return false; } // some fly off
  const near = points.filter((p) => !p[4] || norm(subtract(p, middle)) <= 1.25 * size);
  if (!far && near.length >= 0.8 * points.length) { keep(near); return false; } // some roll away
  if (within(12).length === points.length) return false;
  keep(within(3));
  return true;
}

/** The middle of what moves, given where each body is. */
export function findMiddle(clip, place) {
  const moving = clip.bodies.flatMap((b, i) => (b.kind === "dynamic" ? [[...place(i, [0, 0, 0])]] : []));
  return [0, 1, 2].map((k) => quantile(moving.map((p) => p[k]), 0.5));
}

/** The horizontal direction in which the scene is longest, and how much longer. */
function findSpread(points, center, up) {
  const x = unit(cross(Math.abs(up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], up)), y = cross(up, x);
  let xx = 0, xy = 0, yy = 0;
  for (const p of points) {
    const d = subtract(p, center), a = dot(d, x), b = dot(d, y);
    xx += a * a; xy += a * b; yy += b * b;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const root = Math.hypot((xx - yy) / 2, xy), mean = (xx + yy) / 2;
  return { along: add(times(x, Math.cos(angle)), times(y, Math.sin(angle))), ratio: (mean + root) / Math.max(mean - root, 1e-12) };
}
