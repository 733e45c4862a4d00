"""End conditions that hold by themselves: quadratic functions of the states that no input can change, such as the length of a quaternion.

x' M f(x, u) = 0 for all x and u is linear in the symmetric matrix M, so rates at a few random states and inputs tell all of them. A phase that gives all
states of such a function at both ends gives one number too many: its multipliers are not unique, and the search does not end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.refine import determined_places, residual_and_slope

MOST = 20
"""Most states of a phase that is examined: the matrices have as many entries as half of their square."""
SMALL = 1e-9
"""Singular value over the largest, and entry of a matrix, that count as zero."""
OFF = 1e-6
"""Difference of the values at both ends, over their size, from which on no motion has both."""


def invariants(phase: Phase) -> list[np.ndarray]:
    """Return the quadratic functions x' M x that stay constant whatever the inputs do, as symmetric matrices M (states, states)."""
    states = phase.states
    n = len(states)
    if not 2 <= n <= MOST:
        return []
    i, j = np.triu_indices(n)
    random = np.random.default_rng(0)
    z = random.uniform(-1, 1, (len(i) + n + 10, phase.size)) * phase.scale
    residual, slope = residual_and_slope(phase)(z)
    with np.errstate(all="ignore"):
        try:
            z[:, determined_places(phase)] -= np.linalg.solve(slope, residual[..., None])[..., 0]
        except np.linalg.LinAlgError:
            return []
    sizes = phase.scale[states]
    x, f = z[:, states] / sizes, z[:, [phase.rates[int(k)] for k in states]] / sizes
    if not np.isfinite(f).all():
        return []
    rows = x[:, i] * f[:, j] + np.where(i == j, 0.0, x[:, j] * f[:, i])
    _, values, vectors = np.linalg.svd(rows / np.maximum(np.abs(rows).max(1, keepdims=True), 1e-300))
    null = vectors[np.sum(values > SMALL * values[0]) :]
    out = []
    for row in null if len(null) == 1 else []:  # several of them mix, and are told by no single one
        M = np.zeros((n, n))
        M[i, j] = np.where(np.abs(row) < SMALL * np.abs(row).max(), 0.0, row)
        M = (M + M.T) / 2 / np.outer(sizes, sizes)
        out.append(M / M.flat[np.abs(M).argmax()])
    return out


def open_redundant_ends(problem: Problem) -> Problem:
    """Return a problem without end conditions that follow from those at the start; raise InputError where they contradict each other.

    Of the states of an invariant, that with the steepest slope at the end is left open there, on its side of zero.
    """
    return replace(problem, phases=tuple(_open(phase) for phase in problem.phases))


def _open(phase: Phase) -> Phase:
    states = phase.states
    fixed = [low == high for low, high in (phase.start, phase.end)]
    if (fixed[0] & fixed[1])[states].sum() < 2:
        return phase
    for M in invariants(phase):
        used = np.flatnonzero(M.any(0))
        if not all(each[states[used]].all() for each in fixed):
            continue
        first, last = phase.start[0][states], phase.end[0][states]
        before, after = float(first @ M @ first), float(last @ M @ last)
        names = ", ".join(phase.names[int(k)] for k in states[used])
        if abs(after - before) > OFF * max(abs(before), abs(after)):
            raise InputError(
                f"phase '{phase.name}': found ends at which a square sum of {names} is {before:.6g} and {after:.6g}; expected the same, because no "
                "input can change it (such as the length of a quaternion)"
            )
        slope = np.abs(M @ last) * phase.scale[states]
        place = int(states[int(slope.argmax())])
        low, high = phase.end[0].copy(), phase.end[1].copy()
        value = phase.end[0][place]
        low[place], high[place] = (0.0, phase.upper[place]) if value > 0 else (phase.lower[place], 0.0)
        phase = replace(phase, end=(low, high))
    return phase
