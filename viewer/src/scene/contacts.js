// Contacts: a point (round: sticks, a ring: slips), the force on body B, the friction cone, and the gap.
//
// A cone has the contact's normal force as its height and mu times it as its radius, at the arrows' scale: the tip of the
// arrow lies in its base, at the rim when all of the friction is used.
import { Color, ConeGeometry, CylinderGeometry, DoubleSide, DynamicDrawUsage, Group, InstancedMesh, MeshBasicMaterial,
  SphereGeometry, TorusGeometry } from "three";
import { compose, fromZ } from "./math.js";
import { OVERLAP, SLIP, STICK, usageColor } from "./palette.js";

const LONGEST = 0.6; // of an arrow, as a fraction of the scene's radius: an impact must not fill the picture
const SLIP_SPEED = 1e-3; // fraction of the scene's radius a second: below it a contact sticks

const shaft = () => new CylinderGeometry(1, 1, 1, 10, 1).translate(0, 0.5, 0).rotateX(Math.PI / 2);
const head = () => new ConeGeometry(1, 1, 16).translate(0, 0.5, 0).rotateX(Math.PI / 2);
const cone = () => new ConeGeometry(1, 1, 40, 1, true).translate(0, -0.5, 0).rotateX(-Math.PI / 2); // apex at 0, opens to +z

class Instances {
  constructor(geometry, material, order) {
    this.geometry = geometry;
    this.material = material;
    this.order = order;
    this.group = new Group();
    this.reserve(64);
  }

  reserve(count) {
    if (this.mesh && this.mesh.instanceMatrix.count >= count) return;
    const room = Math.max(64, 2 ** Math.ceil(Math.log2(count)));
    this.mesh?.removeFromParent();
    this.mesh?.dispose();
    this.mesh = new InstancedMesh(this.geometry, this.material, room);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = this.order;
    this.mesh.setColorAt(0, new Color());
    this.group.add(this.mesh);
  }

  begin(count) { this.reserve(Math.max(1, count)); this.n = 0; }

  put(p, q, sx, sy, sz, color) {
    compose(p[0], p[1], p[2], q[0], q[1], q[2], q[3], sx, sy, sz, this.mesh.instanceMatrix.array, 16 * this.n);
    this.mesh.setColorAt(this.n++, color);
  }

  end() {
    this.mesh.count = this.n;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
  }
}

