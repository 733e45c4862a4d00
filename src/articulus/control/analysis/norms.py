"""Norms of linear models: H2 and Hinf (`norm`, `hinfnorm`, `getPeakGain` in MATLAB).

The peak gain is found by the method of Bruinsma & Steinbuch (1990): g is above the largest singular value at all frequencies
if the Hamiltonian matrix of g has no imaginary eigenvalue; if it has some, between them lie frequencies of larger gain. It begins
at the highest of the maxima beside a net of frequencies; what is returned is the gain at the frequency that is returned. The net is
looked at in modal coordinates, where a frequency costs next to nothing. Where slow and fast poles meet these lose digits, and so does
the Hamiltonian matrix: there every gain is as accurate as a solution with j w I - A, and crossings of slow poles are looked for apart.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root
from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import LEVEL, ROUNDING, Eigensystem, accurate_poles, stable_poles
from articulus.control.plant import as_plant
from articulus.control.sampling import continuous
from articulus.errors import doubtful
from articulus.linear import LinearModel
from articulus.linear.response import Transfer
from articulus.numerics.lyapunov import balance

ACCURACY = 1e-7
"""Largest relative amount by which some gain can exceed the peak that is returned."""
NEAR_AXIS = 1e-5
"""Real part over size up to which an eigenvalue is examined as an imaginary one; too many cost time."""
ROUNDS = 60
AROUND = np.array([-3.0, -1.0, -0.4, 0.0, 0.4, 1.0, 3.0])
"""Frequencies of the net around a pole, beside its own, over its real part."""
PER_DECADE = 6
"""Frequencies of the net in equal ratios."""
HIDDEN, MAXIMA = 0.3, 6
"""Values on the net, over the largest, below which no maximum is looked for, and how many are at most."""
PLACES, CLOSER = np.linspace(0.0, 1.0, 9), (0.1, 0.01)
"""Parts of the way between two frequencies of the net where a maximum is looked for, and then how far beside the top of the parabola
through the three highest, over their distance."""
ENDLESS = 1e12
"""Gain at the frequency of an undamped pole, over that at others, which is infinite but for rounding."""
ALIKE = 1e4
"""Norm of the Hamiltonian matrix over the size of the slowest pole up to which rounding moves no eigenvalue by as much as `NEAR_AXIS`."""
DAMPED, NO_CANCELLATION = 1e-8, 1e-6
"""Least damping ratio, and size of the peak over that of the terms that it is a sum of, for which modal coordinates show where to look."""
IN_PLACE = 1e-3
"""Most that rounding may move a pole, over its distance from the imaginary axis, for the same where slow and fast poles meet."""
AT_ONCE = 2_000_000
"""Numbers of one array of modes over frequencies; more frequencies are taken in turns."""
SEEN = 1e-5
"""Amount below the peak at which the Hamiltonian matrix is asked whether it sees it."""


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
    model, _ = scale_states(as_plant(plant, "h2norm"))
    reason = _unstable(model)
    if not reason and model.period is None and np.abs(model.D).max(initial=0.0) > 0:
        i, j = np.argwhere(model.D)[0]
        reason = f"feedthrough {model.D[i, j]:.4g} from {model.inputs[j]} to {model.outputs[i]}"
    if reason:
        return Norm(np.inf, reason=reason)
    square = np.sum((model.C @ controllability_root(model)) ** 2) + np.sum(model.D**2)
    return Norm(float(np.sqrt(square)))


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small solves: threads only wait for each other
def hinfnorm(plant: Any) -> Norm:
    """Return the Hinf norm: the peak over all frequencies of the largest singular value; infinite unless stable."""
    model, _ = scale_states(as_plant(plant, "hinfnorm"))
    known = Eigensystem.of(model.A)
    reason = _unstable(model, known)
    return Norm(np.inf, reason=reason) if reason else _peak_of_scaled(model, known)


@threadpool_limits.wrap(limits=1, user_api="blas")
def peak_gain(plant: Any) -> Norm:
    """Return the peak of the largest singular value over frequency, also of unstable plants (`getPeakGain` in MATLAB)."""
    model, _ = scale_states(as_plant(plant, "peak_gain"))
    return _peak_of_scaled(model, Eigensystem.of(model.A))


def _peak_of_scaled(model: LinearModel, known: Eigensystem) -> Norm:
    """Return the peak gain of a model with scaled states, continuous or sampled, whose eigenvalues are known."""
    if not model.D.size:
        return Norm(0.0, 0.0)
    period = model.period
    if period is not None:
        if (np.abs(np.abs(known.values) - 1.0) < 1e-13).any():
            return Norm(np.inf, reason="a pole on the boundary of stability")
        model = continuous(model)
        known = dataclasses.replace(known, values=2.0 / period * (known.values - 1.0) / (known.values + 1.0))
    found, omega, excluded = _peak(model, known)
    if period is not None:
        omega = np.pi / period if np.isinf(omega) else 2.0 * np.arctan(0.5 * omega * period) / period
    reason = "" if np.isfinite(found) else "a pole on the boundary of stability"
    if not excluded:
        reason = "slow and fast poles: rounding hides whether there is a higher gain between the frequencies that were looked at"
        doubtful(
            f"peak_gain: found {found:.6g} at {omega:.6g} rad/s; {reason}; reduce the model, or remove its fastest part"
        )
    return Norm(found, omega, reason)


class ModalGains:
    """Largest singular values of the response of a continuous model, from its modes: to as many digits as these are independent."""

    def __init__(self, model: LinearModel, modes: Eigensystem):
        self.model, self.poles = model, modes.values
        self.B, self.C = modes.left @ model.B, model.C @ modes.right

    def __call__(self, omega: np.ndarray) -> np.ndarray:
        """Return the gains at frequencies [rad/s], which may be infinite, (n,)."""
        n, (p, m) = len(omega), self.model.D.shape
        responses = np.empty((n, p, m), dtype=complex)
        each = max(1, AT_ONCE // max(self.C.size, 1))
        for first in range(0, n, each):
            s = np.zeros((len(omega[first : first + each]), 1), dtype=complex)
            s.imag[:, 0] = omega[first : first + each]  # 1j * inf has no real part
            terms = (self.C * (1.0 / (s - self.poles))[:, None]).reshape(-1, len(self.poles))
            responses[first : first + each] = (terms @ self.B).reshape(-1, p, m)
        return largest_singular_values(responses + self.model.D)

    def exact(self, omega: np.ndarray) -> np.ndarray:
        """Return the gains at a few frequencies by solutions with j w I - A, (n,)."""
        A, B, C, D = self.model.A, self.model.B.astype(complex), self.model.C, self.model.D
        shifted, eye = -A.astype(complex), np.diag_indices(len(A))
        responses = []
        for w in omega:
            shifted[eye] = 1j * w - A[eye]
            responses.append(C @ np.linalg.solve(shifted, B) + D if np.isfinite(w) else D.astype(complex))
        return largest_singular_values(np.array(responses))

    def is_rounding(self, found: float, omega: float) -> bool:
        """Return whether a gain is so much less than the terms that it is a sum of that modes do not show where it is largest."""
        if np.isinf(omega):
            return False
        states = 1.0 / np.abs(1j * omega - self.poles)
        terms = (np.abs(self.C) * states) @ np.abs(self.B) + np.abs(self.model.D)
        return bool(found <= NO_CANCELLATION * np.linalg.norm(terms))


class Gains:
    """Largest singular values of the response of a continuous model."""

    def __init__(self, model: LinearModel):
        self.D, self.transfer = model.D, Transfer(model.A, model.B, model.C, model.D)

    def __call__(self, omega: np.ndarray) -> np.ndarray:
        """Return the gains at frequencies [rad/s], which may be infinite, (n,)."""
        finite = np.isfinite(omega)
        responses = np.broadcast_to(self.D.astype(complex), (len(omega), *self.D.shape)).copy()
        if finite.any():
            responses[finite] = self.transfer(1j * omega[finite])
        found = np.full(len(omega), np.inf)
        good = np.isfinite(responses).all(axis=(1, 2))
        found[good] = largest_singular_values(responses[good])
        return found

    exact = __call__

    def is_rounding(self, found: float, omega: float) -> bool:
        """Return whether a gain is what rounding leaves of terms that cancel, as of the difference of equal models."""
        if np.isinf(omega):
            return False
        terms = np.abs(self.transfer.C) @ np.abs(self.transfer.states(np.array([1j * omega]))[:, 0]) + np.abs(
            self.D
        )
        return bool(found <= 100 * ROUNDING * np.linalg.norm(terms))


def _peak(model: LinearModel, modes: Eigensystem) -> tuple[float, float, bool]:
    """Return the peak gain of a continuous model, its frequency, and whether every larger gain is excluded."""
    if not len(model.A):
        return float(np.linalg.norm(model.D, 2)), 0.0, True
    if _modes_are_accurate(model, modes):
        gain, net = ModalGains(model, modes), _net(modes.values)
        values = gain(net)
        omega = float(net[np.argmax(values)])
        if 0.0 < omega < np.inf:
            omega = _highest(gain, net, values)[1]
        best = float(gain.exact(np.array([omega]))[0])
        if not gain.is_rounding(best, omega):
            return _highest_level(model, gain, modes.values, net, values, best, omega)
    return _peak_of_slow_and_fast(model)


def _modes_are_accurate(model: LinearModel, modes: Eigensystem) -> bool:
    """Return whether rounding of A moves no pole by more than a small part of its distance from the axis: then modes show every resonance."""
    sizes, damping = np.abs(modes.values), np.abs(modes.values.real)
    if not (damping > DAMPED * sizes).all() or not np.isfinite(modes.left).all():
        return False
    return bool(
        np.linalg.norm(model.A) <= ALIKE * sizes.min()
        or (sum(modes.rounding(model.A)) <= IN_PLACE * damping).all()
    )


def _peak_of_slow_and_fast(model: LinearModel) -> tuple[float, float, bool]:
    """Return what `_peak` does, also where modal coordinates lose digits."""
    gain = Gains(model)
    poles = gain.transfer.T.diagonal()
    if np.abs(poles).min() < 1e-6 * np.abs(poles).max():
        poles = accurate_poles(model.A)
    net = _net(poles)
    values = gain(net)
    undamped = np.abs(poles.real) <= 1e-15 * np.abs(poles).max()
    if np.isinf(values).any() or (undamped.any() and values.max() > ENDLESS * np.median(values)):
        return np.inf, float(net[np.argmax(values)]), True
    if not values.any():
        return 0.0, 0.0, True
    best, omega = _highest(gain, net, values)
    if gain.is_rounding(best, omega):  # nothing is left to be found
        return best, omega, True
    return _highest_level(model, gain, poles, net, values, best, omega)


def _highest_level(
    model: LinearModel,
    gain: Gains | ModalGains,
    poles: np.ndarray,
    net: np.ndarray,
    values: np.ndarray,
    best: float,
    omega: float,
) -> tuple[float, float, bool]:
    """Return a gain that no Hamiltonian matrix shows to be exceeded, from one that is known, its frequency, and whether larger ones are excluded."""
    for _ in range(ROUNDS):
        H = _hamiltonian(model, best * (1.0 + ACCURACY))
        crossings = _crossings(H, poles)
        if not len(crossings):
            break
        tried = np.unique(np.concatenate([crossings, 0.5 * (crossings[1:] + crossings[:-1])]))
        near = _highest(gain, tried, gain(tried))[1]
        tried = np.append(tried, near)
        gains = gain.exact(tried)
        k = int(np.argmax(gains))
        if gains[k] <= best * (1.0 + ACCURACY):
            break
        best, omega = float(gains[k]), float(tried[k])
    excluded = np.linalg.norm(H) <= ALIKE * np.abs(poles).min() or _is_peak_visible(
        model, poles, net, values, best, omega
    )
    return best, omega, bool(excluded)


def _net(poles: np.ndarray) -> np.ndarray:
    """Return frequencies that show every resonance: zero, infinity, at every pole and around it as wide as it is damped, and in equal ratios."""
    upper = poles[poles.imag >= 0]
    around = (upper.imag[:, None] + np.abs(upper.real)[:, None] * AROUND).ravel()
    sizes = np.abs(poles)[np.abs(poles) > 0]
    low, high = (0.03 * sizes.min(), 30.0 * sizes.max()) if len(sizes) else (1.0, 1.0)
    even = np.exp(np.linspace(np.log(low), np.log(high), 2 + int(PER_DECADE * np.log10(high / low))))
    found = np.unique(np.concatenate([[0.0], np.abs(around), sizes, even]))
    apart = np.diff(found) > 1e-9 * found[1:]
    return np.concatenate([found[:1], found[1:][apart], [np.inf]])


def _highest(gain: Gains | ModalGains, net: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the largest of the maxima next to the largest values on a net, and its frequency."""
    k = int(np.argmax(values))
    best, omega = float(values[k]), float(net[k])
    edged = np.concatenate([[-np.inf], values, [-np.inf]])
    tops = np.flatnonzero(
        (values >= edged[:-2]) & (values >= edged[2:]) & (values >= HIDDEN * best) & (net < np.inf)
    )
    tops = tops[np.argsort(-values[tops], kind="stable")][:MAXIMA]
    last = net[net < np.inf][-1:]
    edged = np.concatenate([[0.0], net[net < np.inf], 1.1 * last + (last == 0.0)])
    low, high = edged[tops], edged[tops + 2]
    places = low[:, None] + (high - low)[:, None] * PLACES
    for beside in (*CLOSER, None) if len(tops) else ():
        # all maxima at once
        gains = gain(places.ravel()).reshape(places.shape)
        row, column = np.unravel_index(np.argmax(gains), gains.shape)
        if gains[row, column] > best:
            best, omega = float(gains[row, column]), float(places[row, column])
        if beside is None:
            break
        likely = gains.max(axis=1) >= 0.9 * best
        top, width = _vertices(places[likely], gains[likely])
        places = np.abs(top[:, None] + beside * width[:, None] * np.array([-1.0, 0.0, 1.0]))
        if not len(places):
            break
    return best, omega


