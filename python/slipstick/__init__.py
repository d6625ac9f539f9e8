"""Slipstick: rigid bodies with joints, hard contact, impact and dry friction; every step carries a certificate.

    import slipstick as ss

    scene = ss.load("scenes/stack.yaml", set={"n": 20})
    sim = ss.Simulation(scene, step=1/200)
    report = sim.run(2, record="run.h5")
    print(sim.body("cube_0").position, report["certificate"]["residual_max"])

SI units, right-handed frames, Z up unless the scene's gravity says otherwise, quaternions (w, x, y, z). Positions,
velocities and angular velocities are of a body's own frame, in world axes. The guide is docs/python.md.
"""
from . import _engine
from ._engine import State, StepReport
from ._builder import (Builder, box, capsule, cone, cylinder, disk, ellipsoid, hull, mesh, plane, polygon, sphere)
from ._errors import Diverged, Error, Fault, RecordingError, SceneError, UnknownName, ViewerMissing
from ._recording import Page, Recording, open
from ._rollout import Rollout, rollout
from ._scene import Scene, load, parse
from ._simulation import Body, Energy, Event, Joint, JointAxis, Motor, Simulation

State.__doc__ = """Everything that decides what happens next, as a value: it pickles, hashes (`hash` as text, as in reports) and compares.

Positions, orientations (w x y z), velocities and angular velocities are copies, of the bodies' own frames, in world axes."""
StepReport.__doc__ = """What a step says about itself: certified, residual (m/s), penetration (m), joint_error (m or rad), ledger (J by cause),
iterations, escalations, contacts, rows, islands, events, seconds, and note: why it is not certified."""

__version__: str = _engine.version()

__all__ = [
    "Body", "Builder", "Diverged", "Energy", "Error", "Event", "Fault", "Joint", "JointAxis", "Motor", "Page", "Recording",
    "RecordingError", "Rollout", "Scene", "SceneError", "Simulation", "State", "StepReport", "UnknownName",
    "ViewerMissing", "box", "capsule", "cone", "cylinder", "disk", "ellipsoid", "hull", "load", "mesh", "open", "parse",
    "plane", "polygon", "rollout", "sphere",
]
