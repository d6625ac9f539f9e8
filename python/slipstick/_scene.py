"""Scenes: a model, where it begins, and how it is to be simulated."""
from __future__ import annotations

import os
import tempfile
from typing import Mapping, Optional, Union

from . import _engine, _html
from ._engine import State
from ._errors import SceneError, unknown
from ._files import lay_out, place_in, what_reads

PathLike = Union[str, "os.PathLike[str]"]
Number = Union[int, float, str]
_MAX_BODIES = 200000
_Recipe = tuple[str, str, dict[str, str], dict[str, str]]  # file or text, name, set, model


class Scene:
    """A scene: model, initial state and options. It never changes, can be shared by simulations and threads, and pickles
    with all the files that it was read from.

    Made by `slipstick.load`, `slipstick.parse` or `Builder.compile`.
    """

    __slots__ = ("_box", "_recipe", "_bodies", "_joints", "__weakref__")
    _box: _engine.SceneBox
    _bodies: dict[str, int]  # name to row
    _joints: dict[str, int]
    _recipe: _Recipe

    def __init__(self) -> None:
        raise TypeError("a Scene is made by slipstick.load, slipstick.parse or Builder.compile")

    @classmethod
    def _make(cls, box: _engine.SceneBox, recipe: _Recipe) -> Scene:
        scene = object.__new__(cls)
        scene._box, scene._recipe = box, recipe
        scene._bodies = {name: row for row, name in enumerate(box.bodies)}
        scene._joints = {name: row for row, name in enumerate(box.joints)}
        return scene

    @property
    def name(self) -> str:
        """What the scene calls itself."""
        return self._box.name

    @property
    def path(self) -> str:
        """The file that it was read from."""
        return self._box.path

    @property
    def text(self) -> str:
        """The main file as it was read: a scene in YAML."""
        return self._box.text

    @property
    def files(self) -> list[str]:
        """All files that were read, with includes, meshes and heights; absolute."""
        return self._box.files

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies, in the order of all arrays."""
        return list(self._bodies)

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of all arrays."""
        return list(self._joints)

    @property
    def sensors(self) -> list[str]:
        """Names of the sensors."""
        return [name for name, _, _ in self._box.sensors]

    @property
    def motors(self) -> list[str]:
        """Names of the motors: that of the joint, or "joint.axis" where a joint has several. The order of controls."""
        return self._box.motors

    @property
    def loads(self) -> list[str]:
        """Names of the loads."""
        return self._box.loads

    @property
    def mass(self) -> list[float]:
        """Masses of the bodies, kg; 0 for those that are fixed or moved by the scene."""
        return self._box.mass

    @property
    def gravity(self) -> tuple[float, float, float]:
        """m/s^2, world axes."""
        x, y, z = self._box.gravity
        return (x, y, z)

    @property
    def step(self) -> float:
        """The time step that the scene asks for, s."""
        return self._box.step

    @property
    def duration(self) -> float:
        """How long the scene is to run, s."""
        return self._box.duration

    @property
    def scheme(self) -> str:
        """The time-stepping scheme that the scene asks for."""
        return self._box.scheme

    @property
    def solver(self) -> str:
        """The solver that the scene asks for."""
        return self._box.solver

    @property
    def initial(self) -> State:
        """The state at t = 0."""
        return self._box.initial

    @property
    def model_hash(self) -> str:
        """A digest of all that decides the motion: states can be exchanged between scenes with the same one."""
        return self._box.model_hash

    def body_index(self, name: str) -> int:
        """The row of a body in all arrays."""
        return _row("body", name, self._bodies)

    def joint_index(self, name: str) -> int:
        """The row of a joint in all arrays."""
        return _row("joint", name, self._joints)

    def __repr__(self) -> str:
        return f"<slipstick.Scene '{self.name}': {len(self.bodies)} bodies, {len(self.joints)} joints>"

    def _repr_html_(self) -> str:
        return _html.table(f"Scene {self.name}", [("bodies", f"{len(self.bodies)}: {_html.names(self.bodies)}"),
                                                  ("joints", f"{len(self.joints)}: {_html.names(self.joints)}"),
                                                  ("motors", f"{len(self.motors)}: {_html.names(self.motors)}"),
                                                  ("mass", f"{sum(self.mass):.6g} kg")])

    def __copy__(self) -> Scene:
        return self

    def __deepcopy__(self, memo: object) -> Scene:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        contents = {}
        for path in self.files:
            if os.path.exists(path):
                with open(path, "rb") as file:
                    contents[path] = file.read()
        return (_restore, (self._recipe, self.text, self.path, self.files, contents, self.model_hash))


