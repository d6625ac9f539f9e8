"""Checkpoints, resuming, how a recording says that it ended, what is never overwritten, and tables."""
import csv
import io
import os
import signal
import subprocess
import unittest

import h5py
import numpy

from cli_support import BINARY, GOOD, SCENES, CliTest, frames_of, wait_until

# Every scheme, located events, sticking contacts, joints, motors, meshes. Steps are few: it is about bits, not about physics.
TWENTY = {
    "arch": 0.05, "ball_and_wall": 1.4, "bouncing_ball": 0.5, "cannonball": 0.35, "chain": 0.25, "coin": 0.01, "cylinders": 0.1,
    "dominoes": 0.1, "double_pendulum": 0.1, "free_top": 0.1, "heavy_stack": 0.1, "incline": 0.2, "ladder": 0.05,
    "mesh_floor": 0.05, "motor_arm": 0.1, "newtons_cradle": 0.2, "painleve_rod": 0.01, "slider_crank": 0.05, "stack": 0.1,
    "stick_slip_block": 0.3, "two_carts": 0.3, "winch": 0.1}
BALL = GOOD.replace("simulation:", "materials: {default: {restitution: 0.5}}\nsimulation:")


class Resume(CliTest):
    def wait_for(self, name, process):
        wait_until(lambda: frames_of(self.folder / name) > 1, "some flushes", process)

    def test_twenty_scenes_go_on_with_the_same_bits(self):
        for name, duration in TWENTY.items():
            scene = SCENES / f"{name}.yaml"
            whole = self.report(scene, "--duration", duration)
            self.report(scene, "--duration", duration, "--checkpoint", "c", "--every",
                        (whole["steps"] // 2 + 1) * whole["step"])
            rest = self.report(scene, "--duration", duration, "--resume", "c")
            self.assertEqual(rest["state_hash"], whole["state_hash"], name)
            self.assertGreater(rest["resumed"]["step"], 0, name)
            self.assertEqual(rest["steps"], whole["steps"] - rest["resumed"]["step"], name)
            self.assertGreater(rest["steps"], 0, name)
            self.assertEqual(whole["resumed"], None)

    def test_a_recording_is_resumed_and_the_rest_goes_to_a_new_file(self):
        self.write(BALL)
        whole = self.report("scene.yaml", "--duration", 1, "-o", "whole.h5")
        self.report("scene.yaml", "--duration", 0.6, "-o", "first.h5")
        rest = self.report("scene.yaml", "--duration", 1, "--resume", "first.h5", "-o", "rest.h5")
        self.assertEqual(rest["state_hash"], whole["state_hash"])
        self.assertEqual(rest["resumed"], {"from": "first.h5", "step": 60, "time": 0.6})
        with h5py.File(self.folder / "whole.h5") as all_, h5py.File(self.folder / "rest.h5") as late:
            self.assertEqual(late.attrs["start_step"], 60)
            self.assertEqual(late.attrs["resumed_from"], b"first.h5")
            self.assertEqual(late["time"][0], 0.6)
            numpy.testing.assert_array_equal(late["pose"][:], all_["pose"][60:])
            numpy.testing.assert_array_equal(late["velocity"][:], all_["velocity"][60:])
            numpy.testing.assert_array_equal(late["contacts/impulse"][:],
                                             all_["contacts/impulse"][all_["contacts/offset"][61]:])
        # and a second time, from where the rest ended
        again = self.report("scene.yaml", "--duration", 1.2, "--resume", "rest.h5")
        self.assertEqual(again["state_hash"], self.report("scene.yaml", "--duration", 1.2)["state_hash"])

    def test_a_killed_recording_can_be_resumed(self):
        self.write(BALL.replace("duration: 0.5", "duration: 1e7"))
        run = subprocess.Popen([BINARY, "run", "scene.yaml", "-q", "-o", "run.h5"], cwd=self.folder)
        self.wait_for("run.h5", run)
        run.send_signal(signal.SIGKILL)
        run.wait()
        with h5py.File(self.folder / "run.h5") as file:
            self.assertNotIn("ended", file)
            self.assertNotIn("ended", file.attrs)
            stands = int(file["state/frame"][-1])
        end = stands * 0.01 + 0.2
        rest = self.report("scene.yaml", "--resume", "run.h5", "--duration", end)
        self.assertEqual(rest["state_hash"], self.report("scene.yaml", "--duration", end)["state_hash"])

    def test_an_interrupted_run_leaves_a_checkpoint_of_where_it_stands(self):
        self.write(BALL.replace("duration: 0.5", "duration: 1e7"))
        run = subprocess.Popen([BINARY, "run", "scene.yaml", "-q", "-o", "run.h5", "--checkpoint", "c", "--every", "1e6"],
                               cwd=self.folder)
        self.wait_for("run.h5", run)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130)
        self.assertEqual(self.files(), ["c", "run.h5", "scene.yaml"])
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual(file["ended"][()], b"interrupted")
            self.assertEqual(file.attrs["ended"], b"interrupted")
            end = file["time"][-1] + 0.1
        a = self.report("scene.yaml", "--resume", "c", "--duration", end)
        b = self.report("scene.yaml", "--resume", "run.h5", "--duration", end)
        self.assertEqual(a["state_hash"], b["state_hash"])
        self.assertEqual(a["steps"], b["steps"])

    def test_what_does_not_belong_together_is_refused_in_one_line(self):
        self.write(BALL)
        self.write(BALL.replace("mass: 1", "mass: 2"), "heavy.yaml")
        self.write(BALL.replace("[0, 0, 1]", "[0, 0, 1.5]", 1).replace("normal: [0, 0, 1.5]", "normal: [0, 0, 1]")
                   .replace("position: [0, 0, 1]", "position: [0, 0, 2]"), "high.yaml")
        self.report("scene.yaml", "--checkpoint", "c", "--every", 0.2)
        (self.folder / "cut").write_bytes((self.folder / "c").read_bytes()[:-9])
        (self.folder / "text").write_text("a: 1\n")
        for arguments, message in [
                (("heavy.yaml", "--resume", "c"), "is a state of 'scene' (model "),
                (("high.yaml", "--resume", "c"), "began in other places"),
                (("scene.yaml", "--resume", "c", "--step", "1/200"), "was made with step 0.01, not 0.005"),
                (("scene.yaml", "--resume", "c", "--scheme", "spook"), "was made with scheme stabilized, not spook"),
                (("scene.yaml", "--resume", "c", "--duration", "0.1"), "after the end of this run"),
                (("scene.yaml", "--resume", "cut"), "is damaged"),
                (("scene.yaml", "--resume", "text"), "is not a state file"),
                (("scene.yaml", "--resume", "none"), "cannot be opened"),
                (("scene.yaml", "--checkpoint", "x"), "--every"),
                (("scene.yaml", "--checkpoint", "x", "--every", "0"), "--every must be a time above zero"),
                (("scene.yaml", "--checkpoint", "no/x", "--every", "1"), "does not exist; create it first")]:
            done = self.call("run", *arguments, "-o", "new.h5")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(self.files(), ["c", "cut", "heavy.yaml", "high.yaml", "scene.yaml", "text"])
        # threads and a longer run are no other run
        self.report("scene.yaml", "--resume", "c", "--threads", 2, "--duration", 0.7)

    def test_inputs_are_never_overwritten(self):
        (self.folder / "shapes").mkdir()
        (self.folder / "shapes" / "tri.obj").write_text("v 0 0 0\nv 9 0 0\nv 0 9 0\nf 1 2 3\n")
        self.write("slipstick: 1\nbodies:\n  - {name: m, fixed: true, shapes: [{mesh: {file: shapes/tri.obj}}]}\n", "more.yaml")
        self.write(BALL.replace("slipstick: 1\n", "slipstick: 1\ninclude: [more.yaml]\n"))
        os.link(self.folder / "more.yaml", self.folder / "link.yaml")
        self.report("scene.yaml", "-o", "run.h5")
        before = {p: p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}
        for option in (("-o",), ("--report",), ("--every", "1", "--checkpoint")):
            for name in ("scene.yaml", "more.yaml", "link.yaml", "shapes/tri.obj", "./shapes/../more.yaml"):
                done = self.call("run", "scene.yaml", *option, name)
                self.assertEqual(done.returncode, 2, (option, name))
                self.assertIn("choose another name", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        for arguments in (("-o", "run.h5"), ("--report", "run.h5"), ("--every", "1", "--checkpoint", "run.h5")):
            done = self.call("run", "scene.yaml", *arguments, "--no-clobber")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is there already (--no-clobber)", done.stderr)
        done = self.call("run", "scene.yaml", "--resume", "run.h5", "-o", "run.h5", "--duration", 1)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the recording to go on from", done.stderr)
        self.assertEqual(before, {p: p.read_bytes() for p in self.folder.rglob("*") if p.is_file()})

    def test_a_complete_recording_says_so(self):
        self.write(BALL)
        self.report("scene.yaml", "-o", "run.h5", "--no-clobber")
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual(file["ended"][()].decode(), "complete")
            self.assertEqual(file["ended"].asstr()[()], "complete")
            self.assertEqual(file.attrs["ended"], b"complete")


class Table(CliTest):
    def table(self, *arguments):
        done = self.call("table", "run.h5", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def setUp(self):
        super().setUp()
        self.write(BALL.replace("name: ball", "name: 'ball, red'"))
        self.report("scene.yaml", "--scheme", "trapezoid", "--duration", 3, "-o", "run.h5")

    def test_every_number_has_all_its_digits(self):
        rows = self.table("--what", "pose,velocity,angular_velocity,energy,certificate,contact_count", "--body", "floor")
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual([float(r["time"]) for r in rows], list(file["time"][:]))
            self.assertEqual([float(r["kinetic"]) for r in rows], list(file["energy"][:, 0]))
            self.assertEqual([float(r["relative"]) for r in rows], list(file["certificate/relative"][:]))
            self.assertEqual([int(r["contact_count"]) for r in rows], list(numpy.diff(file["contacts/offset"][:])))
            self.assertNotIn("ball, red.x", rows[0])
            rows = self.table("--what", "position,orientation,velocity")
            for i, axis in enumerate("xyz"):
                self.assertEqual([float(r[f"ball, red.{axis}"]) for r in rows], list(file["pose"][:, 1, i]))
                self.assertEqual([float(r[f"ball, red.v{axis}"]) for r in rows], list(file["velocity"][:, 1, i]))
            self.assertEqual([float(r["ball, red.qw"]) for r in rows], list(file["pose"][:, 1, 3]))

    def test_contacts_and_events_have_rows_of_their_own(self):
        with h5py.File(self.folder / "run.h5") as file:
            contacts = self.table("--what", "contacts")
            self.assertEqual([float(r["impulse_z"]) for r in contacts], list(file["contacts/impulse"][:, 2]))
            self.assertEqual({r["b"] for r in contacts} | {r["a"] for r in contacts}, {"ball, red", "floor"})
            events = self.table("--what", "events")
            self.assertGreater(len(events), 0)
            self.assertEqual([float(r["time"]) for r in events], list(file["events/time"][:]))
            self.assertEqual(events[0]["kind"], "impact")

    def test_output_and_faults(self):
        listing = self.call("table", "run.h5").stdout
        self.assertEqual(listing, self.call("table", "run.h5", "--what", "list").stdout)
        for line in listing.splitlines():
            self.assertEqual(self.call("table", "run.h5", "--what", line.split()[0]).returncode, 0, line)
        done = self.call("table", "run.h5", "--what", "energy", "-o", "e.csv")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual((self.folder / "e.csv").read_text(), self.call("table", "run.h5", "--what", "energy").stdout)
        for arguments, message in [(("--what", "enrgy"), "did you mean 'energy'?"), (("--what", "pose", "--body", "flor"), "did you mean 'floor'?"),
                                   (("--what", "events,energy"), "ask for it alone"), (("--what", "energy", "-o", "run.h5"), "is the recording itself"),
                                   (("--what", "energy", "-o", "e.csv", "--no-clobber"), "is there already")]:
            done = self.call("table", "run.h5", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(self.call("table", "scene.yaml").returncode, 2)
        self.assertEqual(self.call("table", "none.h5").returncode, 2)


HANGING = """slipstick: 1
bodies:
  - {name: upper, mass: 2, position: [0, 0, -1]}
  - {name: lower, mass: 3, position: [0, 0, -2]}
  - {name: arm, mass: 1, inertia: [0.1, 0.1, 0.1], position: [5.5, 0, 0]}
joints:
  - ball: {name: top, between: [world, upper], at: [0, 0, 0]}
  - ball: {name: middle, between: [upper, lower], at: [0, 0, -1.5]}
  - hinge: {name: 'the, elbow', between: [world, arm], at: [5, 0, 0], axis: [0, 1, 0], motor: {speed: 0, max: 100}}
simulation: {duration: 0.5, step: 1/100}
"""


class Joints(CliTest):
    """Reactions whose values are known: weights below, and the torque that holds an arm level."""

    def test_recording_report_table_and_plot_say_the_same(self):
        self.write(HANGING.replace("mass: 2,", "mass: 2, inertia: [1, 1, 1],").replace("mass: 3,", "mass: 3, inertia: [1, 1, 1],"))
        report = self.report("scene.yaml", "-o", "run.h5")
        joints = report["final"]["joints"]
        self.assertEqual(list(joints), ["top", "middle", "the, elbow"])
        self.assertAlmostEqual(joints["top"]["force_on_b"][2], 5 * 9.81, 7)
        self.assertAlmostEqual(joints["middle"]["force_on_b"][2], 3 * 9.81, 7)
        elbow = joints["the, elbow"]
        self.assertAlmostEqual(abs(elbow["motor"]), 9.81 * 0.5, 7)
        self.assertAlmostEqual(elbow["force_on_b"][2], 9.81, 7)
        self.assertLess(abs(elbow["position"]), 1e-9)
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual(list(file["names/joints"].asstr()[:]), ["top", "middle", "the, elbow"])
            n = len(file["time"])
            self.assertEqual(file["joint/reaction"].shape, (n, 3, 6))
            for name in ("position", "velocity", "motor"):
                self.assertEqual(file["joint/" + name].shape, (n, 3))
            self.assertEqual(list(file["joint/reaction"][-1, 2, :3]), elbow["force_on_b"])
            self.assertEqual(list(file["joint/reaction"][-1, 2, 3:]), elbow["moment_on_b"])
            self.assertEqual(file["joint/motor"][-1, 2], elbow["motor"])
            self.assertEqual(file["joint/position"][-1, 2], elbow["position"])
            numpy.testing.assert_array_equal(file["joint/reaction"][0], 0)
            done = self.call("table", "run.h5", "--what", "joints,energy", "--joint", "the, elbow")
            self.assertEqual(done.returncode, 2)  # commas part names
            done = self.call("table", "run.h5", "--what", "joints")
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            self.assertEqual([float(r["the, elbow.motor"]) for r in rows], list(file["joint/motor"][:, 2]))
            self.assertEqual([float(r["middle.fz"]) for r in rows], list(file["joint/reaction"][:, 1, 2]))
            done = self.call("table", "run.h5", "--what", "joint_reaction", "--joint", "top")
            self.assertEqual(done.stdout.splitlines()[0], "time,top.fx,top.fy,top.fz,top.mx,top.my,top.mz")
        for what in ("joint_position", "joint_velocity", "joint_motor", "joint_force", "joint_moment"):
            done = self.call("plot", "run.h5", "--what", what, "--joint", "the, elbow", "-o", "f.svg")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--joint NAME", self.call("plot", "run.h5", "--what", "joint_motor", "-o", "f.svg").stderr)
        self.assertIn("did you mean 'middle'?", self.call("table", "run.h5", "--what", "joints", "--joint", "midle").stderr)

    def test_no_joints_no_columns(self):
        self.write(GOOD)
        self.assertEqual(self.report("scene.yaml", "-o", "run.h5")["final"]["joints"], {})
        with h5py.File(self.folder / "run.h5") as file:
            self.assertEqual(file["joint/reaction"].shape[1:], (0, 6))
            self.assertEqual(len(file["names/joints"]), 0)
        self.assertEqual(self.call("table", "run.h5", "--what", "joints").stdout.splitlines()[0], "time")


if __name__ == "__main__":
    unittest.main()
