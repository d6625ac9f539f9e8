"""First steps: load a scene, step it, look at it, record it, plot it."""
import os
import sys

import slipstick as ss

folder = sys.argv[1] if len(sys.argv) > 1 else "."
scenes = os.environ.get("SLIPSTICK_SCENES", "scenes")

scene = ss.load(f"{scenes}/stack.yaml", set={"n": 5})
sim = ss.Simulation(scene, step=1 / 100)
print(scene, sim)

report = sim.step()
print(report, "ledger:", report.ledger["change"])

floor = sim.scene.body_index("floor")
low = sim.contacts[sim.contacts["a"] == floor]
print("the floor carries", low["force"][:, 2].sum(), "N")

start = sim.state  # a value: go back to it as often as you like
sim.apply("cube_4", force=(400, 0, 0))  # a push for one step
sim.run(1.5, record=f"{folder}/first.h5")
print("top cube after the push:", sim.body("cube_4").position)
sim.state = start
sim.run(1.5)
print("and without:            ", sim.body("cube_4").position)

recording = ss.open(f"{folder}/first.h5")
print(recording.to_pandas()[["cube_4.x", "cube_4.z"]].tail(3))
recording.plot("energy", "cube_4.position", path=f"{folder}/first_steps.png")
