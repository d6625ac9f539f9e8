"""What a scheme makes of a cell: orders of its poses against the reference, energies against the reference's, certificates."""
import json
import math
import time

import numpy as np
import slipstick as ss

from reference import rotation
from reference_flow import Flow

STEPS = [1 / 100, 1 / 200, 1 / 400, 1 / 800]
AXES = {"turn": "rz", "slide": "z", "first": "rz", "second": "rx", "suspension": "z", "steer": "rz", "spin": "rx"}  # names of the engine
ENERGY_STEP, ENERGY_TIME = 1 / 200, 20.0
PATIENCE = 3.0  # s of CPU for a run


def scene_text(scene):
    return json.dumps({key: value for key, value in scene.items() if key not in ("reference", "instead", "input", "law")})


def reference_scene(scene):
    out = dict(scene)
    out.update(out.pop("instead", {}))
    if "input" in out:
        push = {key: value for key, value in out["input"].items()}
        out["forces"] = list(out["forces"]) + [{"load": push}]
    return out


def turn_between(p, q):
    """The angle between two orientations, rad."""
    d = abs(float(p @ q) / math.sqrt(float(p @ p) * float(q @ q)))
    c = float(np.linalg.norm(p - q if p @ q > 0 else p + q))
    return 2 * c if c < 1e-4 else 2 * math.acos(min(1.0, d))


class Known:
    """The reference of a cell, at the end and at the time of its energy; computed once."""

    def __init__(self, cell):
        self.cell, self.flow = cell, Flow(reference_scene(cell.scene))
        flow = self.flow
        self.start = flow.energy(flow.y)
        self.scale = self._scale()
        stops = sorted({cell.time, cell.lossy or cell.time})
        self.states = {}
        for stop in stops:
            for part in np.linspace(flow.t, stop, 21)[1:]:
                flow.run(part)
                self.scale = max(self.scale, self._scale())
            self.states[stop] = flow.y.copy()
        self.energies = {stop: flow.energy(y) for stop, y in self.states.items()}

    def _scale(self):
        """What an error of energy is held against: the energy that moves."""
        flow = self.flow
        still = flow.y.copy()
        still[7 * (flow.n - 1):13 * (flow.n - 1)] = 0
        return max(flow.energy(flow.y) - flow.energy(still), 1e-3)

    def state_of(self, sim):
        """The numbers of a simulation of the engine as a state of the reference."""
        flow = self.flow
        k = [sim.scene.body_index(b["name"]) for b in flow.given]
        q = np.array(sim.orientation[k])
        w = np.array(sim.angular_velocity[k])
        arms = np.array([rotation(q[i]) @ flow.offset[i + 1] for i in range(len(k))])
        x, v = sim.position[k] + arms, sim.velocity[k] + np.cross(w, arms)
        axes = np.full(len(flow.start), math.nan)  # of joints that only the reference has
        for name, numbers in flow.joints.items():
            if numbers and name in sim.scene.joints:
                found = {a.name: a.position for a in sim.joint(name).axes}
                for axis, number in numbers.items():
                    axes[number] = found.get(AXES.get(axis, axis), math.nan)
        return np.concatenate([x.ravel(), q.ravel(), v.ravel(), w.ravel(), axes])

    def pose_error(self, y, stop):
        n, known = self.flow.n - 1, self.states[stop]
        worst = 0.0
        for i in range(n):
            if "kinematic" in self.flow.given[i]:
                continue
            worst = max(worst, float(np.linalg.norm(y[3 * i:3 * i + 3] - known[3 * i:3 * i + 3])))
            at = slice(3 * n + 4 * i, 3 * n + 4 * i + 4)
            worst = max(worst, turn_between(y[at], known[at]))
        coordinates = np.abs(y[13 * n:] - known[13 * n:])
        return max(worst, float(coordinates[~np.isnan(coordinates)].max(initial=0)))


class Verdict:
    """order: measured; errors by step; gain: energy above the reference's over the moving one; uncertified steps; note."""

    def __init__(self):
        self.order, self.errors, self.gain, self.early, self.gains = 0.0, [], 0.0, 0.0, []
        self.uncertified, self.refused, self.note = 0, None, ""


