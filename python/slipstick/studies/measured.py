"""Measured data: tables of numbers with a line of names (CSV)."""
from __future__ import annotations

import csv
from typing import Sequence

import numpy as np
import numpy.typing as npt

from .._errors import Error, hint

Array = npt.NDArray[np.float64]


class DataError(Error, ValueError):
    """Measured data that cannot be read."""


def read_columns(path: str, wanted: Sequence[str], least: int) -> Array:
    """(rows, wanted) finite numbers, at least `least` rows; raises DataError with the file's name and what is wrong."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in lines[0]] if lines else []
    for name in wanted:
        if name not in names:
            raise DataError(f"{path}:1: has no column '{name}'" + hint(name, names))
    at = [names.index(name) for name in wanted]
    try:
        table = np.array([[float(line[i]) for i in at] for line in lines[1:]], dtype=np.float64)
    except (ValueError, IndexError) as error:
        raise DataError(f"{path}: not a table of {len(names)} numbers in each row: {error}") from None
    if len(table) < least or not np.isfinite(table).all():
        raise DataError(f"{path}: needs at least {least} rows of finite numbers")
    return table
