"""Which figures of a run say that its answer is doubtful, and why this is likely so."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.dynamics.flexible import validity
from articulus.errors import doubtful
from articulus.model.mechanism import Description
from articulus.simulation.integrate import method as find_method
from articulus.simulation.loop.equations import PROJECTED
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import RunWarning
from articulus.simulation.running import dry_friction, failures, reference, resolution
from articulus.simulation.running.joint_limits import DEPTH, PAST_LIMITS, limit_excess
from articulus.simulation.running.native_engine import NativeEngine
from articulus.simulation.running.sampled_growth import sampled_growth
from articulus.simulation.running.tolerance import SHARE

if TYPE_CHECKING:
    from articulus.simulation.running.runner import Runner

ENERGY = 0.01
"""Energy unaccounted for over the energy at play (the largest kinetic energy or change of any kind) [-]. Resolved runs of the library and of the tests stay below 1e-3; at one
percent of the energy, speeds are wrong by half a percent and phases by more."""
ENERGY_FLOOR = 1e-9
"""Share of the largest energy, or of the mechanism's weight times its length, below which nothing is said [-]: what rounding and the
absolute tolerance of adaptive methods leave."""
STILL = 1e-13
"""Motion in a step, over the mechanism's length, that is but rounding [-]: the energy of it is none."""
CONSTRAINT = 1e-5
"""Residual of the constraints [rad, or over the mechanism's length; for velocities: also over the largest speed]. Each step ends with a
projection, which leaves 1e-9 or less unless the loops are near a singular position."""
PROJECTION = 0.01
"""Energy that the projection onto the constraints added or took in all, over the energy at play [-]: as `ENERGY`."""
REJECTED = 0.1
"""Rejected steps of an adaptive method over evaluations [-]; an attempt takes 5 or 6 evaluations, so that this is more than half of the
attempts. Where it is exceeded, most of the work goes into jumps or kinks that no error estimate sees rightly."""
SAMPLES = 16
"""Samples that are examined in a batch, or where a run does not report its energy, evenly chosen: a rollout pays little."""
ROW_BY_ROW = 1000
"""Samples of a doubtful run at which constraint rows are examined one by one."""
EVERY = 64
"""Runs of many that are examined for dry friction, beside the first SAMPLES: every so many."""
THINNED = 200
"""Samples of a run from which the range of its motion is taken."""
DIAGNOSED = 3
"""Doubtful runs of a batch for which the cause is looked for: the worst."""
BURST = 0.05
"""Part of the time in which half of the error arises, up to which it counts as a burst [-]."""
VIBRATION = 0.05
"""Share of its amplitude that a vibration loses or gains by the method alone [-]; five hundredths are ten of its energy, far above `ENERGY` of the whole."""
STIFF = 1.0
"""Step times the fastest rate of the equations from which an explicit method is not accurate any more [-]; at 2 to 3 it is unstable."""
FLOOR = 1e-3
"""How far a signal may be below the floor that its component has for it [its unit]: a millimeter of altitude."""
FRICTION = 2.0
"""Step of an explicit method times the rate at which dry friction about rest brings a joint to a stop [-]: beyond 2 to 3 a joint that should
come to rest jumps to and fro."""
FEW = 4
"""Samples below which a motion may be at rest in all of them, so that the energy at play between is not seen."""
SINGULAR = 1e-3
"""Fall of the smallest singular value of the constraint Jacobian, against its median, that counts as a singular position [-]."""
STEPS = 0.02
"""Error of a method of low order, over the motion of a joint or flexible body in the run [-]: twice `ENERGY`, which is about half of it in speeds."""
STEPS_FIGURE = "error of the method's steps over the motion"
PHASE = 0.3
"""Phase by which a vibration is late or early at the end by the method alone [rad]: its position is then wrong by three tenths of the amplitude."""
PHASE_FIGURE = "phase by which the method delays or advances a vibration [rad]"
TOLERATED = 0.01
"""Absolute tolerance of an adaptive method over the largest motion of any coordinate or speed [-]: with a hundredth, 100 rad of an
oscillation are wrong by 0.005 to 0.05 of it."""
TOLERATED_FIGURE = "absolute tolerance over the largest motion"
VIBRATION_FIGURE = "amplitude that a vibration loses or gains by the method"
FRICTION_FIGURE = "step over the time in which dry friction brings a joint to rest"


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Figures of the runs of a simulation that did not fail.

    Parameters
    ----------
    rows : array of int
        Their indices in the batch.
    t : array, (n,) [s]
        Times of the samples that were examined.
    samples : array, (rows, n, logged)
        States there.
    energy : array, (rows, n, 5) [J]
        Kinetic, potential, input, dissipated, balance.
    constraint : array, (rows, n, 2), optional
        Largest residual in position and in velocity.
    least : float [J]
        Energy of the mechanism (`mechanism.scales`) below which nothing is said.
    weight : float [J]
        Weight times length of the mechanism.
    """

    rows: np.ndarray
    t: np.ndarray
    samples: np.ndarray
    energy: np.ndarray
    constraint: np.ndarray | None
    least: float = 0.0
    weight: float = 0.0

    @functools.cached_property
    def floor(self) -> np.ndarray:
        """Energy below which nothing is said, (rows,) [J]."""
        return np.maximum(self.least, ENERGY_FLOOR * _largest(self.energy[..., :4]))

    @functools.cached_property
    def at_play(self) -> np.ndarray:
        """The largest kinetic energy or change of a kind of energy, (rows,) [J].

        Of few samples, which may all be at rest: at least the potential energy, and what the mechanism gains when it falls by its length.
        """
        parts = self.energy[..., :4]
        changes = _largest(parts - parts[:, :1])
        seen = np.maximum.reduce([changes, _largest(parts[..., 0]), self.floor])
        if len(self.t) >= FEW:
            return seen
        return np.maximum.reduce([seen, _largest(parts[..., 1]), np.full(len(seen), self.weight)])

    def share(self, energy: np.ndarray) -> np.ndarray:
        """Return the largest size of energies (rows, n) over what is at play, (rows,); 0 below the floor."""
        size = _largest(energy)
        at_play = np.where(self.at_play > 0, self.at_play, 1.0)
        return np.where(size > self.floor, size / at_play, 0.0)


def find(
    runner: Runner, samples: np.ndarray, signals: Mapping[str, Signal], good: np.ndarray
) -> tuple[RunWarning, ...]:
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
    if runner.outside is None and reference.comparable(runner.engine, runner.method):
        over[STEPS_FIGURE] = (_steps(runner, samples, good), STEPS)
    floors = {figure: (below, since) for figure, below, since in _floors(runner, signals, good)}
    over |= {figure: (below, FLOOR) for figure, (below, _) in floors.items()}
    worst = np.max([value / limit for value, limit in over.values()], axis=0)
    beyond = np.flatnonzero(worst > 1)
    told = set(beyond[np.argsort(-worst[beyond])][:DIAGNOSED].tolist())
    out = []
    for i in beyond.tolist():
        mine = [(name, float(value[i]), limit) for name, (value, limit) in over.items() if value[i] > limit]
        own = {name: past.cause(i) if name == PAST_LIMITS else _own_cause(name) for name, *_ in mine}
        own |= {name: floors[name][1][i] for name in own if name in floors}
        cause = _cause(runner, evidence, i) if i in told and None in own.values() else ""
        out += [
            RunWarning(
                int(good[i]),
                name,
                value,
                limit,
                own[name] or cause if i in told or name == PAST_LIMITS else "",
            )
            for name, value, limit in mine
        ]
    return tuple(out)


def _floors(
    runner: Runner, signals: Mapping[str, Signal], good: np.ndarray
) -> Iterator[tuple[str, np.ndarray, list[str]]]:
    """Yield, for signals that a component has a floor for, how far runs are below it, (rows,), and since when, as sentences."""
    for component in runner.engine.system.network.components:
        for name, (floor, meaning) in component.floors.items():
            held = signals.get(f"{component.name}.{name}")
            if held is None:
                continue
            values = held.values[..., 0].reshape(-1, held.values.shape[-2])[good]
            under = values < floor
            below = np.where(under, floor - values, 0.0).max(axis=1, initial=0.0)
            since = runner.times[under.argmax(axis=1)]
            unit = component.signals[name]
            yield (
                f"{held.name} below {floor:g} {unit} [{unit}]",
                below,
                [f"{meaning} from t = {t:.6g} s on" for t in since],
            )


def warn(name: str, warnings: tuple[RunWarning, ...], rows: int) -> None:
    """Say it aloud: one warning for all runs, at the place outside this package that asked for them."""
    if not warnings:
        return
    count = len({d.run for d in warnings})
    head = (
        f"'{name}': the result is doubtful" if rows == 1 else f"'{name}': {count} of {rows} runs are doubtful"
    )
    lines = [head]
    for run in sorted({d.run for d in warnings if d.cause}):
        mine = [d for d in warnings if d.run == run]
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
    scales = system.description.scales(dict(zip((x.name for x in system.network.parameters), p.T)))
    still = scales.mass * (STILL * scales.length / runner.h) ** 2
    least = max(ENERGY_FLOOR * scales.energy, still)
    return _Evidence(good, t, samples, found["energy"], found.get("constraint"), least, scales.energy)


def _looked_at(runner: Runner) -> np.ndarray:
    """Return which samples are examined: of a batch those of runs that reach the end, whatever the others in it do."""
    held = runner.times.size
    planned = held if runner.single else -(-runner.steps // runner.every) + 1
    at = np.unique(np.linspace(0, planned - 1, min(planned, SAMPLES)).round().astype(int))
    return at if held == planned else at[at < max(1, held - 1)]


def _figures(runner: Runner, evidence: _Evidence) -> Iterator[tuple[str, tuple[np.ndarray, float]]]:
    """Yield name, value of each run and limit."""
    yield "energy balance error over the energy at play", (evidence.share(evidence.energy[..., 4]), ENERGY)
    if evidence.constraint is not None:
        projected = evidence.samples[..., runner.engine.system.places[PROJECTED]]
        yield (
            "energy moved by the return onto the constraints over the energy at play",
            (evidence.share(projected), PROJECTION),
        )
        position, velocity = _residuals(runner, evidence)
        yield "constraint residual in position", (position, CONSTRAINT)
        yield "constraint residual in velocity over the largest speed", (velocity, CONSTRAINT)
    if _explicit(runner) and dry_friction.present(runner.engine.system):
        yield FRICTION_FIGURE, (_friction(runner, evidence), FRICTION)
    if resolution.ACCELERATION in runner.outputs.names and not find_method(runner.method).controls_error:
        amplitude, phase = _vibration(runner, evidence)
        yield VIBRATION_FIGURE, (amplitude, VIBRATION)
        yield PHASE_FIGURE, (phase, PHASE)
    if "atol" in runner.settings and find_method(runner.method).controls_error:
        yield TOLERATED_FIGURE, (_tolerance_over_motion(runner, evidence), TOLERATED)
    yield from _validity(runner, evidence)
    yield "rejected steps over evaluations", (runner.rejected_shares()[evidence.rows], REJECTED)


def _residuals(runner: Runner, evidence: _Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest residuals in position and in velocity of each run, (rows,) [rad, or over the mechanism's length; over the largest speed].

    What runs report is the largest of all rows, lengths and angles alike; rows are examined one by one only where that could be too much.
    """
    system, found = runner.engine.system, evidence.constraint
    assert found is not None
    scales = system.description.scales()
    v = evidence.samples[..., system.places["v"]]
    speed = np.maximum(_largest(v / scales.displacement), 1 / scales.time)
    least = min(1.0, scales.length)
    position, velocity = _largest(found[..., 0]) / least, _largest(found[..., 1]) / (least * speed)
    doubtful = np.maximum(position, velocity) > CONSTRAINT
    if np.isnan(scales.rows).any():  # rows of unknown kind count as they are
        doubtful, position, velocity = np.zeros_like(doubtful), position * least, velocity * least
    for i in np.flatnonzero(doubtful):
        position[i], velocity[i] = _residuals_of(runner, evidence, int(i))
        velocity[i] /= speed[i]
    return position, velocity


