// How each kind of shape is drawn: THE one place for a new kind. docs/viewer.md documents the JSON of a shape.
//
// SOLIDS[kind](shape, detail) returns {key, make, scale}: shapes with the same key share one geometry, made by `make`
// and stretched by `scale` for each of them. FLAT is the same for planar scenes.
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, ConeGeometry, CylinderGeometry,
  IcosahedronGeometry, SphereGeometry } from "three";
import { ConvexGeometry } from "three/addons/geometries/ConvexGeometry.js";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import { mergeVertices } from "three/addons/utils/BufferGeometryUtils.js";
import { Vector3 } from "three";

const triples = (flat) => {
  const points = [];
  for (let i = 0; i + 2 < flat.length; i += 3) points.push(new Vector3(flat[i], flat[i + 1], flat[i + 2]));
  return points;
};

/** A short name for the content of a list of numbers. */
function digest(numbers) {
  let hash = 2166136261;
  for (const n of numbers) {
    const bits = Math.fround(n) * 65536 | 0;
    hash = Math.imul(hash ^ bits, 16777619) ^ (hash >>> 13);
  }
  return `${numbers.length}:${hash >>> 0}`;
}

function surface(vertices, triangles) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(vertices), 3));
  if (triangles) geometry.setIndex(triangles);
  const split = geometry.index ? geometry.toNonIndexed() : geometry;
  split.computeVertexNormals();
  return split;
}

const upright = (geometry) => geometry.rotateX(Math.PI / 2); // three's axis is y, ours z

/** Two tones in eight sectors, so that rolling can be seen. */
function paintSectors(geometry) {
  const position = geometry.attributes.position;
  const colors = new Float32Array(position.count * 3);
  for (let i = 0; i < position.count; i += 3) { // a whole triangle has one tone
    let x = 0, y = 0, z = 0;
    for (let k = 0; k < 3; ++k) { x += position.getX(i + k); y += position.getY(i + k); z += position.getZ(i + k); }
    const tone = x * y * z >= 0 ? 1 : 0.74;
    colors.fill(tone, 3 * i, 3 * i + 9);
  }
  geometry.setAttribute("color", new BufferAttribute(colors, 3));
  return geometry;
}

const sphere = (detail) => {
  if (detail === "low") return paintSectors(smooth(new IcosahedronGeometry(1, 1)));
  return paintSectors(new SphereGeometry(1, detail === "high" ? 48 : 24, detail === "high" ? 32 : 16).toNonIndexed());
};

/** Normals of a sphere for a coarse one. */
function smooth(geometry) {
  geometry.setAttribute("normal", geometry.attributes.position.clone());
  return geometry;
}

function box(size, detail) {
  if (detail === "low") return { key: "box", make: () => new BoxGeometry(1, 1, 1), scale: size };
  const radius = 0.035 * Math.min(...size);
  return { key: `box ${size}`, make: () => new RoundedBoxGeometry(...size, detail === "high" ? 3 : 1, radius),
    scale: [1, 1, 1] };
}

export const SOLIDS = {
  sphere: (s, detail) => ({ key: `sphere ${detail}`, make: () => sphere(detail), scale: [s.radius, s.radius, s.radius] }),
  ellipsoid: (s, detail) => ({ key: `ellipsoid ${detail}`, make: () => sphere(detail), scale: s.size.map((x) => x / 2) }),
  box: (s, detail) => box(s.size, detail),
  capsule: (s, detail) => {
    const ratio = (s.length ?? 0) / s.radius;
    const round = detail === "low" ? 8 : 24;
    return { key: `capsule ${ratio.toPrecision(6)}`, scale: [s.radius, s.radius, s.radius],
      make: () => upright(new CapsuleGeometry(1, ratio, round / 2, round)) };
  },
  cylinder: (s, detail) => ({ key: "cylinder", scale: [s.radius, s.radius, s.length],
    make: () => upright(new CylinderGeometry(1, 1, 1, detail === "low" ? 16 : 40)) }),
  cone: (s, detail) => ({ key: "cone", scale: [s.radius, s.radius, s.length],
    make: () => upright(new ConeGeometry(1, 1, detail === "low" ? 16 : 40)) }),
  hull: (s) => s.triangles ? SOLIDS.mesh(s)
    : { key: `hull ${digest(s.vertices)}`, make: () => new ConvexGeometry(triples(s.vertices)), scale: [1, 1, 1] },
  mesh: (s) => ({ key: `mesh ${digest(s.vertices)} ${digest(s.triangles ?? [])}`, scale: [1, 1, 1], twoSided: true,
    make: () => surface(s.vertices, s.triangles) }),
  heightfield: (s) => SOLIDS.mesh(s),
};

