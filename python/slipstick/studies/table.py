"""The table of a study: a row per case, as CSV or HDF5 by the ending of its name. Same rows, same bytes."""
from __future__ import annotations

import csv
import glob
import hashlib
import io
import os
from typing import Any, Iterable, Optional, Sequence

from .._errors import Error
from .expressions import Value
from .study import RESERVED

Row = dict[str, Any]
_FORMAT = "slipstick table"


class TableError(Error, OSError):
    """A table that cannot be read or written."""


def columns(parameters: Iterable[str], outputs: Iterable[str]) -> list[str]:
    """case, parameters, outputs, then what became of it."""
    return ["case", *parameters, *outputs, *RESERVED[1:]]


def check_name(path: str) -> None:
    """A name says by its ending what is written."""
    if not path.endswith((".csv", ".h5", ".hdf5")):
        raise TableError(f"{path}: the table is written as .csv or .h5, by the ending of its name")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise TableError(f"{path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise TableError(f"{path}: is a folder")


def write(path: str, names: Sequence[str], rows: Sequence[Row], parameters: Iterable[str]) -> None:
    """Writes the table whole or not at all."""
    write_file(path, _as_csv(names, rows) if path.endswith(".csv") else _as_hdf5(names, rows, " ".join(parameters)))


def write_file(path: str, data: bytes) -> None:
    """Writes a file whole or not at all."""
    temporary = f"{path}.{os.getpid()}.partial"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise TableError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def remove_partial(path: str) -> None:
    """Removes what a program that was killed while it wrote the table has left."""
    for left in glob.glob(glob.escape(path) + ".*.partial"):
        os.unlink(left)


def read(path: str) -> list[Row]:
    """The rows of a table; numbers and truth values as they were."""
    try:
        return _from_csv(path) if path.endswith(".csv") else _from_hdf5(path)
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, csv.Error) as error:  # h5py raises any of them on damaged files
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path}: not a table of a sweep: {error}") from None


def _as_csv(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(names)
    for row in rows:
        out.writerow([_cell(row.get(name)) for name in names])
    return text.getvalue().encode()


def _cell(value: Optional[Value]) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _from_csv(path: str) -> list[Row]:
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        names: list[str] = next(lines, [])
        if names[:1] != ["case"] or not set(RESERVED) <= set(names):
            raise TableError(f"{path}: not a table of a sweep")
        return [{n: _value(n, cell) for n, cell in zip(names, line)} for line in lines if len(line) == len(names)]


def _value(name: str, cell: str) -> Optional[Value]:
    if name in ("status", "reason", "state_hash", "key"):
        return cell
    if cell in ("true", "false"):
        return cell == "true"
    if cell == "":
        return None
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell)
    except ValueError:
        return cell


def _kind(name: str, values: Sequence[Optional[Value]]) -> str:
    """The type of a column in HDF5: b truth (-1: none), i whole number, f number (NaN: none), s text."""
    present = [v for v in values if v is not None]
    if name == "case":
        return "i"
    if any(isinstance(v, str) for v in present) or name in ("status", "reason", "state_hash", "key"):
        return "s"
    return "b" if present and all(isinstance(v, bool) for v in present) else "f"


