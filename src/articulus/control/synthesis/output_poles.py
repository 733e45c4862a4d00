"""Poles by static output feedback, one after another, by deflation.

G. Miminis, Using Deflation in the Pole Assignment Problem with Output Feedback, 3rd Annual Conference on Aerospace Computational
Control, JPL, 1989. A pair of complex poles is assigned in one real step, so that the gain stays real (the source leaves this open).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scale_states
from articulus.control.connect import select
from articulus.control.design import Check, GainDesign, check_design, named_controller, static
from articulus.control.modes import unstable
from articulus.control.plant import Group, as_plant, places
from articulus.errors import InputError, doubtful

NO_AUTHORITY = 1e-10
"""Cosine between closed-loop vectors and the rows of C, below which a pole is a strong transmission zero: no output feedback assigns it."""
ASSIGNED = 1e-6
"""Distance of a pole from where it should be, over the largest of the matrix, up to which it counts as assigned."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputPolesDesign(GainDesign):
    """An output feedback that places some poles.

    Parameters
    ----------
    left : array
        Poles that were not placed [rad/s].
    """

    left: np.ndarray


def output_poles(
    plant: Any, poles: Sequence[complex], *, commands: Group = None, measured: Group = None
) -> OutputPolesDesign:
    """Return the static output feedback u = -K y whose closed loop has the given poles, at most m + p - 1 of them.

    Poles are assigned in the order given; the gain depends on it. A pole that the plant has as a strong transmission zero, where its
    transfer function vanishes as a whole, cannot be assigned and is named. What the remaining poles become is not chosen: they are
    in the figures, and a warning is given if one of them is unstable.

    Parameters
    ----------
    plant : see `as_plant`
        Without feedthrough.
    poles : sequence of complex
        Of A - B K C: in the s plane [rad/s], of a sampled plant in the z plane. Complex ones together with their conjugates.
    commands, measured : names or counts
        Inputs and outputs that the feedback uses; all if not given.

    Returns
    -------
    Design
        Figures: `gain` K (m, p), `left` the poles that were not chosen.
    """
    model = as_plant(plant, "output_poles")
    u = places(model.inputs, commands, "input", "output_poles")
    y = places(model.outputs, measured, "output", "output_poles")
    alike = scale_states(select(model, u, y))[0]
    A, B, C = alike.A, alike.B, alike.C
    if np.abs(model.D[np.ix_(y, u)]).max(initial=0.0) > 0.0:
        raise InputError(
            "output_poles: found a plant with feedthrough from commands to measured outputs; expected none"
        )
    for name, matrix, labels in (("inputs", B, model.inputs), ("outputs", C.T, model.outputs)):
        if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
            raise InputError(
                f"output_poles: found {name} {', '.join(labels)} that depend on each other; expected independent ones"
            )
    wanted = _groups(poles)
    most = min(len(A), len(u) + len(y) - 1)
    if sum(map(len, wanted)) > most:
        raise InputError(f"output_poles: found {len(poles)} poles; expected at most m + p - 1 = {most}")
    K = _gain(A, B, C, wanted)
    achieved = np.linalg.eigvals(A - B @ K @ C)
    chosen = _nearest(achieved, [s for group in wanted for s in group])
    off = max((abs(achieved[i] - s) for i, s in chosen), default=0.0) / max(np.abs(achieved).max(), 1e-300)
    left = np.delete(achieved, [i for i, _ in chosen])
    checks = [Check("distance of the chosen poles, relative", off, ASSIGNED, off < ASSIGNED)]
    controller = named_controller(model, static(-K), u, y, "output poles")
    bad = left[unstable(left, model.period, np.abs(achieved).max())]
    if len(bad):
        text = ", ".join(f"{s:.4g}" for s in bad)
        doubtful(f"output_poles: the closed loop is unstable: poles that were not chosen are at {text}")
    return check_design(
        OutputPolesDesign,
        "output poles",
        model,
        controller,
        u,
        y,
        {"gain": K, "left": left},
        checks,
        stable=not len(bad),
    )


def _groups(poles: Sequence[complex]) -> list[tuple[complex, ...]]:
    """Return real poles alone and complex ones in pairs, in the order given."""
    rest = [complex(s) for s in np.atleast_1d(np.asarray(poles, dtype=complex))]
    groups: list[tuple[complex, ...]] = []
    while rest:
        s = rest.pop(0)
        if s.imag == 0.0:
            groups.append((s,))
            continue
        mate = next((i for i, t in enumerate(rest) if abs(t - s.conjugate()) <= 1e-9 * abs(s)), None)
        if mate is None:
            raise InputError(f"output_poles: found the pole {s:.6g} without its conjugate; expected both")
        rest.pop(mate)
        groups.append((s, s.conjugate()))
    return groups


