"""`slipstick validate`: does the engine agree with the real world? Parameters are fitted on one part of measured data and judged on the other."""
from __future__ import annotations

import argparse
import base64
import html
import json
import sys
import time
from typing import Any, Callable, Sequence

import numpy as np

from . import ellipse, mujoco, tosses
from .calibrate import Fit, fit, split
from .measured import Array, DataError
from .plots import as_image, new_axes
from .table import write_file
from .tosses import Method

Line = dict[str, Any]

_TOSS_SOURCES = [("Drake", 13.5), ("Bullet", 14.9), ("MuJoCo", 25.1)]  # % of the width, published, second hand
_IMPACT_SOURCES = [("Anitescu-Potra, Newton", 9.1), ("Wang-Mason", 9.4), ("Whittaker", 10.3), ("Anitescu-Potra, Poisson", 10.5), ("Mirtich", 10.8),
                   ("Drumwright-Shell", 11.0)]  # % median error of the impulse, published, all 1718 impacts
_MEANING = {
    "cube-tosses": "A toss of a cube is chaotic: after a few impacts the smallest difference at the start decides on which side it ends, so no model can come near "
                   "zero, and differences between engines below two standard errors say nothing.",
    "ellipse-impacts": "One impact is not chaotic; what is left is the scatter of the table's friction and of the measurement itself (sampled at 250 Hz), "
                       "which one pair of mu and e cannot follow. Published figures are over all 1718 impacts, half of them not in "
                       "this file, with the constants of their authors; the radius of gyration here is the one that the fitted part of the data has.",
}


