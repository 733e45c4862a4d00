"""The modal coordinates of a body as they yield in the articulated-body recursion.

Source: articulated-body recursion (Rodriguez, Jain & Kreutz 1989, section 3) on bodies with modal coordinates (Jain &
Rodriguez 1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.shortening import mirror_upper_half
from articulus.dynamics.loops.factor import Factorization
from articulus.spatial import ArticulatedInertia, Force


@dataclass(frozen=True)
class ModalElimination:
    """Degrees of freedom of mass matrix D = L E L' that yield to an acceleration A that arrives: D y = drive - B' A."""

    D: Factorization
    B: SX
    """(n, 6) L^-1 B'."""
    drive: SX
    """(n,) L^-1 drive."""

    @staticmethod
    def of(D: SX, B: SX, drive: SX) -> ModalElimination:
        """Return degrees of freedom of mass matrix (n, n), with the momentum (6, n) of unit rates, that forces (n,) drive."""
        factored = Factorization(D)
        return ModalElimination(factored, *(factored.forward(ca.densify(x)) for x in (B.T, drive)))

    def under(self, A: SX) -> SX:
        """Return y, (n,)."""
        return self.D.backward(self.drive - ca.mtimes(self.B, A))

    def pack(self) -> SX:
        """Return D^-1 drive and D^-1 B' by columns, all that `under` needs, as a column."""
        return ca.vertcat(self.D.backward(self.drive), ca.vec(ca.densify(self.D.backward(self.B))))

    @staticmethod
    def unpack(numbers: SX) -> EliminatedModes:
        """Return what `pack` holds."""
        n = numbers.numel() // 7
        return EliminatedModes(numbers[:n], ca.reshape(numbers[n:], n, 6))

    def left(self, inertia: ArticulatedInertia, bias: Force) -> tuple[ArticulatedInertia, Force]:
        """Return inertia - B D^-1 B' and bias + B D^-1 drive: what is left when the degrees of freedom yield."""
        scaled = self.D.divide_by_pivots(self.B).T
        w, v = self.B[:, :3], self.B[:, 3:]
        less = ArticulatedInertia(
            inertia.J - mirror_upper_half(ca.mtimes(scaled[:3, :], w)),
            inertia.H - ca.mtimes(scaled[:3, :], v),
            inertia.M - mirror_upper_half(ca.mtimes(scaled[3:, :], v)),
        )
        return less, bias + Force.of(ca.mtimes(scaled, self.drive))


@dataclass(frozen=True)
class EliminatedModes:
    """Degrees of freedom that have given way: y = free - gain A."""

    free: SX
    """(n,)"""
    gain: SX
    """(n, 6)"""

    def under(self, A: SX) -> SX:
        """Return y, (n,)."""
        return self.free - ca.mtimes(self.gain, A)
