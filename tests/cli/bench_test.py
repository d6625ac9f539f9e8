"""`bench`: scenes, figures, and other engines where they were built."""
import json
import pathlib
import unittest

from cli_support import BINARY, CliTest

SETTINGS = {"bullet": 2, "ode": 2, "mujoco": 3, "jolt": 4, "rapier": 2, "dart": 2}
PEERS = {name: count for name, count in SETTINGS.items()
         if (pathlib.Path(BINARY).parent / f"slipstick_peer_{name}").exists()}


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
        self.assertEqual(len(scene["engines"]), 1 + sum(PEERS.values()))
        self.assertEqual(len({each["engine"] for each in scene["engines"]}), len(scene["engines"]))
        for each in scene["engines"][1:]:
            self.assertEqual(each["failure"], "")
            self.assertEqual(each["steps"], 600)
            self.assertIsNone(each["uncertified_steps"])
            self.assertGreater(each["displacement"], 0)

    @unittest.skipUnless(PEERS, "no other engine was built (target `peers`)")
    def test_a_page_and_what_was_cut_short(self):
        """A quarter of a second for everything: some are cut short, some have no time at all; all of them are on the page."""
        done = self.call("bench", "stack-40", "--peers", "--minutes", "0.004", "-o", "page")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("not run: the time was over", done.stdout)
        page = (self.folder / "page" / "bench.html").read_text()
        self.assertIn("not run: the time was over", page)
        self.assertEqual(page.count("data:image/png;base64,"), 1)
        for name in PEERS:
            self.assertIn(name, page.lower())

    def test_an_engine_is_cut_short(self):
        (scene,) = self.table("stack-10", "--limit", "0.001")
        (ours,) = scene["engines"]
        self.assertLess(ours["steps"], 600)
        self.assertAlmostEqual(ours["cut_at"], ours["steps"] / 60)

    @unittest.skipUnless(PEERS, "no other engine was built (target `peers`)")
    def test_what_cannot_be_compared_is_told(self):
        done = self.call("bench", "cannonball", "--peers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not comparable: a planar scene", done.stdout)


if __name__ == "__main__":
    unittest.main()
