"""Rows of schedules, and of the distribution of the time of one call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from articulus.bench import peers
from articulus.bench.models import chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.model.load import load
from articulus.parallel import (
    SegmentedChain,
    TaskGraph,
    Team,
    Timing,
    cp_misf,
    df_ihs,
    measure,
    predicted_time,
    run_schedule,
    team_costs,
    timed_schedule,
)
from articulus.parallel.execution import fastest

NEAR = 50
"""How far back a random task looks for what it needs."""


def random_graph(tasks: int, seed: int) -> TaskGraph:
    """Return a graph of tasks of 1 to 9 units, each of which needs up to three of those shortly before it."""
    random = np.random.default_rng(seed)
    edges = [
        (int(random.integers(max(0, b - NEAR), b)), b)
        for b in range(1, tasks)
        for _ in range(random.integers(0, 4))
    ]
    return TaskGraph.of(random.integers(1, 10, tasks).tolist(), edges)


def schedules(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a list schedule of many tasks, and how near the search comes to its bound."""
    spent = []
    for seed in range(3):
        graph = random_graph(1000 if effort.quick else 10_000, seed)
        begun = time.process_time()
        schedule = cp_misf(graph, 16)
        spent.append(time.process_time() - begun)
    yield Measurement(
        f"CP/MISF, {len(graph)} tasks on 16 processors",
        len(graph),
        1e6 * min(spent),
        value=min(spent),
        unit="s",
        bar=FigureLimit(1.0, at_least=False, unit="s"),
        failed=bool(schedule.findings()),
        note=f"processor time; at most {100 * schedule.error:.2g} % above the optimum",
    )
    errors, seconds = [], 1.0 if effort.quick else 10.0
    for seed in range(3):
        best = df_ihs(random_graph(100, seed), 8, seconds)
        errors.append(best.error)
    yield Measurement(
        f"DF/IHS, 100 tasks on 8 processors, {seconds:g} s at most",
        100,
        value=100 * max(errors),
        unit="% above the bound",
        note=f"three graphs; {sum(e == 0.0 for e in errors)} proven best",
    )


def distribution(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a prepared call of forward dynamics within which 99.9 % are done, in a pinned thread; 7 revolutes beside Pinocchio."""
    count, model = 10_000 if effort.quick else 1_000_000, chain(7)
    for name, arm in (("7 revolutes", model.mechanism), ("rrc7", load("rrc7")), ("cat215b", load("cat215b"))):
        x = np.full(arm.nv, 0.1)
        found = measure(arm.kernel("forward_dynamics").bind(x, x, x, out=np.zeros(arm.nv)), count, 2000)
        ours, told = 1e6 * found.quantile(0.999), _spread(found)
        row = partial(Measurement, f"one prepared call of {name}, 99.9 % within", arm.nv, ours)
        if arm is model.mechanism and peers.pinocchio():
            theirs = measure(peers.Pinocchio(model).call("aba", x, x, x), count, 2000)
            late = 1e6 * theirs.quantile(0.999)
            yield row("Pinocchio aba", late, value=late / ours, note=f"{told}; Pinocchio: {_spread(theirs)}")
        else:
            yield row(note=told)


def _spread(found: Timing) -> str:
    return (
        f"fastest {1e6 * found.quantile(0.0):.2g} us, worst {1e6 * found.worst:.3g} us, "
        f"{int(found.stolen.sum())} of {len(found.seconds)} calls stolen by the system"
    )


def threads(effort: Effort) -> Iterator[Measurement]:
    """Yield one state of a long chain in two threads beside the serial recursion, and its predicted time beside the measured one."""
    model = chain(60 if effort.quick else 1000)
    q, v, tau = (x[0].copy() for x in model.states(1))
    serial = model.mechanism.kernel("forward_dynamics").bind(q, v, tau)
    expected = model.mechanism.forward_dynamics(q, v, tau)
    calls = 200 if effort.quick else 5000
    with Team(2) as team:
        parts = SegmentedChain(model.mechanism, team=team)
        found = parts.forward_dynamics(q, v, tau)
        off = float(np.abs(found - expected).max() / np.abs(expected).max())
        costs = team_costs(team)
        one, two = fastest(serial, calls), fastest(lambda: parts.forward_dynamics(q, v, tau), calls)
        predicted = predicted_time(timed_schedule(parts.schedule, parts.tasks), costs)
        step = run_schedule(parts.schedule, parts.tasks, team)
        yield Measurement(
            "forward dynamics, one state, two threads", model.nv, 1e6 * two, "articulus, serial", 1e6 * one, value=one / two,
            bar=None if effort.quick or team.size == 1 else FigureLimit(1.4), failed=off > 1e-8,
            note=f"wall time, fastest call; schedule predicted {1e6 * predicted:.3g} us, measured {1e6 * fastest(step, calls):.3g}; a transfer {1e9 * costs.transfer:.3g} ns",
        )  # fmt: skip


def segments(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of one state of a long chain with a segment in each lane, beside the serial recursion."""
    for n in (30,) if effort.quick else (100, 300, 1000):
        model = chain(n)
        q, v, tau = (x[0].copy() for x in model.states(1))
        parts, serial = (
            SegmentedChain(model.mechanism),
            model.mechanism.kernel("forward_dynamics").bind(q, v, tau),
        )
        found, expected = parts.forward_dynamics(q, v, tau), model.mechanism.forward_dynamics(q, v, tau)
        off = float(np.abs(found - expected).max() / np.abs(expected).max())
        ours, other = race(
            [
                Contender("segments", lambda p=parts, x=(q, v, tau): p.forward_dynamics(*x), 1),  # type: ignore[misc]
                Contender("serial", serial, 1),
            ],
            effort.seconds,
        )
        yield Measurement(
            "forward dynamics, one state, a segment in each lane",
            n,
            ours,
            "articulus, serial",
            other,
            value=ours,
            unit="us",
            bar=FigureLimit(32.0, at_least=False, unit="us") if n == 1000 else None,
            failed=off > 1e-8,
            note=f"agree to {off:.0e} of the largest acceleration",
        )
