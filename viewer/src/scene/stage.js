// The stage: renderer, camera, light, and what stands on it.
import { Color, DirectionalLight, EdgesGeometry, Fog, Group, HemisphereLight, LineBasicMaterial,
  LineSegments, NeutralToneMapping, OrthographicCamera, PCFShadowMap, PerspectiveCamera, Plane, Raycaster, Scene,
  Vector2, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { BodySet } from "./bodies.js";
import { ContactView } from "./contacts.js";
import { Ground } from "./ground.js";
import { JointView } from "./joints.js";
import { findIslands, LinkView } from "./links.js";
import { findMiddle, growFrame, measure } from "./measure.js";
import { add, cross, dot, norm, quantile, rotate, subtract, times, unit } from "./math.js";
import { ISLANDS } from "./palette.js";

export const THEMES = {
  dark: { background: "#10141a", ground: "#2b2e34", grid: "#8ea0bb", flat: "#1c222b", edge: "#5b6778", link: "#dfe6f0", joint: "#c9d2de", motor: "#f0a030",
    sky: "#e6ebf3", earth: "#2c2a28", hemisphere: 1.7, sun: 2.4, fill: 1.0, accent: "#5cc8ff" },
  light: { background: "#eef1f5", ground: "#e9ecf0", grid: "#6b7787", flat: "#dde2e9", edge: "#8a94a3", link: "#27303c", joint: "#4b5766", motor: "#d97706",
    sky: "#ffffff", earth: "#b9b2a8", hemisphere: 2.5, sun: 2.0, fill: 0.9, accent: "#0072b2" },
};

/** True where there is no graphics card: every pixel then costs processor time. */
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software/i.test(name);
}

export class Stage {
  /** `quality`: 0 to 2, or undefined to choose by the machine. */
  constructor(canvas, state, quality) {
    this.canvas = canvas;
    const fine = quality !== undefined ? quality > 1 : !isSoftware();
    this.state = state;
    this.renderer = new WebGLRenderer({ canvas, antialias: fine, powerPreference: "high-performance", preserveDrawingBuffer: false });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.toneMapping = NeutralToneMapping;
    this.scene = new Scene();
    this.sides = []; // one a clip: {clip, group, bodies, contacts, links, ground}
    this.raycaster = new Raycaster();
    this.quality = quality ?? (fine ? 2 : 1);
    this.dirty = true;
    this.addLights();
  }

  addLights() {
    this.hemisphere = new HemisphereLight();
    this.sun = new DirectionalLight();
    this.sun.castShadow = this.quality > 1;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02;
    this.sun.shadow.radius = 4;
    this.fill = new DirectionalLight();
    this.scene.add(this.hemisphere, this.sun, this.sun.target, this.fill, this.fill.target);
  }

  setClips(clips) {
    this.chased = null;
    for (const side of this.sides) side.group.removeFromParent();
    this.frame = measure(clips[0]);
    const theme = THEMES[this.state.theme];
    this.sides = clips.map((clip, i) => {
      const dot = 0.025 * this.frame.radius;
      const bodies = new BodySet(clip, { dot });
      const side = { clip, group: new Group(), bodies, contacts: new ContactView(clip, this.frame.radius),
        links: new LinkView(clip, this.frame.radius, theme),
        joints: new JointView(clip, this.frame.radius, theme), ground: new Ground(clip, this.frame, theme) };
      if (i > 0) {
        side.ghost = new BodySet(clip, { ghost: true, dot });
        side.group.add(side.ghost.group);
      }
      side.group.add(bodies.group, side.contacts.group, side.links.group, side.joints.group, side.ground.group);
      this.scene.add(side.group);
      return side;
    });
    this.makeCamera(clips[0].json.planar);
    this.placeLights();
    this.setTheme(this.state.theme);
    this.home();
  }

  /** Another clip of the same place: the camera stays. */
  exchange(clip) {
    const { position, zoom } = this.camera, target = this.controls.target.clone(), halfHeight = this.halfHeight, planar = this.planar;
    const from = position.clone();
    for (const side of this.sides) side.joints.dispose();
    this.setClips([clip]);
    if (planar !== this.planar) return;
    this.camera.position.copy(from);
    this.camera.zoom = zoom;
    this.halfHeight = halfHeight;
    this.controls.target.copy(target);
    this.resize();
    this.controls.update();
  }

  /** Once all frames are here: the picture that fits them, unless somebody has moved the camera or it fits already. */
  settle() {
    const fit = measure(this.sides[0].clip), moved = norm(subtract(fit.center, this.frame.center));
    if (this.touched || (moved < 0.05 * fit.radius && Math.abs(fit.radius / this.frame.radius - 1) < 0.05)) return;
    this.frame = fit;
    this.placeLights();
    this.home();
  }

