"""Damaged recordings and states through the program itself: exit 2 and one clear line, or numbers; no crash, no hang, no huge memory.

SLIPSTICK_FUZZ=N damages N files. The readers themselves are tested with thousands in tests/unit/record and tests/python."""
import os
import random
import resource
import unittest

from cli_support import CliTest

ROUNDS = int(os.environ.get("SLIPSTICK_FUZZ", "12"))
SCENE = """slipstick: 1
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.2], shapes: [{sphere: {radius: 0.1}}]}
  - {name: bob, mass: 1, position: [1, 0, 2], shapes: [{box: {size: [0.1, 0.2, 0.3]}}]}
joints:
  - hinge: {name: pivot, between: [world, bob], at: [0, 0, 2], axis: [0, 1, 0]}
simulation: {duration: 0.3, step: 1/100}
"""


def small_machine():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))  # of the processor, not of the clock
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def damage(data, chosen):
    data = bytearray(data)
    for _ in range(1 + chosen.randrange(4)):
        at = chosen.randrange(len(data))
        kind = chosen.randrange(12)
        if kind == 0 and at > 0:
            del data[at:]
        elif kind == 1:
            data[at:at + 8] = bytes([chosen.choice((0, 255))]) * len(data[at:at + 8])
        elif kind == 2:
            data[at:at + 8] = data[:8] if chosen.random() < 0.5 else bytes(chosen.randrange(256) for _ in data[at:at + 8])
        else:
            data[at] ^= 1 << chosen.randrange(8)
    return bytes(data)


class Damage(CliTest):
    def setUp(self):
        super().setUp()
        self.write(SCENE)
        self.assertEqual(self.call("run", "scene.yaml", "-q", "-o", "run.h5", "--checkpoint", "c", "--every", "0.1").returncode, 0)

    def check(self, *words):
        """True if it went well; otherwise it said why in one line."""
        done = self.call(*words, preexec_fn=small_machine)
        if done.returncode == 0:
            return True
        self.assertEqual(done.returncode, 2, (words, done.returncode, done.stderr))
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return False

    def test_recordings(self):
        whole = (self.folder / "run.h5").read_bytes()
        went = 0
        for seed in range(ROUNDS):
            (self.folder / "d.h5").write_bytes(damage(whole, random.Random(seed)))
            with self.subTest(seed=seed):
                went += self.check("table", "d.h5", "--what", "position,energy,certificate,joints", "-o", "t.csv")
                self.check("table", "d.h5", "--what", "contacts", "-o", "t.csv")
                self.check("plot", "d.h5", "--what", "energy,residual,speed", "--body", "ball", "-o", "p.svg")
                self.check("view", "d.h5", "--export", "page.html")
                self.check("run", "scene.yaml", "-q", "--resume", "d.h5", "--duration", "0.5")
        self.assertGreater(went, 0)
        self.assertLess(went, ROUNDS)

    def test_states(self):
        whole = (self.folder / "c").read_bytes()
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                (self.folder / "d").write_bytes(damage(whole, random.Random(seed)))
                self.check("run", "scene.yaml", "-q", "--resume", "d", "--duration", "0.5")

    def test_a_recording_of_an_earlier_version_is_refused(self):
        import h5py

        with h5py.File(self.folder / "old.h5", "w") as file:
            file.attrs["format"] = "slipstick recording"  # h5py writes it with variable length
        self.assertFalse(self.check("table", "old.h5", "--what", "position"))
        self.assertIn("earlier version", self.call("table", "old.h5", "--what", "position").stderr)

    def test_too_much_is_said(self):
        self.write("slipstick: 1\nbodies:\n  - {name: 'b{i}', repeat: {i: 1000}, position: [3*i, 0, 0], mass: 1, "
                   "shapes: [{hull: {random: {points: 10000, size: [1, 1, 1], seed: 1}}}]}\n", "hulls.yaml")
        self.assertFalse(self.check("check", "hulls.yaml"))
        self.assertIn("the hulls of this scene have more than 2000000 points in all", self.call("check", "hulls.yaml").stderr)

    def test_without_memory(self):
        """A machine that is too small for a scene: a line, not a crash."""
        self.write("slipstick: 1\nbodies:\n  - {name: 'b{i}', repeat: {i: 150000}, position: [3*i, 0, 0], mass: 1, "
                   "shapes: [{box: {size: [1, 1, 1]}}]}\n", "many.yaml")
        done = self.call("check", "many.yaml", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not enough memory", done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