def _as_hdf5(names: Sequence[str], rows: Sequence[Row], parameters: str) -> bytes:
    import h5py  # type: ignore[import]
    import numpy as np

    fields: list[tuple[str, str]] = []
    filled: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kind = _kind(name, values)
        if kind == "s":
            data = np.array([_cell(v).encode() for v in values], dtype="S")
            fields.append((name, f"S{max(data.dtype.itemsize, 1)}"))
        elif kind == "b":
            data = np.array([-1 if v is None else int(v) for v in values], dtype="i1")
            fields.append((name, "i1"))
        else:
            data = np.array([np.nan if v is None else v for v in values], dtype="i8" if kind == "i" else "f8")
            fields.append((name, "<i8" if kind == "i" else "<f8"))
        filled[name] = data
    table = np.zeros(len(rows), dtype=fields)
    for name, data in filled.items():
        table[name] = data
    # The format of version 1.8: its bookkeeping has checksums, so that libhdf5 notices damage instead of following it (docs/decisions/0058). No times: same rows, same bytes.
    access, creation = h5py.h5p.create(h5py.h5p.FILE_ACCESS), h5py.h5p.create(h5py.h5p.FILE_CREATE)
    memory = io.BytesIO()
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, memory)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
    creation.set_obj_track_times(False)
    with h5py.File(h5py.h5f.create(b"table", h5py.h5f.ACC_TRUNC, creation, access)) as file:
        file.attrs["format"] = np.bytes_(_FORMAT)
        file.attrs["parameters"] = np.bytes_(parameters)
        file.attrs["digest"] = np.bytes_(hashlib.sha256(table.tobytes()).hexdigest())
        file.create_dataset("table", data=table, track_times=False)
    return memory.getvalue()


def _refuse_without_checksums(path: str) -> None:
    """Files of HDF5's older format: libhdf5 follows what is damaged in them, out of its memory too."""
    with open(path, "rb") as file:
        head = file.read(9)
    if head[:8] != b"\x89HDF\r\n\x1a\n" or len(head) < 9:
        raise TableError(f"{path}: not a table of a sweep")
    if head[8] < 2:
        raise TableError(f"{path}: not a table of a sweep, or one of an earlier version: name another file, and it is made again")


def _from_hdf5(path: str) -> list[Row]:
    import h5py
    import numpy as np

    _refuse_without_checksums(path)
    with h5py.File(path, "r") as file:
        if file.attrs.get("format") not in (_FORMAT, _FORMAT.encode()):
            raise TableError(f"{path}: not a table of a sweep")
        stored = file["table"]
        names = getattr(getattr(stored, "dtype", None), "names", None) or ()
        plain = all(stored.dtype[name].kind in "Sif" and stored.dtype[name].shape == () for name in names)
        # Held against the file before memory is taken: a damaged size can ask for all there is.
        if not set(RESERVED) <= set(names) or not plain or len(stored.shape) != 1 or stored.size * stored.dtype.itemsize > os.path.getsize(path):
            raise TableError(f"{path}: not a table of a sweep, or damaged")
        table = stored[:]
        if file.attrs.get("digest") != hashlib.sha256(table.tobytes()).hexdigest().encode():
            raise TableError(f"{path}: damaged: its rows are not those that were written")
    rows: list[Row] = []
    for record in table:
        row: Row = {}
        for name in table.dtype.names:
            value = record[name]
            if table.dtype[name].kind == "S":
                row[name] = value.decode()
            elif table.dtype[name] == np.int8:
                row[name] = None if value < 0 else bool(value)
            else:
                row[name] = None if value != value else value.item()
        rows.append(row)
    return rows


def find_parameters(path: str, rows: Sequence[Row]) -> list[str]:
    """What was varied: HDF5 says it; in CSV it is the fewest first columns in which no two rows are alike."""
    if not path.endswith(".csv"):
        import h5py

        try:
            with h5py.File(path, "r") as file:
                said = file.attrs.get("parameters", b"")
            words = str(said.decode() if isinstance(said, bytes) else said).split()
        except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
            raise TableError(f"{path}: not a table of a sweep, or damaged: {error}") from None
        if rows and not set(words) <= set(rows[0]):
            raise TableError(f"{path}: damaged: it has no columns for its parameters")
        return words
    names = [name for name in (rows[0] if rows else ()) if name not in RESERVED]
    for count in range(1, len(names)):
        if len({tuple(row[name] for name in names[:count]) for row in rows}) == len(rows):
            return names[:count]
    return names[:1]


def as_frame(names: Sequence[str], rows: Sequence[Row]) -> Any:
    """The table as a pandas frame."""
    import pandas  # type: ignore[import]

    return pandas.DataFrame(rows, columns=list(names)).set_index("case")
