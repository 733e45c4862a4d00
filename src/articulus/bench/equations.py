"""Rows of Riccati equations and Kalman filters beside SLICOT's SB02MD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from articulus.bench import peers
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.control import Estimator, RiccatiSolution, care, dare, kalman
from articulus.control.plant import of_matrices
from articulus.control.sampling import sample
from articulus.linear import LinearModel

SIZES, QUICK = (100, 400), (20,)
"""States of the plant, and of a smoke run."""
AGREE = 1e-6
"""Difference of the solutions, over the largest entry."""
NOISE, PERIOD = 1e-4, 0.1


def riccati(effort: Effort) -> Iterator[Measurement]:
    """Give the time of Riccati equations and filters of a chain of masses; the figure is a part of that of SB02MD."""
    for n in QUICK if effort.quick else SIZES:
        plant = chain(n)
        sampled = sample(plant, PERIOD)
        C = plant.C
        given = C.T, np.eye(n), NOISE * np.eye(len(C))
        ways = (
            ("Riccati equation", "C", plant.A, partial(care, plant.A.T, *given)),
            ("Riccati equation, sampled", "D", sampled.A, partial(dare, sampled.A.T, *given)),
            ("Kalman filter with its checks", "C", plant.A, partial(kalman, plant, 1.0, NOISE)),
        )
        for name, kind, A, call in ways:
            yield _row(name, n, kind, A, C, call, effort)


def _row(
    name: str,
    n: int,
    kind: str,
    A: np.ndarray,
    C: np.ndarray,
    call: Callable[[], Estimator | RiccatiSolution],
    effort: Effort,
) -> Measurement:
    bar = None if effort.quick else FigureLimit(2.0, at_least=False, unit="of its time")
    slycot = peers.module("slycot", "sb02md")
    ours = Contender("articulus", call)
    if slycot is None:
        (time,) = race([ours], effort.seconds, 2)
        return Measurement(name, n, time, unit="of its time", bar=bar, note="Slycot is not installed")
    G = C.T @ C / NOISE

    def rival() -> np.ndarray:
        return slycot.sb02md(n, A.T.copy(), G.copy(), np.eye(n), kind, sort="S" if kind == "C" else "U")[0]

    found = call()
    X = found.covariance if isinstance(found, Estimator) else found.X
    gap = float(np.abs(X - rival()).max() / np.abs(X).max())
    if not gap <= AGREE:
        return Measurement(
            name, n, failed=True, note=f"solutions differ by {gap:.1e}, more than {AGREE:g}: not timed"
        )
    time, theirs = race([ours, Contender("slycot.sb02md", rival)], effort.seconds, 2)
    note = f"agree to {gap:.0e}"
    return Measurement(name, n, time, "slycot.sb02md", theirs, time / theirs, "of its time", bar, note=note)


def chain(n: int) -> LinearModel:
    """Return a chain of n / 2 masses on springs with little damping; forces and measured speeds at both ends."""
    m = n // 2
    K = 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
    B = np.zeros((n, 2))
    B[m, 0] = B[-1, 1] = 1.0
    return of_matrices(np.block([[np.zeros((m, m)), np.eye(m)], [-K, -0.01 * K]]), B, B.T)
