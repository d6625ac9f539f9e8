"""`recheck`: recordings of sound runs hold, and no recording with one falsified number passes."""
import importlib.util
import io
import os
import pathlib
import random
import subprocess
import unittest

import h5py
import numpy as np

from cli_support import BINARY, GOOD, SCENES, CliTest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "python/slipstick/recheck.py"
spec = importlib.util.spec_from_file_location("recheck", SCRIPT)
recheck = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recheck)

SPINNING = """
slipstick: 1
materials: {default: {friction: 0.3, restitution: 0.8}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - name: box
    density: 1000
    position: [0, 0, 0.5]
    velocity: [1, 0.3, -2]
    angular_velocity: [3, 5, 2]
    shapes: [{box: {size: [0.2, 0.3, 0.1]}}]
  - name: ball
    density: 1000
    position: [1, 0, 0.4]
    velocity: [-1, 0.3, -2]
    angular_velocity: [3, 5, 2]
    shapes: [{sphere: {radius: 0.1}}]
simulation: {duration: 0.5, step: 1/100}
"""
RUNS = {  # scene: its arguments; joints, springs, loads, motors, impacts, slip, rolling, located events, divided steps
    "double_pendulum": ["--duration", "0.1"],
    "chain": ["--duration", "0.2"],
    "motor_arm": ["--duration", "0.3"],
    "wheel_loader": ["--duration", "0.02"],
    "cannonball": ["--duration", "5"],
    "free_top": ["--duration", "0.1"],
    "bowl_feeder": ["--duration", "0.03"],
    "spinning": [],  # bounces within its steps
    "stack": ["--set", "n=4", "--duration", "0.2"],
    "bouncing_ball": ["--step", "1/100", "--duration", "0.6"],
    "newtons_cradle": ["--step", "1/200", "--duration", "0.5"],
    "slider_crank": ["--duration", "0.1"],
    "incline": ["--duration", "0.3"],
    "dominoes": ["--duration", "0.15"],
    "sliding_sphere": ["--duration", "0.3"],
    "tumbling_body": ["--duration", "0.1"],
    "stick_slip_block": ["--duration", "0.3"],
}
FALSIFIED = int(os.environ.get("SLIPSTICK_FALSIFIED", "60"))
NUMBERS = [f"parts/{name}" for name in ("time", "length", "pose_before", "pose_after", "velocity_before", "velocity_after", "velocity_solved",
                                        "gravity", "load", "lock", "added", "links/on_a", "links/on_b")] + \
          [f"parts/contacts/{name}" for name in ("point_a", "point_b", "normal", "impulse", "moment", "gap", "friction", "asked", "time")] + \
          ["time", "pose", "velocity", "contacts/impulse"]


def scale_of(h5, name):
    """The largest number of the column; of one that is nothing but rounding, the largest of its kind."""
    kinds = {"time": "time", "length": "time", "pose": "pose", "point": "pose", "gap": "pose", "velocity": "velocity", "asked": "velocity",
             "lock": "impulse", "added": "impulse", "gravity": "impulse", "load": "impulse", "on_": "impulse", "impulse": "impulse", "moment": "impulse"}
    of = {"time": ["time"], "pose": ["pose"], "velocity": ["velocity", "parts/velocity_after"],
          "impulse": ["parts/gravity", "parts/contacts/impulse", "parts/links/on_a", "parts/links/on_b"]}
    own = np.max(np.abs(h5[name][:]), initial=0)
    kind = next((kind for word, kind in kinds.items() if name.split("/")[-1].startswith(word)), None)
    whole = max((np.max(np.abs(h5[other][:]), initial=0) for other in of.get(kind, [])), default=0)
    if kind == "velocity":  # what rests has speeds that are nothing but rounding
        whole = max(whole, np.linalg.norm(h5.attrs["gravity"]) * h5.attrs["step"])
    return own if own > 1e-2 * whole else whole


def judge(data):
    """Whether the recording holds, and the names of what does not."""
    with h5py.File(io.BytesIO(data), "r") as file:
        check = recheck.Recheck(file)
        good = check.run()
        return good, {name: value for name, value in check.worst.items() if not value[0] <= recheck.LIMITS[name][0]}