def simulation(cell, options, step):
    scene = ss.parse(scene_text(cell.scene))
    given = dict(cell.scene.get("law", {}))
    given.update(options)
    if "accuracy" in given:
        return ss.Simulation(scene, step=STEPS[0], **given)
    return ss.Simulation(scene, step=step, **given)


class TooDear(Exception):
    """A run that takes more than PATIENCE."""


def run(sim, cell, duration):
    push = cell.scene.get("input")
    controller = (lambda s: s.apply(push["body"], force=push["force"])) if push else None
    start, end, uncertified, health = time.process_time(), sim.time + duration, 0, None
    while True:
        report = sim.run(min(end - sim.time, 0.1), controller=controller)
        uncertified += report["certificate"]["uncertified_steps"]
        health = health or (None if report["health"]["ok"] else report["health"])
        if end - sim.time < 0.25 * sim.step_size:
            break
        if time.process_time() - start > PATIENCE:
            raise TooDear(f"{PATIENCE} s of work up to t = {sim.time:.3g} s")
    report["certificate"]["uncertified_steps"] = uncertified
    report["health"] = health or report["health"]
    return report


def slope(steps, errors):
    x, y = np.log(steps), np.log(np.maximum(errors, 1e-300))
    return float(np.polyfit(x, y, 1)[0])


def watch(report, out):
    out.uncertified += report["certificate"]["uncertified_steps"]
    if not report["health"]["ok"]:
        out.note = "alarm: " + ", ".join(sorted({a["kind"] for a in report["health"]["alarms"]}))


def judge_lossy(cell, options, known, out):
    """Where the reference's own energy changes: at one instant, with three steps."""
    for step in STEPS[:1] if "accuracy" in options else STEPS[1:]:
        sim = simulation(cell, options, step)
        watch(run(sim, cell, cell.lossy), out)
        out.gains.append((known.flow.energy(known.state_of(sim)) - known.energies[cell.lossy]) / known.scale)
    out.gain = out.gains[-1]


def judge_kept(cell, options, known, out, step=ENERGY_STEP):
    """Where the energy is kept: means over two seconds, so that velocities that stand half a step beside their poses, and the swing of
    a step that does not drift, do not count. `gain`: of the last two of twenty against the start; `early`: of the first two."""
    sim = simulation(cell, options, step)
    flow, moving, means = known.flow, known.scale, []
    for wait in (0, ENERGY_TIME - 4):
        if wait:
            watch(run(sim, cell, wait), out)
        seen = []
        for _ in range(40):
            watch(run(sim, cell, 0.05), out)
            y = known.state_of(sim)
            still = y.copy()
            still[7 * (flow.n - 1):13 * (flow.n - 1)] = 0
            seen.append(flow.energy(y))
            moving = max(moving, seen[-1] - flow.energy(still))
        means.append(float(np.mean(seen)))
    out.gain, out.early = (means[1] - known.start) / moving, (means[0] - known.start) / moving
    out.gains = [out.gain]


def refine(cell, options, known, out):
    """Two halved steps more, where an order is not what it should be: it may come with them, or not."""
    for k in (1, 2):
        sim = simulation(cell, options, STEPS[-1] / 2**k)
        watch(run(sim, cell, cell.time), out)
        out.errors.append(known.pose_error(known.state_of(sim), cell.time))
    out.order = slope(STEPS[:3], out.errors[-3:])


def judge(cell, options, known):
    out = Verdict()
    try:
        for step in STEPS[:1] if "accuracy" in options else STEPS:
            sim = simulation(cell, options, step)
            watch(run(sim, cell, cell.time), out)
            out.errors.append(known.pose_error(known.state_of(sim), cell.time))
        if len(out.errors) > 1:
            out.order = max(slope(STEPS, out.errors), slope(STEPS[1:], out.errors[1:]))
        (judge_lossy if cell.lossy else judge_kept)(cell, options, known, out)
    except ss.SceneError as fault:
        out.refused = str(fault).splitlines()[0]
    except TooDear as dear:
        out.note = f"too dear: {dear}"
    except ss.Diverged:
        out.note = "diverged"
    return out