export class ContactView {
  constructor(clip, radius) {
    this.clip = clip;
    this.radius = radius;
    this.group = new Group();
    const over = { depthTest: false, transparent: true, toneMapped: false };
    this.dots = new Instances(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ ...over }), 12);
    this.rings = new Instances(new TorusGeometry(1, 0.32, 10, 28), new MeshBasicMaterial({ ...over }), 12);
    this.shafts = new Instances(shaft(), new MeshBasicMaterial({ ...over, opacity: 0.95 }), 11);
    this.heads = new Instances(head(), new MeshBasicMaterial({ ...over, opacity: 0.95 }), 11);
    this.cones = new Instances(cone(), new MeshBasicMaterial({ transparent: true, opacity: 0.3, side: DoubleSide, depthWrite: false, depthTest: false, toneMapped: false }), 9);
    this.gaps = new Instances(shaft(), new MeshBasicMaterial({ ...over, opacity: 0.9 }), 10);
    for (const part of this.parts) this.group.add(part.group);
    this.q = [1, 0, 0, 0];
    this.color = new Color();
    this.total = { force: 0, slipping: 0, count: 0, worstGap: 0, hidden: 0 };
  }

  get parts() { return [this.dots, this.rings, this.shafts, this.heads, this.cones, this.gaps]; }

  /** Metres of arrow per newton. */
  scale(show) {
    const typical = this.typicalForce();
    return typical > 0 ? 0.16 * this.radius * show.forceScale / typical : 0;
  }

  typicalForce() {
    if (this.clip.json.typical_force > 0) return this.clip.json.typical_force;
    // Live: about the weight of a body.
    const g = Math.hypot(...this.clip.json.gravity) || 9.81;
    const masses = this.clip.bodies.map((b) => b.mass).filter((m) => m > 0);
    return masses.length ? g * masses.reduce((a, b) => a + b) / masses.length : 1;
  }

  usage(c, i) {
    const n = c.normal, f = c.force;
    const fn = f[3 * i] * n[3 * i] + f[3 * i + 1] * n[3 * i + 1] + f[3 * i + 2] * n[3 * i + 2];
    const f2 = f[3 * i] ** 2 + f[3 * i + 1] ** 2 + f[3 * i + 2] ** 2;
    const ft = Math.sqrt(Math.max(0, f2 - fn * fn));
    const limit = c.friction[i] * fn;
    return { fn, ft, use: limit > 0 ? ft / limit : 0 };
  }

  slips(c, i) { return c.slip[i] > SLIP_SPEED * this.radius; }

  update(frame, show, selected) {
    this.total = { force: 0, slipping: 0, count: 0, worstGap: 0, hidden: 0 };
    const wanted = show.points || show.forces || show.cones || show.gaps;
    this.group.visible = wanted;
    if (!wanted) return;
    const c = this.clip.contacts(frame);
    const n = c ? c.to - c.from : 0;
    for (const part of this.parts) part.begin(n);
    if (c) for (let i = c.from; i < c.to; ++i) this.put(c, i, show, selected);
    for (const part of this.parts) part.end();
  }

  put(c, i, show, selected) {
    if (show.onlySelected && selected >= 0 && c.a[i] !== selected && c.b[i] !== selected) return;
    const p = [c.point[3 * i], c.point[3 * i + 1], c.point[3 * i + 2]];
    if (this.clip.json.planar) p[2] = 0.02 * this.radius;
    const nx = c.normal[3 * i], ny = c.normal[3 * i + 1], nz = c.normal[3 * i + 2];
    const { fn, use } = this.usage(c, i), slipping = this.slips(c, i);
    const size = 0.011 * this.radius * show.pointScale, scale = this.scale(show);
    this.total.count++;
    this.total.slipping += slipping;
    this.total.force += Math.max(0, fn);
    this.total.worstGap = Math.min(this.total.worstGap, c.gap[i]);
    fromZ(nx, ny, nz, this.q);
    if (show.points) {
      if (slipping) this.rings.put(p, this.clip.json.planar ? [1, 0, 0, 0] : this.q, 1.5 * size, 1.5 * size, 1.5 * size, SLIP);
      else this.dots.put(p, this.q, size, size, size, STICK);
    }
    if (show.cones && this.clip.json.has_friction && c.friction[i] > 0 && fn > 0) {
      const height = Math.min(fn * scale, LONGEST * this.radius), wide = height * c.friction[i];
      this.cones.put(p, this.q, wide, wide, height, usageColor(use, this.color));
    }
    if (show.gaps && c.gap[i] < 0) {
      const length = Math.min(-c.gap[i] * show.gapScale, 2 * this.radius);
      this.gaps.put(p, this.q, 0.6 * size, 0.6 * size, length, OVERLAP);
    }
    if (show.forces) this.putArrow(p, c.force[3 * i], c.force[3 * i + 1], c.force[3 * i + 2], scale, size, slipping ? SLIP : STICK);
  }

  putArrow(p, fx, fy, fz, scale, size, color) {
    const force = Math.hypot(fx, fy, fz);
    const length = Math.min(force * scale, LONGEST * this.radius);
    if (length < 0.3 * size) return;
    fromZ(fx / force, fy / force, fz / force, this.q);
    const tip = Math.min(2.6 * size, 0.5 * length), wide = Math.min(0.36 * size, 0.2 * length);
    this.shafts.put(p, this.q, wide, wide, length - tip, color);
    const k = (length - tip) / force;
    this.heads.put([p[0] + k * fx, p[1] + k * fy, p[2] + k * fz], this.q, 2.9 * wide, 2.9 * wide, tip, color);
  }
}
