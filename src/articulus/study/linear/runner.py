"""Linearization, reduction, design and inversion with their files: models, controllers, inputs and reports."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.control import Design
from articulus.control.reduction import ReducedModel
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.linear import LinearModel
from articulus.model.files.storage import StrPath, as_path, write_text
from articulus.motion.inversion import Inversion, invert
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import LinearController
from articulus.study.linear.methods import METHODS, REDUCERS
from articulus.study.linear.model_file import (
    OperatingModel,
    component_text,
    replace_model,
    write_linear_model,
)
from articulus.study.linear.source import PlantSource
from articulus.study.linear.tasks import DesignTask, InversionTask
from articulus.study.runner import make_folder

FORMATS = ("toml", "json")


@dataclass(frozen=True, eq=False)
class LinearOutcome:
    """What a command found, and the files that it wrote.

    Parameters
    ----------
    name, purpose : str
    plant : OperatingModel
    found : OperatingModel, ReducedModel, Design, Inversion or None
        None where a method failed without a result.
    files : tuple of Path
    notes : tuple of str
        Why the result is doubtful.
    failure : str
        Why there is no good result; "" if there is one.
    text : str
        Text of the file that asked for it.
    """

    name: str
    purpose: str
    plant: OperatingModel
    found: Any
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    failure: str = ""
    text: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a good result."""
        return not self.failure

    def figures(self) -> list[tuple[str, str]]:
        """Return what a terminal shows, in a few lines."""
        lines = (
            str(self.found).splitlines() if isinstance(self.found, Design | ReducedModel | Inversion) else []
        )
        model = self.plant.model
        kind = "continuous" if model.period is None else f"sampled every {model.period:g} s"
        plant = f"{len(model.A)} states, {len(model.inputs)} inputs, {len(model.outputs)} outputs, {kind}"
        slowest = [f"{p:.5g}" for p in model.poles[:6]]
        rows = [("plant", plant), ("slowest poles [rad/s]", ", ".join(slowest) or "none")]
        return rows + [("result" if k == 0 else "", line.strip()) for k, line in enumerate(lines)]


def run_linearization(
    source: PlantSource, folder: StrPath, *, name: str = "", format: str = "toml", report: bool = True
) -> LinearOutcome:
    """Write the linear model of a study or model, and a report with its modes; return the outcome."""
    _require_format(format)
    with _collect_warnings() as notes:
        plant = source.load()
    place, name = as_path(folder), name or source.name
    make_folder(place)
    file = place / f"{name}.linear.{format}"
    write_linear_model(plant, file)
    outcome = LinearOutcome(name, f"Linear model of {source.model}", plant, plant, (file,), notes())
    return _with_report(outcome, place, f"{name}.linear.html", report)


def run_reduction(
    source: PlantSource,
    folder: StrPath,
    *,
    order: int | None = None,
    max_error: float | None = None,
    method: str = "balred",
    match: str | None = None,
    name: str = "",
    format: str = "toml",
    report: bool = True,
) -> LinearOutcome:
    """Write a linear model with fewer states, and a report with the error; arguments as of `control.balred`.

    Parameters
    ----------
    source : PlantSource
    folder : path
    order : int
    max_error : float
    method : str
        "balred", "schmr", "bstmr" or "ohklmr".
    match : str
        "fast" or "rest", of "balred".
    name : str
        Beginning of the names of the files.
    format : str
        "toml" or "json".
    report : bool
    """
    _require_format(format)
    if method not in REDUCERS:
        raise InputError(f"reduce: found the method '{method}'; {did_you_mean(method, REDUCERS)}")
    if match is not None and method != "balred":
        raise InputError(f"reduce: found match '{match}' for {method}; expected it for balred alone")
    with _collect_warnings() as notes:
        plant = source.load()
        more = {} if match is None else {"match": match}
        found: ReducedModel = REDUCERS[method](plant.model, order, max_error=max_error, **more)
    place, name = as_path(folder), name or source.name
    make_folder(place)
    file = place / f"{name}.reduced.{format}"
    write_linear_model(replace_model(plant, found.model), file)
    outcome = LinearOutcome(name, f"{source.model} with {found.order} states", plant, found, (file,), notes())
    return _with_report(outcome, place, f"{name}.reduced.html", report)