def _residuals_of(runner: Runner, evidence: _Evidence, i: int) -> tuple[float, float]:
    """Return the largest residuals of run i, each row over what is large in it."""
    system = runner.engine.system
    assert system.closing is not None
    sizes = system.description.scales().rows
    at = np.unique(np.linspace(0, len(evidence.t) - 1, ROW_BY_ROW).round().astype(int))
    states, model = evidence.samples[i, at], runner.p[evidence.rows[i]][: len(system.description.parameters)]
    ask, out = system.closing.residuals(), []
    for state, t in zip(states, evidence.t[at]):
        c, d = np.split(state, [system.nc])
        active = np.concatenate(
            [d[system.held_places[n]] for n in ("active", "kept") if n in system.held_places]
        )
        rows = ask(c[system.places["q"]], c[system.places["v"]], t, active, model)
        out.append([float(np.abs(np.array(x).ravel() / sizes).max(initial=0.0)) for x in rows])
    return tuple(np.fmax.reduce(np.array(out), axis=0).tolist())


def _explicit(runner: Runner) -> bool:
    return find_method(runner.method).kind in ("explicit", "second order")


def _friction(runner: Runner, evidence: _Evidence) -> np.ndarray:
    """Return the step times the rate of dry friction of joints that come near rest, (rows,) [-]; 0 for runs that are ignored.

    Which ones are is decided by their number, not by how many are in the batch.
    """
    system, h, out = runner.engine.system, runner.h, np.zeros(len(evidence.rows))
    number = runner.first_run + evidence.rows
    for i in np.flatnonzero((number < SAMPLES) | (number % EVERY == 0)):
        q, v = (evidence.samples[i, :, system.places[name]] for name in "qv")
        out[i] = h * dry_friction.rate(system, q, v, runner.p[evidence.rows[i]], evidence.t[0], h)
    return out


