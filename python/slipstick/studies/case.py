"""One case: one run of the engine, from the contents of the scene's files, so that it is the same in every process and on every
machine, whatever happens to the files meanwhile."""
from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from .. import _engine
from .._errors import Diverged, SceneError
from .._files import lay_out, place_in
from .._scene import Scene, load, parse
from .._simulation import Simulation
from .expressions import Expression, ExpressionError, Value
from .study import OPTIONS, Study

Row = dict[str, Any]


@dataclass(frozen=True)
class Bundle:
    """Everything that the cases of a study have in common; it travels to workers once."""

    main: str  # the scene file, absolute
    files: Mapping[str, bytes]  # contents by absolute path
    simulation: Mapping[str, Value]
    outputs: Mapping[str, str]
    digest: str = field(default="")

    @property
    def in_memory(self) -> bool:
        """Whether the scene is one YAML file, which needs no folder."""
        return len(self.files) == 1 and self.main.endswith((".yaml", ".yml"))

    def key(self, values: Mapping[str, Value]) -> str:
        """The name of a case: of its scene, values, options, outputs and of the program."""
        text = json.dumps([self.digest, sorted(values.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def make_bundle(study: Study, scene: Scene) -> Bundle:
    """The bundle of a study whose scene could be read."""
    main = os.path.realpath(study.scene)
    files = {}
    for path in {main, *(os.path.realpath(f) for f in scene.files)}:
        with open(path, "rb") as file:
            files[path] = file.read()
    here = os.path.dirname(main)
    # Names relative to the scene: the same study elsewhere has the same keys.
    contents = [(os.path.relpath(path, here), hashlib.sha256(data).hexdigest()) for path, data in sorted(files.items())]
    common = [_engine.version(), os.path.basename(main), sorted(contents), sorted(study.simulation.items()), sorted(study.outputs.items())]
    return Bundle(main, files, dict(study.simulation), dict(study.outputs), hashlib.sha256(json.dumps(common).encode()).hexdigest())


class Runner:
    """Runs cases of a bundle in this process. folder: where `lay_out` put its files; without one a scene of one file is read from memory,
    and others from a folder of its own."""

    def __init__(self, bundle: Bundle, folder: Optional[str] = None) -> None:
        self.bundle = bundle
        self._folder = folder or ""
        if folder is None and not bundle.in_memory:
            self._own = tempfile.TemporaryDirectory(prefix="slipstick-")
            self._folder = self._own.name
            lay_out(bundle.files, self._folder)
        self._outputs = {name: Expression(text) for name, text in bundle.outputs.items()}

    def _load(self, numbers: Mapping[str, Value]) -> Scene:
        main = self.bundle.main
        if self.bundle.in_memory:
            return parse(self.bundle.files[main].decode(), set=numbers, name=os.path.basename(main))
        return load(place_in(self._folder, main), set=numbers, allow_path=True)

    def simulation(self, values: Mapping[str, Value]) -> tuple[Simulation, Optional[float]]:
        """The simulation of a case and how long it is to run (None: as the scene says)."""
        chosen = {f"simulation.{k}": v for k, v in self.bundle.simulation.items()}
        chosen.update({k: v for k, v in values.items() if k in OPTIONS})
        numbers = {k: v for k, v in values.items() if k not in OPTIONS}
        scene = self._load(numbers)
        duration = chosen.pop("simulation.duration", None)
        options: dict[str, Any] = {k.split(".")[1]: v for k, v in chosen.items()}
        return Simulation(scene, **options), None if duration is None else float(duration)

    def run(self, values: Mapping[str, Value]) -> Row:
        """The row of a case, without its number. A case that fails is a row too, with its reason."""
        row: Row = dict.fromkeys(self._outputs)
        row.update(status="failed", reason="", seconds=0.0, state_hash="", key=self.bundle.key(values))
        try:
            sim, duration = self.simulation(values)
        except (SceneError, ValueError) as error:
            row["reason"] = self._plain(error)
            return row
        try:
            report = sim.run(duration)
        except MemoryError:
            row["reason"] = "out of memory"
            return row
        except (Diverged, ArithmeticError, ValueError, RuntimeError, OSError) as error:
            row.update(reason=self._plain(error), seconds=sim.time, state_hash=sim.state.hash)
            return row
        row.update(status="done", reason=_doubts(report), seconds=sim.time, state_hash=report["state_hash"])
        self._fill(row, report, values)
        return row

    def _fill(self, row: Row, report: Mapping[str, Any], values: Mapping[str, Value]) -> None:
        names = {**report, **values}
        for name, expression in self._outputs.items():
            try:
                found = expression.value(names)
                if isinstance(found, float) and not math.isfinite(found):
                    raise ExpressionError(f"'{expression.text}' is {found}")
                row[name] = names[name] = found
            except ExpressionError as error:
                row.update(status="failed", reason=f"output {name}: {error}")

    def check_outputs(self, values: Mapping[str, Value]) -> dict[str, str]:
        """What is wrong with outputs whatever the run does: names and keys that no report of this scene has."""
        sim, _ = self.simulation(values)
        names: dict[str, Any] = {**sim.run(0), **values}
        wrong = {}
        for name, expression in self._outputs.items():
            try:
                names[name] = expression.value(names)
            except ExpressionError as error:
                if error.missing:
                    wrong[name] = str(error)
                names[name] = 1.0  # it may have a value after the run: later outputs may name it
        return wrong

    def _plain(self, error: BaseException) -> str:
        """One line, with the files' own names."""
        text = str(error)
        if self._folder:
            text = text.replace(self._folder, "")
        text = text.strip() or type(error).__name__
        here = os.path.dirname(self.bundle.main) + os.sep
        return " | ".join(line.replace(here, "").strip() for line in text.splitlines() if line.strip())[:500]


def _doubts(report: Mapping[str, Any]) -> str:
    uncertified = report["certificate"]["uncertified_steps"]
    return f"{uncertified} of {report['steps']} steps not certified" if uncertified else ""
