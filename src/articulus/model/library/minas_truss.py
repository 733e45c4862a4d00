"""A lattice of beams that swings out of its plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from articulus.structure import EulerBernoulli, Lumped, Section, Structure
from articulus.structure.element import Element

MASS = 7.335
"""Of the whole [kg], printed."""
NODES = (
    *((x, 2.5) for x in (0.0, 0.5, 1.0, 1.5)),
    *((x, 2.0) for x in (0.0, 0.5, 1.0, 1.5)),
    *((x, y) for y in (1.5, 1.0, 0.5, 0.0) for x in (0.5, 1.0)),
)
LINKS = (
    (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (1, 5), (2, 6), (3, 7), (4, 8), (1, 6), (2, 7), (3, 8),
    (6, 9), (7, 10), (9, 10), (7, 9), (9, 11), (10, 12), (11, 12), (9, 12),
    (11, 13), (12, 14), (13, 14), (12, 13), (13, 15), (14, 16), (15, 16), (13, 16),
)  # fmt: skip
EI, TWIST = 245.9, 0.819
"""Bending stiffness [N m^2] and GJ / EI of the links."""
ON_LINKS = 0.715
"""Share of the mass that is spread over the links; the rest sits on the 16 nodes."""
TURNING = 3.2e-3
"""Rotary inertia of a node [kg m^2]."""
PARASITIC = 0.682
"""Mass of the housing of the proof-mass actuator [kg]."""


def minas_truss(
    parasitic: int | None = None,
    middle_nodes: bool = False,
    *,
    EI: float = EI,
    twist: float = TWIST,
    on_links: float = ON_LINKS,
    turning: float = TURNING,
    housing: float = PARASITIC,
) -> Structure:
    """Return a planar truss of 29 aluminium links, clamped at nodes 15 and 16, in its motion out of the plane.

    Nodes are named "1" to "16" and move along z and about x and y: 42 degrees of freedom, or 126 with a node in the middle of each
    link ("1-2", ...).

    Parameters
    ----------
    parasitic : int
        Node that carries the housing of the actuator, 0.682 kg; none if not given.
    middle_nodes : bool
        Whether links have a node in the middle.
    EI, twist, on_links, turning, housing : float [N m^2], [-], [-], [kg m^2], [kg]
        Other values of what was fitted: bending stiffness of links, GJ / EI, share of the mass on links, rotary inertia of a node, mass of the actuator's
        housing.

    Source: Minas, Garcia & Inman 1989. The paper gives the mass, 16 joints on a grid of 0.5 m and tables of frequencies. The
    T shape, the stiffness, the shares of the mass and the parasitic mass are inferred: they were fitted to table 3.
    """
    names = [str(i + 1) for i in range(len(NODES))]
    positions = [(*xy, 0.0) for xy in NODES]
    lengths = [math.dist(NODES[a - 1], NODES[b - 1]) for a, b in LINKS]
    section = Section(on_links * MASS / sum(lengths), 1.0, EI, EI, twist * EI)
    parts: list[Element] = []
    for a, b in LINKS:
        way = [str(a), str(b)]
        if middle_nodes:
            names.append(f"{a}-{b}")
            positions.append(tuple(np.mean([positions[a - 1], positions[b - 1]], axis=0)))
            way.insert(1, names[-1])
        parts += [EulerBernoulli(i, k, section) for i, k in pairwise(way)]
    on_node = (1 - on_links) * MASS / len(NODES)
    parts += [Lumped(str(i + 1), on_node, (turning, turning, 0.0)) for i in range(len(NODES))]
    if parasitic is not None:
        parts.append(Lumped(str(parasitic), housing))
    fixed: dict[str | int, str | Sequence[str]] = dict.fromkeys(names, ("x", "y", "rz"))
    fixed |= dict.fromkeys([name for name in names if name in ("15", "16", "15-16")], "all")
    return Structure.assemble(positions, parts, names=names, fixed=fixed)
