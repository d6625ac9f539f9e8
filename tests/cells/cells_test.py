"""The reference against closed forms and differences, and a sample of the matrix. SLIPSTICK_CELLS=all: every cell."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np

import cells
import cells_driven
import matrix
import verdict
from reference_flow import Flow, consistent

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_wrong.txt")


class Reference(unittest.TestCase):
    def test_rows_are_the_derivatives_of_their_values(self):
        """Rates against differences of values, and what derivatives of rates have beside accelerations against differences of rates."""
        scenes = [c.scene for c in cells.joint_cells() if c.group == "joint in flight"] + [c.scene for c in cells_driven.speed_row_cells()]
        for scene in scenes:
            flow = Flow(consistent(scene, 5, size=2))
            flow.run(0.1)
            y, modes, h = flow.y, flow.modes, 1e-4
            a, rate, _, (_, _, _, value) = flow.accelerate(0, y, modes)
            step = flow.derivative(0, y, modes)
            x, _, R, v, w, _ = flow.unpack(y)
            J, bias, _ = flow.rows.evaluate(x, R, v, w)
            second = J[:, 1:].reshape(len(J), -1) @ a + bias

            def at(s):  # along the flow, to third order
                k2 = flow.derivative(0, y + s / 2 * step, modes)
                k3 = flow.derivative(0, y + s * (2 * k2 - step), modes)
                z = y + s / 6 * (step + 4 * k2 + k3)
                return flow.accelerate(0, z, modes)[1], flow.accelerate(0, z, modes)[3][3]
            (rate_after, value_after), (rate_before, value_before) = at(h), at(-h)
            valued = slice(0, flow.rows.first["spin"])
            np.testing.assert_allclose((value_after - value_before)[valued] / (2 * h), rate[valued], atol=2e-6 * (1 + abs(rate).max()))
            np.testing.assert_allclose((rate_after - rate_before) / (2 * h), second, atol=2e-5 * (1 + abs(second).max()))

    def test_pendulum_and_top_are_those_of_closed_forms(self):
        hinge = [cells.joint("hinge", ["world", "a"], at=[0, 0, 0], axis=cells.Y)]
        flow = Flow(cells.scene([dict(cells.A)], hinge))
        inertia, m = 0.03 + 0.25, 9.81 * 0.5
        flow.run(0.9)
        angle, rate = flow.y[-1], flow.y[10 * 1 + 1]
        self.assertAlmostEqual(0.5 * inertia * rate**2, m * math.sin(angle), delta=1e-9)
        top = Flow(dict(cells.scene([dict(cells.A, inertia=[0.02, 0.02, 0.05], angular_velocity=[0.5, 0, 4])], []), gravity=[0, 0, 0]))
        top.run(1.0)
        momentum = np.array([0.02 * 0.5, 0, 0.05 * 4])
        axis = top.unpack(top.y)[2][1] @ np.array([0, 0, 1.0])
        # The axle of a symmetric top goes round its momentum with |L| / I1.
        n, s = momentum / np.linalg.norm(momentum), np.linalg.norm(momentum) / 0.02
        z = np.array([0, 0, 1.0])
        known = n * (n @ z) + math.cos(s) * (z - n * (n @ z)) + math.sin(s) * np.cross(n, z)
        np.testing.assert_allclose(axis, known, atol=1e-9)

    def test_energy_and_momentum_are_kept(self):
        for cell in cells.rotor_cells():
            if "flight" in cell.name:
                flow = Flow(cell.scene)
                start, spin = flow.energy(flow.y), self._spin(flow)
                flow.run(1.0)
                self.assertAlmostEqual(flow.energy(flow.y), start, delta=1e-9 * start)
                np.testing.assert_allclose(self._spin(flow), spin, atol=1e-9 * np.linalg.norm(spin) + 1e-10)

    @staticmethod
    def _spin(flow):
        x, _, R, v, w, _ = flow.unpack(flow.y)
        return sum(flow.mass[k] * np.cross(x[k], v[k]) + R[k] @ flow.inertia[k] @ R[k].T @ w[k] for k in range(1, flow.n))

    def test_impacts_and_dry_friction_are_those_of_closed_forms(self):
        fall = Flow(cells.scene([dict(cells.A, position=[0, 0, 0])], [cells.joint("slider", ["world", "a"], axis=cells.Z, limits=[-0.5, 9], restitution=0.5)]))
        first = math.sqrt(2 * 0.5 / 9.81)
        fall.run(first + 0.1)
        self.assertAlmostEqual(fall.events[0][0], first, delta=1e-9)
        self.assertAlmostEqual(fall.y[2], -0.5 + 0.5 * 9.81 * first * 0.1 - 0.5 * 9.81 * 0.01, delta=1e-9)
        rubbed = Flow(cells_driven.block(velocity=[1, 0, 0], mu=0.4))
        rubbed.run(1.0)
        self.assertAlmostEqual(rubbed.y[0], 1 / (2 * 0.4 * 9.81), delta=1e-9)
        self.assertEqual(rubbed.modes["box"], [0])


class Sample(unittest.TestCase):
    def test_no_cell_is_wrong_but_those_that_are_known(self):
        every = 1 if os.environ.get("SLIPSTICK_CELLS") == "all" else int(os.environ.get("SLIPSTICK_CELLS", "23"))
        with open(KNOWN, encoding="utf-8") as file:
            known = {line.strip() for line in file if line.strip() and not line.startswith("#")}
        wrong, seen = [], []

        def report(cell, column, kind, text, out, seconds):
            seen.append(kind)
            name = f"{cell} | {column}"
            if kind == "WRONG" and name not in known:
                wrong.append(f"{name}: {text}")
            elif kind != "WRONG" and name in known:
                print(f"right now, take it out of known_wrong.txt: {name}")
        matrix.fill("", list(verdict.COLUMNS), every, report)
        self.assertGreater(len(seen), 20)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
