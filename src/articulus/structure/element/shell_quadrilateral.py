"""Thin shell with four nodes: discrete Kirchhoff bending (DKQ) and Allman's membrane, two by two points."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.element.shell import Shapes, Shell, nodes_of
from articulus.structure.plate import Plate


@dataclass(frozen=True)
class ShellQuadrilateral(Shell):
    """A quadrilateral of a thin shell, flat or slightly warped.

    Parameters
    ----------
    a, b, c, d : str or int
        Nodes in order; the normal sees them counterclockwise.
    plate : Plate
        Its section.
    along : three floats
        Direction whose part in the surface is the x axis of the plate; from a to b if not given.
    """

    a: Node
    b: Node
    c: Node
    d: Node
    plate: Plate
    along: Sequence[float] | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        return nodes_of(self.a, self.b, self.c, self.d)

    @classmethod
    @functools.cache
    def shapes(cls) -> Shapes:
        at = 1 / np.sqrt(3)
        x, y = at * np.array([[-1, 1, 1, -1], [-1, -1, 1, 1]])
        one, nil = np.ones(4), np.zeros(4)
        corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        L = np.stack([(1 + a * x) * (1 + b * y) / 4 for a, b in corners], axis=1)
        dL = np.stack([np.stack([a * (1 + b * y), b * (1 + a * x)], axis=1) / 4 for a, b in corners], axis=1)
        sides = [(nil, -one), (one, nil), (nil, one), (-one, nil)]  # outwards
        N = np.stack([np.where(a == 0, (1 - x**2) * (1 + b * y), (1 + a * x) * (1 - y**2)) / 2 for a, b in sides], axis=1)  # fmt: skip
        dN = [
            np.stack(
                [np.where(a == 0, -2 * x * (1 + b * y), a * (1 - y**2)), np.where(a == 0, b * (1 - x**2), -2 * y * (1 + a * x))],
                axis=1,
            )
            / 2
            for a, b in sides
        ]  # fmt: skip
        C = np.zeros((4, 2, 4))  # edges run along x, y, -x, -y
        C[:, 0, 0], C[:, 0, 2], C[:, 1, 1], C[:, 1, 3] = (1 - y) / 4, -(1 + y) / 4, (1 + x) / 4, -(1 - x) / 4
        return Shapes(np.ones(4), L, dL, N, np.stack(dN, axis=1), np.array([1, -1, 1, -1]) / 4, C)
