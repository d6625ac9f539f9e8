"""Recordings of runs, read with h5py."""
from __future__ import annotations

import atexit
import builtins
import html
import os
import tempfile
import weakref
import webbrowser
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from . import _engine, _html
from ._errors import RecordingError, unknown
from ._files import UNREADABLE, is_recording, what_reads
from ._scene import PathLike, _index

if TYPE_CHECKING:
    import pandas  # type: ignore[import]

    from ._simulation import Simulation

Array = npt.NDArray[np.float64]


class Page:
    """The viewer as one HTML page: shown inline in a notebook, and a file for everybody else (`save`)."""

    def __init__(self, text: str, height: int = 480) -> None:
        self.html = text
        self.height = height

    def save(self, path: PathLike) -> None:
        """Writes the page; it opens from disk without a server."""
        with builtins.open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        # The page runs its script by the digest of its text: no notebook, whatever its encoding, may change a letter.
        text = html.escape(self.html, quote=True).encode("ascii", "xmlcharrefreplace").decode()
        return (f'<iframe srcdoc="{text}" width="100%" height="{self.height}" '
                'style="border: 0" allow="fullscreen"></iframe>')

    def __repr__(self) -> str:
        return f"<slipstick.Page of {len(self.html) // 1024} kB; in a notebook it is the viewer, .save(path) writes it>"


class LiveView:
    """The viewer on a running simulation, served on this machine alone, in a window of its own: its server lets no page
    embed it. A notebook shows the link."""

    def __init__(self, live: _engine.Live) -> None:
        self._live = live
        self.url: str = live.url()
        _open_views.add(self)

    def open(self) -> bool:
        """Opens the page in this machine's browser; False: there is none."""
        return webbrowser.open(self.url)

    def close(self) -> None:
        """Ends the server and its simulation."""
        self._live.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<a href="{html.escape(self.url, quote=True)}" target="_blank">the running simulation</a>'

    def __repr__(self) -> str:
        return f"<slipstick.LiveView at {self.url}>"


_open_views: weakref.WeakSet[LiveView] = weakref.WeakSet()


@atexit.register
def _close_views() -> None:
    """Before the interpreter goes: a solver in Python must not be asked after it."""
    for live in list(_open_views):
        live.close()


def _attributes(file: Any) -> dict[str, Any]:
    """Of the root, texts as str; a long one is the dataset that its attribute names (docs/recording.md)."""
    values: dict[str, Any] = {}
    for name in file.attrs:
        if file.attrs.get_id(name).dtype.kind == "O":  # of variable length: not ours, and libhdf5 may crash on it
            continue
        value = file.attrs[name]
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
            if value == f"dataset /{name}":
                value = file[name][()].decode("utf-8", "replace")
        values[name] = value
    return values


