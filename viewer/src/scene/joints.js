// Joints drawn as what they are: a hinge as a pin, a slider as a rail with its carriage, a rod with a motor as a hydraulic
// cylinder, gears with teeth. THE one place for a new kind of joint.
//
// PARTS[kind](link, size) lists the pieces of a joint: {shape, place, scale}. `shape` is a key of SHAPES (drawn along z,
// about one unit large), `place` says where it stands: "a" or "b" (turning with that body), "between" (from one end to
// the other, its z scaled to the distance).
import { BoxGeometry, Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, ExtrudeGeometry, Group, InstancedMesh, MeshBasicMaterial,
  MeshStandardMaterial, Path, Shape, SphereGeometry, TorusGeometry } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { add, compose, dot, fromZ, inverse, multiply, norm, rotate, subtract, times, unit } from "./math.js";
import { extent, isEndless } from "./shapes.js";

const TURN_ARROW = 1.6 * Math.PI;

const upright = (geometry) => geometry.rotateX(Math.PI / 2); // three's axis is y, ours z
const cylinder = (radius, length, z = 0) => upright(new CylinderGeometry(radius, radius, length, 20)).translate(0, 0, z);
const ring = (radius, tube, z = 0) => new TorusGeometry(radius, tube, 8, 32).translate(0, 0, z);
const cone = (radius, length, z) => upright(new ConeGeometry(radius, length, 16)).translate(0, 0, z);
const merge = (...parts) => mergeGeometries(parts.map((p) => (p.index ? p.toNonIndexed() : p)));

function turnArrow() {
  const arc = new TorusGeometry(1.55, 0.13, 6, 32, TURN_ARROW);
  const head = new ConeGeometry(0.36, 0.8, 12).rotateZ(0.12).translate(1.55, 0.3, 0).rotateZ(TURN_ARROW);
  return merge(arc, head);
}

/** A flat wheel of radius 1 with teeth, 1 thick. */
function gearWheel(teeth) {
  const shape = new Shape(), depth = Math.min(0.14, 2.2 / teeth);
  const at = (angle, radius, first) => shape[first ? "moveTo" : "lineTo"](radius * Math.cos(angle), radius * Math.sin(angle));
  for (let i = 0; i < teeth; ++i) {
    const pitch = 2 * Math.PI / teeth, from = i * pitch;
    [[0, -1], [0.25, -1], [0.36, 1], [0.64, 1], [0.75, -1]].forEach(([f, side], k) => at(from + f * pitch, 1 + side * depth, i === 0 && k === 0));
  }
  const hole = new Path();
  hole.absarc(0, 0, 0.72, 0, 2 * Math.PI, true);
  shape.holes.push(hole);
  const rim = new ExtrudeGeometry(shape, { depth: 1, bevelEnabled: false, curveSegments: 24 }).translate(0, 0, -0.5);
  const spokes = [0, 1, 2].map((k) => new BoxGeometry(1.5, 0.12, 0.6).rotateZ(k * Math.PI / 3));
  return merge(rim, ...spokes, cylinder(0.2, 1.1));
}

const SHAPES = {
  pin: () => merge(cylinder(0.42, 3.2), cylinder(0.66, 0.3, 1.6), cylinder(0.66, 0.3, -1.6), ring(1, 0.17)),
  axle: () => merge(cylinder(0.42, 3.2), ring(1.5, 0.2), ring(0.75, 0.16)),
  sleeve: () => merge(cylinder(0.34, 5), cylinder(0.8, 2)),
  thread: () => merge(cylinder(0.4, 5), ...[-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2].map((z) => ring(0.55, 0.13, z))),
  cross: () => merge(cylinder(0.36, 3), cylinder(0.36, 3).rotateY(Math.PI / 2), new SphereGeometry(0.62, 16, 12)),
  ball: () => merge(new SphereGeometry(0.8, 24, 16), ring(1, 0.16, -0.2)),
  dot: () => new SphereGeometry(0.55, 16, 12),
  weld: () => merge(new BoxGeometry(1.1, 1.1, 1.1), new BoxGeometry(1.1, 1.1, 1.1).rotateZ(Math.PI / 4).rotateX(Math.PI / 4)),
  plate: () => merge(cylinder(2.2, 0.12), ring(2.2, 0.1)),
  blade: () => new BoxGeometry(0.16, 2.4, 2.4),
  carriage: () => new BoxGeometry(1.5, 1.5, 2.2),
  rail: () => merge(new BoxGeometry(0.3, 0.3, 1).translate(0, 0.75, 0.5), new BoxGeometry(0.3, 0.3, 1).translate(0, -0.75, 0.5)), // z from 0 to 1
  bar: () => cylinder(1, 1, 0.5),
  turn: turnArrow,
  push: () => merge(cone(0.62, 1.1, 2.3), cone(0.62, 1.1, 2.3).rotateX(Math.PI)),
};

