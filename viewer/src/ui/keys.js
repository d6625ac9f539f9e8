// Keyboard, and the page that explains it.
import { h } from "./dom.js";

const HELP = [
  ["space", "play or pause"], ["← →", "one frame (shift: ten)"], ["Home End", "first, last frame"], ["[ ]", "slower, faster"],
  ["drag", "turn the camera; on a body of a live scene: pull it"], ["wheel, pinch", "zoom"], ["right drag, two fingers", "move the camera"],
  ["click", "choose a body"], ["F", "zoom on the chosen body and follow it"], ["Esc", "let go of it; close this page"], ["H 1 2 3", "whole scene, front, side, top"],
  ["C V K G", "contact points, forces, friction cones, penetration"], ["I J M X L B", "islands, joints, centres, frames, trails, shapes that touch"],
  ["P", "plots and panels"], ["T", "dark or light"], ["R", "live: start again"], ["?", "this page"],
];

const SWITCH = { c: "points", v: "forces", k: "cones", g: "gaps", i: "islands", j: "links", m: "centres", x: "frames", l: "trails", b: "touching" };

export function makeHelp(close) {
  const dialog = h("dialog.help", { onclick: (e) => { if (e.target === dialog) close(); } },
    h("h2", {}, "Keys and mouse"), h("dl", {}, HELP.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("button.button", { type: "button", onclick: close }, "Close"));
  return dialog;
}

export function listen(app) {
  const actions = {
    " ": () => app.toggle(), arrowleft: (e) => app.stepFrames(e.shiftKey ? -10 : -1), arrowright: (e) => app.stepFrames(e.shiftKey ? 10 : 1),
    home: () => app.seek(app.start), end: () => app.seek(app.end), "[": () => app.changeSpeed(-1), "]": () => app.changeSpeed(1),
    f: () => app.toggleFollow(), escape: () => { if (app.help.open) app.help.close(); else { app.select(-1); app.selectJoint(-1); } }, h: () => { app.stage.showAll(); app.moved = true; }, 1: () => app.stage.home("front"),
    2: () => app.stage.home("side"), 3: () => app.stage.home("top"), p: () => app.togglePanel(), t: () => app.toggleTheme(),
    r: () => app.live?.send({ do: "reset" }), "?": () => app.toggleHelp(),
  };
  addEventListener("keydown", (e) => {
    const field = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "checkbox" && e.target.type !== "range";
    if (field || e.ctrlKey || e.metaKey || e.altKey) return;
    const key = e.key.toLowerCase();
    const action = actions[key] ?? (SWITCH[key] ? () => app.setShow(SWITCH[key], !app.state.show[SWITCH[key]]) : null);
    if (!action) return;
    e.preventDefault();
    if (key === " ") document.activeElement?.blur?.(); // a button that has the focus must not be pressed too
    action(e);
  });
}