def run_design(
    task: DesignTask, folder: StrPath, *, format: str = "toml", report: bool = True
) -> LinearOutcome:
    """Design a controller; write it as a component that a study takes by `file = ...`, and a report. A design whose closed loop fails is not written."""
    _require_format(format)
    place = as_path(folder)
    make_folder(place)
    file, failure = place / f"{task.name}.controller.{format}", ""
    found: Design | None = None
    with _collect_warnings() as notes:
        try:
            found = METHODS[task.method].function(task.model, **task.arguments)
        except NumericalError as error:
            found, failure = error.result if isinstance(error.result, Design) else None, str(error)
    if failure or found is None:
        file.unlink(missing_ok=True)  # that of an earlier design with this name
    else:
        controller = as_component(found, task.plant, task.name)
        write_text(
            file, component_text(controller, format, f"{task.method} of {task.plant.model.name or task.name}")
        )
    told = (*task.notes, *notes(), *_not_measurable(found, task.plant))
    files = () if failure else (file,)
    outcome = LinearOutcome(task.name, task.purpose, task.plant, found, files, told, failure, task.text)
    return _with_report(outcome, place, f"{task.name}.controller.html", report)


def run_inversion(
    task: InversionTask, folder: StrPath, *, format: str = "toml", report: bool = True
) -> LinearOutcome:
    """Compute the inputs for a path; write them as a table, as components that a study takes by `file = ...`, and a report."""
    _require_format(format)
    place = as_path(folder)
    make_folder(place)
    found, failure = None, ""
    files: list[Path] = []
    with _collect_warnings() as notes:
        try:
            found = invert(task.plant.model, task.path, **task.arguments)
        except NumericalError as error:
            failure = str(error)
    if found is not None:
        files += _write_inputs(found, task.plant, place, task.name, format)
    told = (*task.notes, *notes())
    outcome = LinearOutcome(
        task.name, task.purpose, task.plant, found, tuple(files), told, failure, task.text
    )
    return _with_report(outcome, place, f"{task.name}.inversion.html", report)


def as_component(design: Design, plant: OperatingModel, name: str) -> LinearController:
    """Return the controller of a design as a component that works about the operating point of its plant."""
    controller: LinearModel = design.controller
    point: dict[str, Any] = {
        "y0": tuple(plant.value(n) for n in controller.inputs),
        "u0": tuple(plant.value(n) for n in controller.outputs),
    }
    point = {key: values for key, values in point.items() if any(values)}
    if plant.q is not None and any(n.startswith("q.") for n in controller.inputs):
        point["q0"] = tuple(map(float, plant.q))
    dynamic = {k: _rows(getattr(controller, k)) for k in "ABC"} if len(controller.A) else {}
    return LinearController(
        **dynamic,
        D=_rows(controller.D),
        measured=controller.inputs,
        commands=controller.outputs,
        period=controller.period,
        name=name.replace(".", "_"),
        **point,
    )


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, np.asarray(matrix, dtype=float).tolist()))


def _not_measurable(design: Design | None, plant: OperatingModel) -> tuple[str, ...]:
    """Return a note where a controller needs states that no signal of a loop has."""
    if design is None:
        return ()
    known = {*plant.model.outputs}
    hidden = [n for n in design.controller.inputs if n not in known and not n.startswith(("q.", "v."))]
    if not hidden:
        return ()
    return (
        f"the controller measures {', '.join(hidden[:6])}{' ...' if len(hidden) > 6 else ''}: states of the linear model, not signals of a loop; "
        "estimate them by lqg",
    )


def _write_inputs(
    found: Inversion, plant: OperatingModel, place: Path, name: str, format: str
) -> Iterator[Path]:
    """Write the inputs, the operating point added, as a table and as components; give the files."""
    u0 = np.array([plant.value(n) for n in found.input_names])
    y0 = np.array([plant.value(n) for n in found.output_names])
    whole = dataclasses.replace(found, inputs=found.inputs + u0, outputs=found.outputs + y0)
    table = place / f"{name}.inputs.csv"
    whole.to_csv(table)
    yield table
    driven = [n for n in whole.input_names if n.partition(".")[0] in ("u", "tau")]
    if len(driven) < len(whole.input_names):
        return
    for each, component in zip(whole.input_names, whole.components()):
        named: Component = dataclasses.replace(component, name=f"{name}_{each}".replace(".", "_"))
        file = place / f"{name}.{each}.{format}"
        write_text(
            file,
            component_text(
                named, format, f"{each} over time; the motion begins at {found.t0 - found.t[0]:.6g} s"
            ),
        )
        yield file


def _require_format(format: str) -> None:
    if format not in FORMATS:
        raise InputError(f"format: found '{format}'; expected {' or '.join(FORMATS)}")


@contextmanager
def _collect_warnings() -> Iterator[Callable[[], tuple[str, ...]]]:
    """Collect the warnings of a block; the function that it gives returns their texts."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield lambda: tuple(dict.fromkeys(str(each.message) for each in told))


def _with_report(outcome: LinearOutcome, place: Path, filename: str, report: bool) -> LinearOutcome:
    if not report:
        return outcome
    from articulus.study.linear.report import linear_report

    file = place / filename
    write_text(file, linear_report(outcome))
    return dataclasses.replace(outcome, files=(*outcome.files, file))
