"""`solve` and `dump` as a user sees them: FCLib's forms, LCPs, answers, exit codes, broken files."""
import json
import math
import unittest

import h5py
import numpy as np

from cli_support import SCENES, CliTest


def put_matrix(group, name, dense, kind=-2):
    """As FCLib stores it: kind -2 compressed rows, -1 compressed columns, 0 triplets."""
    dense = np.asarray(dense, dtype=float)
    rows, columns = np.nonzero(dense)
    if kind == -1:
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
    g = group.create_group(name)
    slices, own = (columns, dense.shape[1]) if kind == -1 else (rows, dense.shape[0])
    if kind < 0:
        p = np.concatenate([[0], np.cumsum(np.bincount(slices, minlength=own))])
        i = rows if kind == -1 else columns
    else:
        p, i = columns, rows
    for key, value in (("m", dense.shape[0]), ("n", dense.shape[1]), ("nz", kind if kind < 0 else len(rows)),
                       ("nzmax", len(rows))):
        g[key] = np.array([value], dtype="i4")
    g["p"], g["i"], g["x"] = p.astype("i4"), i.astype("i4"), dense[rows, columns]


def put_local(path, w, q, mu, dim=3, kind=-2):
    with h5py.File(path, "w") as f:
        g = f.create_group("fclib_local")
        g["spacedim"] = np.array([dim], dtype="i4")
        put_matrix(g, "W", w, kind)
        g["vectors/q"], g["vectors/mu"] = np.asarray(q, dtype=float), np.asarray(mu, dtype=float)


def put_global(path, m, h, f, w, mu, dim=3, kind=0, g=None, b=None):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([dim], dtype="i4")
        put_matrix(group, "M", m, kind)
        put_matrix(group, "H", h, kind)
        for name, values in (("f", f), ("w", w), ("mu", mu)):
            group["vectors/" + name] = np.asarray(values, dtype=float)
        if g is not None:
            put_matrix(group, "G", g, kind)
            group["vectors/b"] = np.asarray(b, dtype=float)


