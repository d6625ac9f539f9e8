// The tab of joints: what each does at this moment, and plots of the chosen one.
import { h, show } from "./dom.js";
import { PlotCard } from "./plots.js";
import { JOINT_PLOTS } from "./series.js";

const MAX_ROWS = 200;
const HEADS = [["joint", ""], ["position", "rad, m"], ["speed", "rad/s, m/s"], ["motor", "N m, N"], ["force", "N"], ["moment", "N m"]];
const NOISE = 1e-12;

/** Three digits in little room. */
function brief(x) {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a < NOISE) return "0";
  if (a >= 1e6 && a < 1e9) return `${show(x / 1e6, 3)} M`;
  return a >= 1e4 && a < 1e6 ? `${show(x / 1e3, 3)} k` : show(x, 3);
}

const MARKS = { hinge: "⊙", slider: "⇄", wheel: "◎", ball: "●", rod: "╱", rope: "〰", gear: "⚙", rack: "⚙", differential: "⚙", fixed: "■", spring: "≋",
  cylindrical: "⇄", screw: "⌇", universal: "✛", planar: "▱", in_plane: "▱", point_on_line: "⇄" };

export class JointPanel {
  constructor(app) {
    this.app = app;
    this.find = h("input.find", { type: "search", placeholder: "Find a joint by name", "aria-label": "Find a joint", oninput: () => this.list() });
    this.hint = h("p.hint", {});
    this.rows = h("tbody");
    this.table = h("table.contacts.joint-table", {}, h("thead", {}, h("tr", {}, HEADS.map(([t, unit]) => h("th", {}, t, unit ? h("small", {}, unit) : null)))), this.rows);
    this.chosen = h("h3.body-name", { hidden: true });
    this.cards = Object.keys(JOINT_PLOTS).map((key) => new PlotCard(app, key, null));
    this.plots = h("div.plots", { hidden: true }, this.cards.map((card) => card.element));
    this.sensorRows = h("div.results");
    this.sensorCard = new PlotCard(app, "sensor", null);
    this.sensorCard.element.hidden = true;
    this.sensors = h("section", {}, h("h3.body-name", {}, "Sensors"), this.sensorRows, this.sensorCard.element);
    this.element = h("div.tab-body", {}, this.find, this.hint, h("div.joint-list", {}, this.table), this.chosen, this.plots, this.sensors);
    this.list();
  }

  /** Rows for the joints whose names hold the text. */
  list() {
    const { json } = this.app.clip, text = this.find.value.trim().toLowerCase();
    const found = json.links.slice(0, json.joints ?? 0).flatMap((link, j) => ((link.name || link.kind).toLowerCase().includes(text) ? [j] : []));
    this.listed = found.slice(0, MAX_ROWS).map((j) => {
      const link = json.links[j], cells = Array.from({ length: 5 }, () => h("td"));
      const row = h("tr.joint-row", { "data-joint": link.name, tabIndex: 0, title: `${link.kind}${link.motor ? `, motor of ${link.motor}` : ""}`,
        onclick: () => this.app.selectJoint(this.app.state.joint === j ? -1 : j), onkeydown: (e) => { if (e.key === "Enter") row.click(); } },
        h("td", {}, h("span.joint-mark", {}, MARKS[link.kind] ?? "◇"), link.name || `${link.kind} ${j}`), cells);
      return { j, row, cells, motor: Boolean(link.motor) };
    });
    this.sensors.hidden = !json.sensors?.length;
    this.readings = (json.sensors ?? []).slice(0, MAX_ROWS).map((name, k) => {
      const value = h("b", {}, "");
      return { k, value, chip: h("button.chip", { type: "button", "data-sensor": name, onclick: () => this.choose(k) }, `${name} `, value) };
    });
    this.sensorRows.replaceChildren(...this.readings.map(({ chip }) => chip));
    this.rows.replaceChildren(...this.listed.map(({ row }) => row));
    this.hint.textContent = found.length > MAX_ROWS ? `${found.length} joints; the first ${MAX_ROWS} are listed.` : found.length === 0 && json.joints ? "No such joint." : "";
    this.table.hidden = found.length === 0;
    this.update();
  }

  /** Plots a sensor; again: no more. */
  choose(sensor) {
    this.app.state.sensor = this.app.state.sensor === sensor ? -1 : sensor;
    this.update();
  }

  updateSensors() {
    const { app } = this, { sensor } = app.state;
    for (const { k, value, chip } of this.readings) {
      chip.setAttribute("aria-pressed", String(k === sensor));
      const text = brief(app.clip.sensor(app.frame, k));
      if (value.textContent !== text) value.textContent = text;
    }
    this.sensorCard.element.hidden = sensor < 0;
    if (sensor < 0) return;
    this.sensorCard.refresh();
    this.sensorCard.mark();
  }

  update() {
    if (!this.element.isConnected) return;
    this.updateSensors();
    const { app } = this, { clip } = app;
    if (!clip.jointChunks[Math.floor(app.frame / clip.chunk)]) clip.loadJoints?.(Math.floor(app.frame / clip.chunk))?.then(() => { app.moved = true; });
    for (const { j, row, cells, motor } of this.listed) {
      row.setAttribute("aria-selected", String(j === app.state.joint));
      const r = clip.joint(app.frame, j);
      const values = r ? [brief(r[0]), brief(r[1]), motor ? brief(r[2]) : "", brief(Math.hypot(r[3], r[4], r[5])), brief(Math.hypot(r[6], r[7], r[8]))] : ["", "", "", "", ""];
      values.forEach((value, k) => { if (cells[k].textContent !== value) cells[k].textContent = value; });
    }
    const link = clip.json.links[app.state.joint];
    this.plots.hidden = this.chosen.hidden = !link;
    if (!link) return;
    const ends = link.couples ? link.couples.map(([other]) => clip.json.links[other].name).join(", ") : `${clip.bodyName(link.a)} – ${clip.bodyName(link.b)}`;
    this.chosen.textContent = `${link.name || link.kind}  ·  ${link.kind}${link.motor ? ` with a motor (${link.motor})` : ""}  ·  ${ends}`;
    for (const card of this.cards) {
      card.refresh().then(() => { card.element.hidden = card.empty || (card.key === "joint_motor" && !link.motor); });
      card.mark();
    }
  }

  refresh() { this.update(); }
}
