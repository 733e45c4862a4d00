"""Curved shells of eight-node elements: pinched cylinder, barrel vault, pinched hemisphere; parts of them by symmetry."""

from collections.abc import Callable

import numpy as np

from articulus.structure import MindlinQuadrilateral8, Plate, Statics, Structure
from articulus.structure.ties import Components

AROUND = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
"""Corners and middles of an element on a grid of half elements."""


def compute() -> dict:
    return {
        "pinched cylinder with end diaphragms: deflection under the force [1e-5 in]": 1e5
        * pinched_cylinder(),
        "barrel vault under its weight: deflection of the middle of the free edge [ft]": barrel_vault(),
        "pinched hemisphere with a hole of 18 deg: displacement under a force [in]": pinched_hemisphere(),
    }


def shell(
    n: int, plate: Plate, place: Callable[[np.ndarray], np.ndarray], held: Callable[[np.ndarray], dict]
) -> tuple[Structure, np.ndarray]:
    """Return n by n elements on the unit square, mapped into space, and the nodes (2 n + 1, 2 n + 1), -1 in the middle of elements."""
    x, y = np.meshgrid(*(np.linspace(0, 1, 2 * n + 1),) * 2, indexing="ij")
    there = np.ones(x.shape, dtype=bool)
    there[1::2, 1::2] = False
    nodes = np.full(x.shape, -1)
    nodes[there] = np.arange(there.sum())
    eights = [[int(nodes[2 * i + a, 2 * j + b]) for a, b in AROUND] for i in range(n) for j in range(n)]
    elements = [MindlinQuadrilateral8(eight[:4], eight[4:], plate, (1, 0, 0)) for eight in eights]
    supports: dict[str | int, Components] = {}
    for edge, components in held(nodes).values():
        for i in edge[edge >= 0]:
            supports[int(i)] = tuple(dict.fromkeys((*supports.get(int(i), ()), *components)))
    return Structure.assemble(place(np.stack([x[there], y[there]], axis=1)), elements, fixed=supports), nodes


def cylinder(radius: float, length: float, angle: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map of the unit square to half of the length of a cylinder about x, from its top on."""

    def place(p: np.ndarray) -> np.ndarray:
        t = angle * p[:, 1]
        return np.stack([length / 2 * p[:, 0], radius * np.sin(t), radius * np.cos(t)], axis=1)

    return place


def pinched_cylinder() -> float:
    """Return the deflection under one of two unit forces; an eighth, R = 300, L = 600, h = 3."""
    plate = Plate.isotropic(3.0, 3e6, 0.3, 0.0)
    s, nodes = shell(16, plate, cylinder(300.0, 600.0, np.pi / 2), lambda nodes: {
        "diaphragm": (nodes[0], ("y", "z")), "middle": (nodes[-1], ("x", "ry", "rz")),
        "top": (nodes[:, 0], ("y", "rx", "rz")), "side": (nodes[:, -1], ("z", "rx", "ry")),
    })  # fmt: skip
    down = -s.rows(int(nodes[-1, 0]))[2]
    return float(down @ Statics(s).solve(0.25 * down))


def barrel_vault() -> float:
    """Return how far the middle of the free edge moves down; a quarter, R = 25, L = 50, 80 degrees, h = 0.25."""
    plate = Plate.isotropic(0.25, 4.32e8, 0.0, 0.0)
    s, nodes = shell(8, plate, cylinder(25.0, 50.0, np.radians(40)), lambda nodes: {
        "diaphragm": (nodes[0], ("y", "z")), "middle": (nodes[-1], ("x", "ry", "rz")), "top": (nodes[:, 0], ("y", "rx", "rz")),
    })  # fmt: skip
    assert s.samples is not None
    weight = s.samples.translation.T @ np.outer(s.samples.area, [0.0, 0.0, -90.0]).ravel()
    return float(-s.rows(int(nodes[-1, -1]))[2] @ Statics(s).solve(weight))


def pinched_hemisphere() -> float:
    """Return the displacement under one of four unit forces, two inwards and two outwards; a quarter, R = 10, h = 0.04."""

    def place(p: np.ndarray) -> np.ndarray:
        up, around = np.radians(72) * p[:, 1], np.radians(90) * p[:, 0]
        return 10 * np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=1)

    plate = Plate.isotropic(0.04, 6.825e7, 0.3, 0.0)
    s, nodes = shell(16, plate, place, lambda nodes: {
        "first": (nodes[0], ("y", "rx", "rz")), "last": (nodes[-1], ("x", "ry", "rz")), "hole": (nodes[16, -1:], ("z",)),
    })  # fmt: skip
    out, back = s.rows(int(nodes[0, 0]))[0], s.rows(int(nodes[-1, 0]))[1]
    return float(out @ Statics(s).solve(out - back))
