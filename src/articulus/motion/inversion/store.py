"""Inversions as netCDF4 files: inputs, outputs and states by names, what the method found, and the model as text. Nothing in a file is run when it is read."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.model.files.storage import StrPath
from articulus.motion.inversion.result import Inversion
from articulus.simulation.results.store import (
    held_mechanism,
    model_text,
    parse_dataset,
    put_files,
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
    "t0",
    "t_end",
    "state_names",
    "zero_order_hold",
)


def save_inversion(inversion: Inversion, path: StrPath) -> None:
    """Write an inversion as a netCDF4 file, whole or not at all; of its figures, numbers, texts and arrays of numbers."""
    require_suffix(path)
    data = xarray_module().Dataset(
        coords={"time": ("time", inversion.t, {"units": "s", "long_name": "time"})}
    )
    data["inputs"] = (("time", "input"), inversion.inputs)
    data["outputs"] = (("time", "output"), inversion.outputs)
    if inversion.states is not None:
        data["states"] = (("time", "state"), inversion.states)
    plain: dict[str, Any] = {}
    for name, value in inversion.figures.items():
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
        "title": f"Inversion ({inversion.method})",
        "fields": json.dumps({name: getattr(inversion, name) for name in TEXTS}),
        "figures": json.dumps(plain),
        "checks": json.dumps([dataclasses.asdict(check) for check in inversion.checks]),
    }
    if inversion.mechanism is not None:
        data.attrs["model_toml"] = model_text(inversion.mechanism)
        put_files(data, inversion.mechanism)
    write_dataset(data, path)


def load_inversion(path: StrPath, mechanism: Mechanism | None = None) -> Inversion:
    """Return the inversion of a file written by `Inversion.save`; nothing in the file is run.

    Parameters
    ----------
    path : path of the file
    mechanism : Mechanism
        Only for an inversion whose mechanism could not be written as text (a joint or constraint of your own).
    """
    return parse_dataset(path, FORMAT, "Inversion.save", lambda data: _inversion(path, data, mechanism))


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
