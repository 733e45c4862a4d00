"""Which figures of a run say that its answer is doubtful, and why this is likely so."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import doubtful
from articulus.simulation.integrate import method as find_method
from articulus.simulation.loop.equations import PROJECTED
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import Doubt
from articulus.simulation.running import dry_friction, failures
from articulus.simulation.running.joint_limits import DEPTH, PAST_LIMITS, limit_excess

if TYPE_CHECKING:
    from articulus.simulation.running.runner import Runner

ENERGY = 0.01
"""Energy unaccounted for over the energy at play (the largest kinetic energy or change of any kind) [-]. Resolved runs of the library and of the tests stay below 1e-3; at one
percent of the energy, speeds are wrong by half a percent and phases by more."""
ENERGY_FLOOR = 1e-9
"""Energy below which nothing is said [J], and the share of the largest energy: what rounding and the absolute tolerance of
adaptive methods (1e-10 m under 10 N) leave."""
CONSTRAINT = 1e-5
"""Residual of the constraints [m, rad; for velocities: over the largest speed, at least 1]. Each step ends with a projection, which
leaves 1e-9 or less unless the loops are near a singular position."""
PROJECTION = 0.01
"""Energy that the projection onto the constraints added or took in all, over the energy at play [-]: as `ENERGY`."""
REJECTED = 0.1
"""Rejected steps of an adaptive method over evaluations [-]; an attempt takes 5 or 6 evaluations, so that this is more than half of the
attempts. Where it is exceeded, most of the work goes into jumps or kinks that no error estimate sees rightly."""
SAMPLES = 16
"""Samples that are looked at in a batch, or where a run does not report its energy, evenly chosen: a rollout pays little."""
EVERY = 64
"""Runs of many that are looked at for dry friction, beside the first SAMPLES: every so many."""
DIAGNOSED = 3
"""Doubtful runs of a batch for which the cause is looked for: the worst."""
BURST = 0.05
"""Part of the time in which half of the error arises, up to which it counts as a burst [-]."""
STIFF = 1.0
"""Step times the fastest rate of the equations from which an explicit method is not accurate any more [-]; at 2 to 3 it is unstable."""
FRICTION = 2.0
"""Step of an explicit method times the rate at which dry friction about rest brings a joint to a stop [-]: beyond 2 to 3 a joint that should
come to rest jumps to and fro."""
SINGULAR = 1e-3
"""Fall of the smallest singular value of the constraint Jacobian, against its median, that counts as a singular position [-]."""
FRICTION_FIGURE = "step over the time in which dry friction brings a joint to rest"


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Figures of the runs of a simulation that did not fail.

    Parameters
    ----------
    rows : array of int
        Their indices in the batch.
    t : array, (n,) [s]
        Times of the samples that were looked at.
    samples : array, (rows, n, logged)
        States there.
    energy : array, (rows, n, 5) [J]
        Kinetic, potential, input, dissipated, balance.
    constraint : array, (rows, n, 2), optional
        Largest residual in position and in velocity.
    """

    rows: np.ndarray
    t: np.ndarray
    samples: np.ndarray
    energy: np.ndarray
    constraint: np.ndarray | None

    @functools.cached_property
    def floor(self) -> np.ndarray:
        """Energy below which nothing is said, (rows,) [J]."""
        return ENERGY_FLOOR * np.maximum(1.0, _largest(self.energy[..., :4]))

    @functools.cached_property
    def at_play(self) -> np.ndarray:
        """The largest kinetic energy or change of a kind of energy, (rows,) [J]."""
        parts = self.energy[..., :4]
        changes = _largest(parts - parts[:, :1])
        return np.maximum.reduce([changes, _largest(parts[..., 0]), self.floor])

    def share(self, energy: np.ndarray) -> np.ndarray:
        """Return the largest size of energies (rows, n) over what is at play, (rows,); 0 below the floor."""
        size = _largest(energy)
        return np.where(size > self.floor, size / self.at_play, 0.0)


