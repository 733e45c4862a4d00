"""`check`: a controller on the full nonlinear, flexible, sampled model for which it was designed or that it shall hold."""

from __future__ import annotations

import dataclasses
import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.analysis.margins import Margins, margins
from articulus.control.analysis.stable import asymptotically_stable, stable_poles
from articulus.control.connect import select
from articulus.control.design import Check, Design
from articulus.control.modes import heaviest
from articulus.control.proof.rounding import remove_rounding
from articulus.control.proof.spillover import Mode, modes_of
from articulus.control.robust.robstab import RobustStability, robstab
from articulus.control.robust.uncertain import uncertain as uncertain_model
from articulus.control.sampling import sample
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, MovedStart, NumericalError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.streams import stream
from articulus.simulation.loop.components.linear_controller import LinearController
from articulus.simulation.results import Run
from articulus.simulation.running import Loop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTLED = 0.05
"""Part of its largest deviation to which a run must have come back."""
STEP = 2.7
"""Step times the size of a pole up to which the Runge-Kutta method of the runs is stable."""
GAIN, PHASE, PEAK = 2.0, np.radians(30.0), 2.0
"""What is asked of margins unless something else is: gain factor either way, phase [rad], peak of the sensitivity."""


@dataclass(frozen=True, eq=False)
class Proof:
    """What was found about a controller on the full model.

    Parameters
    ----------
    checks : tuple of Check
    loop : Loop
        Plant and controller, to be simulated further.
    closed : LinearModel
        Closed loop about the operating point; discrete if the controller is sampled.
    margins : Margins
        At the commands.
    modes : tuple of Mode
        Oscillations of the plant without and with the controller.
    runs : Run or None
        Nonlinear runs from deviations, if any were asked for.
    robust : RobustStability or None
        Robust stability with uncertain parameters, if any were given; None also if the loop is unstable without their changes.
    """

    checks: tuple[Check, ...]
    loop: Loop
    closed: LinearModel
    margins: Margins
    modes: tuple[Mode, ...]
    runs: Run | None = None
    robust: RobustStability | None = None

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        lines = [str(check) for check in self.checks]
        if self.robust is not None:
            lines.append(str(self.robust))
        lines += ["mode [rad/s]   damping before -> after"] if self.modes else []
        for mode in self.modes:
            a, b = mode.damping
            lines.append(
                f"{abs(mode.before):12.5g}   {a:.5f} -> {b:.5f}{'' if mode.known else '   not in the design'}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(c.what)}</td><td>{c.found:.6g}</td><td>{c.bound:.6g}</td><td>{c.verdict_html}</td></tr>"
            for c in self.checks
        )
        modes = "".join(
            f"<tr><td>{abs(m.before):.5g}</td><td>{m.damping[0]:.5f}</td><td>{m.damping[1]:.5f}</td><td>{'yes' if m.known else 'no'}</td></tr>"
            for m in self.modes
        )
        return (
            f"<table><tr><th>check</th><th>found</th><th>bound</th><th></th></tr>{rows}</table>"
            f"<table><tr><th>mode [rad/s]</th><th>damping before</th><th>after</th><th>in the design</th></tr>{modes}</table>"
        )

    def plot(self) -> Figure:
        """Return a figure: loop gain with margins and sensitivities."""
        return self.margins.plot()


