"""Inversions as netCDF4 files: inputs, outputs and states by names, what the method found, and the model as text. Nothing in a file is run when it is read."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, InputError, brief
from articulus.model.files.storage import StrPath
from articulus.motion.inversion.result import Inversion
from articulus.simulation.results.store import (
    DAMAGED,
    held_mechanism,
    model_text,
    put_files,
    read_dataset,
    require_suffix,
    write_dataset,
    xarray_module,
)

if TYPE_CHECKING:
    import xarray

FORMAT = "articulus inversion 1"
TEXTS = (
    "method",
    "input_names",
    "output_names",
    "input_units",
    "output_units",
    "start",
    "end",
    "state_names",
    "held",
)


def save_inversion(found: Inversion, path: StrPath) -> None:
    """Write an inversion as a netCDF4 file, whole or not at all; of its figures, numbers, texts and arrays of numbers."""
    require_suffix(path)
    data = xarray_module().Dataset(coords={"time": ("time", found.t, {"units": "s", "long_name": "time"})})
    data["inputs"] = (("time", "input"), found.inputs)
    data["outputs"] = (("time", "output"), found.outputs)
    if found.states is not None:
        data["states"] = (("time", "state"), found.states)
    plain: dict[str, Any] = {}
    for name, value in found.figures.items():
        if isinstance(value, str | bool | int | float | np.generic):
            plain[name] = value.item() if isinstance(value, np.generic) else value
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiubc":
            parts = (("real", value.real), ("imag", value.imag)) if np.iscomplexobj(value) else (("", value),)
            for part, numbers in parts:
                data[f"figure_{part}_{name}"] = (
                    [f"{name}_{k}" for k in range(value.ndim)],
                    np.asarray(numbers),
                )
    data.attrs |= {
        "format": FORMAT,
        "title": f"Inversion ({found.method})",
        "fields": json.dumps({name: getattr(found, name) for name in TEXTS}),
        "figures": json.dumps(plain),
        "checks": json.dumps([dataclasses.asdict(check) for check in found.checks]),
    }
    if found.mechanism is not None:
        data.attrs["model_toml"] = model_text(found.mechanism)
        put_files(data, found.mechanism)
    write_dataset(data, path)


def load_inversion(path: StrPath, mechanism: Mechanism | None = None) -> Inversion:
    """Return the inversion of a file written by `Inversion.save`; nothing in the file is run.

    Parameters
    ----------
    path : path of the file
    mechanism : Mechanism
        Only for an inversion whose mechanism could not be written as text (a joint or constraint of your own).
    """
    data = read_dataset(path, FORMAT, "Inversion.save")
    try:
        return _inversion(path, data, mechanism)
    except ArticulusError:
        raise
    except DAMAGED as error:
        raise InputError(
            f"{path}: found a damaged file ({brief(error)}); expected one of `Inversion.save`"
        ) from None


def _inversion(path: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Inversion:
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(data.attrs["fields"]).items()
        if name in TEXTS
    }
    if mechanism is None and "model_toml" in data.attrs:
        mechanism = held_mechanism(path, data)
    figures = json.loads(data.attrs["figures"])
    for variable in map(str, data.data_vars):
        kind, _, rest = variable.partition("_")
        if kind == "figure":
            part, _, name = rest.partition("_")
            value = data[variable].values
            figures[name] = figures.get(name, 0) + (1j * value if part == "imag" else value)
    return Inversion(
        t=data["time"].values,
        inputs=data["inputs"].values,
        outputs=data["outputs"].values,
        states=data["states"].values if "states" in data else None,
        figures=figures,
        checks=tuple(Check(**each) for each in json.loads(data.attrs["checks"])),
        mechanism=mechanism,
        **fields,  # type: ignore[arg-type]
    )
