"""Rows of the structured singular value: bounds from both sides over frequencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from articulus.bench import peers
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.control import mussv

FREQUENCIES = 200
STATES = 12
STRUCTURES = (
    ("mu bounds, 6 complex numbers", [(1, 1)] * 6, 0.5),
    ("mu bounds, full blocks", [(2, 2), (3, 3), (1, 1)], 2.0),
    ("mu bounds, mixed blocks", [(-1, 0), (-1, 0), (1, 1), (2, 2), (3, 3)], 2.0),
)
GAP = 0.03
"""Largest distance of the bounds, over the upper one, that counts for complex blocks."""
AGREE = 1e-4
"""Largest excess of our upper bound over the peer's."""


def mu(effort: Effort) -> Iterator[Measurement]:
    """Yield upper and lower bounds over frequencies of a random model, beside the upper bound alone of SLICOT's AB13MD."""
    for name, blocks, limit in STRUCTURES[: 1 if effort.quick else None]:
        M = responses(sum(abs(r) for r, _ in blocks), 20 if effort.quick else FREQUENCIES)
        found = mussv(M, blocks)
        gap = float((1.0 - found.lower / found.upper).max())
        note = f"{len(M)} frequencies; bounds at most {100 * gap:.2g} % apart"
        if gap > GAP and all(r > 0 for r, _ in blocks):
            yield Measurement(name, M.shape[-1], failed=True, note=note)
            continue
        yield _row(name, M, blocks, None if effort.quick else limit, note, effort)


def _row(
    name: str, M: np.ndarray, blocks: list, limit: float | None, note: str, effort: Effort
) -> Measurement:
    bar = None if limit is None else FigureLimit(limit, at_least=False, unit="s")
    ours = Contender("articulus", lambda: mussv(M, blocks))
    rival = _slicot(M, blocks)
    if rival is None:
        (time,) = race([ours], effort.seconds, 2)
        return Measurement(name, M.shape[-1], ours_us=time, value=1e-6 * time, unit="s", bar=bar, note=note)
    excess = float((mussv(M, blocks).upper / rival() - 1.0).max())
    if excess > AGREE:
        return Measurement(name, M.shape[-1], failed=True, note=f"{note}; {100 * excess:.2g} % above AB13MD")
    time, theirs = race([ours, Contender("slycot.ab13md", rival)], effort.seconds, 2)
    note = f"{note}; the peer's is the upper bound alone"
    return Measurement(name, M.shape[-1], time, "slycot.ab13md", theirs, 1e-6 * time, "s", bar, note=note)


def responses(size: int, count: int) -> np.ndarray:
    """Return the frequency response of a random stable model, (count, size, size)."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(STATES, STATES))
    A -= (np.linalg.eigvals(A).real.max() + 0.2) * np.eye(STATES)
    B, C, D = rng.normal(size=(STATES, size)), rng.normal(size=(size, STATES)), rng.normal(size=(size, size))
    s = 1j * np.geomspace(0.01, 100.0, count)[:, None, None]
    return C @ np.linalg.solve(s * np.eye(STATES) - A, np.broadcast_to(B, (count, *B.shape))) + D


def _slicot(M: np.ndarray, blocks: list) -> Callable[[], np.ndarray] | None:
    slycot = peers.module("slycot", "ab13md")
    if slycot is None:
        return None
    sizes = np.array([abs(r) for r, _ in blocks])
    kinds = np.array([1 if r < 0 else 2 for r, _ in blocks])
    return lambda: np.array([slycot.ab13md(m, sizes, kinds)[0] for m in M])
