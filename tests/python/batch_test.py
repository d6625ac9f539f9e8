"""The Python package: Builder, rollout, recordings, pages."""
import html
import os
import re
import tempfile
import unittest

import numpy as np
import slipstick as ss

SCENES = os.environ["SLIPSTICK_SCENES"]


def cart() -> ss.Scene:
    b = ss.Builder("cart", step=0.01)
    b.body("cart", mass=1, shapes=[ss.box((0.4, 0.2, 0.1))])
    b.body("pole", mass=0.2, position=(0, 0, 0.5), shapes=[ss.capsule(0.02, 0.9)])
    b.slider("rail", ("world", "cart"), axis=(1, 0, 0), motor={"speed": 0, "max": 100}, limits=(-2, 2))
    b.hinge("pivot", ("cart", "pole"), at=(0, 0, 0), axis=(0, 1, 0))
    return b.compile()


class Builders(unittest.TestCase):
    def test_is_the_scene_that_a_file_says(self):
        b = ss.Builder("two", gravity=(0, 0, -1), step=0.01)
        b.material("rubber", friction={"peak": 0.9, "sliding": 0.6, "slip_speed": 0.2}, restitution=0.5)
        b.ground(material="rubber")
        b.body("a", mass=np.float64(2), position=np.array([0, 0, 1.1]), shapes=[ss.sphere(0.1, material="rubber")])
        b.spring("s", ("world", "a"), at=[(0, 0, 3), (0, 0, 1.1)], stiffness=10, damping=1)
        text = """
slipstick: 1
name: two
gravity: [0, 0, -1]
materials: {rubber: {friction: {peak: 0.9, sliding: 0.6, slip_speed: 0.2}, restitution: 0.5}}
bodies:
  - {name: ground, fixed: true, material: rubber, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: a, mass: 2, position: [0, 0, 1.1], shapes: [{sphere: {radius: 0.1}, material: rubber}]}
forces:
  - spring: {name: s, between: [world, a], at: [[0, 0, 3], [0, 0, 1.1]], stiffness: 10, damping: 1}
simulation: {step: 0.01}
"""
        self.assertEqual(b.compile().model_hash, ss.parse(text).model_hash)
        self.assertEqual(b.compile().initial, ss.parse(text).initial)

    def test_all_shapes(self):
        b = ss.Builder("shapes")
        for i, shape in enumerate([ss.sphere(0.1), ss.box((1, 2, 3)), ss.capsule(0.1, 1), ss.cylinder(0.2, 1), ss.cone(0.2, 1),
                                   ss.ellipsoid((1, 2, 3)), ss.hull(np.eye(3).tolist() + [[0, 0, 0]], density=3)]):
            b.body(f"b{i}", density=1000, position=(5 * i, 0, 0), shapes=[shape])
        self.assertEqual(len(b.compile().bodies), 7)
        p = ss.Builder("flat", planar=True, gravity=(0, -9.81))
        p.ground()
        p.body("d", mass=1, position=(0, 1), shapes=[ss.disk(0.3)])
        p.body("p", mass=1, position=(2, 1), shapes=[ss.polygon([(0, 0), (1, 0), (0, 1)])])
        sim = ss.Simulation(p.compile())
        sim.run(1)
        self.assertAlmostEqual(sim.body("d").position[1], 0.3, places=6)

    def test_faults(self):
        b = ss.Builder("bad")
        b.body("a", shapes=[ss.sphere(-1)])
        b.hinge("h", ("a", "b"), at=(0, 0, 0))
        with self.assertRaises(ss.SceneError) as caught:
            b.compile()
        self.assertGreaterEqual(len(caught.exception.faults), 2)
        with self.assertRaises(TypeError):
            b.body("c", mas=1)
        with self.assertRaises(TypeError):
            b.body("c", mass=object()) or b.compile()