const both = (shape, scale = 1) => [{ shape, place: "a", scale }, { shape, place: "b", scale }];
const rod = (link) => (link.motor
  ? [{ shape: "bar", place: "between", scale: [0.62, 0.62, 0.55] }, { shape: "bar", place: "between", scale: [0.3, 0.3, 1] }, ...both("dot", 1.3)]
  : [{ shape: "bar", place: "between", scale: [0.3, 0.3, 1] }, ...both("dot")]);
const PARTS = {
  hinge: () => [{ shape: "pin", place: "a" }],
  wheel: () => [{ shape: "axle", place: "b" }],
  slider: () => [{ shape: "rail", place: "rail" }, { shape: "carriage", place: "b" }],
  cylindrical: () => [{ shape: "sleeve", place: "a" }],
  screw: () => [{ shape: "thread", place: "a" }],
  universal: () => [{ shape: "cross", place: "a" }],
  ball: () => [{ shape: "ball", place: "b" }],
  fixed: () => [{ shape: "weld", place: "a", scale: 0.7 }],
  rod,
  rope: () => both("dot", 0.8),
  planar: () => [{ shape: "plate", place: "a" }, { shape: "dot", place: "b" }],
  in_plane: () => [{ shape: "plate", place: "a" }, { shape: "dot", place: "b" }],
  point_on_line: () => [{ shape: "rail", place: "rail", scale: 0.5 }, { shape: "dot", place: "b" }],
  generic: () => [{ shape: "cross", place: "a", scale: 0.8 }],
  rolling: () => [{ shape: "axle", place: "b", scale: 0.7 }],
  knife_edge: () => [{ shape: "blade", place: "b" }],
  gear: () => [], rack: () => [], differential: () => [], velocity_motor: () => [], // see addWheels
  spring: () => [],
};
const SLIDES = new Set(["slider", "point_on_line", "rod"]);
const SIZE = 0.024; // of the scene's radius

/** The turn that takes z to an axis; one that lies in the plane of a planar scene leaves y in it. */
function frameOf(axis, planar) {
  if (!planar || Math.abs(axis[2]) > 0.5) return fromZ(...axis, [1, 0, 0, 0]);
  const half = Math.atan2(axis[1], axis[0]) / 2;
  return multiply([Math.cos(half), 0, 0, Math.sin(half)], fromZ(1, 0, 0, [1, 0, 0, 0]));
}

/** How far each body reaches from its origin; 0 without shapes. */
function findReach(clip) {
  const reach = new Float64Array(clip.count);
  for (const s of clip.json.shapes) {
    if (s.body >= 0 && !isEndless(s)) reach[s.body] = Math.max(reach[s.body], extent(s) + Math.hypot(s.pose[0], s.pose[1], s.pose[2]));
  }
  return reach;
}

export class JointView {
  constructor(clip, radius, theme) {
    this.clip = clip;
    this.radius = radius;
    this.group = new Group();
    this.reach = findReach(clip);
    this.items = []; // {link, index, shape, place, scale}
    this.travel = new Map(); // index of a slider to the ends of its way
    clip.json.links.forEach((link, index) => this.addLink(link, index));
    this.addWheels();
    this.build(theme);
  }

  sizeOf(link) {
    let size = SIZE * this.radius;
    for (const body of [link.a, link.b]) {
      if (body >= 0 && this.clip.bodies[body].kind === "dynamic" && this.reach[body] > 0) size = Math.min(size, 0.28 * this.reach[body]);
    }
    return size;
  }

  addLink(link, index) {
    const size = this.sizeOf(link), make = PARTS[link.kind] ?? PARTS.generic;
    for (const { shape, place, scale = 1 } of make(link)) {
      const s = Array.isArray(scale) ? scale : [scale, scale, scale];
      const lengthwise = place === "between" || place === "rail";
      this.items.push({ link, index, shape, place, scale: [s[0] * size, s[1] * size, lengthwise ? s[2] : s[2] * size] });
    }
    if (!link.motor) return;
    const push = SLIDES.has(link.kind);
    if (link.kind !== "rod") this.items.push({ link, index, shape: push ? "push" : "turn", place: link.kind === "wheel" || push ? "b" : "a", scale: [size, size, size], motor: true });
  }

