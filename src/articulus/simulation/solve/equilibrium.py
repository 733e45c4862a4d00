"""Static equilibrium of open and closed mechanisms."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.flexible import validity
from articulus.dynamics.loops.free_coordinates import split, tangent
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError
from articulus.model.mechanism.scales import Scales
from articulus.numerics.newton import SMALL_MOTION, least_step, newton
from articulus.simulation.solve.assembly import assemble, one_state

ROUNDING = 1e-12
"""Part of the largest force, both times a large displacement, below which a force is rounding of it [-]."""


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest.

    Attributes
    ----------
    q : array, (nq,)
    multipliers : array, (rows,)
        Multipliers of the constraints, in the order of `constraint_names`.
    stable : bool
        Whether no small displacement that the constraints allow is pushed further away.
    stiffness : array, (degrees of freedom,)
        Eigenvalues of the stiffness against such displacements, smallest first [N m/rad, N/m]: a negative one is
        unstable, zero is indifferent.
    residuals : tuple of float
        Largest force out of balance at the estimate and after each Newton step [N m, N].
    """

    q: np.ndarray
    multipliers: np.ndarray
    stable: bool
    stiffness: np.ndarray
    residuals: tuple[float, ...]

    def __str__(self) -> str:
        kind = "stable" if self.stable else f"unstable (stiffness {self.stiffness[0]:.4g})"
        return f"{kind} equilibrium at q = {np.array2string(self.q, precision=6)}"


def equilibrium(
    mechanism: Mechanism,
    guess: Any = None,
    tau: Any = None,
    t: float = 0.0,
    *,
    tolerance: float = 1e-9,
    params: Mapping[str, Any] | None = None,
) -> Equilibrium:
    """Return a position of rest near an estimate, stable or not, of an open or closed mechanism.

    Newton's method on bias(q, 0) + G' lambda = tau and g(q, t) = 0 with exact derivatives; steps that make the
    residual worse are halved. Motions that meet no force at all (a free body without gravity) stay as estimated.
    Forces count in parts of the largest that acts along the same degree of freedom, or that a large displacement
    (`mechanism.scales`: 1 rad, the mechanism's own length) would bring about; open loops in parts of that length.

    Parameters
    ----------
    mechanism : Mechanism
    guess : array, (nq,)
        Estimate of the position; neutral if not given.
    tau : array, (nv,) [N m or N]
        Constant joint forces; zero if not given.
    t : float [s]
        Time at which prescribed motions are held.
    tolerance : float [-]
        Largest force out of balance and largest residual of a loop, both over what is large in that row.
    params : dict of parameter name to number

    Raises
    ------
    NumericalError
        With the force out of balance that was reached, and where.
    """
    forces = one_state("tau", mechanism.velocities(tau, "tau"), mechanism.nv)
    start = one_state("q", mechanism.positions(guess), mechanism.nq)
    start = mechanism.description.with_unit_quaternions(start, "equilibrium")
    balance = _Balance(mechanism, forces, t, params)
    if mechanism.description.constraints:
        start = assemble(mechanism, start, t=t, params=params).q
    x = balance.begin(start)
    sizes = balance.sizes(x)
    x, history = newton(x, balance.residual, balance.step, balance.displace, tolerance, sizes)
    balance.require(x, tolerance * np.maximum(sizes, balance.sizes(x)), len(history) - 1)
    stiffness, stable = balance.stiffness(x)
    validity.look(mechanism, "equilibrium", balance.split(x)[0], None, params)
    return Equilibrium(*balance.split(x), stable, stiffness, history)


