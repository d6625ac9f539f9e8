"""The Python package, line by line as its guide shows it."""
import copy
import inspect
import math
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import slipstick as ss

SCENES = os.environ["SLIPSTICK_SCENES"]


def arm() -> ss.Scene:
    b = ss.Builder("arm", gravity=(0, 0, -9.81), step=1 / 200, duration=1)
    b.ground()
    b.body("ball", mass=1, position=(0, 2, 0.1), shapes=[ss.sphere(0.1)])
    b.body("arm", mass=1, position=(0.5, 0, 1), shapes=[ss.box((0.8, 0.1, 0.1))])
    b.hinge("elbow", ("world", "arm"), at=(0, 0, 1), axis=(0, 1, 0), motor={"position": 0, "max": 40})
    return b.compile()


class Doors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.run_path = os.path.join(self.folder.name, "run.h5")

    def test_load_and_step(self):
        scene = ss.load(f"{SCENES}/stack.yaml", set={"n": 20})
        self.assertEqual(len(scene.bodies), 21)
        sim = ss.Simulation(scene, step=1 / 200, scheme="trapezoid")
        one = sim.step()
        last = sim.step(100)
        self.assertEqual(sim.step_number, 101)
        self.assertAlmostEqual(sim.time, 101 / 200)
        for report in (one, last):
            self.assertIs(type(report), ss.StepReport)
            self.assertTrue(report.certified)
            self.assertLess(report.residual, 1e-8)
            self.assertLess(report.penetration, 1e-8)
            self.assertIn("friction", report.ledger)
        self.assertEqual(ss.parse(scene.text, set={"n": 20}).model_hash, scene.model_hash)
        with open(f"{SCENES}/stack.yaml") as file:
            self.assertEqual(ss.parse(file.read(), {"n": 20}).model_hash, scene.model_hash)

    def test_views(self):
        sim = ss.Simulation(arm())
        n = len(sim.scene.bodies)
        for view, width in ((sim.position, 3), (sim.orientation, 4), (sim.velocity, 3), (sim.angular_velocity, 3)):
            self.assertEqual(view.shape, (n, width))
            self.assertEqual(view.dtype, np.float64)
            self.assertFalse(view.flags.owndata)
        before = [v.__array_interface__["data"][0] for v in (sim.position, sim.velocity)]
        sim.step(5)
        self.assertEqual([v.__array_interface__["data"][0] for v in (sim.position, sim.velocity)], before)

    def test_names(self):
        sim = ss.Simulation(arm())
        sim.motor("elbow").target = 0.3
        sim.run(1)
        self.assertAlmostEqual(sim.joint("elbow").position, 0.3, places=3)
        self.assertLess(abs(sim.joint("elbow").velocity), 1e-2)
        self.assertAlmostEqual(sim.motor("elbow").force, -9.81 * 0.5 * math.cos(0.3), places=1)
        np.testing.assert_allclose(sim.body("ball").position, (0, 2, 0.1), atol=1e-9)

    def test_apply(self):
        sim = ss.Simulation(arm())
        sim.body("ball").position = (0, 2, 1)  # in flight: what a contact carries has its velocity half a step behind
        sim.apply("ball", force=(0, 0, 10), torque=None, at=None, frame="world")
        sim.step()
        self.assertAlmostEqual(sim.body("ball").velocity[2], (10 - 9.81) / 200)
        self.assertEqual(list(inspect.signature(ss.Simulation.apply).parameters)[1:], ["body", "force", "torque", "at", "frame"])

    def test_contacts(self):
        sim = ss.Simulation(arm())
        sim.step()
        c = sim.contacts
        self.assertEqual(c.dtype.names, ("a", "b", "point", "normal", "gap", "force", "unique"))
        row = c[c["b"] == sim.scene.body_index("ball")][0]
        self.assertEqual(sim.scene.bodies[row["a"]], "ground")
        np.testing.assert_allclose(row["force"], (0, 0, 9.81), atol=1e-9)
        np.testing.assert_allclose(row["normal"], (0, 0, 1))
        np.testing.assert_allclose(row["point"], (0, 2, 0), atol=1e-9)
        self.assertAlmostEqual(row["gap"], 0)

    def test_state(self):
        sim = ss.Simulation(arm())
        sim.step(3)
        s = sim.state
        sim.step(7)
        after = sim.state
        sim.state = s
        self.assertEqual(sim.state, s)
        sim.step(7)
        self.assertEqual(sim.state, after)
        self.assertEqual(pickle.loads(pickle.dumps(s)), s)
        self.assertEqual(hash(copy.copy(s)), hash(s))

    def test_run_and_recording(self):
        calls = []
        sim = ss.Simulation(arm())
        report = sim.run(0.5, record=self.run_path, progress=False, controller=lambda s: calls.append(s.time))
        self.assertEqual(len(calls), 100)
        self.assertEqual(calls[0], 0)
        self.assertEqual(report["steps"], 100)
        rec = ss.open(self.run_path)
        self.assertEqual(rec.time.shape, (101,))
        self.assertEqual(rec.pose("ball").shape, (101, 7))
        table = rec.to_pandas()
        self.assertEqual(len(table), 101)
        self.assertEqual(len(rec.plot("energy").axes), 1)
        try:
            page = rec.show()
        except ss.ViewerMissing as error:
            self.skipTest(str(error))
        self.assertIn("iframe", page._repr_html_())

    def test_notebooks_show_tables_in_which_names_are_text(self):
        sim = ss.Simulation(ss.parse("slipstick: 1\nname: <b>x</b>\nbodies:\n  - {name: '<script>', mass: 1, shapes: [{sphere: {radius: 1}}]}\n"))
        report = sim.run(0.1, record=self.run_path)
        self.assertIn("steps", report)
        for shown in (sim.scene, sim, sim.step(), ss.open(self.run_path)):
            text = shown._repr_html_()
            self.assertTrue(text.startswith("<table>") and text.endswith("</table>"))
            self.assertNotIn("<script>", text)
            self.assertNotIn("<b>x</b>", text)
        self.assertIn("1 runs of 3 steps: 3 of 3 steps certified, 0 runs failed", repr(ss.rollout(sim.scene, steps=3)))
        self.assertEqual([name for name in dir(ss) if not name.startswith("__")], sorted(ss.__all__))

    def test_progress(self):
        done = subprocess.run([sys.executable, "-c", "import slipstick as ss; ss.Simulation(ss.parse('slipstick: 1\\nbodies: []\\n')).run(1, progress=True)"],
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"100 %  t = 1\.000 s")

    def test_builder(self):
        b = ss.Builder(gravity=(0, 0, -9.81))
        b.body("ball", mass=1, position=(0, 0, 1), shapes=[ss.sphere(0.1)])
        scene = b.compile()
        self.assertEqual(scene.gravity, (0, 0, -9.81))
        self.assertEqual(scene.mass, [1.0])

    def test_rollout(self):
        scene = arm()
        sim, states = ss.Simulation(scene), []
        for _ in range(4):
            states.append(sim.state)
            sim.step()
        out = ss.rollout(scene, states, np.zeros((4, 10, 1)), threads=2)
        self.assertEqual(out.position.shape, (4, 10, 3, 3))

    def test_faults(self):
        with self.assertRaises(ss.SceneError) as caught:
            ss.parse("slipstick: 1\nbodies:\n  - {name: a, mas: 1}\n", name="f.yaml")
        fault = caught.exception.faults[0]
        self.assertEqual((fault.file, fault.line), ("f.yaml", 3))
        self.assertTrue(fault.column > 0 and fault.message)
        self.assertTrue(issubclass(ss.Diverged, Exception))
        for value in (arm(), ss.Simulation(arm()).state, ss.Simulation(arm())):
            self.assertEqual(type(pickle.loads(pickle.dumps(value))), type(value))

    def test_wrong_kinds_of_files_say_what_reads_them(self):
        scene = os.path.join(self.folder.name, "s.yaml")
        with open(scene, "w") as file:
            file.write("slipstick: 1\nbodies: []\n")
        sim = ss.Simulation(ss.load(scene))
        sim.run(0.1, record=self.run_path)
        state = os.path.join(self.folder.name, "s.state")
        sim.save_state(state)
        with self.assertRaisesRegex(ss.SceneError, r"recording.*slipstick\.open"):
            ss.load(self.run_path)
        with self.assertRaisesRegex(ss.RecordingError, r"slipstick\.load"):
            ss.open(scene)
        with self.assertRaisesRegex(ss.RecordingError, r"load_state"):
            ss.open(state)
        with self.assertRaisesRegex(ss.SceneError, r"load_state"):
            ss.load(state)
        with self.assertRaisesRegex(ss.RecordingError, "no such file|No such file"):
            ss.open(os.path.join(self.folder.name, "none.h5"))
        with open(self.run_path, "rb") as file, open(scene + ".h5", "wb") as cut:
            cut.write(file.read(600))
        with self.assertRaisesRegex(ss.RecordingError, "cannot be read as a recording"):
            ss.open(scene + ".h5")
        sim.load_state(self.run_path)  # the last state of a recording serves
        self.assertAlmostEqual(sim.time, 0.1)


if __name__ == "__main__":
    unittest.main()