  /** Gears and racks: toothed wheels on the joints that they tie, as large as their ratio says where the axes are parallel. */
  addWheels() {
    const { links } = this.clip.json;
    links.forEach((gear, index) => {
      const tied = (gear.couples ?? []).map(([joint, factor]) => ({ link: links[joint], joint, factor: Math.abs(factor) || 1, sign: Math.sign(factor) }));
      const turns = tied.filter(({ link }) => link?.axis && !SLIDES.has(link.kind));
      const usual = 3.2 * Math.min(...turns.map(({ link }) => this.sizeOf(link)), SIZE * this.radius);
      const radii = turns.map(() => usual);
      if (gear.kind === "rack" && turns.length === 1) radii[0] = turns[0].factor;
      else if (gear.kind === "gear" && turns.length === 2) this.fitGears(turns, radii);
      turns.forEach(({ link, joint }, k) => {
        const teeth = Math.round(Math.min(96, Math.max(10, 18 * radii[k] / Math.min(...radii))));
        SHAPES[`gear ${teeth}`] ??= () => gearWheel(teeth);
        this.items.push({ link, index, on: joint, shape: `gear ${teeth}`, place: "b", scale: [radii[k], radii[k], 0.8 * this.sizeOf(link)], offset: 2.2 * this.sizeOf(link) });
      });
    });
  }

  /** Pitch radii of two gears from their ratio and the distance of their axes, where these are parallel and apart. */
  fitGears(turns, radii) {
    const [one, two] = turns.map(({ link }) => this.axisAt(link, 0));
    if (!one || !two || Math.abs(dot(one.axis, two.axis)) < 0.999) return;
    const apart = subtract(two.point, one.point), distance = norm(subtract(apart, times(one.axis, dot(apart, one.axis))));
    // q1 = ratio q2: the larger ratio, the smaller the first wheel; the same sense of turning: one inside the other.
    const ratio = turns[1].factor / turns[0].factor, inside = turns[0].sign * turns[1].sign * Math.sign(dot(one.axis, two.axis)) < 0;
    if (distance < 0.02 * this.radius || (inside && Math.abs(ratio - 1) < 1e-6)) return;
    radii[1] = inside ? distance / Math.abs(1 - 1 / ratio) : distance / (1 + 1 / ratio);
    radii[0] = radii[1] / ratio;
  }

  /** Point and axis of a joint in the world at a frame. */
  axisAt(link, frame) {
    if (link.a < 0) return { point: link.anchor_a, axis: unit(link.axis) };
    const p = [0, 0, 0], q = [1, 0, 0, 0];
    if (!this.clip.bodyPosition(frame, link.a, p) || !this.clip.bodyOrientation(frame, link.a, q)) return null;
    return { point: add(p, rotate(q, link.anchor_a)), axis: rotate(q, unit(link.axis)) };
  }

  build(theme) {
    const byShape = new Map();
    for (const item of this.items) {
      item.local = frameOf(unit(item.link.axis ?? [0, 0, 1]), this.clip.json.planar);
      if (!byShape.has(item.shape)) byShape.set(item.shape, []);
      byShape.get(item.shape).push(item);
    }
    const flat = this.clip.json.planar;
    this.batches = [...byShape].map(([shape, items]) => {
      const geometry = SHAPES[shape]();
      const solid = new InstancedMesh(geometry, flat ? new MeshBasicMaterial({ toneMapped: false, depthTest: false, transparent: true })
        : new MeshStandardMaterial({ roughness: 0.42, metalness: 0.35 }), items.length);
      solid.instanceMatrix.setUsage(DynamicDrawUsage);
      solid.castShadow = !flat;
      const meshes = [solid];
      if (!flat) { // what is inside a body shines through it
        const hidden = new InstancedMesh(geometry, new MeshBasicMaterial({ transparent: true, opacity: 0.3, depthTest: false, depthWrite: false, toneMapped: false }), items.length);
        hidden.instanceMatrix = solid.instanceMatrix;
        meshes.push(hidden);
      }
      for (const mesh of meshes) { mesh.frustumCulled = false; mesh.renderOrder = 12; this.group.add(mesh); }
      return { solid, meshes, items };
    });
    this.setTheme(theme);
  }

