"""What is measured: every function here gives some rows of the table."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from articulus.bench import peers
from articulus.bench.models import Array, Model, chain, tree
from articulus.bench.reference import residual
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.startup import BATCH, ONE_STATE, Starter, starter
from articulus.bench.timing import Contender, race
from articulus.kernel.jit import width

ROWS = 4096
"""Rows of a batch."""
RESULT_BYTES = 2 * 2**20
"""Batches of big results have fewer rows: like the peer's one result at a time, they should not leave the cache."""
CHECKED = 16
"""Rows that are compared with the peer before timing."""
AGREE = 1e-9
"""Largest difference from the peer, relative to the largest entry."""
NO_PINOCCHIO = "Pinocchio is not installed (extra `bench`)"
PINOCCHIO_NAME = {
    "forward_dynamics": "aba",
    "inverse_dynamics": "rnea",
    "mass_matrix": "crba",
    "derivatives": "computeABADerivatives",
}
TITLE = {
    "forward_dynamics": "forward dynamics, batch",
    "inverse_dynamics": "inverse dynamics, batch",
    "mass_matrix": "mass matrix, batch",
    "derivatives": "derivatives of forward dynamics, batch",
}


@dataclass(frozen=True)
class Effort:
    """How much to measure.

    Parameters
    ----------
    seconds : float [s]
        For each row.
    quick : bool
        Leave out big mechanisms and cold starts.
    rounds : int
        Turns that a contender gets at least, however long they take.
    """

    seconds: float = 1.5
    quick: bool = False
    rounds: int = 5


# batches against Pinocchio


def forward(effort: Effort) -> Iterator[Measurement]:
    """Yield forward dynamics of chains and of a tree against Pinocchio's ABA."""
    yield batch_row("forward_dynamics", _chain(7), FigureLimit(20), effort)
    if effort.quick:
        return
    bar = FigureLimit(17 if width() > 4 else 15)  # with 512-bit vectors; with narrower ones
    yield batch_row("forward_dynamics", _chain(30), bar, effort)
    yield batch_row("forward_dynamics", _chain(100), bar, effort)
    yield batch_row(
        "forward_dynamics", _tree(), FigureLimit(15), effort, "free base with 4 limbs of 6 revolutes"
    )


def inverse(effort: Effort) -> Iterator[Measurement]:
    """Yield inverse dynamics and the mass matrix against Pinocchio's RNEA and CRBA."""
    yield batch_row("inverse_dynamics", _chain(7), FigureLimit(20), effort)
    yield batch_row("mass_matrix", _chain(7), FigureLimit(15), effort)


def derivatives(effort: Effort) -> Iterator[Measurement]:
    """Yield derivatives of forward dynamics against Pinocchio's recursive ones."""
    yield batch_row("derivatives", _chain(7), FigureLimit(10), effort)
    if not effort.quick:
        yield batch_row("derivatives", _chain(30), FigureLimit(8), effort)
        yield batch_row("derivatives", _chain(100), FigureLimit(6), effort)


def batch_row(quantity: str, model: Model, bar: FigureLimit, effort: Effort, note: str = "") -> Measurement:
    """Return a quantity through the public method on C-order arrays beside the faster of Pinocchio's ways."""
    ours, states = _ours(quantity, model)
    row = partial(
        Measurement, TITLE[quantity], model.nv, bar=bar, flops=model.mechanism.kernel(quantity).flops
    )
    if not peers.pinocchio():
        return row(ours_us=race([ours], effort.seconds)[0], note=notes(note, NO_PINOCCHIO))
    twin = _twin(model)
    gap = difference(_some(quantity, model, states), _theirs(quantity, twin, states))
    if not gap <= AGREE:
        return row(failed=True, note=notes(note, differs(gap)))
    name = PINOCCHIO_NAME[quantity]
    rivals = [c for c in (twin.loop(name, *states), twin.batch(name, *states)) if c]
    return race_row(row, ours, rivals, effort, notes(note, f"agree to {gap:.0e}"))


def race_row(
    row: Callable[..., Measurement], ours: Contender, rivals: Sequence[Contender], effort: Effort, note: str
) -> Measurement:
    """Return the row of a race: it shows the fastest rival, its note the others."""
    time, *others = race([ours, *rivals], effort.seconds, effort.rounds)
    fastest, *slower = sorted(zip(others, [c.name for c in rivals]))
    note = notes(note, *(f"{who}: {t:.3g} us" for t, who in slower))
    return row(ours_us=time, peer=fastest[1], peer_us=fastest[0], value=fastest[0] / time, note=note)


# other peers


