"""kill -9 at random instants of a run that records and writes checkpoints: nothing unreadable, and both go on exactly.

A few kills; SLIPSTICK_KILLS=1000 for many (./test --all). How much wall time a kill costs is told at the end, not asserted: on a loaded
machine the program may get no processor for longer than that."""
import collections
import os
import random
import signal
import subprocess
import time
import unittest

import h5py

from cli_support import BINARY, CliTest, frames_of, wait_until

KILLS = int(os.environ.get("SLIPSTICK_KILLS", "12"))
SCENE = """slipstick: 1
materials: {default: {friction: 0.4, restitution: 0.7}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: 'ball_{i}', repeat: {i: 3}, mass: 1, position: [0.15*i, 0.02*i, 0.3 + 0.25*i], shapes: [{sphere: {radius: 0.1}}]}
simulation: {duration: 1e6, step: 1/100}
"""


class Kills(CliTest):
    def setUp(self):
        super().setUp()
        self.write(SCENE)
        self.hashes = {}

    def hash_at(self, duration):
        """Of a run that nobody disturbed."""
        if duration not in self.hashes:
            self.hashes[duration] = self.report("scene.yaml", "--duration", duration)["state_hash"]
        return self.hashes[duration]

    def check_recording(self):
        """Every dataset reaches as far as the time; returns the number of frames."""
        with h5py.File(self.folder / "run.h5", "r") as file:
            n = len(file["time"])
            for name in ("pose", "velocity", "energy", "certificate/residual", "certificate/certified"):
                self.assertGreaterEqual(len(file[name]), n, name)
                file[name][:n]
            self.assertEqual([round(t * 100) for t in file["time"][:]], list(range(n)))
            last = file["contacts/offset"][n]
            for name in ("a", "b", "point", "impulse"):
                self.assertGreaterEqual(len(file["contacts"][name]), last, name)
            self.assertNotIn("ended", file)
        return n

    def goes_on_exactly(self, file):
        done = self.report("scene.yaml", "--resume", file, "--duration", 60)
        self.assertEqual(done["state_hash"], self.hash_at(60), file)
        return done["resumed"]["step"]

    def test_nothing_is_lost_but_the_last_second(self):
        chosen = random.Random(20261117)
        lost, stood = [], collections.Counter()
        for kill in range(KILLS):
            for name in ("run.h5", "c"):
                if (self.folder / name).exists():
                    os.remove(self.folder / name)
            process = subprocess.Popen([BINARY, "run", "scene.yaml", "-q", "-o", "run.h5", "--checkpoint", "c", "--every", "0.1",
                                        "--realtime", "10"], cwd=self.folder)
            # From the first instants, in which the files come to be, to three flushes later.
            wait = chosen.choice((0.0, 0.02, 0.2, 1.0, 2.5)) * chosen.random()
            if chosen.random() < 0.8:
                wait_until(lambda: frames_of(self.folder / "run.h5") > 0, "the recording is there", process)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            killed = time.time()
            process.wait()
            with self.subTest(kill=kill, wait=wait):
                stray = [name for name in self.files() if name not in ("scene.yaml", "run.h5", "c")]
                self.assertLessEqual(len([name for name in stray if ".partial." in name]), 2, stray)
                self.assertEqual([name for name in stray if ".partial." not in name], [])
                for name in stray:
                    os.remove(self.folder / name)
                if (self.folder / "run.h5").exists():
                    lost.append(killed - os.path.getmtime(self.folder / "run.h5"))
                    frames = self.check_recording()
                    stood["frames"] += frames
                    if frames:
                        self.goes_on_exactly("run.h5")
                        stood["recordings"] += 1
                    else:  # killed between the file and its first frame: readable, and there is nothing to go on from
                        done = self.call("run", "scene.yaml", "--resume", "run.h5", "--duration", "1", "-q")
                        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
                        self.assertIn("the recording holds no frame yet", done.stderr)
                        stood["empty recordings"] += 1
                if (self.folder / "c").exists():
                    self.goes_on_exactly("c")
                    stood["checkpoints"] += 1
        self.assertGreater(stood["recordings"], KILLS // 2)
        self.assertGreater(stood["checkpoints"], KILLS // 4)
        lost.sort()
        print(f"{KILLS} kills: {dict(stood)}; since the last write of the recording: median {lost[len(lost) // 2]:.2f} s, "
              f"worst {lost[-1]:.2f} s, above 1 s: {sum(t > 1 for t in lost)}")


if __name__ == "__main__":
    unittest.main()
