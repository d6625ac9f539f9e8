"""The study file: what is varied, how cases are drawn, what is kept of each. Every fault with its place; nothing is half-read."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import yaml  # type: ignore[import]

from .._errors import Fault, SceneError, hint
from .expressions import Expression, ExpressionError, Value

MAX_CASES = 1_000_000
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 20  # of lists and maps; the parser takes the square of it
_MOST_DEVIATIONS, _MOST_LOGARITHM = 9, 690  # of what may be drawn; of what a number can hold
_INDEX = re.compile(r"(?<=[\w\]])\[(-?\d+)\]")
DESIGNS = ("grid", "list", "random", "latin", "sobol")
SAMPLES: dict[str, tuple[str, ...]] = {"uniform": ("from", "to"), "normal": ("mean", "deviation"), "lognormal": ("mean", "deviation")}
# What may be varied beside the names of the scene's `let`.
OPTIONS = ("simulation.step", "simulation.duration", "simulation.scheme", "simulation.solver")
_TOP = ("slipstick_study", "name", "scene", "vary", "design", "count", "seed", "cases", "outputs", "simulation", "timeout", "fit")


@dataclass(frozen=True)
class Levels:
    """Values one by one."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Range:
    """`count` values between two bounds, or a variable between them in designs that draw."""

    low: float
    high: float
    count: Optional[int]
    log: bool


@dataclass(frozen=True)
class Sample:
    """A random variable."""

    kind: str
    first: float  # from, mean, or (lognormal) mean of the logarithm
    second: float  # to or deviation


Variable = Union[Levels, Range, Sample]


