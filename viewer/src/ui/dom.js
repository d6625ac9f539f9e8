// Makes elements. Text is always text: nothing here reads HTML.

/** h("button.plain", {onclick, title, ...}, "text", child, ...) */
export function h(what, props = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.includes("-")) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  play: "M7 4.5v15l12-7.5z", pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z", back: "M6 5h2.4v14H6zM19 5v14l-9-7z",
  forward: "M15.6 5H18v14h-2.4zM5 5v14l9-7z", reset: "M12 5V2L7 6.5 12 11V8a5 5 0 1 1-5 5H4a8 8 0 1 0 8-8z",
  home: "M4 11l8-7 8 7v9h-5.5v-6h-5v6H4z", theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  help: "M11 16h2v2h-2zM12 6a4 4 0 0 0-4 4h2a2 2 0 1 1 3.2 1.6C12 12.500 11 13.300 11 15h2c0-1 .7-1.500 1.500-2.200A4 4 0 0 0 12 6z",
  panel: "M3 5h18v14H3zM15 5v14", close: "M6 6l12 12M18 6L6 18", eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
};
const STROKED = new Set(["panel", "close", "eye", "theme"]);

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon", STROKED.has(name) ? "stroked" : "filled");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name, title, onclick) {
  return h("button.icon-button", { type: "button", title, "aria-label": title, onclick }, icon(name));
}

/** A number as a person writes it: four digits, powers of ten only where they help. */
export function show(x, digits = 4) {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const a = Math.abs(x);
  if (a >= 1e5 || a < 1e-3) {
    const [m, e] = x.toExponential(Math.max(0, digits - 2)).split("e");
    const front = Number(m) === 1 ? "" : `${String(Number(m)).replace("-", "−")}·`;
    return `${front}10${[...String(+e)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
  }
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

/** Metres with a fitting prefix. */
export function showLength(x) {
  const a = Math.abs(x);
  if (!Number.isFinite(x)) return "–";
  if (a === 0) return "0 m";
  if (a < 1e-9) return `${show(x, 3)} m`;
  if (a < 1e-6) return `${show(x * 1e9, 3)} nm`;
  if (a < 1e-3) return `${show(x * 1e6, 3)} µm`;
  if (a < 1) return `${show(x * 1e3, 3)} mm`;
  return `${show(x, 4)} m`;
}

export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