class Recording:
    """A recording (.h5) of `Simulation.run(record=...)` or `slipstick run -o`. One row per frame.

    Positions and velocities are of the bodies' own frames, in world axes; quaternions are (w, x, y, z).
    """

    def __init__(self, path: PathLike) -> None:
        try:
            import h5py  # type: ignore[import]
        except ImportError:
            raise ImportError("recordings are read with h5py: apt-get install python3-h5py") from None
        self.path: str = os.fspath(path)
        if not os.path.exists(self.path):
            raise RecordingError(f"{self.path}: no such file")
        try:
            with h5py.File(self.path, "r") as file:
                if not is_recording(file):
                    raise RecordingError(f"{self.path}: {what_reads(self.path, 'slipstick.open') or 'not a recording of slipstick'}")
                n = len(file["time"])
                self.time: Array = file["time"][:n]
                self.bodies: list[str] = [str(x) for x in file["names/bodies"].asstr()[:]]
                self.joints: list[str] = [str(x) for x in file["names/joints"].asstr()[:]] if "names/joints" in file else []
                # One for each number: "tip.x", "tip.y", ...
                self.sensors: list[str] = [str(x) for x in file["names/sensors"].asstr()[:]] if "names/sensors" in file else []
                self._sensor: Array = file["sensor"][:n] if self.sensors else np.zeros((n, 0))
                self.attributes: dict[str, Any] = _attributes(file)
                self._pose: Array = file["pose"][:n]
                self._velocity: Array = file["velocity"][:n]
                self.energy: Array = file["energy"][:n]  # J: kinetic, potential, dissipated so far
                self._joint: dict[str, Array] = {key: value[:n] for key, value in file.get("joint", {}).items()}
                self.certificate: dict[str, Array] = {key: value[:n] for key, value in file["certificate"].items()}
                self._contacts: dict[str, Any] = {key: value[:] for key, value in file["contacts"].items()}
                self.ended: str = self.attributes.get("ended", "")
        except UNREADABLE as error:
            if isinstance(error, RecordingError):
                raise
            other = what_reads(self.path, "slipstick.open")
            raise RecordingError(f"{self.path}: {other or f'cannot be read as a recording: {error}'}") from None

    def __len__(self) -> int:
        return len(self.time)

    def pose(self, body: str) -> Array:
        """(frames, 7): x, y, z (m), then the quaternion w, x, y, z."""
        return self._pose[:, _index("body", body, self.bodies)]

    def position(self, body: str) -> Array:
        """(frames, 3), m."""
        return self.pose(body)[:, :3]

    def orientation(self, body: str) -> Array:
        """(frames, 4), w x y z."""
        return self.pose(body)[:, 3:]

    def velocity(self, body: str) -> Array:
        """(frames, 3), m/s."""
        return self._velocity[:, _index("body", body, self.bodies), :3]

    def angular_velocity(self, body: str) -> Array:
        """(frames, 3), rad/s."""
        return self._velocity[:, _index("body", body, self.bodies), 3:]

    def joint(self, name: str) -> dict[str, Array]:
        """position and velocity (frames), motor (frames), reaction (frames, 6: force N, moment N m, on b, world axes)."""
        row = _index("joint", name, self.joints)
        return {key: values[:, row] for key, values in self._joint.items()}

    def sensor(self, name: str) -> Array:
        """(frames) of a sensor with one number, or of one number of it ("tip.x"); (frames, 3) of a vector."""
        columns = [k for k, each in enumerate(self.sensors) if each == name or each.rpartition(".")[0] == name]
        if not columns:
            raise unknown("sensor", name, self.sensors)
        single: Array = self._sensor[:, columns[0]]
        return single if self.sensors[columns[0]] == name else self._sensor[:, columns]

    def contacts(self, frame: int) -> npt.NDArray[np.void]:
        """The contacts of a frame as a structured array: a, b, point, normal, gap, impulse (N s on b over the last step)."""
        frame = range(len(self))[frame]
        first, last = self._contacts["offset"][frame:frame + 2]
        fields = [("a", "i4"), ("b", "i4"), ("point", "f8", 3), ("normal", "f8", 3), ("gap", "f8"), ("impulse", "f8", 3)]
        made = np.zeros(last - first, dtype=fields)
        for name in ("a", "b", "point", "normal", "gap", "impulse"):
            made[name] = self._contacts[name][first:last]
        return made

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per frame, indexed by time: NAME.x .y .z .qw .qx .qy .qz .vx .. .wz of each body,
        NAME.position .velocity .motor of each joint, the sensors, and kinetic, potential, dissipated (J), residual (m/s), penetration (m)."""
        try:
            import pandas  # noqa: F811
        except ImportError:
            raise ImportError("tables are made with pandas: apt-get install python3-pandas") from None
        columns: dict[str, Array] = {}
        for i, name in enumerate(self.bodies):
            for k, end in enumerate(("x", "y", "z", "qw", "qx", "qy", "qz")):
                columns[f"{name}.{end}"] = self._pose[:, i, k]
            for k, end in enumerate(("vx", "vy", "vz", "wx", "wy", "wz")):
                columns[f"{name}.{end}"] = self._velocity[:, i, k]
        for i, name in enumerate(self.joints):
            for key in ("position", "velocity", "motor"):
                columns[f"{name}.{key}"] = self._joint[key][:, i]
        for k, name in enumerate(self.sensors):
            columns[name] = self._sensor[:, k]
        for k, key in enumerate(("kinetic", "potential", "dissipated")):
            columns[key] = self.energy[:, k]
        for key in ("residual", "penetration"):
            columns[key] = self.certificate[key]
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    def _series(self, what: str) -> tuple[str, dict[str, Array]]:
        """The curves that `what` stands for, and what their axis is called."""
        if what == "energy":
            parts = {name: self.energy[:, k] for k, name in enumerate(("kinetic", "potential", "dissipated"))}
            return "energy [J]", {**parts, "sum": self.energy.sum(axis=1)}
        units = {"residual": "m/s", "penetration": "m", "joint_error": "m or rad", "iterations": "", "escalations": "",
                 "relative": ""}
        if what in units:
            return f"{what} [{units[what]}]".replace(" []", ""), {what: self.certificate[what]}
        name, dot, part = what.rpartition(".")
        if dot and name in self.joints and part in self._joint and self._joint[part].ndim == 2:
            return f"{part} of {name}", {what: self._joint[part][:, self.joints.index(name)]}
        if dot and name in self.bodies and part in ("position", "velocity", "angular_velocity"):
            table: Array = getattr(self, part)(name)
            return f"{part} of {name}", {axis: table[:, k] for k, axis in enumerate("xyz")}
        if any(each == what or each.rpartition(".")[0] == what for each in self.sensors):
            columns = [k for k, each in enumerate(self.sensors) if each == what or each.rpartition(".")[0] == what]
            return what, {self.sensors[k]: self._sensor[:, k] for k in columns}
        known = ["energy", *units, *self.sensors]
        known += [f"{b}.{p}" for b in self.bodies for p in ("position", "velocity", "angular_velocity")]
        known += [f"{j}.{p}" for j in self.joints for p in ("position", "velocity", "motor")]
        raise unknown("series", what, known)

    def plot(self, *what: str, path: Optional[PathLike] = None) -> Any:
        """Draws series over time, one panel each: "energy", "residual", "penetration", "joint_error", "iterations",
        "ball.position", "ball.velocity", "ball.angular_velocity", "elbow.position", "elbow.velocity", "elbow.motor".

        Returns matplotlib's figure; path: also writes it.
        """
        series = [self._series(name) for name in what or ("energy",)]
        try:
            from matplotlib.figure import Figure  # type: ignore[import]
        except ImportError:
            raise ImportError("plots are made with matplotlib: apt-get install python3-matplotlib") from None
        figure = Figure(figsize=(7, 1 + 2.4 * len(series)), layout="constrained")
        panels = figure.subplots(len(series), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (label, curves) in zip(panels, series):
            for name, values in curves.items():
                panel.plot(self.time, values, label=name)
            panel.set_ylabel(label)
            panel.grid(alpha=0.3)
            if len(curves) > 1:
                panel.legend(fontsize="small")
        panels[-1].set_xlabel("time [s]")
        if path is not None:
            figure.savefig(path)
        return figure

    def show(self, *, height: int = 480, frames_per_second: float = 60) -> Page:
        """The viewer with this recording: inline in a notebook, or `.save("page.html")`."""
        return Page(_engine.export_page([self.path], frames_per_second), height)

    def __repr__(self) -> str:
        return f"<slipstick.Recording '{self.path}': {len(self)} frames of {len(self.bodies)} bodies>"

    def _repr_html_(self) -> str:
        certified = self.certificate.get("certified", np.ones(len(self)))
        return _html.table(f"Recording {self.path}",
                           [("scene", self.attributes.get("name", "")),
                            ("frames", f"{len(self)}, t = {self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self) else 0),
                            ("bodies", f"{len(self.bodies)}: {_html.names(self.bodies)}"),
                            ("joints", f"{len(self.joints)}: {_html.names(self.joints)}"),
                            ("certified", f"{int(np.count_nonzero(certified))} of {len(self)} frames"),
                            ("ended", self.ended or "killed, or goes on")])


def open(path: PathLike) -> Recording:
    """Opens a recording."""
    return Recording(path)


def view(sim: Simulation, duration: float, height: int) -> Page:
    """Simulation.view."""
    import copy

    ahead = copy.deepcopy(sim)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "view.h5")
        ahead.run(duration, record=path)
        return Page(_engine.export_page([path], 60), height)
