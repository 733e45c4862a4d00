"""Row of a beam of large deflection that is a link; `python -m articulus.bench.beam_link ELEMENTS SECONDS STEPS` is Exudyn's part.

Exudyn writes to standard output and, with some settings, ends the process; both stay in the child.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

import articulus as art
from articulus.beams import Beam
from articulus.bench.beside_exudyn import beside_exudyn, too_far
from articulus.bench.child import one_core_json
from articulus.bench.flexible_beams import CABLE, assembled, cables, settings
from articulus.bench.row import Bar, Row
from articulus.bench.rows import Effort, notes
from articulus.bench.timing import Contender, race
from articulus.cases.simo_spin_up.case import LENGTH
from articulus.loop.components import BeamForces

GRAVITY = 9.81
ALLOWED = 5e-3
"""Largest error of the tip at any sampled time [m]; it moves by 20 m."""
OUR_STEP, EXUDYN_STEP = 0.01, 0.0025
SAMPLE = 0.1
"""[s]."""


def pendulum(elements: int) -> tuple[art.Mechanism, BeamForces]:
    """Return a beam on a hinge, level at first, and its forces."""
    m = art.Mechanism("beam on a hinge", gravity=(0.0, -GRAVITY, 0.0))
    forces = BeamForces.link(m, "beam", Beam.straight(LENGTH, elements, CABLE))
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "beam_0")
    return m, forces


def tip(loop: art.Loop, elements: int, end: float, step: float) -> np.ndarray:
    """Return the path of the tip in the plane, (samples, 2) [m]."""
    run = loop.simulate(end, method="generalized_alpha", step=step, sample=SAMPLE, outputs=())
    return loop.mechanism.pose(f"beam_{elements}", run.q)[:, :2, 3]


def swing(effort: Effort) -> Iterator[Row]:
    """Give a beam that falls on a hinge against Exudyn's ANCF cable, each with a step that reaches the same accuracy."""
    elements, end = (8, 1.0) if effort.quick else (64, 5.0)
    bar = None if effort.quick else Bar(5)
    row = partial(Row, f"exact beam as a link, {elements} elements, {end:g} s", 6 * elements + 1, bar=bar)
    mechanism, forces = pendulum(elements)
    loop = art.Loop(mechanism, components=[forces])
    exact = tip(loop, elements, end, OUR_STEP / 8)
    gap = np.abs(tip(loop, elements, end, OUR_STEP) - exact).max()
    if not gap <= ALLOWED:
        yield row(failed=True, note=too_far("the tip", gap, ALLOWED))
        return
    call = partial(tip, loop, elements, end, OUR_STEP)
    row = partial(row, ours_us=(ours := race([Contender("articulus", call)], effort.seconds)[0]))
    found = beside_exudyn(
        row, lambda: _exudyn(elements, end, round(end / EXUDYN_STEP)), exact, ALLOWED, effort
    )
    if isinstance(found, Row):
        yield found
        return
    their_gap, peer = found
    note = notes(
        f"errors {gap:.1e} and {their_gap:.1e} m with steps of {OUR_STEP:g} and {EXUDYN_STEP:g} s",
        "six degrees of freedom per node beside four in the plane; ours with set-up of the run and its result",
    )
    yield row(peer="Exudyn ANCFCable2D", peer_us=peer, value=peer / ours, note=note)


def _exudyn(elements: int, seconds: float, steps: int) -> tuple[list[list[float]], float]:
    """Return Exudyn's path of the tip at every sample [m] and the time of its solver [s]."""
    found, taken = one_core_json(["-m", __name__, str(elements), str(seconds), str(steps)])
    return found, taken


# in the child


def _solved(elements: int, seconds: float, steps: int) -> tuple[list[list[float]], float]:
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
    return system, assembled(exu, system, nodes[-1])


if __name__ == "__main__":
    found = _solved(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("\n" + json.dumps(found))
