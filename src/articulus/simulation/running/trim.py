"""`trim`: constant commands that hold a mechanism, a loop or a run at a state (`findop` in MATLAB).

Unknown are the commands u, the states s of components, the held values d of sampled ones, and the modal coordinates in q:

    v'(q, v, s, d, u) = 0,   s'(q, v, s, d, u) = 0,   d = r(q, v, s, d, u),   g(q) = 0

First all joints stay where they are. If no commands hold them there, they move as little as they must, and that is told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, MovedStart, NumericalError, did_you_mean, doubtful
from articulus.linear import LinearModel
from articulus.model.mechanism.numbers import as_array
from articulus.simulation.loop.components import LinearController
from articulus.simulation.loop.derivatives import joint_dofs
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.equilibrium import LoopEquilibrium, LoopRest
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.linear_model import require_derivatives
from articulus.simulation.results.run import Run
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.solve.assembly import modal_dofs, moving_dofs

if TYPE_CHECKING:
    from articulus.simulation.running.loop import Loop


@dataclass(frozen=True, eq=False)
class Trim(LoopEquilibrium):
    """Commands that hold a loop at a state, and that state.

    Attributes
    ----------
    q : array, (nq,)
    states : dict of name to array
        States of components and held values of sampled ones.
    residuals : tuple of float
        Largest imbalance at the estimate and after each Newton step.
    linearized : callable
        Gives `linearize`.
    v : array, (nv,)
    u : array, (nu,)
        Constant commands beside those of the controllers, in the order of `commands`; of a mechanism, joint forces.
    commands : tuple of str
    loop : Loop
        With these commands: `trim.loop.simulate(1.0, trim.q)` stays where it is, unless it is unstable.
    """

    v: np.ndarray
    u: np.ndarray
    commands: tuple[str, ...]
    loop: Loop

    def __str__(self) -> str:
        held = ", ".join(f"{name} {value:.6g}" for name, value in zip(self.commands, self.u) if value)
        return f"trim of '{self.loop.mechanism.name}': {held or 'no commands are needed'}"


def trim(
    what: Mechanism | Loop | Run,
    q: Any = None,
    v: Any = None,
    *,
    t: float | None = None,
    step: float = 1e-3,
    params: Mapping[str, float] | None = None,
    commands: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    tolerance: float = 1e-9,
) -> Trim:
    """Return the constant commands that hold a mechanism, a loop or a run at a state: accelerations and rates of states are zero.

    Parameters
    ----------
    what : Mechanism, Loop or Run
        Of a mechanism, the commands are joint forces. A loop keeps its controllers: the commands are added to theirs. Of a run q
        is that at the time t.
    q, v : array, (nq,), (nv,), or dict of joint to position
        State; neutral and at rest if not given. Loops are closed first. With velocities it is a steady motion; closed mechanisms
        are held at rest only.
    t : float [s]
        Time at which references and prescribed motions are held: 0, or of a run its end, if not given.
    step : float [s]
        Sampling periods are whole multiples of it.
    params : dict of parameter name to number
    commands : sequence of str
        Those that may be used; all if not given.
    fixed : sequence of str
        Joints that do not move even if others must.
    tolerance : float [-]
        Largest imbalance (accelerations, rates and changes, in their units), over the largest at the estimate (or 1).

    Returns
    -------
    Trim
        `u`, `q`, states of components; `linearize(inputs, outputs)` is the linear model there, `loop` the loop with these commands.

    Raises
    ------
    NumericalError
        No commands hold the state or one near it.

    Warns
    -----
    MovedStart
        No commands hold the joints where they were given: they were moved as little as possible.
    """
    from articulus.simulation.running.loop import Loop

    if isinstance(what, Run):
        what, q, v, t, params = _of_run(what, q, v, t, params)
    elif not isinstance(what, Mechanism | Loop):
        raise InputError(f"trim: found {type(what).__name__}; expected a Mechanism, a Loop or a Run")
    loop = what if isinstance(what, Loop) else Loop(what)
    return loop.trim(
        q, v, t=t or 0.0, step=step, params=params, commands=commands, fixed=fixed, tolerance=tolerance
    )


def hold_commands(loop: Loop, u: Any) -> Loop:
    """Return a loop with constant commands added; see `Loop.hold`."""
    names = loop.system.network.command_names
    if isinstance(u, Mapping):
        for name in u:
            if name not in names:
                raise InputError(f"commands u: nothing commands '{name}'; {did_you_mean(str(name), names)}")
        u = [u.get(name, 0.0) for name in names]
    values = as_array("commands u", u)
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise InputError(
            f"commands u: found an array {values.shape}; expected {len(names)} finite numbers, for {', '.join(names[:8])}"
        )
    taken = {c.name for c in loop.system.network.components}
    name = next(name for k in range(len(taken) + 1) if (name := f"hold{k or ''}") not in taken)
    held = LinearController(
        D=np.zeros((len(names), 1)), measured=("t",), commands=names, u0=values, name=name
    )
    return dataclasses.replace(loop, components=(*loop.components, held))


def find_trim(
    loop: Loop,
    q: Any,
    v: Any,
    t: float,
    step: float,
    params: Mapping[str, float] | None,
    commands: Sequence[str] | None,
    fixed: Sequence[str],
    tolerance: float,
) -> Trim:
    """Return the commands that hold a loop; see `trim`."""
    from articulus.simulation.running.loop import begin_states

    mechanism = loop.mechanism
    setup = loop.setup(RunSettings(t + step, t, step), q, v, params, True)
    system = setup.system
    require_derivatives(system, setup.outside)
    c, d, p = (rows[0] for rows in begin_states(setup))
    velocity = np.zeros(mechanism.nv) if v is None else c[system.places["v"]]
    if velocity.any() and mechanism.constraint_names:
        raise InputError("trim: found velocities of a mechanism with closed loops; expected it at rest")
    pushed, p = _with_commands(system, p)
    used = [pushed.parameters[k] for k in _usable_commands(system, commands)]

    def search(moving: np.ndarray) -> tuple[LoopRest, tuple[float, ...]]:
        rest = LoopRest(mechanism, pushed.system, c, d, p, t, step, used, ~moving)
        rest.c[system.places["v"]] = velocity
        return rest, rest.find(tolerance)

    may_move = moving_dofs(mechanism, fixed, "trim")
    try:
        rest, residuals = search(may_move & modal_dofs(mechanism))
    except NumericalError:
        rest, residuals = search(may_move)
        _tell_moved(mechanism, c[system.places["q"]], rest.c[system.places["q"]])
    u = rest.p[pushed.parameters]
    held_loop = loop.hold(u)
    x = np.concatenate([rest.c, rest.d])

    def linearized(
        inputs: tuple[str, ...], outputs: tuple[str, ...] | None, opened: tuple[str, ...]
    ) -> LinearModel:
        from articulus.simulation.running.loop import linear_models_about

        of_system = np.array(
            [rest.p[pushed.places[each.name]] for each in held_loop.system.network.parameters]
        )
        return linear_models_about(
            held_loop.system, step, x[None], of_system[None], t, inputs, outputs, opened
        )[0]

    equilibrium = rest.report(linearized, residuals)
    values = {field.name: getattr(equilibrium, field.name) for field in dataclasses.fields(LoopEquilibrium)}
    return Trim(**values, v=velocity, u=u, commands=system.network.command_names, loop=held_loop)


@dataclass(frozen=True)
class _Pushed:
    """A loop with a parameter for every command: its equations, where its parameters are, and those of the commands."""

    system: System
    places: Mapping[str, int]
    parameters: list[int]


def _with_commands(system: System, p: np.ndarray) -> tuple[_Pushed, np.ndarray]:
    """Return a loop with a parameter for every command, and the values of all parameters."""
    net = system.network
    own = Network(system.description, net.components, False, net.stops, ("u",))
    places = {each.name: k for k, each in enumerate(own.parameters)}
    values = np.zeros(len(places))
    for each, value in zip(net.parameters, p):
        values[places[each.name]] = value
    symbols = own.injected["u"]
    at = [places[symbols[k].name()] for k in range(symbols.numel())]
    return _Pushed(System(own, system.form.name), places, at), values


def _usable_commands(system: System, commands: Sequence[str] | None) -> list[int]:
    """Return which commands may be used: all but those on modes of flexible bodies, if no names are given."""
    net = system.network
    if commands is None:
        return list(range(len(net.command_names))) if net.driven else joint_dofs(system.description)
    names = [commands] if isinstance(commands, str) else list(commands)
    bare = [n.partition(".")[2] if n.startswith(("u.", "tau.")) else n for n in names]
    for name in bare:
        if name not in net.command_names:
            raise InputError(
                f"trim, commands: nothing commands '{name}'; {did_you_mean(name, net.command_names)}"
            )
    return [net.command_names.index(name) for name in bare]


def _tell_moved(mechanism: Mechanism, before: np.ndarray, after: np.ndarray) -> None:
    """Warn that joints were moved."""
    off = np.abs(after - before)
    k = int(off.argmax())
    doubtful(
        f"trim: no commands hold '{mechanism.name}' at the given position: moved to one that they hold, q.{mechanism.q_names[k]} most, from "
        f"{before[k]:.6g} to {after[k]:.6g}",
        MovedStart,
    )


def _of_run(
    run: Run, q: Any, v: Any, t: float | None, params: Mapping[str, float] | None
) -> tuple[Loop, Any, Any, float, Mapping[str, float]]:
    """Return the loop of a run, with its state and parameters at a time."""
    from articulus.simulation.running.loop import Loop

    if run.batch is not None:
        raise InputError(f"trim: found a batch of {run.batch} runs; expected one run")
    setup = run.require_origin("trim").setup  # type: ignore[attr-defined]
    require_derivatives(setup.system, setup.outside)
    good = np.flatnonzero(
        np.isfinite(run.q).all(axis=-1) & (run.t <= (np.inf if t is None else t * (1 + 1e-9)))
    )
    if not good.size:
        raise InputError(f"trim: found no sample up to t = {t:g} s; expected one from {run.t[0]:g} s on")
    k = int(good[-1])
    loop = Loop(setup.mechanism, components=setup.system.network.components, loops=setup.system.form.name)
    own = {each.name: float(np.ravel(each.value)[0]) for each in run.parameters}
    return loop, run.q[k] if q is None else q, v, float(run.t[k]), own | dict(params or {})
