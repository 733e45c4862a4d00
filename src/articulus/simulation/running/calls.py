"""`simulate` and `rollout`: a loop made and run in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from articulus.declared import fields_of
from articulus.declared.field import parameters_text
from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.loop.component import Component
from articulus.simulation.results.run import Run
from articulus.simulation.running.joint_limits import with_stops
from articulus.simulation.running.loop import Controller, Loop
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.shape_contacts import with_contacts


def simulate(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    loops: str = AUTO,
    params: Mapping[str, float] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
    limits: bool = False,
    contacts: bool = False,
    **settings: Any,
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
    loops : str
        Form in which loops are closed: "regularized", "augmented", "canonical", "penalty", "lagrange", "null_space", "minimal",
        "operator", "absolute", "baumgarte", "park" or "multiple_chains"; see `articulus.dynamics.loops.FORMS`. The default, "auto", suits
        every mechanism and method: "regularized", and "lagrange" for over-constrained loops with an adaptive method.
    params : dict of parameter name to number
    checkpoint : path
        File kept up to date while the run continues. If it exists and belongs to this same run, the run continues from there;
        the result is the same bit for bit. Removed when the run is complete.
    checkpoint_interval : float [s]
        Wall-clock time between checkpoints.
    keep_checkpoint : bool
        Leave the file in place at the end, for a caller who has yet to save the result.
    limits : bool
        Add stops at the limits of the joints (`articulus.simulation.running.joint_limits.joint_stops`). Without them limits are data: a run goes past them, and
        is doubtful once it is beyond by more than a hundredth of the range.
    contacts : bool
        Add the contacts of the shapes of its file (`articulus.simulation.running.shape_contacts.shape_contacts`).

    **settings
        Fields of `RunSettings`:

    {settings}

    Raises
    ------
    NumericalError
        The run could not go on; the text says when and why, `error.result` is the run so far.
    """
    held = with_stops(mechanism, components) if limits else components
    held = with_contacts(mechanism, held) if contacts else held
    return Loop(mechanism, controller, held, loops).simulate(
        t_end, q0, v0, params=params, checkpoint=checkpoint, checkpoint_interval=checkpoint_interval,
        keep_checkpoint=keep_checkpoint, **settings,
    )  # fmt: skip


def rollout(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    loops: str = AUTO,
    params: Mapping[str, Any] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
    limits: bool = False,
    contacts: bool = False,
    **settings: Any,
) -> Run:
    """Return many runs at once, vectorized and on all threads (`with art.kernel.threads(n)`).

    Parameters
    ----------
    q0, v0 : array, (batch, nq), (batch, nv)
        Initial states; one that has no batch axis serves all runs.
    params : dict of parameter name to number or array (batch,)
        A sweep needs nothing else.

    The other parameters are those of `simulate`, the settings those of `RunSettings`; only start and end are kept unless `sample` is given, and
    no signals but q and v unless `outputs` names them. A run that fails stops alone: `run.status`, `run.failures`; so does one that an
    event ends. `run.events` says in which run each event happened.
    """
    held = with_stops(mechanism, components) if limits else components
    held = with_contacts(mechanism, held) if contacts else held
    return Loop(mechanism, controller, held, loops).rollout(
        t_end, q0, v0, params=params, checkpoint=checkpoint, checkpoint_interval=checkpoint_interval,
        keep_checkpoint=keep_checkpoint, **settings,
    )  # fmt: skip


def _declare(function: Callable[..., Run], **others: Any) -> None:
    """Show the settings in the signature and in the text of a function, as `RunSettings` declares them; `others` are other defaults."""
    own = inspect.signature(function)
    shown = [p for p in own.parameters.values() if p.name != "settings"]
    for f in fields_of(RunSettings):
        if f.name not in ("t_end", "first_run"):
            default = others.get(f.name, f.default)
            shown.append(inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=default))
    function.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    if function.__doc__:
        function.__doc__ = function.__doc__.replace("{settings}", parameters_text(RunSettings))


_declare(simulate)
_declare(rollout, outputs=())
