"""Every shipped scene beside an unrelated fast body: the same verdict on every step and the same motion. Once as the scene
is, once with a solver that cannot do it, so that there is something to hide."""
import pathlib
import shutil
import unittest

import yaml

from cli_support import SCENES, CliTest

STEPS = 8
MOST_BODIES = 150
CLOSED = ("squeezed_box",)  # between two planes: there is no place that has nothing to do with it
SICK = {"pgs": {"iterations": 4}}


def add_bystander(scene, spin):
    """A ball that spins on a plate of its own, 5 km above everything, after all other bodies. Its surface slips fast,
    and it stays where it is: some scenes are closed in by planes, which have no end."""
    planar = bool(scene.get("planar"))
    up = [0, 1] if planar else [0, 0, 1]
    scene.setdefault("materials", {})["bystander"] = {"friction": 0.1, "restitution": 0}
    scene["bodies"] += [
        {"name": "bystander_plate", "fixed": True, "position": [5000 * x for x in up], "material": "bystander",
         "shapes": [{"box": {"size": [0.2, 0.1] if planar else [0.2, 0.2, 0.1]}}]},
        {"name": "bystander", "mass": 1, "position": [5000.1 * x for x in up], "material": "bystander",
         "angular_velocity": spin if planar else [0, spin, 0],
         "shapes": [{"disk" if planar else "sphere": {"radius": 0.05}}]}]


class Bystander(CliTest):
    def follow(self, text, sick, spin=None):
        scene = yaml.safe_load(text)
        if spin is not None:
            add_bystander(scene, spin)
        if sick:
            scene["simulation"]["solver"] = SICK
        path = self.write(yaml.safe_dump(scene, sort_keys=False))
        return self.report(path, "--duration", f"{STEPS}*({scene['simulation']['step']})", "--max-bodies", MOST_BODIES)

    def verdict(self, report):
        """What may not depend on others: which steps failed, and where and by which part if any did."""
        certificate = report["certificate"]
        figures = [certificate["uncertified_steps"], certificate["first_uncertified"]]
        if certificate["uncertified_steps"]:
            worst = certificate["worst"]
            figures.append((worst["step"], worst["bodies"], worst["part"], worst["relative"]))
        return figures

    def test_no_scene_has_another_verdict(self):
        shutil.copytree(SCENES / "shapes", self.folder / "shapes")
        failures = scenes = 0
        for path in sorted(pathlib.Path(SCENES).glob("*.yaml")):
            text = path.read_text()
            done = self.call("check", path, "--max-bodies", MOST_BODIES)
            if done.returncode == 2 or path.stem in CLOSED:
                continue
            scenes += 1
            for sick in (False, True):
                alone = self.follow(text, sick)
                failures += alone["certificate"]["uncertified_steps"] > 0
                beside = self.follow(text, sick, 2e5)
                with self.subTest(scene=path.stem, sick=sick):
                    bodies = beside["final"]["bodies"]
                    self.assertGreater(max(map(abs, bodies["bystander"]["angular_velocity"])), 1e5)
                    self.assertEqual(self.verdict(beside), self.verdict(alone))
                    for name, body in alone["final"]["bodies"].items():
                        self.assertEqual(bodies[name]["position"], body["position"], name)
        self.assertGreater(scenes, 20)
        self.assertGreater(failures, 5, "nothing was to be hidden")


if __name__ == "__main__":
    unittest.main()
