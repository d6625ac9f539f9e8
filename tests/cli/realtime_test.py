"""`run --realtime`: the clock is kept, missed deadlines and budgets are told."""
import time
import unittest

from cli_support import SCENES, CliTest


class Realtime(CliTest):
    def test_a_run_is_not_faster_than_the_clock_and_says_what_it_missed(self):
        start = time.monotonic()
        report = self.report(SCENES / "pendulum.yaml", "--duration", "0.5", "--realtime")
        self.assertGreaterEqual(time.monotonic() - start, 0.45)
        told = report["realtime"]
        self.assertEqual(told["rate"], 1)
        self.assertEqual(told["hurried_steps"], 0)
        self.assertLessEqual(told["missed_deadlines"], report["steps"])
        self.assertGreaterEqual(told["worst_lateness_s"], told["final_lateness_s"])

    def test_late_steps_use_the_budget_and_are_counted(self):
        scene = SCENES / "wheel_loader.yaml"
        report = self.report(scene, "--duration", "0.2", "--realtime", "1000", "--budget", "2")
        told = report["realtime"]
        self.assertEqual(told["budget"], 2)
        self.assertGreater(told["missed_deadlines"], 0)
        self.assertGreater(told["hurried_steps"], 0)
        self.assertGreater(report["certificate"]["uncertified_steps"], 0)  # two sweeps prove nothing, and it says so

    def test_without_the_option_nothing_changes(self):
        self.assertNotIn("realtime", self.report(SCENES / "pendulum.yaml", "--duration", "0.1"))

    def test_a_budget_without_the_clock_limits_every_step(self):
        wall = [SCENES / "wall.yaml", "--set", "columns=4", "--set", "rows=3", "--duration", "0.1"]
        free, tight = self.report(*wall), self.report(*wall, "--budget", "20")
        self.assertEqual(free["work"]["exhausted_steps"], 0)
        self.assertEqual(tight["work"]["budget"], 20)
        self.assertGreater(tight["work"]["exhausted_steps"], 0)
        self.assertLessEqual(tight["work"]["spent_max"], 20 * tight["problem"]["rows_max"])
        self.assertLess(tight["work"]["spent_max"], free["work"]["spent_max"])
        self.assertGreater(tight["certificate"]["certified_to"], 1e-8)
        self.assertGreater(tight["certificate"]["uncertified_steps"], 0)
        self.assertEqual(self.call("run", *wall, "--budget", "20", "--strict").returncode, 1)

    def test_an_effort_that_is_none_is_a_fault(self):
        done = self.call("run", SCENES / "pendulum.yaml", "--effort", "swfit")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exact, balanced or swift", done.stderr)


if __name__ == "__main__":
    unittest.main()
