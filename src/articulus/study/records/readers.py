"""Files of measured runs: one function for each ending, and the list of them."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.late import late_function
from articulus.study.records.record import Record, in_si

TIMES = ("t", "time", "timestamp", "zeit", "Time", "TIME", "T")
"""Names under which times are looked for, in this order."""
BAG = "metadata.yaml"
"""File that makes a folder a bag of ROS 2."""
MOST_BYTES = 1 << 31
"""Size of a file of text above which it is not read."""
MOST_NUMBERS = 1 << 28
"""Numbers of a binary file, 2 GiB in memory: a small file may hold any number of equal ones."""
_HEAD = re.compile(r"\s*(.*?)\s*(?:[\[(]\s*([^\])]*?)\s*[\])])?\s*")

Columns = tuple[dict[str, np.ndarray], dict[str, str]]
"""Columns as they stand in a file, and their units."""


def read_record(
    path: str | Path, *, time: str | None = None, units: Mapping[str, str] | None = None, name: str = ""
) -> Record:
    """Return a measured run from a file: .csv, .tsv, .txt, .nc, .mat, .mcap, .parquet, .bag or .db3, or from the folder of a ROS 2 bag.

    Nothing in it is executed.

    Parameters
    ----------
    path : path
    time : str
        Column of the times; "t", "time" or "timestamp" if not given.
    units : dict of column to str
        Units that the file does not tell, or tells wrongly: {"lift": "deg"}. All numbers become SI.
    name : str
        Name of the record; that of the file if not given.

    Raises
    ------
    InputError
        With the line of a file of text.
    """
    place = Path(path)
    bag = place.is_dir() and (place / BAG).is_file()
    if not place.is_file() and not bag:
        raise InputError(
            f"{place}: no such file; expected a record with one of the endings {', '.join(READERS)}"
        )
    read = read_bag if bag else READERS.get(place.suffix.lower())
    if read is None:
        raise InputError(f"{place}: no reader for '{place.suffix}'; expected one of {', '.join(READERS)}")
    columns, found = read(place)
    given = dict(units or {})
    for column in given:
        if column not in columns:
            raise InputError(f"{place}: no column '{column}'; {did_you_mean(column, columns)}")
    clock = _clock(columns, time, place)
    converted = {n: in_si(n, x, given.get(n, found.get(n, "-")), str(place)) for n, x in columns.items()}
    t = converted.pop(clock)[0]
    return Record(
        name or place.stem,
        t,
        {n: x for n, (x, _) in converted.items()},
        {n: u for n, (_, u) in converted.items()},
        str(place.name),
    )


def _clock(columns: Mapping[str, np.ndarray], asked: str | None, place: Path) -> str:
    """Return the name of the column of the times."""
    if asked is not None:
        if asked not in columns:
            raise InputError(f"{place}: no column '{asked}' for the times; {did_you_mean(asked, columns)}")
        return asked
    for name in TIMES:
        if name in columns:
            return name
    raise InputError(
        f"{place}: no column of times among {', '.join(columns)}; expected one called {TIMES[0]} or {TIMES[1]}, or its name in time="
    )


def read_csv(place: Path) -> Columns:
    """Return the columns of a table of text with one line of names, "q.lift [deg]"; empty cells are missing samples."""
    if place.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{place}: more than {MOST_BYTES >> 30} GiB; expected a record in a binary file, such as netCDF"
        )
    with place.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
        separator = max(",;\t", key=first.count)
        heads = [_HEAD.fullmatch(h) for h in next(csv.reader([first], delimiter=separator), [])]
        names = [m.group(1) if m else "" for m in heads]
        if len(names) < 2 or not all(names):
            raise InputError(
                f"{place}:1: found {first.strip()[:60]!r}; expected names of at least two columns, such as t [s], q.lift [rad]"
            )
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise InputError(f"{place}:1: column '{twice}' stands there twice; expected different names")
        rows = []
        for line, cells in enumerate(csv.reader(file, delimiter=separator), 2):
            if not any(c.strip() for c in cells):
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{place}:{line}: found {len(cells)} cells; expected {len(names)}, as in the first line"
                )
            rows.append([_cell(c, separator, place, line) for c in cells])
    if not rows:
        raise InputError(f"{place}: no line of numbers below the names")
    units = {n: (m.group(2) if m else "") or "-" for n, m in zip(names, heads)}
    return dict(zip(names, np.array(rows, dtype=float).T)), units


def _cell(text: str, separator: str, place: Path, line: int) -> float:
    """Return the number of a cell; NaN of an empty one."""
    word = text.strip()
    if word.lower() in ("", "nan", "na", "null"):
        return np.nan
    try:
        return float(word.replace(",", ".") if separator == ";" else word)
    except ValueError:
        raise InputError(
            f"{place}:{line}: found {word[:40]!r}; expected a number, or nothing where a sample is missing"
        ) from None


def read_netcdf(place: Path) -> Columns:
    """Return the variables over time of a netCDF file, as xarray and `Run.save` write them; (time, n) gives n columns."""
    try:
        import xarray  # late: an extra
    except ImportError:
        raise InputError(
            f"{place.name}: netCDF files need the extra `data`: pip install 'articulus[data]'"
        ) from None
    try:
        with xarray.open_dataset(place, create_default_indexes=False) as data:
            _require_bounded(place, sum(v.size for v in data.variables.values()))
            return _variables(data, place)
    except InputError:
        raise
    except (OSError, ValueError) as reason:
        raise InputError(f"{place}: not a netCDF file that can be read: {reason}") from None


def _variables(data: Any, place: Path) -> Columns:
    dimension = next((n for n in TIMES if n in data.dims), None)
    if dimension is None:
        raise InputError(f"{place}: no dimension of time among {', '.join(map(str, data.dims))}")
    size = data.sizes[dimension]
    times = np.asarray(data[dimension].values) if dimension in data.coords else np.arange(size, dtype=float)
    columns, units = (
        {dimension: times.astype(float)},
        {dimension: str(data[dimension].attrs.get("units", "-")) if dimension in data.coords else "-"},
    )
    for name, variable in data.data_vars.items():
        if variable.dims[:1] != (dimension,) or variable.ndim > 2 or variable.dtype.kind not in "fiu":
            continue
        values = np.asarray(variable.values, dtype=float).reshape(size, -1)
        other = variable.dims[1] if variable.ndim == 2 else None
        labels = (
            [str(x) for x in data[other].values]
            if other in data.coords
            else list(map(str, range(values.shape[1])))
        )
        for k, label in enumerate(labels):
            full = str(name) if other is None else f"{name}.{label}"
            columns[full], units[full] = values[:, k], str(variable.attrs.get("units", "-"))
    return columns, units


def read_mat(place: Path) -> Columns:
    """Return the numeric vectors of a MAT file of version 5 or 7.3 that are as long as the times; (n, k) gives k columns."""
    with place.open("rb") as file:
        modern = file.read(128)[:10] == b"MATLAB 7.3"
    try:
        found = _hdf5(place) if modern else _mat5(place)
    except InputError:
        raise
    except (ValueError, OSError, NotImplementedError, TypeError, LookupError) as reason:
        raise InputError(f"{place}: not a MAT file that can be read: {reason}") from None
    clock = next((n for n in TIMES if n in found), None)
    length = found[clock].size if clock else max((x.size for x in found.values()), default=0)
    names = {} if modern else _mat5_names(place)
    columns, units = {}, {}
    for name, x in found.items():
        rows = x if x.shape[0] == length else x.T
        if rows.shape[0] != length:
            continue
        for k in range(rows.shape[1]):
            column = name if rows.shape[1] == 1 else f"{name}.{k}"
            if len(names.get(f"{name}_names", ())) == rows.shape[1]:
                column = names[f"{name}_names"][k]
            columns[column] = np.array(rows[:, k], dtype=float)
            if len(names.get(f"{name}_units", ())) == rows.shape[1]:
                units[column] = names[f"{name}_units"][k] or "-"
    return columns, units


def _mat5(place: Path) -> dict[str, np.ndarray]:
    import scipy.io  # late: few read these

    try:
        _require_bounded(place, sum(math.prod(shape) for _, shape, _ in scipy.io.whosmat(place)))
        read = scipy.io.loadmat(place, squeeze_me=False)
    except scipy.io.matlab.MatReadError as reason:
        raise ValueError(str(reason)) from None
    return {
        n: x for n, x in read.items() if isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind in "fiu"
    }


def _require_bounded(place: Path, count: int) -> None:
    """Refuse a file of too many numbers before any is read."""
    if count > MOST_NUMBERS:
        raise InputError(f"{place}: {count} numbers; expected at most {MOST_NUMBERS}")


def _mat5_names(place: Path) -> dict[str, list[str]]:
    """Return the cells of texts that `Run.save` writes beside signals."""
    import scipy.io  # late: few read these

    read = scipy.io.loadmat(place, squeeze_me=False)
    cells = {n: np.ravel(x) for n, x in read.items() if isinstance(x, np.ndarray) and x.dtype == object}
    return {n: [str(np.ravel(c)[0]) if np.size(c) else "" for c in held] for n, held in cells.items()}


def _hdf5(place: Path) -> dict[str, np.ndarray]:
    try:
        import h5py  # late: an extra
    except ImportError:
        raise InputError(
            f"{place.name}: MAT files of version 7.3 need the extra `data`: pip install 'articulus[data]'"
        ) from None
    with h5py.File(place, "r") as file:
        _require_bounded(place, sum(x.size or 0 for x in file.values() if isinstance(x, h5py.Dataset)))
        plain = {
            n: np.asarray(x) for n, x in file.items() if isinstance(x, h5py.Dataset) and x.dtype.kind in "fiu"
        }
    return {n: np.atleast_2d(x) for n, x in plain.items() if np.ndim(x) <= 2}


def read_mcap(place: Path) -> Columns:
    """Return the numbers of the JSON messages of an MCAP log (extra `mcap`)."""
    return cast(Columns, late_function("read_mcap")(place))


def read_parquet(place: Path) -> Columns:
    """Return the columns of numbers of a Parquet file (extra `polars`)."""
    return cast(Columns, late_function("read_parquet")(place))


def read_bag(place: Path) -> Columns:
    """Return the numbers of the messages of a bag of ROS 1 or ROS 2 (extra `rosbags`)."""
    return cast(Columns, late_function("read_bag")(place))


READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_csv,
    ".nc": read_netcdf,
    ".mat": read_mat,
    ".mcap": read_mcap,
    ".parquet": read_parquet,
    ".bag": read_bag,
    ".db3": read_bag,
}
"""What reads the files of an ending; a new kind of file is a function and a line here."""