def _gain(A: np.ndarray, B: np.ndarray, C: np.ndarray, wanted: list[tuple[complex, ...]]) -> np.ndarray:
    """Return K in the order given, or in another one where a pair would come when only one column is left."""
    tried = [wanted, sorted(wanted, key=len), sorted(wanted, key=len, reverse=True)]
    for groups in tried:
        try:
            return _deflate_groups(A, B, C, list(groups))
        except _NoRoom:
            continue
    raise InputError(
        f"output_poles: with {B.shape[1]} inputs and {len(C)} outputs these complex pairs leave no column for each other; "
        "expected fewer pairs, or real poles in place of one"
    )


class _NoRoom(Exception):
    """A pair is to be assigned with a single column of the gain left."""


def _deflate_groups(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, wanted: list[tuple[complex, ...]]
) -> np.ndarray:
    """Return K (m, p) that assigns poles group by group: each takes columns of K and leaves a smaller problem (section 3)."""
    m, p = B.shape[1], len(C)
    if not wanted:
        return np.zeros((m, p))
    if m > p:
        return _deflate_groups(A.T, C.T, B.T, wanted).T
    group = wanted[0]
    if len(group) > p:
        raise _NoRoom
    X, U = _vectors(A, B, C, group)
    Y = C @ X
    V, R = scipy.linalg.qr(Y)
    k = np.linalg.solve(R[: len(group)].T, U.T).T  # first columns of K V
    Q = scipy.linalg.qr(X)[0]
    rest = Q[:, len(group) :]
    rows = V.T @ C @ rest
    c, C2 = rows[: len(group)], rows[len(group) :]
    A2 = rest.T @ A @ rest - rest.T @ B @ k @ c
    K2 = _deflate_groups(A2, rest.T @ B, C2, wanted[1:]) if len(C2) else _nothing_left(m, wanted[1:])
    return np.hstack([k, K2]) @ V.T


def _nothing_left(m: int, wanted: list[tuple[complex, ...]]) -> np.ndarray:
    if wanted:
        raise _NoRoom
    return np.zeros((m, 0))


def _vectors(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, group: tuple[complex, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return X (n, 1 or 2), real, and U with A X - B U = X L, where L has the poles of the group: closed-loop vectors seen best by C."""
    n, m = B.shape
    s = group[0] if len(group) > 1 else group[0].real
    shifted = A - s * np.eye(n)
    U_, R = scipy.linalg.qr(B)
    free = scipy.linalg.null_space(U_[:, m:].T @ shifted) if n > m else np.eye(n, dtype=shifted.dtype)
    H0 = scipy.linalg.qr(C.T, mode="economic")[0]
    _, sizes, Xh = np.linalg.svd(H0.T @ free)
    size = float(np.linalg.norm(C))
    if sizes[0] < NO_AUTHORITY:
        raise InputError(
            f"output_poles: found the pole {group[0]:.6g} to be a strong transmission zero; no output feedback assigns it"
        )
    x = free @ Xh[0].conj()
    if len(group) > 1:
        others = [free @ row.conj() for row in Xh[1:3]]
        x = max(
            [x, *others, *(x + 1j * other for other in others)], key=lambda x: _measure_observability(C, x, 2)
        )
    if _measure_observability(C, x, len(group)) < NO_AUTHORITY * size:
        raise InputError(
            f"output_poles: found no real gain for the pair {group[0]:.6g}; expected other poles or more outputs"
        )
    u = np.linalg.solve(R[:m], U_[:, :m].T @ (shifted @ x))
    if len(group) == 1:
        return x.real[:, None], u.real[:, None]
    return np.column_stack([x.real, x.imag]), np.column_stack([u.real, u.imag])


def _measure_observability(C: np.ndarray, x: np.ndarray, count: int) -> float:
    """Return the smallest singular value of C x, of its real and imaginary parts for a pair, over that of x."""
    parts = x.real[:, None] if count == 1 else np.column_stack([x.real, x.imag])
    sizes = np.linalg.svd(C @ parts, compute_uv=False)
    return float(sizes[count - 1] / np.linalg.norm(parts)) if len(sizes) >= count else 0.0


def _nearest(found: np.ndarray, wanted: list[complex]) -> list[tuple[int, complex]]:
    """Return the number of the pole found nearest to each wanted one, no pole twice."""
    rest, pairs = list(range(len(found))), []
    for s in wanted:
        i = min(rest, key=lambda i: abs(found[i] - s))
        rest.remove(i)
        pairs.append((i, s))
    return pairs
