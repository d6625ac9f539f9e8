"""Scenes made in Python. A Builder writes a scene file: what it can say, and what it is told when it is wrong, is that of
docs/scenes.md."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._scene import Scene, parse
from ._text import as_plain, as_yaml

Value = Union[float, str]  # a number, or an expression
Vector = Union[Sequence[Value], npt.NDArray[np.float64]]
Shape = dict[str, Any]


def _shape(kind: str, sizes: Mapping[str, Any], options: Mapping[str, Any]) -> Shape:
    return as_plain({kind: dict(sizes), **options})  # type: ignore[no-any-return]


def _as_list(shapes: Union[Shape, Sequence[Shape]]) -> list[Shape]:
    return [shapes] if isinstance(shapes, dict) else list(shapes)


def sphere(radius: float, **options: Any) -> Shape:
    """A ball. Options of all shapes: position (m), orientation ([w, x, y, z] or {"axis", "angle_deg"}), both in the body's
    frame, material, density (kg/m^3), color ("#c33"), visual_only."""
    return _shape("sphere", {"radius": radius}, options)


def box(size: Vector, **options: Any) -> Shape:
    """A box of full sizes (x, y, z), m; planar scenes: (x, y)."""
    return _shape("box", {"size": size}, options)


def capsule(radius: float, length: float, **options: Any) -> Shape:
    """A cylinder with round ends along z; `length` is that of the straight part, m."""
    return _shape("capsule", {"radius": radius, "length": length}, options)


def cylinder(radius: float, length: float, **options: Any) -> Shape:
    """A cylinder along z, centred, m."""
    return _shape("cylinder", {"radius": radius, "length": length}, options)


def cone(radius: float, length: float, **options: Any) -> Shape:
    """A cone along z with its tip at +z, centred, m."""
    return _shape("cone", {"radius": radius, "length": length}, options)


def ellipsoid(size: Vector, **options: Any) -> Shape:
    """An ellipsoid of full sizes (x, y, z), m."""
    return _shape("ellipsoid", {"size": size}, options)


def plane(normal: Vector = (0, 0, 1), offset: float = 0, **options: Any) -> Shape:
    """The solid half space below normal . p = offset, for fixed and kinematic bodies."""
    return _shape("plane", {"normal": normal, "offset": offset}, options)


def hull(points: Any, **options: Any) -> Shape:
    """The convex hull of points (n, 3), m."""
    return _shape("hull", {"points": points}, options)


def mesh(file: str, scale: Optional[float] = None, **options: Any) -> Shape:
    """Triangles from an OBJ or STL file beside the scene."""
    return _shape("mesh", {"file": file, "scale": scale}, options)


def disk(radius: float, **options: Any) -> Shape:
    """A disk of a planar scene, m."""
    return _shape("disk", {"radius": radius}, options)


def polygon(points: Any, **options: Any) -> Shape:
    """A convex polygon of a planar scene: points (n, 2), m."""
    return _shape("polygon", {"points": points}, options)


class Builder:
    """A scene, piece by piece:

        b = ss.Builder(gravity=(0, 0, -9.81), step=1/200)
        b.ground()
        b.body("ball", mass=1, position=(0, 0, 1), shapes=[ss.sphere(0.1)])
        b.hinge("elbow", ("world", "arm"), at=(0, 0, 1), axis=(0, 1, 0), motor={"position": 0, "max": 10})
        scene = b.compile()

    SI units; positions, anchors and axes in the world at t = 0. Numbers may be expressions ("2*pi"), and where time may
    vary (motors, loads, kinematic motion) functions of t ("0.2*sin(t)"). Names are unique; "world" is the world. `text`
    is the scene as a file.
    """

    def __init__(self, name: str = "scene", *, gravity: Vector = (0, 0, -9.81), planar: bool = False,
                 **simulation: Any) -> None:
        """simulation: what a scene's `simulation` says: step, duration, scheme, solver, friction ..."""
        self._head: dict[str, Any] = {"name": name, "gravity": gravity, "planar": planar or None}
        self._simulation: dict[str, Any] = dict(simulation)
        self._lists: dict[str, list[Any]] = {key: [] for key in
                                             ("material_pairs", "bodies", "joints", "forces", "pairs_without_contact",
                                              "sensors")}
        self._materials: dict[str, Any] = {}
        self.planar = planar

    # ------------------------------------------------------------------ bodies and materials

    def body(self, name: str, *, mass: Optional[Value] = None, density: Optional[Value] = None,
             position: Optional[Vector] = None, orientation: Any = None, velocity: Optional[Vector] = None,
             angular_velocity: Optional[Vector] = None, inertia: Optional[Vector] = None,
             center_of_mass: Optional[Vector] = None, shapes: Union[Shape, Sequence[Shape]] = (), material: Optional[str] = None,
             lock: Optional[Sequence[str]] = None, kinematic: Optional[Mapping[str, Any]] = None,
             group: Optional[str] = None) -> None:
        """A body that moves. It needs a mass (kg), or a density (kg/m^3) of its own or of its shapes; the inertia follows
        from the shapes unless it is given (about the centre of mass, body axes, kg m^2)."""
        self._lists["bodies"].append({
            "name": name, "mass": mass, "density": density, "position": position, "orientation": orientation,
            "velocity": velocity, "angular_velocity": angular_velocity, "inertia": inertia,
            "center_of_mass": center_of_mass, "material": material, "lock": lock, "kinematic": kinematic, "group": group,
            "shapes": _as_list(shapes) or None})

    def fixed(self, name: str, *, shapes: Union[Shape, Sequence[Shape]], position: Optional[Vector] = None, orientation: Any = None,
              material: Optional[str] = None) -> None:
        """A body that stays where it is."""
        self._lists["bodies"].append({"name": name, "fixed": True, "position": position, "orientation": orientation,
                                      "material": material, "shapes": _as_list(shapes)})

    def ground(self, material: Optional[str] = None) -> None:
        """The solid half space below z = 0 (planar: y = 0), a fixed body "ground"."""
        self.fixed("ground", shapes=[plane((0, 1) if self.planar else (0, 0, 1), 0)], material=material)

    def material(self, name: str, **properties: Any) -> None:
        """friction, restitution, rolling_friction, ...; the material "default" is that of all shapes that name none."""
        self._materials[name] = properties

    def material_pair(self, a: str, b: str, **properties: Any) -> None:
        """What holds between two materials, in place of the combine rule."""
        self._lists["material_pairs"].append({"between": [a, b], **properties})

    def no_contact(self, a: str, b: str) -> None:
        """These two bodies pass through each other."""
        self._lists["pairs_without_contact"].append([a, b])

    # ------------------------------------------------------------------ joints and forces

    def joint(self, kind: str, name: str, between: Sequence[str], **properties: Any) -> None:
        """Any joint of docs/joints.md, with its keys: at, axis, limits, limits_deg, motor, friction, compliance, ..."""
        self._lists["joints"].append({kind: {"name": name, "between": list(between), **properties}})

    def sensor(self, kind: str, name: str, **properties: Any) -> None:
        """Any sensor of docs/sensors.md, with its keys: joint, body, between, quantity, of, ..."""
        self._lists["sensors"].append({kind: {"name": name, **properties}})

    def hinge(self, name: str, between: Sequence[str], *, at: Vector, axis: Optional[Vector] = None,
              **properties: Any) -> None:
        """Turns about one axis. Keys: limits_deg, motor={"speed" | "position_deg" ..., "max"}, friction (N m), ..."""
        self.joint("hinge", name, between, at=at, axis=axis, **properties)

    def slider(self, name: str, between: Sequence[str], *, axis: Vector, at: Optional[Vector] = None,
               **properties: Any) -> None:
        """Slides along one axis. Keys: limits (m), motor={"speed" | "position", "max"}, friction (N), ..."""
        self.joint("slider", name, between, at=at, axis=axis, **properties)

    def ball(self, name: str, between: Sequence[str], *, at: Vector, **properties: Any) -> None:
        """Holds one point of two bodies together."""
        self.joint("ball", name, between, at=at, **properties)

    def weld(self, name: str, between: Sequence[str], *, at: Optional[Vector] = None, **properties: Any) -> None:
        """Holds two bodies together in all six freedoms."""
        self.joint("fixed", name, between, at=at, **properties)

    def spring(self, name: str, between: Sequence[str], *, at: Sequence[Vector], stiffness: Value, damping: Value = 0,
               rest_length: Optional[Value] = None) -> None:
        """A spring and damper between two points: N/m, N s/m, m."""
        self._lists["forces"].append({"spring": {"name": name, "between": list(between), "at": list(at),
                                                 "stiffness": stiffness, "damping": damping,
                                                 "rest_length": rest_length}})

    def load(self, name: str, body: str, *, force: Optional[Vector] = None, torque: Optional[Vector] = None,
             at: Optional[Vector] = None) -> None:
        """A force (N) and torque (N m), world axes, functions of t if need be, at a point of the body's frame."""
        self._lists["forces"].append({"load": {"name": name, "body": body, "force": force, "torque": torque, "at": at}})

    # ------------------------------------------------------------------ the scene

    @property
    def text(self) -> str:
        """The scene as the text of a scene file."""
        lines = ["slipstick: 1"]
        lines += [f"{key}: {as_yaml(value)}" for key, value in self._head.items() if value is not None]
        if self._materials:
            lines.append("materials: " + as_yaml(self._materials))
        for key, items in self._lists.items():
            if items or key == "bodies":
                lines.append(f"{key}:" if items else f"{key}: []")
            lines += ["  - " + as_yaml(item) for item in items]
        if self._simulation:
            lines.append("simulation: " + as_yaml(self._simulation))
        return "\n".join(lines) + "\n"

    def compile(self) -> Scene:
        """The scene, or a SceneError with all that is wrong with it; lines are those of `text`."""
        return parse(self.text, name=str(self._head["name"]))
