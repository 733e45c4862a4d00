"""Static equilibrium of open and closed mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.loops.free_coordinates import split, tangent
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError
from articulus.simulation.solve.assembly import SMALL_MOTION, assemble, least, newton, one_state


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest.

    Attributes
    ----------
    q : array, (nq,)
    multipliers : array, (rows,)
        Of the constraints, in the order of `constraint_names`.
    stable : bool
        Whether no small displacement that the constraints allow is pushed further away.
    stiffness : array, (freedoms,)
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
    q: Any = None,
    tau: Any = None,
    t: float = 0.0,
    *,
    tolerance: float = 1e-9,
    params: Mapping[str, Any] | None = None,
) -> Equilibrium:
    """Return a position of rest near an estimate, stable or not, of an open or closed mechanism.

    Newton's method on bias(q, 0) + G' lambda = tau and g(q, t) = 0 with exact derivatives; steps that make the
    residual worse are halved. Motions that meet no force at all (a free body without gravity) stay as estimated.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (nq,)
        Estimate of the position; neutral if not given.
    tau : array, (nv,) [N m or N]
        Constant joint forces; zero if not given.
    t : float [s]
        Time at which prescribed motions are held.
    tolerance : float [-]
        Largest force out of balance, over the largest joint force at the estimate (or 1).
    params : dict of parameter name to number

    Raises
    ------
    NumericalError
        With the force out of balance that was reached, and where.
    """
    forces = one_state("tau", mechanism.velocities(tau, "tau"), mechanism.nv)
    start = one_state("q", mechanism.positions(q), mechanism.nq)
    balance = _Balance(mechanism, forces, t, params)
    if mechanism.description.constraints:
        start = assemble(mechanism, start, t=t, params=params).q
    x = balance.begin(start)
    wanted = tolerance * max(
        1.0, np.abs(forces).max(initial=0.0), np.abs(balance.gravity(x)).max(initial=0.0)
    )
    x, history = newton(x, balance.residual, balance.step, balance.moved, wanted)
    balance.require(x, wanted, len(history) - 1)
    stiffness = balance.stiffness(x)
    slack = SMALL_MOTION * np.abs(stiffness).max(initial=0.0)
    return Equilibrium(*balance.split(x), bool((stiffness >= -slack).all()), stiffness, history)


@dataclass(frozen=True)
class _Balance:
    """bias(q, 0) + G' lambda - tau and g, as functions of x = (q, lambda)."""

    mechanism: Mechanism
    tau: np.ndarray
    t: float
    params: Mapping[str, Any] | None

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
        x[self.mechanism.nq :] = least(G.T, self.tau - self.gravity(x), np.ones(len(G), dtype=bool))
        return x

    def residual(self, x: np.ndarray) -> np.ndarray:
        q, multipliers = self.split(x)
        forces = self.gravity(x) - self.tau + self.jacobian(x).T @ multipliers
        return np.concatenate([forces, self.mechanism.constraint_residual(q, self.t, params=self.params)])

    def derivative(self, x: np.ndarray) -> np.ndarray:
        (q, multipliers), still, G = self.split(x), self._still, self.jacobian(x)
        K = self.mechanism.tree_inverse_dynamics_derivatives(q, still, still, params=self.params)[0]
        K = (
            K
            + self.mechanism.constraint_derivatives(q, still, still, multipliers, self.t, params=self.params)[
                0
            ]
        )
        return np.block([[K, G.T], [G, np.zeros((len(G), len(G)))]])

    def step(self, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
        return least(self.derivative(x), -residual, np.ones(len(residual), dtype=bool))

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        (q, multipliers), n = self.split(x), self.mechanism.nv
        return np.concatenate([self.mechanism.integrate_position(q, by[:n]), multipliers + by[n:]])

    def stiffness(self, x: np.ndarray) -> np.ndarray:
        """Return the eigenvalues of the stiffness against displacements that the constraints allow."""
        n = self.mechanism.nv
        K = self.derivative(x)
        G = K[n:, :n]
        Z = np.linalg.qr(tangent(G, split(G)))[0]
        reduced = Z.T @ K[:n, :n] @ Z
        return np.linalg.eigvalsh((reduced + reduced.T) / 2)

    def require(self, x: np.ndarray, wanted: float, steps: int) -> None:
        """Raise NumericalError unless the forces balance."""
        left = self.residual(x)
        if np.abs(left).max(initial=0.0) <= wanted:
            return
        m = self.mechanism
        labels = (*(f"joint force '{name}'" for name in m.v_names), *m.constraint_names)
        raise NumericalError(
            f"equilibrium: '{m.name}' is out of balance by {np.abs(left).max():.3g} after {steps} steps, most in "
            f"{labels[int(np.argmax(np.abs(left)))]}; expected at most {wanted:.3g}. There may be no position of rest "
            "with these forces; try another estimate"
        )
