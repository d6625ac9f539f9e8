"""Python values as YAML: what a scene file says."""
from __future__ import annotations

import json
from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """Numbers, texts, lists and maps out of whatever NumPy or a person gives."""
    if isinstance(value, np.generic):
        return as_plain(value.item())
    if isinstance(value, np.ndarray):
        return as_plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    raise TypeError(f"a scene cannot hold a {type(value).__name__}: {value!r}")


def as_yaml(value: Any) -> str:
    """One line of YAML (JSON is YAML); numbers keep all their digits."""
    plain = as_plain(value)
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{as_key(k)}: {as_yaml(v)}" for k, v in plain.items()) + "}"
    if isinstance(plain, list):
        return "[" + ", ".join(as_yaml(item) for item in plain) + "]"
    if isinstance(plain, float):
        return repr(plain)  # nan and inf are faults that the reader of scenes explains
    return json.dumps(plain)


def as_key(key: str) -> str:
    return key if key.replace("_", "a").replace("-", "a").isalnum() else json.dumps(key)
