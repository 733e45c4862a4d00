"""What controllers that plan while the mechanism moves share: the task, the clock, the deadline."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.motion.motion import SampledMotion
from articulus.motion.piecewise import Piecewise
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
WEIGHTS = {"position": 1.0, "velocity": 0.1, "input": 0.01, "final": 10.0}
"""Weights of `reaching`, if not given."""


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
        Stages of a mechanism.
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

    def input_at(self, step: int, x: np.ndarray) -> np.ndarray:
        """Return the planned inputs of a step of the horizon, (nu,), at a state x."""
        raise NotImplementedError

    @cached_property
    def _after(self) -> kernel.Kernel:
        """A step of the prediction: (x, u) -> x."""
        s, x, u = self.stages, MX.sym("x", self.stages.nx), MX.sym("u", self.stages.nu)
        after = ca.Function("after", [x, u], [s.step(x, u, MX(s.h))[0]])
        return kernel.compile(after, finite=False, ranks=((1, 1), (1,)))

    @property
    def motion(self) -> SampledMotion:
        """The motion that is planned now: from the last call over the horizon, as the steps of the prediction have it, inputs held during each."""
        if self._last is None:
            raise InputError(
                f"{type(self).__name__}: found no motion yet; expected a call with t, q and v, or a simulation, before"
            )
        x, m = [self._last[1]], self.mechanism
        tau = np.zeros((self.stages.steps, m.nv))
        for k, row in enumerate(tau):
            row[self._places] = u = self.input_at(k, x[-1])
            x.append(np.ravel(self._after(x[-1], u)))
        q, v = np.split(np.array(x), 2, axis=1)
        t = self._last[0] + self.stages.h * np.arange(len(x))
        after = np.asarray(m.forward_dynamics(q, v, np.vstack([tau, tau[-1:]])))
        before = np.asarray(m.forward_dynamics(q, v, np.vstack([tau[:1], tau])))
        motors = tuple(j for j in m.joint_names if set(range(m.nv)[m.v_slice(j)]) & set(self._places))
        return SampledMotion(t, q, v, after, before, m, motors, Piecewise(t, tau[:, None]))

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
    q0: Any = None,
    weights: Mapping[str, float] | None = None,
    actuators: Sequence[str] = (),
    torque_limit: Mapping[str, float] | float | None = None,
    velocity_limit: Mapping[str, float] | float | None = None,
    obstacles: tuple[Any, ...] = (),
    method: str = "semi_implicit_euler",
) -> Stages:
    """Return the stages of reaching a goal and staying there, for controllers that plan on line.

    With the weights w, the cost per unit of time is w_position |goal - q|^2 + w_velocity |v|^2 + w_input |(u - u0) / size|^2, where u0 holds the goal against
    gravity. Goals of frames count by the squared distance and 2 (1 - cos) of the angle that is left. The state at the end of the horizon costs w_final times
    the first two terms.

    Parameters
    ----------
    mechanism : Mechanism
        An open tree whose velocities are the rates of its coordinates.
    goal : positions, art.goals.FramePose, art.goals.FramePoint or several of them
    step : float [s]
        Step of the prediction, which is also the sampling period.
    steps : int
        Number of steps of the horizon.
    q0 : positions
        Where the search begins; the positions within the limits that are closest to neutral if not given.
    weights : dict
        Weights "position", "velocity", "input" and "final" in place of `WEIGHTS`.
    actuators : sequence of str
        Joints with motors; all joints of one degree of freedom if not given.
    torque_limit : dict of joint to number, or a number [N m or N]
        Limits in place of those of the joints.
    velocity_limit : dict of joint to number, or a number [rad/s or m/s]
        Limits in place of those of the joints.
    obstacles : sequence of Clear
    method : str
        "semi_implicit_euler" or "rk4".
    """
    m = mechanism
    if unknown := set(weights or {}) - set(WEIGHTS):
        name = min(unknown)
        raise InputError(f"reaching: no weight '{name}'; {did_you_mean(name, WEIGHTS)}")
    w = {**WEIGHTS, **(weights or {})}
    task = Task(
        m,
        np.clip(m.neutral, m.limits.lower, m.limits.upper) if q0 is None else q0,
        goal,
        step * steps,
        (Effort(),),
        tuple(actuators),
        by_joint(m, torque_limit, "torque_limit"),
        by_joint(m, velocity_limit, "velocity_limit"),
        tuple(obstacles),
    )
    phase = task.phase()
    c, z = task.columns, SX.sym("z", phase.size)
    last = task.last()
    off = [off_goal(m, goal, z[c.q]) for goal in task.goals]
    there = sum(off) if off else ca.sumsqr(z[c.q] - ca.DM(last))
    place = w["position"] * there + w["velocity"] * ca.sumsqr(z[c.v])
    names = [n.removeprefix("u.") for n in phase.names[c.u]]
    holding = np.asarray(m.gravity(last))[[m.v_names.index(n) for n in names]]
    spent = ca.sumsqr((z[c.u] - ca.DM(holding)) / ca.DM(phase.scale[c.u]))
    free = (phase.lower.copy(), phase.upper.copy())
    changed: Phase = replace(
        phase,
        end=free,
        at_end=(),
        running=ca.Function("running", [z], [place + w["input"] * spent]),
        final=ca.Function("final", [z, SX.sym("T")], [w["final"] * place]),
    )
    return Stages(changed, m, steps, method)