class Rollouts(unittest.TestCase):
    def test_same_bits_for_any_number_of_threads_and_as_a_simulation(self):
        scene = cart()
        sim = ss.Simulation(scene)
        states = []
        for k in range(12):
            sim.apply("pole", torque=(0, 0.3 * k, 0))
            sim.step()
            states.append(sim.state)
        controls = np.random.default_rng(2).normal(size=(12, 30, 1)) * 5
        one = ss.rollout(scene, states, controls, threads=1, control="torque")
        two = ss.rollout(scene, states, controls, threads=2, control="torque")
        for name in ("time", "position", "orientation", "velocity", "angular_velocity", "joint_position", "joint_velocity", "residual"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        self.assertEqual(one.states, two.states)
        self.assertTrue(one.certified.all())
        self.assertFalse(one.failed.any())
        sim.state = states[5]
        for k in range(30):
            sim.motor("rail").torque = controls[5, k, 0]
            sim.step()
            np.testing.assert_array_equal(sim.position, one.position[5, k])
            np.testing.assert_array_equal(sim.joint_position, one.joint_position[5, k])
        self.assertEqual(sim.state, one.states[5])

    def test_shapes_and_faults(self):
        scene = cart()
        self.assertEqual(ss.rollout(scene, steps=5).position.shape, (1, 5, 2, 3))
        self.assertEqual(ss.rollout(scene, None, np.zeros((4, 1))).position.shape, (1, 4, 2, 3))
        self.assertEqual(ss.rollout(scene, [scene.initial] * 3, np.zeros((4, 1))).position.shape, (3, 4, 2, 3))
        for call in (lambda: ss.rollout(scene), lambda: ss.rollout(scene, None, np.zeros((4, 2))), lambda: ss.rollout(scene, None, np.full((4, 1), np.nan)),
                     lambda: ss.rollout(scene, [scene.initial] * 3, np.zeros((2, 4, 1))), lambda: ss.rollout(scene, steps=4, control="speed"),
                     lambda: ss.rollout(scene, ss.parse("slipstick: 1\nbodies: []\n").initial, steps=3)):
            with self.assertRaises(ValueError):
                call()


class Push(ss.Env):
    def start(self):
        self.sim.apply("pole", torque=(0, self.rng.normal(), 0))

    def act(self, action):
        self.sim.motor("rail").torque = action[0]

    def observe(self):
        return self.sim.joint_position

    def reward(self):
        return -abs(self.sim.joint_position[0])

    def terminated(self):
        return abs(self.sim.joint_position[1]) > 1


class Envs(unittest.TestCase):
    def make(self, **options):
        return Push(cart(), actions=ss.Space([-10], [10]), observations=ss.Space([-np.inf] * 2, [np.inf] * 2), **options)

    def play(self, env, seed):
        seen = [env.reset(seed=seed)[0]]
        for k in range(50):
            seen.append(env.step([5 * np.sin(k)])[0])
        return np.array(seen)

    def test_same_seed_same_bits(self):
        env = self.make()
        first = self.play(env, 1)
        self.assertTrue((self.play(env, 2) != first)[-1].any())
        np.testing.assert_array_equal(self.play(env, 1), first)  # a reset forgets the motor too
        np.testing.assert_array_equal(self.play(self.make(), 1), first)

    def test_ends(self):
        env = self.make(max_actions=3, steps_per_action=2)
        env.reset(seed=1)
        ends = [env.step([0])[2:4] for _ in range(3)]
        self.assertEqual(ends, [(False, False)] * 2 + [(False, True)])
        self.assertEqual(env.sim.step_number, 6)
        env = self.make()
        env.reset(seed=1)
        while not env.step([10])[2]:
            self.assertLess(env.actions_made, 500)
        self.assertGreater(abs(env.sim.joint_position[1]), 1)

    def test_actions(self):
        env, twin = self.make(), self.make()
        env.reset(seed=1), twin.reset(seed=1)
        a, b = env.step([50]), twin.step([10])
        np.testing.assert_array_equal(a[0], b[0])
        self.assertTrue(a[4]["clipped"] and not b[4]["clipped"])
        for wrong in ([np.nan], [1, 2], 3):
            with self.assertRaises(ValueError):
                env.step(wrong)
        space = ss.Space([-1, -np.inf], [2, np.inf])
        self.assertTrue(all(space.contains(space.sample(np.random.default_rng(k))) for k in range(20)))
        self.assertFalse(space.contains([3, 0]) or space.contains([0]))
        with self.assertRaises(ValueError):
            ss.Space([1, 2], [0])


class Recordings(unittest.TestCase):
    def test_holds_what_the_simulation_did(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            sim = ss.Simulation(cart())
            sim.motor("rail").target = 0.5
            sim.run(1, record=path)
            rec = ss.open(path)
            self.assertEqual(len(rec), 101)
            self.assertEqual(rec.ended, "complete")
            self.assertEqual(rec.bodies, ["cart", "pole"])
            np.testing.assert_array_equal(rec.position("pole")[-1], sim.body("pole").position)
            np.testing.assert_array_equal(rec.pose("pole")[-1, 3:], sim.body("pole").orientation)
            np.testing.assert_array_equal(rec.angular_velocity("pole")[-1], sim.body("pole").angular_velocity)
            self.assertEqual(rec.joint("rail")["position"][-1], sim.joint("rail").position)
            table = rec.to_pandas()
            self.assertEqual(table["pole.x"].iloc[-1], sim.body("pole").position[0])
            self.assertEqual(table.index[-1], rec.time[-1])
            figure = rec.plot("energy", "pole.position", "rail.velocity", path=os.path.join(folder, "a.png"))
            self.assertEqual(len(figure.axes), 3)
            self.assertGreater(os.path.getsize(os.path.join(folder, "a.png")), 5000)
            with self.assertRaisesRegex(ss.UnknownName, "did you mean 'energy'"):
                rec.plot("enrgy")
            with self.assertRaisesRegex(ss.UnknownName, "did you mean 'pole'"):
                rec.pose("pol")
            sim.run(0.5, record=os.path.join(folder, "rest.h5"))  # goes on
            self.assertEqual(ss.open(os.path.join(folder, "rest.h5")).time[0], rec.time[-1])

    def test_never_replaces_a_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.yaml")
            with open(path, "w") as f:
                f.write("slipstick: 1\nbodies: []\n")
            with self.assertRaisesRegex(ValueError, "replace"):
                ss.Simulation(ss.load(path)).run(1, record=path)
            with self.assertRaises(ss.RecordingError):
                ss.open(path)
            with self.assertRaises(ss.RecordingError):
                ss.Simulation(ss.load(path)).run(1, record=os.path.join(folder, "no", "such.h5"))

    def test_pages(self):
        sim = ss.Simulation(cart())
        before = sim.state
        try:
            page = sim.view(0.2)
        except ss.ViewerMissing as error:
            self.skipTest(str(error))
        self.assertEqual(sim.state, before)
        inline = page._repr_html_()
        self.assertTrue(inline.isascii())
        self.assertEqual(html.unescape(re.search('srcdoc="([^"]*)"', inline)[1]), page.html)
        self.assertIn("<html", page.html[:500].lower())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            sim.run(0.1, record=path)
            ss.open(path).show().save(os.path.join(folder, "a.html"))
            self.assertGreater(os.path.getsize(os.path.join(folder, "a.html")), 100000)


if __name__ == "__main__":
    unittest.main()