def check(
    plant: Mechanism | Loop,
    controller: Design | LinearModel,
    *,
    q: Any = None,
    u0: Any = None,
    period: float | None = None,
    delay: int = 0,
    params: Mapping[str, float] | None = None,
    step: float = 1e-3,
    gain: float = GAIN,
    phase: float = PHASE,
    peak: float = PEAK,
    deviations: Any = None,
    runs: int = 64,
    t_end: float | None = None,
    spread: Mapping[str, tuple[float, float]] | None = None,
    uncertain: Mapping[str, tuple[float, float]] | None = None,
    limits: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Proof:
    """Return poles, margins, spillover and nonlinear runs of a controller on a full model, each with its bound.

    Parameters
    ----------
    plant : Mechanism, or Loop without a controller
        With all bodies, modes, sensors, actuators and their limits. In poles and margins the resolution of a sensor counts as a gain of
        one; the runs have it as it is.
    controller : Design or LinearModel
        u = K y, sign included; inputs and outputs are names of signals and commands of the plant (those of its linear model).
    q : array, (nq,)
        Operating point; neutral if not given. The controller works on deviations from what is measured there.
    u0 : numbers
        Commands there, one for each of the controller; those that hold the plant if not given (`trim`; of a mechanism with closed loops
        the least joint forces).
    period : float [s]
        At which a continuous controller is sampled (trapezoidal rule).
    delay : int
        Periods by which its commands come late.
    params : dict of parameter name to number
    step : float [s]
        Step of the runs; periods are whole numbers of it.
    gain, phase, peak : float, float [rad], float
        Least gain factor either way, least change of phase, largest peak of the sensitivity.
    deviations : number or array, (nq,) [rad or m]
        Nonlinear runs start at q plus random deviations of up to this size in every coordinate; none if not given.
    runs : int
        How many.
    t_end : float [s]
        Their length; ten times the slowest time constant of the loop if not given.
    spread : dict of parameter name to (low, high)
        Parameters that differ from run to run, uniformly; those of `uncertain` if not given.
    uncertain : dict of parameter name to (low, high)
        Parameters of the mechanism or of components that may have any value in these ranges: the structured singular value of the
        loop, sampled as it is, must stay below 1 (`uncertain` and `robstab`; parameters count as real).
    limits : dict of signal entry to number
        Largest allowed size of signals in the runs, such as {"u.joint1_torque": 40.0}.
    seed : int
    """
    known = controller.plant.poles if isinstance(controller, Design) else np.zeros(0)
    model = controller.controller if isinstance(controller, Design) else controller
    sampled = _sample_controller(model, period, delay)
    bare = plant if isinstance(plant, Loop) else Loop(plant)
    mechanism = bare.mechanism
    q0 = mechanism.positions(q)
    q0, point = _operating_point(plant, sampled, q0, u0, params, step)
    alone, y0 = _measure_at_rest(bare, sampled, q0, point, params, step)
    component = LinearController.of(sampled, y0=y0, u0=point, q0=q0, name="controller")
    loop = dataclasses.replace(bare, components=(*bare.components, component))
    settings: dict[str, Any] = {"step": step, "params": params}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # told already
        smooth = dataclasses.replace(loop, components=remove_rounding(loop.components))
        closed = smooth.linearize(q0, **settings)
        cut = smooth.linearize(q0, inputs=("u",), outputs=("u",), opened=("u",), **settings)
    driven = [i for i, name in enumerate(cut.inputs) if _bare(name) in {_bare(o) for o in sampled.outputs}]
    cut = select(cut, driven, [cut.outputs.index(cut.inputs[i]) for i in driven])
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DoubtfulResult
        )  # that the loop is unstable is the first of the checks
        cut_margins = margins(dataclasses.replace(cut, C=-cut.C, D=-cut.D))
    modes = modes_of(cut, alone, known)
    checks = [*_linear_checks(closed, cut_margins, gain, phase, peak), *_spillover_checks(modes)]
    batch = robust = None
    if uncertain:
        robust, more = _robust(smooth, q0, uncertain, params, step)
        checks += more
    if deviations is not None:
        _doubt_step(step, alone if sampled.period is not None else closed.poles)
        varied = uncertain if spread is None else spread
        batch, more = _runs(loop, q0, closed, deviations, runs, t_end, varied, limits, params, step, seed)
        checks += more
    return Proof(tuple(checks), loop, closed, cut_margins, modes, batch, robust)


def _robust(
    loop: Loop,
    q: np.ndarray,
    ranges: Mapping[str, tuple[float, float]],
    params: Mapping[str, float] | None,
    step: float,
) -> tuple[RobustStability | None, list[Check]]:
    """Return the robust stability of a loop over ranges of its parameters, and that mu is below 1."""
    model = uncertain_model(loop, ranges, q, step=step, params=params)
    what = f"mu over the ranges of {', '.join(ranges)}"
    if not asymptotically_stable(model.nominal.A, model.nominal.period):
        return None, [Check(f"{what}: unstable in their middle", np.inf, 1.0, False)]
    found = robstab(model)
    return found, [Check(what, found.upper, 1.0, found.robust)]


