"""Bounded solution of internal dynamics: the stable half forwards from the start, the other backwards from the end.

Before the start only the second half moves, after the end only the first, both by themselves: their lengths come from how far
they have come by then and from their eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
import scipy.linalg

from articulus.errors import InputError, doubtful
from articulus.motion.inversion.linear.internal import InternalDynamics, known_signal
from articulus.motion.inversion.linear.zeros import NYQUIST, Halves
from articulus.motion.inversion.paths import Path

NODES = 5
"""Places in a step at which the forces on the internal dynamics are taken: exact for polynomials up to the power 4."""
ALTERNATING = 1e-3
"""Part of the peak by which sampled inputs may alternate after the motion without a warning."""
MOST = 2_000_000
"""Most times of a solution."""


@dataclass(frozen=True, eq=False)
class InverseSolution:
    """Times (N,) [s], internal states (N, r), states (N, n), inputs (N, m), desired outputs (N, p), and the state at rest before (n,)."""

    t: np.ndarray
    z: np.ndarray
    x: np.ndarray
    u: np.ndarray
    y: np.ndarray
    rest: np.ndarray


@dataclass(frozen=True)
class Horizon:
    """How long the inputs may begin before the motion and end after it [s] (None: until `cut` of their peak), and the step [s]."""

    step: float
    pre: float | None
    post: float | None
    cut: float


def solve(
    internal: InternalDynamics, parts: Halves, path: Path, horizon: Horizon, sampled: bool, method: str
) -> InverseSolution:
    """Return the motion and the inputs on a grid of times that begins at whole steps before the start of the path."""
    step = horizon.step
    lead = internal.degree if sampled else 0  # later values of the path are used so many steps before
    count = int(np.ceil((path.t_end - path.t0) / step - 1e-9)) + lead
    if count > MOST:
        raise InputError(f"{method}: found {count} steps of {step:g} s; expected at most {MOST}")
    grid = path.t0 + step * np.arange(-lead, count - lead + 1)
    ends = [path.taylor(np.array([x]), 0, right)[0, 0] for x, right in ((path.t0, False), (path.t_end, True))]
    before, after = (equilibrium(internal, y, sampled) for y in ends)
    nf = len(parts.A)
    low, high = parts.rows @ before, parts.rows @ after
    if sampled:
        force = (
            known_signal(internal.f, sample_derivatives(path, grid[:-1], internal.degree, step, sampled))
            @ parts.rows.T
        )
        a = _march(parts.A, force[:, :nf], low[:nf])
        back = np.linalg.inv(parts.B) if len(parts.B) else parts.B
        b = _march(back, -force[::-1, nf:] @ back.T, high[nf:])[::-1]
        ahead, behind = parts.A, back
    else:
        nodes, forward = _weights(parts.A, step)
        backward = _weights(-parts.B, step)[1]
        times = grid[:-1, None] + step * nodes
        force = known_signal(internal.f, path.derivatives(times.ravel(), internal.degree)) @ parts.rows.T
        force = force.reshape(count, NODES, -1)
        ahead, behind = scipy.linalg.expm(step * parts.A), scipy.linalg.expm(-step * parts.B)
        a = _march(ahead, np.einsum("jab,njb->na", forward, force[..., :nf]), low[:nf])
        b = _march(behind, np.einsum("jab,njb->na", backward, -force[::-1, ::-1, nf:]), high[nf:])[::-1]
    z = a @ parts.F.T + b @ parts.G.T
    peak = np.abs(
        z @ internal.E.T
        + known_signal(internal.e, sample_derivatives(path, grid, internal.degree, step, sampled))
    ).max(0)
    pre = _length(horizon.pre, internal.E @ parts.G, behind, b[0] - low[nf:], peak, horizon, "pre", method)
    post = _length(
        horizon.post, internal.E @ parts.F, ahead, a[-1] - high[:nf], peak, horizon, "post", method
    )
    lows = _march(behind, np.zeros((pre, len(low) - nf)), b[0] - low[nf:])[:0:-1]
    highs = _march(ahead, np.zeros((post, nf)), a[-1] - high[:nf])[1:]
    z = np.vstack([before + lows @ parts.G.T, z, after + highs @ parts.F.T])
    t = path.t0 + step * np.arange(-lead - pre, count - lead + post + 1)
    motion = sample_derivatives(path, t, internal.degree, step, sampled)
    x = z @ internal.V.T + known_signal(internal.x_f, motion)
    u = -(z @ internal.E.T + known_signal(internal.e, motion))
    rest = (
        internal.V @ before + internal.x_f.sum(0) @ ends[0]
        if sampled
        else internal.V @ before + internal.x_f[0] @ ends[0]
    )
    if sampled:
        _alternating(u, peak, method)
    return InverseSolution(t, z, x, u, motion[0], rest)


def _alternating(u: np.ndarray, peak: np.ndarray, method: str) -> None:
    """Warn of inputs that alternate from instant to instant after the motion, by the zero at -1 that sampling adds."""
    ripple = float((np.abs(u[-1] - u[-2]) / np.maximum(peak, 1e-300)).max())
    if ripple > ALTERNATING:
        doubtful(
            f"{method}: after the motion the inputs keep alternating by {ripple:.2g} of their peak (sampling adds a zero at -1); a smoother "
            "path, such as a Profile of higher order, reduces it"
        )


def sample_derivatives(path: Path, t: np.ndarray, degree: int, step: float, sampled: bool) -> np.ndarray:
    """Return a path with its derivatives, or its later values, at times t, (degree + 1, N, count)."""
    if not sampled:
        return path.derivatives(t, degree)
    return np.stack([path.position(t + k * step) for k in range(degree + 1)])


def slowest(values: np.ndarray, step: float, sampled: bool) -> tuple[float, float]:
    """Return the slowest rates [1/s] of zeros that act before the motion, and of those after it; infinite without one."""
    with np.errstate(divide="ignore"):
        rates = np.log(np.abs(values)) / step if sampled else values.real
    nyquist = sampled & (np.abs(values + 1) < NYQUIST)
    rates = rates[~nyquist]
    return float(rates[rates > 0].min(initial=np.inf)), float((-rates[rates <= 0]).min(initial=np.inf))


def equilibrium(internal: InternalDynamics, y: np.ndarray, sampled: bool) -> np.ndarray:
    """Return z at rest while the outputs rest at y, (p,) or (p, k); modes that rest anywhere, at zero."""
    if sampled:
        return np.linalg.lstsq(np.eye(len(internal.A)) - internal.A, internal.f.sum(0) @ y, rcond=None)[0]
    return -np.linalg.lstsq(internal.A, internal.f[0] @ y, rcond=None)[0]


def _weights(A: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return places in a step (0 to 1), and what a force there does until its end, (NODES, n, n): the exact integral with exp(A t)."""
    x, _ = np.polynomial.legendre.leggauss(NODES)
    nodes, n = (x + 1) / 2, len(A)
    whole = np.zeros((n * (NODES + 1),) * 2)
    whole[:n, :n] = step * A
    whole[:-n, n:] += np.eye(n * NODES) if n else 0.0
    powers = scipy.linalg.expm(whole)[:n, n:].reshape(n, NODES, n).transpose(1, 0, 2) * step
    powers *= np.array([factorial(k) for k in range(NODES)])[:, None, None]
    lagrange = np.linalg.inv(np.vander(nodes, increasing=True))  # powers by nodes
    return nodes, np.einsum("kj,kab->jab", lagrange, powers)


