"""The Python package: simulations, views, states, inputs, errors."""
import copy
import gc
import multiprocessing
import os
import pickle
import resource
import tempfile
import threading
import unittest

import numpy as np
import slipstick as ss

SCENES = os.environ["SLIPSTICK_SCENES"]
ARM = """
slipstick: 1
name: arm
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: upper, mass: 1, position: [0.5, 0, 2], shapes: [{capsule: {radius: 0.05, length: 0.8}, orientation: {axis: [0, 1, 0], angle_deg: 90}}]}
  - {name: lower, mass: 1, position: [1.5, 0, 2], center_of_mass: [0.1, 0, 0], shapes: [{box: {size: [0.9, 0.1, 0.1]}}]}
  - {name: ball, mass: 2, position: [0, 3, 0.1], shapes: [{sphere: {radius: 0.1}}]}
joints:
  - hinge: {name: shoulder, between: [world, upper], at: [0, 0, 2], axis: [0, 1, 0], motor: {speed: 0, max: 60}}
  - hinge: {name: elbow, between: [upper, lower], at: [1, 0, 2], axis: [0, 1, 0], motor: {position: 0, max: 40}}
forces:
  - load: {name: wind, body: ball, force: [1, 0, 0]}
simulation: {step: 1/200, duration: 1}
"""


def heap() -> ss.Simulation:
    b = ss.Builder("heap", step=0.01)
    b.ground()
    for i in range(4):
        b.body(f"box_{i}", mass=1 + i, position=(0.07 * i, 0.05 * (i % 2), 0.3 + 0.45 * i), shapes=[ss.box((0.4, 0.4, 0.4))],
               angular_velocity=(0.3 * i, 1, 0.2))
    return ss.Simulation(b.compile())


class Views(unittest.TestCase):
    def test_show_the_present_state_without_a_copy(self):
        sim = ss.Simulation(ss.parse(ARM))
        position, lower = sim.position, sim.body("lower").position
        before = position.copy()
        sim.step(20)
        self.assertIs(position, sim.position)
        self.assertFalse(np.array_equal(before, position))
        np.testing.assert_array_equal(lower, position[2])
        np.testing.assert_array_equal(sim.state.position, position)
        np.testing.assert_array_equal(sim.state.orientation, sim.orientation)
        np.testing.assert_array_equal(sim.state.angular_velocity, sim.angular_velocity)
        np.testing.assert_array_equal(sim.state.velocity, sim.velocity)

    def test_are_of_the_body_frame_in_world_axes(self):
        sim = ss.Simulation(ss.parse(ARM))
        np.testing.assert_allclose(sim.body("lower").position, (1.5, 0, 2))  # not the centre of mass
        h, p0 = 1e-4, None
        sim = ss.Simulation(ss.parse(ARM), step=h)
        sim.motor("shoulder").torque = 0
        sim.step(1000)
        p0 = sim.position.copy()
        sim.step()
        np.testing.assert_allclose((sim.position - p0) / h, sim.velocity, atol=2e-2)
        w = sim.body("upper").angular_velocity
        self.assertAlmostEqual(w[1], sim.joint("shoulder").velocity, places=8)

    def test_cannot_be_written_to(self):
        sim = ss.Simulation(ss.parse(ARM))
        for view in (sim.position, sim.body("ball").position, sim.joint_position, sim.joint("elbow").reaction_force):
            with self.assertRaises(ValueError):
                view[0] = 1

    def test_never_dangle(self):
        sim = heap()
        views = [sim.position, sim.body("box_3").velocity, sim.orientation[2:4], sim.joint_position]
        sim.step(10)
        kept = [v.copy() for v in views]
        del sim
        gc.collect()
        churn = [np.full(10000, 7.0) for _ in range(50)]
        for view, copy_ in zip(views, kept):
            np.testing.assert_array_equal(view, copy_)
        del churn

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "the address sanitizer keeps what was freed")
    def test_memory_is_flat(self):
        for sim, steps in ((ss.Simulation(ss.load(f"{SCENES}/pendulum.yaml")), 100_000), (heap(), 5_000)):
            total = 0.0

            def turn(count):
                nonlocal total
                for _ in range(count):
                    sim.step()
                    total += sim.position[0, 2] + sim.velocity.sum() + sim.joint_position.sum() + len(sim.contacts)

            turn(2000)
            gc.collect()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            turn(steps)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            self.assertLess(after - before, 1024)  # kB

    def test_scene_without_bodies_or_joints(self):
        sim = ss.Simulation(ss.parse("slipstick: 1\nbodies: []\n"))
        self.assertEqual(sim.position.shape, (0, 3))
        self.assertEqual(sim.joint_reaction.shape, (0, 6))
        sim.step(3)
        self.assertEqual(len(sim.contacts), 0)


