// The other tabs: the chosen body, what is shown, and the run.
import { dot, norm } from "../scene/math.js";
import { h, show, showLength } from "./dom.js";
import { bodyMotion } from "./series.js";

const vector = (v, digits = 4) => v.map((x) => show(x, digits)).join("  ");

function table(rows) {
  return h("dl.facts", {}, rows.filter(Boolean).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

export class BodyPanel {
  constructor(app) {
    this.app = app;
    this.choose = h("input.find", { type: "search", placeholder: "Find a body by name", "aria-label": "Find a body",
      oninput: () => this.list(), onkeydown: (e) => { if (e.key === "Enter") this.first?.click(); } });
    this.results = h("div.results");
    this.facts = h("div");
    this.element = h("div.tab-body", {}, this.choose, this.results, this.facts);
  }

  list() {
    const text = this.choose.value.trim().toLowerCase();
    const found = [];
    for (let i = 0; i < this.app.clip.count && found.length < 12; ++i) {
      if (text && this.app.clip.bodies[i].name.toLowerCase().includes(text)) found.push(i);
    }
    this.results.replaceChildren(...found.map((i) => h("button.chip", { type: "button", onclick: () => {
      this.choose.value = "";
      this.results.replaceChildren();
      this.app.select(i);
    } }, this.app.clip.bodies[i].name)));
    this.first = this.results.firstChild;
  }

  async update() {
    if (!this.element.isConnected) return;
    const { app } = this, i = app.state.selected, { clip } = app;
    if (i < 0) {
      this.facts.replaceChildren(h("p.hint", {}, "Click a body in the scene, or find it by name."));
      return;
    }
    const stamp = `${i} ${app.frame} ${clip.version}`;
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    const body = clip.bodies[i], k = app.frame;
    const motion = await bodyMotion(clip, i);
    if (stamp !== this.stamp) return;
    const v = motion.velocity[k] ?? [NaN, NaN, NaN], w = motion.angular[k] ?? [NaN, NaN, NaN];
    this.facts.replaceChildren(
      h("h3.body-name", {}, body.name),
      table([
        ["kind", body.kind], body.mass > 0 ? ["mass", `${show(body.mass)} kg`] : null,
        ["position", `${vector(motion.position[k] ?? [])} m`],
        ["orientation", vector(motion.orientation[k] ?? [])],
        ["velocity", `${vector(v)} m/s`], ["speed", `${show(norm(v))} m/s`],
        ["angular velocity", `${vector(w)} rad/s`],
        body.mass > 0 ? ["linear kinetic energy", `${show(0.5 * body.mass * dot(v, v))} J`] : null,
      ]),
      h("div.row", {}, h("button.button", { type: "button", onclick: () => app.toggleFollow() }, app.state.follow ? "Stop following" : "Zoom and follow (F)"),
        h("button.button", { type: "button", onclick: () => app.select(-1) }, "Deselect")),
      this.joints(i, k), this.contacts(i));
  }

  /** Coordinate, speed, motor and reaction of the body's joints. A click opens the joint's own plots. */
  joints(i, k) {
    const { app } = this, { clip } = app;
    const held = clip.json.links.slice(0, clip.json.joints ?? 0).flatMap((link, j) => (link.a === i || link.b === i ? [{ link, j, row: clip.joint(k, j) }] : []));
    if (held.length === 0) return null;
    if (held.some(({ row }) => !row)) clip.loadJoints?.(Math.floor(k / clip.chunk))?.then(() => { this.stamp = null; app.moved = true; });
    const number = (x) => (Number.isFinite(x) ? show(x, 3) : "–");
    return h("table.contacts.joints", {}, h("thead", {}, h("tr", {}, ["joint", "position", "speed", "motor", "force N"].map((t) => h("th", {}, t)))),
      h("tbody", {}, held.filter(({ row }) => row).slice(0, 24).map(({ link, j, row }) => h("tr.joint-row", { onclick: () => { app.selectJoint(j); app.openTab("joints"); } }, h("td", {}, link.name),
        [row[0], row[1], row[2], norm(row.subarray(3, 6))].map((x) => h("td", {}, number(x)))))));
  }

  contacts(i) {
    const { clip } = this.app, c = clip.contacts(this.app.frame);
    if (!c) return h("p.hint", {}, clip.loadContacts ? "Contacts are on their way." : "");
    const rows = [];
    const seen = new Set();
    for (let r = c.from; r < c.to; ++r) {
      if (c.a[r] !== i && c.b[r] !== i) continue;
      const mark = MARKS[c.unique?.[r]];
      if (mark) seen.add(mark);
      const view = this.app.stage.sides[0].contacts, { fn, ft, use } = view.usage(c, r), slips = view.slips(c, r);
      rows.push(h("tr", {}, h("td", {}, clip.bodyName(c.a[r] === i ? c.b[r] : c.a[r])), h("td", {}, show(fn, 3) + (mark?.sign ?? "")), h("td", {}, show(ft, 3)),
        h("td", {}, clip.json.has_friction ? `${Math.round(100 * use)} %` : "–"), h(slips ? "td.slip" : "td.stick", {}, slips ? "slips" : "sticks")));
    }
    if (rows.length === 0) return h("p.hint", {}, "No contact at this moment.");
    const table = h("table.contacts", {}, h("thead", {}, h("tr", {}, ["with", "normal N", "friction N", "of cone", ""].map((t) => h("th", {}, t)))), h("tbody", {}, rows.slice(0, 24)));
    if (seen.size === 0) return table;
    return h("div", {}, table, [...seen].map(({ sign, text }) => h("p.hint", {}, `${sign} not unique: other forces would give the same motion. ${text}`)));
  }
}

/** Of /contacts/unique, docs/recording.md. */
const MARKS = {
  2: { sign: "*", text: "These are what equal springs at all contacts carry." },
  3: { sign: "†", text: "These are as the solver found them: no choice among them was found." },
};

const SWITCHES = [
  ["Contacts", [["points", "Contact points", "C"], ["forces", "Force arrows", "V"], ["cones", "Friction cones", "K"], ["gaps", "Penetration", "G"], ["onlySelected", "Only of the chosen body", ""]]],
  ["Bodies", [["islands", "Islands by colour", "I"], ["links", "Joints and springs", "J"], ["centres", "Centres of mass", "M"], ["frames", "Body frames", "X"], ["trails", "Trails", "L"], ["touching", "Shapes that touch, under meshes", "B"]]],
];

export class ViewPanel {
  constructor(app) {
    this.app = app;
    this.boxes = {};
    const groups = SWITCHES.map(([title, rows]) => h("fieldset", {}, h("legend", {}, title), rows.map(([key, label, letter]) => this.makeSwitch(key, label, letter))));
    const slider = (key, label, min, max, format) => {
      const value = h("output", {}, format(app.state.show[key]));
      const input = h("input", { type: "range", min: Math.log10(min), max: Math.log10(max), step: 0.05, "aria-label": label,
        oninput: () => { app.state.show[key] = 10 ** +input.value; value.textContent = format(app.state.show[key]); app.refresh(); } });
      input.value = Math.log10(app.state.show[key]);
      return h("label.slider", {}, h("span", {}, label), value, input);
    };
    this.element = h("div.tab-body", {}, groups[0],
      slider("forceScale", "Arrow length", 0.05, 20, (x) => `${show(x, 2)}×`),
      slider("pointScale", "Point size", 0.2, 5, (x) => `${show(x, 2)}×`),
      slider("gapScale", "Penetration drawn", 1, 1e6, (x) => `${show(x, 2)}×`), groups[1],
      h("fieldset", {}, h("legend", {}, "Camera"), h("div.row", {}, [["home", "Whole (H)"], ["front", "Front (1)"], ["side", "Side (2)"], ["top", "Top (3)"]]
        .map(([view, label]) => h("button.button", { type: "button", onclick: () => app.stage.home(view) }, label)))),
      app.other ? this.makeCompare() : null);
  }

  makeSwitch(key, label, letter) {
    const box = h("input", { type: "checkbox", checked: this.app.state.show[key], onchange: () => this.app.setShow(key, box.checked) });
    this.boxes[key] = box;
    return h("label.switch", {}, box, h("span", {}, label), letter ? h("kbd", {}, letter) : null);
  }

  makeCompare() {
    const options = [["ghost", "Ghost over it"], ["side", "Side by side"], ["off", "Only the first"]];
    return h("fieldset", {}, h("legend", {}, "Comparison"), h("div.row", {}, options.map(([mode, label]) =>
      h("button.button", { type: "button", onclick: () => this.app.setCompare(mode) }, label))));
  }

  update() { for (const [key, box] of Object.entries(this.boxes)) box.checked = this.app.state.show[key]; }
}

export class RunPanel {
  constructor(app) {
    this.app = app;
    this.place = h("div");
    this.element = h("div.tab-body", {}, this.place);
    this.fill();
  }

  fill() {
    const worst = (values) => (values?.length ? values.reduce((a, b) => Math.max(a, b), 0) : NaN);
    this.place.replaceChildren(...[this.app.clip, this.app.other].filter(Boolean).map((clip, i) => {
      const j = clip.json, s = clip.series, uncertified = s.grade.filter((c, k) => c === 0 && k > 0).length;
      return h("section", {}, this.app.other ? h("h3", {}, i === 0 ? "First" : "Second (ghost)") : null, table([
        ["scene", j.name || "–"], ["scheme", j.scheme], ["solver", j.solver], ["step", `${show(j.step)} s`],
        ["bodies", String(clip.count)], ["joints and springs", String(j.links.length)],
        j.live ? null : ["frames", j.stride > 1 ? `${clip.frames} of ${j.recorded_frames}` : String(clip.frames)],
        j.live ? null : ["worst residual", `${show(worst(s.residual))} m/s`],
        j.live ? null : ["deepest penetration", showLength(worst(s.penetration))],
        j.live ? null : ["largest joint error", show(worst(s.joint_error))],
        j.live ? null : ["uncertified frames", String(uncertified)],
        j.contacts_every > 1 ? ["contacts kept", `one frame in ${j.contacts_every}`] : null,
        ["made by", j.software], ["command", j.command],
      ]), i === 0 && j.scene_text ? h("details", {}, h("summary", {}, "Scene file"), h("pre", {}, j.scene_text)) : null);
    }));
  }

  update() {}
}
