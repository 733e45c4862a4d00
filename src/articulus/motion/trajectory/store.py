"""Plans as netCDF4 files: the motion by names, and the task from which it was made, or the problem with its equations.

Nothing in a file is run when it is read: the equations of a task are written anew from the model, those of other problems are lists of
operations (`formulas`).
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.files.storage import StrPath
from articulus.motion.trajectory.costs import ALL_COSTS
from articulus.motion.trajectory.formulas import encode_function, read
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.keeping import Facing, InBox, OnLine
from articulus.motion.trajectory.obstacles import Apart, Ball, Clear, Crate, Hull, Rod
from articulus.motion.trajectory.plans import Plan
from articulus.motion.trajectory.problem import Phase, PhaseConstraint, PhaseLink, Problem
from articulus.motion.trajectory.riccati import SearchOutcome
from articulus.motion.trajectory.riccati_plan import FeedbackPlan, feedback_plan
from articulus.motion.trajectory.schemes import RiccatiSteps, scheme
from articulus.motion.trajectory.stages import Stages
from articulus.motion.trajectory.task import Task
from articulus.simulation.results.store import (
    held_mechanism,
    model_text,
    parse_dataset,
    put_files,
    require_suffix,
    write_dataset,
    xarray_module,
)
from articulus.simulation.solve.goals import FramePoint, FramePose

if TYPE_CHECKING:
    import xarray

FORMAT = "articulus plan 1"
_CLASSES: tuple[type, ...] = (
    *ALL_COSTS.values(),
    Apart,
    Ball,
    Clear,
    PhaseConstraint,
    Crate,
    Facing,
    FramePoint,
    FramePose,
    Hull,
    InBox,
    PhaseLink,
    OnLine,
    Phase,
    Rod,
)
KINDS: dict[str, type] = {c.__name__: c for c in _CLASSES}
"""What a file holds besides numbers and texts, by name."""


def save(plan: Plan, path: StrPath) -> None:
    """Write a plan as a netCDF4 file, whole or not at all."""
    require_suffix(path)
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
    if isinstance(plan, FeedbackPlan):
        _put(data, "outcome", plan.outcome)
    else:
        _put(data, "solution", plan.solution)
    data.attrs |= {
        "format": FORMAT,
        "title": f"Plan of {plan.task.mechanism.name if plan.task else plan.problem.phases[0].name}",
        "scheme": plan.scheme.name,
        "error": plan.error,
    }
    if plan.task is not None:
        _put_task(data, plan.task)
    else:
        data.attrs |= {name: json.dumps(_plain(getattr(plan.problem, name))) for name in ("phases", "links")}
    write_dataset(data, path)


def _put(data: xarray.Dataset, name: str, found: Solution | SearchOutcome) -> None:
    """Put in what a search found: arrays as variables, the rest as an attribute."""
    held = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    for field in [n for n, value in held.items() if isinstance(value, np.ndarray)]:
        array = held.pop(field)
        data[f"{name}_{field}"] = ([f"{name}_{field}_{k}" for k in range(array.ndim)], array)
    data.attrs[name] = json.dumps(held)


def _got(data: xarray.Dataset, name: str) -> dict[str, Any]:
    """Return what `_put` was given, by field."""
    arrays = {
        str(n).removeprefix(f"{name}_"): data[n].values
        for n in data.data_vars
        if str(n).startswith(f"{name}_")
    }
    return json.loads(data.attrs[name]) | arrays


def _put_task(data: xarray.Dataset, task: Task) -> None:
    fields = {f.name: getattr(task, f.name) for f in dataclasses.fields(Task) if f.name != "mechanism"}
    if not task.start_goals:
        fields["q0"] = task.first
    if not task.goals:
        fields["goal"] = task.last()
    data.attrs |= {"task": json.dumps(_plain(fields)), "model_toml": model_text(task.mechanism)}
    put_files(data, task.mechanism)


def load_plan(path: StrPath, mechanism: Mechanism | None = None) -> Plan:
    """Return the plan of a file written by `Plan.save`; nothing in the file is run.

    Parameters
    ----------
    path : path of the file
    mechanism : Mechanism
        Only for a plan whose mechanism could not be written as text (a joint or constraint of your own).
    """
    return parse_dataset(path, FORMAT, "Plan.save", lambda data: _plan(path, data, mechanism))


def _plan(path: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Plan:
    task, name = _task(path, data, mechanism) if "task" in data.attrs else None, data.attrs["scheme"]
    if task is not None:
        phases, links = [task.phase()], []
    else:
        phases, links = (_decode(json.loads(data.attrs[name])) for name in ("phases", "links"))
    problem, chosen = Problem(tuple(phases), tuple(links)), scheme(name)
    meshes = [data[f"mesh_{k}"].values for k in range(len(phases))]
    if isinstance(chosen, RiccatiSteps):
        mechanism = None if task is None else task.mechanism
        stages = Stages(phases[0], mechanism, len(meshes[0]) - 1, chosen.method)
        return feedback_plan(stages, chosen, SearchOutcome(**_got(data, "outcome")), task)
    program, layouts = chosen.transcribe(problem, meshes)
    solution, error = Solution(**_got(data, "solution")), float(data.attrs["error"])
    return Plan(problem, solution, program, tuple(layouts), chosen, tuple(meshes), task, error)


def _task(path: StrPath, data: xarray.Dataset, mechanism: Mechanism | None) -> Task:
    fields = _decode(json.loads(data.attrs["task"]))
    for name in ("actuators", "obstacles", "keep", "conditions", "cost"):
        fields[name] = tuple(fields[name])
    return Task(mechanism or held_mechanism(path, data), **fields)


def _plain(value: Any) -> Any:
    """Return numbers, texts, lists and dicts; objects of `KINDS` become dicts with their "kind"."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, ca.Function):
        return {"kind": "Function", **encode_function(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        if KINDS.get(kind) is not type(value):
            raise InputError(
                f"plan: found {value!r} in the task; expected parts of articulus, others cannot be written to a file"
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


def _decode(value: Any) -> Any:
    """Return what `_plain` was given; lists stay lists but for the fields of phases, constraints and shapes."""
    if isinstance(value, list):
        return [_decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    decoded = {key: _decode(entry) for key, entry in value.items() if key != "kind"}
    match value.get("kind"):
        case None:
            return decoded
        case "Function":
            if "text" in decoded:
                raise InputError(
                    "found equations as CasADi's own text, which earlier versions wrote and which can run programs when it is read; "
                    "expected a list of operations. Solve the problem again and save it"
                )
            return read(decoded)
        case "Phase":
            return _phase(decoded)
        case "PhaseConstraint":
            return PhaseConstraint(
                decoded["name"], decoded["function"], *(_array(decoded[side]) for side in ("lower", "upper"))
            )
        case "FramePose" | "FramePoint" as kind:
            return KINDS[kind](**decoded)
        case str(kind):
            return KINDS[kind](
                **{key: tuple(entry) if isinstance(entry, list) else entry for key, entry in decoded.items()}
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