class States(unittest.TestCase):
    def test_set_back_gives_the_same_bits(self):
        sim = heap()
        sim.step(10)
        chosen = np.random.default_rng(1)
        kept = []
        for _ in range(60):
            kept.append(sim.state)
            sim.step()
        after = kept[1:] + [sim.state]
        self.assertGreater(np.abs(sim.contacts["force"]).sum(), 0)
        for _ in range(1000):
            k = int(chosen.integers(60))
            sim.state = kept[k]
            self.assertEqual(hash(sim.state), hash(kept[k]))
            sim.step()
            self.assertEqual(sim.state.hash, after[k].hash)
            self.assertEqual(sim.state, after[k])

    def test_are_values(self):
        sim = heap()
        a = sim.state
        sim.step()
        b = sim.state
        self.assertNotEqual(a, b)
        self.assertEqual(a, pickle.loads(pickle.dumps(a)))
        self.assertEqual(len({a, b, copy.deepcopy(a)}), 2)
        self.assertEqual(a.time, 0)
        self.assertFalse(a == 3)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(b)).position, sim.position)

    def test_of_another_model_is_refused(self):
        sim, other = heap(), ss.Simulation(ss.parse(ARM))
        before = sim.state
        with self.assertRaisesRegex(ValueError, "another model"):
            sim.state = other.state
        with self.assertRaises(TypeError):
            sim.state = 3
        self.assertEqual(sim.state, before)

    def test_files(self):
        sim = heap()
        sim.step(5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.state")
            sim.save_state(path)
            state = sim.state
            sim.step(5)
            sim.load_state(path)
            self.assertEqual(sim.state, state)
            with self.assertRaises(ValueError):
                ss.Simulation(ss.parse(ARM)).load_state(path)


def final_hash(sim):
    sim.step(20)
    return sim.state.hash


class Copies(unittest.TestCase):
    def make(self):
        sim = ss.Simulation(ss.parse(ARM), step=1 / 300, scheme={"spook": {"damping_steps": 3}})
        sim.motor("elbow").target = 0.5
        sim.scale_load("wind", 0.5)
        sim.step(7)
        sim.apply("ball", force=(0, 2, 0), torque=(0, 0, 1), at=(0, 3, 0.2))
        return sim

    def test_go_on_with_the_same_bits(self):
        sim = self.make()
        copies = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
        wanted = final_hash(sim)
        for each in copies:
            self.assertEqual(each.scheme, "spook")
            self.assertEqual(final_hash(each), wanted)
        sim = self.make()
        sim._core.restore_inputs(ss.Simulation(sim.scene)._core.save_inputs())
        self.assertNotEqual(final_hash(sim), wanted)  # the inputs did matter

    def test_scene_with_files_survives_without_them(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/part.yaml", "w") as f:
                f.write("slipstick: 1\nbodies:\n  - {name: a, mass: m, position: [0, 0, 3], shapes: [{mesh: {file: t.obj}}]}\n")
            with open(f"{folder}/t.obj", "w") as f:
                f.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
            with open(f"{folder}/main.yaml", "w") as f:
                f.write("slipstick: 1\nlet: {m: 1}\ninclude: [part.yaml]\n")
            scene = ss.load(f"{folder}/main.yaml", set={"m": 4})
            data = pickle.dumps(scene)
        again = pickle.loads(data)
        self.assertEqual(again.model_hash, scene.model_hash)
        self.assertEqual(again.mass, [4.0])
        self.assertEqual(again.path, scene.path)
        self.assertEqual(pickle.loads(pickle.dumps(heap().scene)).model_hash, heap().scene.model_hash)

    def test_processes_and_threads(self):
        sim = self.make()
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            hashes = pool.map(final_hash, [sim, sim])
        results = []
        threads = [threading.Thread(target=lambda s=copy.deepcopy(sim): results.append(final_hash(s))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(set(hashes + results), {final_hash(sim)})

    def test_one_simulation_in_two_threads_is_refused(self):
        sim = ss.Simulation(ss.load(f"{SCENES}/stack.yaml", set={"n": 20}))
        refused, turns = threading.Event(), []

        def work():
            while not refused.is_set():  # for as long as the other thread needs to come in between
                sim.step(50)
                turns.append(1)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            with self.assertRaisesRegex(RuntimeError, "making a step"):
                while thread.is_alive():
                    sim.state
        finally:
            refused.set()
            thread.join()
        self.assertEqual(sim.step_number, 50 * len(turns))


class Inputs(unittest.TestCase):
    def test_apply_is_for_one_step(self):
        sim = ss.Simulation(ss.parse("slipstick: 1\ngravity: [0, 0, 0]\nbodies:\n  - {name: a, mass: 2, shapes: [{sphere: {radius: 1}}]}\n"), step=0.1)
        sim.apply("a", force=(0, 0, 10))
        sim.apply("a", force=(0, 0, 10))
        sim.step(3)
        np.testing.assert_allclose(sim.velocity[0], (0, 0, 1))
        sim.body("a").apply(torque=(0, 8, 0))
        sim.step()
        np.testing.assert_allclose(sim.angular_velocity[0], (0, 8 * 0.1 / (0.4 * 2), 0))
        sim.apply("a", force=(0, 1, 0), at=(1, 0, sim.position[0, 2]))
        w = sim.angular_velocity[0, 2]
        sim.step()
        self.assertAlmostEqual(sim.angular_velocity[0, 2] - w, 0.1 / 0.8, places=3)

    def test_motors(self):
        sim = ss.Simulation(ss.parse(ARM))
        self.assertTrue(sim.motor("elbow").drives_position)
        self.assertFalse(sim.motor("shoulder").drives_position)
        self.assertEqual(sim.motor("elbow").max, 40)
        sim.motor("elbow").target = 0.3
        self.assertEqual(sim.motor("elbow").target, 0.3)
        sim.step(200)
        self.assertAlmostEqual(sim.joint("elbow").position, 0.3, places=2)
        self.assertNotEqual(sim.motor("elbow").force, 0)
        self.assertAlmostEqual(sim.motor("elbow").force, sim.joint("elbow").motor_force)
        sim.motor("elbow").target = None
        self.assertEqual(sim.motor("elbow").target, 0)
        self.assertIsNone(sim.motor("shoulder").torque)
        sim.motor("shoulder").torque = -7
        sim.step()
        self.assertAlmostEqual(sim.motor("shoulder").force, -7)
        sim.reset()
        self.assertEqual(sim.state, sim.scene.initial)
        self.assertIsNone(sim.motor("shoulder").torque)

    def test_forces_of_contacts(self):
        sim = ss.Simulation(ss.load(f"{SCENES}/stack.yaml"))
        sim.step(5)
        c = sim.contacts
        low = c[(c["a"] == 0) | (c["b"] == 0)]
        self.assertAlmostEqual(low["force"][:, 2].sum(), 10 * 9.81, places=6)
        self.assertEqual(c.dtype.names, ("a", "b", "point", "normal", "gap", "force", "unique"))
        self.assertEqual([sim.scene.bodies[i] for i in set(low["b"])], ["cube_0"])
        self.assertEqual(set(low["unique"]), {2})  # four corners share the load, as equal springs do
        np.testing.assert_allclose(low["force"][:, 2], 10 * 9.81 / 4, rtol=1e-9)


class Setters(unittest.TestCase):
    def test_put_a_body_elsewhere(self):
        sim = ss.Simulation(ss.parse(ARM), scheme="stabilized")
        sim.step(10)
        turned = np.array([np.cos(0.3), 0, np.sin(0.3), 0])
        lower, others = sim.body("lower"), [sim.body(n) for n in ("upper", "ball")]
        before = [(b.position.copy(), b.velocity.copy()) for b in others]
        lower.position = (4, 1, 5)
        lower.orientation = 2 * turned
        lower.angular_velocity = (0.3, 1, -2)
        lower.velocity = (1, 2, 3)
        np.testing.assert_allclose(lower.position, (4, 1, 5), atol=1e-15)
        np.testing.assert_allclose(lower.orientation, turned, atol=1e-15)
        np.testing.assert_allclose(lower.velocity, (1, 2, 3), atol=1e-15)
        np.testing.assert_allclose(lower.angular_velocity, (0.3, 1, -2), atol=1e-15)
        np.testing.assert_array_equal(sim.state.position, sim.position)
        for body, (p, v) in zip(others, before):
            np.testing.assert_array_equal(body.position, p)
            np.testing.assert_array_equal(body.velocity, v)

    def test_is_what_the_scene_would_have_said(self):
        text = ("slipstick: 1\ngravity: [0, 0, -9.81]\nbodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                "  - {name: a, mass: 2, center_of_mass: [0.05, 0, 0.02], position: [%s, 0, %s], velocity: [%s, 0, 0], shapes: [{box: {size: [0.4, 0.3, 0.2]}}]}\n")
        moved, made = ss.Simulation(ss.parse(text % (0, 0.1, 0))), ss.Simulation(ss.parse(text % (1, 0.5, 2)))
        moved.body("a").position = (1, 0, 0.5)
        moved.body("a").velocity = (2, 0, 0)
        moved.step(60), made.step(60)  # through the landing
        np.testing.assert_allclose(moved.position, made.position, atol=1e-12)
        moved.body("a").position = (0, 0, 3)  # from a contact into the air: nothing of it stays
        moved.body("a").velocity = (0, 0, 0)
        moved.step()
        self.assertAlmostEqual(moved.body("a").velocity[2], -9.81 * moved.step_size, places=12)

    def test_faults(self):
        sim = ss.Simulation(ss.parse(ARM))
        before = sim.state
        ball = sim.body("ball")
        for name, value in (("position", (0, 0)), ("position", (0, 0, np.nan)), ("orientation", (0, 0, 0, 0)), ("orientation", (1, 0, 0)),
                            ("orientation", (np.inf, 0, 0, 0)), ("velocity", "fast"), ("angular_velocity", (1,)), ("velocity", None)):
            with self.assertRaises(ValueError):
                setattr(ball, name, value)
        with self.assertRaisesRegex(ValueError, "where the scene says"):
            sim.body("floor").position = (0, 0, 1)
        with self.assertRaises(ValueError):
            ball.position[2] = 1
        self.assertEqual(sim.state, before)
        b = ss.Builder("locked")
        b.body("a", mass=1, lock=["z", "rotation"], shapes=[ss.sphere(1)])
        locked = ss.Simulation(b.compile()).body("a")
        locked.velocity = (1, 2, 0)
        with self.assertRaisesRegex(ValueError, "locks"):
            locked.velocity = (0, 0, 1)
        p = ss.Builder("flat", planar=True, gravity=(0, -9.81))
        p.body("d", mass=1, position=(0, 1), shapes=[ss.disk(0.3)])
        disk = ss.Simulation(p.compile()).body("d")
        disk.position = (1, 2, 0)
        with self.assertRaisesRegex(ValueError, "planar"):
            disk.position = (1, 2, 3)


class Ledger(unittest.TestCase):
    def test_has_every_part_of_the_change(self):
        b = ss.Builder("deep", step=0.01)
        b.ground()
        b.body("box", mass=1, position=(0, 0, 0.19), shapes=[ss.box((0.4, 0.4, 0.4))])  # 1 cm deep
        ledger = ss.Simulation(b.compile()).step().ledger
        self.assertGreater(ledger["correction"], 0)
        self.assertAlmostEqual(ledger.pop("change"), sum(ledger.values()), delta=1e-12)


class Errors(unittest.TestCase):
    def test_names(self):
        sim = ss.Simulation(ss.parse(ARM))
        for call, near in ((lambda: sim.body("bal"), "ball"), (lambda: sim.joint("elbo"), "elbow"), (lambda: sim.motor("sholder"), "shoulder"),
                           (lambda: sim.apply("uper", (0, 0, 1)), "upper"), (lambda: sim.scale_load("wnd", 1), "wind")):
            with self.assertRaisesRegex(ss.UnknownName, f"did you mean '{near}'"):
                call()
        with self.assertRaises(KeyError):
            sim.body("zzz")

    def test_numbers(self):
        sim = ss.Simulation(ss.parse(ARM))
        twin = copy.deepcopy(sim)
        nan = float("nan")
        for call in (lambda: setattr(sim.motor("elbow"), "target", nan), lambda: setattr(sim.motor("elbow"), "max", -1),
                     lambda: sim.apply("ball", (0, 0, nan)), lambda: sim.apply("ball", (0, 1)), lambda: sim.apply("floor", (0, 0, 1)),
                     lambda: sim.apply("ball", (0, 0, 1), frame="word"), lambda: sim.step(0), lambda: sim.run(-1),
                     lambda: sim.apply("ball", "up")):
            with self.assertRaises(ValueError):
                call()
        for call, said in ((lambda: sim.step("a"), "whole number"), (lambda: sim.step(1.5), "whole number"),
                           (lambda: setattr(sim.motor("elbow"), "target", "x"), "'elbow': target must be a number"),
                           (lambda: ss.parse(5), "slipstick.load reads"), (lambda: ss.rollout(sim.scene, "x", steps=3), "State")):
            with self.assertRaisesRegex(TypeError, said):
                call()
        sim.step(10)
        twin.step(10)
        self.assertEqual(sim.state, twin.state)

    def test_scene_with_five_faults(self):
        text = ("slipstick: 1\nbodies:\n  - {name: a, mas: 1, shapes: [{sphere: {radius: 1}}]}\n  - {name: b, mass: -1, shapes: [{sphere: {radius: 1}}]}\n"
                "  - {name: c, mass: 1, shapes: [{sphere: {radius: 0}}]}\n  - {name: d, mass: 1, colour: red}\n"
                "joints:\n  - hinge: {between: [a, zz], at: [0, 0, 0]}\nsimulation: {scheme: trapezoit}\n")
        with self.assertRaises(ss.SceneError) as caught:
            ss.parse(text, name="five.yaml")
        faults = caught.exception.faults
        self.assertGreaterEqual(len(faults), 5)
        self.assertEqual(faults[0].file, "five.yaml")
        self.assertEqual(faults[0].line, 3)
        self.assertGreater(faults[0].column, 0)
        self.assertIn("did you mean 'mass'", faults[0].message)
        self.assertIn("five.yaml:3:", str(caught.exception))
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).faults, faults)
        with self.assertRaises(ss.SceneError):
            ss.load("nowhere.yaml")

    def test_options(self):
        scene = ss.parse(ARM)
        for options in ({"step": -1}, {"step": float("nan")}, {"scheme": "trapezoit"}, {"solver": "newtn"}, {"scheme": {"spook": {"complance": 1}}}):
            with self.assertRaises(ss.SceneError):
                ss.Simulation(scene, **options)
        self.assertEqual(ss.Simulation(scene, step=1 / 50).step_size, 1 / 50)
        with self.assertRaises(TypeError):
            ss.Simulation("scene.yaml")

    def test_divergence(self):
        sim = ss.Simulation(ss.parse("slipstick: 1\nbodies:\n  - {name: a, mass: 1, shapes: [{sphere: {radius: 1}}]}\n"
                                     "forces:\n  - load: {name: l, body: a, force: ['t > 0.05 ? 1e308*1e308 : 0', 0, 0]}\n"), step=0.01)
        with self.assertRaises(ss.Diverged) as caught:
            sim.step(20)
        self.assertTrue(caught.exception.report.failed)
        self.assertTrue(np.isfinite(sim.position).all())
        sim.scale_load("l", 0)


class Runs(unittest.TestCase):
    def test_is_stepping(self):
        a, b = heap(), heap()
        report = a.run(0.5)
        b.step(50)
        self.assertEqual(a.state, b.state)
        self.assertEqual(report["state_hash"], a.state.hash)
        self.assertEqual(report["steps"], 50)

    def test_controller(self):
        a, b = ss.Simulation(ss.parse(ARM)), ss.Simulation(ss.parse(ARM))

        def control(sim):
            sim.motor("shoulder").torque = -30 * sim.joint("shoulder").position
            sim.apply("ball", (0, 0, 1))

        a.run(0.2, controller=control)
        for _ in range(40):
            control(b)
            b.step()
        self.assertEqual(a.state, b.state)

    def test_controller_that_raises(self):
        sim, twin = ss.Simulation(ss.parse(ARM)), ss.Simulation(ss.parse(ARM))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")

            def control(s):
                if s.step_number == 10:
                    s.motor("elbow").target = 1
                    s.apply("ball", (0, 0, 1000))
                    raise ZeroDivisionError("mine")

            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                sim.run(1, controller=control, record=path)
            self.assertEqual(len(ss.open(path)), 11)
            self.assertEqual(ss.open(path).ended, "failed")
        twin.step(10)
        self.assertEqual(sim.state, twin.state)
        sim.step(10)
        twin.step(10)
        self.assertEqual(sim.state, twin.state)  # nothing that it set has stayed

    def test_progress(self):
        import contextlib
        import io
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            heap().run(0.1, progress=True)
        self.assertIn("100 %", err.getvalue())


class Turning(unittest.TestCase):
    def test_free_bodies_keep_their_energy_however_far_they_turn_in_a_step(self):
        text = """
slipstick: 1
gravity: [0, 0, 0]
bodies:
  - {name: rod, density: 1000, angular_velocity: [W, 0.3*W, 0.5*W], shapes: [{capsule: {radius: 0.05, length: 0.4}}]}
  - {name: box, density: 1000, position: [3, 0, 0], angular_velocity: [W, 0.3*W, 0.5*W], shapes: [{box: {size: [0.1, 0.2, 0.4]}}]}
simulation: {duration: 1, step: 1/60}
"""
        for scheme in ("stabilized", "spook", "euler", "trapezoid"):
            for spin in (30, 130, 300, 2000):  # half a radian per step to 38
                sim = ss.Simulation(ss.parse(text.replace("W", str(spin))), scheme=scheme)
                before = sim.energy.kinetic
                sim.run()
                self.assertAlmostEqual(sim.energy.kinetic / before, 1, delta=1e-9, msg=f"{scheme}, {spin} rad/s")


if __name__ == "__main__":
    unittest.main()
