"""The programs of bench/peers, each asked directly: what they read is what they simulate."""
import math
import pathlib
import subprocess
import unittest

from cli_support import BINARY

SETTINGS = {"bullet": ("10", "100"), "ode": ("quick", "direct"), "mujoco": ("default", "stiff", "stiff-cg"),
            "jolt": ("default", "4", "10", "50"), "rapier": ("default", "20"), "dart": ("dantzig", "pgs")}
FOLDER = pathlib.Path(BINARY).parent
FOUND = [(name, setting) for name, settings in SETTINGS.items() for setting in settings
         if (FOLDER / f"slipstick_peer_{name}").exists()]
POSE = "0 0 0 1 0 0 0"
STILL = "0 0 0 0 0 0"
CUBE = f"body 1 0.2 0.2 0.2 {{}} 1 0 0 0 {STILL}"
# 0: the floor; 1: flies, with a force from half a second on; 2: slides; 3 to 6: lie; 7, 8: a double pendulum; 9, 10: pass each
# other. A second in 200 steps.
SCENE = ("steps 200 100 0.005", "gravity 0 0 -10", f"body 0 0 0 0 {POSE} {STILL}",
         "body 2 1 1 1 0 9 50 1 0 0 0 3 0 0 0 0 0.5", CUBE.format("0 20 0.25"),
         CUBE.format("0 30 0.3"), CUBE.format("0 40 0.2"), CUBE.format("0 50 0.5"), CUBE.format("0 60 0.2"),
         CUBE.format("1 70 9"), CUBE.format("3 70 9"),
         f"body 1 0.2 0.2 0.2 0 80 40 1 0 0 0 3 0 0 0 0 0", CUBE.format("1.5 80 40"),
         f"shape plane 0 0.25 0 0 0 0 {POSE}", f"shape box 2 1 0 1 1 0.25 {POSE}",
         f"shape sphere 3 0.5 0 0.3 0 0 {POSE}", f"shape box 4 0.5 0 0.5 0.4 0.2 {POSE}",
         f"shape capsule 5 0.5 0 0.1 0.4 0 {POSE}", f"shape cylinder 6 0.5 0 0.3 0.2 0 {POSE}",
         f"shape box 9 0.5 0 0.5 0.5 0.5 {POSE}", f"shape box 10 0.5 0 0.5 0.5 0.5 {POSE}", "apart 9 10",
         "ball -1 7 0 70 9 -1 0 0", "ball 7 8 1 0 0 -1 0 0", "force 1 100 200 4 0 0", "force 2 0 200 7 0 0")


def ask(name, setting, *lines):
    text = "\n".join(("slipstick-peer 1", *lines, "end\n"))
    done = subprocess.run([FOLDER / f"slipstick_peer_{name}", setting], input=text, capture_output=True, text=True,
                          timeout=600, check=True)
    answer = {"samples": [], "seconds": 0, "cut": False, "failure": ""}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "sample":
            answer["samples"].append([])
        elif word == "seconds":
            answer["seconds"] += 1
        elif word in ("cut", "failure"):
            answer[word] = rest or True
        elif word not in ("engine", "end"):
            answer["samples"][-1].append([float(x) for x in line.split()])
    return answer


@unittest.skipUnless(FOUND, "no other engine was built (target `peers`)")
class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.answers = {(name, setting): ask(name, setting, *SCENE) for name, setting in FOUND}

    def each(self, look):
        """`look` at the bodies after half a second and after a second, for all engines."""
        for (name, setting), answer in self.answers.items():
            with self.subTest(engine=name, setting=setting):
                self.assertEqual((answer["seconds"], len(answer["samples"]), answer["failure"]), (200, 2, ""))
                look(*answer["samples"])

    def assert_near(self, numbers, wanted, delta=2e-3):
        for number, want in zip(numbers, wanted, strict=True):
            self.assertAlmostEqual(number, want, delta=delta)

    def test_flight_spin_and_force(self):
        def look(half, whole):
            self.assert_near(half[1][7:10], (3, 0, -5))
            self.assert_near(whole[1][7:10], (4, 0, -10))  # 4 N on 2 kg for half a second
            self.assert_near(whole[1][10:13], (0, 0, 0.5))
            self.assert_near(whole[1][:3], (3.25, 9, 45), 0.06)  # to the first order of a step
            self.assert_near((abs(whole[1][3]), abs(whole[1][6])), (math.cos(0.25), math.sin(0.25)))

        self.each(look)

    def test_friction_is_the_geometric_mean(self):
        """1 and 0.25: 0.5, so that it slides under 0.7 of its weight with 2 m/s^2; other rules would give 0 or 4.5."""

        def look(half, whole):
            self.assertAlmostEqual((whole[2][7] - half[2][7]) / 0.5, 2, delta=0.5)
            self.assertAlmostEqual(whole[2][2], 0.25, delta=0.03)

        self.each(look)

    def test_shapes_lie_on_the_floor(self):
        """Axes of capsules and cylinders are along z, also where an engine has them along y."""
        self.each(lambda half, whole: self.assert_near([body[2] for body in whole[3:7]], (0.3, 0.2, 0.5, 0.2), 0.03))

    def test_ball_joints_hold(self):
        def look(_, whole):
            first, second = whole[7:9]
            self.assertLess(second[2], 8)
            self.assertAlmostEqual(math.dist(first[:3], (0, 70, 9)), 1, delta=0.03)
            self.assertLess(math.dist(first[:3], second[:3]), 2.05)

        self.each(look)

    def test_bodies_apart_do_not_touch(self):
        self.each(lambda half, whole: self.assert_near((whole[9][0], whole[10][0]), (3, 1.5)))

    def test_stops_when_its_time_is_over(self):
        for name, setting in dict(FOUND).items():
            with self.subTest(engine=name, setting=setting):
                answer = ask(name, setting, "steps 2000000 1000000 0.001", "limit 0.1", "gravity 0 0 0",
                             "body 1 1 1 1 0 0 0 1 0 0 0 1 0 0 0 0 0")
                self.assertTrue(answer["cut"])
                self.assertEqual(len(answer["samples"]), 1)
                self.assertAlmostEqual(answer["samples"][0][0][0], 0.001 * answer["seconds"], delta=1e-3 * answer["seconds"])

    def test_refuses_what_is_not_a_scene(self):
        for name, setting in dict(FOUND).items():
            done = subprocess.run([FOLDER / f"slipstick_peer_{name}", setting], input="slipstick-peer 1\nsurprise 1\nend\n",
                                  capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 2, name)


if __name__ == "__main__":
    unittest.main()
