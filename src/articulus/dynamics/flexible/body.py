"""One body, rigid or flexible: its inertia, and the forces that its own motion takes.

Source of the equations: kinetic energy of a floating frame (Shabana 2013, chapter 5) in body axes; momenta P and pi obey
P' + V x* P = F and pi' - dT/deta + K eta + D eta' = f.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.mechanism.modes import Modes
from articulus.spatial import Force, Motion, RigidInertia


@dataclass(frozen=True)
class ElasticBody:
    """Mass matrix [[rr, rf], [rf', ff]] of (V, eta_dot) at eta, and the elastic matrices."""

    eta: SX
    rr: SX
    rf: SX
    ff: SX
    stiffness: SX
    damping: SX

    @staticmethod
    def rigid(inertia: RigidInertia) -> ElasticBody:
        """Return a body without modes."""
        columns = []
        for k in range(6):
            unit = SX(6, 1)
            unit[k] = 1
            columns.append((inertia @ Motion.of(unit)).column())
        none = SX(0, 0)
        return ElasticBody(SX(0, 1), ca.horzcat(*columns), SX(6, 0), none, none, none)

    @staticmethod
    def of(modes: Modes, eta: SX) -> ElasticBody:
        """Return a flexible body at its modal coordinates."""
        rr, rf = _constant(modes.rr0), _constant(modes.rf0)
        if modes.level != "ruthless":
            second = modes.rr2 + (modes.rr2_shortening if modes.level == "consistent" else 0)
            first = modes.rf1 + (modes.rf1_shortening if modes.level == "consistent" else 0)
            for k in range(modes.count):
                rf = rf + _constant(first[k]) * eta[k]
                rr = rr + _constant(modes.rr1[k]) * eta[k]
                for l in range(k, modes.count):
                    share = 0.5 if k == l else 1.0
                    rr = rr + _constant(second[k, l]) * (share * eta[k] * eta[l])
        parts = (modes.ff, modes.stiffness, modes.damping)
        return ElasticBody(eta, rr, rf, *map(_constant, parts))

    def forces(self, V: Motion, rate: SX, A: SX, acceleration: SX) -> tuple[SX, SX]:
        """Return the wrench (6,) and the modal forces (n,) that the motion takes.

        Parameters
        ----------
        V : Motion
            Velocity of the body frame.
        rate, acceleration : SX, (n,)
            Of the modal coordinates.
        A : SX, (6,)
            Derivative of the components of V.
        """
        n = self.eta.numel()
        v = V.column()
        P = ca.mtimes(self.rr, v) + ca.mtimes(self.rf, rate)
        F = ca.mtimes(self.rr, A) + V.cross_force(Force.of(P)).column()
        if not n:
            return F, SX(0, 1)
        F = F + ca.mtimes(self.rf, acceleration) + ca.jtimes(P, self.eta, rate)
        turned = ca.mtimes(self.rf.T, v)
        T = 0.5 * ca.dot(v, ca.mtimes(self.rr, v)) + ca.dot(turned, rate)
        f = ca.mtimes(self.rf.T, A) + ca.mtimes(self.ff, acceleration) + ca.jtimes(turned, self.eta, rate)
        f = f - ca.gradient(T, self.eta) + ca.mtimes(self.stiffness, self.eta) + ca.mtimes(self.damping, rate)
        return F, f

    def kinetic(self, V: SX, rate: SX) -> SX:
        """Return the kinetic energy [J]."""
        T = 0.5 * ca.dot(V, ca.mtimes(self.rr, V))
        if self.eta.numel():
            T = T + ca.dot(V, ca.mtimes(self.rf, rate)) + 0.5 * ca.dot(rate, ca.mtimes(self.ff, rate))
        return T

    def elastic(self) -> SX:
        """Return the elastic energy [J]."""
        return 0.5 * ca.dot(self.eta, ca.mtimes(self.stiffness, self.eta)) if self.eta.numel() else SX(0)

    @property
    def mass(self) -> SX:
        return self.rr[3, 3]

    @property
    def first_moment(self) -> SX:
        """Return mass times position of the centre of mass in the body frame, (3,) [kg m]."""
        return ca.vertcat(self.rr[2, 4], self.rr[0, 5], self.rr[1, 3])


def _constant(array: np.ndarray) -> SX:
    """Return a constant matrix; numbers of rounding size beside its largest are zero."""
    array = np.asarray(array, dtype=float)
    small = 1e-14 * np.abs(array).max(initial=0.0)
    return ca.sparsify(SX(ca.DM(np.where(np.abs(array) <= small, 0.0, array))))
