// Lines: springs and ropes, centres of mass, frames, trails; and islands. (Joints themselves: joints.js.)
import { BufferAttribute, BufferGeometry, Color, Group, LineBasicMaterial, LineSegments, DynamicDrawUsage } from "three";
import { findReach } from "./joints.js";
import { add, cross, norm, rotate, subtract, times, unit } from "./math.js";

/** Line segments that are drawn anew each frame. */
class Strokes {
  constructor(color, width = 1, over = false) {
    this.material = new LineBasicMaterial({ color, linewidth: width, depthTest: !over, transparent: true, toneMapped: false, vertexColors: color === null });
    this.lines = new LineSegments(new BufferGeometry(), this.material);
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 13;
    this.reserve(1024);
  }

  reserve(points) {
    this.room = points;
    const grow = (name) => {
      const array = new Float32Array(3 * points);
      const old = this.lines.geometry.attributes[name]?.array;
      if (old) array.set(old);
      return array;
    };
    const position = grow("position"), color = grow("color");
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    this.lines.geometry.setAttribute("position", new BufferAttribute(position, 3).setUsage(DynamicDrawUsage));
    if (this.material.vertexColors) this.lines.geometry.setAttribute("color", new BufferAttribute(color, 3).setUsage(DynamicDrawUsage));
  }

  begin() { this.n = 0; }

  segment(a, b, color) {
    if (this.n + 2 > this.room) this.reserve(2 * this.room);
    const p = this.lines.geometry.attributes.position.array, c = this.lines.geometry.attributes.color?.array;
    for (const [v, point] of [[this.n, a], [this.n + 1, b]]) {
      p[3 * v] = point[0]; p[3 * v + 1] = point[1]; p[3 * v + 2] = point[2];
      if (c && color) { c[3 * v] = color.r; c[3 * v + 1] = color.g; c[3 * v + 2] = color.b; }
    }
    this.n += 2;
  }

  end() {
    const g = this.lines.geometry;
    g.setDrawRange(0, this.n);
    g.attributes.position.needsUpdate = true;
    if (g.attributes.color) g.attributes.color.needsUpdate = true;
    this.lines.visible = this.n > 0;
  }
}

const AXES = [new Color("#d55e00"), new Color("#009e73"), new Color("#0072b2")];
const TRAIL_BODIES = 200, FRAME_BODIES = 500;

export class LinkView {
  constructor(clip, radius, theme) {
    this.clip = clip;
    this.radius = radius;
    this.reach = findReach(clip);
    this.group = new Group();
    this.links = new Strokes(new Color(theme.link), 1, true);
    this.marks = new Strokes(null, 1, true);
    this.trail = new Strokes(null, 1, false);
    for (const part of [this.links, this.marks, this.trail]) this.group.add(part.lines);
  }

  setTheme(theme) { this.links.material.color.set(theme.link); }

  anchor(bodies, body, point) {
    if (body < 0) return point;
    const pose = bodies.bodyPose(body);
    return add(pose.position, rotate(pose.orientation, point));
  }

  update(at, bodies, show, selected) {
    for (const part of [this.links, this.marks, this.trail]) part.begin();
    if (show.links) for (const link of this.clip.json.links) this.drawLink(link, bodies);
    this.drawMarks(bodies, show, selected);
    if (show.trails) this.drawTrails(at, selected);
    for (const part of [this.links, this.marks, this.trail]) part.end();
  }

  /** What is not solid of a joint: springs, ropes, and arms to bodies that do not reach their joint themselves. */
  drawLink(link, bodies) {
    const a = this.anchor(bodies, link.a, link.anchor_a), b = this.anchor(bodies, link.b, link.anchor_b);
    if (link.kind === "spring") this.drawSpring(a, b, 0.025 * this.radius);
    else if (link.kind === "rope" || link.kind === "rod") this.links.segment(a, b);
    if (link.couples) return;
    for (const [body, point, anchor] of [[link.a, a, link.anchor_a], [link.b, b, link.anchor_b]]) {
      if (body < 0 || this.clip.bodies[body].kind === "fixed" || norm(anchor) <= 1.1 * this.reach[body]) continue;
      const pose = bodies.bodyPose(body);
      this.links.segment(point, add(pose.position, rotate(pose.orientation, this.clip.bodies[body].com ?? [0, 0, 0])));
    }
  }

