"""Sensors of a scene in Python, and a controller in the scene beside the same one in Python."""
import os
import tempfile
import unittest

import numpy as np
import slipstick as ss

SCENES = os.environ["SLIPSTICK_SCENES"]


class Sensors(unittest.TestCase):
    def test_the_same_controller_gives_the_same_bits(self):
        with open(f"{SCENES}/pid_arm.yaml", encoding="utf8") as file:
            text = file.read()
        formula = "kp*error + ki*sum - kd*joint('shoulder').speed"
        self.assertIn(formula, text)
        inside = ss.Simulation(ss.parse(text))
        outside = ss.Simulation(ss.parse(text.replace(formula, "0")))
        goal, kp, ki, kd, h, total = 30 * (np.pi / 180), 150, 200, 25, 1 / 200, 0.0
        motor, shoulder = outside.motor("shoulder"), outside.joint("shoulder")
        for _ in range(1200):
            error = goal - shoulder.position
            motor.torque = kp * error + ki * total - kd * shoulder.velocity
            outside.step()
            total = min(max(total + h * error, -0.3), 0.3)
            inside.step()
        self.assertEqual(inside.state.hash, outside.state.hash)
        self.assertEqual(inside.sensor("sum"), total)
        self.assertLess(abs(inside.sensor("error")), 0.02)

    def test_values_and_names(self):
        scene = ss.load(f"{SCENES}/conveyor.yaml")
        self.assertEqual(scene.sensors, ["speed", "drag", "slip", "eye"])
        sim = ss.Simulation(scene)
        sim.step(100)
        self.assertEqual(sim.sensor("speed").shape, (3,))
        self.assertAlmostEqual(sim.sensor("speed")[0], 0.4 * 9.81 * 0.2, places=9)
        self.assertAlmostEqual(sim.sensor("drag")[0], 0.4 * 9.81 * 3, places=6)
        self.assertEqual(sim.sensor("eye"), 1.0)
        with self.assertRaisesRegex(ss.UnknownName, "speed"):
            sim.sensor("sped")

    def test_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            sim = ss.Simulation(ss.load(f"{SCENES}/conveyor.yaml"))
            report = sim.run(3, record=path)
            rec = ss.open(path)
            self.assertEqual(rec.sensors, ["speed.x", "speed.y", "speed.z", "drag.x", "drag.y", "drag.z", "slip", "eye"])
            self.assertEqual(rec.sensor("speed").shape, (len(rec), 3))
            np.testing.assert_array_equal(rec.sensor("speed")[:, 0], rec.velocity("box")[:, 0])
            self.assertLess(rec.sensor("eye").min(), 0.5)      # the box has passed
            self.assertEqual(rec.sensor("slip")[-1], report["final"]["sensors"]["slip"])
            self.assertIn("drag.x", rec.to_pandas().columns)
            with self.assertRaises(ss.UnknownName):
                rec.sensor("slp")


if __name__ == "__main__":
    unittest.main()
