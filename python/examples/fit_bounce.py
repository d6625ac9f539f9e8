"""Fitting friction and restitution to a bounce: a ball thrown onto the floor, "measured" with 5 mm of noise, and scipy's least squares."""
import sys

import numpy as np
import numpy.typing as npt
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]
from scipy.optimize import least_squares  # type: ignore[import]

folder = sys.argv[1] if len(sys.argv) > 1 else "."
steps = 240


def bounce(mu: float, e: float) -> npt.NDArray[np.float64]:
    """The ball's path, (steps, 2): x and z."""
    b = ss.Builder("bounce", step=1 / 200, scheme="trapezoid")
    b.material("default", friction=mu, restitution=e)
    b.ground()
    b.body("ball", mass=0.2, position=(0, 0, 0.8), velocity=(5, 0, 0), shapes=[ss.sphere(0.05)])
    out = ss.rollout(b.compile(), steps=steps)
    return np.ascontiguousarray(out.position[0, :, 1][:, [0, 2]])


truth = (0.12, 0.7)
measured = bounce(*truth) + np.random.default_rng(1).normal(scale=5e-3, size=(steps, 2))
fit = least_squares(lambda p: (bounce(p[0], p[1]) - measured).ravel(), x0=(0.05, 0.6), bounds=([0, 0], [1, 1]), diff_step=1e-3,
                    x_scale=(0.1, 0.5))
print(f"mu = {fit.x[0]:.4f} (is {truth[0]}), e = {fit.x[1]:.4f} (is {truth[1]}), {fit.nfev} rounds")
assert np.allclose(fit.x, truth, atol=0.01)

figure = Figure(figsize=(7, 3.2), layout="constrained")
panel = figure.subplots()
panel.plot(*bounce(0.05, 0.6).T, label="first guess")
panel.plot(*bounce(*fit.x).T, label="fitted")
panel.plot(*measured.T, "k.", markersize=2, label="measured")
panel.set_xlabel("x [m]")
panel.set_ylabel("z [m]")
panel.legend()
figure.savefig(f"{folder}/fit_bounce.png")
