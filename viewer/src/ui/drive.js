// The tab of a running scene that drives it: a slider for each motor, and one for each variable under `let`.
import { h, show } from "./dom.js";

const UNITS = { speed: ["m/s", "rad/s"], position: ["m", "rad"], force: ["N", "N m"] };

/** What a slider of a variable covers, and its step: whole numbers stay whole where there are enough of them. */
function spanOf(value) {
  if (value === 0) return { low: -1, high: 1, step: "any" };
  const low = Math.min(0, 2 * value), high = Math.max(0, 2 * value);
  return { low, high, step: Number.isInteger(value) && Math.abs(value) >= 5 ? 1 : "any" };
}

export class DrivePanel {
  constructor(app, json) {
    this.app = app;
    this.motors = (json.motors ?? []).map((motor) => this.makeMotor(motor));
    this.variables = (json.variables ?? []).map((variable) => this.makeVariable(variable));
    this.element = h("div.tab-body", {},
      this.motors.length ? h("fieldset", {}, h("legend", {}, "Motors"), h("p.hint", {}, "A motor follows the scene until its slider is moved."),
        this.motors.map((m) => m.element)) : null,
      this.variables.length ? h("fieldset", {}, h("legend", {}, "Variables"), h("p.hint", {}, "A change starts the scene again."),
        this.variables.map((v) => v.element)) : null);
  }

  get useful() { return this.motors.length + this.variables.length > 0; }

  makeMotor({ name, axis, kind, turn, low, high }) {
    const unit = UNITS[kind][turn ? 1 : 0], value = h("output");
    const input = h("input", { type: "range", min: low, max: high, step: "any", "aria-label": name, "data-motor": name,
      oninput: () => { value.textContent = `${show(+input.value, 3)} ${unit}`; this.app.live.send({ do: "motor", axis, target: +input.value }); } });
    const back = h("button.link", { type: "button", title: "As the scene says", "data-release": name, onclick: () => this.app.live.send({ do: "motor", axis }) }, "scene");
    return { axis, unit, value, input, back, element: h("label.slider.motor", {}, h("span", {}, name, h("small", {}, ` ${kind}`)), value, input, back) };
  }

  makeVariable({ name, value }) {
    const { low, high, step } = spanOf(value);
    const send = (x) => { if (Number.isFinite(x)) this.app.live.send({ do: "let", values: { [name]: x } }); };
    const number = h("input.number", { type: "number", step: "any", value, "aria-label": `${name}, exactly`, onchange: () => send(+number.value) });
    const range = h("input", { type: "range", min: low, max: high, step, "aria-label": name, "data-variable": name,
      oninput: () => { number.value = String(Number((+range.value).toPrecision(4))); }, onchange: () => send(+number.value) });
    range.value = value;
    return { element: h("label.slider.variable", {}, h("span", {}, name), number, range) };
  }

  /** `targets`: of all motors, in the order of the description. */
  update(held, targets) {
    this.motors.forEach(({ axis, unit, value, input, back, element }, k) => {
      const own = held.includes(axis);
      element.classList.toggle("held", own);
      back.hidden = !own;
      if (targets[k] === undefined || input.matches(":active")) return;
      input.value = targets[k];
      value.textContent = `${show(targets[k], 3)} ${unit}`;
    });
  }
}
