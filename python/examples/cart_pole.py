"""An environment: cart-pole with hard stops at the ends of the rail, and a linear policy found by random search."""
import numpy as np
import numpy.typing as npt
import slipstick as ss

Array = npt.NDArray[np.float64]


def make_scene() -> ss.Scene:
    b = ss.Builder("cart-pole", step=1 / 100)
    b.body("cart", mass=1, shapes=[ss.box((0.3, 0.2, 0.1))])
    b.body("pole", mass=0.1, position=(0, 0, 0.5), shapes=[ss.capsule(0.02, 0.96)])
    b.slider("rail", ("world", "cart"), axis=(1, 0, 0), limits=(-1, 1), motor={"speed": 0, "max": 20})
    b.hinge("pivot", ("cart", "pole"), at=(0, 0, 0), axis=(0, 1, 0))
    return b.compile()


class CartPole(ss.Env):
    """Keep the pole up; the stops are hard."""

    def __init__(self) -> None:
        super().__init__(make_scene(), actions=ss.Space([-10], [10]), observations=ss.Space([-np.inf] * 4, [np.inf] * 4),
                         steps_per_action=2, max_actions=250)

    def start(self) -> None:
        self.sim.apply("pole", torque=(0, self.rng.uniform(-2, 2), 0))
        self.sim.motor("rail").torque = 0
        self.sim.step()

    def act(self, action: Array) -> None:
        self.sim.motor("rail").torque = float(action[0])

    def observe(self) -> Array:
        return np.concatenate([self.sim.joint_position, self.sim.joint_velocity])

    def reward(self) -> float:
        return 1.0

    def terminated(self) -> bool:
        return abs(self.sim.joint("pivot").position) > 0.3


def play(env: CartPole, policy: Array, seed: int) -> float:
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step([float(policy @ observation)])
        total, over = total + reward, terminated or truncated
    return total


env = CartPole()
rng = np.random.default_rng(3)
best, score = np.zeros(4), play(env, np.zeros(4), 0)
for _ in range(60):
    trial = best + rng.normal(scale=(5, 20, 5, 5))
    reached = play(env, trial, 0)
    if reached > score:
        best, score = trial, reached
    if score == env.max_actions:
        break
scores = [play(env, best, seed) for seed in range(1, 6)]
print(f"policy {np.round(best, 1)}: {score:.0f} of {env.max_actions} actions; other starts: {scores}")
assert score > 100
assert play(env, best, 1) == scores[0]  # the same seed, the same bits
