"""`converge`, `compare` and `reproduce` as a user sees them."""
import json
import os
import signal
import subprocess
import unittest

from cli_support import BINARY, PATIENCE, SCENES, CliTest, catches, wait_until


class Converge(CliTest):
    def study(self, *arguments):
        done = self.call("converge", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_pendulum_is_of_second_order(self):
        study = self.study(SCENES / "double_pendulum.yaml", "--steps", "2^-5..2^-7", "--reference", "2^-10")
        self.assertEqual(study["steps"], [2**-5, 2**-6, 2**-7])
        named = {(q["name"], q["kind"]): q for q in study["quantities"]}
        for order in named["all bodies", "position"]["end_order"]:
            self.assertAlmostEqual(order, 2, delta=0.3)
        self.assertIn(("mass_2", "position"), named)
        self.assertLess(max(named["rod_1", "joint"]["max_error"]), 1e-9)

    def test_table_and_picture(self):
        done = self.call("converge", SCENES / "double_pendulum.yaml", "--steps", "2^-4..2^-5", "--duration", "0.5",
                         "--plot", "orders.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mass_1: position error", done.stdout)
        self.assertTrue((self.folder / "orders.png").read_bytes().startswith(b"\x89PNG"))

    def test_interrupt_ends_it_in_order(self):
        with subprocess.Popen([BINARY, "converge", SCENES / "double_pendulum.yaml", "--steps", "2^-5..2^-6",
                               "--duration", "1e6", "--plot", "orders.png"], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            wait_until(lambda: catches(process, signal.SIGINT), "it minds Ctrl-C", process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (130, "", ""))
        self.assertEqual(self.files(), [])

    def test_bad_input(self):
        scene = SCENES / "double_pendulum.yaml"
        for wrong in (["--steps", "2^-5"], ["--steps", "2^-5..x"], ["--steps", "0.01..0.02"], ["--steps", "0.03..0.02"],
                      ["--steps", "0..1"], ["--steps", "2^-5..2^-6", "--reference", "2^-5"],
                      ["--steps", "2^-5..2^-6", "--reference", "0.003"], ["--steps", "2^-5..2^-6", "--plot", "a.txt"],
                      ["--steps", "2^-5..2^-6", "--scheme", "eulr"]):
            done = self.call("converge", scene, *wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertEqual(self.files(), [])


class Compare(CliTest):
    def test_every_pair_in_order(self):
        done = self.call("compare", SCENES / "stick_slip_block.yaml", "--schemes", "trapezoid,euler", "--solvers",
                         "newton,lemke", "--duration", "0.5", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual([(r["scheme"], r["solver"]) for r in runs],
                         [("trapezoid", "newton"), ("trapezoid", "lemke"), ("euler", "newton"), ("euler", "lemke")])
        self.assertEqual(runs[0]["distance"], 0)
        self.assertLess(runs[1]["distance"], 1e-7)
        self.assertGreater(runs[2]["distance"], 1e-6)
        self.assertTrue(all(r["steps"] == 50 and r["uncertified_steps"] == 0 for r in runs))

    def test_bad_names(self):
        for wrong in (["--schemes", "trapezoid,nosuch"], ["--solvers", "nosuch"]):
            done = self.call("compare", SCENES / "stick_slip_block.yaml", *wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("nosuch", done.stderr)


class Reproduce(CliTest):
    def call(self, *arguments, **options):
        return super().call(*arguments, env={**os.environ, "SLIPSTICK_SCENES": str(SCENES)}, **options)

    def test_table_10_1(self):
        done = self.call("reproduce", "double-pendulum", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)
        for figure in figures[:21]:
            self.assertEqual(figure["source"], "paper")
            self.assertAlmostEqual(figure["ours"] / figure["published"], 1, delta=0.01)
        defaults = [f for f in figures if f["quantity"].startswith("position error, our default")]
        self.assertEqual(len(defaults), 7)
        for figure in defaults:
            self.assertLess(figure["ours"], 0.36 * figure["published"])
        impacts = [f for f in figures if f["quantity"].endswith("(to 1e-6)")]
        self.assertEqual(len(impacts), 5)
        for figure in impacts:
            self.assertAlmostEqual(figure["ours"], figure["published"], delta=1e-6)

    def reproduce(self, name):
        done = self.call("reproduce", name, "--json")
        figures = json.loads(done.stdout)
        self.assertEqual([f for f in figures if not f["ok"]], [])
        self.assertEqual(done.returncode, 0, done.stderr)
        return figures

    def test_all_agree_and_keep_the_energy_inequality(self):
        for name in ["double-pendulum", "two-carts", "ball-and-wall", "cannonball", "simple-joint", "stick-slip",
                     "painleve"]:
            energy = [f for f in self.reproduce(name) if f["quantity"].startswith("energy inequality")]
            self.assertEqual([f["ours"] for f in energy], [0], name)

    # spook-walls, spook-logs and spook-loader take half a minute and are not here.
    def test_spook_agrees(self):
        for name in ["spook-oscillator", "spook-pendulum", "spook-ball", "spook-slider-crank", "spook-squeezed-box"]:
            self.assertGreater(len(self.reproduce(name)), 0)

    def test_report(self):
        done = self.call("reproduce", "ball-and-wall", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "out" / "report.html").read_text()
        self.assertIn("data:image/png;base64,iVBORw0KGgo", page)
        self.assertIn("<h2>Anitescu 2003</h2>", page)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["ball-and-wall.png", "report.html"])

    def test_bad_places(self):
        (self.folder / "file").write_text("")
        done = self.call("reproduce", "ball-and-wall", "-o", "file")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        scenes = self.folder / "scenes"
        scenes.mkdir()
        (scenes / "ball_and_wall.yaml").write_text("slipstick: 1\nbodies: [{nme: x}]\n")
        done = super().call("reproduce", "ball-and-wall", env={**os.environ, "SLIPSTICK_SCENES": str(scenes)})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("ball_and_wall.yaml:2", done.stderr)

    def test_unknown(self):
        done = self.call("reproduce", "double-pendulm")
        self.assertEqual(done.returncode, 2)
        self.assertIn("double-pendulum", done.stderr)


class Verify(CliTest):
    def call(self, *arguments, **options):
        return super().call(*arguments, env={**os.environ, "SLIPSTICK_SCENES": str(SCENES)}, **options)

    def test_every_known_answer(self):
        done = self.call("verify", "--json", "-o", "out")
        figures = json.loads(done.stdout)
        self.assertEqual([f for f in figures if not f["ok"]], [])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(len({f["problem"] for f in figures}), 12)
        for figure in figures:
            self.assertLessEqual(abs(figure["ours"] - figure["reference"]), figure["allowed"], figure)
            self.assertAlmostEqual(figure["error"], abs(figure["ours"] - figure["reference"]), delta=1e-15)
        orders = {(f["problem"], f["quantity"]): f["order"] for f in figures}
        self.assertAlmostEqual(orders["heavy-top", "y, m"], 2, delta=0.1)
        self.assertIsNone(orders["incline-sticks", "way after 1 s, m"])
        self.assertEqual([p.name for p in (self.folder / "out").iterdir()], ["verify.html"])

    def test_unknown(self):
        done = self.call("verify", "bricad")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bricard", done.stderr)


if __name__ == "__main__":
    unittest.main()