  setTheme(theme) {
    this.theme = theme;
    this.paint(this.chosen ?? -1);
  }

  /** Motors have a colour of their own, and so has the chosen joint. */
  paint(chosen) {
    this.chosen = chosen;
    const plain = new Color(this.theme.joint), motor = new Color(this.theme.motor), accent = new Color(this.theme.accent);
    for (const { meshes, items } of this.batches) {
      items.forEach((item, i) => meshes[0].setColorAt(i, item.index === chosen || item.on === chosen ? accent : item.motor ? motor : plain));
      for (const mesh of meshes) mesh.instanceColor = meshes[0].instanceColor;
      meshes[0].instanceColor.needsUpdate = true;
    }
  }

  /** Places of one link: its two anchors, and the frames of its two bodies. */
  where(link, bodies) {
    const end = (body, anchor) => {
      if (body < 0) return { point: anchor, turn: [1, 0, 0, 0] };
      const { position, orientation } = bodies.bodyPose(body);
      return { point: add(position, rotate(orientation, anchor)), turn: orientation };
    };
    return { a: end(link.a, link.anchor_a), b: end(link.b, link.anchor_b) };
  }

  update(bodies, visible) {
    this.group.visible = visible;
    if (!visible) return;
    const places = new Map();
    for (const { solid, items } of this.batches) {
      const m = solid.instanceMatrix.array;
      items.forEach((item, i) => {
        if (!places.has(item.link)) places.set(item.link, this.where(item.link, bodies));
        this.place(item, places.get(item.link), m, 16 * i);
      });
      solid.instanceMatrix.needsUpdate = true;
    }
  }

  place(item, { a, b }, m, at) {
    const [x, y, z] = item.scale, { link } = item;
    const frame = multiply(a.turn, item.local); // z is the joint's axis, held by a
    if (item.place === "between") {
      const along = subtract(b.point, a.point), length = norm(along), q = fromZ(...unit(along), [1, 0, 0, 0]);
      return compose(...a.point, ...q, x, y, z * length, m, at);
    }
    if (item.place === "rail") {
      const axis = rotate(frame, [0, 0, 1]), [low, high] = this.wayOf(item, dot(subtract(b.point, a.point), axis), 1.6 * x);
      return compose(...add(a.point, times(axis, low)), ...frame, x, y, z * (high - low), m, at);
    }
    if (item.place === "a") return compose(...a.point, ...frame, x, y, z, m, at);
    // What turns with b: the joint's frame, as b carries it.
    item.carried ??= multiply(inverse(b.turn), frame);
    const turned = multiply(b.turn, item.carried);
    const point = item.offset ? add(b.point, times(rotate(turned, [0, 0, 1]), item.offset)) : b.point;
    return compose(...point, ...turned, x, y, z, m, at);
  }

  /** The part of a rail that is used, as far as the run is known, with a margin. */
  wayOf(item, now, margin) {
    const { link, index } = item;
    let way = this.travel.get(index);
    if (!way) {
      way = [now, now];
      this.travel.set(index, way);
      const pa = [0, 0, 0], qa = [1, 0, 0, 0], pb = [0, 0, 0], qb = [1, 0, 0, 0];
      for (let k = 0; k <= 40; ++k) {
        const frame = Math.round(k / 40 * (this.clip.frames - 1));
        if (link.a >= 0 && !(this.clip.bodyPosition(frame, link.a, pa) && this.clip.bodyOrientation(frame, link.a, qa))) continue;
        if (link.b >= 0 && !(this.clip.bodyPosition(frame, link.b, pb) && this.clip.bodyOrientation(frame, link.b, qb))) continue;
        const from = link.a < 0 ? link.anchor_a : add(pa, rotate(qa, link.anchor_a)), to = link.b < 0 ? link.anchor_b : add(pb, rotate(qb, link.anchor_b));
        const s = dot(subtract(to, from), rotate(link.a < 0 ? [1, 0, 0, 0] : qa, unit(link.axis)));
        way[0] = Math.min(way[0], s);
        way[1] = Math.max(way[1], s);
      }
    }
    way[0] = Math.min(way[0], now);
    way[1] = Math.max(way[1], now);
    return [way[0] - margin, way[1] + margin];
  }

  dispose() { for (const { meshes } of this.batches) { meshes[0].geometry.dispose(); for (const mesh of meshes) mesh.material.dispose(); } }
}

export { findReach };
