// The plots beside the scene. They share the timeline: a line marks the present, a click or a drag goes there.
import uPlot from "uplot";
import { download, h, iconButton, show } from "./dom.js";
import { PLOTS } from "./series.js";

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

/** Powers of ten, at most six of them. */
function decades(u, axis, min, max) {
  const low = Math.ceil(Math.log10(min) - 1e-9), high = Math.floor(Math.log10(max) + 1e-9), step = Math.max(1, Math.ceil((high - low) / 5));
  const splits = [];
  for (let e = Math.ceil(low / step) * step; e <= high; e += step) splits.push(10 ** e);
  return splits;
}

class PlotCard {
  constructor(app, key, onclose) {
    this.app = app;
    this.key = key;
    this.spec = PLOTS[key];
    this.title = h("h3", {}, this.spec.title);
    this.place = h("div.plot-place");
    this.line = h("div.plot-now");
    this.element = h("section.plot", { "data-plot": key },
      h("header", {}, this.title,
        h("button.link", { type: "button", title: "Save the numbers", onclick: () => this.saveCsv() }, "CSV"),
        h("button.link", { type: "button", title: "Save the picture", onclick: () => this.savePng() }, "PNG"),
        iconButton("close", "Remove this plot", onclose)), this.place);
  }

  async refresh() {
    const { app } = this, body = app.state.selected;
    const stamp = `${app.clip.version} ${body} ${app.state.theme} ${this.place.clientWidth}`;
    if (stamp === this.stamp || this.busy) return;
    this.stamp = stamp;
    if (this.spec.body && body < 0) return this.say("Choose a body in the scene to see this.");
    if (this.spec.compare && !app.other) return this.say("Open two recordings to compare them.");
    this.busy = true;
    try {
      const lines = await this.spec.make({ clip: app.clip, other: app.other, body });
      const n = Math.min(app.clip.frames, ...lines.map((l) => l[1].length));
      if (n === 0) return this.say("This recording does not hold it.");
      const who = this.spec.body || (this.key === "force" && body >= 0) ? ` · ${app.clip.bodyName(body)}` : "";
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
    this.plot?.destroy();
    this.plot = null;
    this.place.replaceChildren(h("p.hint", {}, text));
  }

  draw(data) {
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
    const same = this.plot && this.plotKey === `${this.labels} ${this.app.state.theme} ${this.place.clientWidth}`;
    if (same) {
      this.plot.setData(data);
      this.mark();
      return;
    }
    this.plotKey = `${this.labels} ${this.app.state.theme} ${this.place.clientWidth}`;
    this.plot?.destroy();
    this.place.replaceChildren();
    const axis = { stroke: color("--muted"), grid: { stroke: color("--rule"), width: 1 }, ticks: { show: false }, font: `11px ${color("--font")}` };
    this.plot = new uPlot({
      width: Math.max(200, this.place.clientWidth), height: 150, padding: [8, 8, 0, 0],
      legend: { live: true }, cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: false },
      scales: { x: { time: false }, y: this.spec.log ? { distr: 3 } : {} },
      axes: [{ ...axis, size: 24, space: 60 }, { ...axis, size: 58, ...(this.spec.log ? { splits: decades, filter: (u, splits) => splits } : { space: 34 }), values: (u, ticks) => ticks.map((t) => (t === null ? "" : show(t, 3))) }],
      series: [{ label: "t", value: (u, v) => (v === null ? "–" : `${v.toFixed(3)} s`) },
        ...this.labels.map((label, i) => ({ label, width: 1.5, stroke: color(`--line-${i + 1}`), points: { show: false },
          dash: i === 2 ? [6, 3] : undefined,
          value: (u, v) => (v === null || v === undefined ? "–" : `${show(v, 4)} ${this.spec.unit}`) }))],
    }, data, this.place);
    this.plot.over.append(this.line);
    this.listen();
    this.mark();
  }

  listen() {
    const over = this.plot.over;
    const go = (e) => this.app.seek(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (e) => { over.setPointerCapture(e.pointerId); this.dragging = true; go(e); });
    over.addEventListener("pointermove", (e) => { if (this.dragging) go(e); });
    for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, () => { this.dragging = false; });
  }

  mark() {
    if (!this.plot) return;
    this.line.style.transform = `translateX(${this.plot.valToPos(this.app.time, "x")}px)`;
  }

  name() { return `${this.app.clip.json.name || "run"} ${this.key}`.replace(/[^\w.-]+/g, "_"); }

  saveCsv() {
    if (!this.full) return;
    const unit = this.spec.unit ? ` [${this.spec.unit}]` : "";
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
    g.fillText(`${this.title.textContent}${this.spec.unit ? ` [${this.spec.unit}]` : ""} · ${this.app.clip.json.name}`, 10 * ratio, 20 * ratio);
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
