"""The linear model of a whole loop about a state."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, UnsupportedOperation, did_you_mean, doubtful
from articulus.linear import LinearModels, Ports
from articulus.linear.connect import select
from articulus.model.mechanism.expression import evaluate
from articulus.simulation.loop.derivatives import Linear, joint_dofs, loop_derivatives
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.multirate import needed_states, over_period
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.loop.python_controller import PythonController
from articulus.simulation.loop.steps import whole_steps
from articulus.simulation.results.signal import Signal, force_signal

AT_REST = 1e-5
"""Mean acceleration over that of gravity up to which a state counts as one of rest [-]: poles are off by about as much."""
ROUNDING = 1e-12
"""Acceleration over the sizes of what it is the sum of that is rounding [-]."""
NO_OUTPUTS = ("energy", "constraint")
"""Signals without derivatives."""


def require_derivatives(system: System, outside: PythonController | None) -> None:
    """Raise UnsupportedOperation for a loop that has no linear model."""
    if outside is not None:
        raise UnsupportedOperation(
            f"linear: the Python controller '{outside.name}' has no derivatives; expected a component or a casadi.Function"
        )
    if system.closing is not None and system.form.own:
        raise UnsupportedOperation(
            f"linear: the form '{system.form.name}' has further states besides q and v; expected a run with another form "
            "of loops"
        )


def ports(system: System, signals: Mapping[str, Signal], inputs: Mapping[str, int]) -> Ports:
    """Return names and units of inputs, given with their sizes, and of outputs, the entries of signals."""
    into = [_entries(system, name, size) for name, size in inputs.items()]
    return Ports(
        inputs=tuple(name for names, _ in into for name in names),
        outputs=tuple(name for s in signals.values() for name in s.columns),
        input_units=tuple(unit for _, units in into for unit in units),
        output_units=tuple(unit for s in signals.values() for unit in s.units),
    )


def _entries(system: System, name: str, size: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return names and units of the entries of an input."""
    if name == "tau":
        d = system.description
        forces, pushed = force_signal(d, np.zeros((0, d.nv))), joint_dofs(d)
        return [forces.columns[k] for k in pushed], [forces.units[k] for k in pushed]
    if name == "w":
        return [f"w.{k}" for k in range(size)], ["-"] * size
    if name.startswith("p."):
        return [name], ["-"]
    signal = Outputs(system, (name,)).blank()[name]
    return signal.columns, signal.units


def model_signals(signals: Mapping[str, Signal]) -> dict[str, Signal]:
    """Return the signals that a linear model has as outputs, q and v first."""
    return {"q": signals["q"], "v": signals["v"]} | {n: s for n, s in signals.items() if n not in NO_OUTPUTS}


def asked_signals(system: System, outputs: Sequence[str] | None) -> dict[str, Signal]:
    """Return the signals of which outputs are entries, q and v first; all for None."""
    if outputs is None:
        return model_signals(Outputs(system).blank())
    known = ("q", "v", *(name for name in system.outputs if name not in NO_OUTPUTS))
    whole = [signal_of(name, known) for name in outputs]
    for name, signal in zip(outputs, whole):
        if signal not in known:
            why = "has no derivative" if signal in NO_OUTPUTS else "is no signal"
            raise InputError(f"linearize, outputs: '{name}' {why}; {did_you_mean(name, known)}")
    return model_signals(Outputs(system, tuple(dict.fromkeys(whole))).blank())


