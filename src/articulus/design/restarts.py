"""The best of several starts, and what is to be said about the others."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.design.methods.base import KEPT, Minimizer
from articulus.design.program import DesignProgram, Optimum
from articulus.errors import NumericalError, doubtful
from articulus.numerics.lyapunov import one_thread

APART = 1e-3
"""Relative difference of objectives from which on two starts disagree."""


def best_of(program: DesignProgram, starts: np.ndarray, method: Minimizer) -> Optimum:
    """Return the best optimum of all starts; the others are in its field `others`, best first.

    Warns
    -----
    DoubtfulResult
        If no start leads to a design that keeps all limits (which ones are broken, and by how much), or if starts end at different
        objectives.

    Raises
    ------
    NumericalError
        If no start has figures.
    """
    with one_thread():  # matrices of a few dozen rows
        ends = [method.minimize(program, program.inside(x)) for x in starts]
    found = sorted(ends, key=lambda o: (not o.point.defined, max(o.point.excess, 10 * KEPT), o.objective))
    best = dataclasses.replace(found[0], others=tuple(found[1:]))
    if not best.point.defined:
        raise NumericalError(
            "no start has figures: the loop is not stable there; expected a start with a stable loop"
        )
    if best.broken:
        worst = ", ".join(
            f"'{n}' by {100 * g:.3g} %" for n, g in zip(program.limits, best.point.limits) if n in best.broken
        )
        doubtful(
            f"no design was found that keeps all limits; the nearest breaks {worst}: these limits contradict the others"
        )
    kept = np.array([o.objective for o in found if o.point.excess <= 10 * KEPT])
    if kept.size > 1 and np.ptp(kept) > APART * abs(kept[0]):
        doubtful(
            f"{kept.size} starts end at different optima, from {kept.min():.6g} to {kept.max():.6g} {program.unit}: there are "
            "local minima, and there may be a better one; `others` has them, `section` shows what lies between two"
        )
    return best
