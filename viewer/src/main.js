// The viewer: opens what the page has or what the server offers, and ties scene, timeline and panels together.
import { LiveSource, loadRest, readEmbedded, readServer } from "./data/sources.js";
import { Stage } from "./scene/stage.js";
import { h, iconButton, show, showLength } from "./ui/dom.js";
import { listen, makeHelp } from "./ui/keys.js";
import { Hand, LiveBar } from "./ui/live.js";
import { DrivePanel } from "./ui/drive.js";
import { JointPanel } from "./ui/joints.js";
import { BodyPanel, RunPanel, ViewPanel } from "./ui/panels.js";
import { PlotStack } from "./ui/plots.js";
import { findSpeed, showTime, SPEEDS, Timeline } from "./ui/timeline.js";
import { usageColor } from "./scene/palette.js";
import { roundStep } from "./scene/ground.js";
import { Color } from "three";

/** Settings in the address after '#': t, theme, play, select, view, ui=0, and every switch by its name. */
function readSettings() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

class App {
  constructor(root) {
    this.settings = readSettings();
    this.state = {
      theme: this.settings.theme ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark"),
      selected: -1, joint: -1, sensor: -1, follow: false, compare: "ghost", panel: innerWidth > 900, bare: this.settings.ui === "0",
      show: { points: false, forces: false, cones: false, gaps: false, onlySelected: false, islands: false, links: true,
        centres: false, frames: false, trails: false, touching: false, forceScale: 1, pointScale: 1, gapScale: 1000 },
    };
    for (const key of Object.keys(this.state.show)) {
      if (key in this.settings) this.state.show[key] = typeof this.state.show[key] === "number" ? +this.settings[key] || 1 : this.settings[key] !== "0";
    }
    if (this.settings.compare) this.state.compare = this.settings.compare;
    this.root = root;
    this.time = 0;
    this.speed = this.pace = 1; // simulated seconds a second, now and to begin with
    this.playing = false;
    this.frame = 0;
    this.slow = 0;
    document.documentElement.dataset.theme = this.state.theme;
    if (this.state.bare) document.documentElement.classList.add("bare");
  }

  get start() { return this.clip.start; }
  get end() { return Math.max(this.clip.end, this.other?.end ?? 0); }

  async open() {
    const embedded = await readEmbedded();
    if (embedded) return this.begin(embedded);
    const { live, clips } = await readServer();
    if (!live) {
      this.begin(clips);
      const wants = () => true;
      return clips.forEach((clip) => loadRest(clip, () => clip.at(this.time).frame, wants)
        .then(() => { if (clip === this.clip && !this.settings.view) this.stage.settle(); }).catch((e) => this.say(e.message)));
    }
    this.live = new LiveSource({
      clip: (clip, json) => { this.liveJson = json; this.pending = clip; },
      frame: (json, columns) => this.onFrame(json, columns),
      reset: () => { this.tail = true; },
      note: (text) => this.say(text),
      closed: () => { this.setPlaying(false); this.say("The simulation has ended: 'slipstick view' was stopped, or too many windows are open."); },
    });
  }

  // ---- live

  onFrame(json, columns) {
    if (this.pending) {
      const clip = this.pending;
      this.pending = null;
      this.tail = true;
      if (this.stage) this.exchange(clip);
      else this.beginLive(clip);
    }
    this.drive.update(json.held, columns.motors);
    this.livePaused = json.paused;
    this.setPlaying(!json.paused && this.tail);
    this.liveBar.update(json);
    if (this.tail) this.time = this.clip.end;
    this.moved = true;
    this.refreshSoon();
  }

  /** What need not follow every frame: four times a second, and always after the last one. */
  refreshSoon() {
    if (this.refreshing) return;
    this.refreshing = setTimeout(() => {
      this.refreshing = null;
      this.stage.widen();
      this.moved = true;
      this.plots.refresh();
      this.body.update();
      this.joints.update();
    }, 250);
  }

