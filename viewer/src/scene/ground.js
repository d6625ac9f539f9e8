// Planes: the ground with a grid that fades, ramps and walls as sheets, half planes of planar scenes.
import { CircleGeometry, Color, DoubleSide, Group, Mesh, MeshBasicMaterial, MeshLambertMaterial, PlaneGeometry,
  ShaderMaterial, BufferGeometry, BufferAttribute, LineSegments, LineBasicMaterial } from "three";
import { add, dot, fromZ, multiply, rotate, subtract, times } from "./math.js";

/** 1, 2 or 5 times a power of ten, near x. */
export function roundStep(x) {
  const p = 10 ** Math.floor(Math.log10(x));
  const r = x / p;
  return p * (r < 1.5 ? 1 : r < 3.5 ? 2 : r < 7.5 ? 5 : 10);
}

const GRID = {
  vertexShader: `varying vec2 at; varying vec3 world;
    void main() { at = position.xy; vec4 w = modelMatrix * vec4(position, 1.0); world = w.xyz; gl_Position = projectionMatrix * viewMatrix * w; }`,
  fragmentShader: `uniform vec3 color; uniform float cell, fade, strength; varying vec2 at; varying vec3 world;
    float lines(float size) {
      vec2 u = at / size, w = fwidth(u);
      vec2 d = abs(fract(u - 0.5) - 0.5) / max(w, vec2(1e-6));
      float keep = clamp(1.5 - 3.0 * max(w.x, w.y), 0.0, 1.0);
      return (1.0 - min(min(d.x, d.y), 1.0)) * keep;
    }
    void main() {
      float near = 1.0 - smoothstep(0.25, 1.0, length(at) / fade);
      float a = max(0.45 * lines(cell), lines(cell * 10.0)) * near * strength;
      if (a < 0.004) discard;
      gl_FragColor = vec4(color, a);
    }`,
};

export class Ground {
  constructor(clip, frame, theme) {
    this.group = new Group();
    this.clip = clip;
    this.frame = frame; // {center, radius, up}
    this.moving = [];
    this.materials = [];
    const planes = clip.json.shapes.filter((s) => s.kind === "plane" || s.kind === "halfspace");
    for (const shape of planes) this.addPlane(shape);
    if (!clip.json.planar && planes.length === 0) this.addGridOnly();
    this.setTheme(theme);
  }

  addPlane(shape) {
    const holder = new Group();
    if (this.clip.json.planar) this.fillHalfPlane(holder, shape);
    else this.fillSheet(holder, shape);
    this.group.add(holder);
    this.moving.push({ holder, shape });
  }

  /** Where the plane is in the world when its body is where it is now. */
  place(shape, pose) {
    const p = shape.pose, q = p.slice(3);
    if (!pose) return { point: p.slice(0, 3), q };
    return { point: add(pose.position, rotate(pose.orientation, p.slice(0, 3))), q: multiply(pose.orientation, q) };
  }

  fillSheet(holder, shape) {
    const { radius, up } = this.frame;
    const n = rotate(shape.pose.slice(3), [0, 0, 1]);
    const level = dot(n, up) > 0.995;
    const size = level ? 60 * radius : 3.2 * radius;
    const body = this.clip.bodies[shape.body];
    const still = !body || body.kind === "fixed";
    const geometry = level ? new CircleGeometry(size, 96) : new PlaneGeometry(size, size);
    const material = new MeshLambertMaterial({ side: DoubleSide, transparent: !level, opacity: level ? 1 : 0.92 });
    const mesh = new Mesh(geometry, material);
    mesh.receiveShadow = true;
    holder.add(mesh);
    this.materials.push({ material, role: "ground", color: /^#/.test(shape.color ?? "") ? new Color(shape.color) : null });
    holder.add(this.makeGrid(geometry, level ? 8 * radius : size));
    holder.userData = { centred: still };
  }

  makeGrid(geometry, fade) {
    const material = new ShaderMaterial({ ...GRID, transparent: true, depthWrite: false, side: DoubleSide,
      polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1,
      uniforms: { color: { value: new Color() }, cell: { value: roundStep(this.frame.radius / 6) }, fade: { value: fade }, strength: { value: 0.26 } } });
    this.materials.push({ material, role: "grid" });
    const grid = new Mesh(geometry, material);
    grid.renderOrder = 1;
    return grid;
  }

  /** Nothing to stand on: a grid under everything gives the eye a floor, without a surface. */
  addGridOnly() {
    const { center, radius, up, low } = this.frame;
    const grid = this.makeGrid(new CircleGeometry(8 * radius, 64), 4 * radius);
    const point = add(center, times(up, low - 0.15 * radius));
    const q = fromZ(...up, [1, 0, 0, 0]);
    grid.position.set(...point);
    grid.quaternion.set(q[1], q[2], q[3], q[0]);
    this.group.add(grid);
  }

  fillHalfPlane(holder, shape) {
    const { radius } = this.frame;
    const n = rotate(shape.pose.slice(3), [0, 0, 1]), t = [-n[1], n[0], 0];
    const width = 40 * radius, depth = 40 * radius;
    const corner = (a, b) => [a * t[0] - b * n[0], a * t[1] - b * n[1], -0.01 * radius];
    const quad = new BufferGeometry();
    const c = [corner(-width, 0), corner(width, 0), corner(width, depth), corner(-width, depth)];
    quad.setAttribute("position", new BufferAttribute(new Float32Array([c[0], c[1], c[2], c[0], c[2], c[3]].flat()), 3));
    const material = new MeshBasicMaterial({ side: DoubleSide, toneMapped: false });
    this.materials.push({ material, role: "flat", color: null });
    holder.add(new Mesh(quad, material));
    const edge = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array([...c[0], ...c[1]]), 3));
    const line = new LineBasicMaterial({ toneMapped: false });
    this.materials.push({ material: line, role: "edge" });
    holder.add(new LineSegments(edge, line));
    holder.userData = { flat: true, origin: n };
  }

  update(bodies) {
    const { center } = this.frame;
    for (const { holder, shape } of this.moving) {
      const body = this.clip.bodies[shape.body];
      const pose = body ? bodies.bodyPose(shape.body) : null;
      const { point, q } = this.place(shape, pose);
      if (holder.userData.flat) { // its geometry is in world axes
        holder.position.set(...point);
        continue;
      }
      const n = rotate(q, [0, 0, 1]);
      // A plane has no middle: draw it about the scene's.
      const middle = holder.userData.centred ? subtract(center, times(n, dot(subtract(center, point), n))) : point;
      holder.position.set(...middle);
      holder.quaternion.set(q[1], q[2], q[3], q[0]);
    }
  }

  setTheme(theme) {
    for (const { material, role, color } of this.materials) {
      if (role === "grid") material.uniforms.color.value.set(theme.grid);
      else if (role === "ground") material.color.copy(color ? color.clone().lerp(new Color(theme.ground), 0.78) : new Color(theme.ground));
      else if (role === "flat") material.color.set(theme.flat);
      else material.color.set(theme.edge);
    }
  }
}
