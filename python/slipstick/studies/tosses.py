"""Measured tosses of a cube on a table against the engine: mu and e fitted on some tosses, judged on the others.

A toss is a file of t, x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz (SI; angular velocity in the body's frame). The measure is that of the literature: the
run starts one frame before the first possible touch, with the measured state; the error is the mean over the frames of the distance in widths
of the cube, and of the angle between measured and computed orientation."""
from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy as np

from .._scene import Scene, parse
from .._simulation import Simulation
from .measured import Array, DataError, read_columns

HALF = 0.0524  # m, half the width
MASS, INERTIA = 0.37, 8.1e-4  # kg, kg m^2
COLUMNS = "t x y z qw qx qy qz vx vy vz wx wy wz".split()
PARTS = 4  # steps per frame


@dataclass(frozen=True)
class Toss:
    """One toss from one frame before the first possible touch."""

    name: str
    step: float  # s between frames
    position: Array  # (frames, 3) m
    orientation: Array  # (frames, 4) w x y z
    velocity: Array  # (3,) m/s at the first frame
    spin: Array  # (3,) rad/s at the first frame, world axes


@dataclass(frozen=True)
class Method:
    """How the engine is to run a toss."""

    scheme: str
    impact: str

    def __str__(self) -> str:
        return f"{self.scheme}, {self.impact}"


METHODS = (Method("stabilized", "newton"), Method("euler", "poisson"), Method("euler", "newton"), Method("trapezoid", "poisson"),
           Method("trapezoid", "newton"), Method("spook", "newton"))


def rotate(q: Array, v: Array) -> Array:
    """A vector of the body's frame in world axes."""
    w, u = q[0], q[1:]
    turned: Array = v + 2 * np.cross(u, np.cross(u, v) + w * v)
    return turned


def read_toss(path: str) -> Toss:
    """Reads a file; raises DataError with its name and what is wrong."""
    table = read_columns(path, COLUMNS, 3)
    near = np.flatnonzero(table[:, 3] <= np.sqrt(3) * HALF)
    first = max(int(near[0]) - 1, 0) if len(near) else 0
    cut = table[first:]
    q = cut[:, 4:8] / np.linalg.norm(cut[:, 4:8], axis=1)[:, None]
    return Toss(os.path.basename(path), float(np.median(np.diff(table[:, 0]))), cut[:, 1:4], q, cut[0, 8:11], rotate(q[0], cut[0, 11:14]))


def read_tosses(folder: str) -> list[Toss]:
    """All tosses of a folder, in the order of their names."""
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "*.csv")))
    if not paths:
        raise DataError(f"{folder}: has no tosses (*.csv with {', '.join(COLUMNS)})")
    return [read_toss(path) for path in paths]


def _list(values: Iterable[float]) -> str:
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"


def make_scene(toss: Toss, mu: float, e: float, method: Method) -> Scene:
    """The scene of a toss."""
    return parse(f"""slipstick: 1
name: toss
materials: {{default: {{friction: {mu!r}, restitution: {e!r}}}}}
bodies:
  - {{name: table, fixed: true, shapes: [{{plane: {{normal: [0, 0, 1]}}}}]}}
  - name: cube
    mass: {MASS}
    inertia: [{INERTIA}, {INERTIA}, {INERTIA}]
    position: {_list(toss.position[0])}
    orientation: {_list(toss.orientation[0])}
    velocity: {_list(toss.velocity)}
    angular_velocity: {_list(toss.spin)}
    shapes: [{{box: {{size: [{2 * HALF}, {2 * HALF}, {2 * HALF}]}}}}]
simulation: {{step: {toss.step / PARTS!r}, scheme: {method.scheme}, impact: {method.impact}, duration: 100}}
""", name="toss.yaml")


def play(toss: Toss, mu: float, e: float, method: Method) -> tuple[Array, Array]:
    """Positions and orientations at the frames of a toss."""
    sim = Simulation(make_scene(toss, mu, e, method))
    cube = sim.body("cube")
    position, orientation = np.empty_like(toss.position), np.empty_like(toss.orientation)
    for frame in range(len(position)):
        if frame:
            sim.step(PARTS)
        position[frame], orientation[frame] = cube.position, cube.orientation
    return position, orientation


def errors(toss: Toss, played: tuple[Array, Array]) -> tuple[float, float]:
    """Mean distance in percent of the width, mean angle in degrees."""
    distance = np.linalg.norm(played[0] - toss.position, axis=1).mean() / (2 * HALF)
    cosine = np.abs((played[1] * toss.orientation).sum(axis=1)).clip(0, 1)
    return 100 * float(distance), float(np.degrees(2 * np.arccos(cosine)).mean())


def judge(tosses: Sequence[Toss], mu: float, e: float, method: Method) -> Array:
    """(tosses, 2): errors of each."""
    return np.array([errors(toss, play(toss, mu, e, method)) for toss in tosses])


def per_toss(found: Array) -> Array:
    """What is fitted: both errors of each toss, by the sizes that are usual for them (10 %, 15 degrees)."""
    weighed: Array = found[:, 0] / 10 + found[:, 1] / 15
    return weighed


def summary(found: Array) -> dict[str, Any]:
    """Means and their standard errors."""
    spread = found.std(axis=0, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.zeros(2)
    return {"position": float(found[:, 0].mean()), "position_error": float(spread[0]), "angle": float(found[:, 1].mean()),
            "angle_error": float(spread[1]), "tosses": len(found)}
