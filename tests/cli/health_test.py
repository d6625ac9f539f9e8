"""What `run` says and does where a run is no longer physics."""
import unittest

from cli_support import GOOD, CliTest

# Three rods that no triangle can have.
TORN = """slipstick: 1
bodies:
  - {name: a, mass: 1, shapes: [{sphere: {radius: 0.1}}]}
  - {name: b, mass: 1, position: [1, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
  - {name: c, mass: 1, position: [0, 1, 0], shapes: [{sphere: {radius: 0.1}}]}
joints:
  - rod: {name: ab, between: [a, b], at: [[0, 0, 0], [1, 0, 0]], length: 1}
  - rod: {name: bc, between: [b, c], at: [[1, 0, 0], [0, 1, 0]], length: 1}
  - rod: {name: ca, between: [c, a], at: [[0, 1, 0], [0, 0, 0]], length: 5}
simulation: {duration: 0.05, step: 1/100}
"""


class Health(CliTest):
    def test_a_healthy_run_says_so(self):
        self.write(GOOD)
        report = self.report("scene.yaml", "--strict")
        self.assertTrue(report["health"]["ok"])
        self.assertEqual(report["health"]["alarms"], [])

    def test_what_is_beyond_repair_ends_the_run(self):
        self.write(TORN)
        done = self.call("run", "scene.yaml", "--report", "r.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("is open"), 1)
        self.assertIn("beyond repair", done.stderr)
        self.assertIn("--keep-going", done.stderr)

    def test_who_wants_to_watch_may(self):
        self.write(TORN)
        done = self.call("run", "scene.yaml", "--keep-going", "--report", "r.json")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("is open"), 1)
        self.assertEqual(self.call("run", "scene.yaml", "--keep-going", "--strict").returncode, 1)


if __name__ == "__main__":
    unittest.main()
