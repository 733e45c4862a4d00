"""An Earth-pointing satellite in free flight."""

from __future__ import annotations

import numpy as np

from articulus.model.library.truss54 import tube, with_ports
from articulus.structure import EulerBernoulli, Lumped, Structure
from articulus.structure.element import Element

SIDE, BAY, SECTIONS = 1.5, 1.5, 23
"""Side and bay length of the box truss [m], and the number of its square sections; assumed."""
RATES = (
    ("97", "x"), ("97", "z"), ("96", "x"), ("96", "z"), ("65", "y"), ("68", "y"), ("59", "y"), ("62", "y"),
    ("45", "y"), ("45", "z"), ("70", "y"), ("70", "z"),
)  # fmt: skip
POSITIONS = tuple(("95", c) for c in ("x", "y", "z", "rx", "ry", "rz"))
PAYLOADS = (("93", 400.0), ("94", 150.0), ("95", 600.0), ("96", 80.0), ("97", 80.0))
"""Masses [kg] of the two antennas, the bus and the two masts; assumed."""


def satellite582(beta: float = 1e-4) -> Structure:
    """Return a free structure of 97 nodes with six degrees of freedom each, 582 in all, with 18 actuators and 18 sensors.

    Inputs and outputs are those of the EPS7 model: 12 forces with rate sensors beside them, and six forces and moments with
    position sensors at node "95".

    Parameters
    ----------
    beta : float [s]
        Damping D = beta K, assumed.

    Source: Park 1993, tables 9.1 and 9.2: nodes and components of actuators and sensors, and the number of degrees of freedom. The mesh
    is not given. This one is assumed: a box truss of 22 bays along x (nodes "1" to "92", four to a section), two antennas and
    the bus above and below it ("93" to "95"), and a mast at either end ("96", "97").
    """
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * SIDE / 2
    positions = [(i * BAY, y, z) for i in range(SECTIONS) for y, z in corners]
    end = (SECTIONS - 1) * BAY
    positions += [(0.15 * end, 0.0, 4.0), (0.85 * end, 0.0, 3.0), (0.5 * end, 0.0, -2.0)]
    positions += [(-3.0, 0.0, 0.0), (end + 3.0, 0.0, 0.0)]
    names = [str(i + 1) for i in range(len(positions))]
    section = tube(0.03, 0.002)
    parts: list[Element] = [EulerBernoulli(a, b, section) for a, b in [*_truss(), *_mounts()]]
    parts += [Lumped(node, mass, (mass, mass, mass)) for node, mass in PAYLOADS]
    out = Structure.assemble(positions, parts, names=names).with_rayleigh_damping(0.0, beta)
    return with_ports(out, (*RATES, *POSITIONS), RATES, POSITIONS)


def _truss() -> list[tuple[str, str]]:
    """Return frames, longerons and one diagonal on each face of each bay."""
    pairs = []
    for s in range(SECTIONS):
        for k in range(4):
            here, beside = 4 * s + k + 1, 4 * s + (k + 1) % 4 + 1
            pairs.append((here, beside))
            if s < SECTIONS - 1:
                pairs += [(here, here + 4), (here, beside + 4)]
    return [(str(a), str(b)) for a, b in pairs]


def _mounts() -> list[tuple[str, str]]:
    """Return the struts that carry the payloads, from the four corners of the section nearest to each."""
    near = {"93": 3, "94": 19, "95": 11, "96": 0, "97": SECTIONS - 1}
    return [(str(4 * s + k + 1), node) for node, s in near.items() for k in range(4)]
