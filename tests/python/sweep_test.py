"""Sweeps: studies, designs, tables; workers, drivers and clusters that die; nothing lost and nothing done twice."""
import csv
import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import unittest.mock

import numpy as np
import slipstick as ss
from slipstick.studies import table
from slipstick.studies.designs import make_cases
from slipstick.studies.expressions import Expression, ExpressionError
from slipstick.studies.journal import Journal, read_rows
from slipstick.studies.local import _Pool
from slipstick.studies.study import parse, read
from slipstick.studies.sweep import make_plan

SCENES = os.environ["SLIPSTICK_SCENES"]
SLIDE = """
slipstick: 1
let: {mu: 0.5, v: 1, bad: 0, time: 1}
materials: {default: {friction: mu}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - {name: block, mass: 1, position: [0, 0, 0.05], velocity: [v, 0, 0], shapes: [{box: {size: [0.2, 0.2, 0.1]}}]}
forces:
  - load: {body: block, force: ["bad > 0 ? sqrt(0.05 - t) : 0", 0, 0]}
simulation: {duration: time, step: 1/500}
"""
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs tests in the background has Ctrl-C ignored, in programs that they start too
PATIENCE = 300  # s: how long a test waits for what must come; none asserts how soon it comes
STUDY = """slipstick_study: 1
scene: slide.yaml
vary: {mu: [0.2, 0.4, 0.8], v: {from: 1, to: 2, count: 4}}
outputs: {way: final.bodies.block.position[0], far: "way > 0.3", expected: v^2/(2*mu*9.81)}
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.write("slide.yaml", SLIDE)
        self.write("study.yaml", STUDY)

    def write(self, name, text):
        (self.at / name).write_text(text)
        return str(self.at / name)

    def start(self, *words, **options):
        return subprocess.Popen([sys.executable, "-m", "slipstick", "sweep", *words], cwd=self.at, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def sweep(self, *words, **options):
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    def rows(self, name):
        return table.read(str(self.at / name))

    def faults(self, text):
        with self.assertRaises(ss.SceneError) as caught:
            parse(text, "s.yaml")
        return [str(f) for f in caught.exception.faults]


class Studies(Folder):
    def test_faults_have_their_place_and_a_remedy(self):
        found = self.faults("slipstick_study: 1\nscen: a.yaml\nvary: {mu: {from: 0, to: 1, scale: log}, m: {sample: norml}}\ndesign: gird\n"
                            "outputs: {case: '1', b: 'open(1)'}\ncount: 2.5\n")
        for part in ("s.yaml:2:1: unknown key 'scen' in study; did you mean 'scene'?", "no 'scene'", "scale log needs bounds above zero",
                     "s.yaml:3:54: unknown sample 'norml'; did you mean 'normal'?", "s.yaml:4:9: unknown design 'gird'; did you mean 'grid'?",
                     "output 'case': the table has a column", "unknown function 'open'", "whole number"):
            self.assertTrue(any(part in f for f in found), (part, found))

    def test_a_scene_lies_below_its_study(self):
        inside = self.at / "inside"
        inside.mkdir()
        (inside / "link.yaml").symlink_to(self.at / "slide.yaml")
        for name in ("../slide.yaml", str(self.at / "slide.yaml"), "link.yaml", "~/slide.yaml"):
            (inside / "study.yaml").write_text(STUDY.replace("slide.yaml", name))
            with self.assertRaises(ss.SceneError, msg=name) as caught:
                read(str(inside / "study.yaml"))
            self.assertIn("study.yaml:2:8: scene", str(caught.exception), name)
            self.assertIn("lies outside the study's folder; allow it with --allow-path", str(caught.exception))
            read(str(inside / "study.yaml"), allow_path=True)
        read(os.path.join(SCENES, "studies", "pawl.yaml"))  # the shipped ones are known to everybody

    def test_hostile_texts_are_refused(self):
        bomb = "a: &a [x, x]\nb: &b [*a, *a]\n"
        for text in (bomb, "{" * 3000, "\x00", "", "- 1", "slipstick_study: 2\nscene: x\nvary: {a: [1]}", "slipstick_study: 1\nscene: x\nvary: {a: [.nan]}",
                     "slipstick_study: 1\nscene: x\nvary: {a: [9^9^9^9^9]}", "slipstick_study: 1\nscene: x\nvary: {a: ['" + "(" * 1500 + "']}"):
            self.assertTrue(self.faults(text))

    def test_expressions_reach_nothing_else(self):
        for text in ("__import__('os')", "().__class__", "[1][0]", "lambda: 1", "x.__class__", "a if", "f'{x}'", "abs(x=1)", "9**9**9**9"):
            with self.assertRaises(ExpressionError, msg=text):
                Expression(text).value({"x": 1.0})
        self.assertEqual(Expression("max(a.b[1], 2)^2 > 8 and not false").value({"a": {"b": [1, 3]}}), True)

    def test_designs(self):
        head = "slipstick_study: 1\nscene: a.yaml\nseed: 3\n"
        grid = make_cases(parse(head + "vary: {a: [1, 2], b: {from: 1, to: 100, count: 3, scale: log}, c: {sample: normal, mean: 5, deviation: 0}}\ncount: 2"))
        self.assertEqual(len(grid), 12)
        np.testing.assert_allclose([c["b"] for c in grid[::2]], [1, 10, 100] * 2)
        self.assertEqual({c["c"] for c in grid}, {5.0})
        for design in ("random", "latin", "sobol"):
            text = head + f"design: {design}\ncount: 64\nvary: {{a: {{from: 2, to: 4}}, b: {{sample: normal, mean: 1, deviation: 2}}, c: [7, 8]}}"
            cases = make_cases(parse(text))
            self.assertEqual(cases, make_cases(parse(text)))
            self.assertNotEqual(cases, make_cases(parse(text.replace("seed: 3", "seed: 4"))))
            a = np.array([c["a"] for c in cases])
            self.assertTrue(((a >= 2) & (a <= 4)).all())
            if design != "random":  # one value in each of 64 slices
                self.assertEqual(len(set(np.floor((a - 2) * 32))), 64)
                self.assertLess(abs(np.mean([c["b"] for c in cases]) - 1), 0.2)
        listed = make_cases(parse(head + "design: list\ncases: [{a: 1, b: 2}, {a: 3, b: 1/4}]"))
        self.assertEqual(listed, [{"a": 1, "b": 2}, {"a": 3, "b": 0.25}])
        # Another variable leaves the values of this one as they were.
        one = make_cases(parse(head + "design: latin\ncount: 9\nvary: {a: {from: 0, to: 1}}"))
        two = make_cases(parse(head + "design: latin\ncount: 9\nvary: {z: {from: 0, to: 1}, a: {from: 0, to: 1}}"))
        self.assertEqual([c["a"] for c in one], [c["a"] for c in two])

    def test_a_wrong_output_is_found_before_anything_runs(self):
        self.write("study.yaml", STUDY.replace("bodies.block", "bodies.blok"))
        code, _, err = self.sweep("study.yaml", "-o", "t.csv")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"study.yaml:4:16: output 'way': 'final.bodies' has no 'blok'; did you mean 'block'\?")
        self.assertEqual(sorted(p.name for p in self.at.iterdir()), ["slide.yaml", "study.yaml"])

    def test_a_name_that_the_scene_does_not_know(self):
        self.write("study.yaml", STUDY.replace("mu:", "mue:").replace("*mu*", "*"))
        code, _, err = self.sweep("study.yaml", "-o", "t.csv")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"study.yaml:3:13: 'mue': .*did you mean 'mu'")


class Tables(Folder):
    def test_one_worker_and_many_give_the_same_bytes_and_the_law(self):
        for kind in ("csv", "h5"):
            for workers in ("1", "3"):
                code, _, err = self.sweep("study.yaml", "--workers", workers, "-o", f"{workers}.{kind}")
                self.assertEqual(code, 0, err)
            self.assertEqual((self.at / f"1.{kind}").read_bytes(), (self.at / f"3.{kind}").read_bytes())
        rows = self.rows("1.h5")
        self.assertEqual([row["case"] for row in rows], list(range(12)))
        for row, text in zip(rows, self.rows("1.csv")):
            self.assertEqual(row, text)
            self.assertEqual(row["status"], "done")
            self.assertAlmostEqual(row["way"], row["expected"], delta=0.01)
            self.assertEqual(row["far"], row["way"] > 0.3)
            alone = ss.Simulation(ss.load(str(self.at / "slide.yaml"), set={"mu": row["mu"], "v": row["v"]}))
            self.assertEqual(alone.run()["state_hash"], row["state_hash"])
        self.assertEqual(sorted(p.suffix for p in self.at.iterdir()), [".csv", ".csv", ".h5", ".h5", ".yaml", ".yaml"])

    def test_two_messages_of_a_worker_at_once(self):
        # A driver that is slow to look finds "ready" and the first answer together in the pipe; a reader that takes more than one message
        # out of the pipe then waits for ever.
        plan = make_plan(read(self.at / "study.yaml"))
        pool = _Pool(plan.bundle, list(enumerate(plan.cases[:3])), 1, None)
        self.addCleanup(pool.close)
        deadline = time.monotonic() + PATIENCE
        while self.bytes_waiting(pool.workers[0].process.stdout) < 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        found = []
        for answer in pool.answers():
            found += [answer[0]] if answer else []
            self.assertLess(time.monotonic(), deadline, "the driver waits for what it has read already")
        self.assertEqual(found, [0, 1, 2])

    def bytes_waiting(self, pipe):
        return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)

    def test_python_returns_a_frame(self):
        frame = ss.sweep(self.at / "study.yaml", workers=2)
        self.assertEqual(len(frame), 12)
        self.assertEqual(frame.query("mu == 0.2 and v == 2")["far"].tolist(), [True])

    def test_more_cases_use_those_that_are_there(self):
        self.sweep("study.yaml", "-o", "t.h5")
        self.write("study.yaml", STUDY.replace("count: 4", "count: 7"))
        code, out, _ = self.sweep("study.yaml", "-o", "t.h5")
        self.assertEqual(code, 0)
        self.assertIn("21 cases in t.h5, 12 of them from before", out)
        self.sweep("study.yaml", "-o", "new.h5")
        self.assertEqual((self.at / "t.h5").read_bytes(), (self.at / "new.h5").read_bytes())

    def test_a_changed_scene_is_run_again_and_the_old_table_is_kept(self):
        self.sweep("study.yaml", "-o", "t.csv")
        before = (self.at / "t.csv").read_bytes()
        self.write("slide.yaml", SLIDE.replace("mass: 1", "mass: 2"))
        code, _, err = self.sweep("study.yaml", "-o", "t.csv")
        self.assertEqual(code, 2)
        self.assertIn("table of another study, scene or version", err)
        self.assertEqual((self.at / "t.csv").read_bytes(), before)
        self.assertFalse((self.at / "t.csv.journal").exists())
        for name in ("study.yaml", "slide.yaml"):
            self.assertEqual(self.sweep("study.yaml", "-o", name)[0], 2)

    def test_cases_that_the_study_has_no_more_are_not_thrown_away(self):
        self.sweep("study.yaml", "-o", "t.h5")
        before = (self.at / "t.h5").read_bytes()
        self.write("study.yaml", STUDY.replace("0.2, 0.4, 0.8", "0.2, 0.9"))
        code, _, err = self.sweep("study.yaml", "-o", "t.h5")
        self.assertEqual(code, 2)
        self.assertIn("t.h5: 8 of its 12 cases are not in this study and would be lost; name another file", err)
        self.assertEqual((self.at / "t.h5").read_bytes(), before)
        # The same for rows of a sweep that was killed before it could write a table.
        journal = Journal(str(self.at / "k.csv.journal"))
        for row in self.rows("t.h5")[:5]:
            journal.add(row)
        journal.close(remove=False)
        kept = (self.at / "k.csv.journal").read_bytes()
        self.write("study.yaml", STUDY.replace("0.2, 0.4, 0.8", "0.9"))
        code, _, err = self.sweep("study.yaml", "-o", "k.csv")
        self.assertEqual(code, 2)
        self.assertIn("k.csv.journal: is what is kept of another study, scene or version", err)
        self.assertEqual((self.at / "k.csv.journal").read_bytes(), kept)

    def test_workers_that_do_not_start(self):
        plan = make_plan(read(self.at / "study.yaml"))
        with unittest.mock.patch("slipstick.studies.local.sys.executable", "/bin/false"):
            pool = _Pool(plan.bundle, list(enumerate(plan.cases)), 2, None)
            self.addCleanup(pool.close)
            with self.assertRaisesRegex(OSError, r"10 workers in a row ended before they were ready \(exit code 1\)"):
                list(pool.answers())

    def test_a_journal_that_was_just_removed(self):
        path = str(self.at / "j")
        first = Journal(path)
        taken = os.open

        def open_then_finish(*words):  # the first sweep ends between the second's look for the file and its lock
            found = taken(*words)
            unittest.mock.patch.stopall()
            first.close(remove=True)
            return found

        unittest.mock.patch("slipstick.studies.journal.os.open", open_then_finish).start()
        self.addCleanup(unittest.mock.patch.stopall)
        second = Journal(path)
        second.add({"key": "a"})
        second.close(remove=False)
        self.assertEqual(list(read_rows(path)), [{"key": "a"}])

    def test_broken_cases_are_rows_with_their_reason(self):
        self.write("study.yaml", "slipstick_study: 1\nscene: slide.yaml\ndesign: list\ntimeout: 10\noutputs: {x: final.bodies.block.position[0], y: 1/(x - x)}\n"
                   "cases: [{bad: 0, mu: 0.5, time: 1}, {bad: 1, mu: 0.5, time: 1}, {bad: 0, mu: -1, time: 1}, {bad: 0, mu: 0.5, time: 1e5}]\n")
        code, out, err = self.sweep("study.yaml", "-o", "t.csv", "--workers", "2")
        self.assertEqual(code, 0, err)
        rows = self.rows("t.csv")
        self.assertEqual([row["status"] for row in rows], ["failed", "failed", "failed", "timeout"])
        for row, part in zip(rows, ("output y: '1/(x - x)' has no value", "load_0' on body 'block': its force is", "slide.yaml:", "took longer than 10 s")):
            self.assertIn(part, row["reason"])
        self.assertIsNotNone(rows[0]["x"])
        self.assertAlmostEqual(rows[1]["seconds"], 0.05, delta=0.01)
        self.assertIn("case 3 timeout", err)
        self.assertEqual(self.sweep("study.yaml", "-o", "t.csv", "--strict")[0], 1)

    def test_a_torn_line_of_the_journal_is_dropped(self):
        path = str(self.at / "j")
        journal = Journal(path)
        for i in range(3):
            journal.add({"key": str(i)})
        journal.close(remove=False)
        data = pathlib.Path(path).read_bytes()
        for cut in range(len(data)):
            pathlib.Path(path).write_bytes(data[:cut])
            rows = list(read_rows(path))
            self.assertEqual(rows, [{"key": str(i)} for i in range(data[:cut].count(b"\n"))])
            again = Journal(path)
            again.add({"key": "new"})
            again.close(remove=False)
            self.assertEqual(list(read_rows(path)), [*rows, {"key": "new"}])

    def test_plots(self):
        self.sweep("study.yaml", "-o", "t.h5")
        for words, name in ((("plot", "t.h5"), "t.html"), (("plot", "t.h5", "--what", "way", "-o", "w.svg"), "w.svg"),
                            (("plot", "t.h5", "--over", "mu", "--what", "way", "-o", "w.png"), "w.png")):
            code, _, err = self.sweep(*words)
            self.assertEqual(code, 0, err)
            self.assertGreater((self.at / name).stat().st_size, 5000)
        self.assertEqual(self.sweep("plot", "t.h5", "--what", "wy")[0], 2)
        self.assertEqual(self.sweep("plot", "slide.yaml")[0], 2)


class Deaths(Folder):
    """60 cases; whatever dies, the table is that of an undisturbed sweep."""

    whole = None

    def setUp(self):
        super().setUp()
        self.write("study.yaml", STUDY.replace("count: 4", "count: 20").replace("scene: slide.yaml", "scene: slide.yaml\nsimulation: {duration: 8}"))
        if Deaths.whole is None:
            code, _, err = self.sweep("study.yaml", "-o", "whole.h5")
            self.assertEqual(code, 0, err)
            Deaths.whole = (self.at / "whole.h5").read_bytes()

    def same(self):
        self.assertEqual(Deaths.whole, (self.at / "t.h5").read_bytes())
        self.assertEqual(sorted(p.name for p in self.at.iterdir() if p.name.startswith("t.h5")), ["t.h5"])

    def has_rows(self, count, process):
        """Waits for the first rows; False if all of them were made before we could look (on a machine that gives us no time)."""
        deadline = time.monotonic() + PATIENCE
        while len(list(read_rows(str(self.at / "t.h5.journal")))) < count:
            if process.poll() is not None:
                self.assertEqual(process.returncode, 0, process.stderr.read())
                self.same()
                return False
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return True

    def in_time(self, attempt):
        """Runs `attempt` until it got at the sweep before its end (it returns True), each time from nothing."""
        for _ in range(10):
            for path in self.at.glob("t.h5*"):
                path.unlink()
            if attempt():
                return
        self.fail("ten sweeps ended before they could be disturbed")

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def alive(self, worker):
        try:
            return "slipstick" in pathlib.Path(f"/proc/{worker}/cmdline").read_text()
        except OSError:  # it may end while we look
            return False

    def workers_of(self, process):
        out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
        return [int(word) for word in out.split()]

    def test_driver_killed_twice(self):
        self.in_time(self.kill_the_driver_twice)

    def kill_the_driver_twice(self):
        done = []
        for count in (5, 25):
            process = self.start("study.yaml", "-o", "t.h5", "--workers", "2")
            if not self.has_rows(count, process):
                return False
            workers = self.workers_of(process)
            process.kill()
            process.communicate()
            self.wait_until(lambda: not any(self.alive(worker) for worker in workers), "its workers go with it")
            if not (self.at / "t.h5.journal").exists():
                return False  # it had come to its end
            done.append([row["key"] for row in read_rows(str(self.at / "t.h5.journal"))])
        self.assertEqual(done[1][:len(done[0])], done[0])
        self.assertEqual(len(set(done[1])), len(done[1]), "a case was done twice")
        code, out, _ = self.sweep("study.yaml", "-o", "t.h5")
        self.assertEqual(code, 0)
        self.assertIn(f"{len(done[1])} of them from before", out)
        self.same()
        return True

    def test_workers_killed(self):
        self.in_time(self.kill_workers)

    def kill_workers(self):
        process = self.start("study.yaml", "-o", "t.h5", "--workers", "2")
        killed = 0
        for count in (3, 10, 20, 30):
            if not self.has_rows(count, process):
                return False
            for worker in self.workers_of(process)[:1]:
                try:
                    os.kill(worker, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:  # it ended by itself between the look and the kill
                    pass
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.same()
        return killed > 1

    def test_ctrl_c_and_other_ends_keep_what_is_done(self):
        self.in_time(self.interrupt_thrice)

    def interrupt_thrice(self):
        for count, number in ((5, signal.SIGINT), (15, signal.SIGTERM), (25, signal.SIGHUP)):
            process = self.start("study.yaml", "-o", "t.h5", "--workers", "2")
            if not self.has_rows(count, process):
                return False
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            if process.returncode == 0:
                return False  # it had come to its end
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("the same command goes on", err)
            self.assertGreaterEqual(len(self.rows("t.h5")), count)
        self.assertEqual(self.sweep("study.yaml", "-o", "t.h5")[0], 0)
        self.same()
        return True

    def test_ctrl_c_just_after_a_row_was_written(self):
        self.write("study.yaml", STUDY)
        added, add = [], Journal.add

        def add_and_stop(journal, row):
            add(journal, row)
            added.append(row["key"])
            if len(added) == 3:
                raise KeyboardInterrupt

        with unittest.mock.patch.object(Journal, "add", add_and_stop), self.assertRaises(KeyboardInterrupt):
            ss.sweep(self.at / "study.yaml", self.at / "t.csv", workers=1)
        self.assertEqual(sorted(row["key"] for row in self.rows("t.csv")), sorted(added))

    def test_two_sweeps_to_one_name(self):
        self.in_time(self.sweep_twice)

    def sweep_twice(self):
        process = self.start("study.yaml", "-o", "t.h5", "--workers", "1")
        if not self.has_rows(1, process):
            return False
        process.send_signal(signal.SIGSTOP)  # it waits, so that the second finds it at work
        try:
            self.wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "TZ", "it is stopped")
            still = (self.at / "t.h5.journal").exists()
            code, _, err = self.sweep("study.yaml", "-o", "t.h5")
        finally:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        if not still:
            return False
        self.assertEqual(code, 1)
        self.assertIn("t.h5 is being written by another sweep", err)
        self.same()
        return True

    def test_disk_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

        code, _, err = self.sweep("study.yaml", "-o", "t.h5", preexec_fn=limit)
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"(File too large|No space left on device): \d+ of 60 cases are done and kept for t.h5; the same command goes on")
        kept = len(self.rows("t.h5") if (self.at / "t.h5").exists() else list(read_rows(str(self.at / "t.h5.journal"))))
        self.assertGreater(kept, 3)
        code, out, _ = self.sweep("study.yaml", "-o", "t.h5")
        self.assertEqual(code, 0)
        self.assertIn(f"{kept} of them from before", out)
        self.same()

    def test_disk_full_when_the_table_is_written(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))  # a line of the journal, but not the smallest table

        self.write("study.yaml", STUDY.replace("count: 4", "count: 1").replace("0.2, 0.4, 0.8", "0.2"))
        code, _, err = self.sweep("study.yaml", "-o", "few.h5", preexec_fn=limit)
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"few.h5: cannot be written: .*; all 1 cases are kept in few.h5.journal, and the same command goes on")
        code, out, _ = self.sweep("study.yaml", "-o", "few.h5")
        self.assertEqual(code, 0)
        self.assertIn("1 of them from before", out)
        self.assertEqual(len(self.rows("few.h5")), 1)

    def test_locale_and_clock_zone_change_nothing(self):
        environment = {**os.environ, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Pacific/Auckland"}
        self.assertEqual(self.sweep("study.yaml", "-o", "t.h5", env=environment)[0], 0)
        self.same()

    def test_dask_with_workers_killed(self):
        try:
            import distributed  # noqa: F401
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        self.in_time(self.kill_dask_workers)

    def kill_dask_workers(self):
        with Cluster(self.at) as cluster:
            for _ in range(2):
                cluster.start_worker()
            process = self.start("study.yaml", "-o", "t.h5", "--dask", cluster.address)
            if not self.has_rows(3, process):
                return False
            for count in (3, 15, 30):  # after each kill the sweep gets on before the next
                if not self.has_rows(count, process):
                    return False
                cluster.kill_worker()
                cluster.start_worker()
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, err)
        self.same()
        return True

    def test_dask_scheduler_killed(self):
        try:
            import distributed  # noqa: F401
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        self.in_time(self.kill_the_scheduler)

    def kill_the_scheduler(self):
        with Cluster(self.at) as cluster:
            cluster.start_worker()
            process = self.start("study.yaml", "-o", "t.h5", "--dask", cluster.address)
            if not self.has_rows(3, process):
                return False
            cluster.scheduler.kill()
            _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 0:
            return False  # it had come to its end
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, r"the connection to the Dask scheduler is lost: \d+ of 60 cases are done and kept for t.h5; the same command goes on")
        self.assertEqual(len([line for line in err.splitlines() if " s left" not in line]), 1, err)  # beside the lines of progress
        kept = len(self.rows("t.h5"))
        self.assertGreaterEqual(kept, 3)
        code, out, _ = self.sweep("study.yaml", "-o", "t.h5")
        self.assertEqual(code, 0)
        self.assertIn(f"{kept} of them from before", out)
        self.same()
        return True

    def test_dask_workers_without_the_package(self):
        try:
            import distributed  # noqa: F401
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        with Cluster(self.at) as cluster:
            cluster.start_worker(env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
            code, _, err = self.sweep("study.yaml", "-o", "t.h5", "--dask", cluster.address)
        self.assertEqual(code, 1)
        self.assertIn("a Dask worker cannot run cases: No module named 'slipstick'", err)
        self.assertNotIn("Traceback", err)

    def test_dask_that_is_not_there(self):
        code, _, err = self.sweep("study.yaml", "-o", "t.h5", "--dask", "tcp://127.0.0.1:9")
        self.assertEqual(code, 1)
        self.assertIn("no Dask scheduler answers at tcp://127.0.0.1:9", err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)


class Cluster:
    """A Dask scheduler and workers on this machine."""

    def __init__(self, folder):
        self.folder, self.workers = folder, []

    def __enter__(self):
        info = self.folder / "scheduler.json"
        self.scheduler = self._run("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(info))
        deadline = time.monotonic() + PATIENCE
        while not info.exists() or not info.read_text():
            assert time.monotonic() < deadline and self.scheduler.poll() is None
            time.sleep(0.1)
        import json

        self.address = json.loads(info.read_text())["address"]
        return self

    def _run(self, kind, *words, **options):
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{kind}", *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **options)

    def start_worker(self, **options):
        self.workers.append(self._run("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
                                      "--local-directory", str(self.folder / "dask"), **options))

    def kill_worker(self):
        self.workers[0].kill()
        self.workers.pop(0).wait()

    def __exit__(self, *_):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main()
