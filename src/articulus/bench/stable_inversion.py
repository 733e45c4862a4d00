"""Row of stable inversion: the plant of Chen and Paden, from expressions to checked inputs."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.cases.stable_inversion.case import inverse

LIMIT = 0.2
"""Most time [s]."""
EXACT = 56.08028401
"""Input at t = pi, from the closed form of the internal motion."""


def example(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of the whole inversion, normal form to checked result, by both methods."""
    for method in ("collocation", "picard"):
        found = inverse(2.0, method, tolerance=1e-8)
        off = abs(float(np.interp(np.pi, found.t, found.inputs[:, 0])) - EXACT)
        ours = Contender("articulus", functools.partial(inverse, 2.0, method, tolerance=1e-8))
        (time,) = race([ours], effort.seconds, 2)
        bar = (
            FigureLimit(LIMIT, at_least=False, unit="s")
            if method == "collocation" and not effort.quick
            else None
        )
        yield Measurement(
            f"stable inversion, {method}",
            len(found.t),
            time,
            value=1e-6 * time,
            unit="s",
            bar=bar,
            failed=off > 1e-5,
            note=f"four states, input at t = pi off by {off:.0e}",
        )