  beginLive(clip) {
    this.begin([clip]);
    this.liveBar = new LiveBar(this, this.liveJson);
    this.overlay.append(this.liveBar.element);
    this.hand = new Hand(this);
  }

  /** The scene has begun again with other variables: other bodies, perhaps, seen from the same place. */
  exchange(clip) {
    const chosen = this.clip.bodies[this.state.selected]?.name;
    this.select(-1);
    this.state.joint = this.state.sensor = -1;
    this.clip = clip;
    this.stage.exchange(clip);
    this.drive = new DrivePanel(this, this.liveJson);
    this.tabs.drive[1] = this.drive;
    this.joints.list();
    this.run.fill();
    for (const card of [...this.plots.cards, ...this.joints.cards]) card.stamp = null;
    this.openTab(this.tab);
    if (chosen !== undefined) this.select(clip.findBody(chosen));
  }

  goLive() { this.tail = true; this.time = this.clip.end; this.live.send({ do: "play" }); }

  // ---- the page

  begin(clips) {
    [this.clip, this.other] = clips;
    this.speed = this.pace = findSpeed(this.live ? this.liveJson.duration : this.end - this.start);
    document.title = `${this.clip.json.name || "Slipstick"} · Slipstick`;
    this.build();
    this.stage = new Stage(this.canvas, this.state, this.settings.quality === undefined ? undefined : +this.settings.quality);
    this.stage.resize();
    this.stage.setClips(clips);
    this.updateLegend();
    listen(this);
    this.listenToCanvas();
    new ResizeObserver(() => { this.stage.resize(); this.timeline.update(); this.plots.refresh(); this.moved = true; }).observe(this.canvas.parentElement);
    this.time = this.settings.t !== undefined ? this.start + +this.settings.t : this.start;
    if (this.settings.select) this.select(this.clip.findBody(this.settings.select));
    if (this.settings.view) this.stage.home(this.settings.view);
    if (this.settings.joint) this.selectJoint(this.clip.json.links.findIndex((link) => link.name === this.settings.joint));
    if (this.settings.follow && this.state.selected >= 0) { this.stage.update(this.time); this.toggleFollow(); }
    if (this.other) this.setCompare(this.state.compare);
    const unknown = [...this.stage.sides[0].bodies.unknown];
    if (unknown.length) this.say(`This viewer does not draw: ${unknown.join(", ")}`);
    if (!this.live && this.settings.play !== "0" && this.settings.t === undefined) this.setPlaying(true);
    this.moved = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  build() {
    const j = this.clip.json;
    this.canvas = h("canvas.view", { tabIndex: -1 });
    this.certificate = h("div.certificate");
    this.legend = h("div.legend", { hidden: true });
    this.note = h("div.note", { hidden: true, role: "status" });
    this.overlay = h("div.overlay");
    this.plots = new PlotStack(this);
    this.body = new BodyPanel(this);
    this.view = new ViewPanel(this);
    this.run = new RunPanel(this);
    this.timeline = new Timeline(this);
    this.joints = new JointPanel(this);
    this.tabs = { plots: ["Plots", this.plots], body: ["Body", this.body], joints: ["Joints", this.joints], view: ["View", this.view], run: ["Run", this.run] };
    if (!j.joints && !j.sensors?.length) delete this.tabs.joints;
    if (!j.joints && j.sensors?.length) this.tabs.joints[0] = "Sensors";
    this.drive = new DrivePanel(this, j);
    if (this.drive.useful) this.tabs = { drive: ["Drive", this.drive], ...this.tabs };
    this.panelBody = h("div.panel-body");
    this.tabBar = h("nav.tabs", { role: "tablist" }, Object.entries(this.tabs).map(([key, [label]]) =>
      h("button.tab", { type: "button", role: "tab", "data-tab": key, onclick: () => this.openTab(key) }, label)));
    this.panel = h("aside.panel", {}, this.tabBar, this.panelBody);
    this.help = makeHelp(() => this.toggleHelp());
    const badges = this.other
      ? [h("span.badge.first", {}, describeRun(j)), h("span.badge.second", {}, describeRun(this.other.json))]
      : [h("span.badge", {}, describeRun(j))];
    this.root.replaceChildren(h("main.stage", {}, this.canvas,
      h("div.top", {}, h("div.title", {}, h("h1", {}, j.name || "Untitled"), h("div.badges", {}, badges), this.certificate), h("div.tools", {},
        iconButton("home", "Whole scene (H)", () => { this.stage.showAll(); this.moved = true; }), iconButton("theme", "Dark or light (T)", () => this.toggleTheme()),
        iconButton("help", "Keys and mouse (?)", () => this.toggleHelp()), iconButton("panel", "Plots and panels (P)", () => this.togglePanel()))),
      this.overlay, this.legend, this.note), this.panel, this.timeline.element, this.help);
    this.openTab(this.tabs[this.settings.tab] ? this.settings.tab : "plots");
    this.showPanel(this.state.panel && !this.state.bare);
    this.updateLegend();
  }

  openTab(key) {
    for (const tab of this.tabBar.children) tab.setAttribute("aria-selected", String(tab.dataset.tab === key));
    this.panelBody.replaceChildren(this.tabs[key][1].element);
    this.tab = key;
    this.plots.refresh();
    this.body.update();
    this.joints.update();
  }

  showPanel(visible) {
    this.state.panel = visible;
    this.root.classList.toggle("with-panel", visible);
    this.panel.hidden = !visible;
    if (visible) this.plots.refresh();
  }

  togglePanel() { this.showPanel(!this.state.panel); }
  toggleHelp() { if (this.help.open) this.help.close(); else this.help.showModal(); }

  toggleTheme() {
    this.state.theme = this.state.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = this.state.theme;
    this.stage.setTheme(this.state.theme);
    this.plots.refresh();
    this.updateLegend();
    this.moved = true;
  }

  say(text) {
    if (!this.note) { this.root.replaceChildren(h("p.fatal", {}, text)); return; }
    this.note.textContent = text;
    this.note.hidden = false;
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => { this.note.hidden = true; }, 8000);
  }

