"""Comparing schemes: the energy of a swinging double pendulum, which should stay what it is."""
import sys

import numpy as np
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]

folder = sys.argv[1] if len(sys.argv) > 1 else "."

b = ss.Builder("double pendulum", step=1 / 200)
for i, name in enumerate(("upper", "lower")):
    b.body(name, mass=1, position=(i + 0.5, 0, 0), shapes=[ss.box((0.9, 0.1, 0.1))])
b.hinge("first", ("world", "upper"), at=(0, 0, 0), axis=(0, 1, 0))
b.hinge("second", ("upper", "lower"), at=(1, 0, 0), axis=(0, 1, 0))
b.no_contact("upper", "lower")
scene = b.compile()

figure = Figure(figsize=(7, 3.2), layout="constrained")
panel = figure.subplots()
drift: dict[str, float] = {}
for scheme in ("stabilized", "euler", "trapezoid", "spook"):
    sim = ss.Simulation(scene, scheme=scheme)
    sim.run(4, record=f"{folder}/scheme.h5")
    recording = ss.open(f"{folder}/scheme.h5")
    energy = recording.energy[:, :2].sum(axis=1)
    swing = np.ptp(recording.energy[:, 1])  # what goes to and fro
    drift[scheme] = float(np.abs(energy - energy[0]).max() / swing)
    panel.plot(recording.time, (energy - energy[0]) / swing, label=scheme)
    print(f"{scheme:12s} largest drift {drift[scheme]:.2e}, joint error {recording.certificate['joint_error'].max():.1e} m")
assert max(drift, key=lambda name: drift[name]) == "spook"  # the others are the same method while nothing touches
panel.set_xlabel("time [s]")
panel.set_ylabel("energy drift / swing")
panel.legend()
figure.savefig(f"{folder}/compare_schemes.png")
