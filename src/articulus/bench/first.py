"""Rows of first results in a new process (every quantity, runs, linear models), and of linear models about many states.

Seconds are processor time after the import.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import articulus as art
from articulus.bench import peers
from articulus.bench.models import Model, chain, tree
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, CHECKED, NO_PINOCCHIO, Effort, difference, differs, race_row
from articulus.bench.startup import ONE_STATE, LibraryModel, Starter, starter
from articulus.bench.timing import Contender, race
from articulus.dynamics.quantities import QUANTITIES

LONG = 100
"""Revolutes of the long chain."""
QUANTITY = """
kernel = mechanism.kernel({name!r}, {frames!r}, {wrenches!r})
kernel(*(np.full(shape, 0.1) for shape in kernel.input_shapes))
"""
SIMULATE = "articulus.simulate(mechanism, 0.01)"
LINEARIZE = 'mechanism.linearize(); assert "control" not in sys.modules'
POINTS = 1000
"""Operating points of the linear models."""


def cold_quantities(effort: Effort) -> Iterator[Measurement]:
    """Yield the slowest cold first result of all quantities of a long chain, and that of the slowest derivatives."""
    if effort.quick:
        return
    times: dict[str, float] = {}
    for name, row in QUANTITIES.items():
        if "constraint" in name or "closed" in name or "parameter" in name:
            continue
        frames = (f"link{LONG - 1}", f"link{LONG // 2}")[: row.frames]
        with starter(QUANTITY.format(name=name, frames=frames, wrenches=())) as start:
            times[name] = start.cold(chain(LONG), ONE_STATE).processor
    matrices = {name: t for name, t in times.items() if "derivatives" in name or name == "state_space"}
    others = {name: t for name, t in times.items() if name not in matrices}
    for title, found, limit in (("quantities", others, 3.0), ("derivatives", matrices, 6.0)):
        slowest, *others_by_time = sorted(found, key=lambda name: -found[name])
        after = ", ".join(f"{name} {found[name]:.1f} s" for name in others_by_time[:2])
        note = f"slowest of {len(found)}: {slowest}; then {after}"
        yield _seconds(f"cold first result, all {title}", LONG, found[slowest], limit, note)


def cold_parameters(effort: Effort) -> Iterator[Measurement]:
    """Yield cold first results of a long chain with ten named masses and two wrenches, and of derivatives by the masses."""
    if effort.quick:
        return
    plain, named = chain(LONG), LibraryModel("named", _with_named_masses(chain(LONG)))
    for name, wrenches in (("forward_dynamics", ("link50", "link99")), ("derivatives", ())):
        times = []
        for model, acting in ((plain, ()), (named, wrenches)):
            with starter(QUANTITY.format(name=name, frames=(), wrenches=acting)) as start:
                times.append(start.cold(model, ONE_STATE, 2).processor)
        note = f"{times[0]:.2f} s without" + (", two wrenches" if wrenches else "")
        title = f"cold {name.replace('_', ' ')}, ten parameters"
        bar, ratio = FigureLimit(1.3, at_least=False), times[1] / times[0]
        yield Measurement(title, LONG, ours_us=1e6 * times[1], value=ratio, bar=bar, note=note)
    with starter(QUANTITY.format(name="parameter_derivatives", frames=(), wrenches=())) as start:
        seconds = start.cold(named, ONE_STATE).processor
    yield _seconds("cold parameter derivatives, ten parameters", LONG, seconds, 6.0, "")


def _with_named_masses(model: Model) -> art.Mechanism:
    """Return the mechanism of a chain in which every tenth mass is a named parameter."""
    mechanism = art.Mechanism("named")
    for i, link in enumerate(model.links):
        mass = link.mass if i % 10 else art.Parameter(f"mass{i}", link.mass)
        parent, joint = f"link{i - 1}" if i else "ground", art.Revolute(axis=(0, 0, 1))
        mechanism.body(f"link{i}", mass=mass, com=tuple(link.com), inertia=link.inertia.tolist())
        mechanism.joint(f"joint{i}", joint, parent=parent, child=f"link{i}", at=link.at)
    return mechanism


def first_runs(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a first short run, cold of long mechanisms and warm of 7 revolutes, and of a first linear model."""
    with starter(SIMULATE) as start:
        for model, note in (
            () if effort.quick else ((chain(LONG), ""), (tree(), "30 degrees of freedom, free base"))
        ):
            yield _cold(start, model, note)
        warm = start.warm(chain(7), ONE_STATE, 1 if effort.quick else 5).processor
        yield _seconds("warm first simulate", 7, warm, 0.6, "")
    with starter(LINEARIZE) as start:
        warm = start.warm(chain(7), ONE_STATE, 1 if effort.quick else 5).processor
        yield _seconds("warm first linearize", 7, warm, 0.6, "python-control is not imported")
        cold = start.cold(chain(7), ONE_STATE, 1 if effort.quick else 3)
        note = f"{cold.before:.2f} s of it for the import; python-control is not imported"
        yield _seconds("cold first linearize", 7, cold.before + cold.processor, 1.0, note)


def _cold(start: Starter, model: Model, note: str) -> Measurement:
    return _seconds("cold first simulate", model.nv, start.cold(model, ONE_STATE, 2).processor, 3.0, note)


def _seconds(name: str, n: int, seconds: float, limit: float, note: str) -> Measurement:
    bar = FigureLimit(limit, at_least=False, unit="s")
    return Measurement(name, n, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note=note)


def linear_models(effort: Effort) -> Iterator[Measurement]:
    """Yield A, B, C, D about many states of 7 revolutes, per state, against a loop over Pinocchio's derivatives."""
    model = chain(7)
    q, v, u = model.states(POINTS)
    ours = Contender("articulus", partial(model.mechanism.linearize, q, v, u), POINTS)
    row = partial(Measurement, f"linear models about {POINTS} states", model.nv, bar=FigureLimit(10))
    if not peers.pinocchio():
        yield row(ours_us=race([ours], effort.seconds)[0], note=NO_PINOCCHIO)
        return
    twin, found = peers.Pinocchio(model), model.mechanism.linearize(q[:CHECKED], v[:CHECKED], u[:CHECKED])
    by_q = [
        np.array(twin.call("computeABADerivatives", *row)()[0])
        for row in zip(*(x[:CHECKED] for x in (q, v, u)))
    ]
    gap = difference([found.A[:, model.nv :, : model.nv]], [np.stack(by_q)])
    if not gap <= AGREE:
        yield row(failed=True, note=differs(gap))
        return
    yield race_row(row, ours, [twin.loop("computeABADerivatives", q, v, u)], effort, f"agree to {gap:.0e}")
