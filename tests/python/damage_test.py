"""Damaged studies, tables, journals and recordings: a clear exception with its place, never another one, a hang or all memory.

SLIPSTICK_FUZZ=N reads N damaged files of each kind."""
import os
import pathlib
import random
import resource
import signal
import string
import tempfile
import unittest

import slipstick as ss
from slipstick.studies import table
from slipstick.studies.designs import make_cases
from slipstick.studies.fitting import read_question
from slipstick.studies.journal import Journal, read_rows
from slipstick.studies.study import parse

ROUNDS = int(os.environ.get("SLIPSTICK_FUZZ", "600"))
MOST_SECONDS = 60  # of the processor, for one file
MOST_MEMORY = 500 * 1024  # kB
STUDIES = ["""slipstick_study: 1
name: a study
scene: slide.yaml
vary: {mu: [0.2, 0.4, 0.8], v: {from: 1, to: 2, count: 4}, w: {from: 1e-3, to: 1, count: 3, scale: log}}
simulation: {step: 1/500, duration: 2, scheme: trapezoid}
timeout: 60
outputs: {way: final.bodies.block.position[0], far: "way > 0.3", expected: v^2/(2*mu*9.81)}
""", """slipstick_study: 1
scene: slide.yaml
design: latin
count: 20
seed: 7
vary: {a: {from: 0, to: 1}, b: {sample: normal, mean: 1, deviation: 0.1}, c: {sample: lognormal, mean: 0, deviation: 1}}
outputs: {x: a + b*sin(c)}
""", """slipstick_study: 1
scene: s.yaml
design: list
cases: [{bad: 0, mu: 0.5, simulation.scheme: euler}, {bad: 1, mu: -1, simulation.scheme: spook}]
outputs: {x: final.time}
""", """slipstick_study: 1
scene: bounce.yaml
vary: {e: {from: 0, to: 1}, mu: {from: 0.01, to: 1, scale: log}}
fit:
  columns: {x: bodies.ball.position[0], z: bodies.ball.position[2]}
  time: t
  weights: {x: 1, z: 2}
"""]
TABLE = ["case", "mu", "way", "far", "status", "reason", "seconds", "state_hash", "key"]


def damaged_text(text, chosen):
    for _ in range(1 + chosen.randrange(3)):
        at = chosen.randrange(len(text) + 1)
        kind = chosen.randrange(8)
        if kind == 0:
            text = text[:at] + text[at + 1 + chosen.randrange(6):]
        elif kind == 1:
            text = text[:at] + chosen.choice(string.printable + "éß\u2028\0\ufeff") + text[at:]
        elif kind == 2:
            lines = text.splitlines(keepends=True) or [""]
            lines.insert(chosen.randrange(len(lines)), chosen.choice(lines))
            text = "".join(lines)
        elif kind == 3:
            text = text[:at] + chosen.choice(["1e999", "-1", "nan", "1e9", "&a [*a]", "*a", "!!python/object:os.system x", "{}", "[]", "9" * 400,
                                              "(" * 300, "[" * 300, "{a: " * 300, "2^2^2^2^2^2", "true", "null", "- "]) + text[at:]
        elif kind == 4:
            text = text[:at]
        else:
            digits = [i for i, c in enumerate(text) if c.isdigit()]
            if digits:
                at = chosen.choice(digits)
                text = text[:at] + chosen.choice("0123456789-.eE:") + text[at + 1:]
        text = text or " "
    return text


def damaged_bytes(data, chosen):
    data = bytearray(data)
    for _ in range(1 + chosen.randrange(4)):
        at = chosen.randrange(len(data))
        kind = chosen.randrange(12)
        if kind == 0 and at > 0:
            del data[at:]
        elif kind == 1:
            data[at:at + 8] = bytes([chosen.choice((0, 255))]) * len(data[at:at + 8])
        else:
            data[at] ^= 1 << chosen.randrange(8)
    return bytes(data)