def validate_command(words: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser("slipstick validate", description="Compare the engine with measured impacts",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Examples:\n  slipstick validate cube-tosses tosses -o tosses.html\n  slipstick validate ellipse-impacts impacts.csv --json")
    parser.add_argument("what", choices=sorted(_MEANING), metavar="WHAT", help="cube-tosses or ellipse-impacts")
    parser.add_argument("data", metavar="DIR", help="the measured data (docs/validation.md says where they are from)")
    parser.add_argument("-o", "--output", metavar="PAGE", help="a page with the table and plots (.html)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--fit", type=int, default=50, metavar="N", help="samples that are fitted; the others are judged (50)")
    parser.add_argument("--limit", type=int, metavar="N", help="use N samples at most")
    parser.add_argument("--schemes", metavar="A,B", help="some schemes alone")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the split (1)")
    given = parser.parse_args(words)
    start = time.monotonic()
    samples: Any = tosses.read_tosses(given.data) if given.what == "cube-tosses" else ellipse.read_impacts(given.data)
    chosen, judged = split(len(samples), min(given.fit, len(samples) - 2), given.seed)
    if given.limit:
        judged = judged[:max(given.limit - len(chosen), 2)]
    methods = _methods(given.what, given.schemes)
    if given.what == "cube-tosses":
        lines, plots = _tosses(samples, chosen, judged, methods)
    else:
        lines, plots = _impacts(samples, chosen, judged, methods)
    if given.json:
        print(json.dumps(lines, indent=1))
    else:
        print(_text(given.what, lines))
    if given.output:
        write_file(given.output, _page(given.what, lines, plots, time.monotonic() - start).encode())
    return 0


def _methods(what: str, schemes: str | None) -> list[Method]:
    known = tosses.METHODS if what == "cube-tosses" else ellipse.METHODS
    if not schemes:
        return list(known)
    wanted = schemes.split(",")
    unknown = [name for name in wanted if name not in {m.scheme for m in known}]
    if unknown:
        raise DataError(f"--schemes: no scheme '{unknown[0]}' here; there is {', '.join(sorted({m.scheme for m in known}))}")
    return [m for m in known if m.scheme in wanted]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _tosses(samples: list[tosses.Toss], chosen: Sequence[int], judged: Sequence[int], methods: Sequence[Method]) -> tuple[list[Line], list[bytes]]:
    fitted, others = [samples[i] for i in chosen], [samples[i] for i in judged]
    runs: list[tuple[str, str, dict[str, tuple[float, float]], Callable[[Sequence[tosses.Toss], Array], Array]]] = [
        ("slipstick", str(m), {"mu": (0.02, 0.5), "e": (0.0, 0.6)},
         lambda part, x, m=m: tosses.judge(part, float(x[0]), float(x[1]), m)) for m in methods]  # type: ignore[misc]
    program = mujoco.find_program()
    if program:
        runs.append(("MuJoCo", "elliptic cone", {"mu": (0.02, 0.5), "damping_ratio": (0.05, 1.5)},
                     lambda part, x: mujoco.judge(program or "", part, float(x[0]), float(x[1]))))
    else:
        _say("MuJoCo is not beside it: './slipstick bench --peers' builds the other engines")
    lines: list[Line] = []
    spread: list[tuple[str, Array]] = []
    for engine, method, bounds, judge in runs:
        _say(f"{engine}, {method} ...")
        found = fit(lambda x: tosses.per_toss(judge(fitted, x)), bounds, rugged=True)
        errors = judge(others, np.array(list(found.values.values())))
        lines.append({"engine": engine, "method": method, **_fitted(found), **tosses.summary(errors)})
        spread.append((f"{engine}, {method}" if engine != "slipstick" else method, errors[:, 0]))
    lines += [{"engine": name, "method": "published", "position": value} for name, value in _TOSS_SOURCES]
    return lines, [_distribution(spread, "mean distance over a toss, % of the width"), _examples(others, lines[0], methods[0])]


def _impacts(samples: Array, chosen: Sequence[int], judged: Sequence[int], methods: Sequence[Method]) -> tuple[list[Line], list[bytes]]:
    fitted, others = samples[list(chosen)], samples[list(judged)]
    rho = ellipse.gyration(fitted)
    lines: list[Line] = []
    spread: list[tuple[str, Array]] = []
    for method in methods:
        _say(f"slipstick, {method} ...")
        found = fit(lambda x, m=method: ellipse.errors(fitted, float(x[0]), float(x[1]), rho, m),  # type: ignore[misc]
                    {"mu": (0.0, 0.6), "e": (0.2, 0.9)}, levels=7, searches=80, reduce=_clipped)
        errors = ellipse.errors(others, found.values["mu"], found.values["e"], rho, method)
        lines.append({"engine": "slipstick", "method": str(method), **_fitted(found), "gyration": rho, **ellipse.summary(errors)})
        spread.append((str(method), 100 * errors))
    lines += [{"engine": name, "method": "published", "median": value} for name, value in _IMPACT_SOURCES]
    return lines, [_distribution(spread, "error of the impulse, %")]


def _clipped(errors: Array) -> float:
    """Mean of the errors, none counted for more than half: a median would not see the smaller part that slips."""
    return float(np.minimum(errors, 0.5).mean())


def _fitted(found: Fit) -> Line:
    line: Line = {}
    for name, value in found.values.items():
        line[name], line[name + "_error"] = value, found.error[name]
    return line


def _distribution(spread: Sequence[tuple[str, Array]], label: str) -> bytes:
    """How many samples lie below an error."""
    figure, axes = new_axes()
    for name, values in spread:
        axes.step(np.sort(values), 100 * (np.arange(len(values)) + 1) / len(values), where="post", label=name, linewidth=1.2)
    limit = max(float(np.percentile(values, 97)) for _, values in spread)
    axes.set(xlabel=label, ylabel="samples with no more, %", xlim=(0, limit), ylim=(0, 100))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return as_image(figure)


def _examples(samples: Sequence[tosses.Toss], line: Line, method: Method) -> bytes:
    """Heights of four tosses, measured and computed."""
    figure, _ = new_axes(9, 5)
    figure.clear()
    panels = figure.subplots(2, 2).ravel()
    for toss, axes in zip(samples[::max(len(samples) // 4, 1)], panels):
        played, _ = tosses.play(toss, line["mu"], line["e"], method)
        t = toss.step * np.arange(len(toss.position))
        axes.plot(t, toss.position[:, 2], ".", markersize=3, color="#222222", label="measured")
        axes.plot(t, played[:, 2], color="#cc4433", linewidth=1.2, label="computed")
        axes.set_title(toss.name, fontsize=9)
        axes.set(xlabel="t, s", ylabel="height, m")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    return as_image(figure)


def _columns(what: str) -> list[tuple[str, str, int]]:
    """Heading, key, digits."""
    if what == "cube-tosses":
        return [("mu", "mu", 3), ("e or damping", "e", 3), ("position, % of width", "position", 2), ("angle, degrees", "angle", 2), ("tosses", "tosses", 0)]
    return [("mu", "mu", 3), ("e", "e", 3), ("median error of the impulse, %", "median", 2), ("impacts", "impacts", 0)]


def _cells(what: str, line: Line) -> list[str]:
    cells = [f"{line['engine']}: {line['method']}"]
    for _, key, digits in _columns(what):
        key = "damping_ratio" if key == "e" and "damping_ratio" in line else key
        if key not in line:
            cells.append("")
        elif digits == 0:
            cells.append(str(line[key]))
        else:
            error = f" +- {line[key + '_error']:.{digits}f}" if key + "_error" in line else ""
            cells.append(f"{line[key]:.{digits}f}{error}")
    return cells


def _text(what: str, lines: Sequence[Line]) -> str:
    rows = [[what, *(c[0] for c in _columns(what))], *(_cells(what, line) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    body = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    extra = f"\nradius of gyration {lines[0]['gyration'] * 1000:.2f} mm, from the data that are fitted" if "gyration" in lines[0] else ""
    return body + extra + "\nFitted on one part, judged on the other; +- is one standard error. " + _MEANING[what]


def _page(what: str, lines: Sequence[Line], plots: Sequence[bytes], seconds: float) -> str:
    head = "".join(f"<th>{html.escape(h)}</th>" for h in ["", *(c[0] for c in _columns(what))])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c).replace('+-', '&plusmn;')}</td>" for c in _cells(what, line)) + "</tr>" for line in lines)
    images = "".join(f'<p><img alt="plot" src="data:image/png;base64,{base64.b64encode(p).decode()}"></p>' for p in plots)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{what}</title>
<style>body {{ font: 15px/1.5 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222 }} table {{ border-collapse: collapse }}
td, th {{ padding: 0.25em 0.9em; border-bottom: 1px solid #ccc; text-align: left }} img {{ max-width: 100% }}</style>
<h1>{what}</h1><p>Parameters fitted on one part of the measured data, judged on the other; &plusmn; is one standard error. {html.escape(_MEANING[what])}</p>
<table><tr>{head}</tr>{body}</table>
{images}
<p>Made by <code>slipstick validate {what}</code> in {seconds:.0f} s.</p></html>
"""