def find(
    runner: Runner, samples: np.ndarray, signals: Mapping[str, Signal], good: np.ndarray
) -> tuple[Doubt, ...]:
    """Return what is doubtful about the runs `good` of a simulation, in the order of runs.

    Parameters
    ----------
    runner : Runner
        At its end.
    samples : array, (rows, time, logged)
    signals : dict of name to Signal
        What it reports.
    good : array of int
        Runs that did not fail.
    """
    if not good.size:
        return ()
    evidence = _evidence(runner, samples, signals, good)
    past = limit_excess(
        runner.engine.system, evidence.samples[..., runner.engine.system.places["q"]], evidence.t
    )
    over = dict(_figures(runner, evidence)) | {PAST_LIMITS: (past.share, DEPTH)}
    worst = np.max([value / limit for value, limit in over.values()], axis=0)
    beyond = np.flatnonzero(worst > 1)
    told = set(beyond[np.argsort(-worst[beyond])][:DIAGNOSED].tolist())
    causes = {i: _cause(runner, evidence, i) for i in told}
    return tuple(
        Doubt(
            int(good[i]),
            figure,
            float(value[i]),
            limit,
            past.cause(i) if figure == PAST_LIMITS else causes.get(i, ""),
        )
        for i in beyond.tolist()
        for figure, (value, limit) in over.items()
        if value[i] > limit
    )


def warn(name: str, doubts: tuple[Doubt, ...], rows: int) -> None:
    """Say it aloud: one warning for all runs, at the place outside this package that asked for them."""
    if not doubts:
        return
    count = len({d.run for d in doubts})
    head = (
        f"'{name}': the result is doubtful" if rows == 1 else f"'{name}': {count} of {rows} runs are doubtful"
    )
    lines = [head]
    for run in sorted({d.run for d in doubts if d.cause}):
        mine = [d for d in doubts if d.run == run]
        for cause in dict.fromkeys(d.cause for d in mine):
            lines += [d.finding if rows == 1 else f"run {run}, {d.finding}" for d in mine if d.cause == cause]
            lines.append(f"Likely cause: {cause}")
    doubtful("\n".join(lines))


# the figures


def _evidence(
    runner: Runner, samples: np.ndarray, signals: Mapping[str, Signal], good: np.ndarray
) -> _Evidence:
    """Return the figures: from the signals where the run reports them, else from a few samples."""
    system, t, p = runner.engine.system, runner.times, runner.p
    names = ("energy", "constraint") if system.closing is not None else ("energy",)
    if good.size < len(samples):
        samples, p = samples[good], p[good]
    if runner.single and all(name in signals for name in names):
        found = {name: signals[name].values[None] for name in names}
    else:
        at = _looked_at(runner)
        t, samples = t[at], samples[:, at]
        w = np.zeros((len(samples), t.size, system.nw))
        found = Outputs(system, names).values(samples, p, w, t, runner.h)
    return _Evidence(good, t, samples, found["energy"], found.get("constraint"))


