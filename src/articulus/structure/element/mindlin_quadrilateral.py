"""Thick shell with four nodes: discrete Kirchhoff-Mindlin bending (DKMQ) and Allman's membrane, two by two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from articulus.structure.element.shell_quadrilateral import ShellQuadrilateral


@dataclass(frozen=True)
class MindlinQuadrilateral(ShellQuadrilateral):
    """A quadrilateral of a thick shell, flat or slightly warped: it yields to transverse shear, `shear` of its plate.

    Parameters
    ----------
    a, b, c, d : str or int
        Nodes in order; the normal sees them counterclockwise.
    plate : Plate
        Its section, with a transverse shear stiffness.
    along : three floats
        Direction whose part in the surface is the x axis of the plate; from a to b if not given.
    """

    thick: ClassVar[bool] = True
