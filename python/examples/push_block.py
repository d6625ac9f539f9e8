"""An environment: push a block with a disk to a mark on the floor, against dry friction."""
import numpy as np
import numpy.typing as npt
import slipstick as ss

Array = npt.NDArray[np.float64]
GOAL = np.array([0.6, 0.0])


def make_scene() -> ss.Scene:
    b = ss.Builder("push", step=1 / 100)
    b.material("default", friction=0.4)
    b.ground()
    b.body("block", mass=1, position=(0.25, 0, 0.05), shapes=[ss.box((0.1, 0.1, 0.1))])
    b.body("hand", mass=0.5, position=(0, 0, 0.06), shapes=[ss.cylinder(0.03, 0.06)], lock=["z", "rotation"])
    return b.compile()


class PushBlock(ss.Env):
    """Actions are velocities of the hand, m/s."""

    def __init__(self) -> None:
        super().__init__(make_scene(), actions=ss.Space([-0.5, -0.5], [0.5, 0.5]),
                         observations=ss.Space([-np.inf] * 4, [np.inf] * 4), steps_per_action=5, max_actions=80)

    def act(self, action: Array) -> None:
        error = action - self.sim.body("hand").velocity[:2]
        self.sim.apply("hand", force=(50 * error[0], 50 * error[1], 0))

    def observe(self) -> Array:
        return np.concatenate([self.sim.body("block").position[:2], self.sim.body("hand").position[:2]])

    def distance(self) -> float:
        return float(np.linalg.norm(self.sim.body("block").position[:2] - GOAL))

    def reward(self) -> float:
        return -self.distance()

    def terminated(self) -> bool:
        return self.distance() < 0.02


env = PushBlock()
observation, _ = env.reset(seed=1)
over = False
while not over:
    block, hand = observation[:2], observation[2:]
    observation, reward, terminated, truncated, info = env.step([0.3, 0.5 * (block[1] - hand[1])])
    over = terminated or truncated
print(f"{env.actions_made} actions, the block is {1000 * env.distance():.1f} mm from its mark")
assert terminated and info["certified"]
