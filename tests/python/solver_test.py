"""The Python package: problems, solvers of one's own, the live viewer."""
import base64
import copy
import os
import pickle
import signal
import socket
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
import warnings

import numpy as np
import slipstick as ss

SCENES = os.environ["SLIPSTICK_SCENES"]


def stack(**options) -> ss.Simulation:
    return ss.Simulation(ss.load(f"{SCENES}/stack.yaml", set={"n": 4}), **options)


def dominoes(**options) -> ss.Simulation:
    """Joints, limits, motors, friction: every law."""
    b = ss.Builder("all laws", step=0.01)
    b.ground()
    b.body("base", mass=2, position=(0, 0, 0.25), shapes=[ss.box((0.5, 0.5, 0.5))])
    b.body("arm", mass=1, position=(0.5, 0, 0.8), shapes=[ss.box((0.8, 0.1, 0.1))])
    b.hinge("elbow", ("base", "arm"), at=(0.1, 0, 0.8), axis=(0, 1, 0), limits_deg=(-20, 20), motor={"speed": 1, "max": 2}, friction=0.05)
    b.body("far", mass=1, position=(5, 0, 0.2), shapes=[ss.sphere(0.2)])
    return ss.Simulation(b.compile(), **options)


def by_lemke(problem, guess):
    return ss.solve(problem, "lemke", guess=guess).impulse


def raises(problem, guess):
    raise ZeroDivisionError("on purpose")


def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


class Problems(unittest.TestCase):
    def test_is_what_docs_say(self):
        sim = dominoes()
        sim.step(40)
        p = sim.problem
        self.assertEqual(set(p.laws["law"]), {"equality", "nonnegative", "box", "friction"})
        self.assertEqual(p.laws["size"].sum(), p.rows)
        self.assertEqual(p.J.shape, (p.rows, p.unknowns))
        answer = ss.solve(p, "newton")
        self.assertTrue(answer.certified)
        r, v, w = answer.impulse, answer.velocity, answer.row_velocity
        np.testing.assert_allclose(p.A @ v, p.b + p.J.T @ r, atol=1e-12)
        np.testing.assert_allclose(w, p.J @ v + p.compliance * r + p.c, atol=1e-12)
        np.testing.assert_allclose(w, p.row_velocity(r), atol=1e-12)
        np.testing.assert_allclose(v, p.velocity(r), atol=1e-12)
        np.testing.assert_allclose(p.delassus @ r + p.q, w, atol=1e-12)
        for law in p.laws:
            rows = slice(law["row"], law["row"] + law["size"])
            if law["law"] == "equality":
                np.testing.assert_allclose(w[rows], 0, atol=1e-8)
            if law["law"] == "nonnegative":
                self.assertTrue((r[rows] >= -1e-12).all() and (w[rows] >= -1e-8).all())
            if law["law"] == "box":
                self.assertTrue((r[rows] <= p.upper[rows] + 1e-12).all() and (r[rows] >= p.lower[rows] - 1e-12).all())
            if law["law"] == "friction":
                n, t = r[rows][0], r[rows][1:]
                self.assertGreaterEqual(n, -1e-12)
                self.assertLessEqual(np.linalg.norm(t), law["mu"] * n + 1e-9)
        with self.assertRaises(ValueError):
            p.c[0] = 1

    def test_the_judge(self):
        p = quietly(lambda: (lambda s: (s.step(3), s.problem)[1])(stack()))
        good = ss.solve(p, "newton")
        self.assertLess(p.certify(good.impulse).verdict, 1e-8)
        self.assertGreater(p.certify(1.01 * good.impulse).verdict, 1e-4)
        self.assertEqual(p.certify(np.full(p.rows, np.nan)).verdict, np.inf)
        with self.assertRaises(ValueError):
            p.certify([1, 2])

    def test_files_and_pickles(self):
        sim = dominoes()
        sim.step(40)
        p = sim.problem
        answer = ss.solve(p)
        again = pickle.loads(pickle.dumps(p))
        np.testing.assert_array_equal(ss.solve(again).impulse, answer.impulse)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.h5")
            p.save(path, guess=answer.impulse, title="t")
            read = ss.load_problem(path)
            self.assertEqual(read.rows, p.rows)
            self.assertTrue(ss.solve(read, "newton").certified)
            with self.assertRaises(ss.RecordingError):
                p.save(os.path.join(folder, "no", "such.h5"))
            with self.assertRaises(ss.RecordingError):
                ss.load_problem(os.path.join(folder, "nothing.h5"))

    def test_wrong_names_and_numbers(self):
        p = stack().problem
        with self.assertRaisesRegex(ss.UnknownName, "did you mean 'newton'"):
            ss.solve(p, "newtn")
        with self.assertRaises(ValueError):
            ss.solve(p, tolerance=0)
        with self.assertRaises(ValueError):
            ss.solve(p, guess=np.zeros(p.rows + 1))
        with self.assertRaises(TypeError):
            ss.Problem(3)


