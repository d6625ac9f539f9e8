// All bodies of a clip as a few instanced meshes.
import { Color, DoubleSide, Group, InstancedMesh, MeshBasicMaterial, MeshStandardMaterial, Object3D, DynamicDrawUsage } from "three";
import { compose, multiply } from "./math.js";
import { SphereImpostors } from "./impostors.js";
import { FLAT, SOLIDS, isEndless, joinPieces } from "./shapes.js";
import { groupColor } from "./palette.js";

const chooseDetail = (count) => (count > 2500 ? "low" : count > 300 ? "medium" : "high");

function readColor(text) {
  if (/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text ?? "")) return new Color(text);
  return null;
}

export class BodySet {
  /** `ghost`: a translucent second recording. `dot`: size of what stands for a body without shapes. */
  constructor(clip, { ghost = false, dot = 0 } = {}) {
    this.dot = dot;
    this.clip = clip;
    this.ghost = ghost;
    this.group = new Group();
    this.batches = [];
    this.unknown = new Set();
    this.position = new Float32Array(clip.count * 3); // of the present moment, one a body
    this.orientation = new Float32Array(clip.count * 4);
    for (let i = 0; i < clip.count; ++i) this.orientation[4 * i] = 1;
    this.baseColors = [];
    this.build();
  }

  build() {
    const table = this.clip.json.planar ? FLAT : SOLIDS;
    const all = this.clip.json.shapes.filter((s) => !isEndless(s));
    const shapes = this.clip.json.planar ? joinPieces(all) : all;
    const shaped = new Set(this.clip.json.shapes.map((s) => s.body));
    this.clip.bodies.forEach((b, i) => {
      if (b.kind !== "dynamic" || shaped.has(i)) return;
      shapes.push({ body: i, kind: this.clip.json.planar ? "disk" : "sphere", radius: this.dot, pose: [...(b.com ?? [0, 0, 0]), 1, 0, 0, 0] });
    });
    const detail = chooseDetail(shapes.length);
    // A robot's body with a mesh that is only drawn: what touches lies under it, coarser, and is shown on request.
    const dressed = new Set(shapes.filter((s) => s.visual_only && (s.kind === "mesh" || s.kind === "hull")).map((s) => s.body));
    const byKey = new Map();
    for (const shape of shapes) {
      const draw = table[shape.kind];
      if (!draw) { this.unknown.add(shape.kind); continue; }
      const spec = draw(shape, detail);
      const under = dressed.has(shape.body) && !shape.visual_only, key = under ? `under ${spec.key}` : spec.key;
      if (!byKey.has(key)) byKey.set(key, { spec, under, items: [] });
      byKey.get(key).items.push({ shape, scale: spec.scale });
    }
    for (const { spec, under, items } of byKey.values()) this.batches.push({ ...this.makeBatch(spec, items), under });
    this.showTouching(false);
  }

  /** Whether the shapes that touch are drawn too where a mesh is drawn for them. */
  showTouching(wanted) {
    for (const batch of this.batches) batch.mesh.visible = !batch.under || wanted;
  }

  makeMaterial(geometry, twoSided = false) {
    const common = { vertexColors: Boolean(geometry.attributes.color) };
    if (twoSided) common.side = DoubleSide; // an open mesh is seen from behind too
    if (this.ghost) Object.assign(common, { transparent: true, opacity: 0.38, depthWrite: false });
    // All in one plane: what is drawn later is on top.
    if (this.clip.json.planar) return new MeshBasicMaterial({ ...common, toneMapped: false, depthTest: this.ghost });
    return new MeshStandardMaterial({ roughness: 0.58, metalness: 0.02, ...common });
  }

  makeMesh(spec, count) {
    if (spec.key === "sphere low") return new SphereImpostors(count, this.ghost);
    const geometry = spec.make();
    return new InstancedMesh(geometry, this.makeMaterial(geometry, spec.twoSided), count);
  }

