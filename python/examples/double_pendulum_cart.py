"""An inverted double pendulum on a cart with dry friction, balanced for a minute by LQR gains from scipy."""
import sys
from typing import Any

import numpy as np
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]
from scipy.linalg import solve_discrete_are  # type: ignore[import]

folder = sys.argv[1] if len(sys.argv) > 1 else "."
h, g, cart, m, l, tilt = 1 / 250, 9.81, 1.0, 0.2, 0.5, 0.04

b = ss.Builder("double pendulum on a cart", step=h)
b.body("cart", mass=cart, shapes=[ss.box((0.3, 0.2, 0.1))])
rod: dict[str, Any] = {"mass": m, "inertia": (m * l**2 / 12, m * l**2 / 12, 1e-5), "shapes": [ss.capsule(0.02, l - 0.04)],
                       "orientation": {"axis": (0, 1, 0), "angle_rad": tilt}}
along = np.array([np.sin(tilt), 0, np.cos(tilt)]) * l
b.body("lower", position=along / 2, **rod)
b.body("upper", position=along * 1.5, **rod)
b.slider("rail", ("world", "cart"), axis=(1, 0, 0), motor={"speed": 0, "max": 50}, friction=0.3, limits=(-2, 2))
b.hinge("first", ("cart", "lower"), at=(0, 0, 0), axis=(0, 1, 0), friction=1e-3)
b.hinge("second", ("lower", "upper"), at=along, axis=(0, 1, 0), friction=1e-3)
sim = ss.Simulation(b.compile())

# M q'' = K q + (u, 0, 0) about the upright, q = (cart, angle of lower, angle of upper), thin rods.
M = np.array([[cart + 2 * m, 1.5 * m * l, 0.5 * m * l], [1.5 * m * l, 4 / 3 * m * l**2, m * l**2 / 2],
              [0.5 * m * l, m * l**2 / 2, m * l**2 / 3]])
K = np.diag([0, 1.5 * m * g * l, 0.5 * m * g * l])
A = np.block([[np.eye(3), h * np.eye(3)], [h * np.linalg.solve(M, K), np.eye(3)]])
B = np.concatenate([np.zeros(3), h * np.linalg.solve(M, [1, 0, 0])])[:, None]
Q = np.diag([20.0, 100, 100, 1, 1, 1])
S = solve_discrete_are(A, B, Q, np.eye(1))
gain = np.linalg.solve(np.eye(1) + B.T @ S @ B, B.T @ S @ A)[0]


def balance(s: ss.Simulation) -> None:
    (x, first, second), (dx, dfirst, dsecond) = s.joint_position, s.joint_velocity
    q = np.array([x, tilt + first, tilt + first + second, dx, dfirst, dfirst + dsecond])
    s.motor("rail").torque = float(-gain @ q)


report = sim.run(60, controller=balance, record=f"{folder}/balance.h5")
recording = ss.open(f"{folder}/balance.h5")
lean = recording.position("upper")[:, 0] - recording.position("cart")[:, 0]
print(f"after {sim.time:.0f} s: cart at {sim.joint_position[0]:.4f} m, upper rod leans {lean[-1]:.5f} m,",
      f"{report['certificate']['uncertified_steps']} steps not certified")
# Dry friction leaves a limit cycle: the cart sticks until the rods have leaned far enough.
assert abs(lean[-5000:]).max() < 0.025 and abs(recording.joint("rail")["position"][-5000:]).max() < 0.04
figure = Figure(figsize=(7, 3.2), layout="constrained")
panel = figure.subplots()
panel.plot(recording.time, recording.joint("rail")["position"], label="cart [m]")
panel.plot(recording.time, lean, label="lean of the upper rod [m]")
panel.set_xlabel("time [s]")
panel.legend()
figure.savefig(f"{folder}/double_pendulum_cart.png")
