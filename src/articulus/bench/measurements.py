"""Rows of gradients, regressors and fits: what is found from measured runs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from articulus.bench import peers
from articulus.bench.models import Array, Model, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import NO_PINOCCHIO, Effort
from articulus.bench.timing import Contender, race
from articulus.design import Experiment, base_parameters, fit
from articulus.design.regression import Regression
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult
from articulus.model.mechanism.expression import Parameter
from articulus.model.mechanism.joint import Revolute
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.components import PD
from articulus.simulation.running.loop import Loop
from articulus.study.records import Record

STEP = 1e-3
"""Of all runs [s]."""
STATES = 10_000
"""Whose regressors are computed."""


def arm(model: Model, every: bool = False) -> Loop:
    """Return a chain of revolutes under PD with parameters: masses, dampings and gains, or `every` number twice (its value times a factor)."""
    m = Mechanism("arm")

    def number(name: str, value: float) -> Any:
        return Parameter(name, value) * Parameter(f"{name}_share", 1.0) if every else value

    for i, link in enumerate(model.links):
        I = link.inertia
        moments = [
            [number(f"I{min(a, b)}{max(a, b)}_{i}", float(I[a, b])) for b in range(3)] for a in range(3)
        ]
        com = tuple(number(f"com{k}_{i}", float(x)) for k, x in enumerate(link.com))
        m.body(f"link{i}", mass=_parameter(f"mass{i}", link.mass, every), com=com, inertia=moments)
        m.joint(
            f"joint{i}", Revolute(axis=(0, 0, 1)), parent=f"link{i - 1}" if i else "ground", child=f"link{i}", at=link.at,
            damping=_parameter(f"damping{i}", 0.5, every),
        )  # fmt: skip
    n = len(model.links)
    few = n if every else n - 1
    kp = tuple(_parameter(f"kp{i}", 50.0, every) if i < few else 50.0 for i in range(n))
    kd = tuple(_parameter(f"kd{i}", 5.0, every) if every else 5.0 for i in range(n))
    return Loop(m, PD(kp=kp, kd=kd, target=tuple(np.linspace(-1.0, 1.0, n))))


def _parameter(name: str, value: float, twice: bool) -> Any:
    return Parameter(name, value) * Parameter(f"{name}_share", 1.0) if twice else Parameter(name, value)


def gradients(effort: Effort) -> Iterator[Measurement]:
    """Yield exact gradients of a closed-loop run of 1 s at 1 kHz beside a call of the run, by 20 and by some 200 parameters."""
    model, t_end = chain(7), 0.05 if effort.quick else 1.0
    loop, q0 = arm(model), 0.3 * np.random.default_rng(0).normal(size=7)

    def figure(s: Any) -> Any:
        return ca.sumsqr(s["q"])

    begun = time.process_time()
    loop.gradient(figure, t_end, q0, step=STEP, mode="forward")
    cold = time.process_time() - begun
    run = Contender("one call", lambda: loop.simulate(t_end, q0, step=STEP))
    ways = [
        Contender(w, partial(loop.gradient, figure, t_end, q0, step=STEP, mode=w))
        for w in ("forward", "adjoint")
    ]
    values = [loop.gradient(figure, t_end, q0, step=STEP, mode=w).gradient for w in ("forward", "adjoint")]
    gap = float(np.abs(values[0] - values[1]).max() / np.abs(values[0]).max())
    count, rivals = len(values[0]), list[Contender]()
    if peers.mujoco():
        rows = np.tile(q0, (count + 1, 1))
        rivals, _ = peers.mujoco_rollouts(
            model, rows, 0 * rows, kp=50.0, kd=5.5, step=STEP, steps=round(t_end / STEP)
        )
        rivals = [Contender(f"{c.name}, {count + 1} runs", c.call) for c in rivals]
    single, *times = race([run, *ways, *rivals], effort.seconds, effort.rounds)
    fastest = min(zip(times[2:], [c.name for c in rivals]), default=(None, ""))
    for way, spent, limit, lead in zip(("forward", "adjoint"), times, (4.0, 3.0), (20, 30)):
        row = partial(Measurement, f"gradient by {count} parameters, {way}", 7, spent, failed=not gap <= 1e-8)
        note = f"ways agree to {gap:.0e}; a call takes {1e-3 * single:.3g} ms"
        yield row(
            value=spent / single,
            unit="calls",
            bar=FigureLimit(limit, at_least=False, unit="calls"),
            note=note,
        )
        if fastest[0]:
            yield row(
                fastest[1],
                fastest[0],
                value=fastest[0] / spent,
                bar=FigureLimit(lead),
                note="the peer by differences",
            )
    yield Measurement("gradient by 20 parameters, first call", 7, 1e6 * cold, value=cold, unit="s", bar=FigureLimit(5.0, at_least=False, unit="s"), note="processor time; code from the cache where it is there")  # fmt: skip
    if not effort.quick:
        yield _many(model, q0, figure, effort)


def _many(model: Model, q0: Array, figure: Callable[[Any], Any], effort: Effort) -> Measurement:
    loop = arm(model, every=True)
    calls = [Contender("one call", lambda: loop.simulate(1.0, q0, step=STEP)), Contender("adjoint", lambda: loop.gradient(figure, 1.0, q0, step=STEP, mode="adjoint"))]  # fmt: skip
    single, spent = race(calls, effort.seconds, effort.rounds)
    name = f"gradient by {len(loop.parameters)} parameters, adjoint"
    return Measurement(name, 7, spent, value=spent / single, unit="calls", bar=FigureLimit(4.0, at_least=False, unit="calls"))  # fmt: skip


def regressors(effort: Effort) -> Iterator[Measurement]:
    """Yield regressors of 10,000 states into an array and as a sum of products, against Pinocchio's in a loop."""
    model, rows = chain(7), 300 if effort.quick else STATES
    q, v, vdot = model.states(rows)
    out = np.empty((rows, 7, 70))
    into = model.mechanism.kernel("regressor").bind(q, v, vdot, out=out)
    regression = Regression(model.mechanism)
    ours = [Contender("array", into, rows), Contender("sum", partial(regression.products, q, v, vdot), rows)]
    titles, limits = ("regressor, into an array", "regressor, sum of products"), (5.0, 8.0)
    if not peers.pinocchio():
        for title, spent in zip(titles, race(ours, effort.seconds)):
            yield Measurement(title, 7, spent, note=NO_PINOCCHIO)
        return
    twin = peers.Pinocchio(model)
    call, held, some = (
        twin.pin.computeJointTorqueRegressor,
        np.empty((peers.SHARE, 7, 70)),
        range(min(rows, peers.SHARE)),
    )

    def one_by_one() -> None:
        for i in some:
            held[i] = call(twin.model, twin.data, q[i], v[i], vdot[i])

    def summed() -> Array:
        total = np.zeros((70, 70))
        for i in some:
            Y = call(twin.model, twin.data, q[i], v[i], vdot[i])
            total += Y.T @ Y
        return total

    rivals = [Contender("Pinocchio, loop into an array", one_by_one, len(some)), Contender("Pinocchio, loop with NumPy products", summed, len(some))]  # fmt: skip
    phi = model.mechanism.inertial_parameters()
    times = race([*ours, *rivals], effort.seconds, effort.rounds)
    gap = float(np.abs(out[0] @ phi - twin.pin.rnea(twin.model, twin.data, q[0], v[0], vdot[0])).max())
    for k, title in enumerate(titles):
        yield Measurement(title, 7, times[k], rivals[k].name, times[2 + k], value=times[2 + k] / times[k], bar=FigureLimit(limits[k]), failed=not gap <= 1e-9)  # fmt: skip


