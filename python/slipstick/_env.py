"""Environments for learning: Gymnasium's interface as plain arrays, without depending on it."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._scene import Scene
from ._simulation import Simulation

Array = npt.NDArray[np.float64]


class Space:
    """A box of numbers between `low` and `high`."""

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        self.low: Array = np.atleast_1d(np.asarray(low, dtype=np.float64))
        self.high: Array = np.atleast_1d(np.asarray(high, dtype=np.float64))
        if self.low.shape != self.high.shape or not bool(np.all(self.low <= self.high)):
            raise ValueError("a Space needs low and high of the same length, low not above high")
        self.shape = self.low.shape
        self.dtype = np.dtype(np.float64)

    def sample(self, rng: Optional[np.random.Generator] = None) -> Array:
        """A point of the space; where it has no end, between -1 and 1."""
        low, high = np.where(np.isfinite(self.low), self.low, -1.0), np.where(np.isfinite(self.high), self.high, 1.0)
        return (rng or np.random.default_rng()).uniform(low, high)

    def contains(self, point: npt.ArrayLike) -> bool:
        """Whether a point lies in it."""
        array = np.asarray(point, dtype=np.float64)
        return array.shape == self.shape and bool(np.all((array >= self.low) & (array <= self.high)))


class Env:
    """A task on a scene. Make a class of it and say what is observed, done and rewarded:

        class Balance(ss.Env):
            def act(self, action): self.sim.motor("rail").torque = action[0]
            def observe(self): return np.concatenate([self.sim.joint_position, self.sim.joint_velocity])
            def reward(self): return 1.0
            def terminated(self): return abs(self.sim.joint("pivot").position) > 0.2

        env = Balance(scene, actions=ss.Space([-10], [10]), observations=ss.Space([-np.inf] * 4, [np.inf] * 4))
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

    Actions are clipped to their space, and `info["clipped"]` says so. A step without a finite answer ends the episode with
    `info["diverged"]`. The same seed and actions give the same bits.
    """

    def __init__(self, scene: Scene, *, actions: Space, observations: Space, steps_per_action: int = 1, max_actions: int = 1000,
                 **options: Any) -> None:
        self.sim = Simulation(scene, **options)
        self.action_space = actions
        self.observation_space = observations
        self.rng = np.random.default_rng()
        self.steps_per_action = steps_per_action
        self.max_actions = max_actions
        self.actions_made = 0

    # ------------------------------------------------------------------ what a task says

    def act(self, action: Array) -> None:
        """Sets motors and forces; called before every step of an action."""
        raise NotImplementedError

    def observe(self) -> Array:
        """What is seen of the present state."""
        raise NotImplementedError

    def reward(self) -> float:
        """What the last action earned."""
        raise NotImplementedError

    def terminated(self) -> bool:
        """The task is won or lost."""
        return False

    def start(self) -> None:
        """Called after a reset to the initial state: pushes, drawn from `self.rng`, to begin elsewhere."""

    # ------------------------------------------------------------------ Gymnasium's interface

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Array, dict[str, Any]]:
        """A new episode: (observation, info)."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.sim.reset()
        self.actions_made = 0
        self.start()
        return self.observe().copy(), {}

    def step(self, action: npt.ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One action: (observation, reward, terminated, truncated, info)."""
        from ._errors import Diverged

        wanted = np.asarray(action, dtype=np.float64)
        if wanted.shape != self.action_space.shape or not np.isfinite(wanted).all():
            raise ValueError(f"an action must be {self.action_space.shape} finite numbers, not {action!r}")
        clipped = np.clip(wanted, self.action_space.low, self.action_space.high)
        info: dict[str, Any] = {"clipped": bool((clipped != wanted).any()), "diverged": False, "certified": True}
        for _ in range(self.steps_per_action):
            self.act(clipped)
            try:
                info["certified"] = self.sim.step().certified and info["certified"]
            except Diverged:
                info["diverged"] = True
                break
        self.actions_made += 1
        ended = info["diverged"] or self.terminated()
        return self.observe().copy(), float(self.reward()), ended, not ended and self.actions_made >= self.max_actions, info

    def close(self) -> None:
        """Nothing to close; here because Gymnasium has it."""
