"""kill -9 of a sweep at random instants: no row that was on the disk is lost or changed, the table is the one of an undisturbed sweep.

A few kills; SLIPSTICK_KILLS=300 for many (./test --all)."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

from slipstick.studies import table
from slipstick.studies.journal import read_rows

KILLS = int(os.environ.get("SLIPSTICK_KILLS", "6"))
PATIENCE = 300  # s: how long a test waits for what must come
SCENE = """
slipstick: 1
let: {mu: 0.5, v: 1}
materials: {default: {friction: mu}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - {name: block, mass: 1, position: [0, 0, 0.05], velocity: [v, 0, 0], shapes: [{box: {size: [0.2, 0.2, 0.1]}}]}
simulation: {duration: 0.5, step: 1/200}
"""
CASES = 40
STUDY = """slipstick_study: 1
scene: slide.yaml
vary: {mu: {from: 0.1, to: 1, count: 8}, v: {from: 1, to: 2, count: 5}}
outputs: {way: final.bodies.block.position[0]}
"""


class Kills(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        (self.at / "slide.yaml").write_text(SCENE)
        (self.at / "study.yaml").write_text(STUDY)
        self.start("whole.h5").communicate(timeout=PATIENCE)
        self.whole = (self.at / "whole.h5").read_bytes()
        self.known = {row["key"]: row["state_hash"] for row in table.read(str(self.at / "whole.h5"))}
        self.assertEqual(len(self.known), CASES)

    def start(self, output):
        return subprocess.Popen([sys.executable, "-m", "slipstick", "sweep", "study.yaml", "-o", output, "--workers", "2"], cwd=self.at,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def kept(self):
        """Keys of the rows in table and journal; each is a row of the undisturbed sweep."""
        rows = list(read_rows(str(self.at / "t.h5.journal")))
        keys = [row["key"] for row in rows]
        self.assertEqual(len(set(keys)), len(keys), "a case was done twice")
        if (self.at / "t.h5").exists():
            rows += table.read(str(self.at / "t.h5"))
        for row in rows:
            self.assertEqual(row["state_hash"], self.known[row["key"]])
        return {row["key"] for row in rows}

    def kill_once(self, chosen, before):
        """Starts the sweep and kills it; True if that came before its end."""
        process = self.start("t.h5")
        wanted = len(before) + chosen.choice((0, 1, 5, 15, CASES))  # rows before the kill; often those at the very end, when the table is written
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and len(list(read_rows(str(self.at / "t.h5.journal")))) < min(wanted, CASES):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        time.sleep(chosen.choice((0.0, 0.001, 0.01, 0.3)) * chosen.random())
        process.kill()
        _, err = process.communicate()
        self.assertIn(process.returncode, (0, -9), err)
        return process.returncode != 0

    def finish(self):
        """The sweep goes on to its end: the same bytes as an undisturbed one, and nothing beside them."""
        process = self.start("t.h5")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual((self.at / "t.h5").read_bytes(), self.whole)
        self.assertEqual(sorted(p.name for p in self.at.iterdir() if p.name.startswith("t.")), ["t.h5"])
        (self.at / "t.h5").unlink()

    def test_nothing_is_lost(self):
        chosen = random.Random(20261117)
        before, killed, finished, partial = set(), 0, 0, 0
        while killed < KILLS:
            killed += self.kill_once(chosen, before)
            after = self.kept()
            self.assertLessEqual(before, after, f"rows were lost by kill {killed}")
            before = after
            strays = [path.name for path in self.at.iterdir() if path.name.endswith(".partial")]
            self.assertLessEqual(len(strays), 1)
            partial += len(strays)
            if len(before) == CASES:
                self.finish()
                before, finished = set(), finished + 1
        self.finish()
        print(f"{killed} kills, {finished + 1} tables finished and equal, {partial} kills while the table was being written")


if __name__ == "__main__":
    unittest.main()
