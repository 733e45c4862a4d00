"""Row of a beam of large deflection that is a link; `python -m articulus.bench.beam_link ELEMENTS SECONDS STEPS` is Exudyn's part.

Exudyn writes to standard output and, with some settings, ends the process; both stay in the child.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import casadi as ca
import numpy as np

import articulus as art
from articulus.bench.beside_exudyn import beside_exudyn, too_far
from articulus.bench.child import one_core_json
from articulus.bench.flexible_beams import CABLE, assemble_with_sensor, cables, driven_cable, settings
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, notes
from articulus.bench.timing import Contender, race
from articulus.cases.simo_spin_up.case import LENGTH, across, angle
from articulus.model.mechanism import Prescribed
from articulus.model.mechanism.constraint import TimeFunction
from articulus.simulation.exact_beams import Beam
from articulus.simulation.loop.components import BeamForces

GRAVITY = 9.81
SAMPLE = 0.1
"""[s]."""


@dataclass(frozen=True)
class BeamTask:
    """A motion of the beam on its hinge, and the steps with which both programs are timed.

    Parameters
    ----------
    name : str
    driven : bool
        Whether the hinge follows the spin-up of Simo & Vu-Quoc; else the beam falls from level.
    seconds : float [s]
    allowed : float [m]
        Largest error of the tip at any sampled time.
    ours, theirs : float [s]
        Steps.
    bar : FigureLimit or None
    """

    name: str
    driven: bool
    seconds: float
    allowed: float
    ours: float
    theirs: float
    bar: FigureLimit | None


TASKS = (
    BeamTask("driven", True, 20.0, 1e-4, 0.01, 0.0025, FigureLimit(5)),
    BeamTask("falling", False, 5.0, 1e-2, 0.01, 0.01, None),
)
"""Driven smoothly, we reach in four times the step the accuracy of Exudyn; after a sudden release both err alike."""


def beam_on_hinge(elements: int, driven: bool) -> art.Loop:
    """Return the mechanism with the forces of its beam."""
    m = art.Mechanism("beam on a hinge", gravity=(0.0, 0.0 if driven else -GRAVITY, 0.0))
    forces = BeamForces.link(m, "beam", Beam.straight(LENGTH, elements, CABLE))
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "beam_0")
    if driven:
        t = ca.SX.sym("t")
        m.constrain(
            Prescribed(
                "drive", "hinge", TimeFunction.of(ca.Function("angle", [t], [angle(t)], ["t"], ["angle"]))
            )
        )
    return art.Loop(m, components=[forces])


def path(loop: art.Loop, task: BeamTask, step: float) -> np.ndarray:
    """Return what is compared at every sample: the deflection, or the place of the tip in the plane [m]."""
    run = loop.simulate(task.seconds, method="generalized_alpha", step=step, sample=SAMPLE, outputs=())
    last = loop.mechanism.description.bodies[-1].name
    tip = loop.mechanism.pose(last, run.q)[:, :2, 3]
    return across(run.t, tip) if task.driven else tip


def link(effort: Effort) -> Iterator[Measurement]:
    """Yield a beam on a hinge against Exudyn's ANCF cable, each with a step that reaches the same accuracy."""
    for task in TASKS[:1] if effort.quick else TASKS:
        yield _row(
            replace(task, seconds=1.0, bar=None) if effort.quick else task, 8 if effort.quick else 64, effort
        )


def _row(task: BeamTask, elements: int, effort: Effort) -> Measurement:
    title = f"exact beam as a link, {task.name}, {elements} elements, {task.seconds:g} s"
    row = partial(Measurement, title, 6 * elements + 1, bar=task.bar)
    loop = beam_on_hinge(elements, task.driven)
    exact = path(loop, task, task.ours / 8)
    gap = np.abs(path(loop, task, task.ours) - exact).max()
    if not gap <= task.allowed:
        return row(failed=True, note=too_far("the tip", gap, task.allowed))
    ours = race(
        [Contender("articulus", partial(path, loop, task, task.ours))], effort.seconds, effort.rounds
    )[0]
    row = partial(row, ours_us=ours)
    found = beside_exudyn(row, lambda: _exudyn(task, elements), exact, task.allowed, effort)
    if isinstance(found, Measurement):
        return found
    their_gap, peer = found
    note = notes(
        f"errors {gap:.1e} and {their_gap:.1e} m with steps of {task.ours:g} and {task.theirs:g} s",
        "six degrees of freedom per node beside four in the plane; ours is the whole call with its checks, theirs the solver",
    )
    return row(peer="Exudyn ANCFCable2D", peer_us=peer, value=peer / ours, note=note)


def _exudyn(task: BeamTask, elements: int) -> tuple[list, float]:
    """Return what Exudyn finds at every sample [m] and the time of its solver [s]."""
    if task.driven:
        return driven_cable(elements, task.seconds, round(task.seconds / task.theirs))
    steps = str(round(task.seconds / task.theirs))
    found, taken = one_core_json(["-m", __name__, str(elements), str(task.seconds), steps])
    return found, taken


# in the child


def _solve_exudyn(elements: int, seconds: float, steps: int) -> tuple[list[list[float]], float]:
    sys.exudynFast = True  # type: ignore[attr-defined]  # their build without range checks
    exu = import_module("exudyn")
    system, sensor = _pendulum(exu, elements)
    start = process_time()
    system.SolveDynamic(settings(exu, seconds, steps))
    taken = process_time() - start
    return system.GetSensorStoredData(sensor)[:, 1:3].tolist(), taken


def _pendulum(exu: Any, elements: int) -> tuple[Any, int]:
    """Return the system and the sensor at the tip; the first node may turn."""
    items = import_module("exudyn.itemInterface")
    system, nodes, objects = cables(exu, elements)
    for cable in objects:
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=cable))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -GRAVITY, 0.0]))
    ground = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    for coordinate in (0, 1):
        end = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        system.AddObject(items.CoordinateConstraint(markerNumbers=[ground, end]))
    return system, assemble_with_sensor(exu, system, nodes[-1])


if __name__ == "__main__":
    found = _solve_exudyn(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("\n" + json.dumps(found))
