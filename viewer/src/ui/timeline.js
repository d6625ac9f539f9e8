// Transport buttons and the scrubber: contact count as a backdrop, events and uncertified frames as marks.
import { h, iconButton, show } from "./dom.js";

const EVENT_COLORS = { impact: "--mark-impact", takeoff: "--mark-takeoff", stick: "--mark-stick", slip: "--mark-slip" };
/** Choices, times the pace to begin with. */
export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

/** Simulated seconds a second to begin with: 1, or so that less than half a second is shown for 2 to 20 s. */
export function findSpeed(span) {
  return span > 0 && span < 0.5 ? 10 ** Math.floor(Math.log10(span / 2)) : 1;
}

/** A moment, in the unit and with the digits that the whole span asks for. */
export function showTime(time, span, unit = true) {
  const [name, size] = span > 0 && span < 2e-3 ? ["µs", 1e-6] : span > 0 && span < 0.5 ? ["ms", 1e-3] : ["s", 1];
  return (time / size).toFixed(3) + (unit ? ` ${name}` : "");
}

export class Timeline {
  constructor(app) {
    this.app = app;
    this.canvas = h("canvas.scrub", { tabIndex: 0, role: "slider", "aria-label": "Time" });
    this.tip = h("div.scrub-tip", { hidden: true });
    this.play = iconButton("play", "Play or pause (space)", () => app.toggle());
    this.now = h("span.now", {}, "0.000");
    this.total = h("span.total", {}, "");
    this.speed = h("select.speed", { title: "Speed ([ and ])", "aria-label": "Speed", onchange: () => app.setSpeed(+this.speed.value) },
      SPEEDS.map((s) => h("option", { value: s * app.pace, selected: s === 1 }, `${show(s * app.pace, 2)}×`)));
    this.element = h("footer.timeline", {},
      h("div.transport", {},
        iconButton("back", "One frame back (←)", () => app.stepFrames(-1)), this.play,
        iconButton("forward", "One frame on (→)", () => app.stepFrames(1))),
      h("div.clock", {}, this.now, this.total),
      h("div.scrub-holder", {}, this.canvas, this.tip), this.speed);
    this.listen();
    this.drawn = "";
  }

  listen() {
    const time = (e) => {
      const box = this.canvas.getBoundingClientRect();
      const f = Math.min(1, Math.max(0, (e.clientX - box.left - 8) / (box.width - 16)));
      return this.app.start + f * (this.app.end - this.app.start);
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      this.dragging = true;
      this.app.seek(time(e));
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (this.dragging) this.app.seek(time(e));
      this.hover(e, time(e));
    });
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => { this.dragging = false; });
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  hover(e, time) {
    const { clip } = this.app, span = this.app.end - this.app.start;
    const near = clip.events.filter((v) => Math.abs(v.time - time) < 0.008 * span).slice(0, 4);
    const box = this.canvas.getBoundingClientRect();
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(box.width - 90, Math.max(90, e.clientX - box.left))}px`;
    this.tip.textContent = [showTime(time, span),
      ...near.map((v) => `${v.kind}: ${clip.bodyName(v.a)} – ${clip.bodyName(v.b)}`)].join("\n");
  }

  setPlaying(playing) {
    const button = iconButton(playing ? "pause" : "play", "Play or pause (space)", () => this.app.toggle());
    button.classList.add("primary");
    this.play.replaceWith(button);
    this.play = button;
  }

  update() {
    const { app } = this;
    const span = app.end - app.start;
    this.now.textContent = showTime(app.time, span, false);
    this.total.textContent = ` / ${showTime(app.end, span)}`;
    this.canvas.setAttribute("aria-valuenow", showTime(app.time, span));
    this.canvas.setAttribute("aria-valuemax", showTime(app.end, span));
    this.draw();
  }

  draw() {
    const { canvas, app } = this;
    const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    const w = Math.round(box.width * ratio), hgt = Math.round(box.height * ratio);
    if (w === 0) return;
    if (canvas.width !== w || canvas.height !== hgt) { canvas.width = w; canvas.height = hgt; this.backdrop = null; }
    const key = `${w} ${hgt} ${app.clip.version} ${app.state.theme}`;
    if (this.drawn !== key) { this.backdrop = this.drawBackdrop(w, hgt, ratio); this.drawn = key; }
    const g = canvas.getContext("2d");
    g.clearRect(0, 0, w, hgt);
    g.drawImage(this.backdrop, 0, 0);
    const x = this.x(app.time, w, ratio), style = getComputedStyle(document.documentElement);
    g.fillStyle = style.getPropertyValue("--accent");
    const left = 8 * ratio;
    g.fillRect(left, hgt - 4 * ratio, Math.max(0, x - left), 4 * ratio);
    g.fillRect(x - ratio, 0, 2 * ratio, hgt);
    g.beginPath();
    g.arc(x, hgt - 2 * ratio, 6 * ratio, 0, 7);
    g.fill();
  }

  x(time, w, ratio) {
    const span = this.app.end - this.app.start || 1;
    return 8 * ratio + (time - this.app.start) / span * (w - 16 * ratio);
  }

  drawBackdrop(w, hgt, ratio) {
    const { clip } = this.app, sheet = new OffscreenCanvas(w, hgt), g = sheet.getContext("2d");
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
    const base = hgt - 4 * ratio;
    g.fillStyle = color("--track");
    g.fillRect(8 * ratio, base, w - 16 * ratio, 4 * ratio);
    const counts = clip.series.contact_count, most = counts.reduce((a, b) => Math.max(a, b), 1);
    g.fillStyle = color("--spark");
    g.beginPath();
    g.moveTo(8 * ratio, base);
    const stride = Math.max(1, Math.floor(clip.frames / w));
    for (let k = 0; k < clip.frames; k += stride) g.lineTo(this.x(clip.time[k], w, ratio), base - 0.72 * base * counts[k] / most);
    g.lineTo(this.x(this.app.end, w, ratio), base);
    g.fill();
    for (const event of clip.events) {
      g.fillStyle = color(EVENT_COLORS[event.kind] ?? "--mark-impact");
      const x = this.x(event.time, w, ratio);
      if (event.kind === "impact") g.fillRect(x - 0.5 * ratio, 0.1 * base, ratio, 0.85 * base);
      else { g.beginPath(); g.arc(x, event.kind === "slip" ? 0.3 * base : 0.6 * base, 2.2 * ratio, 0, 7); g.fill(); }
    }
    g.fillStyle = color("--bad");
    clip.series.grade.forEach((c, k) => { if (c === 0 && k > 0) g.fillRect(this.x(clip.time[k], w, ratio) - ratio, 0, 2 * ratio, 0.22 * base); });
    return sheet;
  }
}