class Damage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.addCleanup(signal.setitimer, signal.ITIMER_PROF, 0)
        self.before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def read(self, reader, allowed):
        """True if it could be read; False if it raised what it may, with a text."""
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # beyond it the program ends by SIGPROF
        try:
            reader()
            return True
        except allowed as error:
            self.assertTrue(str(error))
            return False

    def check(self, good, least_good, least_bad):
        self.assertGreater(sum(good), least_good)
        self.assertGreater(len(good) - sum(good), least_bad)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.before, MOST_MEMORY)

    def test_studies(self):
        good = []
        for seed in range(ROUNDS):
            chosen = random.Random(seed)
            text = damaged_text(chosen.choice(STUDIES), chosen)
            with self.subTest(seed=seed, text=text):
                def read():
                    study = parse(text, "s.yaml")
                    make_cases(study)
                    if study.fit:
                        read_question(study)

                good.append(self.read(read, ss.SceneError))
        self.check(good, 20, 100)

    def test_bombs(self):
        aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
        for text in (aliases + "slipstick_study: 1\n", "slipstick_study: 1\nvary: {m: &a [*a]}\nscene: s\n", "slipstick_study: 1\nvary: " + "[" * 100_000,
                     "slipstick_study: 1\nscene: s\noutputs: {x: " + "(" * 50_000 + "}\n", "slipstick_study: 1\nscene: s\noutputs: {x: " + "-" * 50_000 + "1}\n",
                     "slipstick_study: 1\nscene: s\noutputs: {x: 1" + "+1" * 50_000 + "}\n",
                     "slipstick_study: 1\nscene: s\nvary: {m: {from: 0, to: 1, count: 1000000000000}}\noutputs: {x: m}\n",
                     "slipstick_study: 1\nscene: s\nvary: {m: {from: 0, to: 1, count: 1000000}, k: {from: 0, to: 1, count: 1000000}}\noutputs: {x: m}\n",
                     "slipstick_study: 1\nscene: s\ntimeout: 9^9^9^9^9\n", "x" * (2 << 20), ""):
            with self.subTest(text=text[:60]):
                self.assertFalse(self.read(lambda: make_cases(parse(text, "s.yaml")), ss.SceneError))

    def rows(self):
        return [{"case": i, "mu": 0.1 * i, "way": 0.5 * i, "far": i > 7, "status": "done", "reason": "", "seconds": 1.0, "state_hash": f"{i:016x}",
                 "key": f"{i:024x}"} for i in range(20)]

    def test_journals(self):
        journal = Journal(str(self.at / "whole"))
        for row in self.rows():
            journal.add(row)
        journal.close(remove=False)
        data = (self.at / "whole").read_bytes()
        kept = 0
        for seed in range(ROUNDS):
            (self.at / "j").write_bytes(damaged_bytes(data, random.Random(seed)))
            with self.subTest(seed=seed):
                rows = list(read_rows(str(self.at / "j")))
                for row in rows:  # a torn or damaged line is dropped; what is left is what was written
                    self.assertIn(row, self.rows())
                self.assertLess(len(rows), 20)
                kept += len(rows)
        self.assertGreater(kept, 8 * ROUNDS)

    def test_tables(self):
        for name in ("t.csv", "t.h5"):
            table.write(str(self.at / name), TABLE, self.rows(), ["mu"])
            self.assertEqual(table.read(str(self.at / name)), self.rows())
            data = (self.at / name).read_bytes()
            good = []
            for seed in range(ROUNDS):
                (self.at / f"d{name}").write_bytes(damaged_bytes(data, random.Random(seed)))
                with self.subTest(seed=seed, name=name):
                    def read():
                        rows = table.read(str(self.at / f"d{name}"))
                        table.find_parameters(str(self.at / f"d{name}"), rows)
                        if name == "t.h5":  # it has a digest: what can be read is what was written
                            self.assertEqual(rows, self.rows())

                    good.append(self.read(read, table.TableError))
            self.check(good, 20 if name == "t.csv" else -1, 20)  # nearly every byte of the other is under a checksum

    def test_recordings(self):
        sim = ss.Simulation(ss.parse("slipstick: 1\nbodies:\n  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                     "  - {name: ball, mass: 1, position: [0, 0, 0.2], shapes: [{sphere: {radius: 0.1}}]}\n"))
        sim.run(0.5, record=str(self.at / "whole.h5"))
        data, path = (self.at / "whole.h5").read_bytes(), str(self.at / "d.h5")
        good = []
        for seed in range(ROUNDS):
            pathlib.Path(path).write_bytes(damaged_bytes(data, random.Random(seed)))
            with self.subTest(seed=seed):
                def read():
                    rec = ss.open(path)
                    rec.to_pandas(), rec.contacts(-1), rec._repr_html_(), rec.pose("ball")

                good.append(self.read(read, (ss.RecordingError, ss.UnknownName)))
        self.check(good, 20, 50)

    def test_a_recording_of_an_earlier_version(self):
        import h5py

        with h5py.File(self.at / "old.h5", "w") as file:
            file.attrs["format"] = "slipstick recording"  # h5py writes it with variable length
        with self.assertRaisesRegex(ss.RecordingError, "earlier version"):
            ss.open(self.at / "old.h5")


if __name__ == "__main__":
    unittest.main()
