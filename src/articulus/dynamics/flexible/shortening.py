"""How the displacement of second order, the shortening of a bent beam, takes part in the motion of a body.

It is spanned by a few functions b of the material point, orthonormal over the mass; the share of one of them in the
places of all points,

    X(eta) = r + F eta + 1/2 eta' second eta

moves as a particle of unit mass does. What first order alone gives is in the constants of the body (`Integrals`); here are
all other terms of these particles. Their sum is the kinetic energy of a displacement field, so that the mass matrix is
positive definite at any deflection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.integrals import Particle, contract, nonzero, quadratic_form, sparse
from articulus.spatial import Motion, cross, skew


@dataclass(frozen=True)
class Shortening:
    """The terms of one particle at the modal coordinates eta, (n,)."""

    of: Particle
    eta: SX

    @cached_property
    def F(self) -> SX:
        """Derivative of the part of first order by the modal coordinates, (3, n)."""
        return sparse(self.of.first)

    @cached_property
    def G(self) -> SX:
        """Derivative of the part of second order, (3, n)."""
        return contract(self.of.second, self.eta)

    @cached_property
    def s(self) -> SX:
        """Part of second order, (3,)."""
        return 0.5 * ca.mtimes(self.G, self.eta)

    @cached_property
    def X(self) -> SX:
        """Place of the particle, (3,)."""
        return sparse(self.of.place) + ca.mtimes(self.F, self.eta) + self.s

    # its part of the mass matrix of (V, eta_dot)

    def moments(self) -> SX:
        """Return first moment and moments of inertia, (9,)."""
        half = ca.mtimes(self.X - 0.5 * self.s, self.s.T)
        return self.of.sign * ca.vertcat(self.of.weight * self.s, _inertia(half + half.T))

    def moment_rates(self, rate: SX) -> SX:
        """Return their derivatives in time, (9,)."""
        moved, turned = ca.mtimes(self.F, rate), ca.mtimes(self.G, rate)
        half = ca.mtimes(self.X - self.s, turned.T) + ca.mtimes(self.s, (moved + turned).T)
        return self.of.sign * ca.vertcat(self.of.weight * turned, _inertia(half + half.T))

    def rf(self) -> SX:
        """Return the angular and linear momentum of unit modal rates, (6, n)."""
        angular = ca.mtimes(skew(self.X), self.G) + ca.mtimes(skew(self.s), self.F)
        return self.of.sign * ca.vertcat(angular, self.of.weight * self.G)

    def ff(self) -> tuple[SX, np.ndarray]:
        """Return rows S, (m, n), and a constant matrix with sign S'S + constant the modal mass matrix, (n, n)."""
        rows = np.flatnonzero(nonzero(self.of.second).any(axis=(0, 2))).tolist()
        first = self.of.first[rows]
        return self.F[rows, :] + self.G[rows, :], -self.of.sign * first.T @ first

    # its motion: what all of X gives, and what the part of second order gives

    def momentum(self, V: Motion, rate: SX) -> SX:
        """Return angular and linear momentum in body axes, (6,)."""
        whole, second = self._velocities(V, rate)
        return self._wrench(whole, second)

    def kinetic(self, V: Motion, rate: SX) -> SX:
        """Return the kinetic energy [J]."""
        whole, second = self._velocities(V, rate)
        return self.of.sign * ca.dot(whole - 0.5 * second, second)

    def forces(self, V: Motion, rate: SX, A: Motion, acceleration: SX) -> tuple[SX, SX]:
        """Return the wrench (6,) and the modal forces (n,) that the motion takes; see `ElasticBody.forces`."""
        bend, turned = quadratic_form(self.of.second, rate), ca.mtimes(self.G, rate)
        second = bend + cross(V.w, 2 * turned + cross(V.w, self.s))
        second = second + cross(A.w, self.s) + ca.mtimes(self.G, acceleration)
        rest, moved = self.X - self.s, ca.mtimes(self.F, rate)
        first = cross(V.w, 2 * moved + cross(V.w, rest) + self.of.weight * V.v) + self.of.weight * A.v
        first = first + cross(A.w, rest) + ca.mtimes(self.F, acceleration)
        whole = first + second
        modal = ca.mtimes(self.G.T, whole) + ca.mtimes(self.F.T, second)
        return self._wrench(whole, second), self.of.sign * modal

    def _velocities(self, V: Motion, rate: SX) -> tuple[SX, SX]:
        second = cross(V.w, self.s) + ca.mtimes(self.G, rate)
        first = self.of.weight * V.v + cross(V.w, self.X - self.s) + ca.mtimes(self.F, rate)
        return first + second, second

    def _wrench(self, whole: SX, second: SX) -> SX:
        """Return X x whole - (X - s) x (whole - second), and the linear part, (6,)."""
        angular = cross(self.X - self.s, second) + cross(self.s, whole)
        return self.of.sign * ca.vertcat(angular, self.of.weight * second)


def _inertia(moment: SX) -> SX:
    """Return the moments of inertia (upper triangle) of a second moment of mass (3, 3), (6,)."""
    I = ca.trace(moment) * SX.eye(3) - moment
    return ca.vertcat(I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])


def mirror_upper_half(block: SX) -> SX:
    """Return a symmetric block of which only the upper half is computed."""
    return ca.triu2symm(ca.triu(block))
