"""`slipstick sweep plot TABLE`: what the outputs depend on, as one page: lines over one parameter (and a second of few values), maps over two, parallel
coordinates over more."""
from __future__ import annotations

import argparse
import base64
import html
import io
import os
import sys
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import table
from .table import write_file
from .study import RESERVED

Row = dict[str, Any]
Array = npt.NDArray[np.float64]
_LINES = 5  # lines in one plot that can be told apart


def plot_command(words: Sequence[str]) -> int:
    """The command; exit codes as those of sweep."""
    parser = argparse.ArgumentParser("slipstick sweep plot", description="Plot a table of a sweep into one page")
    parser.add_argument("table", metavar="TABLE", help="table of a sweep (.h5 or .csv)")
    parser.add_argument("-o", "--output", metavar="FILE", help="page (.html), or a picture (.png, .svg) of one output (default: TABLE.html)")
    parser.add_argument("--what", metavar="NAME", help="one output alone")
    parser.add_argument("--over", metavar="A,B", help="the parameters (a .csv does not say which columns they are)")
    given = parser.parse_args(words)
    output = given.output or os.path.splitext(given.table)[0] + ".html"
    if os.path.realpath(output) == os.path.realpath(given.table):
        return _refuse(f"{output}: is the table itself; name another file")
    rows = table.read(given.table)
    over = given.over.split(",") if given.over else table.find_parameters(given.table, rows)
    unknown = [name for name in (*over, *([given.what] if given.what else [])) if rows and name not in rows[0]]
    if not rows or unknown:
        return _refuse(f"{given.table}: has no column '{unknown[0]}'" if unknown else f"{given.table}: has no rows")
    figures = make_figures(rows, over, given.what)
    if not figures:
        return _refuse(f"{given.table}: no output with numbers to plot over {', '.join(over)}")
    if not output.endswith((".png", ".svg")):
        write_file(output, _page(os.path.basename(given.table), rows, figures).encode())
    elif len(figures) > 1:
        return _refuse("a picture shows one output: name it with --what, or write a page (.html)")
    else:
        write_file(output, as_image(figures[0][1], output[-3:]))
    print(f"{len(figures)} plot{'s' if len(figures) != 1 else ''} in {output}")
    return 0


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


def _column(rows: Sequence[Row], name: str) -> Array:
    """Numbers of a column, NaN where there is none; texts by their rank."""
    values = [row.get(name) for row in rows]
    if any(isinstance(v, str) for v in values):
        rank = {v: i for i, v in enumerate(sorted({str(v) for v in values}))}
        return np.array([float(rank[str(v)]) for v in values])
    return np.array([np.nan if v is None else float(v) for v in values])


def make_figures(rows: Sequence[Row], over: Sequence[str], what: Optional[str] = None) -> list[tuple[str, Any]]:
    """(output, matplotlib figure) for each output that has numbers."""
    varying = [name for name in over if len({row[name] for row in rows}) > 1] or list(over[:1])
    outputs = [n for n in rows[0] if n not in RESERVED and n not in over] if what is None else [what]
    figures = []
    for name in outputs:
        values = _column(rows, name)
        if not np.isfinite(values).any() or any(isinstance(row.get(name), str) for row in rows):
            continue
        draw = _lines if len(varying) == 1 else _parallel if len(varying) > 2 else _family if _few(rows, varying) else _map
        figures.append((name, draw(rows, varying, name, values)))
    return figures


def new_axes(width: float = 6.4, height: float = 4.2) -> tuple[Any, Any]:
    """A figure that belongs to nobody's session, and its axes."""
    try:
        from matplotlib.figure import Figure  # type: ignore[import]
    except ImportError:
        raise ImportError("plots are made with matplotlib: apt-get install python3-matplotlib") from None

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _scale(values: Array) -> str:
    """Logarithmic where neighbours are at equal ratios and not at equal distances."""
    levels = np.unique(values)
    if len(levels) < 3 or levels[0] <= 0:
        return "linear"
    steps, ratios = np.diff(levels), np.diff(np.log(levels))
    return "log" if np.ptp(ratios) / ratios.mean() < np.ptp(steps) / steps.mean() and levels[-1] > 5 * levels[0] else "linear"


def _lines(rows: Sequence[Row], over: Sequence[str], name: str, values: Array) -> Any:
    figure, axes = new_axes()
    x = _column(rows, over[0])
    order = np.argsort(x, kind="stable")
    axes.plot(x[order], values[order], "o-", markersize=4, linewidth=1.2, color="#2266aa")
    axes.set(xlabel=over[0], ylabel=name, xscale=_scale(x))
    axes.grid(alpha=0.3)
    return figure