  /** All that there is by now, and from now on. */
  showAll() {
    this.touched = false;
    this.frame = measure(this.sides[0].clip);
    this.placeLights();
    this.home();
  }

  /** A running scene that has outgrown the picture: a wider one, unless somebody has moved the camera. Never a narrower one. */
  widen() {
    if (this.touched || this.state.follow) return;
    const fit = measure(this.sides[0].clip);
    if (fit.chase && !this.frame.chase) { // begins where it began, and catches up at once
      this.frame = fit;
      this.home();
    }
    const frame = fit.chase ? null : growFrame(this.frame, fit);
    if (!frame) return;
    this.frame = frame;
    this.placeLights();
    this.home();
  }

  makeCamera(planar) {
    this.planar = planar;
    this.controls?.dispose();
    this.camera = planar ? new OrthographicCamera(-1, 1, 1, -1, 0.1, 100) : new PerspectiveCamera(32, 1, 0.1, 100);
    this.camera.up.set(...this.frame.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    Object.assign(this.controls, { enableDamping: false, zoomToCursor: true, rotateSpeed: 0.8, maxPolarAngle: Math.PI * 0.96 });
    if (planar) {
      this.controls.enableRotate = false;
      this.controls.screenSpacePanning = true;
      this.controls.mouseButtons.LEFT = 2; // pan
      this.controls.touches.ONE = 1;
    }
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.controls.addEventListener("start", () => { this.touched = true; });
  }

  placeLights() {
    const { center, radius, up } = this.frame;
    const side = unit(cross(Math.abs(up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], up)), other = cross(up, side);
    const at = (u, s, o) => add(center, add(times(up, u * radius), add(times(side, s * radius), times(other, o * radius))));
    this.sun.position.set(...at(4.2, -1.9, -2.3));
    this.sun.target.position.set(...center);
    this.fill.target.position.set(...center);
    this.hemisphere.position.set(...up);
    const c = this.sun.shadow.camera, r = 1.7 * radius;
    Object.assign(c, { left: -r, right: r, top: r, bottom: -r, near: 0.5 * radius, far: 12 * radius });
    c.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * radius;
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.scene.background = new Color(theme.background);
    this.scene.fog = this.planar ? null : new Fog(theme.background, 9 * (this.frame?.radius ?? 1), 42 * (this.frame?.radius ?? 1));
    this.hemisphere.color.set(theme.sky);
    this.hemisphere.groundColor.set(theme.earth);
    this.hemisphere.intensity = theme.hemisphere;
    this.sun.intensity = theme.sun;
    this.fill.intensity = theme.fill;
    for (const side of this.sides) {
      side.ground.setTheme(theme);
      side.links.setTheme(theme);
      side.joints.setTheme(theme);
      for (const set of [side.bodies, side.ghost]) for (const { mesh } of set?.batches ?? []) mesh.light?.(this);
    }
    this.mark(this.state.selected);
    this.dirty = true;
  }

  // ---- camera

  /** Looks at the whole scene. `view`: home, front, side, top. */
  home(view = "home") {
    const { center, radius, up, spread } = this.frame;
    let away;
    if (this.planar) away = [0, 0, 1];
    else {
      const along = spread.ratio > 1.6 ? spread.along : unit(cross([0, 1, 0.001], up));
      let face = cross(along, up); // looks across the long direction
      if (face[1] > 0.1 || (Math.abs(face[1]) <= 0.1 && face[0] < 0)) face = times(face, -1);
      const right = cross(up, face);
      if (view === "front") away = face;
      else if (view === "side") away = right;
      else if (view === "top") away = add(times(up, 1), times(face, 0.001));
      else away = add(add(times(face, 0.8), times(right, 0.52)), times(up, 0.36));
    }
    this.look(center, unit(away), radius);
    // A group that goes away is looked at where it began, and chased from there to where it is.
    const { clip } = this.sides[0];
    this.chased = this.frame.chase && clip.poses(0) ? findMiddle(clip, (i, p) => clip.bodyPosition(0, i, p) && p) : null;
  }

  look(center, away, radius) {
    const { aspect } = this;
    if (this.planar) {
      const fit = this.fitTo(away);
      center = fit.center;
      this.halfHeight = 1.06 * fit.halfHeight;
      this.camera.zoom = 1;
      this.camera.position.set(center[0], center[1], center[2] + 10 * radius);
      Object.assign(this.camera, { near: 0.1 * radius, far: 100 * radius });
    } else {
      const fit = this.fitTo(away);
      center = fit.center;
      this.camera.position.set(...add(center, times(away, fit.distance)));
      Object.assign(this.camera, { near: 0.01 * fit.distance, far: 60 * Math.max(fit.distance, radius) });
    }
    this.controls.target.set(...center);
    this.resize();
    this.controls.update();
    this.dirty = true;
  }

  /** The nearest place on a line of sight from which everything is in the picture, with room for the title. */
  fitTo(away) {
    const right = unit(cross(this.frame.up, away)), over = cross(away, right), { center, points } = this.frame;
    const ends = (axis) => {
      const values = points.map((p) => [dot(subtract(p, center), axis), p[3]]);
      return [quantile(values.map(([v, r]) => v - r), 0.01), quantile(values.map(([v, r]) => v + r), 0.99)];
    };
    const [x0, x1] = ends(right), [y0, y1] = ends(over);
    const middle = add(center, add(times(right, (x0 + x1) / 2), times(over, (y0 + y1) / 2)));
    const { room, shift } = this.state.bare ? { room: 0.9, shift: 0 } : { room: 0.83, shift: 0.05 }; // the title stands above
    const tall = room * Math.tan(this.camera.fov * Math.PI / 360), wide = tall * this.aspect;
    const needed = points.map((p) => {
      const d = subtract(p, middle), z = dot(d, away);
      return z + Math.max((Math.abs(dot(d, right)) + p[3]) / wide, (Math.abs(dot(d, over)) + p[3]) / tall);
    });
    const halfHeight = Math.max((y1 - y0) / 2, (x1 - x0) / 2 / this.aspect) / (room - 0.04);
    const distance = 1.06 * Math.max(quantile(needed, 0.985), 0.3 * this.frame.radius);
    const down = 2 * shift * (this.planar ? 1.06 * halfHeight : distance * Math.tan(this.camera.fov * Math.PI / 360));
    return { center: add(middle, times(over, down)), halfHeight, distance };
  }

  get aspect() { return (this.width || 1) / (this.height || 1) / (this.sideBySide ? 2 : 1); }
  get sideBySide() { return this.sides.length > 1 && this.state.compare === "side"; }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.width = Math.max(1, Math.round(box.width));
    this.height = Math.max(1, Math.round(box.height));
    this.renderer.setPixelRatio(this.quality === 0 ? 0.6 : Math.min(devicePixelRatio, this.quality === 1 ? 1 : 2));
    this.renderer.setSize(this.width, this.height, false);
    if (!this.camera) return;
    if (this.planar) {
      const h = this.halfHeight ?? 1;
      Object.assign(this.camera, { left: -h * this.aspect, right: h * this.aspect, top: h, bottom: -h });
    } else {
      this.camera.aspect = this.aspect;
    }
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  /** 2 all; 1 no shadows, plain pixels; 0 fewer pixels. */
  setQuality(quality) {
    this.quality = quality;
    this.sun.castShadow = quality > 1;
    this.resize();
  }

  /** Goes near to a body: it fills a good part of the picture. */
  zoomTo(body) {
    const size = Math.max(this.sides[0].joints.reach[body], 0.004 * this.frame.radius);
    this.follow(body);
    if (this.planar) {
      this.camera.zoom = Math.max(1, this.halfHeight / (3 * size));
      this.camera.updateProjectionMatrix();
    } else {
      const away = this.camera.position.clone().sub(this.controls.target);
      const wanted = 2.6 * size / Math.tan(this.camera.fov * Math.PI / 360);
      this.camera.position.copy(this.controls.target).add(away.setLength(Math.min(away.length(), wanted)));
      this.camera.near = Math.min(this.camera.near, 0.05 * wanted);
      this.camera.updateProjectionMatrix();
    }
    this.controls.update();
    this.dirty = true;
  }

  /** Keeps a body in the middle. */
  follow(body) {
    const { position } = this.sides[0].bodies.bodyPose(body);
    const move = new Vector3(...position).sub(this.controls.target);
    this.controls.target.add(move);
    this.camera.position.add(move);
    this.controls.update();
  }

  /** Goes with the middle of what moves. */
  chase() {
    const { clip, bodies } = this.sides[0], middle = findMiddle(clip, (i) => bodies.position.subarray(3 * i, 3 * i + 3));
    if (this.chased) {
      const move = new Vector3(...subtract(middle, this.chased));
      this.controls.target.add(move);
      this.camera.position.add(move);
      this.controls.update();
    }
    this.chased = middle;
  }

  // ---- what is shown

  update(time) {
    const { state } = this;
    this.updates = (this.updates ?? -1) + 1;
    let ready = true;
    this.sides.forEach((side, i) => {
      const at = side.clip.at(time);
      const ghosted = i > 0 && state.compare === "ghost";
      if (this.updates % 30 === 0 && side.bodies.interpolate(at) && side.bodies.sortByDepth(this.camera.position)) this.mark(state.selected);
      side.group.visible = i === 0 || state.compare !== "off";
      if (side.ghost) {
        side.ghost.group.visible = ghosted;
        side.bodies.group.visible = !ghosted;
        side.ground.group.visible = !ghosted;
      }
      side.bodies.showTouching(state.show.touching);
      ready = (ghosted ? side.ghost.update(at) && side.bodies.interpolate(at) : side.bodies.update(at)) && ready;
      side.ground.update(side.bodies);
      const nearest = at.fraction > 0.5 ? at.next : at.frame;
      if (i === 0 || !ghosted) {
        side.contacts.group.visible = true;
        side.contacts.update(nearest, state.show, i === 0 ? state.selected : -1);
        side.joints.update(side.bodies, state.show.links);
        side.links.update(at, side.bodies, state.show, i === 0 ? state.selected : -1);
      } else {
        side.contacts.group.visible = false;
        side.joints.group.visible = false;
      }
      if (state.show.islands && i === 0) this.paintIslands(side, nearest);
    });
    if (!state.show.islands && this.painted) { this.sides[0].bodies.paint(() => null); this.painted = false; }
    this.moveOutline();
    if (state.follow && state.selected >= 0) this.follow(state.selected);
    else if (this.frame.chase) this.chase();
    this.dirty = true;
    return ready;
  }

  paintIslands(side, frame) {
    const { island, count } = findIslands(side.clip, frame);
    const alone = new Color(this.state.theme === "dark" ? "#6b7480" : "#a9b0ba");
    side.bodies.paint((b) => (b < 0 || side.clip.bodies[b].kind !== "dynamic" ? null : island[b] < 0 ? alone : ISLANDS[island[b] % ISLANDS.length]));
    this.islandCount = count;
    this.painted = true;
  }

  mark(body) {
    this.outline?.removeFromParent();
    this.outline = null;
    if (body < 0 || !this.sides.length) return;
    const material = new LineBasicMaterial({ color: THEMES[this.state.theme].accent, depthTest: false, transparent: true });
    this.outline = this.sides[0].bodies.makeOutline(body, (geometry) => new LineSegments(new EdgesGeometry(geometry, 24), material));
    this.outline.renderOrder = 14;
    this.sides[0].group.add(this.outline);
    this.moveOutline();
    this.dirty = true;
  }

  moveOutline() {
    for (const line of this.outline?.children ?? []) {
      const { batch, index } = line.userData;
      line.matrix.fromArray(batch.mesh.instanceMatrix.array, 16 * index);
      line.matrixWorldNeedsUpdate = true;
    }
  }

  render() {
    if (!this.camera || !this.dirty) return false;
    this.dirty = false;
    this.fill.position.copy(this.camera.position); // what we look at is never quite dark
    const { renderer, scene, camera, width, height } = this;
    renderer.setScissorTest(this.sideBySide);
    if (!this.sideBySide) {
      renderer.setViewport(0, 0, width, height);
      renderer.render(scene, camera);
      return true;
    }
    this.sides.forEach((side, i) => {
      this.sides.forEach((other) => { other.group.visible = other === side; });
      renderer.setViewport(i * width / 2, 0, width / 2, height);
      renderer.setScissor(i * width / 2, 0, width / 2, height);
      renderer.render(scene, camera);
    });
    this.sides.forEach((side) => { side.group.visible = true; });
    return true;
  }

  // ---- mouse

  ray(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const half = this.sideBySide ? box.width / 2 : box.width;
    const at = new Vector2(((x - box.left) % half) / half * 2 - 1, 1 - (y - box.top) / box.height * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }

  pick(x, y) { return this.sides.length ? this.sides[0].bodies.pick(this.ray(x, y)) : null; }

  /** Where the ray through a pixel meets the plane through `point` that faces the camera. */
  onFacingPlane(x, y, point) {
    const normal = this.camera.getWorldDirection(new Vector3());
    const hit = this.ray(x, y).ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(normal, new Vector3(...point)), new Vector3());
    return hit ? hit.toArray() : null;
  }

  /** Pixels of a world point. */
  project(point) {
    const v = new Vector3(...point).project(this.camera), box = this.canvas.getBoundingClientRect();
    return [box.left + (v.x + 1) / 2 * box.width, box.top + (1 - v.y) / 2 * box.height];
  }

  localPoint(body, point) {
    const { position, orientation } = this.sides[0].bodies.bodyPose(body);
    return rotate([orientation[0], -orientation[1], -orientation[2], -orientation[3]], subtract(point, position));
  }
}