def generated_c(effort: Effort) -> Iterator[Measurement]:
    """Yield forward dynamics of 7 revolutes against the same expression as C code of CasADi's."""
    model = _chain(7)
    ours, states = _ours("forward_dynamics", model)
    row = partial(Measurement, TITLE["forward_dynamics"], model.nv, bar=FigureLimit(7))
    if not peers.compiler():
        yield row(ours_us=race([ours], effort.seconds)[0], note="no C compiler found: skipped")
        return
    with TemporaryDirectory(prefix="articulus-bench-") as folder:
        try:
            function = model.mechanism.function("forward_dynamics")
            rival, result = peers.generated_c(function, states, Path(folder))
        except subprocess.CalledProcessError as error:
            yield row(note=f"the C compiler refused: {error.stderr.strip()[:200]}")
            return
        yield _checked_race(row, ours, rival, model, states, result, effort)


def mujoco(effort: Effort) -> Iterator[Measurement]:
    """Yield forward dynamics of 7 revolutes against MuJoCo's batch interface; only informs."""
    model = _chain(7)
    ours, states = _ours("forward_dynamics", model)
    row = partial(Measurement, TITLE["forward_dynamics"], model.nv)
    try:
        rival, result = peers.mujoco_batch(model, *states)
    except (ImportError, AttributeError):
        yield row(ours_us=race([ours], effort.seconds)[0], note="no MuJoCo with a batch interface installed")
        return
    yield _checked_race(row, ours, rival, model, states, result, effort)


def _checked_race(
    row: Callable[..., Measurement],
    ours: Contender,
    rival: Contender,
    model: Model,
    states: Sequence[Array],
    result: Array,
    effort: Effort,
) -> Measurement:
    gap = difference(_some("forward_dynamics", model, states), [result[:CHECKED]])
    if not gap <= AGREE:
        return row(failed=True, note=differs(gap))
    return race_row(row, ours, [rival], effort, f"agree to {gap:.0e}")


# one state


def one_state(effort: Effort) -> Iterator[Measurement]:
    """Yield a prepared call and the public method for one state against `pin.aba`; the figure is a part of its time."""
    model = _chain(7)
    state = [np.ascontiguousarray(x[0]) for x in model.states(1)]
    prepared = model.mechanism.kernel("forward_dynamics").bind(*state, out=np.zeros(model.nv))
    method = partial(model.mechanism.forward_dynamics, *state)
    prepared()
    yield from _single_rows(
        model,
        state,
        [("prepared call", prepared, prepared.outputs[0], 0.6), ("checked method", method, method(), 2.0)],
        effort,
    )


def one_gradient(effort: Effort) -> Iterator[Measurement]:
    """Yield a prepared call of all derivatives of forward dynamics about one state, beside one call of Pinocchio's."""
    model = _chain(7)
    state = [np.ascontiguousarray(x[0]) for x in model.states(1)]
    prepared = model.mechanism.kernel("derivatives").bind(*state)
    prepared()
    calls = [Contender("prepared call", prepared)]
    row = partial(
        Measurement, "derivatives of forward dynamics, one state, prepared call", model.nv, unit="us",
        bar=FigureLimit(1.0, at_least=False, unit="us"),
    )  # fmt: skip
    if not peers.pinocchio():
        (time,) = race(calls, effort.seconds)
        yield row(ours_us=time, value=time, note=NO_PINOCCHIO)
        return
    theirs = _twin(model).call("computeABADerivatives", *state)
    gap = difference(list(prepared.outputs[:2]), [np.array(x) for x in theirs()[:2]])
    if not gap <= AGREE:
        yield row(failed=True, note=differs(gap))
        return
    time, other = race([*calls, Contender("computeABADerivatives", theirs)], effort.seconds)
    name = "Pinocchio computeABADerivatives"
    yield row(ours_us=time, peer=name, peer_us=other, value=time, note=f"agree to {gap:.0e}; by q, v and tau")


def _single_rows(
    model: Model, state: Sequence[Array], ways: Sequence[tuple], effort: Effort
) -> Iterator[Measurement]:
    """Yield a row for each way (name, call, its result, limit) to compute one state."""
    calls = [Contender(name, call) for name, call, _, _ in ways]
    if peers.pinocchio():
        calls.append(Contender("Pinocchio aba, one call", _twin(model).call("aba", *state)))
    times = race(calls, effort.seconds)
    for (name, _, result, limit), time in zip(ways, times):
        bar = FigureLimit(limit, at_least=False, unit="of its time")
        row = partial(Measurement, f"forward dynamics, one state, {name}", model.nv, unit=bar.unit, bar=bar)
        if len(calls) == len(ways):
            yield row(ours_us=time, note=NO_PINOCCHIO)
        elif not (gap := difference([result], [calls[-1].call()])) <= AGREE:
            yield row(failed=True, note=differs(gap))
        else:
            note = f"agree to {gap:.0e}"
            yield row(ours_us=time, peer=calls[-1].name, peer_us=times[-1], value=time / times[-1], note=note)


# growth