def late(controller: LinearModel, periods: int) -> LinearModel:
    """Return a sampled controller whose commands come some periods later."""
    m = len(controller.outputs)
    for k in range(periods):
        n = len(controller.A)
        A = np.block([[controller.A, np.zeros((n, m))], [controller.C, np.zeros((m, m))]])
        C = np.hstack([np.zeros((m, n)), np.eye(m)])
        states = (*controller.states, *(f"{name} - {k + 1}" for name in controller.outputs))
        controller = dataclasses.replace(
            controller,
            A=A,
            B=np.vstack([controller.B, controller.D]),
            C=C,
            D=np.zeros_like(controller.D),
            states=states,
        )
    return controller


def _sample_controller(controller: LinearModel, period: float | None, delay: int) -> LinearModel:
    if period is not None and controller.period not in (None, period):
        raise InputError(
            f"check: found a controller with the period {controller.period:g} s; expected {period:g} s or a continuous one"
        )
    controller = (
        sample(controller, period, "trapezoidal")
        if period is not None and controller.period is None
        else controller
    )
    if delay and controller.period is None:
        raise InputError(
            "check: found a delay without a sampling period; expected a period, or the delay in the plant"
        )
    return late(controller, int(delay))


def _bare(name: str) -> str:
    return name.partition(".")[2] if name.startswith(("u.", "tau.")) else name


