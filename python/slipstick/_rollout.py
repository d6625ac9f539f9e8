"""Many independent runs of one scene at a time."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _engine
from ._engine import State
from ._scene import Scene
from ._text import as_yaml

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Rollout:
    """What a batch of runs did, step by step; the first row of a run is the end of its first step.

    All positions and velocities are of the bodies' own frames, in world axes. What comes after a step that has no
    finite answer is NaN, and `notes` says why.
    """

    time: Array  # (runs, steps), s
    position: Array  # (runs, steps, bodies, 3), m
    orientation: Array  # (runs, steps, bodies, 4), w x y z
    velocity: Array  # (runs, steps, bodies, 3), m/s
    angular_velocity: Array  # (runs, steps, bodies, 3), rad/s
    joint_position: Array  # (runs, steps, joints), rad or m
    joint_velocity: Array  # (runs, steps, joints)
    certified: npt.NDArray[np.bool_]  # (runs, steps)
    residual: Array  # (runs, steps), m/s
    states: list[State]  # where each run ended
    notes: list[str]  # why a run failed; empty: it did not

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Which runs ended early."""
        return np.array([note != "" for note in self.notes], dtype=np.bool_)

    def __repr__(self) -> str:
        runs, steps = self.time.shape
        return (f"<slipstick.Rollout of {runs} runs of {steps} steps: {int(np.count_nonzero(self.certified))} of {runs * steps} steps "
                f"certified, {int(np.count_nonzero(self.failed))} runs failed>")


def rollout(scene: Scene, states: Union[State, Sequence[State], None] = None, controls: Optional[npt.ArrayLike] = None,
            *, steps: Optional[int] = None, threads: int = 1, control: str = "target", **options: Any) -> Rollout:
    """Runs a scene from many states, or with many controls, or both, on several threads; the same bits for any number.

    states: where the runs begin; one, or None (the scene's initial state), for all. controls: (runs, steps, motors), in
    the order of `scene.motors`; a missing first axis means the same for all runs. control: "target" (rad, m, rad/s or m/s,
    as each motor drives) or "torque" (N m or N). steps: how many, where there are no controls. Options are those of
    `Simulation`: step, scheme, solver ...
    """
    if callable(options.get("solver")):
        raise TypeError("rollout takes solvers by name: many threads cannot share a function of Python")
    if control not in ("target", "torque"):
        raise ValueError(f"control must be 'target' or 'torque', not {control!r}")
    starts = [scene.initial] if states is None else [states] if isinstance(states, State) else list(states)
    if not all(isinstance(state, State) for state in starts):
        raise TypeError("rollout(states): one slipstick.State, or a list of them; Simulation.state and Scene.initial are such")
    if not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads must be a whole number from 1, not {threads!r}")
    motors = len(scene.motors)
    table: Optional[Array] = None
    if controls is not None:
        table = np.asarray(controls, dtype=np.float64)
        if table.ndim == 2:
            table = table[np.newaxis]
        if table.ndim != 3 or table.shape[2] != motors:
            raise ValueError(f"controls must have the shape (runs, steps, {motors}): one column for each of {scene.motors}; "
                             f"not {np.shape(controls)}")
        if steps is not None and steps != table.shape[1]:
            raise ValueError(f"steps = {steps}, but the controls are for {table.shape[1]} steps")
        steps = table.shape[1]
    if steps is None or steps < 1:
        raise ValueError("say how many steps there are to be: steps=100, or controls")
    runs = max(len(starts), 1 if table is None else table.shape[0])
    if len(starts) == 1:
        starts = starts * runs
    if table is not None:
        table = np.ascontiguousarray(np.broadcast_to(table, (runs, *table.shape[1:]))) if table.shape[0] in (1, runs) else table
        if table.shape[0] != len(starts):
            raise ValueError(f"{len(starts)} states, but controls for {table.shape[0]} runs")
    return Rollout(*_engine.rollout(scene._box, as_yaml(options), list(options), starts, table, steps,
                                    control == "torque", threads))
