"""Fits and validation on data whose answer is known: made by the engine itself, or by the closed form of one planar impact."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import slipstick as ss
from slipstick.studies import ellipse, mujoco, tosses
from slipstick.studies.calibrate import fit, split

BOUNCE = """slipstick: 1
let: {e: 0.7, mu: 0.3}
materials: {default: {friction: mu, restitution: e}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.6], velocity: [4, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
simulation: {duration: 3, step: 1/200, scheme: euler}
"""
STUDY = """slipstick_study: 1
scene: bounce.yaml
vary: {e: {from: 0, to: 1}, mu: {from: 0.01, to: 1, scale: log}}
fit: {columns: {x: bodies.ball.position[0], z: bodies.ball.position[2]}}
"""


def impulse(row, mu, e, rho):
    """Newton's law with Coulomb friction for one point in the plane, by cases: stick, or slip to either side."""
    m = ellipse.MASS
    (rx,), (ry,) = ellipse.contact_arm(row[2:3])
    ut, un = -row[3] - ry * row[5], row[4] + rx * row[5]
    att, ann, ant = 1 / m + ry**2 / (m * rho**2), 1 / m + rx**2 / (m * rho**2), -rx * ry / (m * rho**2)
    goal = -(1 + e) * un
    t, n = np.linalg.solve([[att, ant], [ant, ann]], [-ut, goal])
    if n >= 0 and abs(t) <= mu * n:
        return np.array([t, n])
    for side in (1, -1):
        n = goal / (ann + side * mu * ant)
        t = side * mu * n
        if n >= 0 and (ut + att * t + ant * n) * side <= 1e-12:
            return np.array([t, n])
    raise AssertionError("no case")


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(folder.name)
        self.addCleanup(folder.cleanup)

    def run_command(self, *words):
        return subprocess.run([sys.executable, "-m", "slipstick", *words], cwd=self.at, capture_output=True, text=True, timeout=600)


class Calibration(unittest.TestCase):
    def test_finds_a_kinked_minimum_and_its_uncertainty(self):
        truth = np.array([0.3, 0.7])
        noise = np.random.default_rng(2).normal(size=(40, 2)) * 0.05
        found = fit(lambda x: np.abs(x - truth - noise).sum(axis=1), {"a": (0, 1), "b": (0, 2)}, searches=120)
        self.assertLess(abs(found.values["a"] - np.median(truth[0] + noise[:, 0])), 0.02)
        self.assertLess(abs(found.values["b"] - np.median(truth[1] + noise[:, 1])), 0.02)
        self.assertTrue(0.003 < found.error["a"] < 0.2)

    def test_says_so_where_the_data_do_not_tell(self):
        found = fit(lambda x: np.full(10, abs(x[0] - 0.4) + 0.01), {"a": (0, 1), "nothing": (0, 1)})
        self.assertGreater(found.error["nothing"], 0.3)
        self.assertLess(found.error["a"], 0.1)

    def test_no_sample_is_fitted_and_judged(self):
        one, other = split(100, 30, 1)
        self.assertEqual((len(one), len(other), set(one) & set(other)), (30, 70, set()))


class Fits(Command):
    def write_run(self, name, e, mu, noise):
        sim = ss.Simulation(ss.load(str(self.at / "bounce.yaml"), set={"e": e, "mu": mu}))
        stream, lines = np.random.default_rng(len(name)), ["t,x,z"]
        for _ in range(80):
            x, _, z = sim.body("ball").position + noise * stream.normal(size=3)
            lines.append(f"{sim.time},{x},{z}")
            sim.step(4)
        (self.at / name).write_text("\n".join(lines) + "\n")

    def test_gives_the_values_back(self):
        (self.at / "bounce.yaml").write_text(BOUNCE)
        (self.at / "study.yaml").write_text(STUDY)
        self.write_run("a.csv", 0.6, 0.08, 0.002)
        self.write_run("bb.csv", 0.6, 0.08, 0.002)
        done = self.run_command("fit", "study.yaml", "--data", "a.csv", "bb.csv", "-o", "p.html", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertLess(abs(found["parameters"]["e"] - 0.6), 0.01)
        self.assertLess(abs(found["parameters"]["mu"] - 0.08), 0.01)
        self.assertGreater((self.at / "p.html").stat().st_size, 10000)

    def test_faults(self):
        (self.at / "bounce.yaml").write_text(BOUNCE)
        (self.at / "study.yaml").write_text(STUDY)
        (self.at / "d.csv").write_text("t,x\n0,1\n1,2\n")
        done = self.run_command("fit", "study.yaml", "--data", "d.csv")
        self.assertEqual((done.returncode, done.stderr), (2, "d.csv:1: has no column 'z'; did you mean 'x'?\n") if "did you" in done.stderr
                         else (2, "d.csv:1: has no column 'z'\n"))
        (self.at / "study.yaml").write_text(STUDY.replace("columns", "colums").replace("{from: 0, to: 1}", "[0, 1]"))
        done = self.run_command("fit", "study.yaml", "--data", "d.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown key 'colums' in fit; did you mean 'columns'?", done.stderr)
        self.assertIn("'e': a fit needs bounds", done.stderr)


class Impacts(Command):
    def make(self, count, mu, e, rho, noise=0.0):
        stream = np.random.default_rng(5)
        rows = []
        for _ in range(count):
            row = np.zeros(14)
            row[2], row[3], row[4], row[5] = stream.uniform(-1.5, 1.5), stream.normal(), -stream.uniform(1, 3), stream.normal() * 5
            (rx,), (ry,) = ellipse.contact_arm(row[2:3])
            if row[4] + rx * row[5] > -0.2:
                continue
            t, n = impulse(row, mu, e, rho) * (1 + noise * stream.normal(size=2))
            row[12:] = t, n
            row[9:12] = row[3] - t / ellipse.MASS, row[4] + n / ellipse.MASS, row[5] + (rx * n - ry * t) / (ellipse.MASS * rho**2)
            rows.append(row)
        return np.array(rows)

    def test_the_engine_is_the_closed_form(self):
        rows = self.make(40, 0.3, 0.5, 0.03)
        for method in ellipse.METHODS:
            if method.impact == "newton":
                self.assertLess(ellipse.errors(rows, 0.3, 0.5, 0.03, method).max(), 1e-4, method)

    def test_gives_the_values_back(self):
        rows = self.make(70, 0.25, 0.55, 0.029, 0.01)
        self.assertAlmostEqual(ellipse.gyration(rows), 0.029, delta=5e-4)
        np.savetxt(self.at / "ellipse_impacts.csv", rows, delimiter=",", header=",".join(ellipse.COLUMNS), comments="", fmt="%.12g")
        done = self.run_command("validate", "ellipse-impacts", ".", "--fit", "30", "--schemes", "stabilized", "--json", "-o", "p.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = json.loads(done.stdout)[0]
        self.assertLess(abs(line["mu"] - 0.25), 0.02)
        self.assertLess(abs(line["e"] - 0.55), 0.02)
        self.assertLess(line["median"], 3)

    def test_data_that_are_not_there(self):
        for what in ("ellipse-impacts", "cube-tosses"):
            done = self.run_command("validate", what, "nowhere")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Tosses(Command):
    def test_gives_the_values_back(self):
        method = tosses.METHODS[0]
        stream = np.random.default_rng(3)
        for number in range(10):
            q = stream.normal(size=4)
            q /= np.linalg.norm(q)
            made = tosses.Toss("", 1 / 148, np.tile([0.0, 0.0, 0.09], (36, 1)), np.tile(q, (36, 1)), np.array([*stream.normal(size=2), -1.0]),
                               stream.normal(size=3) * 4)
            position, orientation = tosses.play(made, 0.2, 0.3, method)
            velocity = np.zeros((36, 3))
            velocity[:] = made.velocity
            back = tosses.rotate(q * [1, -1, -1, -1], made.spin)
            table = np.column_stack([np.arange(36) / 148, position, orientation, velocity, np.tile(back, (36, 1))])
            np.savetxt(self.at / f"{number}.csv", table, delimiter=",", header=",".join(tosses.COLUMNS), comments="", fmt="%.15g")
        read = tosses.read_toss(str(self.at / "0.csv"))
        self.assertEqual(len(read.position), 36)  # within reach of the table from the first frame on
        done = self.run_command("validate", "cube-tosses", ".", "--fit", "6", "--schemes", "stabilized", "--json", "-o", "p.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = json.loads(done.stdout)[0]
        self.assertLess(abs(line["mu"] - 0.2), 0.03)
        self.assertLess(abs(line["e"] - 0.3), 0.03)
        self.assertLess(line["position"], 2)
        if mujoco.find_program():  # the published line of MuJoCo is there without it
            self.assertIn("damping_ratio", done.stdout)


if __name__ == "__main__":
    unittest.main()
