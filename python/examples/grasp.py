"""Grasp stability over friction: two fingers squeeze a block with 20 N each. For which friction does it stay?"""
import sys

import numpy as np
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]

folder = sys.argv[1] if len(sys.argv) > 1 else "."
mass, force, g, duration = 1.0, 20.0, 9.81, 0.25


def drop(mu: float) -> float:
    """How far the block has slid in the end, m."""
    b = ss.Builder("grasp", step=1 / 200)
    b.material("default", friction=mu)
    b.body("block", mass=mass, position=(0, 0, 0), shapes=[ss.box((0.1, 0.1, 0.1))])
    for name, side in (("left", -1), ("right", 1)):
        b.body(name, mass=0.2, position=(0.075 * side, 0, 0), shapes=[ss.box((0.05, 0.1, 0.4))])
        b.slider(f"{name}_rail", ("world", name), at=(0.075 * side, 0, 0), axis=(-side, 0, 0), motor={"speed": 1, "max": force})
    sim = ss.Simulation(b.compile())
    sim.run(duration)
    return -float(sim.body("block").position[2])


needed = mass * g / (2 * force)  # Coulomb: two fingers, each holds mu N
friction = np.concatenate([np.linspace(0.1, 0.4, 7), needed + np.array([-0.01, 0.01])])
friction.sort()
slid = np.array([drop(mu) for mu in friction])
for mu, s in zip(friction, slid):
    print(f"mu = {mu:.3f}: {'holds' if s < 1e-6 else 'slips'}, {1000 * s:.3f} mm")
theory = np.maximum(g - 2 * friction * force / mass, 0) * duration**2 / 2
assert all((slid < 1e-6) == (friction > needed))
assert np.allclose(slid, theory, rtol=0.03, atol=1e-6)  # the error of a step of 5 ms

figure = Figure(figsize=(7, 3.2), layout="constrained")
panel = figure.subplots()
panel.plot(friction, 1000 * slid, "o", label="simulated")
panel.plot(friction, 1000 * theory, label="Coulomb")
panel.axvline(needed, color="k", linestyle=":", label="m g / 2 N")
panel.set_xlabel("friction coefficient")
panel.set_ylabel(f"slid in {duration} s [mm]")
panel.legend()
figure.savefig(f"{folder}/grasp.png")
