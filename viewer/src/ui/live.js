// The controls of a running simulation.
import { h, icon, show } from "./dom.js";

const STEPS = [["1/30", 1 / 30], ["1/60", 1 / 60], ["1/100", 0.01], ["1/200", 0.005], ["1/500", 0.002], ["1/1000", 0.001], ["1/2000", 0.0005]];

export class LiveBar {
  constructor(app, json) {
    this.app = app;
    const choose = (label, names, key) => {
      const select = h("select", { "aria-label": label, title: label, onchange: () => app.live.send({ do: "set", [key]: key === "step" ? +select.value : select.value }) },
        names.map(([text, value]) => h("option", { value }, text)));
      return h("label.choice", {}, h("span", {}, label), select);
    };
    const pair = (name) => [name, name];
    this.scheme = choose("scheme", json.schemes.map(pair), "scheme");
    this.solver = choose("solver", json.solvers.map(pair), "solver");
    const steps = STEPS.some(([, s]) => Math.abs(s - json.step) < 1e-6 * json.step) ? STEPS : [...STEPS, [json.step.toPrecision(3), json.step]];
    this.step = choose("step", steps.map(([t, s]) => [`${t} s`, s]), "step");
    this.strength = h("select", { "aria-label": "pull", title: "How hard dragging pulls", onchange: () => { app.pullStrength = +this.strength.value; } },
      [["soft", 1], ["firm", 10], ["strong", 100]].map(([t, v]) => h("option", { value: v, selected: v === 10 }, t)));
    app.pullStrength = 10;
    this.rate = h("span.rate", {}, "");
    this.record = h("span.recording", { hidden: true });
    this.element = h("div.live-bar", {}, h("span.live-badge", {}, "live"),
      h("button.button", { type: "button", title: "Start again (R)", onclick: () => app.live.send({ do: "reset" }) }, icon("reset"), "Reset"),
      this.scheme, this.solver, this.step, h("label.choice", {}, h("span", {}, "pull"), this.strength), this.rate, this.record);
  }

  update(json) {
    for (const [key, label] of [["scheme", this.scheme], ["solver", this.solver]]) {
      const select = label.querySelector("select");
      if (document.activeElement !== select) select.value = json[key];
    }
    const step = this.step.querySelector("select");
    const option = [...step.options].find((o) => Math.abs(+o.value - json.step) < 1e-6 * json.step);
    if (option && document.activeElement !== step) step.value = option.value;
    this.record.hidden = !json.recording;
    this.record.textContent = `● ${json.recording.split("/").at(-1)}`;
    this.rate.textContent = json.over ? "over" : json.paused ? "paused" : `${show(json.realtime, 2)}× real time`;
    if (json.note && (json.note !== this.note || !json.paused)) this.app.say(json.note);
    this.note = json.note;
  }
}

/** Dragging a body pulls it: a spring from the pointer to the point that was grabbed. */
export class Hand {
  constructor(app) {
    this.app = app;
    const { canvas } = app.stage;
    canvas.addEventListener("pointerdown", (e) => this.grab(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e), { capture: true });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => this.release(e), { capture: true });
  }

  grab(e) {
    if (e.button !== 0 || e.shiftKey || e.ctrlKey) return;
    const { stage, clip } = this.app, hit = stage.pick(e.clientX, e.clientY);
    if (!hit || clip.bodies[hit.body].kind !== "dynamic") return;
    if (this.app.time < clip.end - 1e-9) this.app.goLive();
    this.held = { body: hit.body, point: stage.localPoint(hit.body, hit.point), at: hit.point, moved: false };
    stage.controls.enabled = false;
    stage.canvas.setPointerCapture(e.pointerId);
    this.app.select(hit.body);
    e.stopImmediatePropagation();
  }

  move(e) {
    if (!this.held) return;
    e.stopImmediatePropagation();
    const target = this.app.stage.onFacingPlane(e.clientX, e.clientY, this.held.at);
    if (!target) return;
    this.held.moved = true;
    this.app.live.send({ do: "pull", body: this.held.body, point: this.held.point, target, strength: this.app.pullStrength });
  }

  release(e) {
    if (!this.held) return;
    e.stopImmediatePropagation();
    if (this.held.moved) this.app.live.send({ do: "release" });
    this.held = null;
    this.app.stage.controls.enabled = true;
  }
}
