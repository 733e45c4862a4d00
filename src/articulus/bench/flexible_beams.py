"""Rows of beams of large deflection; `python -m articulus.bench.flexible_beams ELEMENTS SECONDS STEPS` is Exudyn's part.

Exudyn writes to standard output and, with some settings, ends the process; both stay in the child.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from itertools import pairwise
from math import cos, pi, sin
from time import process_time
from typing import Any

import numpy as np

from articulus.bench.beside_exudyn import beside_exudyn, too_far
from articulus.bench.child import one_core_json
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, notes
from articulus.bench.timing import Contender, race
from articulus.cases.simo_spin_up.case import LENGTH, SECTION, across, angle
from articulus.simulation.exact_beams import Beam, simulate, turning

CABLE = dataclasses.replace(SECTION, GAy=np.inf, GAz=np.inf, rotary=(2e-5, 1e-5, 1e-5))
"""The spin-up's beam without shear and nearly without rotary inertia, as an ANCF cable has none."""
ALLOWED = 1e-4
"""Largest error of the tip's deflection at any sampled time [m]."""
OUR_STEP, EXUDYN_STEP = 0.01, 0.0025
"""[s]. Errors 5e-5 and 7e-5 m; twice the step makes four times the error with both."""
SAMPLE = 0.1
"""[s]."""


def spin_up(effort: Effort) -> Iterator[Measurement]:
    """Yield the spin-up of Simo & Vu-Quoc against Exudyn's ANCF cable, each with a step that reaches the same accuracy."""
    elements, end = (8, 2.0) if effort.quick else (64, 20.0)
    bar = None if effort.quick else FigureLimit(2)
    row = partial(
        Measurement, f"geometrically exact beam, {elements} elements, {end:g} s", 6 * elements, bar=bar
    )
    beam = Beam.straight(LENGTH, elements, CABLE).support(0).on(turning(angle))
    exact = _deflection(beam, end, OUR_STEP / 8)
    gap = np.abs(_deflection(beam, end, OUR_STEP) - exact).max()
    if not gap <= ALLOWED:
        yield row(failed=True, note=too_far("the tip", gap, ALLOWED))
        return
    ours = race(
        [Contender("articulus", partial(_deflection, beam, end, OUR_STEP))], effort.seconds, effort.rounds
    )[0]
    row = partial(row, ours_us=ours)
    found = beside_exudyn(
        row, lambda: driven_cable(elements, end, round(end / EXUDYN_STEP)), exact, ALLOWED, effort
    )
    if isinstance(found, Measurement):
        yield found
        return
    their_gap, peer = found
    note = notes(
        f"errors {gap:.1e} and {their_gap:.1e} m with steps of {OUR_STEP:g} and {EXUDYN_STEP:g} s",
        "six degrees of freedom per node beside four in the plane",
    )
    yield row(peer="Exudyn ANCFCable2D", peer_us=peer, value=peer / ours, note=note)


def _deflection(beam: Beam, end: float, step: float) -> np.ndarray:
    """Return the tip's deflection across the hub axis at every sample [m]."""
    run = simulate(beam, end, round(end / step), every=round(SAMPLE / step))
    return across(run.t, run.position[:, -1])


def driven_cable(elements: int, seconds: float, steps: int) -> tuple[list[float], float]:
    """Return Exudyn's deflection at every sample [m] and the time of its solver [s]."""
    found, taken = one_core_json(["-m", __name__, str(elements), str(seconds), str(steps)])
    return found, taken


# in the child


def _solve_exudyn(elements: int, seconds: float, steps: int) -> tuple[list[float], float]:
    sys.exudynFast = True  # type: ignore[attr-defined]  # their build without range checks
    exu = import_module("exudyn")
    system, sensor = _cable(exu, elements)
    start = process_time()
    system.SolveDynamic(settings(exu, seconds, steps))
    taken = process_time() - start
    data = system.GetSensorStoredData(sensor)
    return across(data[:, 0], data[:, 1:3]).tolist(), taken


def _hub(t: float) -> float:
    """Return the hub's angle on numbers, quick enough for a callback: see `angle`."""
    return 0.4 * (t * t / 2 + (15 / (2 * pi)) ** 2 * (cos(2 * pi * t / 15) - 1)) if t < 15 else 6 * t - 45


def cables(exu: Any, elements: int) -> tuple[Any, list[int], list[int]]:
    """Return a system with the beam as cables along x, its nodes and its cables."""
    items = import_module("exudyn.itemInterface")
    system = exu.SystemContainer().AddSystem()
    h, objects = LENGTH / elements, []
    nodes = [
        system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[i * h, 0.0, 1.0, 0.0]))
        for i in range(elements + 1)
    ]
    for pair in pairwise(nodes):
        cable = items.ObjectANCFCable2D(
            physicsLength=h,
            physicsMassPerLength=CABLE.mass,
            physicsBendingStiffness=CABLE.EIz,
            physicsAxialStiffness=CABLE.EA,
            nodeNumbers=list(pair),
            useReducedOrderIntegration=1,
        )
        objects.append(system.AddObject(cable))
    return system, nodes, objects


def _cable(exu: Any, elements: int) -> tuple[Any, int]:
    """Return the system and the sensor at the tip; the root's slope turns with the hub."""
    items = import_module("exudyn.itemInterface")
    system, nodes, _ = cables(exu, elements)
    ground = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    courses = (None, None, lambda _, t, i, o: cos(_hub(t)) - 1, lambda _, t, i, o: sin(_hub(t)))
    for coordinate, course in enumerate(courses):
        end = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        prescribed = {"offsetUserFunction": course} if course else {}
        system.AddObject(items.CoordinateConstraint(markerNumbers=[ground, end], **prescribed))
    return system, assemble_with_sensor(exu, system, nodes[-1])


def assemble_with_sensor(exu: Any, system: Any, node: int) -> int:
    """Assemble a system with a sensor that stores the path of a node; return the sensor."""
    items, kind = import_module("exudyn.itemInterface"), exu.OutputVariableType.Position
    tip = items.SensorNode(nodeNumber=node, outputVariableType=kind, storeInternal=True, writeToFile=False)
    sensor: int = system.AddSensor(tip)
    system.Assemble()
    return sensor


def settings(exu: Any, seconds: float, steps: int) -> Any:
    """Return the fastest settings found: sparse solver, full Newton, tolerances 1e-4, spectral radius 0.9.

    Modified Newton took 0 to 20 % longer, tolerances of 1e-5 6 %; 1e-6 and less do not converge. Errors are those of the step.
    """
    chosen = exu.SimulationSettings()
    time, log = chosen.timeIntegration, chosen.solutionSettings
    time.numberOfSteps, time.endTime, time.verboseMode = steps, seconds, 0
    time.adaptiveStep = False
    time.generalizedAlpha.spectralRadius = 0.9
    time.newton.relativeTolerance = time.newton.absoluteTolerance = 1e-4
    chosen.linearSolverType = exu.LinearSolverType.EigenSparse
    chosen.linearSolverSettings.reuseAnalyzedPattern = True
    chosen.parallel.numberOfThreads = 1
    chosen.displayComputationTime = False
    log.writeSolutionToFile, log.solutionInformation, log.sensorsWritePeriod = False, "", SAMPLE
    return chosen


if __name__ == "__main__":
    found = _solve_exudyn(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("\n" + json.dumps(found))
