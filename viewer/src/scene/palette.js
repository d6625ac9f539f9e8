// Colours that people with any colour vision can tell apart (after Okabe and Ito), toned down for large areas.
import { Color } from "three";

const GROUPS = ["#5b8fc7", "#d99a4e", "#5fae97", "#c77a9b", "#8f83c9", "#b7a95a", "#6fb3d2", "#c9705a"];
const FIXED = "#9098a4", KINEMATIC = "#7d8799";

export const ISLANDS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#f0e442", "#8a8fd0"]
  .map((c) => new Color(c));
export const STICK = new Color("#56b4e9");
export const SLIP = new Color("#e69f00");
export const OVERLAP = new Color("#d4426b");

const seen = new Map();

/** Bodies whose names differ only in numbers look alike. */
export function groupColor(name, kind) {
  if (kind === "fixed") return new Color(FIXED);
  if (kind === "kinematic") return new Color(KINEMATIC);
  const stem = name.replace(/[\d_{}\-./]+/g, "");
  if (!seen.has(stem)) seen.set(stem, seen.size);
  return new Color(GROUPS[seen.get(stem) % GROUPS.length]);
}

/** How much of the friction cone is used: blue (none) over grey to orange (all). */
const STOPS = [new Color("#2f74c0"), new Color("#a9adb5"), new Color("#ef8a17")];
export function usageColor(usage, out) {
  const u = Math.min(1, Math.max(0, usage)) * 2;
  return u < 1 ? out.lerpColors(STOPS[0], STOPS[1], u) : out.lerpColors(STOPS[1], STOPS[2], u - 1);
}
