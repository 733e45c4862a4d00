"""A rectangular plate in one call, as a structure. It lies in x and y, its root edge along y at the origin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.numbers import require_count, require_plain
from articulus.structure.element import MindlinQuadrilateral, ShellQuadrilateral
from articulus.structure.element.base import Node
from articulus.structure.plate import Plate
from articulus.structure.structure import Structure
from articulus.structure.ties import COMPONENTS, Components, components

EDGES = ("root", "tip", "right", "left")
"""Edges at x = 0, x = length, y = -width / 2 and y = width / 2."""


def panel(
    length: float,
    width: float,
    plate: Plate,
    *,
    elements: tuple[int, int] = (8, 8),
    supports: Mapping[str, Components] | None = None,
    thick: bool = False,
) -> Structure:
    """Return a rectangular plate of quadrilaterals from x = 0 to `length`, y = -`width` / 2 to `width` / 2, normal along z.

    Parameters
    ----------
    length, width : float [m]
    plate : Plate
        Its section, x axis along x.
    elements : two ints
        Along x and along y.
    supports : dict of edge to components
        What is held at the edges "root", "tip", "right" and "left", for example ``{"root": "all"}``.
    thick : bool
        Whether it yields to transverse shear, `plate.shear`: `MindlinQuadrilateral` instead of `ShellQuadrilateral`.

    Nodes are called "node0_0", "node0_1", ...: number along x, then along y.
    """
    m, n = elements
    require_plain("panel", (0,), length=length, width=width)
    require_count("panel", elements=m)
    require_count("panel", elements=n)
    if not (length > 0 and width > 0 and m > 0 and n > 0):
        raise InputError(f"panel: {length} by {width} m, {m} by {n} elements; expected numbers above zero")
    x, y = np.meshgrid(
        np.linspace(0, length, m + 1), np.linspace(-width / 2, width / 2, n + 1), indexing="ij"
    )
    nodes = np.arange(x.size).reshape(x.shape)
    corners = np.stack([nodes[:-1, :-1], nodes[1:, :-1], nodes[1:, 1:], nodes[:-1, 1:]], axis=-1).reshape(
        -1, 4
    )
    kind = MindlinQuadrilateral if thick else ShellQuadrilateral
    return Structure.assemble(
        np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3),
        [kind(a, b, c, d, plate, (1.0, 0.0, 0.0)) for a, b, c, d in corners.tolist()],
        names=[f"node{i}_{j}" for i in range(m + 1) for j in range(n + 1)],
        fixed=_edge_supports(nodes, supports or {}),
    )


def _edge_supports(nodes: np.ndarray, supports: Mapping[str, Components]) -> dict[Node, Components]:
    """Return what is held at each node of the supported edges."""
    rows = dict(zip(EDGES, (nodes[0], nodes[-1], nodes[:, 0], nodes[:, -1])))
    held: dict[Node, set[int]] = {}
    for edge, which in supports.items():
        if edge not in rows:
            raise InputError(f"panel: no edge '{edge}'; {did_you_mean(edge, EDGES)}")
        for i in rows[edge]:
            held.setdefault(int(i), set()).update(components(which))
    return {node: tuple(COMPONENTS[c] for c in sorted(found)) for node, found in held.items()}
