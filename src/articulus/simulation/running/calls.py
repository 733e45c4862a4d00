"""`simulate` and `rollout`: a loop made and run in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.events import Event
from articulus.simulation.results.run import Run
from articulus.simulation.running.joint_limits import with_stops
from articulus.simulation.running.loop import Controller, Loop
from articulus.simulation.running.settings import refuse_unknown


def simulate(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    method: str = "rk4",
    loops: str = AUTO,
    step: float = 1e-3,
    sample: float | None = None,
    events: Sequence[Event] = (),
    outputs: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    params: Mapping[str, float] | None = None,
    seed: int = 0,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: float | None = None,
    max_step: float | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
    limits: bool = False,
    **unknown: Any,
) -> Run:
    """Return one run of a mechanism with its components.

    Parameters
    ----------
    mechanism : Mechanism
        Its loops are closed first where q0 and v0 do not fit (least change, see `assemble`); above 0.01 rad or m, or 0.01
        of the velocity, with a warning, `errors.MovedStart`.
    t_end : float [s]
        End; a whole number of steps after t0.
    q0, v0 : array, (nq,), (nv,) [rad, m; rad/s, m/s]
        Initial state; neutral and at rest if not given.
    controller : component, casadi.Function, or Python function of t, q, v
        What commands the actuators. A casadi.Function has inputs named among t, q, v and signals, and becomes native code
        together with the mechanism. A Python function is called at every step and its result held; `PythonController`
        gives it a period. Several may be given in a list; their commands add up.
    components : sequence of Component
        Actuators, sensors, disturbances, further controllers. Without actuators a command is a joint force.
    method : str
        Integration method; see `articulus.simulation.integrate.ALL_METHODS`.
    loops : str
        Form in which loops are closed: "regularized", "augmented", "canonical", "penalty", "lagrange", "null_space", "minimal",
        "operator", "absolute", "baumgarte", "park" or "multiple_chains"; see `articulus.dynamics.loops.FORMS`. The default, "auto", suits
        every mechanism and method: "regularized", and "lagrange" for over-constrained loops with an adaptive method.
    step : float [s]
        Fixed step; for adaptive methods the interval at which sampled components and samples may act.
    sample : float [s]
        Time between samples; every step if not given.
    events : sequence of Event
        What to look for between steps, and what then happens.
    outputs : sequence of str
        Signals to report besides q and v; all if not given.
    fixed : sequence of str
        Joints, and flexible bodies, whose q0 and v0 stay as given when loops are closed.
    params : dict of parameter name to number
    seed : int
        Of all noise.
    t0 : float [s]
        Start.
    rtol : float
        Error of a step of adaptive methods over the size of a state.
    atol : float
        Error of a step that is allowed in any state whatever its size. Where it is not given, 1e-10 of what is large for each: 1 rad, the
        characteristic length of the mechanism (`mechanism.description.scales()`), these over its characteristic time. Motions that are
        far smaller than the mechanism, such as vibrations of nanometres of a body of a metre, ask for a smaller one.
    max_step : float [s]
        Longest step that adaptive methods may try. They do not step over contacts, stops, cables that become taut, tables, and
        jumps of functions of time by themselves.
    checkpoint : path
        File kept up to date while the run goes on. If it exists and belongs to this same run, the run goes on from there;
        the result is the same to the last bit. Removed when the run is complete.
    checkpoint_interval : float [s]
        Wall-clock time between checkpoints.
    keep_checkpoint : bool
        Leave the file in place at the end, for a caller who has yet to save the result.
    limits : bool
        Add stops at the limits of the joints (`articulus.simulation.running.joint_limits.joint_stops`). Without them limits are data: a run goes past them, and
        is doubtful once it is beyond by more than a hundredth of the range.

    Raises
    ------
    NumericalError
        The run could not go on; the text says when and why, `error.result` is the run so far.
    """
    refuse_unknown(unknown)
    return Loop(mechanism, controller, with_stops(mechanism, components) if limits else components, loops).simulate(
        t_end, q0, v0, params=params, method=method, step=step, sample=sample, events=events, outputs=outputs, fixed=fixed,
        seed=seed, t0=t0, rtol=rtol, atol=atol, max_step=max_step, checkpoint=checkpoint, checkpoint_interval=checkpoint_interval,
        keep_checkpoint=keep_checkpoint,
    )  # fmt: skip


def rollout(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    method: str = "rk4",
    loops: str = AUTO,
    step: float = 1e-3,
    sample: float | None = None,
    events: Sequence[Event] = (),
    outputs: Sequence[str] = (),
    fixed: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: float | None = None,
    max_step: float | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
    limits: bool = False,
    **unknown: Any,
) -> Run:
    """Return many runs at once, vectorized and on all threads (`with art.kernel.threads(n)`).

    Parameters
    ----------
    q0, v0 : array, (batch, nq), (batch, nv)
        Initial states; one that has no batch axis serves all runs.
    params : dict of parameter name to number or array (batch,)
        A sweep needs nothing else.
    outputs : sequence of str
        Signals to report besides q and v; none if not given.
    sample : float [s]
        Time between samples; only start and end if not given.

    The other parameters are those of `simulate`. A run that fails stops alone: `run.status`, `run.failures`; so does one that an
    event ends. `run.events` says in which run each event happened.
    """
    refuse_unknown(unknown)
    return Loop(mechanism, controller, with_stops(mechanism, components) if limits else components, loops).rollout(
        t_end, q0, v0, params=params, method=method, step=step, sample=sample, events=events, outputs=outputs, fixed=fixed,
        seed=seed, t0=t0, rtol=rtol, atol=atol, max_step=max_step, checkpoint=checkpoint, checkpoint_interval=checkpoint_interval,
        keep_checkpoint=keep_checkpoint,
    )  # fmt: skip
