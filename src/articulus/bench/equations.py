"""Rows of Riccati equations and Kalman filters beside SLICOT's SB02MD, and of sparse structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from articulus.bench import peers
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.control import care, dare, kalman, lqg, lqr, sparse
from articulus.control.design import RegulatorDesign
from articulus.control.plant import of_matrices
from articulus.control.sampling import sample
from articulus.control.synthesis import Estimator
from articulus.control.synthesis.lqg import LqgDesign
from articulus.linear import LinearModel
from articulus.numerics.riccati import RiccatiSolution
from articulus.structure import Structure

SIZES, QUICK = (100, 400), (20,)
"""States of the plant, and of a smoke run."""
AGREE = 1e-6
"""Difference of the solutions, over the largest entry."""
ALONE = 1e-3
"""Residual over that of the peer below which solutions that differ are timed all the same: the peer's is the wrong one."""
NOISE, PERIOD = 1e-4, 0.1


def riccati(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of Riccati equations and filters of a chain of masses; the figure is a part of that of SB02MD."""
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
        regulator = partial(lqr, plant, 1.0, NOISE)
        yield _design_row("regulator with its checks", n, regulator, 1, plant, effort)
        controller = partial(lqg, plant, 1.0, NOISE, 1.0, NOISE)
        yield _design_row("regulator and filter with their checks", n, controller, 2, plant, effort)


def sparse_structures(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a regulator for a structure of 10,000 states; the same at 400 states beside the dense equation."""
    bar = None if effort.quick else FigureLimit(30, at_least=False, unit="s")
    small = _plate(14, 14)
    A, B, C = _dense(small)
    K = care(A, B, C.T @ C, np.eye(B.shape[1])).gain
    gap = float(np.abs(sparse.lqr(small).gain - K).max() / np.abs(K).max())
    large = _plate(20, 20) if effort.quick else _plate(70, 72)
    name, n = "regulator of a sparse structure", 2 * large.count
    if not gap <= AGREE:
        yield Measurement(
            name, n, failed=True, note=f"gains of 392 states differ from dense ones by {gap:.1e}: not timed"
        )
        return
    with threadpool_limits(1):
        start = process_time()
        design = sparse.lqr(large)
        seconds = process_time() - start
    note = f"{design.shifts} factorizations; gains of 392 states agree with dense ones to {gap:.0e}"
    yield Measurement(name, n, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note=note)


def _plate(nx: int, ny: int) -> Structure:
    """Return a simply supported plate by central differences, damped by a percent, with two forces and two outputs."""

    def second(n: int) -> sp.sparray:
        return (
            sp.diags_array([np.full(n, -2.0), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1])
            * (n + 1) ** 2
        )

    n = nx * ny
    L = sp.kron(second(nx), sp.eye_array(ny)) + sp.kron(sp.eye_array(nx), second(ny))
    rate = 2 * np.pi**2
    share = 0.02 / (11 * rate)
    K, M = sp.csr_array(L @ L / n), sp.csr_array(sp.eye_array(n) / n)
    B, H, H_rate = np.zeros((n, 2)), np.zeros((2, n)), np.zeros((2, n))
    for column, (x, y) in enumerate(((0.3, 0.4), (0.7, 0.2))):
        B[int(x * nx) * ny + int(y * ny), column] = 1.0
    H[0, int(0.5 * nx) * ny + int(0.55 * ny)] = 100.0
    H_rate[1, int(0.8 * nx) * ny + int(0.7 * ny)] = 1.0
    return Structure(
        tuple(f"node{i}" for i in range(n)),
        np.zeros((n, 3)),
        np.stack([np.arange(n), np.full(n, 2)], axis=1),
        M,
        K,
        sp.csr_array(10 * rate**2 * share * M + share * K),
        B,
        H,
        H_rate,
        inputs=("left", "right"),
        outputs=("place", "speed"),
    )


def _dense(s: Structure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert s.D is not None
    n, inverse = s.count, np.linalg.inv(s.M.toarray())
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ s.K.toarray(), -inverse @ s.D.toarray()]])
    return A, np.concatenate([np.zeros_like(s.B), inverse @ s.B]), np.concatenate([s.H, s.H_rate], axis=1)


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
    Y = rival()
    gap = float(np.abs(X - Y).max() / np.abs(X).max())
    note = f"agree to {gap:.0e}"
    if not gap <= AGREE:
        mine, other = (_residual(kind, A.T, C.T, each) for each in (X, Y))
        note = f"solutions differ by {gap:.1e}; residual {mine:.0e}, of the peer's {other:.0e}"
        if not mine <= ALONE * other:
            return Measurement(name, n, failed=True, note=f"{note}: not timed")
    time, theirs = race([ours, Contender("slycot.sb02md", rival)], effort.seconds, 2)
    return Measurement(name, n, time, "slycot.sb02md", theirs, time / theirs, "of its time", bar, note=note)


def _design_row(
    name: str,
    n: int,
    call: Callable[[], RegulatorDesign | LqgDesign],
    count: int,
    plant: LinearModel,
    effort: Effort,
) -> Measurement:
    """Return the time of a design beside that of its Riccati equations alone by the peer."""
    bar = None if effort.quick else FigureLimit(2.0, at_least=False, unit="of their time")
    slycot = peers.module("slycot", "sb02md")
    ours = Contender("articulus", call)
    if slycot is None:
        (time,) = race([ours], effort.seconds, 2)
        return Measurement(name, n, time, unit="of their time", bar=bar, note="Slycot is not installed")
    A, C = plant.A, plant.C
    G = C.T @ C / NOISE

    def rival() -> np.ndarray:
        return slycot.sb02md(n, A.copy(), G.copy(), np.eye(n), "C", sort="S")[0]

    gain, other = call().gain, C @ rival() / NOISE
    gap = float(np.abs(gain - other).max() / np.abs(other).max())
    if not gap <= AGREE:
        return Measurement(name, n, failed=True, note=f"gains differ by {gap:.1e}: not timed")
    time, theirs = race([ours, Contender("slycot.sb02md", rival)], effort.seconds, 2)
    theirs *= count
    note = f"{count} x sb02md; gains agree to {gap:.0e}"
    return Measurement(name, n, time, "slycot.sb02md", theirs, time / theirs, "of their time", bar, note=note)


def _residual(kind: str, A: np.ndarray, B: np.ndarray, X: np.ndarray) -> float:
    """Return the residual of the equation with Q = I and R = NOISE I over the largest entry of X, in extended precision."""
    A, B, X = (each.astype(np.longdouble) for each in (A, B, X))
    XB = X @ B
    if kind == "C":
        off = A.T @ X + X @ A - XB @ XB.T / NOISE + np.eye(len(A))
    else:
        W = (NOISE * np.eye(B.shape[1]) + B.T @ XB).astype(float)
        gain = np.linalg.solve(W, (XB.T @ A).astype(float)).astype(np.longdouble)
        off = A.T @ X @ A - X - (A.T @ XB) @ gain + np.eye(len(A))
    return float(np.abs(off).max() / np.abs(X).max())


def chain(n: int) -> LinearModel:
    """Return a chain of n / 2 masses on springs with little damping; forces and measured speeds at both ends."""
    m = n // 2
    K = 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
    B = np.zeros((n, 2))
    B[m, 0] = B[-1, 1] = 1.0
    return of_matrices(np.block([[np.zeros((m, m)), np.eye(m)], [-K, -0.01 * K]]), B, B.T)
