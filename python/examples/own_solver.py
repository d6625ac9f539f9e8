"""A solver of one's own: projected Gauss-Seidel in NumPy on a stack of cubes, beside newton, in one plot."""
import os
import sys

import numpy as np
import numpy.typing as npt
import slipstick as ss
from matplotlib.figure import Figure  # type: ignore[import]

Array = npt.NDArray[np.float64]
folder = sys.argv[1] if len(sys.argv) > 1 else "."
EVERY = 10  # sweeps between looks at the residual
history: list[list[float]] = []  # per call: what the judge said


def numpy_pgs(problem: ss.Problem, guess: Array) -> Array:
    """One contact after another, each as if all others were right; friction is clipped at its cone."""
    G, q, r = problem.delassus.toarray(), problem.q, guess.copy()
    laws = [(slice(law["row"], law["row"] + law["size"]), law["mu"]) for law in problem.laws if law["law"] == "friction"]
    assert len(laws) == len(problem.laws), "this solver knows friction alone"
    history.append([])
    for sweep in range(600):
        for rows, mu in laws:
            n, t = rows.start, slice(rows.start + 1, rows.stop)
            r[n] = max(0.0, r[n] - (G[n] @ r + q[n]) / G[n, n])
            r[t] -= (G[t] @ r + q[t]) / G[n + 1, n + 1]
            size = float(np.linalg.norm(r[t]))
            if size > mu * r[n]:
                r[t] *= mu * r[n] / size
        if sweep % EVERY == 0:
            history[-1].append(problem.certify(r).verdict)
            if history[-1][-1] < 1e-9:
                break
    return r


scene = ss.load(os.environ.get("SLIPSTICK_SCENES", "scenes") + "/stack.yaml", set={"n": 3})
own, newton = ss.Simulation(scene, solver=numpy_pgs), ss.Simulation(scene, solver="newton")
reports: dict[str, list[ss.StepReport]] = {"numpy_pgs": [], "newton": []}
for _ in range(40):
    for sim, name in ((own, "numpy_pgs"), (newton, "newton")):
        if sim.step_number == 5:
            sim.apply("cube_2", force=(100, 0, 0))  # a knock
        reports[name].append(sim.step())
print(own.solver, own.solver_statistics["numpy_pgs"], own.solver_failures)
print("farthest from newton's cubes:", np.abs(own.position - newton.position).max(), "m")
assert np.abs(own.position - newton.position).max() < 1e-4
assert own.solver_statistics["numpy_pgs"]["certified"] >= 20 and all(r.certified for r in reports["numpy_pgs"])

own.problem.save(f"{folder}/stack_problem.h5")  # for `slipstick solve`, and back
again = ss.load_problem(f"{folder}/stack_problem.h5")
print(again, ss.solve(again, "newton").solver, ss.solve(again, numpy_pgs).solver)

figure = Figure(figsize=(8, 3.4), layout="constrained")
sweeps, steps = figure.subplots(1, 2)
for verdicts in history[:40]:
    sweeps.semilogy(EVERY * np.arange(len(verdicts)), verdicts, ".-", color="C0", alpha=0.3)
sweeps.axhline(1e-8, color="k", linestyle=":")
sweeps.set(xlabel="sweep", ylabel="residual, by the judge", title="numpy_pgs, problem by problem")
for name, made in reports.items():
    steps.semilogy([max(r.relative_residual, 1e-17) for r in made], ".-", label=name)
late = [k for k, r in enumerate(reports["numpy_pgs"]) if r.escalations]
steps.semilogy(late, [1e-17] * len(late), "rx", label="auto took its place")
steps.axhline(1e-8, color="k", linestyle=":", label="tolerance")
steps.set(xlabel="step", ylabel="residual of the step", title="what was taken")
steps.legend(fontsize="small")
figure.savefig(f"{folder}/own_solver.png")
