"""Inversion of one linear structure with more actuators than tip conditions: the least vibration, frequency by frequency.

Of all torques and voltages that keep the tip where it is wanted, those are taken for which the integral of z'z is least. By
Parseval's theorem it is least when it is so at every frequency: a least-squares problem with as many unknowns as voltages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from articulus.control.design import Check
from articulus.errors import InputError, doubtful
from articulus.model.mechanism.numbers import as_array
from articulus.motion.inversion.links.two_sided import (
    TimeGrid,
    left_at_the_ends,
    require_settled,
    respond,
    uniform,
    zeros_of,
)
from articulus.motion.inversion.result import Inversion

RANK = 1e-10
"""Smallest singular value over the largest that counts."""
CHUNK = 1024
"""Frequencies that are solved together; bounds the memory."""
RESIDUAL = 1e-8
"""Largest error of the equations of motion over their largest term."""


def minimal_vibration(
    M: Any,
    D: Any,
    K: Any,
    torques: Any,
    piezos: Any,
    tip: Any,
    force: Any,
    t: Any,
    *,
    t0: float,
    t_end: float,
    wanted: Any = None,
    weights: Any = None,
    torque_names: Sequence[str] = (),
    piezo_names: Sequence[str] = (),
) -> Inversion:
    """Return torques T and voltages V with tip z = wanted at all times and the least integral of (weights z)'(weights z), where

        M z'' + D z' + K z = torques T + piezos V + force(t).

    Parameters
    ----------
    M, D, K : array, (n, n)
        Mass, damping and stiffness.
    torques : array, (n, m)
        Where the inputs act that keep the m tip conditions.
    piezos : array, (n, k)
        Where the redundant actuators act, for one volt each; k = 0 is the inversion with torques alone.
    tip : array, (m, n)
        Rows of the tip conditions.
    force : array, (N, n)
        Known loads: end reactions and the inertia forces of the nominal motion. At rest at both ends of t.
    t : array, (N,) [s]
        Uniform; begins before and ends after the motion by as much as the zeros ask.
    t0, t_end : float [s]
        Start and end of the motion.
    wanted : array, (N, m)
        Tip positions; zero if not given.
    weights : array, (r, n)
        What is kept small; z itself if not given.
    torque_names, piezo_names : sequence of str
        "T1", ..., "V1", ... if not given.

    The figures hold `J`, the integral that is least, `J_without`, that with torques alone, `rank`, that of [torques | piezos], and
    `zeros` from torques to tip conditions. Where the rank is not full (actuators that do the same), the voltages of least sum of
    squares are taken. A motion whose response has not died away at the ends of t is refused with the length that the zeros need.
    """
    what = "minimal_vibration"
    times = uniform(t, what)
    structure = _structure(M, D, K, torques, piezos, tip, weights)
    n, m = structure.torques.shape
    load = _rows(what, "force", force, (len(times), n))
    y = np.zeros((len(times), m)) if wanted is None else _rows(what, "wanted", wanted, (len(times), m))
    if not times[0] < t0 < t_end < times[-1]:
        raise InputError(
            f"{what}: found t0 {t0:g} and t_end {t_end:g} s; expected both within t, {times[0]:g} to {times[-1]:g} s"
        )
    grid = TimeGrid(times, t0, t_end)
    known = np.hstack([load, y])
    x, xd, xdd = respond(grid, structure.least, known)
    require_settled(left_at_the_ends(x, xd, grid.step), grid, structure.zeros, what)
    alone = x if not structure.count else respond(grid, structure.alone, known)[0]
    z, inputs = x[:, :n], x[:, n:]
    W = structure.weights
    terms = [xdd[:, :n] @ structure.M.T, xd[:, :n] @ structure.D.T, z @ structure.K.T]
    off = sum(terms) - inputs @ structure.inputs.T - load
    size = max(np.abs(term).max() for term in (*terms, load)) or 1.0
    units = ("N m or N",) * m + ("V",) * structure.count
    names = (
        *(torque_names or [f"T{i + 1}" for i in range(m)]),
        *(piezo_names or [f"V{i + 1}" for i in range(structure.count)]),
    )
    return Inversion(
        what, times, inputs, y, names, tuple(f"tip{i + 1}" for i in range(m)), units, ("m or rad",) * m, t0, t_end,
        states=np.hstack([z, xd[:, :n]]),
        state_names=(*(f"z{i + 1}" for i in range(n)), *(f"z{i + 1}'" for i in range(n))),
        figures={
            "J": float(((z @ W.T) ** 2).sum() * grid.step),
            "J_without": float(((alone[:, :n] @ W.T) ** 2).sum() * grid.step),
            "rank": structure.rank,
            "zeros": structure.zeros,
        },
        checks=(_below("error of the equations of motion, relative", float(np.abs(off).max() / size), RESIDUAL),
                _below("error of the tip conditions", float(np.abs(z @ structure.tip.T - y).max()),
                       1e-9 * max(np.abs(z).max(), 1e-300))),
    )  # fmt: skip


def _below(what: str, found: float, bound: float) -> Check:
    return Check(what, found, bound, found <= bound)


@dataclass(frozen=True, eq=False)
class Redundant:
    """A structure with tip conditions: what answers right-hand sides (force, wanted) with (z, torques, voltages)."""

    M: np.ndarray
    D: np.ndarray
    K: np.ndarray
    torques: np.ndarray
    piezos: np.ndarray
    tip: np.ndarray
    weights: np.ndarray

    @property
    def count(self) -> int:
        """Number of voltages."""
        return self.piezos.shape[1]

    @property
    def inputs(self) -> np.ndarray:
        """Columns of torques, then of piezos."""
        return np.hstack([self.torques, self.piezos])

    @cached_property
    def rank(self) -> int:
        """Rank of [torques | piezos], each column scaled to length one."""
        return rank_of(self.inputs)

    @cached_property
    def zeros(self) -> np.ndarray:
        """Zeros from torques to tip conditions [1/s]."""
        return zeros_of(self.M, self.D, self.K, self.torques, self.tip)

    def alone(self, w: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return (z, T, 0): torques alone."""
        n, m = self.torques.shape
        out = np.zeros((len(w), n + m + self.count, known.shape[2]), dtype=complex)
        for i in range(0, len(w), CHUNK):
            part = slice(i, i + CHUNK)
            out[part, : n + m] = np.linalg.solve(self._matrix(w[part]), known[part])
        return out

    def least(self, w: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return (z, T, V) with the least |weights z| at each frequency."""
        n, m = self.torques.shape
        out = self.alone(w, known)
        if not self.count:
            return out
        for i in range(0, len(w), CHUNK):
            part = slice(i, i + CHUNK)
            driven = np.zeros((len(w[part]), n + m, self.count))
            driven[:, :n] = self.piezos
            answer = np.linalg.solve(self._matrix(w[part]), driven)
            V = least_voltages(self.weights @ answer[:, :n], self.weights @ out[part, :n])
            out[part, : n + m] += answer @ V
            out[part, n + m :] = V
        return out

    def _matrix(self, w: np.ndarray) -> np.ndarray:
        n, m = self.torques.shape
        s = 1j * w[:, None, None]
        out = np.zeros((len(w), n + m, n + m), dtype=complex)
        out[:, :n, :n] = self.M * s**2 + self.D * s + self.K
        out[:, :n, n:] = -self.torques
        out[:, n:, :n] = self.tip
        return out


def least_voltages(by_volt: np.ndarray, without: np.ndarray) -> np.ndarray:
    """Return the V for which |by_volt V + without| is least, the smallest of them where there are several; (F, k, columns).

    Parameters
    ----------
    by_volt : array, (F, r, k)
        What is to be small, for one volt each.
    without : array, (F, r, columns)
        The same with no voltage.
    """
    return -np.linalg.pinv(by_volt, rcond=RANK) @ without


def rank_of(columns: np.ndarray) -> int:
    """Return the rank of a matrix, its columns scaled to length one."""
    size = np.linalg.norm(columns, axis=0)
    return int(np.linalg.matrix_rank(columns / np.where(size > 0, size, 1.0), tol=RANK))


def _structure(M: Any, D: Any, K: Any, torques: Any, piezos: Any, tip: Any, weights: Any) -> Redundant:
    what = "minimal_vibration"
    mass = as_array(f"{what}: M", M)
    n = len(mass) if mass.ndim else 0
    mass = _rows(what, "M", mass, (n, n))
    damping = np.zeros((n, n)) if D is None else _rows(what, "D", D, (n, n))
    stiffness = _rows(what, "K", K, (n, n))
    act = as_array(f"{what}: torques", torques)
    act = act[:, None] if act.ndim == 1 else act
    m = act.shape[1]
    act = _rows(what, "torques", act, (n, m))
    bend = np.zeros((n, 0)) if piezos is None else as_array(f"{what}: piezos", piezos)
    bend = bend[:, None] if bend.ndim == 1 else bend
    bend = _rows(what, "piezos", bend, (n, bend.shape[1]))
    rows = _rows(what, "tip", np.atleast_2d(as_array(f"{what}: tip", tip)), (m, n))
    W = np.eye(n) if weights is None else np.atleast_2d(as_array(f"{what}: weights", weights))
    W = _rows(what, "weights", W, (len(W), n))
    redundant = Redundant(mass, damping, stiffness, act, bend, rows, W)
    if rank_of(act) < m or rank_of(rows.T) < m:
        raise InputError(
            f"{what}: torques or tip have linearly dependent columns or rows; expected {m} independent ones"
        )
    if redundant.rank < m + redundant.count:
        doubtful(
            f"{what}: rank [torques | piezos] = {redundant.rank}, not {m + redundant.count}: some actuators have the same effect. The voltages with the "
            "least sum of squares are used"
        )
    return redundant


def _rows(what: str, field: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = as_array(f"{what}: {field}", value)
    if found.ndim == 1 and len(shape) == 2 and shape[1] == 1:
        found = found[:, None]
    if found.shape != shape:
        raise InputError(f"{what}: {field} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise InputError(f"{what}: {field} has entries that are not finite; expected finite numbers")
    return found
