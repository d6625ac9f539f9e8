"""What is certified is true: the verdict on one island does not depend on another, absurd friction is refused, and the
report names the worst place."""
import unittest

import h5py

from cli_support import CliTest

GROUND = "  - {name: g, fixed: true, shapes: [{plane: {normal: [0,0,1], offset: 0}}]}\n"
BALL = "  - {name: f, mass: 1, position: [1000,0,0.5], velocity: [%s,0,0], shapes: [{sphere: {radius: 0.5}}]}\n"
BOX = "  - {name: %s, mass: %s, position: [0,0,%s], shapes: [{box: {size: [1,1,1]}}]}\n"
RODS = """joints:
  - rod: {name: j1, between: [world, a], at: [[0,0,5],[0,0,3]], length: 1}
  - rod: {name: j2, between: [world, a], at: [[0,0,5],[0,0,3]], length: 2}
"""
NEAR_RODS = RODS.replace("length: 1}", "length: 1.99}")  # not so far apart that they are held as they stand


class Verdict(CliTest):
    def certificate(self, bodies, extra="", settings=""):
        text = "slipstick: 1\nbodies:\n" + bodies + extra + "simulation: {duration: 0.2, step: 1/100%s}\n" % settings
        return self.report(self.write(text))["certificate"]

    def same_with_a_fast_ball(self, bodies, extra="", settings="", speeds=("0", "300", "1e6")):
        alone = self.certificate(bodies, extra, settings)["uncertified_steps"]
        for speed in speeds:
            beside = self.certificate(bodies + BALL % speed, extra, settings)
            self.assertEqual(beside["uncertified_steps"], alone, speed)
        return alone

    def test_mass_ratio(self):
        self.same_with_a_fast_ball(GROUND + BOX % ("a", "1e-6", 0.5) + BOX % ("b", "1e6", 1.5))

    def test_sweeps_that_do_not_converge(self):
        boxes = "".join(BOX % (f"b{i}", 1, 0.5 + i) for i in range(10))
        self.assertEqual(
            self.same_with_a_fast_ball(GROUND + boxes, settings=", solver: {pgs: {iterations: 100}}"), 20)

    def test_joints_that_contradict_each_other(self):
        body = GROUND + BOX % ("a", 1, 3)
        self.assertEqual(self.same_with_a_fast_ball(body, RODS), 20)
        self.assertEqual(self.same_with_a_fast_ball(body, NEAR_RODS), 20)
        worst = self.certificate(body + BALL % "1e6", NEAR_RODS)["worst"]
        self.assertEqual(worst["bodies"], ["a"])
        self.assertEqual(worst["island"], 0)
        self.assertGreater(worst["relative"], 1e-3)
        self.assertIn(worst["part"], ("joint speed", "natural map"))
        self.assertEqual(worst["unit"], "m/s")
        text = "slipstick: 1\nbodies:\n" + body + BALL % "1e6" + RODS + "simulation: {duration: 0.1, step: 1/100}\n"
        self.assertEqual(self.call("run", self.write(text), "--strict").returncode, 1)

    def test_a_good_run_names_its_worst_place_too(self):
        certificate = self.certificate(GROUND + BOX % ("a", 1, 0.5) + BOX % ("b", 2, 1.5))
        self.assertEqual(certificate["uncertified_steps"], 0)
        self.assertLessEqual(certificate["worst"]["relative"], certificate["tolerance"])

    def test_absurd_friction_is_refused(self):
        for friction, code in (("1e4", 0), ("1.1e4", 2), ("1e8", 2), ("1e15", 2), (".inf", 2), (".nan", 2)):
            text = ("slipstick: 1\nmaterials: {default: {friction: %s}}\nbodies:\n" % friction + GROUND +
                    BOX % ("a", 1, 0.5) + "simulation: {duration: 0.1, step: 1/100}\n")
            done = self.call("run", self.write(text))
            self.assertEqual(done.returncode, code, (friction, done.stderr))
            if code:
                self.assertIn("friction", done.stderr)

    def test_a_formula_without_a_value_stops_the_run(self):
        arm = BOX % ("a", 1, 3)
        cases = {
            "the motor of joint 'arm': its speed":
                arm + "joints:\n  - hinge: {name: arm, between: [world, a], at: [0,0,3], axis: [0,1,0], "
                      "motor: {speed: 'log(0.045-t)', max: 10}}\n",
            "the load 'push' on body 'a': its force":
                arm + "forces:\n  - load: {name: push, body: a, force: ['sqrt(0.045-t)', 0, 0]}\n",
            "body 'lift': its prescribed velocity":
                arm + "  - {name: lift, kinematic: {velocity: [0, 0, 'log(0.045-t)']}, position: [9,0,0], "
                      "shapes: [{box: {size: [1,1,1]}}]}\n",
        }
        for text, bodies in cases.items():
            for scheme in ("stabilized", "trapezoid"):
                scene = "slipstick: 1\nbodies:\n" + GROUND + bodies + "simulation: {duration: 0.1, step: 1/100}\n"
                done = self.call("run", self.write(scene), "-o", "run.h5", "--scheme", scheme)
                self.assertEqual(done.returncode, 1, (text, scheme, done.stderr))
                self.assertIn(text, done.stderr)
                self.assertIn("at t = 0.0", done.stderr)
                with h5py.File(self.folder / "run.h5") as recording:
                    self.assertGreater(len(recording["time"]), 1)


if __name__ == "__main__":
    unittest.main()
