"""From a study to its cases: each a value per varied name. The same study gives the same cases on any machine."""
from __future__ import annotations

import itertools
import math
import zlib
from typing import Callable

import numpy as np
import numpy.typing as npt

from .._errors import Fault, SceneError
from .expressions import Value
from .study import MAX_CASES, Levels, Range, Sample, Study, Variable

Case = dict[str, Value]
Array = npt.NDArray[np.float64]


def make_cases(study: Study) -> list[Case]:
    """All cases in their order. Raises SceneError where they are too many."""
    if study.design == "grid":
        return _grid(study)
    if study.design == "list":
        return _list(study)
    assert study.count is not None
    names = list(study.vary)
    uniforms = _UNIFORMS[study.design](study, names, study.count)
    columns = [_quantiles(study.vary[name], uniforms[:, i]) for i, name in enumerate(names)]
    return [dict(zip(names, row)) for row in zip(*columns)]


def _grid(study: Study) -> list[Case]:
    """Every level with every other; random variables are drawn anew for each, `count` times."""
    fixed = {name: _levels(v) for name, v in study.vary.items() if not isinstance(v, Sample)}
    repeat = (study.count or 1) if len(fixed) < len(study.vary) else 1
    total = repeat * math.prod(len(values) for values in fixed.values())
    if total > MAX_CASES:
        raise SceneError([study.fault("study.vary", f"{total} cases; the limit is {MAX_CASES}")])
    grid = [dict(zip(fixed, row)) for row in itertools.product(*fixed.values()) for _ in range(repeat)]
    drawn = {name: _quantiles(v, _stream(study, name).random(len(grid)))
             for name, v in study.vary.items() if isinstance(v, Sample)}
    return [{name: case[name] if name in case else drawn[name][i] for name in study.vary} for i, case in enumerate(grid)]


def _list(study: Study) -> list[Case]:
    columns = {name: _levels(v) for name, v in study.vary.items()}
    length = len(study.cases) or len(next(iter(columns.values())))
    rows = [{name: values[i] for name, values in columns.items()} for i in range(length)]
    return [{**(study.cases[i] if study.cases else {}), **row} for i, row in enumerate(rows)]


def _levels(variable: Variable) -> list[Value]:
    if isinstance(variable, Levels):
        return list(variable.values)
    if isinstance(variable, Sample):
        raise ValueError("a random variable has no levels")
    count = variable.count or 1
    if variable.log:
        values = np.geomspace(variable.low, variable.high, count)
    else:
        values = np.linspace(variable.low, variable.high, count)
    return [float(x) for x in values]


def _stream(study: Study, name: str) -> np.random.Generator:
    """A stream per name, so that another variable in the study leaves the values of this one as they were."""
    return np.random.Generator(np.random.PCG64([study.seed, zlib.crc32(name.encode())]))


def _random(study: Study, names: list[str], count: int) -> Array:
    return np.column_stack([_stream(study, name).random(count) for name in names])


def _latin(study: Study, names: list[str], count: int) -> Array:
    """One value in each of `count` equal slices, for each name; the slices in an order of its own."""
    columns = []
    for name in names:
        stream = _stream(study, name)
        columns.append((stream.permutation(count) + stream.random(count)) / count)
    return np.column_stack(columns)


def _sobol(study: Study, names: list[str], count: int) -> Array:
    try:
        from scipy.stats import qmc  # type: ignore[import]
    except ImportError:
        raise ImportError("design sobol needs SciPy: apt-get install python3-scipy") from None
    if len(names) > 1000:
        raise SceneError([Fault(study.path, 0, 0, "design sobol takes at most 1000 names")])
    points = qmc.Sobol(len(names), scramble=True, seed=study.seed).random_base2(max(count - 1, 1).bit_length())
    return np.asarray(points[:count], dtype=np.float64)


_UNIFORMS: dict[str, Callable[[Study, list[str], int], Array]] = {"random": _random, "latin": _latin, "sobol": _sobol}


def _quantiles(variable: Variable, uniform: Array) -> list[Value]:
    """Values of a variable from numbers in [0, 1)."""
    if isinstance(variable, Levels):
        return [variable.values[min(int(u * len(variable.values)), len(variable.values) - 1)] for u in uniform]
    if isinstance(variable, Range):
        if variable.log:
            return [float(x) for x in variable.low * (variable.high / variable.low) ** uniform]
        return [float(x) for x in variable.low + (variable.high - variable.low) * uniform]
    if variable.kind == "uniform":
        return [float(x) for x in variable.first + (variable.second - variable.first) * uniform]
    from statistics import NormalDist

    normal = NormalDist()
    scores = [variable.first + variable.second * normal.inv_cdf(min(max(float(u), 2.0**-54), 1 - 2.0**-53)) for u in uniform]
    return [math.exp(x) for x in scores] if variable.kind == "lognormal" else list(scores)