class OwnSolvers(unittest.TestCase):
    def test_is_asked_and_judged(self):
        sim, wanted = dominoes(solver=by_lemke), dominoes(solver="lemke")
        for _ in range(50):
            a, b = sim.step(), wanted.step()
            self.assertTrue(a.certified)
        np.testing.assert_allclose(sim.position, wanted.position, atol=1e-9)
        counts = sim.solver_statistics["by_lemke"]
        self.assertGreater(counts["solves"], 50)  # two islands
        self.assertEqual(counts["solves"], counts["certified"])
        self.assertEqual(sim.solver, "by_lemke before auto")
        self.assertEqual(sim.solver_failures, (0, 0, ""))
        report = sim.run(0.1)
        self.assertEqual(report["solver"], "by_lemke before auto")
        self.assertIn("by_lemke", report["solver_statistics"])

    def test_leaves_no_trace_where_it_fails(self):
        wanted = dominoes()
        wanted.step(30)

        def nan(problem, guess):
            return guess * np.nan

        def wrong(problem, guess):
            return guess + 1

        def short(problem, guess):
            return guess[1:]

        def text(problem, guess):
            return "up"

        for solver, raised in ((raises, True), (nan, False), (wrong, False), (short, True), (text, True), (lambda p, g: None, True)):
            sim = dominoes(solver=solver)
            report = quietly(lambda: sim.step(30))
            self.assertEqual(sim.state, wanted.state, solver)  # as `auto`, bit for bit
            self.assertTrue(report.certified)
            self.assertGreater(report.escalations, 0)
            failures = sim.solver_failures
            self.assertGreater(failures.raised if raised else failures.refused, 0)
            self.assertEqual(failures.refused if raised else failures.raised, 0)
        sim = dominoes(solver=raises)
        quietly(sim.step)
        self.assertIn("on purpose", sim.solver_failures.last)

    def test_warns_once(self):
        sim = dominoes(solver=raises)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sim.step(5)
        self.assertEqual(len(caught), 1)
        self.assertIn("'raises' gave no answer (ZeroDivisionError: on purpose)", str(caught[0].message))
        strict = dominoes(solver=raises)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(RuntimeWarning):
                strict.step(5)
        self.assertEqual(strict.step_number, 1)  # that step is whole
        quietly(strict.step)

    def test_has_the_guess_of_the_last_step(self):
        seen = []

        def solver(problem, guess):
            seen.append(guess.copy())
            return by_lemke(problem, guess)

        stack(solver=solver).step(3)
        self.assertGreater(np.abs(seen[-1]).max(), 0)

    def test_what_is_kept_stays_good(self):
        kept = []

        def solver(problem, guess):
            kept.append((problem, problem.c.copy()))
            guess[:] = 7  # its own copy
            return None

        quietly(lambda: stack(solver=solver).step(10))
        for problem, c in kept:
            np.testing.assert_array_equal(problem.c, c)

    def test_copies_and_pickles(self):
        sim = dominoes(solver=by_lemke)
        sim.step(5)
        for twin in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
            self.assertEqual(twin.solver, "by_lemke before auto")
            twin.step(5)
            other = copy.deepcopy(sim)
            other.step(5)
            self.assertEqual(twin.state, other.state)

    def test_must_not_step_its_own_simulation(self):
        def solver(problem, guess):
            sim.step()

        sim = stack(solver=solver)
        quietly(sim.step)
        self.assertIn("making a step", sim.solver_failures.last)
        self.assertEqual(sim.step_number, 1)

    def test_keyboard_interrupt_ends_between_steps(self):
        def solver(problem, guess):
            if sim.step_number or len(calls) == 3:
                raise AssertionError
            calls.append(1)
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.01)
            return guess

        calls = []
        sim, wanted = stack(solver=solver), stack()
        with self.assertRaises(KeyboardInterrupt):
            sim.step(10)
        wanted.step()
        self.assertEqual(sim.state, wanted.state)

    def test_threads_of_the_engine(self):
        sim, one = dominoes(solver=by_lemke, threads=2), dominoes(solver=by_lemke)
        sim.step(20)
        one.step(20)
        self.assertEqual(sim.state, one.state)

    def test_rollout_says_no(self):
        with self.assertRaisesRegex(TypeError, "by name"):
            ss.rollout(stack().scene, steps=3, solver=by_lemke)


def open_window(url):
    """What the page does first: a connection that watches."""
    address = urllib.parse.urlsplit(url)
    window = socket.create_connection((address.hostname, address.port), timeout=300)
    window.sendall((f"GET {address.path.rstrip('/')}/live HTTP/1.1\r\nHost: {address.netloc}\r\nOrigin: http://{address.netloc}\r\n"
                    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n\r\n").encode())
    if not window.recv(100).startswith(b"HTTP/1.1 101"):
        window.close()
        raise ConnectionError("no window")
    return window


class Live(unittest.TestCase):
    def test_runs_with_the_solver(self):
        asked = threading.Event()

        def solver(problem, guess):
            asked.set()
            return by_lemke(problem, guess)

        sim = stack(solver=solver)
        sim.step()
        asked.clear()
        try:
            live = sim.view_live()
        except ss.ViewerMissing as error:
            self.skipTest(str(error))
        with live:
            self.assertFalse(asked.wait(0.2), "it begins with the first window")
            self.assertIn("127.0.0.1", live.url)
            with open_window(live.url):
                self.assertTrue(asked.wait(300))
            with urllib.request.urlopen(live.url, timeout=300) as page:
                self.assertIn(b"<html", page.read(2000).lower())
            self.assertIn(f'href="{live.url}"', live._repr_html_())
        self.assertEqual(sim.step_number, 1)
        with self.assertRaises(OSError):
            urllib.request.urlopen(live.url, timeout=300)


if __name__ == "__main__":
    unittest.main()