  listenToCanvas() {
    let down = null;
    this.canvas.addEventListener("pointerdown", (e) => { down = [e.clientX, e.clientY]; });
    this.canvas.addEventListener("pointerup", (e) => {
      if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4 || e.button !== 0) return;
      const hit = this.stage.pick(e.clientX, e.clientY);
      this.select(hit ? hit.body : -1);
    });
    this.canvas.addEventListener("dblclick", (e) => {
      const hit = this.stage.pick(e.clientX, e.clientY);
      if (hit) { this.select(hit.body); this.state.follow = false; this.toggleFollow(); }
    });
  }

  // ---- what the controls do

  setPlaying(playing) {
    if (this.playing === playing && this.timeline.shown === playing) return;
    this.playing = playing;
    this.timeline.shown = playing;
    this.timeline.setPlaying(playing);
    this.last = null;
  }

  toggle() {
    if (this.live) {
      if (this.playing) this.live.send({ do: "pause" });
      else this.goLive();
      return;
    }
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.setPlaying(!this.playing);
  }

  seek(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    if (this.live) {
      this.tail = this.time >= this.end;
      if (!this.tail && !this.livePaused) this.live.send({ do: "pause" });
    } else {
      this.setPlaying(false);
    }
    this.moved = true;
  }

  stepFrames(count) {
    if (this.live && count > 0 && this.time >= this.clip.end - 1e-12) {
      this.tail = true;
      for (let i = 0; i < count; ++i) this.live.send({ do: "step" });
      return;
    }
    const at = this.clip.at(this.time), here = at.fraction > 0 && count < 0 ? at.frame + 1 : at.frame;
    const frame = Math.min(this.clip.frames - 1, Math.max(0, here + count));
    this.seek(this.clip.time[frame]);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.timeline.speed.value = speed;
    this.live?.send({ do: "speed", speed });
  }

  changeSpeed(by) {
    const index = SPEEDS.findIndex((s) => Math.abs(s * this.pace - this.speed) < 1e-9 * this.speed);
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, index + by))] * this.pace);
  }

  select(body) {
    if (body === this.state.selected) return;
    this.state.selected = body;
    if (body < 0) this.state.follow = false;
    this.stage.mark(body);
    if (body >= 0 && this.tab === "view") this.openTab("body");
    this.plots.refresh();
    this.body.update();
    this.moved = true;
  }

  selectJoint(joint) {
    this.state.joint = joint;
    for (const side of this.stage.sides) side.joints.paint(joint);
    this.joints.update();
    this.moved = true;
  }

  /** Goes near to the chosen body and with it; again: lets it go. */
  toggleFollow() {
    if (this.state.selected < 0) return this.say("Choose a body first.");
    this.state.follow = !this.state.follow;
    if (this.state.follow) this.stage.zoomTo(this.state.selected);
    this.stage.touched = true;
    this.body.stamp = null;
    this.moved = true;
  }

  setShow(key, value) {
    this.state.show[key] = value;
    this.view.update();
    this.updateLegend();
    if (value && ["cones"].includes(key) && !this.clip.json.has_friction) this.say("This recording was made before friction coefficients were kept: no cones.");
    this.moved = true;
  }

  setCompare(mode) {
    this.state.compare = mode;
    this.canvas.parentElement.classList.toggle("side", mode === "side");
    this.stage.resize();
    this.stage.home();
    this.moved = true;
  }

  refresh() { this.updateLegend(); this.moved = true; }

  // ---- each frame

  tick(now) {
    requestAnimationFrame((t) => this.tick(t));
    if (this.playing && !this.live) {
      if (this.last !== null && this.last !== undefined) {
        this.time += Math.min(0.25, (now - this.last) / 1000) * this.speed;
        if (this.time >= this.end) { this.time = this.end; this.setPlaying(false); }
      }
      this.last = now;
      this.moved = true;
    }
    if (this.moved) this.update();
    const began = performance.now();
    if (this.stage.render()) this.watchSpeed(now, began);
  }

  /** A picture of a moment after the start, for films: drawn at once and in full. With `caption` in the address: name and time. */
  shoot(after) {
    this.setPlaying(false);
    this.time = Math.min(this.end, this.start + after);
    this.update();
    this.stage.dirty = true;
    this.stage.render();
    if (!this.settings.caption) return this.canvas.toDataURL("image/png");
    const { width, height } = this.canvas, sheet = h("canvas", { width, height }), g = sheet.getContext("2d"), size = Math.round(height / 28);
    g.drawImage(this.canvas, 0, 0);
    g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
    g.font = `600 ${size}px Inter, sans-serif`;
    g.fillText(this.clip.json.name, size, 1.9 * size);
    g.font = `${Math.round(0.8 * size)}px Inter, sans-serif`;
    g.fillText(showTime(this.time, this.end - this.start), size, 3.1 * size);
    return sheet.toDataURL("image/png");
  }

  update() {
    this.moved = false;
    const at = this.clip.at(this.time);
    this.frame = at.fraction > 0.5 ? at.next : at.frame;
    const ready = this.stage.update(this.time);
    if (!ready) {
      for (const clip of [this.clip, this.other].filter(Boolean)) {
        const chunk = Math.floor(clip.at(this.time).frame / clip.chunk);
        clip.loadPose?.(chunk)?.then(() => { this.moved = true; });
      }
    } else {
      this.root.dataset.ready = "1";
    }
    if (this.version !== this.clip.version) { // more has come: contacts of this frame, perhaps
      this.version = this.clip.version;
      this.plots.refresh();
      if (!this.live) setTimeout(() => { this.moved = true; }, 50);
    }
    this.timeline.update();
    this.plots.mark();
    this.body.update();
    this.joints.update();
    this.updateCertificate();
    this.updateLegend();
  }

  updateCertificate() {
    const s = this.clip.series, k = this.frame;
    const grade = k === 0 ? 2 : s.grade[k] ?? 2;
    this.certificate.classList.toggle("bad", grade === 0);
    const parts = k === 0 && !this.live ? ["initial state"] : [
      ["✗ not certified", "✓ certified to the heap tolerance", "✓ certified"][grade], `residual ${show(s.residual[k] ?? NaN, 3)} m/s`,
      `penetration ${showLength(s.penetration[k] ?? NaN)}`,
      this.clip.json.links.length ? `joint error ${show(s.joint_error[k] ?? NaN, 3)}` : null,
      `${s.iterations[k] ?? "–"} iterations`, s.escalations[k] > 0 ? `${s.escalations[k]} escalations` : null, `${s.contact_count[k] ?? 0} contacts`];
    const text = parts.filter(Boolean).join("  ·  ");
    if (this.certificate.textContent !== text) this.certificate.textContent = text;
  }

  updateLegend() {
    const { show: s } = this.state, view = this.stage?.sides[0]?.contacts;
    const any = s.points || s.forces || s.cones || s.gaps || s.islands;
    this.legend.hidden = !any;
    if (!any || !view) return;
    const rows = [];
    const { count, slipping, force, worstGap } = view.total;
    if (s.points) rows.push(h("div.key", {}, h("span.dot"), `${count - slipping} sticks`), h("div.key", {}, h("span.ring"), `${slipping} slips`));
    if (s.forces || s.cones) {
      const newtons = roundStep(view.typicalForce() / s.forceScale);
      const world = newtons * view.scale(s), [x0] = this.stage.project(this.stage.frame.center);
      const right = new Float32Array(this.stage.camera.matrixWorld.elements.slice(0, 3));
      const [x1] = this.stage.project(this.stage.frame.center.map((c, i) => c + world * right[i]));
      const bar = h("span.bar");
      bar.style.width = `${Math.min(180, Math.max(4, Math.abs(x1 - x0)))}px`;
      rows.push(h("div.key.wide", {}, bar, `${show(newtons, 2)} N`), h("div.key", {}, `normal forces ${show(force, 3)} N in all`));
    }
    if (s.cones) {
      const canvas = h("canvas", { width: 120, height: 8 }), g = canvas.getContext("2d"), c = new Color();
      for (let i = 0; i < 120; ++i) { g.fillStyle = `#${usageColor(i / 119, c).getHexString()}`; g.fillRect(i, 0, 1, 8); }
      rows.push(h("div.key.wide", {}, "cone unused", canvas, "all used"));
    }
    if (s.gaps) rows.push(h("div.key", {}, h("span.gap"), `penetration × ${show(s.gapScale, 2)}, deepest ${showLength(Math.max(0, -worstGap))}`));
    if (s.islands) rows.push(h("div.key", {}, `${this.stage.islandCount ?? 0} islands, a colour each`));
    this.legend.replaceChildren(...rows);
  }

  /** Gives up shadows, then pixels, where the machine cannot keep up. */
  watchSpeed(now, began) {
    if (this.settings.quality !== undefined) return;
    const gap = now - (this.lastDrawn ?? now);
    this.lastDrawn = now;
    if (!this.playing || gap > 1000 || gap === 0) return;
    this.frameTime = 0.9 * (this.frameTime ?? 16) + 0.1 * Math.max(gap, performance.now() - began);
    this.slow = this.frameTime > 40 ? this.slow + 1 : 0;
    if (this.slow > 20 && this.stage.quality > 0) { this.stage.setQuality(this.stage.quality - 1); this.slow = 0; this.frameTime = 16; }
  }
}

function describeRun(j) {
  return `${j.scheme} · ${j.solver} · step ${show(j.step, 3)} s`;
}

const app = new App(document.getElementById("app"));
window.slipstick = app; // for scripts and tests
app.open().catch((error) => app.say(`Nothing to show: ${error.message}`));