  makeBatch(spec, items) {
    const mesh = this.makeMesh(spec, items.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    if (this.clip.json.planar && !this.ghost) mesh.renderOrder = -1;
    mesh.castShadow = !this.ghost && !this.clip.json.planar;
    mesh.receiveShadow = !this.ghost && !this.clip.json.planar;
    mesh.userData.bodies = items.map((i) => i.shape.body);
    const colors = items.map(({ shape }) => {
      const body = this.clip.bodies[shape.body];
      return this.ghost ? new Color("#e08a1e") : readColor(shape.color) ?? groupColor(body?.name ?? "", body?.kind ?? "fixed");
    });
    colors.forEach((c, i) => mesh.setColorAt(i, c));
    this.group.add(mesh);
    return { mesh, colors, bodies: mesh.userData.bodies, scales: items.map((i) => i.scale),
      local: items.map(({ shape }) => {
        const p = shape.pose;
        return p[0] || p[1] || p[2] || p[4] || p[5] || p[6] ? p : null;
      }) };
  }

  /** Poses between two frames; false while they are not here. */
  interpolate(at) {
    const a = this.clip.poses(at.frame), b = this.clip.poses(at.next) ?? a;
    if (!a) return false;
    const f = at.fraction, P = this.position, Q = this.orientation, n = this.clip.count;
    for (let i = 0; i < n; ++i) {
      const u = (a.row + i) * 3, v = (b.row + i) * 3;
      for (let k = 0; k < 3; ++k) P[3 * i + k] = a.position[u + k] + f * (b.position[v + k] - a.position[u + k]);
      const s = (a.row + i) * 4, t = (b.row + i) * 4;
      const A = a.orientation, B = b.orientation;
      const d = A[s] * B[t] + A[s + 1] * B[t + 1] + A[s + 2] * B[t + 2] + A[s + 3] * B[t + 3];
      const g = d < 0 ? -f : f, h = 1 - f;
      const w = h * A[s] + g * B[t], x = h * A[s + 1] + g * B[t + 1], y = h * A[s + 2] + g * B[t + 2], z = h * A[s + 3] + g * B[t + 3];
      const l = 1 / (Math.sqrt(w * w + x * x + y * y + z * z) || 1);
      Q[4 * i] = w * l; Q[4 * i + 1] = x * l; Q[4 * i + 2] = y * l; Q[4 * i + 3] = z * l;
    }
    return true;
  }

  update(at) {
    if (!this.interpolate(at)) return false;
    const P = this.position, Q = this.orientation;
    for (const batch of this.batches) {
      const m = batch.mesh.instanceMatrix.array;
      for (let i = 0; i < batch.bodies.length; ++i) {
        const b = batch.bodies[i], s = batch.scales[i], l = batch.local[i];
        if (b < 0) { compose(...(l ?? [0, 0, 0, 1, 0, 0, 0]), s[0], s[1], s[2], m, 16 * i); continue; }
        const w = Q[4 * b], x = Q[4 * b + 1], y = Q[4 * b + 2], z = Q[4 * b + 3];
        if (!l) { compose(P[3 * b], P[3 * b + 1], P[3 * b + 2], w, x, y, z, s[0], s[1], s[2], m, 16 * i); continue; }
        const tx = 2 * (y * l[2] - z * l[1]), ty = 2 * (z * l[0] - x * l[2]), tz = 2 * (x * l[1] - y * l[0]);
        const q = multiply([w, x, y, z], [l[3], l[4], l[5], l[6]]);
        compose(P[3 * b] + l[0] + w * tx + y * tz - z * ty, P[3 * b + 1] + l[1] + w * ty + z * tx - x * tz,
          P[3 * b + 2] + l[2] + w * tz + x * ty - y * tx, q[0], q[1], q[2], q[3], s[0], s[1], s[2], m, 16 * i);
      }
      batch.mesh.instanceMatrix.needsUpdate = true;
      batch.mesh.boundingSphere = null; // for picking
    }
    return true;
  }

  /** Puts the nearest of many spheres first, so that those behind them cost nothing. True when the order changed. */
  sortByDepth(eye) {
    let changed = false;
    for (const batch of this.batches) {
      if (!batch.mesh.isImpostor) continue;
      const P = this.position;
      const depth = batch.bodies.map((b) => (P[3 * b] - eye.x) ** 2 + (P[3 * b + 1] - eye.y) ** 2 + (P[3 * b + 2] - eye.z) ** 2);
      const order = depth.map((_, i) => i).sort((i, j) => depth[i] - depth[j]);
      for (const key of ["bodies", "scales", "local", "colors"]) batch[key] = order.map((i) => batch[key][i]);
      batch.mesh.userData.bodies = batch.bodies;
      changed = true;
    }
    if (changed) this.paint(this.tint ?? (() => null));
    return changed;
  }

  /** `tint(body)` returns a Color or null for the shape's own. */
  paint(tint) {
    this.tint = tint;
    for (const batch of this.batches) {
      batch.bodies.forEach((b, i) => batch.mesh.setColorAt(i, tint(b) ?? batch.colors[i]));
      batch.mesh.instanceColor.needsUpdate = true;
    }
  }

  bodyPose(i) {
    return { position: [...this.position.subarray(3 * i, 3 * i + 3)], orientation: [...this.orientation.subarray(4 * i, 4 * i + 4)] };
  }

  /** The body under a ray, with the point that was hit. */
  pick(raycaster) {
    const hits = raycaster.intersectObjects(this.batches.map((b) => b.mesh).filter((mesh) => mesh.visible), false);
    for (const hit of hits) {
      const body = hit.object.userData.bodies[hit.instanceId];
      if (body >= 0) return { body, point: hit.point.toArray() };
    }
    return null;
  }

  /** Wire frames of one body's shapes, to mark it. */
  makeOutline(body, make) {
    const holder = new Object3D();
    for (const batch of this.batches) {
      batch.bodies.forEach((b, i) => {
        if (b !== body) return;
        const line = make(batch.mesh.geometry);
        line.matrixAutoUpdate = false;
        line.userData = { batch, index: i };
        holder.add(line);
      });
    }
    return holder;
  }
}