def growth(effort: Effort) -> Iterator[Measurement]:
    """Yield the exponent with which the time of forward dynamics grows with the number of bodies."""
    sizes = (7, 10) if effort.quick else (10, 30, 100, 300, 1000)
    bar = None if effort.quick else FigureLimit(1.1, at_least=False, unit="exponent")
    row = partial(Measurement, f"forward dynamics, batch, growth from {sizes[0]}", sizes[-1], bar=bar)
    contenders, gaps = [], []
    for n in sizes:
        ours, states = _ours("forward_dynamics", _chain(n), min(ROWS, ROWS * 100 // n))
        contenders.append(ours)
        gaps.append(_gap(_chain(n), states))
    if not max(gaps) <= AGREE:
        yield row(failed=True, note=differs(max(gaps)))
        return
    times = race(contenders, 2 * effort.seconds)
    note = ", ".join(f"{n}: {t:.3g} us" for n, t in zip(sizes, times))
    yield row(ours_us=times[-1], value=exponent(sizes, times), unit="exponent", note=note)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return p of the power law times ~ sizes^p that fits best in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _gap(model: Model, states: Sequence[Array]) -> float:
    """Return how far a result of forward dynamics is from the equations of motion (Pinocchio fills the memory)."""
    q, v, tau = (x[0] for x in states)
    vdot = model.mechanism.forward_dynamics(*states)[0]
    return residual(model, q, v, tau, vdot)


# new processes


def cold_start(effort: Effort) -> Iterator[Measurement]:
    """Yield the time to the first result with an empty cache; the slower of one state and a batch counts."""
    sizes, limits, times = (7, 30, 100), (1.0, 4.0, 12.0), []
    with starter() as start:
        for n, limit in zip(sizes, limits):
            single, batch = (start.cold(_chain(n), rows, 3).first for rows in (ONE_STATE, BATCH))
            times.append(max(single, batch))
            note = f"one state {single:.2f} s, batch {batch:.2f} s"
            if n == sizes[-1]:
                note += f"; grows as n^{exponent(sizes[1:], times[1:]):.2f} from {sizes[1]}"
            yield _seconds("cold first result", n, times[-1], limit, note)


def warm_start(effort: Effort) -> Iterator[Measurement]:
    """Yield the time to the first result from a filled cache, and that of the import."""
    sizes = (7,) if effort.quick else (7, 30, 100)
    repeats = 1 if effort.quick else 5
    imports: list[float] = []
    with starter() as start:
        for n in sizes:
            seconds, note = _warm(start, _chain(n), repeats, imports)
            yield _seconds("warm first result", n, seconds, 0.2, note)
    yield _seconds("import articulus", 0, min(imports), 0.6, "")


def _warm(start: Starter, model: Model, repeats: int, imports: list[float]) -> tuple[float, str]:
    single, batch = (start.warm(model, rows, repeats) for rows in (ONE_STATE, BATCH))
    imports += [single.imported, batch.imported]
    return max(single.first, batch.first), f"one state {single.first:.3f} s, batch {batch.first:.3f} s"


def _seconds(name: str, n: int, seconds: float, limit: float, note: str) -> Measurement:
    bar = FigureLimit(limit, at_least=False, unit="s")
    return Measurement(name, n, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note=note)


# shared

_chain, _tree, _twin = cache(chain), cache(tree), cache(peers.Pinocchio)


def _ours(quantity: str, model: Model, rows: int = ROWS) -> tuple[Contender, tuple[Array, ...]]:
    """Return the public method on a batch, and the batch."""
    per_row = sum(8 * math.prod(shape) for shape in model.mechanism.kernel(quantity).output_shapes)
    rows = min(rows, max(CHECKED, RESULT_BYTES // max(1, per_row)))
    states = model.states(rows)[: 1 if quantity == "mass_matrix" else 3]
    return Contender("articulus", partial(getattr(model.mechanism, quantity), *states), rows), states


def _some(quantity: str, model: Model, states: Sequence[Array]) -> list[Array]:
    """Return our results for the first rows of a batch."""
    result = getattr(model.mechanism, quantity)(*states)
    return [x[:CHECKED] for x in (result if isinstance(result, tuple) else (result,))]


def _theirs(quantity: str, twin: peers.Pinocchio, states: Sequence[Array]) -> list[Array]:
    """Return Pinocchio's results for the first rows, in our order."""
    rows = zip(*(x[:CHECKED] for x in twin.state(*states)))
    results = [_copies(twin.call(PINOCCHIO_NAME[quantity], *row)()) for row in rows]
    return [twin.ours(np.stack(each)) for each in zip(*results)]


def _copies(result: Any) -> list[Array]:
    return [np.array(x) for x in (result if isinstance(result, tuple) else (result,))]


def difference(ours: Sequence[Array], theirs: Sequence[Array]) -> float:
    """Return the largest difference of any result, relative to its largest entry."""
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(ours, theirs))


def differs(gap: float) -> str:
    return f"results differ by {gap:.1e}, more than {AGREE:g}: not timed"


def notes(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
