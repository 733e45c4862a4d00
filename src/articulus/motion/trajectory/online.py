"""What controllers that plan while the mechanism moves share: the task, the clock, the deadline."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError
from articulus.motion.trajectory.costs import Effort
from articulus.motion.trajectory.planning import by_joint
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.stages import Stages
from articulus.motion.trajectory.task import Task, off_goal
from articulus.simulation.loop.python_controller import PythonController

GAIN = 0.3
"""Part of a missing force that is taken in at every sample: estimates settle within some ten samples."""
LATE = 2.5
"""Calls that come later than so many periods after the last one tell nothing about a disturbance."""
SUBSTEPS = 4
"""RK4 steps of the prediction that measured velocities are compared with."""


@dataclass(frozen=True)
class Deadlines:
    """How long the calls of a controller took.

    Parameters
    ----------
    calls : int
    mean, worst : float [s]
        Wall-clock time of a call, the first one left out: it may load code.
    misses : int
        Calls that took longer than the period.
    period : float [s]
    """

    calls: int
    mean: float
    worst: float
    misses: int
    period: float

    def __str__(self) -> str:
        return (
            f"{self.calls} calls of {1e3 * self.mean:.2f} ms, at most {1e3 * self.worst:.2f} ms, "
            f"{self.misses} longer than the period of {1e3 * self.period:g} ms"
        )


class Online:
    """A controller that plans at every sample; the sampling period is the step of its stages.

    Parameters
    ----------
    stages : Stages
        Of a mechanism.
    offset_free : bool
        Whether constant forces that the model does not have, such as those of a payload, are estimated and made up for.

    Attributes
    ----------
    disturbance : array, (nu,) [N m or N]
        Forces beside the motors' that account for how the mechanism moved.
    """

    def __init__(self, stages: Stages, offset_free: bool = True):
        assert stages.mechanism is not None
        self.stages, self.mechanism, self.offset_free = stages, stages.mechanism, offset_free
        self._moved = kernel.compile(_velocities_after(stages), finite=False)
        names = [self.stages.phase.names[k].removeprefix("u.") for k in stages.phase.inputs]
        self._places = [self.mechanism.v_names.index(n) for n in names]
        forces = np.asarray(self.mechanism.gravity(stages.start[: self.mechanism.nq]))
        self.rest_input = forces[self._places]
        self._most = (
            stages.box[0] - stages.box[1],
            stages.box[1] - stages.box[0],
        )  # more could not be made up for
        self.reset()

    def reset(self) -> None:
        """Begin anew: no plan, no times."""
        self.seconds: list[float] = []
        self.disturbance = np.zeros(self.stages.nu)
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self.begin()

    def begin(self) -> None:
        """Forget what is planned."""
        raise NotImplementedError

    def improve(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs to apply now, (nu,), at a state x = (q, v)."""
        raise NotImplementedError

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the commands, (nv,), at a time [s], positions and velocities."""
        begun = time.perf_counter()
        x, command = np.concatenate([q, v]), np.zeros(self.mechanism.nv)
        if self.offset_free:
            self._observe(t, x)
        applied = np.clip(self.improve(x) - self.disturbance, *self.stages.box)
        self._last = t, x, applied
        command[self._places] = applied
        self.seconds.append(time.perf_counter() - begun)
        return command

    def _observe(self, t: float, x: np.ndarray) -> None:
        """Correct the disturbance by how the velocities at t differ from those that follow from the last call: an integrating observer.

        A force d on the motors changes velocities by dt W d there, with W = B^T M^-1 B; part `GAIN` of what is missing is added.
        """
        if self._last is None or not 0 < (dt := t - self._last[0]) <= LATE * self.stages.h:
            return
        n = self.mechanism.nv
        found = np.ravel(self._moved(self._last[1], self._last[2] + self.disturbance, dt))
        W = found[n:].reshape(len(self._places), -1)
        missing = np.linalg.solve(W, (x[-n:] - found[:n])[self._places]) / dt
        if np.isfinite(missing).all():
            self.disturbance = np.clip(self.disturbance + GAIN * missing, *self._most)

    def controller(self) -> PythonController:
        """Return it as a controller for `simulate` and `Loop`, sampled at the step of its stages."""
        return PythonController(self, self.stages.h, name=type(self).__name__.lower())

    @property
    def deadlines(self) -> Deadlines:
        """How long the calls since the last `reset` took."""
        spent, period = np.array(self.seconds[1:] or [0.0]), self.stages.h
        return Deadlines(
            len(self.seconds), float(spent.mean()), float(spent.max()), int((spent > period).sum()), period
        )

    def lost(self, x: np.ndarray) -> NumericalError:
        """Return the error that no prediction from a state stays finite."""
        return NumericalError(
            f"{type(self).__name__}: every prediction from the state with the largest speed {np.abs(x[self.mechanism.nq :]).max():.3g} diverges; "
            f"expected steps of {self.stages.h:g} s that resolve the motion. Likely the step is too long for the fastest mode"
        )


def _velocities_after(s: Stages) -> ca.Function:
    """Return the velocities (nv,) after a time from a state with held inputs by RK4, and the mobility of the motors, rows after each other."""
    x, u, h = MX.sym("x", s.nx), MX.sym("u", s.nu), MX.sym("h")
    D = s.acceleration_slopes(x, u, 0, 0)[1]
    after, dt, fine = x, h / SUBSTEPS, replace(s, method="rk4")
    for _ in range(SUBSTEPS):
        after = fine.step(after, u, dt)[0]
    mobility = ca.mtimes(s.motors.T, D[:, s.nx :])
    return ca.Function("moved", [x, u, h], [ca.vertcat(after[s.nx // 2 :], ca.vec(mobility))])


def reaching(
    mechanism: Mechanism,
    goal: Any,
    *,
    step: float,
    steps: int,
    start: Any = None,
    position: float = 1.0,
    velocity: float = 0.1,
    input: float = 0.01,
    final: float = 10.0,
    joints: tuple[str, ...] = (),
    effort: Mapping[str, float] | float | None = None,
    limits: Mapping[str, float] | float | None = None,
    obstacles: tuple[Any, ...] = (),
    method: str = "semi_implicit_euler",
) -> Stages:
    """Return the stages of reaching a goal and staying there, for controllers that plan on line.

    The cost per time is position |goal - q|^2 (or of frames the squared distance and 2 (1 - cos) of the angle left) + velocity |v|^2 + input |(u - u0) / size|^2, where
    u0 holds the goal against gravity; at the end of the horizon the first two count `final` times, as a cost.

    Parameters
    ----------
    mechanism : Mechanism
        An open tree whose velocities are the rates of its coordinates.
    goal : positions, art.goals.FramePose, art.goals.FramePoint or several of them
    step : float [s]
        Of the prediction, and sampling period.
    steps : int
        Of the horizon.
    start : positions
        About which the search begins; those within the limits that are next to neutral if not given.
    position, velocity, input, final : float
        Weights.
    joints : sequence of str
        With motors; all of one degree of freedom if not given.
    effort : dict of joint to number, or a number [N m or N]
        Limits in place of those of the joints.
    limits : dict of joint to number, or a number [rad/s or m/s]
        Of velocities, in place of those of the joints.
    obstacles : sequence of Clear
    method : str
        "semi_implicit_euler" or "rk4".
    """
    m = mechanism
    begin = np.clip(m.neutral, m.limits.lower, m.limits.upper) if start is None else start
    task = Task(
        m,
        begin,
        goal,
        step * steps,
        (Effort(),),
        tuple(joints),
        by_joint(m, effort, "torque_limit"),
        by_joint(m, limits, "velocity_limit"),
        tuple(obstacles),
    )
    phase = task.phase()
    c, z = task.columns, SX.sym("z", phase.size)
    last = task.last()
    off = [off_goal(m, goal, z[c.q]) for goal in task.goals]
    there = sum(off) if off else ca.sumsqr(z[c.q] - ca.DM(last))
    place = position * there + velocity * ca.sumsqr(z[c.v])
    names = [n.removeprefix("u.") for n in phase.names[c.u]]
    holding = np.asarray(m.gravity(last))[[m.v_names.index(n) for n in names]]
    spent = ca.sumsqr((z[c.u] - ca.DM(holding)) / ca.DM(phase.scale[c.u]))
    free = (phase.lower.copy(), phase.upper.copy())
    changed: Phase = replace(
        phase,
        end=free,
        at_end=(),
        running=ca.Function("running", [z], [place + input * spent]),
        final=ca.Function("final", [z, SX.sym("T")], [final * place]),
    )
    return Stages(changed, m, steps, method)
