"""PID and state feedback: a motor arm follows a target, by two controllers of one's own on the motor's torque."""
import sys
from typing import Callable

import numpy as np
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]
from scipy.linalg import solve_continuous_are  # type: ignore[import]

folder = sys.argv[1] if len(sys.argv) > 1 else "."
h, mass, length, g = 1 / 500, 1.0, 0.5, 9.81

b = ss.Builder("arm", step=h)
b.body("arm", mass=mass, position=(length, 0, 0), shapes=[ss.sphere(0.05)], inertia=(1e-3, 1e-3, 1e-3))
b.hinge("elbow", ("world", "arm"), at=(0, 0, 0), axis=(0, -1, 0), motor={"speed": 0, "max": 20}, friction=0.2)
scene = b.compile()
inertia = mass * length**2 + 1e-3


class Pid:
    def __init__(self, p: float, i: float, d: float) -> None:
        self.p, self.i, self.d, self.sum = p, i, d, 0.0

    def __call__(self, sim: ss.Simulation) -> None:
        error = target(sim.time) - sim.joint("elbow").position
        self.sum += error * h
        sim.motor("elbow").torque = self.p * error + self.i * self.sum - self.d * sim.joint("elbow").velocity


def target(t: float) -> float:
    return 0.8 if t < 2 else -0.3


A, B = np.array([[0.0, 1], [0, 0]]), np.array([[0.0], [1 / inertia]])
S = solve_continuous_are(A, B, np.diag([400.0, 4.0]), np.eye(1))
gain = (B.T @ S)[0]


def state_feedback(sim: ss.Simulation) -> None:
    q, v = sim.joint("elbow").position, sim.joint("elbow").velocity
    weight = mass * g * length * np.cos(q)
    sim.motor("elbow").torque = float(weight - gain @ [q - target(sim.time), v])


figure = Figure(figsize=(7, 3.2), layout="constrained")
panel = figure.subplots()
controllers: dict[str, Callable[[ss.Simulation], None]] = {"PID": Pid(40, 60, 6), "state feedback and the arm's weight": state_feedback}
for name, controller in controllers.items():
    sim = ss.Simulation(scene)
    sim.run(4, controller=controller, record=f"{folder}/feedback.h5")
    recording = ss.open(f"{folder}/feedback.h5")
    panel.plot(recording.time, recording.joint("elbow")["position"], label=name)
    print(f"{name}: {sim.joint('elbow').position:.4f} rad at the end, wanted {target(4)}")
    assert abs(sim.joint("elbow").position - target(4)) < 0.05
panel.plot(recording.time, [target(t) for t in recording.time], "k:", label="target")
panel.set_xlabel("time [s]")
panel.set_ylabel("angle [rad]")
panel.legend()
figure.savefig(f"{folder}/feedback.png")
