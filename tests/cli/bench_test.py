"""`bench`: scenes, figures, and other engines where they were built."""
import json
import pathlib
import unittest

from cli_support import BINARY, CliTest

PEERS = [p for p in ("bullet", "ode") if (pathlib.Path(BINARY).parent / f"slipstick_peer_{p}").exists()]


class Bench(CliTest):
    def table(self, *arguments):
        done = self.call("bench", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_scene_by_its_name(self):
        (scene,) = self.table("heavy")
        self.assertEqual(scene["scene"], "heavy")
        (ours,) = scene["engines"]
        self.assertEqual(ours["engine"], "slipstick")
        self.assertEqual(ours["failure"], "")
        self.assertEqual(ours["steps"], 600)
        self.assertEqual(ours["uncertified_steps"], 0)
        self.assertLess(ours["penetration_max"], 1e-5)
        self.assertLess(ours["displacement"], 1e-3)
        self.assertGreaterEqual(ours["ms_per_step"]["max"], ours["ms_per_step"]["median"])

    def test_several_scenes_and_rounds_as_text(self):
        done = self.call("bench", "stack", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("stack-10", "stack-20", "stack-40"):
            self.assertEqual(done.stdout.count(name), 1)

    def test_an_unknown_scene(self):
        done = self.call("bench", "stak")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown scene 'stak'", done.stderr)
        self.assertIn("stack-10", done.stderr)

    @unittest.skipIf(PEERS, "other engines were built")
    def test_says_what_to_install(self):
        done = self.call("bench", "heavy", "--peers")
        self.assertEqual(done.returncode, 2)
        self.assertIn("libbullet-dev", done.stderr)

    @unittest.skipUnless(PEERS, "no other engine was built (target `peers`)")
    def test_beside_other_engines(self):
        (scene,) = self.table("stack-10", "--peers")
        self.assertEqual(len(scene["engines"]), 1 + 2 * len(PEERS))
        for each in scene["engines"][1:]:
            self.assertEqual(each["failure"], "")
            self.assertEqual(each["steps"], 600)
            self.assertIsNone(each["uncertified_steps"])
            self.assertGreater(each["displacement"], 0)

    @unittest.skipUnless(PEERS, "no other engine was built (target `peers`)")
    def test_what_cannot_be_compared_is_told(self):
        done = self.call("bench", "cannonball", "--peers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not comparable: a planar scene", done.stdout)


if __name__ == "__main__":
    unittest.main()
