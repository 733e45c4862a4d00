"""How far runs of methods of low order are off, measured: the same run in long steps of RK4, twice, as a reference.

Euler's method makes an error of its first power of the step in smooth motion too, which no account of energy sees. RK4 with steps that are
eight times as long (an error of the fourth power) costs half of its evaluations; with sixteen, a quarter. Where both agree with each other
far better than with the run, the difference is the run's error. Where they do not (fast motion, jumps, chaos) nothing is said.
"""

from __future__ import annotations

import math

import numpy as np

from articulus import kernel
from articulus.model.mechanism import Description
from articulus.simulation.integrate import RK4
from articulus.simulation.integrate import method as find_method
from articulus.simulation.running.native_engine import NativeEngine

Array = np.ndarray

LOW = 2
"""Order up to which a method is compared."""
RATIOS = (8, 2, 1)
"""Steps of a run in one of the finer reference: the next one where two references do not agree."""
SHORT = 2000
"""Steps of a run up to which references are refined: at two steps in one they cost three times as much as Euler's method."""
AGREE = 4.0
"""How many times the difference of the two references the error has to be."""
SEEN = 1e-3
"""Error, over what is large for the coordinate, below which it is ignored [-]."""


def comparable(engine: object, method: str) -> bool:
    """Whether runs of an engine and a method can be compared: fixed explicit steps of low order, native, without noise."""
    order = find_method(method).order
    return isinstance(engine, NativeEngine) and order is not None and order <= LOW and not engine.system.nw


def comparisons(engine: NativeEngine, steps: int, every: int) -> list[tuple[int, int]]:
    """Return pairs: steps of the run in one of the finer reference, and at which step of the run they are compared; cheapest first.

    References take whole numbers of steps between samples of components, and end at a sample of the run in its second half.
    """
    out = []
    for ratio in RATIOS if steps <= SHORT else RATIOS[:1]:
        grid = math.lcm(2 * ratio, every)
        end = steps if steps % (2 * ratio) == 0 else steps - steps % grid
        if end >= max(1, steps / 2) and not any(period % (2 * ratio) for period in engine.jumps):
            out.append((ratio, end))
    return out


def reference_errors(
    engine: NativeEngine, c0: Array, p: Array, t0: float, ratio: int, end: int, reached: Array, ranges: Array
) -> tuple[Array, bool]:
    """Return the largest error of each run over the motion of its joint or flexible body, (rows,) [-], and whether all is known.

    What is not known is 0.

    Parameters
    ----------
    engine : NativeEngine
        Engine of the runs.
    c0 : array, (rows, nc)
        Their starts.
    p : array, (rows, np)
    t0 : float [s]
    ratio, end : int
        One of `comparisons`.
    reached : array, (rows, nc)
        Where the runs are at step `end`.
    ranges : array, (rows, 2, groups)
        Largest displacement and speed of each group of coordinates, over what is large for them.
    """
    system = engine.system
    fine, coarse = (_states(engine, c0, p, t0, many, end) for many in (ratio, 2 * ratio))
    off, doubt = (shares_of(system.description, x - fine, system.places) for x in (reached, coarse))
    with np.errstate(invalid="ignore", divide="ignore"):
        seen, known = off > SEEN, off > AGREE * doubt
        share = np.where(seen & known, off / ranges, 0.0)
    errors = np.nan_to_num(share, nan=0.0, posinf=0.0).max(axis=(1, 2), initial=0.0)
    return errors, bool((known | (off <= SEEN)).all())


def _states(engine: NativeEngine, c0: Array, p: Array, t0: float, many: int, end: int) -> Array:
    """Return c after `end` steps of an engine, (rows, nc), by RK4 in steps that are `many` times as long."""
    system, steps = engine.system, end // many
    reference = NativeEngine(system, RK4(), many * engine.h)
    reference.prepare(len(c0))
    x = reference.rows(c0, np.broadcast_to(system.d0, (len(c0), system.nd)))
    log = np.empty((len(c0), 1, reference.logged))
    failed, w = np.full(len(c0), kernel.NEVER), np.zeros((steps, 0))
    march = reference.on(x, reference.parameters(t0, p), w, failed, log, first=0, every=steps)
    march(0, steps)
    return np.where(failed[:, None] < 0, x[:, : system.nc], np.nan)


def shares_of(d: Description, c: Array, places: dict[str, slice]) -> Array:
    """Return the largest displacement and speed of each group of coordinates, over what is large, (..., 2, groups)."""
    scales = d.scales()
    q = np.abs(c[..., places["q"]]) / d.position_sizes(scales)
    v = np.abs(c[..., places["v"]]) * scales.time / scales.displacement
    pairs = [
        (q[..., at_q].max(axis=-1, initial=0.0), v[..., at_v].max(axis=-1, initial=0.0))
        for at_v, at_q in coordinate_groups(d)
    ]
    return np.moveaxis(np.array(pairs), (0, 1), (-1, -2))


def coordinate_groups(d: Description) -> list[tuple[Array, Array]]:
    """Return the places in v and in q of what turns in each joint, what slides in it, and the modes of each flexible body."""
    out = []
    for c in d.connections:
        at_v, at_q = (np.arange(x.start, x.stop) for x in (d.v_slices[c.name], d.q_slices[c.name]))
        turning = np.array(c.joint.rotational[: len(at_v)], dtype=bool)
        own = turning if c.joint.nq == c.joint.nv else np.append(np.ones(4, dtype=bool), turning[3:])
        out += [(at_v[turning], at_q[own]), (at_v[~turning], at_q[~own])]
        modes_v, modes_q = d.mode_slices(c.child)
        out.append((np.arange(modes_v.start, modes_v.stop), np.arange(modes_q.start, modes_q.stop)))
    return [(v, q) for v, q in out if v.size]
