"""Modes that no input moves or no output shows, found by the rank of [A - s I, B] at every eigenvalue (Popov-Belevitch-Hautus)."""

from __future__ import annotations

import numpy as np

from articulus.control.analysis.scaling import scales
from articulus.control.analysis.stable import depth, stable_poles
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import one_thread

UNSEEN = 1e-10
"""Smallest singular value of [A - s I, B], with rows and columns of like size, below which a mode counts as out of reach."""
ROUNDING = 1e-13
"""Rows and columns smaller than this, over the largest, count as rounding and are not scaled up further."""
ON_AXIS = 1e-12
"""Distance from the stability boundary, over the largest pole, within which a pole counts as lying on it."""


def out_of_reach(A: np.ndarray, B: np.ndarray, values: np.ndarray | None = None) -> list[complex]:
    """Return the eigenvalues of A (or those given) whose mode B does not move, in the units given and with states scaled to like size."""
    lost = _find_uncontrollable(A, B, np.linalg.eigvals(A) if values is None else values)
    if not lost:
        return []
    d = scales(A, np.zeros((len(A), 0)), np.zeros((0, len(A))))
    return _find_uncontrollable(A * d / d[:, None], B / d[:, None], np.array(lost))


def _find_uncontrollable(A: np.ndarray, B: np.ndarray, values: np.ndarray) -> list[complex]:
    upper = {complex(s.real, abs(s.imag)) for s in values}  # a mode and its conjugate are moved alike
    lost = set()
    with one_thread():  # a small problem per mode: threads only wait for each other
        for s in upper:
            _, even, least = _even_pencil(A, B, s)
            if np.linalg.svd(even, compute_uv=False)[-1] < least:
                lost.add(s)
    return [complex(s) for s in values if complex(s.real, abs(s.imag)) in lost]


def _null(A: np.ndarray, B: np.ndarray, s: complex) -> np.ndarray:
    """Return the left null space of [A - s I, B], (n, k)."""
    rows, even, least = _even_pencil(A, B, s)
    U, sizes, _ = np.linalg.svd(even, full_matrices=False)
    return rows[:, None] * U[:, sizes < least]


def _even_pencil(A: np.ndarray, B: np.ndarray, s: complex) -> tuple[np.ndarray, np.ndarray, float]:
    """Return factors of the rows, [A - s I, B] with rows and columns of like size, and the singular value that counts as zero.

    Scaling changes no rank. Without it a slow mode beside very fast ones (a hinge with a strong damper and little inertia) would count as out of reach.
    """
    pencil = np.hstack([A - (s if s.imag else s.real) * np.eye(len(A)), B])
    rows, columns = np.ones(len(pencil)), np.ones(pencil.shape[1])
    for _ in range(2):
        sizes = np.linalg.norm(pencil * columns, axis=1)
        rows = 1.0 / np.maximum(sizes, ROUNDING * max(sizes.max(initial=0.0), np.finfo(float).tiny))
        sizes = np.linalg.norm(rows[:, None] * pencil, axis=0)
        columns = 1.0 / np.maximum(sizes, ROUNDING * max(sizes.max(initial=0.0), np.finfo(float).tiny))
    # what rounding of s itself, which is that of the largest pole, makes of a zero
    least = max(UNSEEN, 10 * np.finfo(float).eps * np.linalg.norm(A) * rows.max(initial=0.0))
    return rows, rows[:, None] * pencil * columns, float(least)


def unstable(s: np.ndarray | complex, period: float | None, size: float = 1.0) -> np.ndarray:
    """Return whether eigenvalues lie outside the open region of stability: a margin of `ON_AXIS` times size counts as on it."""
    s = np.asarray(s)
    return s.real >= -ON_AXIS * size if period is None else np.abs(s) >= 1.0 - ON_AXIS


def require_no_idle_boundary(
    model: LinearModel, weight: np.ndarray, method: str, what: str, *, dual: bool
) -> None:
    """Raise InputError naming a mode on the boundary of stability that a weight (dual: of the estimator) does not see.

    The Riccati equation then has no stabilizing solution. Rows and columns of the weight belong to the states.
    """
    A = model.A if dual else model.A.T
    values, inside = stable_poles(A, model.period)
    scale = np.abs(values).max(initial=0.0) if model.period is None else 1.0
    boundary = ~inside & (depth(values, model.period) >= -ON_AXIS * scale)
    size = max(np.abs(weight).max(initial=0.0), np.finfo(float).tiny)
    even = weight / size * (np.abs(A).max(initial=0.0) or 1.0)
    for s in out_of_reach(A, even, values[boundary]):
        raise InputError(
            f"{method}: found the mode at {s if s.imag else s.real:.6g} ({heaviest(model, complex(s))}) on the boundary of "
            f"stability, and {what}; expected some; without it nothing moves that mode into the region of stability"
        )


def unstable_modes(model: LinearModel) -> np.ndarray:
    """Return the eigenvalues of a model that are not asymptotically stable, (k,)."""
    values, inside = stable_poles(model.A, model.period)
    return values[~inside]


def require_stabilizable(
    model: LinearModel,
    B: np.ndarray,
    method: str,
    inputs: tuple[str, ...],
    modes: np.ndarray | None = None,
) -> None:
    """Raise InputError naming the unstable modes (those given, where they are known) that the inputs do not move."""
    modes = unstable_modes(model) if modes is None else modes
    why = f"no input ({', '.join(inputs[:6])}) moves it"
    _require(model, model.A, B, modes, False, method, why, "stabilizable")


def require_detectable(
    model: LinearModel,
    C: np.ndarray,
    method: str,
    outputs: tuple[str, ...],
    modes: np.ndarray | None = None,
) -> None:
    """Raise InputError naming the unstable modes (those given, where they are known) that the outputs do not show."""
    modes = unstable_modes(model) if modes is None else modes
    why = f"no output ({', '.join(outputs[:6])}) shows it"
    _require(model, model.A.T, C.T, modes, True, method, why, "detectable")


def _require(
    model: LinearModel,
    A: np.ndarray,
    B: np.ndarray,
    modes: np.ndarray,
    dual: bool,
    method: str,
    why: str,
    wanted: str,
) -> None:
    bad = out_of_reach(A, B, modes)
    if bad:  # nor with inputs and outputs in the scaling
        d = scales(model.A, model.B, model.C) ** (-1.0 if dual else 1.0)
        bad = _find_uncontrollable(A * d / d[:, None], B / d[:, None], np.array(bad))
    if bad:
        named = {f"{s:.6g} ({_most(model, np.abs(_null(A, B, s)).sum(axis=1))})": s for s in bad}
        raise InputError(
            f"{method}: found the mode at {'; '.join(list(named)[:4])}, which is not asymptotically stable, and {why}; "
            f"expected a {wanted} plant"
        )


def heaviest(model: LinearModel, s: complex) -> str:
    """Return the names of the states that take most part in the mode of an eigenvalue."""
    values, vectors = np.linalg.eig(model.A)
    return _most(model, np.abs(vectors[:, np.argmin(np.abs(values - s))]))


def _most(model: LinearModel, shape: np.ndarray) -> str:
    order = np.argsort(-shape, kind="stable")
    return ", ".join(model.states[i] for i in order[:3] if shape[i] > 0.1 * shape[order[0]])
