"""docs/tutorial.md as a reader goes through it: every command in it is run, in its order, with the edits that it asks for.

Commands stand in indented lines. Those in fenced blocks without a language need a desktop or a browser: of these only the
films are made, where Chromium and ffmpeg are here, and the others are tried with --help.
"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from cli_support import BINARY, CliTest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


def steps():
    """('run', command), ('screen', command) and ('edit', line) in the order of the page."""
    fence = None
    for line in PAGE.read_text().splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else line[3:]
        elif fence == "yaml" and line.strip():
            yield "edit", line
        elif fence is not None and line.startswith("./slipstick"):
            yield "screen", line
        elif fence is None and line.startswith("    ./slipstick"):
            yield "run", line.strip()


class Tutorial(CliTest):
    def shell(self, command):
        words = command.replace("./slipstick", BINARY, 1)
        return subprocess.run(["bash", "-c", words], cwd=self.folder, capture_output=True, text=True, timeout=900, check=False)

    def edit(self, line):
        """Puts the line in the place of the one that begins alike."""
        path = self.folder / "machine.yaml"
        start = re.match(r"\s*- \w+: \{name: \w+", line)[0]
        old = [each for each in path.read_text().splitlines() if each.startswith(start)]
        self.assertEqual(len(old), 1, f"one line begins with {start!r}")
        path.write_text(path.read_text().replace(old[0], line))

    def screen(self, command):
        film = "--video" in command
        if film and not (os.access("/usr/bin/chromium", os.X_OK) and shutil.which("ffmpeg")):
            return
        done = self.shell(command + " --size 320x180 --fps 4 --to 1" if film else command + " --help")
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")

    def test_every_command_works(self):
        count = 0
        for kind, text in steps():
            if kind == "edit":
                self.edit(text)
            elif kind == "screen":
                self.screen(text)
            else:
                done = self.shell(text)
                self.assertEqual(done.returncode, 0, f"{text}\n{done.stderr}")
                if " run " in text:
                    self.assertIn("all steps certified", done.stdout + done.stderr, text)
                count += 1
        self.assertGreaterEqual(count, 13)
        for name in ("motor.png", "driven.png", "weak.png", "long.png", "motor.csv", "driven.html", "driven.glb"):
            self.assertGreater((self.folder / name).stat().st_size, 500, name)

    def test_what_the_page_says_is_so(self):
        self.assertEqual(self.call("new", "machine").returncode, 0)
        check = self.call("check", "machine.yaml")
        self.assertIn("17 rigid, 0 redundant", check.stdout, "one motion is left")
        report = self.report("machine.yaml")
        self.assertEqual(report["certificate"]["uncertified_steps"], 0)

        def crank_turns(*sets):
            words = [w for s in sets for w in ("--set", s)]
            self.assertEqual(self.call("run", "machine.yaml", *words, "-o", "t.h5", "-q").returncode, 0)
            self.assertEqual(self.call("table", "t.h5", "--what", "joint_position", "--joint", "motor", "-o", "t.csv").returncode, 0)
            angles = [float(row.split(",")[1]) for row in (self.folder / "t.csv").read_text().splitlines()[1:]]
            return max(angles) - min(angles)
        self.assertGreater(crank_turns(), 19, "2 rad/s for 10 s")
        self.assertAlmostEqual(crank_turns("crank=0.65"), 1.39, delta=0.03, msg="only swings, by 80 degrees")
        self.assertLess(crank_turns("torque=1"), 6.2, "stalls")


class New(CliTest):
    def test_it_never_overwrites(self):
        self.assertEqual(self.call("new", "machine").returncode, 0)
        text = (self.folder / "machine.yaml").read_text()
        for name in ("machine", "machine.yaml"):
            done = self.call("new", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is there already", done.stderr)
        self.assertEqual((self.folder / "machine.yaml").read_text(), text)
        self.assertEqual(self.files(), ["machine.yaml"])

    def test_names(self):
        for name in ("", ".", "a:b", "a\nb", "it's"):
            done = self.call("new", name)
            self.assertEqual(done.returncode, 2, name)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertEqual(self.call("new", "none/x").returncode, 2)
        self.assertEqual(self.call("new", "two words").returncode, 0)
        self.assertEqual(self.call("run", "two words.yaml", "--duration", "0.1", "-q").returncode, 0)


if __name__ == "__main__":
    unittest.main()
