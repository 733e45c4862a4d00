"""`run_margins`: stability margins of the controller of a run, about a state of it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from articulus.control.analysis.margins import Margins, margins
from articulus.control.connect import select
from articulus.control.proof.rounding import remove_rounding, resolutions
from articulus.errors import ArticulusError, DoubtfulResult
from articulus.linear import LinearModel
from articulus.simulation.loop.component import Controller
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.simulation.results import Run
from articulus.simulation.running.rerun import RunOrigin

SLOW = 1e-3
"""Largest speed and acceleration of a state that counts as one of rest [rad/s, m/s; rad/s^2, m/s^2]."""
NO_CONTROLLER = "the run has no controller"


@dataclass(frozen=True, eq=False)
class RunMargins:
    """Margins at the commands of a run, or why there are none.

    Parameters
    ----------
    t : float [s]
        Time of the state that they are about.
    closed : LinearModel or None
        Closed loop at that state; None where there is no linear model.
    margins : Margins or None
        At the commands, the loop cut open there; None with a reason.
    reason : str
        Why there are no margins; empty if there are.
    note : str
        What to keep in mind: the mechanism moves at that time, or sensors round what they measure.
    """

    t: float
    closed: LinearModel | None
    margins: Margins | None
    reason: str
    note: str

    @property
    def least_damped(self) -> np.ndarray:
        """Poles of the closed loop with an imaginary part of at least zero, by rising damping ratio [rad/s]; those at zero first."""
        if self.closed is None:
            return np.zeros(0, dtype=complex)
        found = self.closed.poles
        found = found[np.isfinite(found) & (found.imag >= 0)]
        sizes = np.abs(found)
        ratio = np.where(sizes > 0, -found.real / np.where(sizes > 0, sizes, 1.0), -1.0)
        return found[np.lexsort((sizes, np.round(ratio, 9)))]

    def __str__(self) -> str:
        lines = [f"about t = {self.t:g} s", *([self.note] if self.note else [])]
        lines.append(f"no margins: {self.reason}" if self.margins is None else str(self.margins))
        return "\n".join(lines)


def run_margins(run: Run, at: float | None = None, index: int = 0) -> RunMargins:
    """Return the margins of a run's controller about a state of it: gain, phase, delay, disk, sensitivity peaks.

    The loop is cut open at the commands ("u"); sampled controllers count with their period, actuators and sensors are part of the
    loop. Commands that nothing feeds back to are omitted. Where the closed loop is not stable there are no margins. The resolution of
    a sensor counts as a gain of one (its slope is zero or infinite), which a note tells: the numbers hold for motions of many steps.

    Parameters
    ----------
    run : Run
        From `simulate` or `rollout`.
    at : float [s]
        Time of the state; the end if not given.
    index : int
        Index in a batch.
    """
    origin = run.require_origin("margins")
    t = float(run.t[-1] if at is None else at)
    if isinstance(origin, RunOrigin) and not _has_controller(origin):
        return RunMargins(t, None, None, NO_CONTROLLER, "")
    rounding = resolutions(origin.setup.system.network.components) if isinstance(origin, RunOrigin) else {}
    if isinstance(origin, RunOrigin) and rounding:
        origin = _without_rounding(origin)
    try:
        closed = origin.linearize(run, at, index, ("tau",), None, ())
        cut = origin.linearize(run, at, index, ("u",), ("u",), ("u",))
    except ArticulusError as error:
        return RunMargins(t, None, None, str(error), "")
    loop = _fed_back(cut)
    note = "; ".join(filter(None, [_motion(run, closed.t, index), _steps(rounding)]))
    if loop is None:
        reason = "at this state no command depends on what it does: nothing is measured, or the commands are at their limits"
        return RunMargins(closed.t, closed, None, reason, note)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # that the loop is unstable is said below
        result = margins(loop)
    if result.stable:
        return RunMargins(closed.t, closed, result, "", note)
    worst = max(closed.poles, key=lambda p: p.real)
    reason = (
        f"the closed loop about this state is not asymptotically stable ({result.unstable} poles; the worst "
        f"{worst.real:.3g} {worst.imag:+.3g}j rad/s)"
    )
    return RunMargins(closed.t, closed, None, reason, note)


def _has_controller(origin: RunOrigin) -> bool:
    parts = origin.setup.system.network.components
    return origin.setup.outside is not None or any(isinstance(c, Controller) for c in parts)


def _without_rounding(origin: RunOrigin) -> RunOrigin:
    """Return the same with sensors of endless resolution; states and parameters stay where they are."""
    system, setup = origin.setup.system, origin.setup
    net = system.network
    smooth = Network(
        net.description,
        remove_rounding(net.components),
        bool(net.outside.numel()),
        net.stops,
        as_found=net.as_found,
    )
    names = [each.name for each in net.parameters]
    places = [names.index(each.name) for each in smooth.parameters]
    setup = dataclasses.replace(setup, system=System(smooth, system.form.name))
    return dataclasses.replace(origin, setup=setup, p=origin.p[:, places])


def _steps(rounding: Mapping[str, str]) -> str:
    """Return a sentence on sensors that round."""
    if not rounding:
        return ""
    told = ", ".join(f"'{name}' (resolution {step})" for name, step in rounding.items())
    return (
        f"the rounding of {told} counts as a gain of one: about rest the loop may go to and fro by such steps"
    )


def _fed_back(cut: LinearModel) -> LinearModel | None:
    """Return the loop for negative feedback of the commands that depend on themselves, None if there are none."""
    chosen = [cut.outputs.index(name) for name in cut.inputs]
    square = select(cut, range(len(cut.inputs)), chosen)
    unit = 1.0 if square.period is None else square.period
    values = square.response(np.array([0.37, 1.13, 2.9]) / unit)
    gains = np.abs(np.where(np.isfinite(values), values, 1.0)).max(axis=0, initial=0.0)
    felt = gains > 1e-12 * gains.max(initial=0.0)
    used = [i for i in range(len(felt)) if felt[i].any() and felt[:, i].any()]
    if not used:
        return None
    loop = select(square, used, used)
    return dataclasses.replace(loop, C=-loop.C, D=-loop.D)


def _motion(run: Run, t: float, index: int) -> str:
    """Return a sentence where the mechanism moves at a sample."""
    row = int(np.argmin(np.abs(run.t - t)))
    signals = {"speed": "v", "acceleration": "vdot"}
    found = {
        word: float(np.abs(run[name][row] if run.batch is None else run[name][index, row]).max(initial=0.0))
        for word, name in signals.items()
        if name in run.signals
    }
    if all(x <= SLOW for x in found.values()):
        return ""
    told = ", ".join(f"{word} up to {x:.2g}" for word, x in found.items())
    return f"the mechanism moves at this time ({told}): the numbers hold for the state as if it were kept"
