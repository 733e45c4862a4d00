"""Norms of linear models: H2 and Hinf (`norm`, `hinfnorm`, `getPeakGain` in MATLAB).

The peak gain is found by the method of Bruinsma & Steinbuch (1990): g is above the largest singular value at all frequencies
if the Hamiltonian matrix of g has no imaginary eigenvalue; if it has some, between them lie frequencies of larger gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root
from articulus.control.analysis.scaling import scaled
from articulus.control.analysis.stable import stable_poles
from articulus.control.plant import as_plant
from articulus.control.sampling import continuous
from articulus.linear import LinearModel

ACCURACY = 1e-7
"""Largest relative amount by which some gain can exceed the peak that is returned."""
NEAR_AXIS = 1e-5
"""Real part over size up to which an eigenvalue is looked at as an imaginary one; too many cost time, none can be missed."""
ROUNDS = 60


class Norm(float):
    """A norm of a linear model: a number that knows where and why.

    Parameters
    ----------
    value : float
        Infinite if there is none; `reason` then says why.
    omega : float [rad/s]
        Where the gain has its peak; NaN for the H2 norm.
    reason : str
    """

    omega: float
    reason: str

    def __new__(cls, value: float, omega: float = np.nan, reason: str = "") -> Norm:
        """Return the number with what is known about it."""
        self = super().__new__(cls, value)
        self.omega, self.reason = omega, reason
        return self

    @property
    def value(self) -> float:
        """The number alone."""
        return float(self)

    def __str__(self) -> str:
        at = "" if np.isnan(self.omega) else f" at {self.omega:.6g} rad/s"
        return f"{self:.6g}{at}" + (f" ({self.reason})" if self.reason else "")

    def __repr__(self) -> str:
        return f"<Norm {self}>"


def h2norm(plant: Any) -> Norm:
    """Return the H2 norm: root mean square of the outputs for white noise of unit intensity at the inputs.

    Infinite for a plant that is not asymptotically stable and for a continuous one with feedthrough.
    """
    model, _ = scaled(as_plant(plant, "h2norm"))
    reason = _unstable(model)
    if not reason and model.period is None and np.abs(model.D).max(initial=0.0) > 0:
        i, j = np.argwhere(model.D)[0]
        reason = f"feedthrough {model.D[i, j]:.4g} from {model.inputs[j]} to {model.outputs[i]}"
    if reason:
        return Norm(np.inf, reason=reason)
    square = np.sum((model.C @ controllability_root(model)) ** 2) + np.sum(model.D**2)
    return Norm(float(np.sqrt(square)))


def hinfnorm(plant: Any) -> Norm:
    """Return the Hinf norm: the peak over all frequencies of the largest singular value; infinite unless stable."""
    model = as_plant(plant, "hinfnorm")
    reason = _unstable(model)
    return Norm(np.inf, reason=reason) if reason else peak_gain(model)


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small solves: threads only wait for each other
def peak_gain(plant: Any) -> Norm:
    """Return the peak of the largest singular value over frequency, also of unstable plants (`getPeakGain` in MATLAB)."""
    model = as_plant(plant, "peak_gain")
    if not model.D.size:
        return Norm(0.0, 0.0)
    period = model.period
    if period is not None:
        on_circle = np.abs(np.abs(np.linalg.eigvals(model.A)) - 1.0) < 1e-13
        if on_circle.any():
            return Norm(np.inf, reason="a pole on the boundary of stability")
        model = continuous(model)
    model, _ = scaled(model)
    found, omega = _peak(model)
    if period is not None:
        omega = np.pi / period if np.isinf(omega) else 2.0 * np.arctan(0.5 * omega * period) / period
    reason = "" if np.isfinite(found) else "a pole on the boundary of stability"
    return Norm(found, omega, reason)


class Gains:
    """Largest singular values of the response of a continuous model at single frequencies, from its Schur form."""

    def __init__(self, model: LinearModel):
        self.T, Z = scipy.linalg.schur(model.A, output="complex")
        self.B, self.C, self.D = Z.conj().T @ model.B, model.C @ Z, model.D
        self.places = np.diag_indices(len(self.T))

    def __call__(self, omega: float) -> float:
        """Return the gain at a frequency [rad/s], which may be infinite."""
        if np.isinf(omega):
            return _largest(self.D)
        shifted = -self.T
        shifted[self.places] += 1j * omega
        if not shifted[self.places].all():
            return np.inf
        return _largest(self.C @ scipy.linalg.solve_triangular(shifted, self.B, check_finite=False) + self.D)


def _largest(response: np.ndarray) -> float:
    """Return the largest singular value; a search asks thousands of times, and `np.linalg.norm` takes twice as long."""
    return float(np.linalg.svd(response, compute_uv=False)[0])


def _peak(model: LinearModel) -> tuple[float, float]:
    """Return the peak gain of a continuous model and its frequency."""
    if not len(model.A):
        return _largest(model.D), 0.0
    gain, poles = Gains(model), np.linalg.eigvals(model.A)
    on_axis = np.abs(poles.real) <= 1e-15 * np.abs(poles).max(initial=0.0)
    starts = np.unique(np.abs(np.concatenate([[0.0], poles.imag, np.abs(poles)])))
    best, omega = max([(gain(np.inf), np.inf)] + [(gain(w), w) for w in starts])
    if np.isinf(best) or (on_axis.any() and best > 1e12 * max(gain(np.inf), 1e-300)):
        return np.inf, omega
    if best == 0.0:
        best, omega = max((gain(w), w) for w in np.concatenate([starts * 1.7 + 0.3, [1.0]]))
        if best == 0.0:
            return 0.0, 0.0
    best, omega = _polished(gain, best, omega)
    for _ in range(ROUNDS):
        crossings = _crossings(model, best * (1.0 + ACCURACY))
        tried = np.concatenate([crossings, 0.5 * (crossings[1:] + crossings[:-1])])
        higher, at = max([(gain(w), w) for w in tried], default=(0.0, 0.0))
        if higher <= best * (1.0 + ACCURACY):
            break
        best, omega = _polished(gain, higher, at)
    return best, omega


def _polished(gain: Gains, best: float, omega: float) -> tuple[float, float]:
    """Return the local maximum of the gain next to a frequency."""
    if np.isinf(omega) or omega == 0.0:
        return best, omega
    found = minimize_scalar(
        lambda x: -gain(omega * np.exp(x)),
        bounds=(-1e-2, 1e-2),
        method="bounded",
        options={"xatol": 1e-11},
    )
    return max((best, omega), (-float(found.fun), omega * float(np.exp(found.x))))


def _crossings(model: LinearModel, level: float) -> np.ndarray:
    """Return the frequencies at which some singular value of a continuous model may equal a level above that of D."""
    A, B, C, D = model.A, model.B / level, model.C, model.D / level
    if not len(A):
        return np.zeros(0)
    inner, outer = np.eye(D.shape[1]) - D.T @ D, np.eye(len(D)) - D @ D.T
    F = A + B @ np.linalg.solve(inner, D.T @ C)
    H = np.block([[F, B @ np.linalg.solve(inner, B.T)], [-C.T @ np.linalg.solve(outer, C), -F.T]])
    values = np.linalg.eigvals(H)
    near = np.abs(values.real) <= NEAR_AXIS * np.abs(values) + 1e-13 * np.abs(H).max()
    return np.unique(np.abs(values[near].imag))


def _unstable(model: LinearModel) -> str:
    values, inside = stable_poles(model.A, model.period)
    bad = values[~inside]
    return f"not asymptotically stable: pole at {bad[0]:.6g}" if len(bad) else ""
