"""Measured planar impacts of an ellipse on a table against the engine's impact laws: mu and e fitted on some impacts, judged on the others.

A row is the state before (xi, yi, thi, vxi, vyi, wi), after (xf ... wf), and the impulse that explains it best, along the table (pt) and normal (pn); SI. In these
data x runs against the sense of the angle (pt is opposite to m dv_x, and the moments agree only so), so x is mirrored here. The measure is that of the
literature: the distance between computed and measured impulse, relative to the measured one; the median over the impacts."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._scene import Scene, parse
from .._simulation import Simulation
from .measured import Array, read_columns
from .tosses import Method

MASS = 0.0364  # kg
AXES = (0.07, 0.05)  # m, half axes: with them every measured ellipse stands on the table within 0.03 mm
COLUMNS = "xi yi thi vxi vyi wi xf yf thf vxf vyf wf pt pn".split()
METHODS = (Method("stabilized", "newton"), Method("euler", "newton"), Method("euler", "poisson"), Method("spook", "newton"))
_STEP = 1e-6  # s: so short that nothing but the impact counts
_STEPS = 4


def read_impacts(path: str) -> Array:
    """(impacts, 14) in the order of COLUMNS. A folder stands for the file ellipse_impacts.csv in it."""
    if os.path.isdir(path):
        path = os.path.join(path, "ellipse_impacts.csv")
    return read_columns(path, COLUMNS, 4)


def contact_arm(theta: Array) -> tuple[Array, Array]:
    """From the centre to the lowest point of the ellipse, m."""
    c, s = np.cos(theta), np.sin(theta)
    a, b = AXES
    along, across = -a * a * s, -b * b * c
    length = np.hypot(a * s, b * c)
    return (c * along - s * across) / length, (s * along + c * across) / length


def gyration(impacts: Array) -> float:
    """The radius of gyration that the data themselves have: moment of the measured impulse over mass and change of spin; the median."""
    x, y = contact_arm(impacts[:, 2])
    moment = x * impacts[:, 13] - y * impacts[:, 12]
    turned = impacts[:, 11] - impacts[:, 5]
    good = np.abs(turned) > 1
    return float(np.sqrt(np.median(moment[good] / turned[good]) / MASS))


def make_scene(method: Method) -> Scene:
    """An ellipse that touches the table; the plane of the motion is x, z."""
    return parse(f"""slipstick: 1
name: ellipse impact
let: {{mu: 0.2, e: 0.5, theta: 0, height: 0.05, vx: 0, vz: -1, w: 0, rho: 0.03}}
gravity: [0, 0, 0]
materials: {{default: {{friction: mu, restitution: e}}}}
bodies:
  - {{name: table, fixed: true, shapes: [{{plane: {{normal: [0, 0, 1]}}}}]}}
  - name: ellipse
    mass: {MASS}
    inertia: [{MASS}*rho^2, {MASS}*rho^2, {MASS}*rho^2]
    position: [0, 0, height]
    orientation: {{axis: [0, -1, 0], angle_deg: theta/deg}}
    velocity: [vx, 0, vz]
    angular_velocity: [0, -w, 0]
    lock: [y, rx, rz]
    shapes: [{{ellipsoid: {{size: [{2 * AXES[0]}, 0.1, {2 * AXES[1]}]}}}}]
simulation: {{step: {_STEP}, scheme: {method.scheme}, impact: {method.impact}, restitution_threshold: 1e-3, duration: 1}}
""", name="ellipse.yaml")


def play(row: Array, mu: float, e: float, rho: float, text: str) -> Array:
    """The impulse (along the table, normal) that the engine finds for an impact."""
    _, y = contact_arm(row[2:3])
    values = {"mu": mu, "e": e, "rho": rho, "theta": float(row[2]), "height": float(-y[0]), "vx": float(-row[3]), "vz": float(row[4]),
              "w": float(row[5])}
    sim = Simulation(parse(text, set=values, name="ellipse.yaml"))
    before = sim.body("ellipse").velocity.copy()
    sim.step(_STEPS)
    change: Array = MASS * (sim.body("ellipse").velocity - before)
    return change[[0, 2]]


def errors(impacts: Array, mu: float, e: float, rho: float, method: Method) -> Array:
    """The relative error of each impulse."""
    text = make_scene(method).text
    found = np.array([play(row, mu, e, rho, text) for row in impacts])
    measured = impacts[:, 12:14]
    distance: Array = np.linalg.norm(found - measured, axis=1) / np.linalg.norm(measured, axis=1)
    return distance


def summary(found: Array, seed: int = 1) -> dict[str, Any]:
    """The median in percent, and its standard error by bootstrap."""
    stream = np.random.Generator(np.random.PCG64(seed))
    medians = [np.median(found[stream.integers(0, len(found), len(found))]) for _ in range(400)]
    return {"median": 100 * float(np.median(found)), "median_error": 100 * float(np.std(medians)), "impacts": len(found)}
