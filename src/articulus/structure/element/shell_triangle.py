"""Thin shell with three nodes: discrete Kirchhoff bending (DKT) and Allman's membrane, three points."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.element.shell import Shapes, Shell, nodes_of
from articulus.structure.plate import Plate


@dataclass(frozen=True)
class ShellTriangle(Shell):
    """A triangle of a thin shell.

    Parameters
    ----------
    a, b, c : str or int
        Nodes; the normal sees them counterclockwise.
    plate : Plate
        Its section.
    along : three floats
        Direction whose part in the surface is the x axis of the plate; from a to b if not given.
    """

    a: Node
    b: Node
    c: Node
    plate: Plate
    along: Sequence[float] | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        return nodes_of(self.a, self.b, self.c)

    @classmethod
    @functools.cache
    def shapes(cls) -> Shapes:
        xi = np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]])
        L = np.column_stack([1 - xi.sum(axis=1), xi])
        dL = np.broadcast_to([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]], (3, 3, 2))
        after, d_after = np.roll(L, -1, axis=1), np.roll(dL, -1, axis=1)
        dN = 4 * (dL * after[..., None] + L[..., None] * d_after)
        C = (L[..., None] * d_after - after[..., None] * dL).swapaxes(1, 2)
        return Shapes(np.full(3, 1 / 6), L, dL, 4 * L * after, dN, np.zeros(3), C)
