"""Every shipped scene beside an unrelated body that wants to be fast: the same verdict on every step and the same motion. Once as the scene
is, once with a solver that cannot do it, so that there is something to hide."""
import pathlib
import shutil
import unittest

import yaml

from cli_support import SCENES, CliTest

STEPS = 8
MICROSECONDS = ("cantilever", "pawl", "pawl_space")  # steps so short that the bystander does not begin to turn
MOST_BODIES = 150
SICK = {"pgs": {"iterations": 4}}


def add_bystander(scene, speed, closed):
    """A ball on an axle through its centre, 5 km above everything, after all other bodies. Its motor is too weak for the speed
    that it wants: an island that one sweep solves, with a row of `speed` in each step. Where planes close the scene from
    above (`closed`) it has mass and no shape: there is no place that has nothing to do with them."""
    planar = bool(scene.get("planar"))
    place = [0.1, 5000] if planar else [0.1, 0.1, 5000]
    ball = {"name": "bystander", "mass": 1, "position": place}
    if closed:
        ball["inertia"] = 1.6e-4 if planar else [1.6e-4] * 3
    else:
        ball["shapes"] = [{"disk" if planar else "sphere": {"radius": 0.02}}]
    scene.setdefault("bodies", []).append(ball)
    hinge = {"name": "bystander_axle", "between": ["world", "bystander"], "at": place,
             "motor": {"speed": speed, "max": 0.01}}
    if not planar:
        hinge["axis"] = [0, 0, 1]
    scene.setdefault("joints", []).append({"hinge": hinge})


class Bystander(CliTest):
    def follow(self, text, sick, speed=None, closed=False):
        scene = yaml.safe_load(text)
        if speed is not None:
            add_bystander(scene, speed, closed)
        if sick:
            scene["simulation"]["solver"] = SICK
        scene["simulation"]["duration"] = f"{STEPS}*({scene['simulation']['step']})"  # its variables may be in it
        path = self.write(yaml.safe_dump(scene, sort_keys=False))
        return self.report(path, "--max-bodies", MOST_BODIES)

    def verdict(self, report):
        """What may not depend on others: which steps failed, and where and by which part if any did."""
        certificate = report["certificate"]
        figures = [certificate["uncertified_steps"], certificate["first_uncertified"]]
        if certificate["uncertified_steps"]:
            worst = certificate["worst"]
            figures.append((worst["step"], worst["bodies"], worst["part"], worst["relative"]))
        return figures

    def test_no_scene_has_another_verdict(self):
        for part in ("shapes", "parts"):
            shutil.copytree(SCENES / part, self.folder / part)
        failures = scenes = 0
        for path in sorted(pathlib.Path(SCENES).glob("*.yaml")):
            if path.stem in MICROSECONDS:
                continue
            text = path.read_text()
            done = self.call("check", path, "--max-bodies", MOST_BODIES)
            if done.returncode == 2:
                continue
            scenes += 1
            for sick in (False, True):
                alone = self.follow(text, sick)
                failures += alone["certificate"]["uncertified_steps"] > 0
                beside = self.follow(text, sick, 1e6, path.stem == "squeezed_box")
                with self.subTest(scene=path.stem, sick=sick):
                    bodies = beside["final"]["bodies"]
                    self.assertGreater(max(map(abs, bodies["bystander"]["angular_velocity"])), 1e-3, "it must turn")
                    self.assertEqual(self.verdict(beside), self.verdict(alone))
                    for name, body in alone["final"]["bodies"].items():
                        self.assertEqual(bodies[name]["position"], body["position"], name)
        self.assertGreater(scenes, 20)
        self.assertGreater(failures, 5, "nothing was to be hidden")


if __name__ == "__main__":
    unittest.main()
