"""A two-link flexible arm for both sides; `python -m articulus.bench.flexible_arm SECONDS STEPS` is Exudyn's part.

Two equal links of King 1988, table 3.1, with 1 % damping, move freely in a horizontal plane; the second carries a mass at
its tip. There is no gravity: Exudyn leaves out the moment that the weight of a reduced body has by its deformation.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

import articulus as art
from articulus.bench.child import one_core_json
from articulus.model.library.king_arm import LENGTH, MASS, ROUND
from articulus.model.mechanism.modes import Level, Modes
from articulus.structure import beam, modes_of, normal_modes

Array = np.ndarray

MODES, ELEMENTS, DAMPING = 2, 8, 0.01
PAYLOADS = (0.0, 0.5)
"""At the tip of each link [kg]."""
ANGLES, RATES = (0.0, 1.0), (3.0, -6.0)
"""Of the joints at the start [rad, rad/s]; the links are straight."""
SAMPLE = 0.05
"""[s]."""


@dataclass(frozen=True, eq=False)
class FlexibleLink:
    """A link as a flexible body, and as mass points with the shapes there: Exudyn's bodies have points only."""

    modes: Modes
    position: Array
    """(P, 3) [m]; the last one is the tip, without mass of its own."""
    mass: Array
    shapes: Array
    """(3 P, modes)"""


@cache
def link(payload: float, count: int = MODES) -> FlexibleLink:
    """Return a link of so many modes with a point mass at its tip."""
    whole = beam(
        LENGTH, EI=ROUND, mass_per_length=MASS / LENGTH, elements=ELEMENTS, planes="y", tip_mass=payload
    )
    shapes, points = normal_modes(whole, count).shapes, whole.samples
    assert points is not None
    modes = modes_of(whole, shapes, stations={"tip": ELEMENTS}, damping=DAMPING)
    tip = modes.station("tip")
    return FlexibleLink(
        modes,
        np.vstack([points.position, tip.position]),
        np.append(points.mass, 0.0),
        np.vstack([points.translation @ shapes, tip.translation]),
    )


def arm(level: Level, count: int = MODES) -> art.Mechanism:
    """Return the arm as articulus has it, with so many modes per link."""
    made, joint = art.Mechanism("two flexible links", gravity=(0, 0, 0)), art.Revolute(axis=(0, 0, 1))
    for i, payload in enumerate(PAYLOADS):
        made.flexible(f"link{i}", link(payload, count).modes.at_level(level))
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        made.joint(f"joint{i}", joint, parent=parent, child=f"link{i}", node=node)
    made.frame("tip", body=f"link{len(PAYLOADS) - 1}", node="tip")
    return made


def start(mechanism: art.Mechanism) -> tuple[Array, Array]:
    """Return q and v at the start."""
    q, v, d = np.zeros(mechanism.nq), np.zeros(mechanism.nv), mechanism.description
    for name, angle, rate in zip(mechanism.joint_names, ANGLES, RATES):
        q[d.q_slices[name]], v[d.v_slices[name]] = angle, rate
    return q, v


def exudyn(seconds: float, steps: int) -> tuple[Array, float]:
    """Return Exudyn's places of the tip, (samples, 2) [m], and the time of its solver [s].

    Raises
    ------
    subprocess.CalledProcessError
        Exudyn did not get to the end.
    """
    places, taken = one_core_json(["-m", __name__, str(seconds), str(steps)])
    return np.array(places), taken


# in the child


def _solve_exudyn(seconds: float, steps: int) -> tuple[list[list[float]], float]:
    sys.exudynFast = True  # type: ignore[attr-defined]  # their build without range checks
    exu = import_module("exudyn")
    system, sensor = _links(exu)
    settings = _settings(exu, seconds, steps)
    began = process_time()
    system.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
    taken = process_time() - began
    return system.GetSensorStoredData(sensor)[:, 1:3].tolist(), taken


