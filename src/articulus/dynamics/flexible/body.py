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
    """Mass matrix [[rr, rf], [rf', ff]] of (V, eta_dot) at eta, its derivatives by eta, and the elastic matrices."""

    eta: SX
    rr: SX
    rf: SX
    ff: SX
    rr_by: tuple[SX, ...]
    """Derivative of rr by each modal coordinate."""
    rf_by: tuple[SX, ...]
    first_moment: SX
    """Mass times position of the centre of mass in the body frame, (3,) [kg m]."""
    stiffness: SX
    damping: SX

    @staticmethod
    def rigid(inertia: RigidInertia) -> ElasticBody:
        """Return a body without modes."""
        units = (Motion.of(SX(ca.DM(e))) for e in ca.horzsplit(ca.DM.eye(6)))
        rr, none = ca.horzcat(*((inertia @ unit).column() for unit in units)), SX(0, 0)
        return ElasticBody(SX(0, 1), rr, SX(6, 0), none, (), (), inertia.h, none, none)

    @staticmethod
    def of(modes: Modes, eta: SX) -> ElasticBody:
        """Return a flexible body at its modal coordinates; at the "ruthless" level nothing of it depends on them."""
        n, level = modes.count, modes.level
        second = modes.rr2 + (modes.rr2_shortening if level == "consistent" else 0)
        first = modes.rf1 + (modes.rf1_shortening if level == "consistent" else 0)
        rr, rf = _constant(modes.rr0), _constant(modes.rf0)
        rr_by, rf_by = [_constant(x) for x in modes.rr1], [_constant(x) for x in first]
        if level == "ruthless":
            rf_by, moment = [SX(6, n)] * n, _first_moment(rr) + ca.mtimes(rf[3:, :], eta)
        else:
            for k in range(n):
                rr, rf = rr + rr_by[k] * eta[k], rf + rf_by[k] * eta[k]
            for k in range(n):
                slope = SX(6, 6)
                for l in range(n):
                    slope = slope + _constant(second[k, l]) * eta[l]
                rr, rr_by[k] = rr + slope * (0.5 * eta[k]), rr_by[k] + slope
            moment = _first_moment(rr)
        matrices = map(_constant, (modes.stiffness, modes.damping))
        return ElasticBody(eta, rr, rf, _constant(modes.ff), tuple(rr_by), tuple(rf_by), moment, *matrices)

    def forces(self, V: Motion, rate: SX, A: SX, acceleration: SX) -> tuple[SX, SX]:
        """Return the wrench (6,) and the modal forces (n,) that the motion takes, elastic and damping forces left out.

        Parameters
        ----------
        V : Motion
            Velocity of the body frame.
        rate, acceleration : SX, (n,)
            Of the modal coordinates.
        A : SX, (6,)
            Derivative of the components of V.
        """
        v, n = V.column(), self.eta.numel()
        P = ca.mtimes(self.rr, v) + ca.mtimes(self.rf, rate)
        F = ca.mtimes(self.rr, A) + ca.mtimes(self.rf, acceleration) + V.cross_force(Force.of(P)).column()
        f = ca.mtimes(self.rf.T, A) + ca.mtimes(self.ff, acceleration)
        for k in range(n):
            by_rr, by_rf = ca.mtimes(self.rr_by[k], v), ca.mtimes(self.rf_by[k], rate)
            F = F + (by_rr + by_rf) * rate[k]
            f = f + ca.mtimes(self.rf_by[k].T, v) * rate[k]
            f[k] = f[k] - ca.dot(v, 0.5 * by_rr + by_rf)
        return F, f

    def restoring(self, rate: SX) -> SX:
        """Return the elastic and damping forces K eta + D eta_dot, (n,)."""
        return ca.mtimes(self.stiffness, self.eta) + ca.mtimes(self.damping, rate)

    def momentum(self, V: SX, rate: SX) -> SX:
        """Return angular and linear momentum in body axes, (6,)."""
        return ca.mtimes(self.rr, V) + ca.mtimes(self.rf, rate)

    def kinetic(self, V: SX, rate: SX) -> SX:
        """Return the kinetic energy [J]."""
        modal = ca.mtimes(self.rf.T, V) + 0.5 * ca.mtimes(self.ff, rate)
        return 0.5 * ca.dot(V, ca.mtimes(self.rr, V)) + ca.dot(modal, rate)

    def elastic(self) -> SX:
        """Return the elastic energy [J]."""
        return 0.5 * ca.dot(self.eta, ca.mtimes(self.stiffness, self.eta))

    @property
    def mass(self) -> SX:
        """Return the mass [kg]."""
        return self.rr[3, 3]


def _first_moment(rr: SX) -> SX:
    return ca.vertcat(rr[2, 4], rr[0, 5], rr[1, 3])


def _constant(array: np.ndarray) -> SX:
    """Return a constant matrix; numbers of rounding size beside its largest are zero."""
    array = np.asarray(array, dtype=float)
    small = 1e-14 * np.abs(array).max(initial=0.0)
    return ca.sparsify(SX(ca.DM(np.where(np.abs(array) <= small, 0.0, array))))