def _vibration(runner: Runner, evidence: _Evidence) -> np.ndarray:
    """Return by how much the method changes a vibration that takes part: share of the amplitude [-], phase [rad], (2, rows); of some runs, chosen as by `_friction`."""
    system, out = runner.engine.system, np.zeros((2, len(evidence.rows)))
    method, number = find_method(runner.method), runner.first_run + evidence.rows
    groups = reference.coordinate_groups(system.description)
    for i in np.flatnonzero((number < SAMPLES // 4) | (number % (4 * EVERY) == 0)):
        states = evidence.samples[i]
        moved = np.fmax.reduce(np.abs(states - states[0])[:, system.places["q"]], axis=0)
        ranges = _ranges(system.description, moved, groups)
        p = runner.p[evidence.rows[i]]
        out[:, i] = resolution.vibration_errors(
            runner.outputs, method, states[0], ranges, p, evidence.t[0], runner.h, runner.k
        )
    return out


def _tolerance_over_motion(runner: Runner, evidence: _Evidence) -> np.ndarray:
    """Return the absolute tolerance over the largest motion, the least of all coordinates and speeds, (rows,) [-].

    0 where no coordinate moves by more than its tolerance: it may be at rest; and for few samples.
    """
    if len(evidence.t) < FEW:
        return np.zeros(len(evidence.rows))
    given, times = runner.settings["atol"], []
    for name in "qv":
        x = evidence.samples[..., runner.engine.system.places[name]]
        allowed = np.full(x.shape[-1], given) if isinstance(given, float) else np.array(given[name])
        moved = np.fmax.reduce(np.abs(x - x[:, :1]), axis=1, initial=0.0)
        shares = np.divide(moved, allowed, out=np.zeros_like(moved), where=allowed > 0)
        times.append(shares.max(axis=1, initial=0.0))
    return np.divide(1.0, np.maximum(*times), out=np.zeros(len(x)), where=times[0] >= 1.0)


def _steps(runner: Runner, samples: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return the error of the steps over the motion, (rows,) [-]; of some runs, chosen as by `_friction`."""
    out, number = np.zeros(len(good)), runner.first_run + good
    looked_at = np.flatnonzero((number < SAMPLES // 4) | (number % (4 * EVERY) == 0))
    if not looked_at.size:
        return out
    system, rows = runner.engine.system, good[looked_at]
    p = np.broadcast_to(runner.p, (len(samples), runner.p.shape[-1]))[rows]
    ranges = _motion(runner, samples, rows)
    engine = runner.engine
    assert isinstance(engine, NativeEngine)  # `comparable` asks for one
    for ratio, end in reference.comparisons(engine, runner.k, runner.every):
        reached = samples[rows, end // runner.every if end % runner.every == 0 else -1, : system.nc]
        out[looked_at], known = reference.reference_errors(
            engine, runner.c0[rows], p, runner.t0, ratio, end, reached, ranges
        )
        if known or out.max() > STEPS:
            break
    return out


def _motion(runner: Runner, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return how far and how fast each group of coordinates moves in some runs, over what is large for it, (rows, 2, groups)."""
    system = runner.engine.system
    at = np.unique(np.linspace(0, samples.shape[1] - 1, THINNED).round().astype(int))
    states = samples[np.ix_(rows, at)][..., : system.nc]
    displacement, speed = (
        np.fmax.reduce(reference.shares_of(system.description, x, system.places)[..., i, :], axis=1)
        for i, x in enumerate((states - states[:, :1], states))
    )
    ranges = np.stack([displacement, speed], axis=1)
    return ranges if at.size >= FEW else np.maximum(ranges, 1.0)


def _ranges(d: Description, moved: np.ndarray, groups: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return how far each joint and flexible body moves, for each of its degrees of freedom, (nv,)."""
    large, out = d.scales().displacement, np.zeros(d.nv)
    shares = moved / d.position_sizes(d.scales())
    for v, q in groups:
        out[v] = large[v] * shares[q].max(initial=0.0)
    return out


def _validity(runner: Runner, evidence: _Evidence) -> Iterator[tuple[str, tuple[np.ndarray, float]]]:
    """Yield how far modal bodies are bent and spun, where a body can be."""
    system = runner.engine.system
    if not system.description.flexible:
        return
    q, v = (evidence.samples[..., system.places[name]] for name in "qv")
    for body, share in validity.deflections(system.description, q).items():
        yield validity.deflection_figure(body), (_largest(share), validity.DEFLECTION)
    for body, share in validity.most_spins(system.description, v).items():
        found = _largest(share)
        for i in np.flatnonzero(found > validity.SPIN):
            there = ~np.isnan(v[i]).any(axis=-1)
            own = dict(zip((x.name for x in system.description.parameters), runner.p[evidence.rows[i]]))
            found[i] = validity.spin(runner.mechanism, body, q[i][there], v[i][there], own).max(initial=0.0)
        yield validity.spin_figure(body), (found, validity.SPIN)


# the likely cause


def _own_cause(figure: str) -> str | None:
    """Return the cause that a figure has whatever the run is like; None for other figures."""
    if figure == TOLERATED_FIGURE:
        return (
            "the motion is as small as the error that a step may have: give atol as a number, at most 1e-4 of the motion "
            "(`atol=...`, in units of the states)"
        )
    return validity.cause(figure)


def _cause(runner: Runner, evidence: _Evidence, i: int) -> str:
    """Return the likely cause for run i of the evidence, as a sentence that says what to do."""
    arises = np.abs(np.diff(evidence.energy[i, :, 4]))
    worst = int(arises.argmax()) + 1 if arises.size else 0
    singular = _singular(runner, evidence, i)
    if singular is not None:
        return f"the loops pass close to a singular position at t = {singular:.4g} s"
    sampled = _sampling_fault(runner, evidence, i)
    if sampled is not None:
        return sampled
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
        remedy = f"the tolerances (rtol {runner.settings['rtol']:g}, atol {_tolerance(runner)}) are too loose"
        resolved = "tolerances do not resolve"
    elif kind == "implicit":
        remedy = f"the step of {runner.h:.3g} s is too large, or the numerical damping of the method takes the energy"
        resolved = "step does not resolve"
    else:
        remedy = f"the step of {runner.h:.3g} s is too large: halve it and compare"
        resolved = "step does not resolve"
    return where + resolved if _burst(arises) else remedy


def _sampling_fault(runner: Runner, evidence: _Evidence, i: int) -> str | None:
    """Return whether sampled components make the loop of run i unstable, and what to do."""
    row = int(evidence.rows[i])
    duration = float(evidence.t[-1] - evidence.t[0])
    return sampled_growth(runner.engine.system, runner.c0[row], runner.p[row], runner.t0, runner.h, duration)


def _tolerance(runner: Runner) -> str:
    """Return the absolute tolerance in words."""
    given = runner.settings["atol"]
    return f"{given:g}" if isinstance(given, float) else f"{SHARE:g} of what is large for each state"


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