class Solve(CliTest):
    def solve(self, *arguments, code=0):
        done = self.call("solve", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_friction_above_the_bound_is_refused(self):
        for mu, code in ((1e4, 0), (1e7, 2)):
            put_local(self.path(), np.eye(3), [-1, 1, 0], [mu])
            done = self.call("solve", self.path(), "--json")
            self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("mu[0]", done.stderr)

    def test_the_worst_place_in_the_files_own_numbers(self):
        put_local(self.path(), np.eye(6), [-1, 1, 0, -1, 0, 2], [0.5, 0.5])
        worst = self.solve(self.path())["worst"]
        if worst is not None:  # null: exact
            self.assertLessEqual(worst["relative"], 1e-8)
            self.assertIn(worst["contact"], (0, 1))
        # No impulse can stop both: contact 1 cannot be kept from closing.
        put_local(self.path(), np.diag([1.0, 1, 1, 0, 1, 1]), [-1, 0, 0, -1, 0, 0], [0.5, 0.5])
        worst = self.solve(self.path(), code=1)["worst"]
        self.assertEqual(worst["contact"], 1)
        self.assertEqual(worst["row"], 3)
        self.assertEqual(worst["part"] in ("approach", "natural map"), True)

    def path(self, name="p.hdf5"):
        return self.folder / name

    def test_json_of_a_sliding_contact(self):
        # u = r + q: pushed down by 1 and sideways by (3, 4); mu = 0.5, so it slides against the motion.
        put_local(self.path(), np.eye(3), [-1, 3, 4], [0.5])
        answer = self.solve("p.hdf5")
        for name in "problem contacts rows solver status residual iterations ms reaction velocity".split():
            self.assertIn(name, answer)
        self.assertEqual((answer["problem"], answer["contacts"], answer["rows"]), ("p.hdf5", 1, 3))
        self.assertEqual((answer["solver"], answer["status"]), ("auto", "solved"))
        np.testing.assert_allclose(answer["reaction"], [1, -0.3, -0.4], atol=1e-9)
        np.testing.assert_allclose(answer["velocity"], [0, 2.7, 3.6], atol=1e-9)
        self.assertLess(answer["residual"], 1e-8)
        self.assertGreater(answer["ms"], 0)

    def test_every_storage_and_two_dimensions(self):
        w = [[2, 0.5, 0, 0], [0.4, 1, 0, 0.1], [0, 0, 1, 0], [0, 0.1, 0, 3]]
        answers = []
        for kind in (-2, -1, 0):
            put_local(self.path(), w, [-1, 2, -1, 0.1], [0.3, 0], dim=2, kind=kind)
            answers.append(self.solve("p.hdf5"))
            self.assertEqual(answers[0]["reaction"], answers[-1]["reaction"])
        r, u = np.array(answers[0]["reaction"]), np.array(answers[0]["velocity"])
        np.testing.assert_allclose(w @ r + [-1, 2, -1, 0.1], u, atol=1e-12)
        self.assertAlmostEqual(r[1], -0.3 * r[0])
        self.assertEqual(r[3], 0)  # no friction there

    def test_global_form_with_an_equality(self):
        # Two unknown bodies of three freedoms; the second is tied to the ground by G.
        m = np.diag([2.0, 2, 2, 1, 1, 1])
        h = np.vstack([np.eye(3), -np.eye(3)])
        g = np.vstack([np.zeros((3, 3)), np.eye(3)])
        put_global(self.path(), m, h, [-2, 0, 0, 0, 0, 0], [0, 0, 0], [0.5], g=g, b=[0, 0, 0])
        answer = self.solve("p.hdf5")
        np.testing.assert_allclose(answer["reaction"], [2, 0, 0], atol=1e-8)
        np.testing.assert_allclose(answer["multipliers"], [2, 0, 0], atol=1e-8)
        np.testing.assert_allclose(answer["unknowns"], np.zeros(6), atol=1e-8)
        self.assertEqual(answer["equalities"], 3)

    def test_a_large_connected_mass_is_condensed(self):
        n = 40
        m = 3 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        h = np.zeros((n, 6))
        h[[0, 1, 2, 20, 21, 22], range(6)] = 1
        f, w = np.linspace(-2, 1, n), np.zeros(6)
        put_global(self.path(), m, h, f, w, [0.4, 0.4], kind=-1)
        answer = self.solve("p.hdf5", "-o", "s.hdf5")
        self.assertTrue(answer["condensed"])
        r = np.array(answer["reaction"])
        v = np.linalg.solve(m, h @ r + f)
        np.testing.assert_allclose(answer["unknowns"], v, atol=1e-12)
        np.testing.assert_allclose(answer["velocity"], h.T @ v, atol=1e-12)
        with h5py.File(self.path("s.hdf5")) as s:
            np.testing.assert_array_equal(s["solution/r"][:], r)
            self.assertEqual(len(s["solution/v"]), n)

    def test_bodies_in_scrambled_order(self):
        rng = np.random.default_rng(1)
        order = rng.permutation(12)
        a = rng.normal(size=(6, 6))
        m = np.kron(np.eye(2), a @ a.T + np.eye(6))
        h = np.zeros((12, 6))
        h[:6, :3] = rng.normal(size=(6, 3))
        h[6:, 3:] = rng.normal(size=(6, 3))
        f, w = rng.normal(size=12), np.array([-1.0, 0, 0, -1, 0, 0])
        put_global(self.path("a.hdf5"), m, h, f, w, [0.3, 0.3])
        put_global(self.path("b.hdf5"), m[np.ix_(order, order)], h[order], f[order], w, [0.3, 0.3])
        a, b = self.solve("a.hdf5"), self.solve("b.hdf5")
        self.assertFalse(b["condensed"])
        np.testing.assert_allclose(a["reaction"], b["reaction"], atol=1e-7)
        np.testing.assert_allclose(np.array(a["unknowns"])[order], b["unknowns"], atol=1e-7)

    def test_lcp_and_mixed_lcp(self):
        m, q = np.array([[2.0, 1], [1, 2]]), np.array([-5.0, -6])
        with h5py.File(self.path(), "w") as f:
            f["slipstick/M"], f["slipstick/q"] = m, q
        answer = self.solve("p.hdf5")
        np.testing.assert_allclose(answer["reaction"], np.linalg.solve(m, -q), atol=1e-9)
        self.assertEqual((answer["contacts"], answer["rows"]), (0, 2))
        with h5py.File(self.path(), "w") as f:
            put_matrix(f.create_group("slipstick"), "M", m)
            f["slipstick/q"], f["slipstick/lower"], f["slipstick/upper"] = q, [-math.inf, 0], [math.inf, 1.0]
        answer = self.solve("p.hdf5")
        np.testing.assert_allclose(answer["reaction"], [2, 1], atol=1e-9)
        np.testing.assert_allclose(answer["velocity"], [0, -2], atol=1e-9)

    def test_mixed_laws_in_one_plain_problem(self):
        with h5py.File(self.path(), "w") as f:
            f["slipstick/M"], f["slipstick/q"] = np.eye(5), [-1.0, 3, 4, 2, -1]
            f["slipstick/law"], f["slipstick/mu"] = [3, 4, 4, 0, 1], [0.5]
        answer = self.solve("p.hdf5")
        np.testing.assert_allclose(answer["reaction"], [1, -0.3, -0.4, -2, 1], atol=1e-9)

    def test_all_prints_a_table_and_json_lists_the_solvers(self):
        put_local(self.path(), np.eye(3), [-1, 3, 4], [0.5])
        done = self.call("solve", "p.hdf5", "--solver", "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("auto", "lemke", "newton", "* "):
            self.assertIn(word, done.stdout)
        names = [entry["solver"] for entry in self.solve("p.hdf5", "--solver", "all")["solvers"]]
        info = json.loads(self.call("info", "--json").stdout)
        self.assertEqual(names, info["solvers"])

    def test_impossible_is_exit_1_with_the_best_residual(self):
        with h5py.File(self.path(), "w") as f:  # w = 0 z - 1 >= 0 has no solution
            f["slipstick/M"], f["slipstick/q"] = np.zeros((1, 1)), [-1.0]
        done = self.call("solve", "p.hdf5", "--json")
        self.assertEqual(done.returncode, 1)
        answer = json.loads(done.stdout)
        self.assertNotEqual(answer["status"], "solved")
        self.assertGreater(answer["residual"], 1e-3)

    def test_profile_of_a_folder(self):
        (self.folder / "d").mkdir()
        for k in range(3):
            put_local(self.folder / "d" / f"{k}.hdf5", (k + 1) * np.eye(6), [-1, k, 4, -2, 0, 1], [0.5, 0.1])
        done = self.call("solve", "--profile", "d", "--tol", "1e-4,1e-8", "--time-limit", 5, "-o", "p.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("solved of 3", done.stdout)
        self.assertEqual((self.folder / "p.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        done = self.call("solve", "--profile", "d", "-o", "p.svg", "--json")
        self.assertGreaterEqual(len(json.loads(done.stdout)), 3 * 2 * 3)
        self.assertIn("<svg", (self.folder / "p.svg").read_text())


class Dump(CliTest):
    def test_the_dumped_step_is_the_runs_step(self):
        scene, h = SCENES / "dominoes.yaml", 0.01
        done = self.call("dump", scene, "--at", "0.05", "--step", h, "-o", "p.hdf5")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "p.hdf5") as f:
            self.assertIn("fclib_global/M/x", f)
            self.assertEqual(int(f["fclib_global/spacedim"][0]), 3)
        done = self.call("solve", "p.hdf5", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        v = np.array(json.loads(done.stdout)["unknowns"])
        after = self.report(scene, "--duration", "0.06", "--step", h)["final"]["bodies"]
        moving = [b["velocity"] for b in after.values() if np.linalg.norm(b["velocity"]) > 1e-3]
        self.assertTrue(moving)
        # The problem's unknown is the velocity of the middle of the step: what flies has half a step of gravity more at its end.
        kick = np.array([0, 0, -9.81]) * h / 2
        for velocity in moving:
            near = [np.allclose(v[k:k + 3], velocity - share * kick, atol=1e-7) for k in range(0, len(v), 3) for share in (0, 1)]
            self.assertTrue(any(near), velocity)

    def test_joints_limits_and_planar_scenes(self):
        for name in ("double_pendulum", "arch", "two_carts", "bouncing_ball"):
            done = self.call("dump", SCENES / f"{name}.yaml", "--at", "1/10", "-o", f"{name}.hdf5")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.call("solve", f"{name}.hdf5", "--json")
            self.assertEqual(done.returncode, 0, (name, done.stderr))

    def test_wrong_use(self):
        for arguments in (["--at", "-1", "-o", "p.hdf5"], ["--at", "x", "-o", "p.hdf5"], ["--at", "0"],
                          ["--at", "0", "-o", "no/where.hdf5"]):
            done = self.call("dump", SCENES / "incline.yaml", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertEqual(self.files(), [])


class BrokenFiles(CliTest):
    def refuse(self, change, words):
        path = self.folder / "p.hdf5"
        put_local(path, np.eye(3), [-1, 3, 4], [0.5])
        with h5py.File(path, "r+") as f:
            change(f)
        self.refused(words)

    def refused(self, words, *arguments):
        done = self.call("solve", "p.hdf5", *arguments)
        self.assertEqual(done.returncode, 2, (words, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(words, lines[0])

    @staticmethod
    def put(path, values):
        def change(f):
            del f[path]
            f[path] = values
        return change

    def test_each_fault_is_one_line(self):
        group = "fclib_local/"
        for change, words in (
                (self.put(group + "vectors/mu", [-0.5]), "negative"),
                (self.put(group + "vectors/mu", [0.5, 0.5]), "must have 1"),
                (self.put(group + "vectors/mu", [math.nan]), "not a finite number"),
                (self.put(group + "vectors/q", [1.0, 2]), "must have 3"),
                (self.put(group + "vectors/q", [math.inf, 0, 0]), "not a finite number"),
                (self.put(group + "vectors/q", ["a", "b", "c"]), "cannot be read as numbers"),
                (self.put(group + "W/i", np.array([0, 1, 3], dtype="i4")), "outside of 3 x 3"),
                (self.put(group + "W/i", np.array([0, -1, 2], dtype="i4")), "outside of 3 x 3"),
                (self.put(group + "W/i", np.array([0, 1], dtype="i4")), "differ in length"),
                (self.put(group + "W/p", np.array([0, 2, 1, 3], dtype="i4")), "must grow"),
                (self.put(group + "W/p", np.array([0, 1, 2, 4], dtype="i4")), "must grow"),
                (self.put(group + "W/p", np.array([0, 1], dtype="i4")), "must have 4"),
                (self.put(group + "W/m", np.array([2**31 - 1], dtype="i4")), "must be from 0"),
                (self.put(group + "W/m", np.array([-1], dtype="i4")), "must be from 0"),
                (self.put(group + "W/n", np.array([4], dtype="i4")), "must be square"),
                (self.put(group + "W/nz", np.array([-7], dtype="i4")), "must be from -2"),
                (self.put(group + "W/x", [1.0, math.nan, 1.0]), "not a finite number"),
                (self.put(group + "spacedim", np.array([4], dtype="i4")), "must be from 2 to 3"),
                (self.put(group + "spacedim", np.array([2], dtype="i4")), "no multiple of spacedim"),
                (lambda f: f.pop("fclib_local/vectors"), "is missing"),
                (lambda f: f.pop("fclib_local/W"), "is missing"),
                (lambda f: f.pop("fclib_local"), "holds no problem"),
                (lambda f: f.create_group("fclib_global"), "keep one"),
                (lambda f: f.create_dataset("slipstick/compliance", data=[0.0, -1, 0]), "negative"),
                (lambda f: f.create_dataset("slipstick/friction", data=[9]), "must be from 0 to 2"),
                (lambda f: f.create_dataset("slipstick/facets", data=[5]), "must be even")):
            with self.subTest(words):
                self.refuse(change, words)

    def test_a_dataset_that_claims_to_be_huge(self):
        def change(f):
            del f["fclib_local/W/x"]
            f.create_dataset("fclib_local/W/x", shape=(10**14,), chunks=(1024,), dtype="f8")
        self.refuse(change, "more than")

    def test_truncated_and_foreign_files(self):
        path = self.folder / "p.hdf5"
        put_local(path, np.eye(3), [-1, 3, 4], [0.5])
        whole = path.read_bytes()
        for size in range(0, len(whole), max(1, len(whole) // 37)):
            path.write_bytes(whole[:size])
            done = self.call("solve", "p.hdf5")
            self.assertEqual(done.returncode, 2, size)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        path.write_text("slipstick: 1\n")
        self.refused("not an HDF5 file")

    def test_flipped_bytes_never_crash(self):
        path = self.folder / "p.hdf5"
        put_local(path, np.eye(3), [-1, 3, 4], [0.5])
        whole = bytearray(path.read_bytes())
        rng = np.random.default_rng(3)
        for _ in range(60):
            broken = bytearray(whole)
            for at in rng.integers(0, len(whole), size=4):
                broken[at] = rng.integers(0, 256)
            path.write_bytes(broken)
            self.assertIn(self.call("solve", "p.hdf5").returncode, (0, 1, 2))

    def test_wrong_options(self):
        put_local(self.folder / "p.hdf5", np.eye(3), [-1, 3, 4], [0.5])
        self.refused("did you mean 'newton'", "--solver", "newtn")
        self.refused("--tol", "--tol", "0")
        self.refused("--tol", "--tol", "1e-4,1e-8")
        self.refused("--time-limit", "--time-limit", "-1")
        self.refused("is the problem itself", "-o", "p.hdf5")
        self.assertEqual(self.call("solve").returncode, 2)
        self.assertEqual(self.call("solve", "--profile", "nowhere").returncode, 2)
        self.assertEqual(self.call("solve", "missing.hdf5").returncode, 2)


if __name__ == "__main__":
    unittest.main()
