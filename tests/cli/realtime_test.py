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

    def test_a_budget_needs_the_clock(self):
        done = self.call("run", SCENES / "pendulum.yaml", "--budget", "5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--realtime", done.stderr)


if __name__ == "__main__":
    unittest.main()
