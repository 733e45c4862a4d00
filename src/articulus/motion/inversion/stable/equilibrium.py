"""States of rest of a system for given outputs, and what the zero dynamics does near them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import NumericalError
from articulus.motion.inversion.stable.normal_form import NormalForm
from articulus.motion.inversion.stable.system import NonlinearSystem
from articulus.numerics.newton import newton
from articulus.numerics.subspaces import invariant_subspace, near_axis

NEAR_AXIS = 1e-4
"""Real part over size of a zero below which it counts as on the imaginary axis."""
SLOW = 1e-2
"""Real part of a zero times the duration of the motion below which it counts as on the imaginary axis."""
ROUND_OFF = 1e-13
"""Rates and errors of the outputs left at an equilibrium, over the size of their terms there."""


class EquilibriumSolver:
    """Finds x and u with f(x) + g(x) u = 0 and h(x) = y by Newton's method."""

    def __init__(self, system: NonlinearSystem):
        self.system = system
        n, m = system.g.shape
        u, y = SX.sym("u", m), SX.sym("y", m)
        residual = ca.vertcat(system.f + ca.mtimes(system.g, u), system.h - y)
        z = ca.vertcat(system.x, u)
        self._n = n
        self._newton = ca.Function("rest", [z, y], ca.cse([residual, ca.jacobian(residual, z)]))

    def __call__(self, y: np.ndarray, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (x, u) of rest with outputs y, from an estimate."""
        z, history = newton(
            np.concatenate([x, u]),
            lambda z: self._at(z, y)[0],
            lambda z, off: -np.linalg.lstsq(self._at(z, y)[1], off, rcond=1e-12)[0],
            np.add,
            ROUND_OFF,
        )
        if history[-1] <= ROUND_OFF * (1 + np.abs(self._at(z, y)[1]).max() * np.abs(z).max()):
            return z[: self._n], z[self._n :]
        raise NumericalError(
            f"{self.system.name}: no state of rest found for outputs {np.array2string(y, precision=6)}: imbalance {history[-1]:.3g}; "
            "expected a motion that begins and ends where the system can be at rest, and x0 near its start"
        )

    def _at(self, z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, J = self._newton(z, y)
        return np.array(residual).ravel(), np.array(J)


@dataclass(frozen=True, eq=False)
class End:
    """Start or end of a motion: equilibrium and the directions of its zero dynamics.

    Parameters
    ----------
    x, u, eta : arrays
        Of rest.
    A : array, (k, k)
        Zero dynamics near it.
    zeros : complex array, (k,) [rad/s]
    stable, unstable : arrays, (ks, k), (ku, k)
        Rows that give the parts of eta in the stable and in the unstable subspace.
    """

    x: np.ndarray
    u: np.ndarray
    eta: np.ndarray
    A: np.ndarray
    zeros: np.ndarray
    stable: np.ndarray
    unstable: np.ndarray


def end(form: NormalForm, x: np.ndarray, u: np.ndarray, duration: float, where: str) -> End:
    """Return the zero dynamics near an equilibrium; refuses zeros on the imaginary axis or next to it.

    Parameters
    ----------
    duration : float [s]
        Duration of the desired motion, by which zeros are slow or not.
    where : str
        "start" or "end", for the message.
    """
    A = form.zero_dynamics(x)
    zeros = np.linalg.eigvals(A).astype(complex) if len(A) else np.zeros(0, dtype=complex)
    zeros = zeros[np.argsort(zeros.real, kind="stable")]
    limit = np.maximum(NEAR_AXIS * np.abs(zeros), SLOW / duration)
    near = near_axis(zeros, NEAR_AXIS, SLOW / duration)
    if near.any():
        listed = ", ".join(f"{z:.6g}" for z in zeros[near])
        raise NumericalError(
            f"{form.system.name}: zeros on or next to the imaginary axis at the {where} of the motion: {listed} rad/s; expected real parts of at least "
            f"{limit[near].max():.3g} in size: the internal motion would neither die out forward nor backward in time. Give what is inside some "
            "damping (1e-3 of critical is enough), or choose other outputs or inputs"
        )
    stable, unstable = (
        invariant_subspace(A.T, zeros, part).basis.T for part in (zeros.real < 0, zeros.real > 0)
    )
    return End(x, u, form.coordinates(x[None])[1][0], A, zeros, stable, unstable)
