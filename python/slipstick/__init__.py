"""Slipstick: rigid bodies with joints, hard contact, impact and dry friction; every step carries a certificate.

    import slipstick as ss

    scene = ss.load("scenes/stack.yaml", set={"n": 20})
    sim = ss.Simulation(scene, step=1/200)
    report = sim.run(2, record="run.h5")
    print(sim.body("cube_0").position, report["certificate"]["residual_max"])

SI units, right-handed frames, Z up unless the scene's gravity says otherwise, quaternions (w, x, y, z). Positions,
velocities and angular velocities are of a body's own frame, in world axes. The guide is docs/python.md.
"""
import inspect
from typing import Iterable

from . import _engine, _html
from ._engine import State, StepReport
from ._builder import (Builder, box, capsule, cone, cylinder, disk, ellipsoid, hull, mesh, plane, polygon, sphere)
from ._env import Env, Space
from ._errors import Diverged, Error, Fault, RecordingError, SceneError, UnknownName, ViewerMissing
from ._problem import Answer, Certificate, Problem, SolverFailures, load_problem, solve
from ._recording import LiveView, Page, Recording, open
from ._rollout import Rollout, rollout
from ._scene import Scene, load, parse
from ._simulation import Body, Energy, Event, Joint, JointAxis, Motor, Simulation
from .studies.sweep import sweep

State.__doc__ = """Everything that decides what happens next, as a value: it pickles, hashes (`hash` as text, as in reports) and compares.

Positions, orientations (w x y z), velocities and angular velocities are copies, of the bodies' own frames, in world axes."""
StepReport.__doc__ = """What a step says about itself: certified, residual (m/s), penetration (m), joint_error (m or rad), ledger (J by cause),
iterations, escalations, contacts, rows, islands, events, seconds, and note: why it is not certified."""

__version__: str = _engine.version()

__all__ = [
    "Answer", "Body", "Builder", "Certificate", "Diverged", "Energy", "Env", "Error", "Event", "Fault", "Joint",
    "JointAxis", "LiveView", "Motor", "Page", "Problem", "Recording", "RecordingError", "Rollout", "Scene",
    "SceneError", "Simulation", "SolverFailures", "Space", "State", "StepReport", "UnknownName", "ViewerMissing",
    "box", "capsule", "cone", "cylinder", "disk", "ellipsoid", "hull", "load", "load_problem", "mesh", "open",
    "parse", "plane", "polygon", "rollout", "solve", "sphere", "sweep",
]


class _Text(str):
    """An annotation that `help` shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _unquote(functions: Iterable[object]) -> None:
    for function in functions:
        target = getattr(function, "fget", None) or getattr(function, "__func__", function)
        if inspect.isfunction(target):
            target.__annotations__ = {name: _Text(said) if isinstance(said, str) else said
                                      for name, said in target.__annotations__.items()}


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__"])


def _show_report(report: StepReport) -> str:
    """A notebook's view of a step."""
    return _html.table("Step", [("certified", "yes" if report.certified else f"no: {report.note}"),
                                ("residual", f"{report.residual:.3g} m/s"), ("penetration", f"{report.penetration:.3g} m"),
                                ("joint error", f"{report.joint_error:.3g} m or rad"), ("contacts", report.contacts)])


setattr(StepReport, "_repr_html_", _show_report)
for _name in __all__:
    _value = globals()[_name]
    _unquote(vars(_value).values() if isinstance(_value, type) else [_value])
