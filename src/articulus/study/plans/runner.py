"""Solving a task of a file: plan, forces, proof by simulation, report."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import NumericalError
from articulus.model.files.storage import StrPath, as_path, write_text
from articulus.motion.trajectory import Plan, plan
from articulus.motion.trajectory.residual import Residual
from articulus.simulation.results.store import xarray_module
from articulus.study.plans.reader import PlanTask
from articulus.study.runner import make_folder

if TYPE_CHECKING:
    from articulus.simulation.results import Run


@dataclass(frozen=True)
class Kept:
    """How a simulation keeps a constraint that holds all the way.

    Parameters
    ----------
    name : str
    lower, upper : float
    least, largest : float
        Over the simulation.
    """

    name: str
    lower: float
    upper: float
    least: float
    largest: float

    @property
    def off(self) -> float:
        """By how much it is not kept; 0 if it is."""
        return max(self.lower - self.least, self.largest - self.upper, 0.0)


@dataclass(frozen=True, eq=False)
class PlanOutcome:
    """What became of a task.

    Parameters
    ----------
    task : PlanTask
    plan : Plan
    run : Run or None
        Simulation with the planned forces alone; None where the search did not converge.
    kept : tuple of Kept
        Constraints of the whole way in the simulation.
    residual : Residual or None
        Vibration of the last frame of a flexible mechanism after the end.
    notes : tuple of str
        Warnings.
    """

    task: PlanTask
    plan: Plan
    run: Run | None = None
    kept: tuple[Kept, ...] = ()
    residual: Residual | None = None
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a motion was found and simulated to its end."""
        return self.plan.converged and self.run is not None and not self.run.failed.size


@dataclass(frozen=True)
class PlanFiles:
    """Where a task writes: plan, forces, report."""

    plan: Path
    forces: Path
    report: Path

    @staticmethod
    def of(task: PlanTask, folder: StrPath) -> PlanFiles:
        """Return the files of a task in a folder."""
        place = as_path(folder)
        return PlanFiles(*(place / f"{task.name}.{end}" for end in ("nc", "forces.csv", "html")))


def run_task(task: PlanTask, folder: StrPath, *, report: bool = True) -> PlanOutcome:
    """Solve a task; write the plan, the forces if there is a motion, and, unless that is not wanted, the report."""
    xarray_module()
    files = PlanFiles.of(task, folder)
    make_folder(files.plan.parent)
    outcome = solve_task(task)
    outcome.plan.save(files.plan)
    if outcome.plan.converged:
        write_text(files.forces, forces_csv(outcome.plan))
    else:
        files.forces.unlink(missing_ok=True)  # those of an earlier plan with this name
    if report:
        from articulus.study.plans.report import plan_report

        write_text(files.report, plan_report(outcome))
    return outcome


def solve_task(task: PlanTask) -> PlanOutcome:
    """Return the plan of a task and what a simulation makes of it; write nothing."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = plan(task.mechanism, **task.arguments)
        if not found.converged:
            return PlanOutcome(task, found, notes=_notes(told))
        try:
            run = found.run(track=False)
        except NumericalError as error:
            return PlanOutcome(task, found, notes=(*_notes(told), f"the simulation failed: {error}"))
        assert found.task is not None
        residual = None
        if found.task.modes[0].size and not task.mechanism.constraint_names:
            residual = found.residual_vibration(str(run.meta["settings"]["trail"]))
        return PlanOutcome(task, found, run, constraint_errors(found, run), residual, _notes(told))


def _notes(told: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(each.message) for each in told))


def constraint_errors(found: Plan, run: Run) -> tuple[Kept, ...]:
    """Return how a simulation keeps the constraints of the whole way."""
    assert found.task is not None
    made, c = [], found.task.columns
    z = np.zeros((len(run.t), c.size))
    z[:, c.q], z[:, c.v] = run.q, run.v
    for each in found.problem.phases[0].path:
        values = np.array(each.function.map(len(z))(z.T))
        m = each.function.numel_out(0)
        rows = values.reshape(m, -1, order="F") if values.shape[0] != m else values
        worst = int(np.maximum(each.lower[:, None] - rows, rows - each.upper[:, None]).max(1).argmax())
        least, largest = float(rows[worst].min()), float(rows[worst].max())
        made.append(Kept(each.name, float(each.lower[worst]), float(each.upper[worst]), least, largest))
    return tuple(made)


def forces_csv(found: Plan) -> str:
    """Return times and motor forces as a table with names and units in its first line."""
    from articulus.study.initial import coordinate_units

    m, text = found.mechanism, io.StringIO()
    units = coordinate_units(m.description, "v")
    assert found.task is not None
    names = [f"{m.v_names[k]} [{'N' if units[k] == 'm/s' else 'N m'}]" for k in found.task.motors]
    header = ",".join(["t [s]", *names])
    table = np.column_stack([found.t, found.u])
    np.savetxt(text, table, delimiter=",", header=header, comments="", fmt="%.17g")
    return text.getvalue()