def _march(A: np.ndarray, force: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return z of z_next = A z + force, (N + 1, n)."""
    z = np.empty((len(force) + 1, len(first)))
    z[0] = first
    for i, f in enumerate(force):
        z[i + 1] = A @ z[i] + f
    return z


def _length(
    given: float | None,
    gains: np.ndarray,
    A: np.ndarray,
    first: np.ndarray,
    peak: np.ndarray,
    horizon: Horizon,
    side: str,
    method: str,
) -> int:
    """Return the steps until what is left of the inputs is below `cut` of their peaks; refuse a given length that is too short."""
    if not len(first):
        needed = 0
    else:
        values, R = np.linalg.eig(A)
        values = np.where(np.abs(values + 1) < NYQUIST, 0.0, values)  # alternates for ever, see _alternating
        sizes = np.abs(gains @ R) * np.abs(np.linalg.solve(R, first.astype(complex)))
        sizes = sizes[peak > 0] / peak[peak > 0, None]
        needed = _steps(sizes, np.abs(values), horizon.cut)
    if given is None:
        if needed > MOST:
            raise InputError(
                f"{method}: the inputs need {needed * horizon.step:.4g} s {'before' if side == 'pre' else 'after'} the motion, {needed} steps; "
                f"expected at most {MOST}. Take a larger step or a larger cut"
            )
        return needed
    steps = round(given / horizon.step)
    if steps < needed:
        raise InputError(
            f"{method}: horizon too short: {side} = {given:g} s; needs {needed * horizon.step:.4g} s so that less than {horizon.cut:g} of the "
            f"inputs is cut off {'before' if side == 'pre' else 'after'} the motion"
        )
    return steps


def _steps(sizes: np.ndarray, factors: np.ndarray, cut: float) -> int:
    """Return the least k with sum over j of sizes[i, j] factors[j]^k <= cut for all i."""
    high = 1
    while high <= MOST and (sizes @ factors**high > cut).any():
        high *= 2
    low = 0
    while low < high:
        middle = (low + high) // 2
        if (sizes @ factors**middle > cut).any():
            low = middle + 1
        else:
            high = middle
    return low