@dataclass
class Study:
    """A study as it was read. Times in seconds."""

    path: str
    text: str
    scene: str
    vary: dict[str, Variable] = field(default_factory=dict)
    design: str = "grid"
    count: Optional[int] = None
    seed: int = 1
    cases: list[dict[str, Value]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    simulation: dict[str, Value] = field(default_factory=dict)
    timeout: Optional[float] = None
    fit: dict[str, Any] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    def fault(self, key: str, message: str) -> Fault:
        """A fault at the place of a key."""
        line, column = self.places.get(key, (0, 0))
        return Fault(self.path, line, column, message)


class _Reader:
    """Walks the nodes of a YAML text, so that each fault has its line and column."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[Fault] = []
        self.places: dict[str, tuple[int, int]] = {}

    def fault(self, node: yaml.Node, message: str) -> None:
        self.faults.append(Fault(self.path, node.start_mark.line + 1, node.start_mark.column + 1, message))

    def entries(self, node: yaml.Node, what: str, known: Optional[tuple[str, ...]] = None) -> dict[str, yaml.Node]:
        """The entries of a mapping; unknown and repeated keys are faults."""
        found: dict[str, yaml.Node] = {}
        if not isinstance(node, yaml.MappingNode):
            self.fault(node, f"{what} must be a mapping, {{key: value}}")
            return found
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if known is not None and name not in known:
                self.fault(key, f"unknown key '{name}' in {what}" + (hint(name, known) or "; there is " + ", ".join(known)))
            elif name in found:
                self.fault(key, f"key '{name}' stands twice in {what}")
            else:
                found[name] = value
                self.places[f"{what}.{name}"] = (value.start_mark.line + 1, value.start_mark.column + 1)
        return found

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode) and node.value:
            return list(node.value)
        self.fault(node, f"{what} must be a list with at least one entry")
        return []

    def text(self, node: yaml.Node, what: str) -> str:
        if isinstance(node, yaml.ScalarNode) and node.value != "":
            return str(node.value)
        self.fault(node, f"{what} must be a text")
        return ""

    def choice(self, node: yaml.Node, what: str, known: tuple[str, ...]) -> str:
        found = self.text(node, what)
        if found and found not in known:
            self.fault(node, f"unknown {what} '{found}'" + (hint(found, known) or "; there is " + ", ".join(known)))
        return found

    def number(self, node: yaml.Node, what: str) -> float:
        """A finite number or an expression without names of the scene, as `1/60` or `10*deg`."""
        if isinstance(node, yaml.ScalarNode):
            try:
                found = Expression(str(node.value)).value({})
                if isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < 1e300:
                    return float(found)
            except ExpressionError:
                pass
            self.fault(node, f"{what} must be a finite number, not '{node.value}'")
        else:
            self.fault(node, f"{what} must be a number")
        return 1.0

    def whole(self, node: yaml.Node, what: str, low: int, high: int) -> int:
        found = self.number(node, what)
        if found != int(found) or not low <= found <= high:
            self.fault(node, f"{what} must be a whole number from {low} to {high}, not {found:g}")
            return low
        return int(found)


def read(path: Union[str, "os.PathLike[str]"], allow_path: bool = False) -> Study:
    """Reads a study file. allow_path: its scene may lie outside of its folder. Raises SceneError with all faults."""
    name = os.fspath(path)
    try:
        if os.path.getsize(name) > _MAX_BYTES:
            raise SceneError([Fault(name, 0, 0, "larger than 1 MiB, which no study is")])
        with open(name, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise SceneError([Fault(name, 0, 0, f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError:
        raise SceneError([Fault(name, 0, 0, "is not UTF-8 text")]) from None
    return parse(text, name, allow_path)


def parse(text: str, name: str = "study.yaml", allow_path: bool = False) -> Study:
    """A study from its text; the scene is looked for beside `name`."""
    if len(text) > _MAX_BYTES:
        raise SceneError([Fault(name, 0, 0, "larger than 1 MiB, which no study is")])
    reader = _Reader(name)
    # YAML ends a plain text at a bracket inside {...}; people write {height: final.bodies.block.position[2]} all the same.
    shielded = _INDEX.sub("\ue000\\1\ue001", text)
    try:
        depth = 0
        for event in yaml.parse(shielded, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            wrong = ("anchors and aliases have no place in a study" if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)
                     else f"nested more than {_MAX_DEPTH} deep, which no study is" if depth > _MAX_DEPTH else "")
            if wrong:
                raise SceneError([Fault(name, event.start_mark.line + 1, event.start_mark.column + 1, wrong)])
        root = yaml.compose(shielded, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise SceneError([Fault(name, *place, f"not YAML: {error.problem or error}")]) from None
    except SceneError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SceneError([Fault(name, 0, 0, f"not YAML: {' '.join(str(error).split())[:200] or 'too deeply nested'}")]) from None
    if root is None:
        raise SceneError([Fault(name, 1, 1, "empty; a study begins with 'slipstick_study: 1'")])
    _unshield(root)
    study = _read_top(reader, root, text, allow_path)
    if reader.faults:
        raise SceneError(reader.faults)
    return study


def _unshield(node: yaml.Node) -> None:
    if isinstance(node, yaml.ScalarNode):
        node.value = node.value.replace("\ue000", "[").replace("\ue001", "]")
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _unshield(child)
    elif isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            _unshield(key)
            _unshield(child)


def _is_reachable(scene: str, study: str) -> bool:
    """Whether a scene lies below the study's folder, or is one of the shipped ones."""
    real = os.path.realpath(scene)
    folders = [os.path.dirname(study) or ".", os.environ.get("SLIPSTICK_SCENES")]
    return any(os.path.commonpath([real, os.path.realpath(folder)]) == os.path.realpath(folder) for folder in folders if folder)


def _read_top(reader: _Reader, root: yaml.Node, text: str, allow_path: bool) -> Study:
    study = Study(reader.path, text, "", places=reader.places)
    top = reader.entries(root, "study", _TOP)
    if "slipstick_study" not in top:
        reader.fault(root, "a study begins with 'slipstick_study: 1'")
    elif reader.text(top["slipstick_study"], "slipstick_study") != "1":
        reader.fault(top["slipstick_study"], "this program reads studies of version 1")
    if "scene" not in top:
        reader.fault(root, "no 'scene': name the scene file that is to be run")
    else:
        found = os.path.expanduser(reader.text(top["scene"], "scene"))
        study.scene = os.path.join(os.path.dirname(reader.path), found)
        if found and not allow_path and not _is_reachable(study.scene, reader.path):
            reader.fault(top["scene"], f"scene '{found}' lies outside the study's folder; allow it with --allow-path")
    if "seed" in top:
        study.seed = reader.whole(top["seed"], "seed", 0, 2**31 - 1)
    if "count" in top:
        study.count = reader.whole(top["count"], "count", 1, MAX_CASES)
    if "timeout" in top:
        study.timeout = reader.number(top["timeout"], "timeout")
        if study.timeout <= 0:
            reader.fault(top["timeout"], "timeout must be above zero, in seconds")
    _read_simulation(reader, top, study)
    _read_variables(reader, top, study)
    _read_design(reader, root, top, study)
    for key, node in (reader.entries(top["outputs"], "outputs") if "outputs" in top else {}).items():
        study.outputs[key] = _read_output(reader, node, key, study)
    if "fit" in top:
        try:
            study.fit = yaml.constructor.SafeConstructor().construct_document(top["fit"])
        except (yaml.YAMLError, ValueError, TypeError) as error:  # a tag, a date or a number that is none, a list as a key
            reader.fault(top["fit"], f"fit cannot be read: {getattr(error, 'problem', None) or error}")
        if not isinstance(study.fit, dict):
            reader.fault(top["fit"], "fit must be a mapping, {key: value}")
            study.fit = {}
    return study


def _read_simulation(reader: _Reader, top: dict[str, yaml.Node], study: Study) -> None:
    short = tuple(name.split(".")[1] for name in OPTIONS)
    for key, node in (reader.entries(top["simulation"], "simulation", short) if "simulation" in top else {}).items():
        study.simulation[key] = _read_option(reader, node, key)


def _read_option(reader: _Reader, node: yaml.Node, key: str) -> Value:
    if key in ("scheme", "solver"):
        return reader.text(node, key)
    value = reader.number(node, key)
    if value <= 0:
        reader.fault(node, f"{key} must be above zero, in seconds")
    return value


def _read_value(reader: _Reader, node: yaml.Node, name: str) -> Value:
    if name in OPTIONS:
        return _read_option(reader, node, name.split(".")[1])
    return reader.number(node, f"a value of '{name}'")


def _read_variables(reader: _Reader, top: dict[str, yaml.Node], study: Study) -> None:
    for name, node in (reader.entries(top["vary"], "vary") if "vary" in top else {}).items():
        if "." in name and name not in OPTIONS:
            reader.fault(node, f"'{name}' cannot be varied" + (hint(name, OPTIONS) or "; names of the scene's let can, and "
                                                               + ", ".join(OPTIONS)))
        elif isinstance(node, yaml.SequenceNode):
            study.vary[name] = Levels(tuple(_read_value(reader, n, name) for n in reader.items(node, f"'{name}'")))
        elif isinstance(node, yaml.MappingNode):
            study.vary[name] = _read_variable(reader, node, name)
        else:
            study.vary[name] = Levels((_read_value(reader, node, name),))


def _read_variable(reader: _Reader, node: yaml.Node, name: str) -> Variable:
    what = f"'{name}'"
    if any(isinstance(k, yaml.ScalarNode) and k.value == "sample" for k, _ in node.value):
        entries = reader.entries(node, what, ("sample", "from", "to", "mean", "deviation"))
        kind = reader.choice(entries["sample"], "sample", tuple(SAMPLES))
        keys = SAMPLES.get(kind, ())
        values = []
        for key in keys:
            if key not in entries:
                reader.fault(node, f"{what}: sample {kind} needs {' and '.join(keys)}")
            values.append(reader.number(entries[key], key) if key in entries else 1.0)
        for key in entries:
            if keys and key != "sample" and key not in keys:
                reader.fault(entries[key], f"{what}: sample {kind} has {' and '.join(keys)}, not {key}")
        if kind == "uniform" and values[0] >= values[1]:
            reader.fault(node, f"{what}: from must be below to")
        if kind in ("normal", "lognormal") and values[1] < 0:
            reader.fault(node, f"{what}: deviation must not be negative")
        if kind == "lognormal" and values[0] + _MOST_DEVIATIONS * values[1] > _MOST_LOGARITHM:
            reader.fault(node, f"{what}: mean and deviation are those of the logarithm; these reach beyond 1e300")
        return Sample(kind, *values) if len(values) == 2 else Sample("normal", 0, 1)
    entries = reader.entries(node, what, ("from", "to", "count", "scale"))
    if "from" not in entries or "to" not in entries:
        reader.fault(node, f"{what} needs from and to (and in a grid count), a list of values, or sample")
        return Range(0, 1, 1, False)
    low, high = reader.number(entries["from"], "from"), reader.number(entries["to"], "to")
    count = reader.whole(entries["count"], "count", 1, MAX_CASES) if "count" in entries else None
    log = "scale" in entries and reader.choice(entries["scale"], "scale", ("linear", "log")) == "log"
    if log and (low <= 0 or high <= 0):
        reader.fault(node, f"{what}: scale log needs bounds above zero")
        log = False
    return Range(low, high, count, log)


def _read_design(reader: _Reader, root: yaml.Node, top: dict[str, yaml.Node], study: Study) -> None:
    if "design" in top:
        study.design = reader.choice(top["design"], "design", DESIGNS)
    if "cases" in top:
        if study.design != "list":
            reader.fault(top["cases"], "cases belong to 'design: list'")
        for number, node in enumerate(reader.items(top["cases"], "cases")):
            entries = reader.entries(node, f"case {number + 1}")
            study.cases.append({name: _read_value(reader, value, name) for name, value in entries.items()})
        names = set(study.cases[0]) if study.cases else set()
        if any(set(case) != names for case in study.cases):
            reader.fault(top["cases"], "all cases must have the same names")
        if names & set(study.vary):
            reader.fault(top["cases"], f"'{sorted(names & set(study.vary))[0]}' stands in vary and in cases")
    if not study.vary and not study.cases:
        reader.fault(top.get("vary", root), "nothing is varied: vary needs at least one name")
    if study.design == "grid":
        for name, variable in study.vary.items():
            if isinstance(variable, Range) and variable.count is None and "fit" not in top:
                reader.fault(top["vary"], f"'{name}' needs a count in a grid")
    elif study.design == "list":
        lengths = {len(v.values) if isinstance(v, Levels) else -1 for v in study.vary.values()}
        if -1 in lengths or len(lengths | ({len(study.cases)} if study.cases else set())) > 1:
            reader.fault(top.get("vary", root), "design list needs lists of one length")
    elif study.design in DESIGNS and study.count is None:
        reader.fault(top.get("design", root), f"design {study.design} needs a count: how many cases")


def _read_output(reader: _Reader, node: yaml.Node, key: str, study: Study) -> str:
    text = reader.text(node, f"output '{key}'")
    if not key.isidentifier():
        reader.fault(node, f"output '{key}': a name is made of letters, digits and _")
    if key in RESERVED or key in study.vary or (study.cases and key in study.cases[0]):
        reader.fault(node, f"output '{key}': the table has a column of this name already")
    try:
        if text:
            Expression(text)
    except ExpressionError as error:
        reader.fault(node, f"output '{key}': {error}")
    return text


RESERVED = ("case", "status", "reason", "seconds", "state_hash", "key")