def names_of(given: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple, one name as one."""
    return (given,) if isinstance(given, str) else tuple(given)


def signal_of(name: str, known: Collection[str]) -> str:
    """Return the signal that a name means, itself or as one of its entries: "star.rpy" for "star.rpy.2", "u" for "u.base.wz"."""
    parts = name.split(".")
    beginnings = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
    return next((signal for signal in beginnings if signal in known), name)


def chosen_entries(names: Sequence[str], entries: Mapping[str, Sequence[str]], kind: str) -> list[int]:
    """Return the places of names, whole signals or entries, among the entries of all signals, each once, in the order asked."""
    every = [entry for held in entries.values() for entry in held]
    wanted: list[str] = []
    for name in names:
        wanted += entries.get(name, [name])
    for name in wanted:
        if name not in every:
            raise InputError(f"linearize, {kind}s: no entry '{name}'; {did_you_mean(name, every)}")
    return [every.index(name) for name in dict.fromkeys(wanted)]


def linear_models(
    system: System,
    step: float,
    signals: Mapping[str, Signal],
    x: np.ndarray,
    p: np.ndarray,
    t: float | np.ndarray,
    inputs: tuple[str, ...] = ("tau",),
    opened: tuple[str, ...] = (),
    outputs: Sequence[str] | None = None,
    resting: Mechanism | None = None,
) -> LinearModels:
    """Return the linear models about states x (count, nc + nd) with parameters p (count, np) at times t, one or (count,), at least one.

    Sampling periods are whole numbers of `step` [s]. Inputs are signals or entries of them; outputs likewise, of `signals`, which
    has q and v first: all if not given. States of a mechanism that is meant to be `resting` are doubted where it accelerates.

    Raises
    ------
    InputError
        The coordinates that are free under the constraints at the first state are not free at another.
    """
    names = tuple(name for name in signals if name not in ("q", "v"))
    net = system.network
    sources = ("tau", "u", "w", *net.signals, *(f"p.{each.name}" for each in net.parameters))
    into = tuple(dict.fromkeys(signal_of(name, sources) for name in inputs))
    derivatives = loop_derivatives(system, names, into, opened)
    found_ports = ports(system, signals, derivatives.sizes)
    linearizations = derivatives.about(x, p, np.broadcast_to(t, len(x)).astype(float), step)
    if resting is not None:
        doubt_rest(resting, x[:, system.places["q"]], linearizations)
    states, period = linearizations[0].states, None
    state, output = (
        np.stack([getattr(each, name) for each in linearizations]) for name in ("rate", "outputs")
    )
    if linearizations[0].updates:
        from threadpoolctl import threadpool_limits  # late: its import would slow down every first run

        periods = [whole_steps(f"component '{u.name}', period", u.period, step) for u in system.updates]
        period = math.lcm(*periods) * step
        with threadpool_limits(1, user_api="blas"):  # many small matrices: threads only wait for each other
            over = [over_period(each.rate, each.updates, periods, step) for each in linearizations]
        state, output = np.stack([a for a, _ in over]), output @ np.stack([first for _, first in over])
        n, nz = len(states), len(linearizations[0].rate)
        finite = np.isfinite(output).all(axis=2)
        kept = sorted(
            {
                k
                for A, C, known in zip(state, output, finite)
                for k in needed_states(A[:n, :n], C[known, :n], nz)
            }
        )
        columns = [*kept, *range(n, state.shape[2])]
        state, output, states = (
            state[:, kept][:, :, columns],
            output[..., columns],
            tuple(states[k] for k in kept),
        )
    n = len(states)
    parts = (state[..., :n], state[..., n:], output[..., :n], output[..., n:])
    whole = LinearModels(*parts, states, **vars(found_ports), t=t, period=period)
    of_inputs = {name: _entries(system, name, size)[0] for name, size in derivatives.sizes.items()}
    of_outputs = {name: signal.columns for name, signal in signals.items()}
    wanted = tuple(of_outputs) if outputs is None else outputs
    return select(
        whole, chosen_entries(inputs, of_inputs, "input"), chosen_entries(wanted, of_outputs, "output")
    )


def doubt_rest(mechanism: Mechanism, q: np.ndarray, found: Sequence[Linear]) -> None:
    """Warn where a mechanism accelerates at a state about which its linear model is meant to be one of rest.

    The mean acceleration a is that of its mass, m a^2 = v'T M v', so that one bound fits joints of all kinds and mechanisms of all
    sizes. Without gravity anything beyond rounding counts.
    """
    moving = [k for k, each in enumerate(found) if (np.abs(each.vdot) > ROUNDING * each.balanced).any()]
    if not moving:
        return
    mass = float(np.max(mechanism.total_mass()))
    kinetic = np.array([float(mechanism.energy(q[k], found[k].vdot)[0]) for k in moving])
    means = np.sqrt(2.0 * kinetic / mass) if mass > 0 else np.full(len(moving), np.inf)
    gravity = float(np.linalg.norm([evaluate(x, lambda p: p.value) for x in mechanism.description.gravity]))
    worst = int(means.argmax())
    if not means[worst] > AT_REST * gravity:
        return
    each = found[moving[worst]]
    at = int(np.argmax(np.abs(each.vdot) / np.where(each.balanced > 0, each.balanced, 1.0)))
    part = f", {means[worst] / gravity:.2g} of free fall" if gravity else ""
    doubtful(
        f"linearize: '{mechanism.name}' does not rest at this position: the mean acceleration is {means[worst]:.3g} m/s^2{part}, "
        f"v'.{mechanism.v_names[at]} is {each.vdot[at]:.3g}. The poles are not those about a state of rest; give the commands u that hold "
        "it, or take trim(q).linearize(...), which finds them; with velocities v the model is one of a motion"
    )
