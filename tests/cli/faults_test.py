"""Ways to spoil a scene: each gives one clear line with its place, exit code 2, and no output file."""
import unittest

from cli_support import GOOD, CliTest

SPOILED = {  # name: (old, new, line that must be printed)
    "unknown key": ("mass: 1", "mas: 1", "scene.yaml:4:18: unknown key 'mas' in body 'ball'; did you mean 'mass'?"),
    "negative mass": ("mass: 1", "mass: -1", "mass must be positive"),
    "not a number": ("mass: 1", "mass: heavy", "unknown name 'heavy'"),
    "nan": ("mass: 1", "mass: 0/0", "scene.yaml:4:24: "),
    "zero radius": ("radius: 0.1", "radius: 0", "scene.yaml:4:"),
    "unknown shape": ("sphere", "spere", "did you mean 'sphere'?"),
    "duplicate key": ("mass: 1,", "mass: 1, mass: 2,", "duplicate key 'mass'"),
    "duplicate name": ("name: ball", "name: floor", "'floor'"),
    "wrong length": ("[0, 0, 1], shapes: [{sphere", "[0, 0], shapes: [{sphere", "scene.yaml:4:37: "),
    "no version": ("slipstick: 1\n", "", "slipstick: 1"),
    "unknown scheme": ("duration: 0.5", "scheme: stabilised, duration: 0.5", "did you mean 'stabilized'?"),
    "bad expression": ("step: 1/100", "step: 1/(100", "scene.yaml:5:"),
    "not yaml": ("bodies:", "bodies: [", "scene.yaml:"),
    "dangling joint": ("simulation:", "joints: [{ball: {between: [ball, flor], at: [0, 0, 0]}}]\nsimulation:",
                       "did you mean 'floor'?"),
    "negative step": ("step: 1/100", "step: -1/100", "scene.yaml:5:"),
    "missing include": ("bodies:", "include: [nowhere.yaml]\nbodies:", "'nowhere.yaml': cannot open the file: No such file"),
    "missing mesh": ("{sphere: {radius: 0.1}}", "{mesh: {file: nowhere.obj}}", "'nowhere.obj': cannot open the file: No such file"),
}


class Faults(CliTest):
    def test_each_fault_is_one_line_with_exit_code_2_and_no_output(self):
        for name, (old, new, expected) in SPOILED.items():
            with self.subTest(name):
                self.assertIn(old, GOOD)
                self.write(GOOD.replace(old, new, 1))
                done = self.call("run", "scene.yaml", "-o", "run.h5", "--report", "report.json")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                lines = done.stderr.strip().splitlines()
                self.assertTrue(any(expected in line for line in lines), done.stderr)
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertTrue(lines[0].startswith("scene.yaml:"), done.stderr)
                self.assertEqual(self.files(), ["scene.yaml"])

    def test_all_independent_faults_are_listed(self):
        self.write(GOOD.replace("mass: 1", "mas: 1").replace("offset: 0", "ofset: 0").replace("step:", "stp:"))
        done = self.call("run", "scene.yaml")
        self.assertEqual(done.returncode, 2)
        for key in ("mas", "ofset", "stp"):
            self.assertIn(f"unknown key '{key}'", done.stderr)

    def test_missing_file_and_usage(self):
        for arguments in (["run", "none.yaml"], ["run"], ["run", "scene.yaml", "--stepp", "1"], ["runn"],
                          ["run", ".", "--json"], ["run", "scene.yaml", "--step", "banana"],
                          ["run", "scene.yaml", "--solver", "lemk"], ["run", "scene.yaml", "--set", "n=1"]):
            with self.subTest(arguments):
                self.write(GOOD)
                done = self.call(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertNotEqual(done.stderr, "")
                self.assertEqual(self.files(), ["scene.yaml"])

    def test_output_folder_is_checked_before_the_run(self):
        self.write(GOOD)
        for option in ("-o", "--report"):
            done = self.call("run", "scene.yaml", option, "nowhere/file")
            self.assertIn(done.returncode, (1, 2))
            self.assertIn("nowhere", done.stderr)
            self.assertEqual(self.files(), ["scene.yaml"])


if __name__ == "__main__":
    unittest.main()
