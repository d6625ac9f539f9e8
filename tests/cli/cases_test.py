"""Scenes that once went wrong, each with what must happen. They are kept beside the source, in ../shared/cases, and are left
out where that is not there; the same kinds have tests of their own (verdict_test, health_test, tests/flush,
tests/properties)."""
import json
import math
import pathlib
import signal
import subprocess
import unittest

import h5py

from cli_support import BINARY, PATIENCE, CliTest, catches, wait_until

CASES = pathlib.Path(__file__).resolve().parents[3] / "shared" / "cases"


@unittest.skipUnless(CASES.is_dir(), "no ../shared/cases beside the source")
class Cases(CliTest):
    def run_case(self, name, *more):
        """Exit code, stderr and the report; `--audit`: every pair after every step."""
        done = self.call("run", CASES / f"{name}.yaml", "--audit", "--json", *more)
        report = json.loads(done.stdout) if done.stdout.startswith("{") else None
        return done.returncode, done.stderr, report

    def last_frame(self, name, body, *more):
        code, errors, report = self.run_case(name, "-o", "run.h5", *more)
        self.assertEqual(code, 0, errors)
        with h5py.File(self.folder / "run.h5", "r") as file:
            k = list(file["names/bodies"].asstr()[:]).index(body)
            n = len(file["time"])
            return file["pose"][n - 1, k], file["velocity"][n - 1, k], report

    def assert_certified(self, report):
        self.assertEqual(report["certificate"]["uncertified_steps"], 0)
        self.assertEqual(report["world"]["missed_contacts"], 0)

    def test_an_l_shaped_mesh_rests(self):
        pose, velocity, report = self.last_frame("mesh/fall", "block")
        self.assert_certified(report)
        self.assertAlmostEqual(pose[2], 0.05, delta=1e-5)  # half of the table's thickness
        self.assertLess(max(map(abs, velocity)), 1e-6)

    def test_friction_on_the_edge_of_a_slab(self):
        _, velocity, report = self.last_frame("mesh/fric", "cube")
        self.assert_certified(report)
        self.assertAlmostEqual(velocity[0], 1 - 0.3 * 9.81 * 0.2, delta=1e-6)

    def test_a_ratchet_of_its_pawls_thickness_turns(self):
        pose, _, _ = self.last_frame("mesh/f3d", "ratchet", "--duration", "1")
        turned = 2 * math.degrees(math.atan2(math.hypot(*pose[4:]), abs(pose[3])))
        self.assertGreater(turned, 5)

    def test_each_island_is_judged_by_itself(self):
        def uncertified(name, *more):
            return self.run_case(name, *more)[2]["certificate"]["uncertified_steps"]

        self.assertEqual(uncertified("certificate/ratio_300"), uncertified("certificate/ratio1e12"))
        for name in ("certificate/two_rods_disagree", "certificate/rods_1e10"):
            self.assertEqual(uncertified(name), 100, name)
            self.assertEqual(self.run_case(name, "--strict")[0], 1, name)
        self.assertEqual(uncertified("certificate/mask_100", "--set", "v=0"), 50)
        self.assertEqual(uncertified("certificate/mask_100", "--set", "v=1000"), 50)

    def test_absurd_friction_is_refused(self):
        for name in ("certificate/fm_1e8", "certificate/fm_1e15"):
            code, errors, _ = self.run_case(name)
            self.assertEqual(code, 2, name)
            self.assertIn("friction", errors)
        done = self.call("solve", CASES / "certificate" / "mu_1e+07.hdf5")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("the largest coefficient that is taken", done.stderr)

    def test_none_passes_through_a_plate(self):
        """Those that start over the plate, at z = 3, stay over it."""
        names = sorted(path.stem for path in (CASES / "tunnel").glob("*.yaml"))
        self.assertGreater(len(names), 0)
        for name in names:
            _, _, report = self.last_frame(f"tunnel/{name}", "a")
            with h5py.File(self.folder / "run.h5", "r") as file:
                bodies = list(file["names/bodies"].asstr()[:])
                over = file["pose"][:, bodies.index("a"), 2] - file["pose"][:, bodies.index("p"), 2]
                self.assertGreater(over.min(), 0, name)
            self.assertEqual(report["world"]["crossed"], 0, name)

    def test_overlap_makes_no_speed(self):
        pose, velocity, report = self.last_frame("divergence/pop", "b")
        self.assert_certified(report)
        self.assertAlmostEqual(pose[2], 0.1, delta=1e-6)
        with h5py.File(self.folder / "run.h5", "r") as file:
            self.assertLess(file["energy"][:, 0].max(), 1e-6 * 9.81 * 0.01)  # of m g times the depth
        self.assertLess(max(map(abs, velocity)), 1e-6)

    def test_schemes_stay_true(self):
        """Energies of the end against the start, relative to what goes to and fro; no alarm and every step certified."""
        for name, share in (("double_rod_pendulum", 1e-3), ("A02N2_trapezoid", 1e-5), ("A04bricard1.5_stabilized", 1e-5), ("A05governor_trapezoid", 1e-4),
                            ("A06slidercrank1_trapezoid", 1e-5), ("chain_1000to1", 1e-3), ("L", 1e-10), ("fall", 1e-10), ("e1", 1e-6), ("spr", 1e-3)):
            with self.subTest(case=name):
                code, errors, report = self.run_case(f"schemes/{name}", "--strict")
                self.assertEqual(code, 0, errors)
                self.assert_certified(report)
                energy = report["energy"]
                size = max(abs(energy["initial"]), abs(energy["final"]), 10)
                self.assertLess(abs(energy["final"] - energy["initial"]), share * size)
                self.assertLess(report["certificate"]["joint_error_max"], 1e-4)

    def test_a_box_slides_alike_in_every_frame(self):
        ends = []
        for name, turn in (("spinslide_0", 0.0), ("spinslide_37", 37.0)):
            _, _, report = self.run_case(f"frame/{name}")
            body = next(b for n, b in report["final"]["bodies"].items() if n not in ("ground", "floor"))
            x, y, z = body["position"]
            c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
            ends.append((c * x + s * y, -s * x + c * y, z))
        for a, b in zip(*ends):
            self.assertAlmostEqual(a, b, delta=1e-8)

    def test_what_cannot_be_is_said(self):
        for name in ("below_plane", "loop_rods", "same_point_60box"):
            code, errors, _ = self.run_case(f"divergence/{name}", "--strict")
            self.assertEqual(code, 1, name)
            self.assertGreater(len(errors.strip()), 0, name)

    def test_a_motor_without_a_number_is_named(self):
        code, errors, _ = self.run_case("divergence/nan_motor")
        self.assertEqual(code, 1)
        self.assertIn("the motor of joint", errors)
        self.assertIn("t = 0.5 s", errors)

    def test_ctrl_c_ends_a_step_that_takes_long(self):
        scene = CASES / "divergence" / "same_point_1000.yaml"
        with subprocess.Popen([BINARY, "run", str(scene)], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            wait_until(lambda: catches(process, signal.SIGINT), "handlers", process)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)


if __name__ == "__main__":
    unittest.main()
