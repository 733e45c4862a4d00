"""Motions as netCDF4 files: numbers at times and the forces between them, with the model as text. Nothing in a file is run when it is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.model.files.storage import StrPath
from articulus.motion.motion import SampledMotion
from articulus.motion.piecewise import Piecewise
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

FORMAT = "articulus motion 1"
ARRAYS = {
    "q": ("positions", "position"),
    "v": ("velocities", "velocity"),
    "vdot": ("accelerations after each time", "velocity"),
    "vdot_before": ("accelerations before each time", "velocity"),
}
"""Arrays of a motion: what they are, and the dimension of their columns."""


def save_motion(motion: SampledMotion, path: StrPath) -> None:
    """Write a motion as a netCDF4 file, whole or not at all."""
    require_suffix(path)
    data = xarray_module().Dataset(coords={"time": ("time", motion.t, {"units": "s", "long_name": "time"})})
    m = motion.mechanism
    data.coords["position"] = ("position", np.array(motion.names if m is None else m.q_names, dtype=object))
    data.coords["velocity"] = ("velocity", np.array(motion.names, dtype=object))
    for name, (meaning, columns) in ARRAYS.items():
        data[name] = (("time", columns), getattr(motion, name), {"long_name": meaning})
    if motion.pieces is not None:
        places = ("interval", "power", "velocity")
        data["breaks"] = ("break", motion.pieces.breaks, {"units": "s", "long_name": "breakpoints of forces"})
        data["forces"] = (
            places,
            motion.pieces.coefficients,
            {"long_name": "polynomials of the motors' forces"},
        )
    title = "Motion" if m is None else f"Motion of {m.name}"
    data.attrs |= {"format": FORMAT, "title": title, "actuators": json.dumps(list(motion.actuators))}
    if m is not None:
        data.attrs["model_toml"] = model_text(m)
        put_files(data, m)
    write_dataset(data, path)


def load_motion(path: StrPath, mechanism: Mechanism | None = None) -> SampledMotion:
    """Return the motion of a file written by `Motion.save`; nothing in the file is run.

    Parameters
    ----------
    path : path of the file
    mechanism : Mechanism
        Only for a motion whose mechanism could not be written as text (a joint or constraint of your own).
    """
    return parse_dataset(path, FORMAT, "Motion.save", lambda data: _motion(path, data, mechanism))


def _motion(path: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> SampledMotion:
    if mechanism is None and "model_toml" in data.attrs:
        mechanism = held_mechanism(path, data)
    arrays = {name: data[name].values for name in ARRAYS}
    forces = Piecewise(data["breaks"].values, data["forces"].values) if "forces" in data else None
    actuators = tuple(str(name) for name in json.loads(data.attrs["actuators"]))
    return SampledMotion(
        data["time"].values, **arrays, mechanism=mechanism, actuators=actuators, pieces=forces
    )
