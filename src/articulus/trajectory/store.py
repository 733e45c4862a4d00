"""Plans as netCDF4 files: the motion by names, the problem with its equations, and the task from which it was made."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.api import Mechanism
from articulus.errors import ArticulusError, InputError, brief
from articulus.files import parse_toml
from articulus.files.storage import StrPath, as_path, write_bytes
from articulus.results.store import (
    ENGINE,
    SUFFIXES,
    checksum,
    files_of,
    model_text,
    put_files,
    xarray_module,
)
from articulus.solve.goals import FramePoint, FramePose
from articulus.trajectory.collocation import transcribe
from articulus.trajectory.ipopt import Solution
from articulus.trajectory.keeping import Facing, InBox, OnLine
from articulus.trajectory.obstacles import Ball, Clear, Crate, Hull, Rod
from articulus.trajectory.problem import Constraint, Link, Phase, Problem
from articulus.trajectory.schemes import scheme
from articulus.trajectory.task import Task

if TYPE_CHECKING:
    import xarray

    from articulus.trajectory.planning import Plan

FORMAT = "articulus plan 1"
KINDS: dict[str, type] = {
    c.__name__: c
    for c in (
        Ball,
        Clear,
        Constraint,
        Crate,
        Facing,
        FramePoint,
        FramePose,
        Hull,
        InBox,
        Link,
        OnLine,
        Phase,
        Rod,
    )
}
"""What a file holds besides numbers and texts, by name."""
REFUSED = ("riccati",)
"""Methods whose plans hold more than a mesh and the unknowns on it."""
_DAMAGED = (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, MemoryError)


def save(plan: Plan, path: StrPath) -> None:
    """Write a plan as a netCDF4 file, whole or not at all."""
    suffix = as_path(path).suffix
    if suffix.lower() not in SUFFIXES:
        found = f"the suffix '{suffix}'" if suffix else "no suffix"
        raise InputError(f"{path}: found {found}; expected one of {', '.join(SUFFIXES)}, for netCDF4")
    if plan.scheme.name.split()[0] in REFUSED:
        raise InputError(
            f"plan: found a plan by '{plan.scheme.name}'; expected one by collocation, shooting or finite elements in time, others have no form in a file yet. "
            "`to_csv` writes the motion of any plan"
        )
    data = xarray_module().Dataset()
    for k, (course, mesh) in enumerate(zip(plan.courses, plan.meshes)):
        data.coords[f"entry_{k}"] = (f"entry_{k}", np.array(course.phase.names, dtype=object))
        data[f"t_{k}"] = (
            f"point_{k}",
            course.t,
            {"units": "s", "long_name": f"time in '{course.phase.name}'"},
        )
        data[f"z_{k}"] = ((f"point_{k}", f"entry_{k}"), course.z, {"long_name": "unknowns at the points"})
        data[f"mesh_{k}"] = (f"mesh_end_{k}", mesh, {"long_name": "ends of the intervals, over the duration"})
    held = {f.name: getattr(plan.solution, f.name) for f in dataclasses.fields(Solution)}
    for name in [n for n, value in held.items() if isinstance(value, np.ndarray)]:
        data[f"solution_{name}"] = (f"{name}_row", held.pop(name))
    data.attrs |= {
        "format": FORMAT,
        "title": f"Plan of {plan.task.mechanism.name if plan.task else plan.problem.phases[0].name}",
        "solution": json.dumps(held),
        "scheme": plan.scheme.name,
        "error": plan.error,
        "phases": json.dumps(_plain(plan.problem.phases)),
        "links": json.dumps(_plain(plan.problem.links)),
    }
    if plan.task is not None:
        _put_task(data, plan.task)
    data.attrs["checksum"] = checksum(data)
    write_bytes(path, data.to_netcdf(engine=ENGINE))


def _put_task(data: xarray.Dataset, task: Task) -> None:
    fields = {f.name: getattr(task, f.name) for f in dataclasses.fields(Task) if f.name != "mechanism"}
    fields["start"] = task.first
    if not task.goals:
        fields["goal"] = task.last()
    data.attrs |= {"task": json.dumps(_plain(fields)), "model_toml": model_text(task.mechanism)}
    put_files(data, task.mechanism)


def load_plan(path: StrPath, mechanism: Mechanism | None = None) -> Plan:
    """Return the plan of a file written by `Plan.save`.

    Parameters
    ----------
    path : path of the file
    mechanism : Mechanism
        Only for a plan whose mechanism could not be written as text (a joint or constraint of your own).
    """
    place = as_path(path)
    if not place.is_file():
        raise InputError(f"{place}: no such file; expected a file that `Plan.save` wrote")
    try:
        data = xarray_module().load_dataset(place, engine=ENGINE)
    except _DAMAGED as error:
        raise InputError(
            f"{place}: found no readable netCDF4 file ({brief(error)}); expected one of `Plan.save`"
        ) from None
    if (found := data.attrs.get("format", "another netCDF4 file")) != FORMAT:
        raise InputError(f"{place}: found {brief(found)}; expected {FORMAT}")
    if data.attrs.pop("checksum", None) != checksum(data):
        raise InputError(
            f"{place}: found a file whose content does not give its checksum; it is damaged or was changed"
        )
    try:
        return _plan(place, data, mechanism)
    except ArticulusError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"{place}: found a damaged file ({brief(error)}); expected one of `Plan.save`"
        ) from None


def _plan(place: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Plan:
    from articulus.trajectory.planning import Plan

    phases, links = (_made(json.loads(data.attrs[name])) for name in ("phases", "links"))
    problem, chosen = Problem(tuple(phases), tuple(links)), scheme(data.attrs["scheme"])
    meshes = [data[f"mesh_{k}"].values for k in range(len(phases))]
    program, layouts = transcribe(problem, meshes, chosen)
    arrays = {
        f.name: data[f"solution_{f.name}"].values
        for f in dataclasses.fields(Solution)
        if f"solution_{f.name}" in data
    }
    solution = Solution(**json.loads(data.attrs["solution"]), **arrays)
    error = float(data.attrs["error"])
    task = _task(place, data, mechanism) if "task" in data.attrs else None
    return Plan(problem, solution, program, tuple(layouts), chosen, tuple(meshes), task, error)


def _task(place: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Task:
    text = data.attrs["model_toml"]
    if mechanism is None and not text:
        raise InputError(
            f"{place}: the mechanism could not be written as text (it has parts of your own); give it as the argument `mechanism`"
        )
    held = mechanism or Mechanism.from_description(parse_toml(text, attached=files_of(data).__getitem__))
    fields = _made(json.loads(data.attrs["task"]))
    for name in ("joints", "obstacles", "keep"):
        fields[name] = tuple(fields[name])
    return Task(held, **fields)


def _plain(value: Any) -> Any:
    """Return numbers, texts, lists and dicts; objects of `KINDS` become dicts with their "kind"."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, ca.Function):
        return {"kind": "Function", "text": value.serialize()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        if KINDS.get(kind) is not type(value):
            raise InputError(
                f"plan: found {value!r} in the task; expected parts of articulus, others have no form in a file"
            )
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name != "guess"}
        if isinstance(value, Phase):
            fields["rates"] = [[int(a), int(b)] for a, b in value.rates.items()]
        return {"kind": kind, **{name: _plain(held) for name, held in fields.items()}}
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _made(value: Any) -> Any:
    """Return what `_plain` was given; lists stay lists but for the fields of phases, constraints and shapes."""
    if isinstance(value, list):
        return [_made(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: _made(held) for key, held in value.items() if key != "kind"}
    match value.get("kind"):
        case None:
            return made
        case "Function":
            return ca.Function.deserialize(made["text"])
        case "Phase":
            return _phase(made)
        case "Constraint":
            return Constraint(
                made["name"], made["function"], *(_array(made[side]) for side in ("lower", "upper"))
            )
        case "FramePose" | "FramePoint" as kind:
            return KINDS[kind](**made)
        case str(kind):
            return KINDS[kind](
                **{key: tuple(held) if isinstance(held, list) else held for key, held in made.items()}
            )
    raise ValueError(f"no kind {value['kind']!r}")


def _phase(made: dict[str, Any]) -> Phase:
    for name in ("lower", "upper", "scale"):
        made[name] = _array(made[name])
    for name in ("start", "end"):
        made[name] = tuple(_array(side) for side in made[name])
    for name in ("names", "inputs", "duration", "path", "at_start", "at_end"):
        made[name] = tuple(made[name])
    return Phase(**made | {"rates": {int(a): int(b) for a, b in made["rates"]}})


def _array(numbers: list[float]) -> np.ndarray:
    return np.array(numbers, dtype=float)
