"""Linear models in MAT files, with the names that MATLAB's `ss` has for their parts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError

MOST_ENTRIES = 1 << 26
"""Entries of a sparse matrix that is made a full one."""
TEXTS = {
    "StateName": "states", "InputName": "inputs", "OutputName": "outputs", "InputUnit": "input_units", "OutputUnit": "output_units",
}  # fmt: skip


def parts_of(model: Any) -> dict[str, Any]:
    """Return what a MAT file holds of a model: A, B, C, D, names and units as cells, Ts (0 for continuous time), Name."""
    held: dict[str, Any] = {key: getattr(model, key) for key in "ABCD"}
    held |= {
        key: np.array([*getattr(model, name)], dtype=object).reshape(-1, 1) for key, name in TEXTS.items()
    }
    return held | {"Ts": 0.0 if model.period is None else model.period, "Name": model.name, "t": model.t}


def fields_from(path: str | Path) -> dict[str, Any]:
    """Return the fields of a model from a MAT file of version 5; names that it has not are made up."""
    import scipy.io  # late: few read these

    try:
        held = scipy.io.loadmat(path, squeeze_me=False)
    except (
        ValueError,
        TypeError,
        NotImplementedError,
        LookupError,
        OSError,
        scipy.io.matlab.MatReadError,
    ) as reason:
        raise InputError(f"{path}: not a MAT file that can be read (version 7.3 is not): {reason}") from None
    missing = [key for key in "ABCD" if key not in held]
    if missing:
        raise InputError(
            f"{path}: no {', '.join(missing)}; expected a linear model, the matrices A, B, C and D"
        )
    matrices = {}
    for key in "ABCD":
        if hasattr(held[key], "toarray") and math.prod(held[key].shape) <= MOST_ENTRIES:  # a sparse matrix
            held[key] = held[key].toarray()
        if not isinstance(held[key], np.ndarray) or held[key].dtype.kind not in "fiu" or held[key].ndim != 2:
            raise InputError(f"{path}: {key} is no matrix of real numbers; expected one")
        if not np.isfinite(held[key]).all():
            raise InputError(
                f"{path}: {key} has entries that are not finite; expected a matrix of real numbers"
            )
        matrices[key] = np.array(held[key], dtype=float)
    nx, nu, ny = len(matrices["A"]), matrices["B"].shape[1], len(matrices["C"])
    wanted = {"A": (nx, nx), "B": (nx, nu), "C": (ny, nx), "D": (ny, nu)}
    for key, shape in wanted.items():
        if matrices[key].shape != shape:
            if matrices[key].size or 0 not in shape:
                raise InputError(f"{path}: {key} is {matrices[key].shape}; expected {shape}")
            matrices[key] = matrices[key].reshape(shape)
    counts = {"states": nx, "inputs": nu, "outputs": ny, "input_units": nu, "output_units": ny}
    out: dict[str, Any] = dict(matrices)
    for key, name in TEXTS.items():
        given = [_text(x) for x in np.ravel(held.get(key, []))]
        stand_in = (
            ["-"] * counts[name]
            if key.endswith("Unit")
            else [f"{name[0]}{k + 1}" for k in range(counts[name])]
        )
        out[name] = tuple(given if len(given) == counts[name] else stand_in)
    period = _number(path, held, "Ts", "a sampling period [s], or 0 for continuous time")
    if not (period >= 0 and math.isfinite(period)):
        raise InputError(
            f"{path}: Ts = {period:g}; expected a sampling period [s] above 0, or 0 for continuous time (-1 is a period that MATLAB does not know)"
        )
    out |= {
        "period": period or None,
        "t": _number(path, held, "t", "a time [s]"),
        "name": _text(held.get("Name", "")),
    }
    return out


def _number(path: str | Path, held: dict[str, Any], key: str, expected: str) -> float:
    """Return a number of the file, 0 if it is not there."""
    given = np.ravel(held.get(key, [0.0]))
    if given.size != 1 or given.dtype.kind not in "fiu":
        raise InputError(f"{path}: {key} is no number; expected {expected}")
    return float(given[0])


def _text(held: Any) -> str:
    """Return the text of a cell."""
    flat = np.ravel(held)
    return str(flat[0]) if flat.size else ""
