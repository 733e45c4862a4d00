"""Runs as tables of other programs: polars, Parquet, MAT files; and Parquet files as columns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bridges.extra import require
from articulus.errors import InputError
from articulus.model.files.storage import StrPath, replacing
from articulus.simulation.results.run import Run

UNITS = "articulus.units"
"""Key of the units, as JSON, in the metadata of a Parquet file."""
MOST_COLUMNS = 100_000
MOST_NUMBERS = 1 << 28
"""Numbers of a Parquet file, 2 GiB in memory: a small file may hold any number of equal ones."""
LONGEST = 63
"""Characters of a name in MATLAB."""


def to_polars(run: Run) -> Any:
    """Return all signals as a polars DataFrame: a row for each sample, a column for each entry such as "q.lift" (extra `polars`).

    The first columns are `run` (of a batch, from 0) and the time `t` [s].
    """
    polars = require("polars", "to_polars", "polars")
    return polars.DataFrame(_columns(run)[0])


def save_parquet(run: Run, path: StrPath) -> None:
    """Write all signals as a Parquet file (extra `polars`), whole or not at all; units are in its metadata."""
    polars = require("polars", "save", "polars")
    columns, units = _columns(run)
    with replacing(path) as place:
        polars.DataFrame(columns).write_parquet(place, metadata={UNITS: json.dumps(units)})


def read_parquet(place: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the columns of numbers of a Parquet file (extra `polars`) and the units that it tells."""
    polars = require("polars", "read_record", "polars")
    try:
        lazy = polars.scan_parquet(place, glob=False)  # a file, whatever its name
        schema = lazy.collect_schema()
        if len(schema) > MOST_COLUMNS:
            raise InputError(f"{place}: {len(schema)} columns; expected at most {MOST_COLUMNS}")
        rows = lazy.select(polars.len()).collect().item()
        if rows * len(schema) > MOST_NUMBERS:
            raise InputError(
                f"{place}: {len(schema)} columns of {rows} rows; expected at most {MOST_NUMBERS:g} numbers"
            )
        frame = lazy.collect()
        told = polars.read_parquet_metadata(place).get(UNITS, "{}")
    except (polars.exceptions.PolarsError, OSError) as reason:
        raise InputError(f"{place}: not a Parquet file that can be read: {reason}") from None
    try:
        units = {str(k): str(u) for k, u in json.loads(told).items()}
    except (ValueError, AttributeError):
        units = {}
    columns = {}
    for name in frame.columns:
        series = frame[name]
        if series.dtype.is_temporal():
            if series.dtype == polars.Date:
                series = series.cast(polars.Datetime)
            if series.dtype == polars.Time:  # nanoseconds from midnight
                times = series.cast(polars.Int64).cast(polars.Float64) / 1e9
            else:
                unit = {"ms": 1e3, "us": 1e6, "ns": 1e9}[series.dtype.time_unit]
                times = series.cast(polars.Int64).cast(polars.Float64) / unit
            columns[name] = times.fill_null(float("nan")).to_numpy()
            units.setdefault(name, "s")
        elif series.dtype.is_numeric():
            columns[name] = series.cast(polars.Float64).fill_null(float("nan")).to_numpy()
    if "run" in columns and len(np.unique(columns["run"])) > 1:
        raise InputError(
            f"{place}: a batch of {len(np.unique(columns['run']))} runs; expected one run, such as run.single(0)"
        )
    columns.pop("run", None)
    return columns, {n: u for n, u in units.items() if n in columns}


def save_mat(run: Run, path: StrPath) -> None:
    """Write all signals as a MAT file of version 5, whole or not at all.

    `t` is a column; each signal is an array of a row for each sample (of a batch: run, sample, entry), `<signal>_names` and `<signal>_units`
    are cells. Characters that MATLAB has no names of become "_".
    """
    import scipy.io  # late: few write these

    held: dict[str, Any] = {"t": run.t[:, None], "mechanism": run.mechanism.name}
    for name, signal in run.signals.items():
        key = matlab_name(name, held)
        held[key] = signal.values
        held[f"{key}_names"] = np.array([*signal.columns], dtype=object)[:, None]
        held[f"{key}_units"] = np.array([*signal.units], dtype=object)[:, None]
    with replacing(path) as place, place.open("wb") as file:
        scipy.io.savemat(file, held, do_compression=True)


def matlab_name(name: str, taken: Any = ()) -> str:
    """Return a name that MATLAB takes and that is not there yet, short enough for "_names" behind it."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = (plain if plain[:1].isalpha() else f"x{plain}")[: LONGEST - 8]
    while plain in taken:
        plain += "_"
    return plain


def _columns(run: Run) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return columns of a table over run and time, and their units."""
    runs = run.batch or 1
    columns: dict[str, np.ndarray] = (
        {} if run.batch is None else {"run": np.repeat(np.arange(runs), run.t.size)}
    )
    columns["t"] = np.tile(run.t, runs)
    units = {"t": "s"}
    for signal in run.signals.values():
        values = signal.values.reshape(runs * run.t.size, -1)
        for k, (name, unit) in enumerate(zip(signal.columns, signal.units)):
            columns[name], units[name] = np.ascontiguousarray(values[:, k]), unit
    return columns, units
