"""Which way should the rover take to its sample? Drives the candidates of scenes/studies/rover.yaml, draws the best three on the map.

    ./slipstick python python/examples/rover_planner.py FOLDER 200      # all 200; without a number 6, for a first look (docs/rover.md)

A candidate is driven, not estimated. Of those that arrive with every side of the rover keeping MARGIN of its load, the best is the
one that costs the wheels' motors the least energy. The table of a sweep that was ended is taken up where it is.
"""
import dataclasses
import os
import sys
from typing import Any

import numpy as np
import slipstick as ss
from matplotlib.colors import LightSource  # type: ignore[import]
from matplotlib.figure import Figure  # type: ignore[import]
from matplotlib.patches import Circle  # type: ignore[import]
from slipstick.studies.study import read

folder = sys.argv[1] if len(sys.argv) > 1 else "."
count = int(sys.argv[2]) if len(sys.argv) > 2 else 6
scenes = os.environ.get("SLIPSTICK_SCENES", "scenes")
MARGIN, SIZE, SPAN, ARM = 0.5, 200.0, 16.0, 0.05    # the last three as in scenes/rover.yaml: the map, its heights, its soil
COLORS = ("#d7263d", "#1b6ca8", "#2e933c")


def read_map(name: str, white: float) -> Any:
    """A grey map of 16 bits; the first row of what it returns has the least y."""
    with open(f"{scenes}/parts/{name}", "rb") as file:
        _, size, _, grey = file.read().split(b"\n", 3)
    columns, rows = (int(n) for n in size.split())
    return np.frombuffer(grey, dtype=">u2").reshape(rows, columns)[::-1] * (white / 65535)


def drive(candidate: Any) -> Any:
    """Its track: places of the chassis until the arm begins its work."""
    scene = ss.load(f"{scenes}/rover.yaml", set={"out_1": candidate.out_1, "out_2": candidate.out_2, "h": 1 / 60})
    sim, track = ss.Simulation(scene), []
    while sim.time < 24 and sim.sensor("arm_clock") == 0:
        sim.step(10)
        track.append(sim.body("chassis").position.copy())
    return np.array(track)


study = dataclasses.replace(read(f"{scenes}/studies/rover.yaml"), count=count)
frame = ss.sweep(study, f"{folder}/rover_planner_{count}.csv", progress=count > 20)
arrived = frame[frame.arrived.astype(bool)]
safe = arrived[arrived.margin > MARGIN]
best = safe.nsmallest(3, "energy")
print(f"{len(frame)} candidates, {len(arrived)} arrive, {len(safe)} of them with a margin above {MARGIN}")
print(best[["out_1", "out_2", "energy", "energy_per_metre", "way", "slip", "margin"]].round(3).to_string())

heights, arms = read_map("rover_heights.pgm", SPAN), read_map("rover_soil.pgm", ARM)
x, square = np.linspace(-SIZE / 2, SIZE / 2, len(heights)), (-SIZE / 2, SIZE / 2, -SIZE / 2, SIZE / 2)
figure = Figure(figsize=(9, 7.4), layout="constrained")
axes = figure.subplots()
sand = axes.imshow(1000 * arms, cmap="YlOrBr", origin="lower", extent=square, interpolation="bilinear")
shade = LightSource(315, 35).hillshade(heights, vert_exag=4, dx=x[1] - x[0], dy=x[1] - x[0])
axes.imshow(shade, cmap="gray", origin="lower", extent=square, interpolation="bilinear", alpha=0.35)
axes.contour(x, x, heights, levels=np.arange(0, SPAN, 0.5), colors="#5a3a22", linewidths=0.4, alpha=0.7)
figure.colorbar(sand, ax=axes, label="soil: arm of rolling friction, mm", shrink=0.6)
for _, rock_x, rock_y, _, size in np.loadtxt(f"{scenes}/parts/rover_rocks.csv", delimiter=",", skiprows=2):
    axes.add_patch(Circle((rock_x, rock_y), size / 2, color="#2b2b2b"))
for rank, (case, row) in enumerate(best.iterrows()):
    track = drive(row)
    axes.plot(track[:, 0], track[:, 1], color=COLORS[rank], lw=2.2,
              label=f"{rank + 1}: case {case}, {row.energy / 1000:.2f} kJ, {row.way:.1f} m, margin {row.margin:.2f}, slip {row.slip:.2f}")
axes.plot(-18, -12, "s", color="white", mec="black", ms=9, label="base")
axes.plot(9, 7, "*", color="cyan", mec="black", ms=14, label="sample")
axes.set(xlim=(-30, 20), ylim=(-26, 20), xlabel="x, m", ylabel="y, m", aspect="equal",
         title=f"{len(frame)} candidate sorties, {len(safe)} arrive upright: the best three")
axes.legend(loc="lower right", fontsize=8)
figure.savefig(f"{folder}/rover_planner.png", dpi=100)
