"""N four-bar linkages in Exudyn: `python -m articulus.bench.exudyn LOOPS SECONDS STEPS` in a process of its own.

Exudyn writes to standard output and, with some settings, ends the process; both stay in the child.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

from articulus.bench.child import one_core_json
from articulus.model.library.n_four_bar import ACROSS, LENGTH, MASS

GRAVITY = 9.81


def is_installed() -> bool:
    """Return whether Exudyn can be imported."""
    return find_spec("exudyn") is not None


def run(loops: int, seconds: float, steps: int) -> tuple[float, float, float]:
    """Return the angle of the first bar at the end [rad], the time of the solver and that of the set-up [s].

    Raises
    ------
    subprocess.CalledProcessError
        Exudyn did not get to the end.
    """
    angle, solved, built = one_core_json(["-m", __name__, str(loops), str(seconds), str(steps)])
    return angle, solved, built


def _solve_exudyn(loops: int, seconds: float, steps: int) -> tuple[float, float, float]:
    sys.exudynFast = True  # type: ignore[attr-defined]  # their build without range checks
    exu = import_module("exudyn")
    began = perf_counter()
    system, solver = _linkages(exu, loops), _settings(exu, seconds, steps)
    built, start = perf_counter() - began, process_time()
    system.SolveDynamic(solver)
    solved = process_time() - start
    angle = -system.GetNodeOutput(0, exu.OutputVariableType.Coordinates)[2]
    return float(angle), solved, built


def _linkages(exu: Any, loops: int) -> Any:
    """Return the library's `n_four_bar` in the x-y plane: bodies in the plane with revolute joints between points."""
    items = import_module("exudyn.itemInterface")
    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())

    def rod(x: float, y: float, velocity: float, turning: float) -> int:
        node = items.NodeRigidBody2D(
            referenceCoordinates=[x, y, 0.0], initialVelocities=[velocity, 0.0, turning]
        )
        body = system.AddObject(
            items.ObjectRigidBody2D(physicsMass=MASS, physicsInertia=ACROSS, nodeNumber=system.AddNode(node))
        )
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -GRAVITY, 0.0]))
        return body

    def hinge(one: int, x: float, y: float, other: int, u: float, v: float) -> None:
        ends = [
            items.MarkerBodyPosition(bodyNumber=body, localPosition=[*at, 0.0])
            for body, at in ((one, (x, y)), (other, (u, v)))
        ]
        system.AddObject(items.RevoluteJoint2D(markerNumbers=[system.AddMarker(end) for end in ends]))

    half = LENGTH / 2
    bars = [rod(i * LENGTH, half, half, -1.0) for i in range(loops + 1)]
    for i, bar in enumerate(bars):
        hinge(ground, i * LENGTH, 0.0, bar, 0.0, -half)
    for i in range(loops):
        connector = rod(i * LENGTH + half, LENGTH, LENGTH, 0.0)
        hinge(bars[i], 0.0, half, connector, -half, 0.0)
        hinge(bars[i + 1], 0.0, half, connector, half, 0.0)
    system.Assemble()
    return system


def _settings(exu: Any, seconds: float, steps: int) -> Any:
    """Return the fastest settings found for these linkages.

    Generalized-alpha with spectral radius 0.9, sparse solver, modified Newton with one Jacobian per step, tolerances 1e-4,
    no step control, nothing written. The index-2 trapezoidal rule and spectral radius 1 fail in the singular positions.
    """
    settings = exu.SimulationSettings()
    time, log = settings.timeIntegration, settings.solutionSettings
    time.numberOfSteps, time.endTime, time.verboseMode = steps, seconds, 0
    time.adaptiveStep = time.automaticStepSize = False
    time.generalizedAlpha.spectralRadius = 0.9
    time.newton.useModifiedNewton = time.newton.modifiedNewtonJacUpdatePerStep = True
    time.newton.relativeTolerance = time.newton.absoluteTolerance = 1e-4
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.linearSolverSettings.reuseAnalyzedPattern = True
    settings.parallel.numberOfThreads = 1
    settings.displayComputationTime = False
    log.writeSolutionToFile, log.solutionInformation = False, ""
    return settings


if __name__ == "__main__":
    found = _solve_exudyn(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("\n" + json.dumps(found))