def _row(kind: str, name: str, rows: dict[str, int]) -> int:
    row = rows.get(name)
    if row is None:
        raise unknown(kind, name, list(rows))
    return row


def _index(kind: str, name: str, known: list[str]) -> int:
    try:
        return known.index(name)
    except ValueError:
        raise unknown(kind, name, known) from None


def _as_set(values: Optional[Mapping[str, Number]]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else repr(value) for key, value in (values or {}).items()}


def load(path: PathLike, set: Optional[Mapping[str, Number]] = None, *, allow_path: bool = False, key: Union[str, int] = "", mesh: str = "hull",
         base: str = "fixed", floor: bool = False, repair_inertia: bool = False) -> Scene:
    """Reads a scene file (.yaml), or a model of another program: URDF (.urdf), MJCF (.xml, .mjcf).

    set: values for names of the scene's `let`, numbers or expressions: `load("stack.yaml", set={"n": 20})`.
    allow_path: includes and meshes may lie outside of the scene's folder.

    For models (docs/import.md): key, the keyframe to start from, by name or number; mesh "hull" or "exact"; base "fixed" or "free"
    (URDF); floor, one just below the model; repair_inertia, for links without a good one.

    Raises SceneError with all faults, each with its place. Nothing is half-read.
    """
    for option, value, known in (("mesh", mesh, ("hull", "exact")), ("base", base, ("fixed", "free"))):
        if value not in known:
            raise ValueError(f"{option} must be '{known[0]}' or '{known[1]}', not {value!r}")
    model = {"key": str(key), "mesh": mesh, "base": base, "floor": "yes" if floor else "", "repair_inertia": "yes" if repair_inertia else ""}
    values = _as_set(set)
    name = os.fspath(path)
    other = what_reads(name, "slipstick.load")
    if other:
        raise SceneError([(name, 0, 0, other)])
    box = _engine.load_scene(name, values, allow_path, _MAX_BODIES, model)
    return Scene._make(box, ("file", name, values, model))


def parse(text: str, set: Optional[Mapping[str, Number]] = None, *, name: str = "scene.yaml") -> Scene:
    """A scene from the text of a scene file; `name` stands for the file in faults, and includes are looked for beside it."""
    if not isinstance(text, str):
        raise TypeError(f"parse(text): the text of a scene, not {type(text).__name__}; slipstick.load reads files")
    values = _as_set(set)
    return Scene._make(_engine.parse_scene(text, name, values, False, _MAX_BODIES), ("text", name, values, {}))


def _restore(recipe: _Recipe, text: str, path: str, files: list[str], contents: dict[str, bytes],
             model_hash: str) -> Scene:
    """The scene again, from the contents of its files: those on disk may have changed or be elsewhere."""
    kind, name, values, model = recipe
    with tempfile.TemporaryDirectory() as folder:
        def place(original: str) -> str:
            return place_in(folder, original)

        lay_out(contents, folder)
        if kind == "file":
            os.makedirs(os.path.dirname(place(path)), exist_ok=True)
            if os.path.realpath(path) not in contents and os.path.abspath(path) not in contents:
                with open(place(path), "w", encoding="utf-8") as main:
                    main.write(text)
            found = place(path) if os.path.exists(place(path)) else place(os.path.realpath(path))
            box = _engine.load_scene(found, values, True, _MAX_BODIES, model)
        else:
            box = _engine.parse_scene(text, place(name) if contents else name, values, True, _MAX_BODIES)
    if box.model_hash != model_hash:
        raise ValueError(f"scene '{name}' cannot be restored: files that it was read from have changed since")
    return Scene._make(box.renamed(path, files), recipe)
