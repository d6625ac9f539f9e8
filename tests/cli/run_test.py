"""`run` as a user sees it: report, recording, interruption, determinism, full disk."""
import json
import os
import resource
import signal
import subprocess
import unittest

import h5py

from cli_support import BINARY, GOOD, PATIENCE, SCENES, CliTest, frames_of, wait_until

FIELDS = {
    "": "version scene name scheme solver step steps time bodies dof joints wall_s realtime_factor threads ms_per_step "
        "phase_ms contacts problem certificate world energy events contact_forces_final final state_hash",
    "ms_per_step": "mean median p99 max",
    "phase_ms": "collision broad_phase narrow_phase assemble solve certify advance audit record",
    "contacts": "mean max",
    "problem": "rows_mean rows_max",
    "certificate": "residual_max residual_mean uncertified_steps escalations penetration_max penetration_final "
                   "joint_error_max joint_error_final cone_violation_max friction_dissipation_violation_max "
                   "missed_contacts",
    "world": "audit pairs_checked overlap_max missed_contacts worst_missed crossed first_crossed",
    "energy": "initial final kinetic_final potential_final ledger_remainder_max increase_max",
}


class Run(CliTest):
    def test_report_has_every_field(self):
        self.write(GOOD)
        report = self.report("scene.yaml")
        for where, names in FIELDS.items():
            part = report[where] if where else report
            for name in names.split():
                self.assertIn(name, part, where)
        self.assertEqual(report["steps"], 50)
        ball = report["final"]["bodies"]["ball"]
        self.assertEqual(set(ball), {"position", "orientation", "velocity", "angular_velocity"})
        self.assertEqual(len(ball["orientation"]), 4)

    def test_json_is_alone_on_stdout_and_equals_the_report_file(self):
        self.write(GOOD)
        done = self.call("run", "scene.yaml", "--json", "--report", "r.json")
        printed, written = json.loads(done.stdout), json.loads((self.folder / "r.json").read_text())
        self.assertEqual(printed["state_hash"], written["state_hash"])
        self.assertEqual(self.files(), ["r.json", "scene.yaml"])

    def test_audit_looks_at_every_pair_and_changes_nothing(self):
        usual = self.report(SCENES / "dominoes.yaml", "--duration", "0.2")
        every = self.report(SCENES / "dominoes.yaml", "--duration", "0.2", "--audit")
        self.assertEqual(usual["state_hash"], every["state_hash"])
        self.assertEqual([usual["world"]["audit"], every["world"]["audit"]], ["share", "every"])
        self.assertGreater(every["world"]["pairs_checked"], usual["world"]["pairs_checked"])
        self.assertGreater(usual["world"]["pairs_checked"], 0)
        for report in (usual, every):
            self.assertEqual(report["world"]["missed_contacts"], 0)
            self.assertIsNone(report["world"]["worst_missed"])
            self.assertEqual(report["certificate"]["missed_contacts"], 0)
            self.assertEqual(report["certificate"]["uncertified_steps"], 0)

    def test_resting_forces_sum_to_the_weight(self):
        self.write(GOOD.replace("sphere: {radius: 0.1}", "box: {size: [1, 1, 2]}").replace("mass: 1,", "mass: 3,"))
        forces = self.report("scene.yaml")["contact_forces_final"]
        self.assertEqual(len(forces), 4)
        self.assertAlmostEqual(sum(f["force_on_b"][2] for f in forces) / (3 * 9.81), 1, delta=1e-9)
        for force in forces:
            self.assertEqual(set(force) & {"a", "b", "point", "normal", "force_on_b", "gap"},
                             {"a", "b", "point", "normal", "force_on_b", "gap"})

    def test_same_hash_twice_and_with_other_threads(self):
        scene = SCENES / "dominoes.yaml"
        hashes = {self.report(scene, "--duration", "0.2", "--threads", n)["state_hash"] for n in (1, 1, 2, 3)}
        self.assertEqual(len(hashes), 1)

    def test_set_overrides_and_step_takes_expressions(self):
        report = self.report(SCENES / "stack.yaml", "--set", "n=3", "--step", "1/120", "--duration", "1/2")
        self.assertEqual(report["bodies"], 4)
        self.assertEqual(report["steps"], 60)

    def test_recording_reads_with_h5py(self):
        self.write(GOOD)
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5").returncode, 0)
        with h5py.File(self.folder / "run.h5", "r") as f:
            for name in ("format", "version", "scene_text", "scene_hash", "command"):
                self.assertIn(name, f.attrs)
            self.assertEqual(f.attrs["scene_text"].decode(), GOOD)
            self.assertEqual(list(f["names/bodies"].asstr()[:]), ["floor", "ball"])
            n, nb = len(f["time"]), len(f["names/bodies"])
            self.assertEqual((n, nb), (51, 2))
            self.assertEqual(f["pose"].shape, (n, nb, 7))
            self.assertEqual(f["velocity"].shape, (n, nb, 6))
            self.assertEqual(f["energy"].shape, (n, 3))
            self.assertEqual(len(f["contacts/offset"]), n + 1)
            self.assertEqual(len(f["contacts/gap"]), f["contacts/offset"][-1])
            for name in ("residual", "penetration", "joint_error", "iterations", "escalations"):
                self.assertEqual(len(f["certificate"][name]), n)
            self.assertAlmostEqual(f["pose"][10, 1, 2], 1 - 9.81 * 0.1**2 / 2, places=12)

    def start(self, *arguments):
        return subprocess.Popen([BINARY, "run", SCENES / "stack.yaml", "--duration", "100000", *arguments],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_ctrl_c_and_other_signals_end_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("-o", "run.h5", "--report", "r.json")
            wait_until(lambda: frames_of(self.folder / "run.h5") > 1, "frames are recorded", process)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            report = json.loads((self.folder / "r.json").read_text())
            self.assertTrue(report["interrupted"])
            with h5py.File(self.folder / "run.h5", "r") as f:
                self.assertEqual(len(f["time"]), report["steps"] + 1)
            self.assertEqual(sorted(os.listdir(self.folder)), ["r.json", "run.h5"])
            os.remove(self.folder / "run.h5")  # the next one is waited for

    def test_nohup_outlives_its_terminal(self):
        process = subprocess.Popen([BINARY, "run", SCENES / "stack.yaml", "--duration", "100000", "-o", "run.h5"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_until(lambda: frames_of(self.folder / "run.h5") > 1, "frames are recorded", process)
        before = frames_of(self.folder / "run.h5")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: frames_of(self.folder / "run.h5") > before, "the run has gone on", process)
        process.kill()
        process.wait()

    def test_two_runs_to_one_name(self):
        first = self.start("-o", "run.h5")
        wait_until((self.folder / "run.h5").exists, "the recording is there", first)
        with h5py.File(self.folder / "run.h5", "r"):  # who looks is not kept out
            pass
        second = self.call("run", SCENES / "stack.yaml", "-o", "run.h5")
        self.assertEqual(second.returncode, 2)
        self.assertIn("run.h5: is being written by another run", second.stderr)
        first.kill()
        first.communicate()
        self.assertEqual(self.call("run", SCENES / "stack.yaml", "--duration", "0.1", "-o", "run.h5").returncode, 0)

    def test_a_reader_that_goes_away(self):
        process = self.start("-o", "run.h5")
        process.stderr.close()
        process.stdout.close()
        wait_until(lambda: frames_of(self.folder / "run.h5") > 5, "frames are recorded", process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 130)
        with h5py.File(self.folder / "run.h5", "r") as f:
            self.assertGreater(len(f["time"]), 5)

    def test_kill_leaves_a_readable_recording(self):
        process = self.start("-o", "run.h5")
        wait_until(lambda: frames_of(self.folder / "run.h5") > 10, "frames are recorded", process)
        process.kill()
        process.communicate(timeout=PATIENCE)
        with h5py.File(self.folder / "run.h5", "r") as f:
            n = len(f["time"])
            self.assertGreater(n, 10)
            self.assertEqual(f["pose"][: n].shape[0], n)

    def test_full_disk_is_reported(self):
        limit = 200_000  # bytes: the file size limit stands in for a full disk

        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.call("run", SCENES / "stack.yaml", "--duration", "200", "-o", "run.h5", preexec_fn=small_disk)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("run.h5", done.stderr)
        self.assertLessEqual(os.path.getsize(self.folder / "run.h5"), limit)


class Other(CliTest):
    def test_check_at_a_moment(self):
        scene = SCENES / "pawl.yaml"
        options = ("--set", "n=2", "--step", "8e-6")
        jam = self.call("check", scene, "--set", "mu=0.85", *options, "--at", "1.25e-3")
        self.assertEqual(jam.returncode, 0)
        self.assertIn("they hold the load of 'pawl' however large it is", jam.stdout)
        said = json.loads(self.call("check", scene, "--set", "mu=0.85", *options, "--at", "1.25e-3", "--json").stdout)
        self.assertEqual(said["friction_cone"]["held"], [{"body": "pawl", "by": ["hole"]}])
        self.assertAlmostEqual(said["time"], 1.248e-3)
        self.assertNotIn("pawl' however", self.call("check", scene, *options, "--at", "1.25e-3").stdout)
        for wrong, text in (("-1", "zero or more"), ("soon", "unknown name 'soon'"), ("1e9", "more than 1e9 steps away"), ("1/0", "zero or more")):
            done = self.call("check", scene, "--at", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
            self.assertIn(text, done.stderr)

    def test_check_info_examples(self):
        self.write(GOOD)
        check = self.call("check", "scene.yaml")
        self.assertEqual(check.returncode, 0, check.stderr)
        info = json.loads(self.call("info", "--json").stdout)
        for name in ("schemes", "solvers", "shapes", "joints", "version"):
            self.assertIn(name, info)
        self.assertIn("stabilized", info["schemes"])
        listing = self.call("examples", "--list", env={**os.environ, "SLIPSTICK_SCENES": str(SCENES)})
        self.assertEqual(listing.returncode, 0, listing.stderr)
        for scene in SCENES.glob("*.yaml"):
            self.assertIn(scene.stem, listing.stdout)

    def test_every_shipped_scene_checks(self):
        for scene in sorted(SCENES.glob("*.yaml")):
            with self.subTest(scene.name):
                done = self.call("check", scene)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_check_names_a_starting_overlap(self):
        self.write(GOOD.replace("position: [0, 0, 1]", "position: [0, 0, 0.05]"))
        done = self.call("check", "scene.yaml")
        self.assertIn("overlap", done.stdout)
        self.assertIn("ball", done.stdout)


if __name__ == "__main__":
    unittest.main()
