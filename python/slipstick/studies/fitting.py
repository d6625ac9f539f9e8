"""`slipstick fit STUDY --data MEASURED.csv`: parameters of a scene such that its run comes nearest to measured trajectories."""
from __future__ import annotations

import argparse
import base64
import html
import json
import os
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from .._errors import SceneError, hint
from .._simulation import Simulation
from .calibrate import Fit, fit
from .case import Bundle, Runner
from .expressions import Expression, ExpressionError
from .measured import Array, DataError, read_columns
from .plots import as_image, new_axes
from .study import Range, Study, read
from .sweep import make_plan
from .table import write_file

_KEYS = ("columns", "time", "weights")


@dataclass(frozen=True)
class Measured:
    """One file of data: times and columns."""

    name: str
    time: Array
    columns: dict[str, Array]


@dataclass(frozen=True)
class Question:
    """What is compared with what."""

    expressions: dict[str, Expression]  # by column
    time: str
    weights: dict[str, float]
    bounds: dict[str, tuple[float, float]]
    logarithmic: frozenset[str]


def fit_command(words: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser("slipstick fit", description="Fit parameters of a scene to measured trajectories",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Example:\n  slipstick fit bounce.yaml --data one.csv two.csv -o fit.html")
    parser.add_argument("study", metavar="STUDY", help="study file with a section 'fit' (docs/sweeps.md)")
    parser.add_argument("--data", metavar="FILE", nargs="+", required=True, help="measured trajectories, .csv with a line of names; several files are several runs")
    parser.add_argument("-o", "--output", metavar="PAGE", help="a page with the fitted curves over the data (.html)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--allow-path", action="store_true", help="the scene may lie outside of the study's folder")
    given = parser.parse_args(words)
    study = read(given.study, given.allow_path)
    question = read_question(study)
    data = [read_measured(path, question) for path in given.data]
    plan = make_plan(study)
    found, runner = run_fit(plan.bundle, question, data)
    residual = float(np.sqrt(found.loss))
    if given.json:
        print(json.dumps({"parameters": found.values, "error": found.error, "rms": residual, "tried": len(found.tried), "files": len(data)}, indent=1))
    else:
        for name, value in found.values.items():
            low, high = question.bounds[name]
            edge = "   (at its bound: widen it)" if min(value - low, high - value) < 0.002 * (high - low) else ""
            print(f"{name} = {value:.6g} +- {found.error[name]:.2g}{edge}")
        print(f"root mean square of the weighed differences {residual:.4g}; {len(found.tried)} sets of values tried; +-: bootstrap over "
              + ("the files" if len(data) > 1 else "parts of the trajectory") + ", or the values that do about as well")
    if given.output:
        write_file(given.output, _page(study, question, data, found, runner).encode())
    return 0


def read_question(study: Study) -> Question:
    """The section `fit` of a study. Raises SceneError with all faults."""
    faults = []
    section = study.fit
    if not section.get("columns"):
        faults.append(study.fault("study.fit", "no 'fit': it needs columns, as {columns: {z: bodies.ball.position[2]}}"))
    for key in section:
        if key not in _KEYS:
            faults.append(study.fault("study.fit", f"unknown key '{key}' in fit" + (hint(str(key), _KEYS) or "; there is " + ", ".join(_KEYS))))
    expressions: dict[str, Expression] = {}
    columns = section.get("columns") or {}
    for name, text in columns.items() if isinstance(columns, dict) else ():
        try:
            expressions[str(name)] = Expression(str(text))
        except ExpressionError as error:
            faults.append(study.fault("study.fit", f"column '{name}': {error}"))
    weights = section.get("weights") or {}
    for name, weight in weights.items() if isinstance(weights, dict) else ():
        if name not in expressions or not isinstance(weight, (int, float)) or weight <= 0:
            faults.append(study.fault("study.fit", f"weight of '{name}': must be a number above zero of one of the columns"))
    bounds = {}
    for name, variable in study.vary.items():
        if isinstance(variable, Range) and variable.low < variable.high:
            bounds[name] = (variable.low, variable.high)
        else:
            faults.append(study.fault(f"vary.{name}", f"'{name}': a fit needs bounds, {{from: 0, to: 1}}"))
    if faults:
        raise SceneError(faults)
    logarithmic = frozenset(n for n, v in study.vary.items() if isinstance(v, Range) and v.log)
    return Question(expressions, str(section.get("time", "t")), {n: float(weights.get(n, 1)) for n in expressions}, bounds, logarithmic)


def read_measured(path: str, question: Question) -> Measured:
    """A file of data; raises DataError with its name and what is wrong."""
    names = [question.time, *question.expressions]
    table = read_columns(path, names, 2)
    time = table[:, 0]
    if (np.diff(time) <= 0).any() or time[0] < 0:
        raise DataError(f"{path}: times must grow, from zero on: t = 0 is the start of the scene")
    return Measured(path, time, dict(zip(question.expressions, table.T[1:])))


def play(runner: Runner, question: Question, values: dict[str, Any], until: float) -> tuple[Array, dict[str, Array]]:
    """Times and columns of a run."""
    sim, _ = runner.simulation(values)
    times: list[float] = []
    rows: list[list[float]] = []
    while True:
        names = {"bodies": _Bodies(sim), "joints": _Joints(sim), "t": sim.time, **values}
        rows.append([float(e.value(names)) for e in question.expressions.values()])
        times.append(sim.time)
        if sim.time >= until:
            break
        sim.step()
    return np.array(times), dict(zip(question.expressions, np.array(rows).T))


class _Bodies(dict[str, Any]):
    """Bodies by name, made when they are asked for."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__()
        self._sim = sim

    def __contains__(self, name: object) -> bool:
        return name in self._sim.scene.bodies

    def __iter__(self) -> Any:
        return iter(self._sim.scene.bodies)

    def __getitem__(self, name: str) -> Any:
        body = self._sim.body(name)
        return {key: getattr(body, key).tolist() for key in ("position", "orientation", "velocity", "angular_velocity")}


class _Joints(_Bodies):
    """Joints by name."""

    def __contains__(self, name: object) -> bool:
        return name in self._sim.scene.joints

    def __iter__(self) -> Any:
        return iter(self._sim.scene.joints)

    def __getitem__(self, name: str) -> Any:
        joint = self._sim.joint(name)
        return {"position": joint.position, "velocity": joint.velocity}


def run_fit(bundle: Bundle, question: Question, data: Sequence[Measured]) -> tuple[Fit, Runner]:
    """The fit: mean of squares, each column by its weight over the spread of its data."""
    runner = Runner(bundle)
    until = max(float(d.time[-1]) for d in data)
    spread = {name: max(float(np.std(np.concatenate([d.columns[name] for d in data]))), 1e-300) for name in question.expressions}

    def losses(point: Array) -> Array:
        time, found = play(runner, question, _values(question, point), until)
        samples = []
        for d in data:
            rows = sum(question.weights[n] * ((np.interp(d.time, time, found[n]) - d.columns[n]) / spread[n]) ** 2 for n in found)
            squares = np.asarray(rows) / sum(question.weights.values())
            # Rows that follow each other err alike: one trajectory is drawn from in ten parts, several as a whole each.
            samples += [float(squares.mean())] if len(data) > 1 else [float(p.mean()) for p in np.array_split(squares, min(10, len(squares)))]
        return np.array(samples)

    bounds = {n: (float(np.log(b[0])), float(np.log(b[1]))) if n in question.logarithmic else b for n, b in question.bounds.items()}
    count = len(bounds)
    found = fit(losses, bounds, levels={1: 25, 2: 9, 3: 5}.get(count, 3), searches=60 * count)
    values = _values(question, np.array(list(found.values.values())))
    error = {n: found.error[n] * (values[n] if n in question.logarithmic else 1) for n in values}
    return Fit(values, error, found.loss, found.tried, found.losses), runner


def _values(question: Question, point: Array) -> dict[str, Any]:
    return {n: float(np.exp(x)) if n in question.logarithmic else float(x) for n, x in zip(question.bounds, point)}


def _page(study: Study, question: Question, data: Sequence[Measured], found: Fit, runner: Runner) -> str:
    time, curves = play(runner, question, dict(found.values), max(float(d.time[-1]) for d in data))
    images = []
    for name, curve in curves.items():
        figure, axes = new_axes()
        for i, d in enumerate(data):
            axes.plot(d.time, d.columns[name], ".", markersize=3, color="#222222", label="measured" if i == 0 else None)
        axes.plot(time, curve, color="#cc4433", linewidth=1.2, label="fitted")
        axes.set(xlabel="t, s", ylabel=name)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        images.append(f'<img alt="{html.escape(name)}" src="data:image/png;base64,{base64.b64encode(as_image(figure)).decode()}">')
    rows = "".join(f"<tr><td>{html.escape(n)}</td><td>{v:.6g} &plusmn; {found.error[n]:.2g}</td></tr>" for n, v in found.values.items())
    title = html.escape(os.path.basename(study.path))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 15px/1.5 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em }} td {{ padding: 0.2em 1em }} img {{ max-width: 100% }}</style>
<h1>{title}</h1><table>{rows}</table><p>{len(data)} file{'s' if len(data) > 1 else ''}, {len(found.tried)} sets of values tried.</p>{''.join(images)}</html>
"""