def _links(exu: Any) -> tuple[Any, int]:
    """Return the system and the sensor at the tip.

    Joints hold points on each other; nothing leaves the plane, so hinges that hold directions too would only add equations.
    """
    items = import_module("exudyn.itemInterface")
    system = exu.SystemContainer().AddSystem()
    ground = system.AddObject(items.ObjectGround())
    carrier = system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground))
    turn, spin, place, velocity = 0.0, 0.0, np.zeros(3), np.zeros(3)
    for payload, angle, rate in zip(PAYLOADS, ANGLES, RATES):
        turn, spin, link_body = turn + angle, spin + rate, link(payload)
        frame = items.NodeRigidBodyRxyz(
            referenceCoordinates=[*place, 0.0, 0.0, turn], initialVelocities=[*velocity, 0.0, 0.0, spin]
        )
        zeros = [0.0] * MODES
        modal = items.NodeGenericODE2(
            numberOfODE2Coordinates=MODES,
            referenceCoordinates=zeros,
            initialCoordinates=zeros,
            initialCoordinates_t=zeros,
        )
        nodes = [system.AddNode(frame), system.AddNode(modal)]
        body = system.AddObject(
            items.ObjectFFRFreducedOrder(nodeNumbers=nodes, computeFFRFterms=True, **_reduced(exu, link_body))
        )
        root = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[0]))
        system.AddObject(items.SphericalJoint(markerNumbers=[carrier, root]))
        last = len(link_body.mass) - 1
        carrier = system.AddMarker(
            items.MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=[last], weightingFactors=[1.0])
        )
        reach = LENGTH * np.array([np.cos(turn), np.sin(turn), 0.0])
        place, velocity = place + reach, velocity + np.cross([0.0, 0.0, spin], reach)
    tip = items.SensorSuperElement(
        bodyNumber=body,
        meshNodeNumber=last,
        outputVariableType=exu.OutputVariableType.Position,
        storeInternal=True,
        writeToFile=False,
    )
    sensor = system.AddSensor(tip)
    system.Assemble()
    return system, sensor


def _reduced(exu: Any, link: FlexibleLink) -> dict[str, Any]:
    """Return the integrals of a body by Exudyn's names: sums over its mass points.

    A straight line of points has no inertia about itself; a little of it, which nothing turns, keeps the equations regular.
    """
    x, psi = link.position, link.shapes
    weight = np.repeat(link.mass, 3)[:, None]
    unit, arms = np.tile(np.eye(3), (len(x), 1)), _skew(x)
    turned = np.hstack([_skew(shape.reshape(-1, 3)) for shape in psi.T])
    mass = link.mass.sum()

    def matrix(values: Array) -> Any:
        out = exu.MatrixContainer()
        out.SetWithDenseMatrix(values, useDenseMatrix=False)
        return out

    return {
        "stiffnessMatrixReduced": matrix(link.modes.stiffness),
        "dampingMatrixReduced": matrix(link.modes.damping),
        "massMatrixReduced": matrix(psi.T @ (weight * psi)),
        "modeBasis": psi,
        "referencePositions": x.ravel(),
        "mass": mass,
        "centerOfMass": link.mass @ x / mass,
        "inertia": arms.T @ (weight * arms) + np.diag([1e-4, 0.0, 0.0]),
        "mPsiTildePsi": turned.T @ (weight * psi),
        "mPsiTildePsiTilde": turned.T @ (weight * turned),
        "mPhitTPsi": unit.T @ (weight * psi),
        "mPhitTPsiTilde": unit.T @ (weight * turned),
        "mXRefTildePsi": arms.T @ (weight * psi),
        "mXRefTildePsiTilde": arms.T @ (weight * turned),
    }


def _skew(points: Array) -> Array:
    """Return the matrices p x of points (P, 3) below each other, (3 P, 3)."""
    return np.cross(points[:, None, :], np.eye(3)[None]).transpose(0, 2, 1).reshape(-1, 3)


def _settings(exu: Any, seconds: float, steps: int) -> Any:
    """Return the fastest settings found for this arm.

    Trapezoidal rule of index 2, modified Newton without new Jacobians at every step, tolerances 1e-6, dense solver, no step
    control, three rotation parameters. Generalized-alpha is as fast with 9 % more error; a sparse solver takes 20 % longer,
    full Newton 60 %, Euler parameters 8 % with twice the error; tolerances from 1e-4 on add errors of their own.
    """
    settings = exu.SimulationSettings()
    time, log = settings.timeIntegration, settings.solutionSettings
    time.numberOfSteps, time.endTime, time.verboseMode = steps, seconds, 0
    time.adaptiveStep = time.automaticStepSize = False
    time.newton.useModifiedNewton, time.newton.modifiedNewtonJacUpdatePerStep = True, False
    time.newton.relativeTolerance = time.newton.absoluteTolerance = 1e-6
    settings.linearSolverType = exu.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    settings.displayComputationTime = False
    log.writeSolutionToFile, log.solutionInformation, log.sensorsWritePeriod = False, "", SAMPLE
    return settings


if __name__ == "__main__":
    found = _solve_exudyn(float(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write("\n" + json.dumps(found))
