"""Thick shell with three nodes: discrete Kirchhoff-Mindlin bending (DKMT) and Allman's membrane, three points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from articulus.structure.element.shell_triangle import ShellTriangle


@dataclass(frozen=True)
class MindlinTriangle(ShellTriangle):
    """A triangle of a thick shell: it yields to transverse shear, `shear` of its plate.

    Parameters
    ----------
    a, b, c : str or int
        Nodes; the normal sees them counterclockwise.
    plate : Plate
        Its section, with a transverse shear stiffness.
    along : three floats
        Direction whose part in the surface is the x axis of the plate; from a to b if not given.
    """

    thick: ClassVar[bool] = True
