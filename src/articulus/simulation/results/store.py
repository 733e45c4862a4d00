"""Runs as xarray datasets and as netCDF4 files (`docs/results.md` lists the content of a file).

HDF5 ends the process when the disk is full, so a file is made in memory and then written by us. It ends with a seal, the SHA-256 of
its bytes: what is damaged never comes to HDF5.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, InputError, ModelError, UnsupportedOperation, brief
from articulus.model.files import parse_toml, toml_text
from articulus.model.files.seal import seal, why_broken
from articulus.model.files.storage import StrPath, as_path, write_bytes
from articulus.model.files.toml.writer import attached_files
from articulus.simulation.results.recipe import Recipe
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import Cause, Failure, FinalState, Occurrence, RunStatus, RunWarning

if TYPE_CHECKING:
    import xarray

T = TypeVar("T")

READ_BY = {
    "articulus run": "articulus.load_run",
    "articulus motion": "articulus.motion.store.load_motion",
    "articulus plan": "articulus.trajectory.load_plan",
    "articulus inversion": "articulus.inversion.load_inversion",
}
"""What reads files of each kind."""
FORMAT = "articulus run 3"
ENGINE = "h5netcdf"
SUFFIXES = (".nc", ".nc4", ".netcdf")
DAMAGED = (
    OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, ArithmeticError, MemoryError, RecursionError,
)  # fmt: skip
"""What HDF5, JSON and the like raise on damaged files."""


def dataset(run: Run) -> xarray.Dataset:
    """Return the signals and the status of a run as a Dataset with dimensions batch, time and one for each signal's entries."""
    xr = xarray_module()
    lead = () if run.batch is None else ("batch",)
    time = ("time", run.t, {"units": "s", "long_name": "time", "axis": "T"})
    data = xr.Dataset(coords={"time": time}, attrs=_origin(run))
    for signal in run.signals.values():
        _put_signal(data, signal, (*lead, "time"))
    codes = {"flag_values": [int(s) for s in RunStatus], "flag_meanings": " ".join(s.name for s in RunStatus)}
    data["status"] = (
        lead,
        np.asarray(run.status, dtype=np.int32),
        {"long_name": "how the run ended", **codes},
    )
    return data


def save(run: Run, path: StrPath) -> None:
    """Write a run as a netCDF4 file, whole or not at all."""
    require_suffix(path)
    data = dataset(run)
    data.attrs |= {
        "format": FORMAT,
        "model_toml": model_text(run.mechanism),
        "meta": _json(run.meta),
        "statistics": _json(run.statistics),
        "warnings": _json([dataclasses.asdict(d) for d in run.warnings]),
    }
    put_files(data, run.mechanism)
    _put_failures(data, run.failures)
    _put_events(data, run.events)
    if run.final is not None:
        dims = ("final_entry",) if run.final.x.ndim == 1 else ("batch", "final_entry")
        rest = {"step": run.final.step, "t": run.final.t, "rng": _json(run.final.rng)}
        data["final_x"] = (dims, run.final.x, {"long_name": "complete state at the end", **rest})
    _put_recipe(data, run.recipe)
    write_dataset(data, path)


def require_suffix(path: StrPath) -> None:
    """Refuse paths that do not end as netCDF4 files do."""
    suffix = as_path(path).suffix
    if suffix.lower() not in SUFFIXES:
        found = f"the suffix '{suffix}'" if suffix else "no suffix"
        raise InputError(f"{path}: found {found}; expected one of {', '.join(SUFFIXES)}, for netCDF4")


def write_dataset(data: xarray.Dataset, path: StrPath) -> None:
    """Write a sealed file, whole or not at all; `read_dataset` reads it."""
    write_bytes(path, seal(bytes(data.to_netcdf(engine=ENGINE))))


def load(path: StrPath, mechanism: Mechanism | None = None) -> Run:
    """Return the run of a file written by `save`."""
    return parse_dataset(path, FORMAT, "Run.save", lambda data: _run(path, data, mechanism))


