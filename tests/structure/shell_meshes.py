"""Rectangular meshes of shells for tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from articulus.structure import (
    MindlinQuadrilateral,
    MindlinTriangle,
    Plate,
    ShellQuadrilateral,
    ShellTriangle,
    Statics,
    Structure,
)

KINDS = ("quadrilaterals", "triangles")
THICK = ("thick quadrilaterals", "thick triangles")


def mesh(
    sides: tuple[float, float],
    count: tuple[int, int],
    plate: Plate,
    kind: str = "quadrilaterals",
    place: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    skewed: float = 0.0,
) -> tuple[np.ndarray, list, np.ndarray]:
    """Return positions, elements and the numbers of the nodes (m + 1, n + 1) of a plate in x-y, its corner at the origin.

    `place` maps the flat mesh into space; inner nodes are moved at random by up to `skewed` of an element.
    """
    m, n = count
    x, y = np.meshgrid(np.linspace(0, sides[0], m + 1), np.linspace(0, sides[1], n + 1), indexing="ij")
    flat = np.stack([x, y, 0 * x], axis=-1)
    moved = np.random.default_rng(0).uniform(-skewed, skewed, (m - 1, n - 1, 2)) * (
        sides[0] / m,
        sides[1] / n,
    )
    flat[1:-1, 1:-1, :2] += moved
    nodes = np.arange((m + 1) * (n + 1)).reshape(m + 1, n + 1)
    elements: list = []
    square, triangle = (
        (MindlinQuadrilateral, MindlinTriangle) if kind in THICK else (ShellQuadrilateral, ShellTriangle)
    )
    for i in range(m):
        for j in range(n):
            a, b, c, d = (
                int(k) for k in (nodes[i, j], nodes[i + 1, j], nodes[i + 1, j + 1], nodes[i, j + 1])
            )
            if "quadrilaterals" in kind:
                elements.append(square(a, b, c, d, plate, (1, 0, 0)))
            elif (i + j) % 2:
                elements += [
                    triangle(a, b, c, plate, (1, 0, 0)),
                    triangle(a, c, d, plate, (1, 0, 0)),
                ]
            else:
                elements += [
                    triangle(a, b, d, plate, (1, 0, 0)),
                    triangle(b, c, d, plate, (1, 0, 0)),
                ]
    return place(flat.reshape(-1, 3)), elements, nodes


def hold(*edges: tuple[np.ndarray, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Return `fixed` of a structure for several rows of nodes with their components."""
    out: dict[int, tuple[str, ...]] = {}
    for nodes, which in edges:
        for i in np.ravel(nodes):
            out[int(i)] = (*out.get(int(i), ()), *which)
    return out


def pressure(s: Structure, per_area: tuple[float, float, float]) -> np.ndarray:
    """Return the forces on the degrees of freedom of a load per unit area [Pa]."""
    assert s.samples is not None
    return s.samples.translation.T @ np.outer(s.samples.area, per_area).ravel()


def deflection(s: Structure, forces: np.ndarray, node: int, component: int = 2) -> float:
    return float(s.rows(int(node))[component] @ Statics(s).solve(forces))
