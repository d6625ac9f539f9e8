"""The same tosses in MuJoCo (Debian's libmujoco), through a small program of this project (bench/peers/mujoco_tosses.cpp)."""
from __future__ import annotations

import os
import subprocess
from typing import Optional, Sequence

import numpy as np

from .measured import Array
from .tosses import HALF, INERTIA, MASS, PARTS, Toss, errors

TIME_CONSTANT = 0.004  # s: MuJoCo wants at least two steps


def find_program() -> Optional[str]:
    """The program, beside the package in a build tree, or named by SLIPSTICK_MUJOCO_TOSSES."""
    named = os.environ.get("SLIPSTICK_MUJOCO_TOSSES")
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in (named, os.path.join(package, "..", "..", "slipstick_peer_mujoco_tosses")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def judge(program: str, tosses: Sequence[Toss], mu: float, ratio: float) -> Array:
    """(tosses, 2): errors of each."""
    lines = []
    for toss in tosses:
        numbers = [mu, ratio, TIME_CONSTANT, HALF, MASS, INERTIA, toss.step, PARTS, len(toss.position), *toss.position[0],
                   *toss.orientation[0], *toss.velocity, *toss.spin]
        lines.append(" ".join(repr(float(x)) if i not in (7, 8) else str(x) for i, x in enumerate(numbers)))
    done = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    found = []
    for toss, line in zip(tosses, done.stdout.splitlines()):
        frames = np.array(line.split(), dtype=np.float64).reshape(len(toss.position), 7)
        found.append(errors(toss, (frames[:, :3], frames[:, 3:])))
    return np.array(found)