class Recheck(CliTest):
    def record(self, scene, *arguments):
        path = self.write(SPINNING) if scene == "spinning" else SCENES / f"{scene}.yaml"
        self.call("run", path, "-q", "-o", "run.h5", "--all", *arguments)
        return (self.folder / "run.h5").read_bytes()

    def test_sound_runs_hold(self):
        for scene, arguments in RUNS.items():
            with self.subTest(scene=scene):
                self.record(scene, *arguments)
                done = subprocess.run([BINARY, "recheck", "run.h5"], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertIn("ok   momentum", done.stdout)

    def test_every_falsified_number_is_found(self):
        rng = random.Random(1)
        share = -(-FALSIFIED // len(RUNS))
        for scene, arguments in RUNS.items():
            data = self.record(scene, *arguments)
            for _ in range(share):
                file = io.BytesIO(data)
                with h5py.File(file, "r+") as h5:
                    name = rng.choice([name for name in NUMBERS if h5[name].size and scale_of(h5, name) > 0])
                    values = h5[name][:]
                    place = tuple(rng.randrange(n) for n in values.shape)
                    values[place] += 1e-4 * scale_of(h5, name) * rng.choice([-1, 1])
                    h5[name][...] = values
                self.assertFalse(judge(file.getvalue())[0], f"{scene}: {name}{list(place)}")

    def test_the_place_of_a_lie_is_named(self):
        file = io.BytesIO(self.record("bouncing_ball", "--duration", "0.6"))
        with h5py.File(file, "r+") as h5:
            impulse = h5["parts/contacts/impulse"][:]
            row = int(np.argmax(impulse[:, 2]))
            part = int(np.searchsorted(h5["parts/contacts/offset"][:], row, side="right")) - 1
            impulse[row, 2] *= 1 - 1e-6
            h5["parts/contacts/impulse"][...] = impulse
            time = h5["parts/time"][part]
        good, found = judge(file.getvalue())
        self.assertFalse(good)
        self.assertIn(f"t = {time:.9g} s", found["momentum"][1])

    def test_what_cannot_be_read_is_one_line_with_a_remedy(self):
        self.write(GOOD)
        self.call("run", "scene.yaml", "-q", "-o", "short.h5")
        (self.folder / "text.h5").write_text("no recording")
        for name, wanted in (("short.h5", "--all"), ("text.h5", ""), ("none.h5", "")):
            done = subprocess.run([BINARY, "recheck", name], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(wanted, done.stderr)
        self.assertEqual(subprocess.run([BINARY, "recheck"], capture_output=True).returncode, 2)

    def test_a_number_that_is_none_is_found(self):
        file = io.BytesIO(self.record("tumbling_body", "--duration", "0.1"))
        with h5py.File(file, "r+") as h5:
            h5["parts/velocity_after"][2, 0, 1] = np.nan
        self.assertFalse(judge(file.getvalue())[0])

    def test_nothing_of_the_engine_or_of_the_working_folder_is_used(self):
        self.write(GOOD)
        self.call("run", "scene.yaml", "-q", "-o", "run.h5", "--all")
        for name in ("numpy.py", "h5py.py", "argparse.py", "slipstick.py"):
            (self.folder / name).write_text("raise SystemExit(7)")
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run([BINARY, "recheck", "run.h5"], cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in SCRIPT.read_text().splitlines():
            self.assertNotRegex(line, r"^\s*(import|from) .*(slipstick|_engine)")
        self.assertLessEqual(len(SCRIPT.read_text().splitlines()), 300)

    def test_parts_change_no_bit_of_the_motion(self):
        for scene in ("bouncing_ball", "stick_slip_block"):
            plain = self.report(SCENES / f"{scene}.yaml", "--duration", "0.2")
            parts = self.report(SCENES / f"{scene}.yaml", "--duration", "0.2", "-o", "run.h5", "--all")
            self.assertEqual(plain["state_hash"], parts["state_hash"])


if __name__ == "__main__":
    unittest.main()