def fits(effort: Effort) -> Iterator[Measurement]:
    """Yield a fit of 7 masses and 7 dampings to 1000 samples of 7 joints with noise of 1 mrad; base parameters of 30 bodies."""
    n, t_end = (2, 0.5) if effort.quick else (7, 1.0)
    model = chain(n)
    loop, random = arm(model), np.random.default_rng(0)
    names = [f"{kind}{i}" for kind in ("mass", "damping") for i in range(n)]
    known = {p.name: value_of(p) for p in loop.system.network.parameters}
    start = np.array([known[n] for n in names])
    truth = start * random.uniform(0.7, 1.3, len(names))
    q0 = 0.3 * random.normal(size=n)
    run = loop.simulate(t_end, q0, step=STEP, params=dict(zip(names, truth)))
    outputs = [f"q.joint{i}" for i in range(n)]
    record = Record.of(run, noise=dict.fromkeys(outputs, 1e-3)).between(0.0, t_end - STEP / 2)
    result = fit(Experiment(record, loop, outputs, q0), names)
    away = float(np.abs((result.values - truth) / result.deviations).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        (spent,) = race(
            [Contender("fit", lambda: fit(Experiment(record, loop, outputs, q0), names))], effort.seconds
        )
    bar = FigureLimit(0.05, at_least=False, unit="s")
    note = f"all within {away:.2g} standard deviations; mujoco.sysid took 0.95 s on the machine of docs/benchmarks.md"
    yield Measurement(f"fit of {2 * n} parameters, {len(record)} x {n} samples", n, spent, value=1e-6 * spent, unit="s", bar=bar, failed=away > 5, note=note)  # fmt: skip
    long = chain(7 if effort.quick else 30).mechanism
    (spent,) = race([Contender("base", partial(base_parameters, long))], effort.seconds)
    yield Measurement("base parameters", long.nv, spent, value=1e-6 * spent, unit="s", bar=FigureLimit(0.5, at_least=False, unit="s"))  # fmt: skip
