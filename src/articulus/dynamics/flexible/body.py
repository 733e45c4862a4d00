"""One body, rigid or flexible: its inertia, and the forces that its own motion takes.

Source of the equations: kinetic energy of a floating frame (Shabana 2013, chapter 5) in body axes; momenta P and pi obey
P' + V x* P = F and pi' - dT/deta + K eta + D eta' = f.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.data import BodyData, SharedData
from articulus.dynamics.flexible.integrals import Integrals, contract, quadratic_form, sparse
from articulus.dynamics.flexible.shortening import Shortening, mirror_upper_half
from articulus.spatial import Force, Motion, RigidInertia, cross


@dataclass(frozen=True)
class ElasticBody:
    """Mass matrix [[rr, rf], [rf', ff]] of (V, eta_dot) at eta, the forces of a motion, and the elastic matrices.

    Fields that start with `linear` are those of displacements that are linear in eta; `shortening` adds the others.
    """

    constants: Integrals
    level: str
    eta: SX
    linear_inertia: RigidInertia
    """Of the deformed body about the origin of its frame: rr in ten numbers."""
    linear_inertia_by: SX
    """(9, n) Derivatives of its first moment and moments of inertia by each modal coordinate."""
    linear_rf: SX
    linear_ff: SX
    linear_moment: SX
    """Mass times position of the center of mass in the body frame, (3,) [kg m]."""
    stiffness: SX
    damping: SX
    shortening: tuple[Shortening, ...] = ()

    @staticmethod
    def of(data: BodyData | SharedData, eta: SX, carried: RigidInertia | None = None) -> ElasticBody:
        """Return a flexible body at its modal coordinates; at the "ruthless" level nothing of it depends on them.

        Parameters
        ----------
        data : BodyData or SharedData
        eta : SX, (n,)
        carried : RigidInertia, optional
            Rigid bodies that move with the frame of the body.
        """
        c = data.integrals
        by, slopes = sparse(c.rr1), contract(c.rr2, eta)
        mass, numbers, rf = SX(c.mass), sparse(c.rr0), sparse(c.rf0)
        if carried is not None:
            ten = carried.pack()
            mass, numbers = mass + ten[0], numbers + ten[1:]
        if data.level == "ruthless":
            moment = numbers[:3] + ca.mtimes(rf[3:, :], eta)
        else:
            numbers, rf = (
                numbers + ca.mtimes(by + 0.5 * slopes, eta),
                rf + contract(c.swept + c.gyroscopic, eta),
            )
            moment = numbers[:3]
        inertia = RigidInertia.unpack(ca.vertcat(mass, numbers))
        return ElasticBody(
            c,
            data.level,
            eta,
            inertia,
            by + slopes,
            rf,
            sparse(c.ff),
            moment,
            sparse(c.stiffness),
            sparse(c.damping),
            tuple(Shortening(particle, eta) for particle in c.particles),
        )

    @cached_property
    def inertia(self) -> RigidInertia:
        """The inertia rr of the deformed body."""
        inertia = self.linear_inertia
        for each in self.shortening:
            inertia = inertia + RigidInertia.unpack(ca.vertcat(0, each.moments()))
        return inertia

    @cached_property
    def rf(self) -> SX:
        """Momentum for unit modal rates, (6, n)."""
        return sum((each.rf() for each in self.shortening), self.linear_rf)

    @cached_property
    def ff(self) -> SX:
        """Modal mass matrix, (n, n)."""
        if not self.shortening:
            return self.linear_ff
        rows, constants = zip(*(each.ff() for each in self.shortening))
        signed = ca.vertcat(*(each.of.sign * S for each, S in zip(self.shortening, rows)))
        squares = mirror_upper_half(ca.mtimes(signed.T, ca.vertcat(*rows)))
        return squares + (self.linear_ff + sparse(np.sum(constants, axis=0)))

    @cached_property
    def first_moment(self) -> SX:
        """Mass times position of the center of mass in the body frame, (3,) [kg m]."""
        return sum((each.moments()[:3] for each in self.shortening), self.linear_moment)

    def forces(self, V: Motion, rate: SX, A: Motion, acceleration: SX) -> tuple[Force, SX]:
        """Return the wrench and the modal forces (n,) that the motion takes, elastic and damping forces left out.

        Parameters
        ----------
        V : Motion
            Velocity of the body frame. It may be that seen from a frame that moves uniformly with the origin, with no linear
            part; the linear part of A is then the acceleration of the origin.
        rate, acceleration : SX, (n,)
            Rate and acceleration of the modal coordinates.
        A : Motion
            Derivative of the components of V.
        """
        F, f = self.linear_forces(V, rate, A, acceleration)
        for each in self.shortening:
            wrench, modal = each.forces(V, rate, A, acceleration)
            F, f = F + Force.of(wrench), f + modal
        return F, f

    def linear_forces(self, V: Motion, rate: SX, A: Motion, acceleration: SX) -> tuple[Force, SX]:
        """Return the same of displacements that are linear in the modal coordinates."""
        growth = RigidInertia.unpack(ca.vertcat(0, ca.mtimes(self.linear_inertia_by, rate)))
        F = self._linear_momentum(A, acceleration)
        F = F + V.cross_force(Force.of(self._linear_momentum(V, rate))).column()
        F = F + (growth @ V).column() + quadratic_form(self.constants.swept, rate)
        f = ca.mtimes(self.linear_rf.T, A.column()) + ca.mtimes(self.linear_ff, acceleration)
        f = (
            f
            + 2 * ca.mtimes(contract(self.constants.gyroscopic, rate).T, V.column())
            - ca.mtimes(self.linear_inertia_by.T, energies(V))
        )
        return Force.of(F), f

    def growth(self, rate: SX) -> RigidInertia:
        """Return the derivative of the inertia in time."""
        if self.level == "ruthless":
            return RigidInertia.zero()
        nine = ca.mtimes(self.linear_inertia_by, rate)
        nine = sum((each.moment_rates(rate) for each in self.shortening), nine)
        return RigidInertia.unpack(ca.vertcat(0, nine))

    def restoring(self, rate: SX) -> SX:
        """Return the elastic and damping forces K eta + D eta_dot, (n,)."""
        return ca.mtimes(self.stiffness, self.eta) + ca.mtimes(self.damping, rate)

    def momentum(self, V: Motion, rate: SX) -> SX:
        """Return angular and linear momentum in body axes, (6,)."""
        linear = self._linear_momentum(V, rate)
        return sum((each.momentum(V, rate) for each in self.shortening), linear)

    def _linear_momentum(self, V: Motion, rate: SX) -> SX:
        return (self.linear_inertia @ V).column() + ca.mtimes(self.linear_rf, rate)

    def kinetic(self, V: Motion, rate: SX) -> SX:
        """Return the kinetic energy [J]."""
        modal = ca.mtimes(self.linear_rf.T, V.column()) + 0.5 * ca.mtimes(self.linear_ff, rate)
        linear = 0.5 * (self.linear_inertia @ V).dot(V) + ca.dot(modal, rate)
        return sum((each.kinetic(V, rate) for each in self.shortening), linear)

    def elastic(self) -> SX:
        """Return the elastic energy [J]."""
        return 0.5 * ca.dot(self.eta, ca.mtimes(self.stiffness, self.eta))

    @property
    def mass(self) -> SX:
        """Return the mass [kg]."""
        return self.linear_inertia.m


def energies(V: Motion) -> SX:
    """Return the kinetic energy for each unit of first moment and moments of inertia, (9,)."""
    x, y, z = ca.vertsplit(V.w)
    return ca.vertcat(cross(V.v, V.w), 0.5 * x**2, x * y, x * z, 0.5 * y**2, y * z, 0.5 * z**2)