def _run(path: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Run:
    signals = [_signal(data, name) for name in data.data_vars if "signal" in data[name].attrs]
    order = {name: k for k, name in enumerate(json.loads(data.attrs["signals"]))}
    status = data["status"].values
    return Run(
        mechanism=mechanism or held_mechanism(path, data),
        t=data["time"].values,
        signals={s.name: s for s in sorted(signals, key=lambda s: order[s.name])},
        status=status if status.ndim else RunStatus(int(status)),
        failures=tuple(_failures(data)),
        events=tuple(_events(data)),
        statistics=json.loads(data.attrs["statistics"]),
        meta=json.loads(data.attrs["meta"]),
        final=_final(data),
        warnings=tuple(RunWarning(**d) for d in json.loads(data.attrs.get("warnings", "[]"))),
        origin=_recipe(data),
    )


def held_mechanism(path: StrPath, data: xarray.Dataset) -> Mechanism:
    """Return the mechanism that a file holds; raise InputError if it could not be written."""
    if not (text := data.attrs["model_toml"]):
        raise InputError(
            f"{path}: the mechanism could not be written as text (it has parts of your own classes); pass it as the argument `mechanism`"
        )
    return Mechanism.from_description(parse_toml(text, attached=files_of(data).__getitem__))


def read_dataset(path: StrPath, written: str, by: str) -> xarray.Dataset:
    """Return what a file holds; raise InputError unless it is whole and of a format.

    Parameters
    ----------
    path : path of the file
    written : str
        Format in its attributes.
    by : str
        Which method writes such files.
    """
    place = as_path(path)
    try:
        broken = why_broken(place)
    except FileNotFoundError:
        raise InputError(f"{place}: no such file; expected a file that `{by}` wrote") from None
    except OSError as error:
        raise InputError(
            f"{place}: cannot be read ({error.strerror or error}); expected a file that `{by}` wrote"
        ) from None
    if broken:
        raise InputError(
            f"{place}: found {broken}; expected it as `{by}` wrote it. It is damaged, another program changed it, or an "
            "earlier version wrote it: make it again"
        )
    try:
        data = xarray_module().load_dataset(place, engine=ENGINE)
    except DAMAGED as error:
        raise InputError(
            f"{place}: found no readable netCDF4 file ({brief(error)}); expected one of `{by}`"
        ) from None
    written_as = data.attrs.get("format", "another netCDF4 file")
    if written_as != written:
        reader = READ_BY.get(str(written_as).rpartition(" ")[0], "")
        hint = f". `{reader}` reads it" if reader and not written.startswith(str(written_as)[:-1]) else ""
        raise InputError(f"{place}: found {brief(written_as)}; expected {written}{hint}")
    return data


def parse_dataset(path: StrPath, written: str, by: str, build: Callable[[xarray.Dataset], T]) -> T:
    """Return what `build` makes of a file (see `read_dataset`); raise InputError if the file is damaged."""
    data = read_dataset(path, written, by)
    try:
        return build(data)
    except ArticulusError:
        raise
    except DAMAGED as error:
        raise InputError(f"{path}: found a damaged file ({brief(error)}); expected one of `{by}`") from None


def xarray_module() -> Any:
    """Return xarray with all that it needs for netCDF4; raise UnsupportedOperation where something is missing."""
    try:
        import h5netcdf  # noqa: F401 (asked for before the work begins)
        import h5py  # noqa: F401
        import xarray
    except ImportError as error:
        raise UnsupportedOperation(
            f"datasets and netCDF4 files need the package '{error.name}'; pip install 'articulus[data]'"
        ) from None
    return xarray


# what goes in


def _origin(run: Run) -> dict[str, Any]:
    """Return the numbers and texts of `meta`, which any tool shows; `meta` itself is kept beside them."""
    plain = {key: value for key, value in run.meta.items() if type(value) in (str, float)}
    plain |= {key: str(value) for key, value in run.meta.items() if type(value) is int}
    title = {"title": f"Run of {run.mechanism.name}", "model": run.mechanism.name}
    return {**title, **plain, "signals": json.dumps(list(run.signals))}


def _put_signal(data: xarray.Dataset, signal: Signal, dims: tuple[str, ...]) -> None:
    variable = signal.name.replace("/", ":")
    entry = f"{variable}_entry"
    units = dict.fromkeys(signal.units)
    attributes = {"signal": signal.name, "long_name": signal.meaning, "units": ", ".join(units)}
    data.coords[entry] = (entry, np.array(signal.labels, dtype=object))
    if len(units) > 1:
        data.coords[f"{variable}_unit"] = (entry, np.array(signal.units, dtype=object))
    data[variable] = ((*dims, entry), signal.values, attributes)


def _put_failures(data: xarray.Dataset, failures: tuple[Failure, ...]) -> None:
    if not failures:
        return
    data["failure_run"] = ("failure", np.array([f.run for f in failures]))
    data["failure_time"] = ("failure", np.array([f.time for f in failures]), {"units": "s"})
    for name in ("code", "reason"):
        data[f"failure_{name}"] = (
            "failure",
            np.array([str(getattr(f, name)) for f in failures], dtype=object),
        )
    for name in ("q", "v", "x"):
        rows = np.array([getattr(f, name) for f in failures], dtype=np.float64)
        data[f"failure_{name}"] = (("failure", f"failure_{name}_entry"), rows)


def _put_events(data: xarray.Dataset, events: tuple[Occurrence, ...]) -> None:
    if not events:
        return
    data["event_time"] = ("event", np.array([e.time for e in events]), {"units": "s"})
    data["event_name"] = ("event", np.array([e.name for e in events], dtype=object))
    data["event_run"] = ("event", np.array([e.run for e in events]))
    data["event_stop"] = ("event", np.array([e.stop for e in events], dtype=np.int8))


def model_text(mechanism: Mechanism) -> str:
    """Return the mechanism as TOML; empty when text cannot hold all of it."""
    try:
        text = toml_text(mechanism.description)
        held = attached_files(mechanism.description)
        same = parse_toml(text, attached=held.__getitem__).fingerprint == mechanism.description.fingerprint
    except (InputError, ModelError):
        return ""
    return text if same else ""


def put_files(data: xarray.Dataset, mechanism: Mechanism) -> None:
    """Keep the files that the text of a mechanism with flexible bodies or meshes names, byte by byte."""
    for k, (filename, content) in enumerate(attached_files(mechanism.description).items()):
        held = np.frombuffer(content, dtype=np.uint8)
        data[f"model_file_{k}"] = (f"model_file_{k}_byte", held, {"filename": filename})


def _put_recipe(data: xarray.Dataset, recipe: Recipe | None) -> None:
    """Keep how the run was made: texts as attributes, arrays as variables unless they are empty."""
    if recipe is None:
        return
    texts = {"text": recipe.text, "refused": recipe.refused}
    data.attrs |= {"loop": _json(texts | {"settings": dict(recipe.settings), "params": dict(recipe.params)})}
    data["loop_states"] = (("loop_row", "time", "loop_state"), recipe.states)
    for name in ("q0", "v0", "p"):
        held = getattr(recipe, name)
        if held is not None and held.size:
            dims = tuple(f"loop_{name}_{k}" for k in range(held.ndim))
            data[f"loop_{name}"] = (dims, held)


def _json(value: Any) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


# what comes out


def files_of(data: xarray.Dataset) -> dict[str, bytes]:
    return {v.attrs["filename"]: v.values.tobytes() for v in data.data_vars.values() if "filename" in v.attrs}


def _signal(data: xarray.Dataset, variable: Any) -> Signal:
    held = data[variable]
    labels = tuple(map(str, data[f"{variable}_entry"].values))
    unit: str | tuple[str, ...] = held.attrs["units"]
    if f"{variable}_unit" in data.coords:
        unit = tuple(map(str, data[f"{variable}_unit"].values))
    return Signal(held.attrs["signal"], held.values, labels, unit, held.attrs["long_name"])


def _failures(data: xarray.Dataset) -> list[Failure]:
    columns = _columns(data, "failure", ("run", "time", "code", "reason", "q", "v", "x"))
    return [
        Failure(int(run), float(time), Cause(code), str(reason), q, v, x)
        for run, time, code, reason, q, v, x in columns
    ]


def _events(data: xarray.Dataset) -> list[Occurrence]:
    columns = _columns(data, "event", ("time", "name", "run", "stop"))
    return [Occurrence(float(time), str(name), int(run), bool(stop)) for time, name, run, stop in columns]


def _columns(data: xarray.Dataset, kind: str, names: tuple[str, ...]) -> Any:
    if kind not in data.sizes:
        return ()
    return zip(*(data[f"{kind}_{name}"].values for name in names))


def _recipe(data: xarray.Dataset) -> Recipe | None:
    if "loop" not in data.attrs:
        return None
    held, states = json.loads(data.attrs["loop"]), data["loop_states"].values
    arrays = {name: data[f"loop_{name}"].values for name in ("q0", "v0", "p") if f"loop_{name}" in data}
    p = arrays.pop("p", np.zeros((len(states), 0)))
    return Recipe(**held, q0=arrays.get("q0"), v0=arrays.get("v0"), p=p, states=states)


def _final(data: xarray.Dataset) -> FinalState | None:
    if "final_x" not in data:
        return None
    held = data["final_x"]
    return FinalState(
        int(held.attrs["step"]), float(held.attrs["t"]), held.values, json.loads(held.attrs["rng"])
    )