def _vertices(places: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tops of the parabolas through the highest of some values and its neighbors, row by row, and the distance of the places."""
    rows, k = np.arange(len(found)), np.clip(found.argmax(axis=1), 1, found.shape[1] - 2)
    x0, x1, x2 = (places[rows, k + i] for i in (-1, 0, 1))
    f0, f1, f2 = (found[rows, k + i] for i in (-1, 0, 1))
    bend, half = f0 - 2.0 * f1 + f2, 0.5 * (x2 - x0)
    with np.errstate(divide="ignore", invalid="ignore"):
        aside = np.where(bend < 0, 0.5 * (f0 - f2) / bend, 0.0)
    return np.clip(x1 + half * np.clip(np.nan_to_num(aside), -1.0, 1.0), x0, x2), half


def largest_singular_values(matrices: np.ndarray) -> np.ndarray:
    """Return the largest singular values of many matrices (k, p, m), (k,); those of one or two rows or columns in closed form."""
    if 0 in matrices.shape:
        return np.zeros(len(matrices))
    least = min(matrices.shape[1:])
    if least > 2:
        return np.linalg.svd(matrices, compute_uv=False)[:, 0]
    size = np.abs(matrices).max(axis=(1, 2))
    unit = matrices / np.where(size > 0, size, 1.0)[:, None, None]
    rows = unit if unit.shape[1] == least else unit.swapaxes(1, 2)
    squares = (rows.real**2 + rows.imag**2).sum(axis=2)
    if least == 1:
        return size * np.sqrt(squares[:, 0])
    across = np.abs((rows[:, 0] * rows[:, 1].conj()).sum(axis=1))
    mean, apart = 0.5 * (squares[:, 0] + squares[:, 1]), 0.5 * (squares[:, 0] - squares[:, 1])
    return size * np.sqrt(mean + np.hypot(apart, across))


def _is_peak_visible(
    model: LinearModel, poles: np.ndarray, net: np.ndarray, values: np.ndarray, best: float, omega: float
) -> bool:
    """Return whether the Hamiltonian matrix shows the peak that is known: then rounding does not hide a higher one of its like.

    Between the peak and the next frequencies of the net with less gain, on either side, there is a crossing. Just below a flat peak both
    crossings are nearly one double eigenvalue, which rounding moves off the axis; further below they are apart.
    """
    if best * (1.0 - SEEN) <= np.linalg.norm(
        model.D, 2
    ):  # the gain at infinity is as high, and no level below it has a Hamiltonian
        return True
    return any(
        _is_level_visible(model, poles, net, values, best * (1.0 - below), omega)
        for below in (SEEN, 1e-3, 0.1)
    )


def _is_level_visible(
    model: LinearModel, poles: np.ndarray, net: np.ndarray, values: np.ndarray, level: float, omega: float
) -> bool:
    """Return whether the Hamiltonian matrix of a level has a crossing beside the peak at a frequency."""
    if level <= np.linalg.norm(model.D, 2):
        return False
    less = net[values < level]
    before, after = less[less < omega], less[less > omega]
    if not len(less):  # as high everywhere
        return True
    crossings = _crossings(_hamiltonian(model, level), poles)
    low = before[-1] * (1.0 - SEEN) if len(before) else 0.0
    high = after[0] * (1.0 + SEEN) if len(after) else np.inf
    return bool(((crossings >= low) & (crossings <= high)).any())


def _crossings(H: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """Return the frequencies at which some singular value of a continuous model may equal the level of a Hamiltonian matrix.

    They are its imaginary eigenvalues. Rounding moves them by that of its largest entries: where poles are much slower than that,
    eigenvalues of their size are taken from the inverse of the shifted matrix, of which they are the largest.
    """
    size = float(np.linalg.norm(H))
    values = np.linalg.eigvals(H)
    found = [_imaginary(values, ROUNDING * size)]
    slowest = np.abs(poles)[np.abs(poles) > 0].min(initial=size)
    if size <= ALIKE * slowest:
        return np.unique(found[0])
    while size > slowest / LEVEL:
        size *= LEVEL
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = size + 1.0 / np.linalg.eigvals(np.linalg.inv(H - size * np.eye(len(H))))
        except np.linalg.LinAlgError:  # singular to the last bit: what is slower is lost in rounding, the net of frequencies has to see it
            break
        found.append(_imaginary(values[np.abs(values) < size / LEVEL], ROUNDING * size))
    return np.unique(np.concatenate(found))


def _hamiltonian(model: LinearModel, level: float) -> np.ndarray:
    """Return the Hamiltonian matrix of a level above the largest singular value of D, balanced."""
    root, n = np.sqrt(level), len(model.A)
    F, B, C, D = model.A, model.B / root, model.C / root, model.D / level
    into, out = B @ B.T, C.T @ C
    if D.any():
        by_input = np.linalg.solve(np.eye(D.shape[1]) - D.T @ D, np.hstack([B.T, D.T @ C]))
        F, into = F + B @ by_input[:, n:], B @ by_input[:, :n]
        out = C.T @ np.linalg.solve(np.eye(len(D)) - D @ D.T, C)
    H = np.empty((2 * n, 2 * n))
    H[:n, :n], H[:n, n:], H[n:, :n], H[n:, n:] = F, into, -out, -F.T
    return balance(H)[0]


def _imaginary(values: np.ndarray, rounding: float) -> np.ndarray:
    """Return the frequencies of eigenvalues that may be imaginary."""
    near = np.abs(values.real) <= NEAR_AXIS * np.abs(values) + rounding
    return np.abs(values[near].imag)


def _unstable(model: LinearModel, known: Eigensystem | None = None) -> str:
    values, inside = stable_poles(model.A, model.period, known=known)
    bad = values[~inside]
    return f"not asymptotically stable: pole at {bad[0]:.6g}" if len(bad) else ""