def _looked_at(runner: Runner) -> np.ndarray:
    """Return which samples are looked at: of a batch those of runs that reach the end, whatever the others in it do."""
    held = runner.times.size
    planned = held if runner.single else -(-runner.steps // runner.every) + 1
    at = np.unique(np.linspace(0, planned - 1, min(planned, SAMPLES)).round().astype(int))
    return at if held == planned else at[at < max(1, held - 1)]


def _figures(runner: Runner, evidence: _Evidence) -> Iterator[tuple[str, tuple[np.ndarray, float]]]:
    """Yield name, value of each run and limit."""
    yield "energy balance error over the energy at play", (evidence.share(evidence.energy[..., 4]), ENERGY)
    if evidence.constraint is not None:
        speed = _largest(evidence.samples[..., runner.engine.system.places["v"]])
        projected = evidence.samples[..., runner.engine.system.places[PROJECTED]]
        yield (
            "energy moved by the return onto the constraints over the energy at play",
            (evidence.share(projected), PROJECTION),
        )
        yield "constraint residual in position", (_largest(evidence.constraint[..., 0]), CONSTRAINT)
        yield (
            "constraint residual in velocity over the largest speed",
            (_largest(evidence.constraint[..., 1]) / np.maximum(1.0, speed), CONSTRAINT),
        )
    if _explicit(runner) and dry_friction.present(runner.engine.system):
        yield FRICTION_FIGURE, (_friction(runner, evidence), FRICTION)
    yield "rejected steps over evaluations", (runner.rejected_shares()[evidence.rows], REJECTED)


def _explicit(runner: Runner) -> bool:
    return find_method(runner.method).kind in ("explicit", "second order")


def _friction(runner: Runner, evidence: _Evidence) -> np.ndarray:
    """Return the step times the rate of dry friction of joints that come near rest, (rows,) [-]; 0 for runs that are not looked at.

    Which ones are is decided by their number, not by how many are in the batch.
    """
    system, h, out = runner.engine.system, runner.h, np.zeros(len(evidence.rows))
    number = runner.first_run + evidence.rows
    for i in np.flatnonzero((number < SAMPLES) | (number % EVERY == 0)):
        q, v = (evidence.samples[i, :, system.places[name]] for name in "qv")
        out[i] = h * dry_friction.rate(system, q, v, runner.p[evidence.rows[i]], evidence.t[0], h)
    return out


# the likely cause


def _cause(runner: Runner, evidence: _Evidence, i: int) -> str:
    """Return the likely cause for run i of the evidence, as a sentence that says what to do."""
    arises = np.abs(np.diff(evidence.energy[i, :, 4]))
    worst = int(arises.argmax()) + 1 if arises.size else 0
    singular = _singular(runner, evidence, i)
    if singular is not None:
        return f"the loops pass close to a singular position at t = {singular:.4g} s"
    kind = find_method(runner.method).kind
    if _explicit(runner):
        chatter = _friction(runner, evidence)[i] if dry_friction.present(runner.engine.system) else 0.0
        if chatter > FRICTION:
            return (
                f"dry friction about rest is not resolved by the step of {runner.h:.3g} s, so that joints jump to and fro instead of "
                f"coming to rest: take a step below {FRICTION * runner.h / chatter:.2g} s, a larger coulomb_speed, or an implicit "
                "method (rosenbrock, cvodes)"
            )
        rate = max(_fastest(runner, evidence, i, k) for k in {0, worst, len(evidence.t) - 1})
        if rate * runner.h > STIFF:
            return (
                f"the step of {runner.h:.3g} s is too large for the fastest motion or the stiffest component, whose time "
                f"constant is {1 / rate:.3g} s: take a smaller step or an implicit method (rosenbrock, cvodes)"
            )
    where = f"most of it arises near t = {evidence.t[worst]:.4g} s: an impact, a stop or a fast phase of the motion that the "
    if kind in ("adaptive", "casadi"):
        remedy = f"the tolerances (rtol {runner.settings['rtol']:g}, atol {runner.settings['atol']:g}) are too loose"
        resolved = "tolerances do not resolve"
    elif kind == "implicit":
        remedy = f"the step of {runner.h:.3g} s is too large, or the numerical damping of the method takes the energy"
        resolved = "step does not resolve"
    else:
        remedy = f"the step of {runner.h:.3g} s is too large: halve it and compare"
        resolved = "step does not resolve"
    return where + resolved if _burst(arises) else remedy


def _burst(arises: np.ndarray) -> bool:
    """Whether half of what arises does so in a small part of the samples."""
    if arises.size < 2 / BURST or not arises.any():
        return False
    largest = np.sort(arises)[::-1]
    return bool(largest[: int(BURST * arises.size)].sum() > 0.5 * arises.sum())


def _singular(runner: Runner, evidence: _Evidence, i: int) -> float | None:
    """Return the time of a sample of run i near which the constraints lose rank, if there is one."""
    system = runner.engine.system
    if system.closing is None:
        return None
    rank = len(runner.independent[min(evidence.rows[i], len(runner.independent) - 1)])
    model = runner.p[evidence.rows[i]][: len(system.description.parameters)]
    jacobian = system.closing.jacobian
    states = evidence.samples[i, :, system.places["q"]]
    values = [
        np.linalg.svd(np.array(jacobian(q, t, model)), compute_uv=False) for q, t in zip(states, evidence.t)
    ]
    least = np.array([x[min(rank, len(x)) - 1] for x in values]) if rank else np.ones(1)
    return float(evidence.t[least.argmin()]) if least.min() < SINGULAR * np.median(least) else None


def _fastest(runner: Runner, evidence: _Evidence, i: int, k: int) -> float:
    """Return the largest size of an eigenvalue of the equations at a sample of run i [1/s]."""
    system, row = runner.engine.system, evidence.rows[i]
    c, d = np.split(evidence.samples[i, k], [system.nc])
    return failures.fastest(system, c, d, runner.p[row], evidence.t[k], runner.h)


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the largest size of each run, (rows,); NaN, which fills the time after the end of a run, does not count."""
    return np.fmax.reduce(np.abs(values).reshape(len(values), -1), axis=1, initial=0.0)