@dataclass(frozen=True)
class _Balance:
    """bias(q, 0) + G' lambda - tau and g, as functions of x = (q, lambda)."""

    mechanism: Mechanism
    tau: np.ndarray
    t: float
    params: Mapping[str, Any] | None

    @functools.cached_property
    def scales(self) -> Scales:
        return self.mechanism.description.scales(self.params)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x[: self.mechanism.nq], x[self.mechanism.nq :]

    @property
    def _still(self) -> np.ndarray:
        return np.zeros(self.mechanism.nv)

    def gravity(self, x: np.ndarray) -> np.ndarray:
        return self.mechanism.bias(self.split(x)[0], self._still, params=self.params)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        return self.mechanism.constraint_jacobian(self.split(x)[0], self.t, params=self.params)

    def begin(self, q: np.ndarray) -> np.ndarray:
        """Return x with the multipliers that balance best."""
        x = np.concatenate([q, np.zeros(len(self.mechanism.constraint_names))])
        G = self.jacobian(x)
        large = self.scales.displacement
        pull = G * large / self.scales.row_sizes(G)[:, None]
        moving = np.ones(len(G), dtype=bool)
        x[self.mechanism.nq :] = least_step(
            pull.T, (self.tau - self.gravity(x)) * large, moving
        ) / self.scales.row_sizes(G)
        return x

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """Return what is large in each row: forces that act or that a large displacement brings about, and residuals."""
        n, large, G = self.mechanism.nv, self.scales.displacement, self.jacobian(x)
        acting = [self.gravity(x), self.tau, *(G * self.split(x)[1][:, None])]
        forces = np.maximum.reduce([np.abs(f) for f in acting])
        stiff = np.abs(self.derivative(x)[:n, :n] * large).max(axis=1, initial=0.0)
        forces = np.maximum(forces, stiff)
        largest = (forces * large).max(initial=0.0) or 1.0
        return np.concatenate([np.maximum(forces, ROUNDING * largest / large), self.scales.row_sizes(G)])

    def residual(self, x: np.ndarray) -> np.ndarray:
        q, multipliers = self.split(x)
        forces = self.gravity(x) - self.tau + self.jacobian(x).T @ multipliers
        return np.concatenate([forces, self.mechanism.constraint_residual(q, self.t, params=self.params)])

    def derivative(self, x: np.ndarray) -> np.ndarray:
        (q, multipliers), still, G = self.split(x), self._still, self.jacobian(x)
        K = self.mechanism.tree.inverse_dynamics_derivatives(q, still, still, params=self.params)[0]
        K = (
            K
            + self.mechanism.constraint_derivatives(q, still, still, multipliers, self.t, params=self.params)[
                0
            ]
        )
        return np.block([[K, G.T], [G, np.zeros((len(G), len(G)))]])

    def step(self, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
        columns = self._columns(x)
        return least_step(
            self.derivative(x), -residual, np.ones(len(residual), dtype=bool), self.sizes(x), columns
        )

    def _columns(self, x: np.ndarray) -> np.ndarray:
        """Return what is a large change of each unknown: displacements, and multipliers that balance the largest force."""
        n, large = self.mechanism.nv, self.scales.displacement
        sizes = self.sizes(x)
        energy = (sizes[:n] * large).max(initial=0.0)
        return np.concatenate([large, energy / sizes[n:]])

    def displace(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        (q, multipliers), n = self.split(x), self.mechanism.nv
        return np.concatenate([self.mechanism.integrate_position(q, by[:n]), multipliers + by[n:]])

    def stiffness(self, x: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return the eigenvalues of the stiffness against displacements that the constraints allow, and whether none is negative.

        The sign is judged where displacements are measured in large ones: no unit of a coordinate hides the stiffness of another.
        """
        n = self.mechanism.nv
        K = self.derivative(x)
        G = K[n:, :n]
        T = tangent(G, split(self.scales.plain(G)))
        large = self.scales.displacement
        plain = _reduced(large[:, None] * K[:n, :n] * large, T / large[:, None])
        slack = SMALL_MOTION * np.abs(plain).max(initial=0.0)
        return _reduced(K[:n, :n], T), bool((plain >= -slack).all())

    def require(self, x: np.ndarray, allowed: np.ndarray, steps: int) -> None:
        """Raise NumericalError unless the forces balance and the loops are closed."""
        left = self.residual(x)
        if (np.abs(left) <= allowed).all():
            return
        m = self.mechanism
        labels = (*(f"joint force '{name}'" for name in m.v_names), *m.constraint_names)
        worst = int(np.argmax(np.abs(left) / np.where(allowed > 0, allowed, np.finfo(float).tiny)))
        raise NumericalError(
            f"equilibrium: '{m.name}' is out of balance by {abs(left[worst]):.3g} after {steps} steps, most in "
            f"{labels[worst]}; expected at most {allowed[worst]:.3g}. There may be no position of rest "
            "with these forces; try another estimate"
        )


def _reduced(K: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a stiffness within the span of T, smallest first."""
    Z = np.linalg.qr(T)[0]
    reduced = Z.T @ K @ Z
    return np.linalg.eigvalsh((reduced + reduced.T) / 2)
