"""Files: what one is, for those who gave it to the wrong reader; and copies of a scene's files elsewhere."""
from __future__ import annotations

import os
from typing import Any, Mapping

_STATE, _HDF5 = b"SLIPSTAT", b"\x89HDF\r\n\x1a\n"


def what_reads(path: str, reader: str) -> str:
    """"is a ...: slipstick.... reads it", from the first bytes of the file; empty where `reader` is the right one, or nobody knows."""
    kind, right = _look(path)
    return f"is {kind}: {right} reads it" if right and right != reader else ""


def _look(path: str) -> tuple[str, str]:
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        return ("", "")
    if start == _STATE:
        return ("a state file", "Simulation.load_state")
    if start == _HDF5:
        return ("a recording", "slipstick.open") if _is_recording(path) else ("an HDF5 file, perhaps a problem", "slipstick.load_problem")
    if os.path.splitext(path)[1].lower() in (".yaml", ".yml", ".urdf", ".xml"):
        return ("a scene or model", "slipstick.load")
    return ("", "")


UNREADABLE = (OSError, KeyError, ValueError, TypeError, RuntimeError)  # what h5py raises over damaged files


def is_recording(file: Any) -> bool:
    """Of an open h5py.File. Texts of variable length are not looked at: libhdf5 can crash on damaged ones."""
    if "format" not in file.attrs:
        return False
    if file.attrs.get_id("format").dtype.kind != "S":
        raise OSError("is of an earlier version, with texts of variable length; make the recording again, or read it with h5py")
    return bool(file.attrs["format"] == b"slipstick recording")


def _is_recording(path: str) -> bool:
    try:
        import h5py  # type: ignore[import]

        with h5py.File(path, "r") as file:
            return is_recording(file)
    except (ImportError, *UNREADABLE):
        return True


def place_in(folder: str, path: str) -> str:
    """Where `lay_out` puts a file."""
    return os.path.join(folder, os.path.abspath(path).lstrip("/"))


def lay_out(contents: Mapping[str, bytes], folder: str) -> None:
    """Writes files below a folder, as they lie to each other, so that a scene finds its own."""
    for path, data in contents.items():
        place = place_in(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(data)