// ---- planar scenes: seen from above, a fill with a darker rim

const RIM = 0.6;

/** A polygon with a rim of the given width inside it. */
function rimmed(points, width) {
  const n = points.length;
  const inner = points.map((p, i) => {
    const a = points[(i + n - 1) % n], b = points[(i + 1) % n];
    const turn = (u, v) => { const l = Math.hypot(v[0] - u[0], v[1] - u[1]) || 1; return [-(v[1] - u[1]) / l, (v[0] - u[0]) / l]; };
    const n1 = turn(a, p), n2 = turn(p, b);
    const d = 1 + n1[0] * n2[0] + n1[1] * n2[1];
    const k = width / Math.max(d, 0.3);
    return [p[0] + k * (n1[0] + n2[0]), p[1] + k * (n1[1] + n2[1])];
  });
  const position = [], color = [];
  const put = (p, tone) => { position.push(p[0], p[1], 0); color.push(tone, tone, tone); };
  for (let i = 1; i + 1 < n; ++i) for (const p of [inner[0], inner[i], inner[i + 1]]) put(p, 1);
  for (let i = 0; i < n; ++i) {
    const j = (i + 1) % n;
    for (const p of [points[i], points[j], inner[j], points[i], inner[j], inner[i]]) put(p, RIM);
  }
  return flat(position, color);
}

function flat(position, color) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(color), 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(position.length).map((_, i) => +(i % 3 === 2)), 3));
  return geometry;
}

function counterClockwise(points) {
  let area = 0;
  points.forEach((p, i) => { const q = points[(i + 1) % points.length]; area += p[0] * q[1] - p[1] * q[0]; });
  return area < 0 ? [...points].reverse() : points;
}

const polygon = (points) => {
  const sorted = counterClockwise(points);
  const width = Math.min(0.08 * spread(sorted), 0.2 * thickness(sorted));
  return { key: `polygon ${digest(points.flat())}`, make: () => rimmed(sorted, width), scale: [1, 1, 1] };
};

function disk() {
  const points = [];
  for (let i = 0; i < 48; ++i) points.push([Math.cos(i * Math.PI / 24), Math.sin(i * Math.PI / 24)]);
  const geometry = rimmed(points, 0.08);
  // A spoke shows how it turns.
  const p = [...geometry.attributes.position.array], c = [...geometry.attributes.color.array];
  for (const [x, y] of [[0, -0.035], [0.95, -0.035], [0.95, 0.035], [0, -0.035], [0.95, 0.035], [0, 0.035]]) {
    p.push(x, y, 0.001);
    c.push(RIM, RIM, RIM);
  }
  return flat(p, c);
}

