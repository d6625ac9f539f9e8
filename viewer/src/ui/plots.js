// The plots beside the scene. They share the timeline: a line marks the present, a click or a drag goes there.
import uPlot from "uplot";
import { download, h, iconButton, show } from "./dom.js";
import { showTime } from "./timeline.js";
import { JOINT_PLOTS, PLOTS, SENSOR_PLOTS } from "./series.js";

const DEFAULT = ["energy", "residual", "contacts"];
const MAX_POINTS = 4000;

/** At most MAX_POINTS rows; of the rows between two, the one with the largest value of the first line stays. */
function thin(data) {
  const n = data[0].length;
  if (n <= MAX_POINTS) return data;
  const step = Math.ceil(n / MAX_POINTS), keep = [];
  for (let i = 0; i < n; i += step) {
    let best = i;
    for (let k = i; k < Math.min(n, i + step); ++k) if ((data[1][k] ?? -Infinity) > (data[1][best] ?? -Infinity)) best = k;
    keep.push(best);
  }
  return data.map((column) => keep.map((k) => column[k]));
}

/** Index of the time in a rising list that is nearest. */
function nearest(times, time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1; else high = middle;
  }
  return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
}

/** Powers of ten, at most six of them. */
function decades(u, axis, min, max) {
  const low = Math.ceil(Math.log10(min) - 1e-9), high = Math.floor(Math.log10(max) + 1e-9), step = Math.max(1, Math.ceil((high - low) / 5));
  const splits = [];
  for (let e = Math.ceil(low / step) * step; e <= high; e += step) splits.push(10 ** e);
  return splits;
}

/** Rounding noise about a constant is drawn as the line that it is. */
const NOISE = 1e-10;
function flatRange(u, low, high) {
  if (low === null) return [0, 1];
  const room = NOISE * Math.max(1, Math.abs(low), Math.abs(high));
  return high - low < room ? [(low + high) / 2 - 500 * room, (low + high) / 2 + 500 * room] : uPlot.rangeNum(low, high, 0.1, true);
}

export class PlotCard {
  constructor(app, key, onclose) {
    this.app = app;
    this.key = key;
    this.spec = PLOTS[key] ?? JOINT_PLOTS[key] ?? SENSOR_PLOTS[key];
    this.title = h("h3", {}, this.spec.title);
    this.place = h("div.plot-place");
    this.line = h("div.plot-now");
    this.element = h("section.plot", { "data-plot": key },
      h("header", {}, this.title,
        h("button.link", { type: "button", title: "Save the numbers", onclick: () => this.saveCsv() }, "CSV"),
        h("button.link", { type: "button", title: "Save the picture", onclick: () => this.savePng() }, "PNG"),
        onclose ? iconButton("close", "Remove this plot", onclose) : null), this.place);
  }

  async refresh() {
    const { app } = this, body = app.state.selected, joint = app.state.joint, sensor = app.state.sensor;
    const stamp = `${app.clip.version} ${this.spec.sensor ? `sensor ${sensor}` : this.spec.joint ? `joint ${joint}` : body} ${app.state.theme} ${this.place.clientWidth}`;
    if (stamp === this.stamp || this.busy) return;
    this.stamp = stamp;
    if (this.spec.body && body < 0) return this.say("Choose a body in the scene to see this.");
    if (this.spec.joint && !app.clip.json.links[joint]) return this.say("Choose a joint.");
    if (this.spec.compare && !app.other) return this.say("Open two recordings to compare them.");
    this.busy = true;
    try {
      const lines = await this.spec.make({ clip: app.clip, other: app.other, body, joint, sensor });
      this.unit = this.spec.joint ? this.spec.unit(app.clip.json.links[joint]) : this.spec.unit;
      const n = Math.min(app.clip.frames, ...lines.map((l) => l[1].length));
      if (n === 0 || lines.every((l) => l[1].every((x) => x === null))) return this.say(this.spec.joint ? "This joint has none." : "This recording does not hold it.");
      this.empty = false;
      const who = this.spec.body || (this.key === "force" && body >= 0) ? ` · ${app.clip.bodyName(body)}` : this.unit && this.spec.joint ? ` [${this.unit}]` : this.spec.sensor ? ` · ${app.clip.json.sensors[sensor]}` : "";
      this.title.textContent = this.spec.title + who;
      this.full = [app.clip.time.slice(0, n), ...lines.map((l) => l[1].slice(0, n))];
      this.labels = lines.map((l) => l[0]);
      this.draw(thin(this.full));
    } catch (error) {
      this.say(String(error.message ?? error));
    } finally {
      this.busy = false;
    }
  }

  say(text) {
    this.empty = true;
    this.plot?.destroy();
    this.plot = null;
    this.place.replaceChildren(h("p.hint", {}, text));
  }

