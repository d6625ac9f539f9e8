"""Runs: many steps with a controller, a recording and a progress line."""
from __future__ import annotations

import json
import numbers
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _engine
from ._scene import PathLike

if TYPE_CHECKING:
    from ._simulation import Simulation

_COMPLETE, _INTERRUPTED, _FAILED = 0, 1, 2
_LOOK = 0.1  # s between looks at the keyboard and lines of progress


class _Progress:
    """One line on stderr: rewritten on a terminal, and else a line every few seconds."""

    def __init__(self, on: bool, total: int) -> None:
        self._on, self._total, self._start = on, total, time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._next = self._start + (0 if self._terminal else 5)

    def show(self, done: int, simulated: float, last: bool = False) -> None:
        now = time.monotonic()
        if not self._on or (now < self._next and not last):
            return
        self._next = now + (_LOOK if self._terminal else 5)
        left = (now - self._start) * (self._total - done) / max(done, 1)
        line = f"{100 * done // max(self._total, 1):3d} %  t = {simulated:.3f} s  {left:.0f} s left"
        print("\r" + line if self._terminal else line, end="" if self._terminal and not last else "\n", file=sys.stderr,
              flush=True)


def _check_record(sim: Simulation, record: Optional[PathLike]) -> str:
    if record is None:
        return ""
    path = os.fspath(record)
    for used in sim.scene.files:
        if os.path.exists(path) and os.path.exists(used) and os.path.samefile(path, used):
            raise ValueError(f"record={path!r} would replace a file of the scene; name another one")
    return path


def run(sim: Simulation, duration: Optional[float], controller: Optional[Callable[[Simulation], object]],
        record: Optional[PathLike], progress: bool) -> dict[str, Any]:
    """Simulation.run."""
    if duration is None:
        duration = max(float(sim._core.options()[1]) - sim.time, 0.0)
    if not isinstance(duration, numbers.Real) or not 0 <= duration < float("inf"):
        raise ValueError(f"run(duration): must be a time in seconds, not {duration!r}")
    if controller is not None and not callable(controller):
        raise TypeError("controller must be a function of the simulation")
    total = sim._core.steps_in(duration)
    runner = _engine.Runner(sim._core, _check_record(sim, record), " ".join(sys.argv) or "python")
    bar = _Progress(progress, total)
    start = time.monotonic()
    done, end = 0, _FAILED
    try:
        while done < total:
            if controller is None:
                done += runner.advance(total - done, _LOOK)
            else:
                _control(sim, controller)
                done += runner.advance(1, _LOOK)
            bar.show(done, sim.time)
        end = _COMPLETE
    except KeyboardInterrupt:
        end = _INTERRUPTED
        raise
    finally:
        runner.close(end)
        bar.show(done, sim.time, last=True)
    report: dict[str, Any] = json.loads(runner.report(time.monotonic() - start))
    return report


def _control(sim: Simulation, controller: Callable[[Simulation], object]) -> None:
    """One call of the controller; where it raises, nothing that it set or applied stays."""
    before = sim._core.inputs()
    try:
        controller(sim)
    except BaseException:
        sim._core.set_inputs(before)
        raise