/** Pieces of one part, each convex: filled together, with a rim where an edge is not shared by two of them. */
function part(pieces) {
  const edges = new Map(), name = (p) => `${p[0]} ${p[1]}`;
  for (const points of pieces) points.forEach((a, i) => {
    const b = points[(i + 1) % points.length];
    if (!edges.delete(`${name(b)} ${name(a)}`)) edges.set(`${name(a)} ${name(b)}`, [a, b]);
  });
  const position = [], color = [];
  const put = (p, tone) => { position.push(p[0], p[1], 0); color.push(tone, tone, tone); };
  for (const q of pieces) for (let i = 1; i + 1 < q.length; ++i) for (const p of [q[0], q[i], q[i + 1]]) put(p, 1);
  const normals = new Map(); // of the edges that end and begin in a corner
  const inward = ([a, b]) => { const l = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1; return [(a[1] - b[1]) / l, (b[0] - a[0]) / l]; };
  for (const edge of edges.values()) for (const p of edge) normals.set(name(p), [...(normals.get(name(p)) ?? []), inward(edge)]);
  const width = 0.015 * spread(pieces.flat());
  const inner = (p) => {
    const [n1, n2] = normals.get(name(p)), d = 1 + n1[0] * n2[0] + n1[1] * n2[1], k = width / Math.max(d, 0.6);
    return [p[0] + k * (n1[0] + n2[0]), p[1] + k * (n1[1] + n2[1])];
  };
  for (const [a, b] of edges.values()) for (const p of [a, b, inner(b), a, inner(b), inner(a)]) put(p, RIM);
  return flat(position, color);
}

/** Half the larger side of the box around the points. */
function spread(points) {
  let reach = 0;
  for (const k of [0, 1]) {
    let low = Infinity, high = -Infinity;
    for (const p of points) { low = Math.min(low, p[k]); high = Math.max(high, p[k]); }
    reach = Math.max(reach, (high - low) / 2);
  }
  return reach;
}

/** The least distance of two parallel lines with a convex polygon between them. */
function thickness(points) {
  let least = Infinity;
  points.forEach((a, i) => {
    const b = points[(i + 1) % points.length], l = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (l > 0) least = Math.min(least, Math.max(...points.map((p) => ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / l)));
  });
  return least;
}

/** Polygons of one body, place and colour that follow each other are pieces of one part, and drawn as one. */
export function joinPieces(shapes) {
  const joined = [];
  const alike = (a, b) => a.body === b.body && a.color === b.color && a.visual_only === b.visual_only && String(a.pose) === String(b.pose);
  for (const shape of shapes) {
    const last = joined.at(-1);
    if (shape.kind !== "polygon" || !last || !alike(last, shape) || (last.kind !== "polygon" && last.kind !== "part")) joined.push(shape);
    else if (last.kind === "part") last.pieces.push(shape.points);
    else joined[joined.length - 1] = { ...last, kind: "part", pieces: [last.points, shape.points] };
  }
  return joined;
}

const pairs = (list) => {
  const points = [];
  for (let i = 0; i + 1 < list.length; i += 2) points.push([list[i], list[i + 1]]);
  return points;
};

export const FLAT = {
  disk: (s) => ({ key: "disk", make: disk, scale: [s.radius, s.radius, 1] }),
  sphere: (s) => FLAT.disk(s),
  polygon: (s) => polygon(pairs(s.points)),
  part: (s) => ({ key: `part ${digest(s.pieces.flat())}`, make: () => part(s.pieces.map((p) => counterClockwise(pairs(p)))), scale: [1, 1, 1] }),
  box: (s) => s.points ? polygon(pairs(s.points)) : polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => [x * s.size[0] / 2, y * s.size[1] / 2])),
};

/** Half the extent of a shape about its own origin; 0 for what has no end. */
export function extent(shape) {
  let r = Math.max(shape.radius ?? 0, (shape.radius ?? 0) + (shape.length ?? 0) / 2);
  if (shape.size) r = Math.max(r, Math.hypot(...shape.size) / 2);
  for (const [list, width] of [[shape.points, 2], [shape.vertices, 3]]) {
    if (list) for (let i = 0; i < list.length; i += width) r = Math.max(r, Math.hypot(...list.slice(i, i + width)));
  }
  return r;
}
/** Without an end: drawn by scene/ground.js. */
export const isEndless = (shape) => shape.kind === "plane" || shape.kind === "halfspace";