def _operating_point(
    plant: Mechanism | Loop, controller: LinearModel, q: np.ndarray, u0: Any, params: Any, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the plant is held, its flexible bodies bent as they are there, and the commands that hold it."""
    if u0 is not None:
        return q, np.broadcast_to(np.asarray(u0, dtype=float), len(controller.outputs)).copy()
    if isinstance(plant, Loop):
        try:
            found = plant.trim(
                q, step=step, params=params, commands=controller.outputs, fixed=plant.mechanism.joint_names
            )
        except NumericalError:  # nothing holds it there: told when what is measured there is looked at
            return q, np.zeros(len(controller.outputs))
        return found.q, np.array([found.u[found.commands.index(_bare(name))] for name in controller.outputs])
    still, places = np.zeros(plant.nv), [plant.v_names.index(_bare(name)) for name in controller.outputs]
    if not plant.constraint_names:
        return q, plant.bias(q, still, params=params)[places]
    # with closed loops: the least commands that leave no acceleration
    loads = np.vstack([still, np.eye(plant.nv)[places]])
    after = plant.forward_dynamics(np.tile(q, (len(loads), 1)), 0.0 * loads, loads, params=params)
    return q, np.linalg.lstsq((after[1:] - after[0]).T, -after[0], rcond=1e-9)[0]


def _measure_at_rest(
    bare: Loop, controller: LinearModel, q: np.ndarray, u0: np.ndarray, params: Any, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the poles of the plant at the operating point and what the controller measures there; warn if it does not rest there."""
    hold = LinearController(
        D=np.zeros((len(u0), len(controller.inputs))),
        measured=controller.inputs,
        commands=controller.outputs,
        u0=u0,
        q0=q,
        name="held",
    )
    still = dataclasses.replace(bare, components=(*bare.components, hold))
    run = still.simulate(step, q, step=step, params=params)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        alone = still.linearize(q, step=step, params=params, outputs=()).poles
    if any(issubclass(each.category, DoubtfulResult) for each in told):
        drift = float(np.abs(run["vdot"][0]).max(initial=0.0))
        doubtful(
            f"check: the plant does not rest at the operating point: an acceleration of {drift:.3g}; pass the u0 and q that `trim` finds"
        )
    mechanism = bare.mechanism
    turns = {f"q.{name}" for name in set(mechanism.v_names) - set(mechanism.q_names)}  # measured from q
    return alone, np.array([0.0 if name in turns else _entry(run, name) for name in controller.inputs])


def _entry(run: Run, name: str) -> float:
    return float(np.ravel(run[name][0])[0])


def _linear_checks(
    closed: LinearModel, margins: Margins, gain: float, phase: float, peak: float
) -> list[Check]:
    values, inside = stable_poles(closed.A, closed.period)
    slowest = float(closed.poles.real.max())
    stable = bool(inside.all())  # of an unstable loop the numbers are no margins: none counts as passed
    why = "" if stable else _reason(closed, values[~inside])
    least = float(min((c.gain_up for c in margins.channels), default=np.inf))
    most = float(max((c.gain_down for c in margins.channels), default=0.0))
    turn = float(min((c.phase for c in margins.channels), default=np.inf))
    late_by = float(min((c.delay for c in margins.channels), default=np.inf))
    worst = float(margins.sensitivity.value)
    return [
        Check("largest real part of the poles of the full model [1/s]", slowest, 0.0, stable),
        Check("gain may rise by the factor", least, gain, stable and least >= gain, why),
        Check("gain may fall to the factor", most, 1 / gain, stable and most <= 1 / gain, why),
        Check(
            "phase margin [deg]",
            float(np.degrees(turn)),
            float(np.degrees(phase)),
            stable and turn >= phase,
            why,
        ),
        Check("delay margin [s]", late_by, 0.0, stable and late_by > 0.0, why),
        Check("peak of the sensitivity", worst, peak, stable and worst <= peak, why),
    ]


def _reason(closed: LinearModel, poles: np.ndarray) -> str:
    """Return which poles are not stable and in which states, for margins that mean nothing then."""
    rest = 0.0 if closed.period is None else 1.0
    small = 1e-6 * max(float(np.abs(np.linalg.eigvals(closed.A)).max(initial=0.0)), 1e-300)
    still = np.abs(poles - rest) <= small
    kinds = (("poles at 0", poles[still]), ("unstable poles", poles[~still]))
    parts = []
    for kind, some in kinds:
        names = dict.fromkeys(name for s in some for name in heaviest(closed, complex(s)).split(", "))
        parts += [f"{kind} in {', '.join(list(names)[:6])}"] if len(some) else []
    return "; ".join(parts)


def _spillover_checks(modes: Sequence[Mode]) -> list[Check]:
    left = [mode.damping[1] for mode in modes if not mode.known]
    return (
        [Check("least damping of modes that the design left out", min(left), 0.0, min(left) > 0.0)]
        if left
        else []
    )


def _doubt_step(step: float, poles: np.ndarray) -> None:
    fastest = float(np.abs(poles[np.isfinite(poles)]).max(initial=0.0))
    if step * fastest > STEP:
        doubtful(
            f"check: the step of the runs, {step:g} s, is too long for the fastest pole, {fastest:.4g} rad/s: the runs may grow though "
            f"the loop is stable; expected a step of at most {STEP / fastest:.2g} s, or weights that give slower poles"
        )


def _runs(
    loop: Loop,
    q: np.ndarray,
    closed: LinearModel,
    deviations: Any,
    count: int,
    t_end: float | None,
    spread: Mapping[str, tuple[float, float]] | None,
    limits: Mapping[str, float] | None,
    params: Mapping[str, float] | None,
    step: float,
    seed: int,
) -> tuple[Run, list[Check]]:
    """Return nonlinear runs from random deviations, and how many came back."""
    rng = stream(seed)
    rate = -closed.poles.real.max()
    span = t_end if t_end is not None else 10.0 / rate if rate > 0 else 1.0
    span = step * max(round(span / step), 200)
    start = q + rng.uniform(-1.0, 1.0, size=(count, len(q))) * np.broadcast_to(
        np.asarray(deviations, dtype=float), len(q)
    )
    varied = {name: rng.uniform(low, high, size=count) for name, (low, high) in (spread or {}).items()}
    names = tuple(
        dict.fromkeys(
            name.partition(".")[0] if name.startswith("u.") else name.rpartition(".")[0] or name
            for name in limits or {}
        )
    )
    sampled = step * max(1, round(span / step / 200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MovedStart)  # random starts do not close the loops of a mechanism
        run = loop.rollout(
            span, start, params={**(params or {}), **varied} or None, step=step, sample=sampled, outputs=names
        )
    off = np.nan_to_num(np.abs(run.q - q), nan=np.inf).max(axis=-1)
    back = np.isfinite(off).all(axis=1) & (off[:, -1] <= SETTLED * off.max(axis=1))
    checks = [
        Check(
            f"of {count} nonlinear runs, those that come back",
            float(back.sum()),
            float(count),
            bool(back.all()),
        )
    ]
    for name, limit in (limits or {}).items():
        most = float(np.nan_to_num(np.abs(run[name]), nan=np.inf).max())
        checks.append(Check(f"largest {name} in the runs", most, float(limit), most <= limit))
    return run, checks