def _few(rows: Sequence[Row], over: Sequence[str]) -> Optional[str]:
    """Of two parameters the one with so few values that a line for each says more than colours."""
    counts = {name: len({row[name] for row in rows}) for name in over}
    least = min(over, key=lambda name: counts[name])
    return least if counts[least] <= _LINES and 3 * counts[least] <= len(rows) else None


def _family(rows: Sequence[Row], over: Sequence[str], name: str, values: Array) -> Any:
    """Lines over one parameter, one for each value of the other."""
    figure, axes = new_axes()
    few = _few(rows, over) or over[0]
    across = next(n for n in over if n != few)
    x = _column(rows, across)
    for level in sorted({row[few] for row in rows}):
        chosen = np.flatnonzero([row[few] == level for row in rows])
        order = chosen[np.argsort(x[chosen], kind="stable")]
        axes.plot(x[order], values[order], "o-", markersize=4, linewidth=1.2, label=f"{few} = {level:.4g}" if isinstance(level, float) else f"{few} = {level}")
    axes.set(xlabel=across, ylabel=name, xscale=_scale(x))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def _map(rows: Sequence[Row], over: Sequence[str], name: str, values: Array) -> Any:
    """A mesh where the points make a grid, coloured points where they do not."""
    figure, axes = new_axes()
    x, y = _column(rows, over[0]), _column(rows, over[1])
    columns, lines = np.unique(x), np.unique(y)
    if len(columns) * len(lines) <= 4 * len(rows):
        mesh, count = np.zeros((len(lines), len(columns))), np.zeros((len(lines), len(columns)))
        at = (np.searchsorted(lines, y), np.searchsorted(columns, x))
        good = np.isfinite(values)
        np.add.at(mesh, (at[0][good], at[1][good]), values[good])
        np.add.at(count, (at[0][good], at[1][good]), 1)
        with np.errstate(invalid="ignore"):
            shown = axes.pcolormesh(columns, lines, mesh / count, shading="nearest", cmap="viridis")
    else:
        shown = axes.scatter(x, y, c=values, s=18, cmap="viridis")
    axes.set(xlabel=over[0], ylabel=over[1], xscale=_scale(x), yscale=_scale(y))
    figure.colorbar(shown, label=name)
    return figure


def _parallel(rows: Sequence[Row], over: Sequence[str], name: str, values: Array) -> Any:
    """One upright axis per parameter and one for the output; a line per case, coloured by the output."""
    from matplotlib.collections import LineCollection  # type: ignore[import]
    from matplotlib.colors import Normalize  # type: ignore[import]

    figure, axes = new_axes(width=1.6 * (len(over) + 1) + 1.2)
    names = [*over, name]
    data = np.column_stack([*(_column(rows, n) for n in over), values])
    data = data[np.isfinite(data).all(axis=1)]
    low, high = data.min(axis=0), data.max(axis=0)
    scaled = (data - low) / np.where(high > low, high - low, 1)
    lines = [np.column_stack([np.arange(len(names)), row]) for row in scaled]
    shown = LineCollection(lines, array=data[:, -1], cmap="viridis", norm=Normalize(low[-1], high[-1]), alpha=0.6, linewidth=0.9)
    axes.add_collection(shown)
    for i in range(len(names)):
        axes.axvline(i, color="black", linewidth=0.8)
        axes.text(i, 1.03, f"{high[i]:.4g}", ha="center", fontsize=8)
        axes.text(i, -0.06, f"{low[i]:.4g}", ha="center", fontsize=8)
    axes.set(xlim=(-0.3, len(names) - 0.7), ylim=(-0.1, 1.1), yticks=[])
    axes.set_xticks(range(len(names)), names)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, pad=8)
    figure.colorbar(shown, label=name)
    return figure


def as_image(figure: Any, kind: str = "png") -> bytes:
    """The bytes of a picture."""
    memory = io.BytesIO()
    figure.savefig(memory, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return memory.getvalue()


def _page(name: str, rows: Sequence[Row], figures: Sequence[tuple[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    reasons = sorted({f"{row['status']}: {row['reason']}" for row in rows if row["reason"]})[:20]
    pictures = "\n".join(f'<figure><img alt="{html.escape(title)}" src="data:image/png;base64,'
                         f'{base64.b64encode(as_image(figure)).decode()}"><figcaption>{html.escape(title)}</figcaption></figure>'
                         for title, figure in figures)
    listed = "<ul>" + "".join(f"<li>{html.escape(r)}</li>" for r in reasons) + "</ul>" if reasons else ""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{html.escape(name)}</title>
<style>body {{ font: 15px/1.5 sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222 }}
figure {{ display: inline-block; margin: 0 1em 1.5em 0 }} img {{ max-width: 100% }} figcaption {{ text-align: center; color: #555 }}</style>
<h1>{html.escape(name)}</h1><p>{len(rows)} cases: {html.escape(said)}.</p>
{pictures}
{listed}
</html>
"""