  draw(data) {
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
    const same = this.plot && this.plotKey === this.makeKey();
    if (same) {
      this.plot.setData(data);
      this.mark();
      return;
    }
    this.plotKey = this.makeKey();
    this.plot?.destroy();
    this.place.replaceChildren();
    const axis = { stroke: color("--muted"), grid: { stroke: color("--rule"), width: 1 }, ticks: { show: false }, font: `11px ${color("--font")}` };
    this.plot = new uPlot({
      width: Math.max(200, this.place.clientWidth), height: 150, padding: [8, 8, 0, 0],
      legend: { live: true }, cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: false },
      scales: { x: { time: false }, y: this.spec.log ? { distr: 3 } : { range: flatRange } },
      axes: [{ ...axis, size: 24, space: 60 }, { ...axis, size: 58, ...(this.spec.log ? { splits: decades, filter: (u, splits) => splits } : { space: 34 }), values: (u, ticks) => ticks.map((t) => (t === null ? "" : show(t, 3))) }],
      series: [{ label: "t", value: (u, v) => (v === null ? "–" : showTime(v, this.app.end - this.app.start)) },
        ...this.labels.map((label, i) => ({ label, width: 1.5, stroke: color(`--line-${i + 1}`), points: { show: false },
          dash: i === 2 ? [6, 3] : undefined,
          value: (u, v) => (v === null || v === undefined ? "–" : `${show(v, 4)} ${this.unit}`) }))],
    }, data, this.place);
    this.plot.over.append(this.line);
    this.listen();
    this.mark();
  }

  makeKey() { return `${this.labels} ${this.unit} ${this.app.state.theme} ${this.place.clientWidth}`; }

  listen() {
    const over = this.plot.over;
    const go = (e) => this.app.seek(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (e) => { over.setPointerCapture(e.pointerId); this.dragging = true; go(e); });
    over.addEventListener("pointermove", (e) => { if (this.dragging) go(e); });
    for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, () => { this.dragging = false; });
    over.addEventListener("pointerenter", () => { this.hovered = true; });
    over.addEventListener("pointerleave", () => { this.hovered = false; requestAnimationFrame(() => this.mark()); });
  }

  mark() {
    if (!this.plot) return;
    this.line.style.transform = `translateX(${this.plot.valToPos(this.app.time, "x")}px)`;
    if (!this.hovered) this.plot.setLegend({ idx: nearest(this.plot.data[0], this.app.time) }, false); // else: values under the pointer
  }

  name() { return `${this.app.clip.json.name || "run"} ${this.key}`.replace(/[^\w.-]+/g, "_"); }

  saveCsv() {
    if (!this.full) return;
    const unit = this.unit ? ` [${this.unit}]` : "";
    const quote = (text) => `"${text.replaceAll('"', '""')}"`;
    const rows = [["time [s]", ...this.labels.map((l) => l + unit)].map(quote).join(",")];
    for (let k = 0; k < this.full[0].length; ++k) rows.push(this.full.map((c) => c[k] ?? "").join(","));
    download(`${this.name()}.csv`, new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
  }

  savePng() {
    if (!this.plot) return;
    const from = this.plot.ctx.canvas, style = getComputedStyle(document.documentElement), ratio = devicePixelRatio || 1;
    const sheet = h("canvas", { width: from.width, height: from.height + 52 * ratio }), g = sheet.getContext("2d");
    g.fillStyle = style.getPropertyValue("--panel");
    g.fillRect(0, 0, sheet.width, sheet.height);
    g.fillStyle = style.getPropertyValue("--text");
    g.font = `600 ${13 * ratio}px ${style.getPropertyValue("--font")}`;
    g.fillText(`${this.title.textContent}${this.unit ? ` [${this.unit}]` : ""} · ${this.app.clip.json.name}`, 10 * ratio, 20 * ratio);
    let x = 10 * ratio;
    g.font = `${11 * ratio}px ${style.getPropertyValue("--font")}`;
    this.labels.forEach((label, i) => {
      g.fillStyle = style.getPropertyValue(`--line-${i + 1}`);
      g.fillRect(x, 34 * ratio, 14 * ratio, 2 * ratio);
      g.fillStyle = style.getPropertyValue("--muted");
      g.fillText(label, x + 20 * ratio, 39 * ratio);
      x += 34 * ratio + g.measureText(label).width;
    });
    g.drawImage(from, 0, 52 * ratio);
    sheet.toBlob((blob) => download(`${this.name()}.png`, blob));
  }
}

export class PlotStack {
  constructor(app) {
    this.app = app;
    this.cards = [];
    this.list = h("div.plots");
    this.chooser = h("div.chips", {}, Object.entries(PLOTS).filter(([, s]) => !s.compare || app.other).map(([key, spec]) =>
      h("button.chip", { type: "button", "data-chip": key, onclick: () => this.toggle(key) }, spec.title)));
    this.element = h("div.tab-body", {}, this.chooser, this.list);
    for (const key of app.other ? ["distance", ...DEFAULT.slice(0, 2)] : DEFAULT) this.toggle(key);
  }

  toggle(key) {
    const index = this.cards.findIndex((c) => c.key === key);
    if (index >= 0) {
      this.cards[index].element.remove();
      this.cards.splice(index, 1);
    } else {
      const card = new PlotCard(this.app, key, () => this.toggle(key));
      this.cards.push(card);
      this.list.append(card.element);
      card.refresh();
    }
    for (const chip of this.chooser.children) {
      chip.setAttribute("aria-pressed", String(this.cards.some((c) => c.key === chip.dataset.chip)));
    }
  }

  refresh() { if (this.element.isConnected) for (const card of this.cards) card.refresh(); }
  mark() { if (this.element.isConnected) for (const card of this.cards) card.mark(); }
}