  drawSpring(a, b, size) {
    const along = subtract(b, a), length = norm(along);
    if (length < 1e-9) return;
    const z = unit(along), x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
    const turns = 8, steps = turns * 10;
    let from = a;
    for (let i = 1; i <= steps; ++i) {
      const s = i / steps, end = Math.min(1, 12 * Math.min(s, 1 - s)), t = 2 * Math.PI * turns * s;
      const to = add(add(a, times(along, s)), add(times(x, size * end * Math.cos(t)), times(y, size * end * Math.sin(t))));
      this.links.segment(from, to);
      from = to;
    }
  }

  drawMarks(bodies, show, selected) {
    const n = this.clip.count, size = 0.06 * this.radius;
    for (let i = 0; i < n; ++i) {
      const chosen = i === selected, moving = this.clip.bodies[i].kind === "dynamic";
      if ((show.frames && n <= FRAME_BODIES && moving) || (chosen && show.frames)) {
        const pose = bodies.bodyPose(i);
        for (let k = 0; k < 3; ++k) {
          const axis = [0, 0, 0];
          axis[k] = size;
          this.marks.segment(pose.position, add(pose.position, rotate(pose.orientation, axis)), AXES[k]);
        }
      }
      if (show.centres && n <= FRAME_BODIES && moving) {
        const pose = bodies.bodyPose(i), p = add(pose.position, rotate(pose.orientation, this.clip.bodies[i].com ?? [0, 0, 0]));
        for (let k = 0; k < 3; ++k) {
          const d = [0, 0, 0];
          d[k] = 0.3 * size;
          this.marks.segment(subtract(p, d), add(p, d), this.links.material.color);
        }
      }
    }
  }

  drawTrails(at, selected) {
    const bodies = selected >= 0 ? [selected]
      : this.clip.count <= TRAIL_BODIES ? this.clip.bodies.flatMap((b, i) => (b.kind === "dynamic" ? [i] : [])) : [];
    const from = Math.max(0, at.frame - 600), step = Math.max(1, Math.floor((at.frame - from) * bodies.length / 40000));
    const color = new Color("#56b4e9");
    const a = [0, 0, 0], b = [0, 0, 0];
    for (const i of bodies) {
      for (let k = from; k + step <= at.frame; k += step) {
        if (this.clip.bodyPosition(k, i, a) && this.clip.bodyPosition(k + step, i, b)) this.trail.segment(a, b, color);
      }
    }
  }
}

/** Which bodies push or hold each other at this frame: one number a body, -1 for those that stand alone. */
export function findIslands(clip, frame) {
  const parent = Int32Array.from({ length: clip.count }, (_, i) => i);
  const root = (i) => { while (parent[i] !== i) i = parent[i] = parent[parent[i]]; return i; };
  const moving = (i) => i >= 0 && clip.bodies[i].kind === "dynamic";
  const touched = new Uint8Array(clip.count);
  const join = (a, b) => {
    for (const i of [a, b]) if (moving(i)) touched[i] = 1;
    if (moving(a) && moving(b)) parent[root(a)] = root(b);
  };
  for (const link of clip.json.links) join(link.a, link.b);
  const c = clip.contacts(frame);
  if (c) for (let i = c.from; i < c.to; ++i) if (c.force[3 * i] || c.force[3 * i + 1] || c.force[3 * i + 2]) join(c.a[i], c.b[i]);
  const numbers = new Map(), island = new Int32Array(clip.count).fill(-1);
  for (let i = 0; i < clip.count; ++i) {
    if (!touched[i]) continue;
    const r = root(i);
    if (!numbers.has(r)) numbers.set(r, numbers.size);
    island[i] = numbers.get(r);
  }
  return { island, count: numbers.size };
}
