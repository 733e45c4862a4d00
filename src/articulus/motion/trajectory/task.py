"""A mechanism's motion as a `Problem`: limits from its joints, ends as positions or poses of frames, costs by name.

The unknowns at every time are z = (q, v, a, u, forces of closed loops), and inverse dynamics ties them together:
tau(q, v, a) = B u + G' f. Mechanisms whose velocities are not the rates of their coordinates have those rates as unknowns, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import scipy.linalg
from casadi import SX
from scipy.interpolate import CubicSpline, make_interp_spline

from articulus.dynamics.coupled import every_joint
from articulus.dynamics.loops.free_coordinates import rows_of_split, split
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean, doubtful
from articulus.model.mechanism import Connection
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.motion.trajectory.costs import WHEN, Condition, Cost, MotionSymbols, Time
from articulus.motion.trajectory.keeping import Keep, keep_constraints
from articulus.motion.trajectory.obstacles import Clearance, clearance_constraints
from articulus.motion.trajectory.problem import Guess, Phase, PhaseConstraint, require_duration, span
from articulus.motion.trajectory.quantities import quantity
from articulus.numerics.streams import stream
from articulus.simulation.solve.goals import FramePoint, FramePose, Goal
from articulus.simulation.solve.inverse_kinematics import inverse_kinematics

WAYPOINTS = 9
"""Points of a line at which inverse kinematics makes an initial guess."""
ALLOWED = 1e-6
"""By how much what has to hold everywhere may be off at a given end [m or 1]."""
SETTLED = 1e-9
"""Step of the coordinates of flexible bodies, over 1, at which they count as settled."""
SAMPLES = 2000
"""Positions that tell the reach of a frame."""
ORDINARY = 1e-2, 1e8
"""Forces whose equations are solved as they are [N m or N]."""
BEGIN, END = np.polynomial.Polynomial([0, 1, -2, 1]), np.polynomial.Polynomial([0, 0, -1, 1])
"""Cubics of the part of the duration that has passed, with slope 1 at its beginning or at its end."""
SMALL = 1e-2
"""Least size of an unknown over the largest of its kind."""


@dataclass(frozen=True, eq=False)
class TaskColumns:
    """Places of the groups of unknowns in z."""

    q: slice
    v: slice
    a: slice
    u: slice
    f: slice
    rate: slice
    jerk: slice
    force_rate: slice
    p: slice
    p_rate: slice
    t: slice
    t_rate: slice
    size: int


@dataclass(frozen=True, eq=False)
class Task:
    """What a mechanism shall do.

    Parameters
    ----------
    mechanism : Mechanism
    q0 : positions, or one or several goals
        At the start: array, dict of names or name of a position; or `art.goals.FramePose` and `FramePoint`, which leave the rest open.
    goal : positions, or one or several goals
        At the end, likewise.
    duration : float or (float, float) [s]
        Given, or least and largest.
    cost : tuple of Cost
    actuators : sequence of str
        Joints with motors; all of one degree of freedom if not given.
    torque_limit : dict of joint to float [N m or N]
        In place of those of the joints.
    velocity_limit : dict of joint to float [rad/s or m/s]
        Likewise.
    obstacles : sequence of Clear or Apart
        What the bodies keep away from.
    keep : sequence of Keep
        What frames keep to: `OnLine`, `InBox`, `Facing`.
    friction_speed : float [rad/s or m/s]
        Speed about which dry friction of the joints is smoothed in the equations, where it is above their own; theirs if not given.
    via : sequence of positions
        Through which the initial guess goes.
    acceleration_limit : dict of joint to float [rad/s^2 or m/s^2]
    jerk_limit : dict of joint to float [rad/s^3 or m/s^3]
    torque_rate_limit : dict of joint to float [N m/s or N/s]
    conditions : sequence of Condition
    v0 : velocities or None
        At the start; at rest if not given.
    goal_velocity : velocities, "free" or None
        At the end; at rest if not given.
    parameters : dict of str to (float, float)
        Named parameters of the mechanism that the plan may choose, with their bounds.
    name : str
        Name of the phase.
    continues : bool
        Whether a phase before says where this one starts; q0 and v0 are estimates then.
    """

    mechanism: Mechanism
    q0: Any
    goal: Any
    duration: Any
    cost: tuple[Cost, ...]
    actuators: tuple[str, ...] = ()
    torque_limit: Mapping[str, float] | None = None
    velocity_limit: Mapping[str, float] | None = None
    obstacles: tuple[Clearance, ...] = ()
    keep: tuple[Keep, ...] = ()
    friction_speed: float | None = None
    via: Any = ()
    acceleration_limit: Mapping[str, float] | None = None
    jerk_limit: Mapping[str, float] | None = None
    torque_rate_limit: Mapping[str, float] | None = None
    conditions: tuple[Condition, ...] = ()
    v0: Any = None
    goal_velocity: Any = None
    parameters: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    name: str = "motion"
    continues: bool = False

    @cached_property
    def smooth_mechanism(self) -> Mechanism:
        """The mechanism whose equations are solved: with dry friction c v / sqrt(v^2 + s^2) of the wider speed s."""
        m, s = self.mechanism, self.friction_speed
        if s is None:
            return m
        wider = (
            replace(c, coulomb_speed=max(s, value_of(c.coulomb_speed))) if any(values_of(c.coulomb)) else c
            for c in m.description.connections
        )
        return m.from_description(replace(m.description, connections=tuple(wider)))

    @cached_property
    def rubbing(self) -> tuple[str, ...]:
        """Joints with dry friction."""
        return tuple(c.name for c in self.mechanism.description.connections if any(values_of(c.coulomb)))

    def friction_left(self, z: np.ndarray) -> np.ndarray:
        """Return what forces of the motors at the points, (points, motors), lack because dry friction was smoothed."""
        if self.friction_speed is None:
            return np.zeros((len(z), len(self.motors)))
        c, still = self.columns, np.zeros((len(z), self.mechanism.nv))
        own, wide = (
            m.tree.inverse_dynamics(z[:, c.q], z[:, c.v], still)
            for m in (self.mechanism, self.smooth_mechanism)
        )
        return np.asarray(own - wide)[:, self.motors]

    @cached_property
    def top_speed(self) -> float:
        """Largest speed of the initial guess [rad/s or m/s]."""
        T = float(np.sqrt(np.prod(span(self.duration))))
        z = self._guess(self.first, self.last())(np.linspace(0, 1, 21), T)
        return float(np.abs(z[:, self.columns.v]).max())

    @cached_property
    def columns(self) -> TaskColumns:
        """Where the groups are in z."""
        m, jerks, motors = self.mechanism, bool(self.jerk_limit), len(self.motors)
        sizes = [m.nq, m.nv, m.nv, motors, self._loop_rows.size, m.nq if self._turning else 0]
        sizes += [m.nv if jerks else 0, motors if self.torque_rate_limit and not jerks else 0]
        sizes += 2 * [len(self.parameters)] + 2 * [int(self.clock)]
        ends = np.cumsum([0, *sizes]).tolist()
        groups = [slice(*pair) for pair in itertools.pairwise(ends)]
        return TaskColumns(*groups, ends[-1])  # type: ignore[call-arg, arg-type]

    @cached_property
    def clock(self) -> bool:
        """Whether a cost or a condition depends on time, which is a state then."""
        m = self.mechanism
        t = SX.sym("t")
        names = ("q", m.nq), ("v", m.nv), ("a", m.nv), ("u", len(self.motors))
        q, v, a, u = (SX.sym(*each) for each in names)
        motion = MotionSymbols(
            m,
            q,
            v,
            a,
            u,
            self._force_sizes,
            t,
            self._all_parameters(SX.sym("p", len(self.parameters))),
            self._limited_rates(SX.sym("rate", len(self._rate_limits))),
        )
        rows = [each.function(motion) for each in self.conditions]
        for each in self.cost:
            rows += [x for x in (each.running(motion), each.final(motion, SX.sym("T"))) if x is not None]
        return any(ca.depends_on(SX(row), t) for row in rows)

    def symbols(self, z: SX) -> MotionSymbols:
        """Return the motion at one time, of the unknowns z there."""
        c = self.columns
        return MotionSymbols(
            self.mechanism,
            z[c.q],
            z[c.v],
            z[c.a],
            z[c.u],
            self._force_sizes,
            z[c.t],
            self._all_parameters(z[c.p]),
            self._limited_rates(z[c.jerk if self.jerk_limit else c.force_rate]),
        )

    @cached_property
    def _rate_limits(self) -> np.ndarray:
        """Limits of jerks, or else of rates of the motors' forces, in their order in z; infinite where there is none."""
        if self.jerk_limit:
            return self._by_velocity(self.jerk_limit)
        return (
            self._by_velocity(self.torque_rate_limit)[self.motors] if self.torque_rate_limit else np.zeros(0)
        )

    def _limited_rates(self, rates: SX) -> SX:
        """Return jerks or rates of forces over their limits, those that have one."""
        most = self._rate_limits
        limited = np.flatnonzero(np.isfinite(most)).tolist()
        return rates[limited] / ca.DM(most[limited]) if limited else SX(0, 1)

    def _all_parameters(self, chosen: SX) -> SX:
        """Return all named parameters of the mechanism: the values of the model, and symbols for those that the plan may choose."""
        names = list(self.parameters)
        return ca.vertcat(
            SX(0, 1),
            *(
                chosen[names.index(p.name)] if p.name in names else SX(value_of(p))
                for p in self.mechanism.description.parameters
            ),
        )

    @property
    def _force_sizes(self) -> np.ndarray:
        """Limits of the forces of the motors, 1 where there is none."""
        limits = np.array([self._effort(k) for k in self.motors])
        return np.where(np.isfinite(limits), limits, 1.0)

    @property
    def _turning(self) -> bool:
        """Whether some velocities are not the rates of coordinates."""
        return self.mechanism.nq != self.mechanism.nv

    @cached_property
    def _loop_rows(self) -> np.ndarray:
        """Constraints that do not follow from others; at a singular end there are fewer than on the way."""
        m = self.mechanism
        if not m.constraint_names:
            return np.zeros(0, dtype=int)
        first, last = (rows_of_split(m.constraint_jacobian(q, 0.0)) for q in (self.first, self.last()))
        return np.array(sorted(first if len(first) >= len(last) else last), dtype=int)

    @cached_property
    def motor_joints(self) -> tuple[str, ...]:
        """Joints with motors, in the order of u."""
        m = self.mechanism
        joints = self.actuators or tuple(j for j in m.joint_names if _width(m, j) == 1)
        for joint in joints:
            if joint not in m.joint_names:
                raise InputError(f"actuators: found '{joint}'; {did_you_mean(joint, m.joint_names)}")
            m.description.require_independent(joint, "actuators")
        if len(set(joints)) < len(joints) or not any(_width(m, j) for j in joints):
            raise InputError(
                f"actuators: found {', '.join(joints) or 'none of one degree of dof'}; expected joints that move, each once, in which "
                "motors act"
            )
        return joints

    @cached_property
    def motors(self) -> list[int]:
        """Numbers of the velocities that motors act on, in the order of u."""
        m = self.mechanism
        return [k for j in self.motor_joints for k in range(*m.v_slice(j).indices(m.nv))]

    @cached_property
    def first(self) -> np.ndarray:
        """A position at the start, (nq,): the given one, or one that meets the goals there; flexible bodies bent as they rest there, unless their
        coordinates are given."""
        if self.start_goals:
            return self._meet("q0", self.start_goals, None)
        return self.settle(self._position("q0", self.q0))

    @cached_property
    def first_velocity(self) -> np.ndarray:
        """Velocity at the start, (nv,)."""
        return self._velocity("v0", self.v0)

    @cached_property
    def last_velocity(self) -> np.ndarray:
        """Velocity at the end, (nv,); zero where it is free."""
        return self._velocity("goal_velocity", None if self.velocity_free else self.goal_velocity)

    @property
    def velocity_free(self) -> bool:
        """Whether the velocity at the end is open."""
        return isinstance(self.goal_velocity, str) and self.goal_velocity == "free"

    def _velocity(self, where: str, given: Any) -> np.ndarray:
        m = self.mechanism
        if given is None:
            return np.zeros(m.nv)
        try:
            v = np.asarray(m.velocities(given), dtype=float)
        except (TypeError, ValueError):
            v = np.zeros(0)
        if v.shape != (m.nv,) or not np.isfinite(v).all():
            raise InputError(
                f"{where}: found {given!r}; expected {m.nv} finite numbers, of {', '.join(m.v_names)}"
            )
        return v

    def _position(self, where: str, given: Any) -> np.ndarray:
        """Return a given position, (nq,)."""
        m = self.mechanism
        if given is None:
            raise InputError(f"{where}: found None; expected positions of {', '.join(m.q_names)}")
        q = np.asarray(m.positions(given), dtype=float)
        if q.shape != (m.nq,) or not np.isfinite(q).all():
            raise InputError(
                f"{where}: found {given!r}; expected {m.nq} finite numbers, of {', '.join(m.q_names)}"
            )
        return q

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the velocities and of the coordinates of flexible bodies."""
        d = self.mechanism.description
        pairs = [d.mode_slices(b.name) for b in d.bodies if b.modes is not None]
        return tuple(  # type: ignore[return-value]
            np.array([k for pair in pairs for k in range(pair[side].start, pair[side].stop)], dtype=int)
            for side in (0, 1)
        )

    @property
    def _rests(self) -> bool:
        """Whether flexible bodies of an open mechanism have to come to rest, which their coordinates have to fit."""
        return bool(self.modes[0].size) and not self.mechanism.constraint_names

    def settle(self, q: np.ndarray) -> np.ndarray:
        """Return a position with flexible bodies bent as they rest there, where their coordinates are zero."""
        m, (rows, places) = self.mechanism, self.modes
        if not self._rests or q[places].any():
            return q
        q, still = q.copy(), np.zeros(m.nv)
        for _ in range(20):
            slope = np.asarray(m.inverse_dynamics_derivatives(q, still, still)[0])[np.ix_(rows, rows)]
            step = np.linalg.solve(slope, m.inverse_dynamics(q, still, still)[rows])
            q[places] -= step
            if np.abs(step).max() < SETTLED:
                break
        return q

    @cached_property
    def goals(self) -> tuple[FramePoint | FramePose, ...]:
        """Goals of frames at the end; none if positions are given."""
        return _frame_goals("goal", self.goal)

    @cached_property
    def start_goals(self) -> tuple[FramePoint | FramePose, ...]:
        """Goals of frames at the start; none if positions are given."""
        return _frame_goals("q0", self.q0)

    def last(self) -> np.ndarray:
        """Return a position at the end, (nq,): the given one, or one that meets the goals."""
        return self._last

    @cached_property
    def _last(self) -> np.ndarray:
        if not (goals := self.goals):
            return self._nearest(self.settle(self._position("goal", self.goal)))
        return self._nearest(self._meet("goal", goals, self.first))

    def _meet(
        self, where: str, goals: Sequence[FramePoint | FramePose], estimate: np.ndarray | None
    ) -> np.ndarray:
        """Return a position that meets goals, (nq,)."""
        reach = inverse_kinematics(self.mechanism, goals, guess=estimate)
        if not reach.ok:
            hint = self._reach() if where == "goal" else ""
            raise InputError(
                f"{where}: out of reach; the nearest position found is {reach.distance:.3g} m and {reach.angle:.3g} rad away. "
                f"Expected a target within the limits of the joints{hint}"
            )
        return np.asarray(reach.q)

    def _nearest(self, q: np.ndarray) -> np.ndarray:
        """Return a position with its quaternions of the sign that the way from the start arrives at."""
        m, first = self.mechanism, self.first
        return m.integrate_position(first, m.position_difference(first, q)) if self._turning else q

    def _reach(self) -> str:
        """Return how far the frames of the goals come from the ground's origin, and how far the goals are, in words."""
        m = self.mechanism
        if m.constraint_names or self._turning:
            return ""
        c = self.columns
        lower, upper = np.full(c.size, -np.inf), np.full(c.size, np.inf)
        self._limits(lower, upper)
        low, high = (np.clip(side[c.q], -np.pi, np.pi) for side in (lower, upper))
        q = np.vstack([self.first, np.random.default_rng(0).uniform(low, high, (SAMPLES, m.nq))])
        texts = []
        for goal in self.goals:
            away = np.linalg.norm(m.pose(goal.frame, q)[:, :3, 3], axis=1)
            point = goal.point if isinstance(goal, FramePoint) else np.asarray(goal.pose)[:3, 3]
            texts.append(
                f"; in {SAMPLES} positions at random '{goal.frame}' is {away.min():.3g} to {away.max():.3g} m from the ground's origin, "
                f"the target {np.linalg.norm(point):.3g} m"
            )
        return "".join(texts)

    def phase(self) -> Phase:
        """Return the task as a phase."""
        m, c = self.mechanism, self.columns
        self._require_no_given_motion()
        self._require_served()
        duration = span(self.duration)
        require_duration(self.name, duration)
        z = SX.sym("z", c.size)
        lower, upper = np.full(c.size, -np.inf), np.full(c.size, np.inf)
        scale = np.ones(c.size)
        self._limits(lower, upper)
        first, last = self.first, self.last()
        self._require_closed("q0", first)
        self._require_closed("goal", last)
        motion = self.symbols(z)
        path = keep_constraints(m, self.keep, motion, z, first)
        path += clearance_constraints(self.obstacles, motion, z)
        path += self._coupled_limits(z) + self._force_rate_limits(z)
        chosen = {
            when: tuple(x.constraint(motion, z) for x in self.conditions if x.when == when) for when in WHEN
        }
        path += chosen["path"]
        if not self.start_goals and not self.continues:
            self._check(path, "q0", first, self.first_velocity)
        if not self.goals:
            self._check(path, "goal", last, self.last_velocity)
        at_start = tuple(_frame_goal(motion, goal, z) for goal in self.start_goals)
        at_end = tuple(_frame_goal(motion, goal, z) for goal in self.goals)
        at_end += (self._rest(z),) if self.goals and self._rests else ()
        guess = self._guess(first, last)
        forces = self._sizes(guess, duration, scale, upper)
        return Phase(
            self.name,
            self._names(),
            self._rates(),
            self._inputs(),
            self._equations(z, forces),
            duration,
            lower,
            upper,
            scale,
            self._start_bounds(lower, upper, first),
            self._end_bounds(lower, upper, last),
            path=path,
            at_start=at_start + chosen["start"],
            at_end=at_end + chosen["end"],
            running=self._running(z),
            final=self._final(z, duration),
            guess=guess,
        )

    def _rates(self) -> dict[int, int]:
        """Return the place of the rate of each state."""
        c = self.columns
        pairs = [(c.q, c.rate if self._turning else c.v), (c.v, c.a)]
        if self.jerk_limit:
            pairs.append((c.a, c.jerk))
        elif self.torque_rate_limit:
            pairs.append((c.u, c.force_rate))
        pairs += [(c.p, c.p_rate), (c.t, c.t_rate)]
        return {
            state: rate.start + k
            for states, rate in pairs
            for k, state in enumerate(range(states.start, states.stop))
        }

    def _inputs(self) -> tuple[int, ...]:
        """Return the places of what may be chosen freely: forces, their rates, or jerks, whichever are limited."""
        c = self.columns
        part = c.jerk if self.jerk_limit else c.force_rate if self.torque_rate_limit else c.u
        return tuple(range(part.start, part.stop))

    def _require_served(self) -> None:
        """Refuse what a task cannot have together."""
        m = self.mechanism
        if self.jerk_limit and (sorted(self.motors) != list(range(m.nv)) or m.constraint_names):
            raise InputError(
                "jerk_limit: found a mechanism with closed loops or with coordinates that no actuator moves; expected an actuator for "
                "every degree of freedom of an open mechanism. acceleration_limit and torque_rate_limit serve the others"
            )
        for name, bounds in self.parameters.items():
            if name not in (known := [p.name for p in m.description.parameters]):
                raise InputError(f"parameters: found '{name}'; {did_you_mean(name, known)}")
            low, high = span(bounds)
            if not -np.inf < low < high < np.inf:
                raise InputError(
                    f"parameters: found {bounds!r} for '{name}'; expected a pair of finite bounds, the lower one first"
                )
        if self.parameters and (m.constraint_names or m.description.couplings):
            raise InputError(
                "parameters: found a mechanism with closed loops or couplings; expected an open one, whose positions do not depend on them"
            )

    def _start_bounds(
        self, lower: np.ndarray, upper: np.ndarray, first: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds at the start: at a position unless there are goals of frames, with a velocity; at rest without acceleration."""
        m, c, start = self.mechanism, self.columns, (lower.copy(), upper.copy())
        if self.continues:
            return start
        if not self.start_goals:
            _fix(start, c.q, first, range(m.nq))
        _fix(start, c.v, self.first_velocity, range(m.nv))
        if self._builds_up and not self.first_velocity.any():
            _fix(start, c.a, np.zeros(m.nv), self.motors)
        if self.clock:
            _fix(start, c.t, np.zeros(1), [0])
        return start

    @property
    def _builds_up(self) -> bool:
        """Whether accelerations cannot jump, so that a mechanism at rest has none."""
        return bool(self.jerk_limit or self.torque_rate_limit) and not self.mechanism.constraint_names

    def _force_rate_limits(self, z: SX) -> tuple[PhaseConstraint, ...]:
        """Return the limits of the rates of forces where jerks are the inputs: by the chain rule along the motion."""
        if not (self.jerk_limit and self.torque_rate_limit):
            return ()
        c = self.columns
        limits = self._by_velocity(self.torque_rate_limit)[self.motors]
        forces = self._quantity("inverse_dynamics", z, self.smooth_mechanism.tree)(z[c.q], z[c.v], z[c.a])
        rates = (
            ca.jtimes(forces, z[c.q], z[c.v])
            + ca.jtimes(forces, z[c.v], z[c.a])
            + ca.jtimes(forces, z[c.a], z[c.jerk])
        )
        rows = [k for k, limit in enumerate(limits) if np.isfinite(limit)]
        row = ca.vertcat(*(rates[self.motors[k]] / limits[k] for k in rows))
        ones = np.ones(len(rows))
        return (PhaseConstraint("torque rate over its limit", ca.Function("rates", [z], [row]), -ones, ones),)

    def _quantity(self, name: str, z: SX, mechanism: Any = None, frames: Sequence[str] = ()) -> ca.Function:
        """Return a quantity of a mechanism with the parameters of z."""
        return quantity(mechanism or self.mechanism, name, frames, self._all_parameters(z[self.columns.p]))

    def _require_no_given_motion(self) -> None:
        """Refuse constraints that change with time: the equations of a phase are the same at every time."""
        m = self.mechanism
        if not m.constraint_names:
            return
        q, v, t = SX.sym("q", m.nq), SX.sym("v", m.nv), SX.sym("t")
        rows = ca.horzcat(quantity(m, "constraint_residual")(q, t), quantity(m, "constraint_rate")(q, v, t))
        for name, row in zip(m.constraint_names, ca.vertsplit(rows)):
            if ca.depends_on(row, t):
                raise InputError(
                    f"mechanism: found the constraint '{name}', which changes with time; expected closed loops and others that do not. "
                    "Plans do not support motions prescribed over time (Prescribed, PrescribedPoint) yet"
                )

    def look_ahead(self, hold: bool = True) -> None:
        """Tell what can be told before a search: refuse a way that speed limits exclude, and (hold) a goal that motors cannot hold at rest."""
        c = self.columns
        lower, upper = np.full(c.size, -np.inf), np.full(c.size, np.inf)
        self._limits(lower, upper)
        last = self.last()
        if not self.goals and not self.start_goals and not self._turning:
            self._require_time(last - self.first, upper[c.v], span(self.duration)[1])
        if not self.mechanism.constraint_names and not self.velocity_free and not self.last_velocity.any():
            self._require_hold(last, lower[c.u], upper[c.u], hold)

    def _require_time(self, way: np.ndarray, speed: np.ndarray, duration: float) -> None:
        """Refuse a way that is longer than the limit of a speed times the longest duration."""
        share = np.abs(way) / (speed * duration)
        if share.max(initial=0.0) > 1 + ALLOWED:
            k = int(share.argmax())
            raise InputError(
                f"velocity_limit: found the limit {speed[k]:.4g} rad/s or m/s of {self.mechanism.v_names[k]}, which has {abs(way[k]):.4g} rad or m to go "
                f"within {duration:.4g} s; expected at least {abs(way[k]) / duration:.4g}, or {abs(way[k]) / speed[k]:.4g} s"
            )

    def _require_hold(self, q: np.ndarray, lower: np.ndarray, upper: np.ndarray, hold: bool) -> None:
        """Refuse a goal at which a motor needs more than its limit to hold the mechanism at rest, or warn of it."""
        m = self.mechanism
        rest = np.zeros(m.nv)
        forces = np.asarray(m.inverse_dynamics(q, rest, rest))
        names = [name.removeprefix("u.") for name in self._names()[self.columns.u]]
        hold_forces = forces[[m.v_names.index(name) for name in names]]
        limit = np.where(hold_forces > 0, upper, lower)
        share = np.divide(hold_forces, limit, out=np.full(len(hold_forces), np.inf), where=limit != 0)
        share[hold_forces == 0] = 0.0
        if share.max(initial=0.0) > 1 + ALLOWED:
            k = int(share.argmax())
            text = (
                f"plan: holding still at the goal takes {share[k]:.3g} of the limit of '{names[k]}' ({abs(hold_forces[k]):.4g} N m or N of "
                f"{abs(limit[k]):.4g}); expected a goal that the motors can hold, or larger limits. A motion that ends there does not stay"
            )
            if hold:
                raise InputError(f"{text}; hold=False searches for one all the same")
            doubtful(text)

    def _require_closed(self, where: str, q: np.ndarray) -> None:
        """Refuse an end at which closed loops are open: they would stay so on the way."""
        m = self.mechanism
        if not m.constraint_names:
            return
        off = np.abs(m.constraint_residual(q, 0.0))
        if off.max() > ALLOWED:
            raise InputError(
                f"{where}: found constraint '{m.constraint_names[int(off.argmax())]}' open by {off.max():.3g}; expected a position that "
                "closes all loops. articulus.assemble finds one"
            )

    def _rest(self, z: SX) -> PhaseConstraint:
        """Return that nothing bends any more at the end: no force is left on the coordinates of flexible bodies."""
        m, c, rows = self.mechanism, self.columns, self.modes[0].tolist()
        still = SX.zeros(m.nv)
        force = self._quantity("inverse_dynamics", z)(z[c.q], still, still)[rows]
        return PhaseConstraint(
            "flexible bodies at rest",
            ca.Function("rest", [z], [force]),
            np.zeros(len(rows)),
            np.zeros(len(rows)),
        )

    def _check(self, path: tuple[PhaseConstraint, ...], where: str, q: np.ndarray, v: np.ndarray) -> None:
        """Refuse an end that is not where the whole motion has to be."""
        c, z = self.columns, np.zeros(self.columns.size)
        z[c.q], z[c.v], z[c.p] = q, v, self._nominal
        unknown = [k for k in range(c.size) if not (c.q.start <= k < c.v.stop or c.p.start <= k < c.p.stop)]
        for each in path:
            if np.isin(each.function.jac_sparsity(0, 0).get_triplet()[1], unknown).any():
                continue  # of accelerations, forces or time, which only the search tells
            found = np.array(each.function(z)).ravel()
            off = np.maximum(each.lower - found, found - each.upper)
            if off.max() > ALLOWED:
                raise InputError(
                    f"{where}: found {each.name} off by {off.max():.4g}; expected it to hold there, as along the whole motion"
                )

    @property
    def _nominal(self) -> np.ndarray:
        """Values of the model of the parameters that the plan may choose."""
        values = {p.name: value_of(p) for p in self.mechanism.description.parameters}
        return np.array([values[name] for name in self.parameters])

    def _sizes(
        self, guess: Guess, duration: tuple[float, float], scale: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        """Set the sizes of speeds, accelerations and forces: what the guess takes, where limits are wider.

        Return what the equations of motion are divided by, (nv,): a power of 1000 near their forces where these are far from 1, which makes
        the solver's tolerance mean as much for millimetres as for cranes. Most are left as they are: other numbers are other native code.
        """
        m, c, T = self.mechanism, self.columns, float(np.sqrt(duration[0] * duration[1]))
        z = guess(np.linspace(0, 1, 21), T)
        largest = np.abs(z).max(0)
        forces = np.abs(m.tree.inverse_dynamics(z[:, c.q], z[:, c.v], z[:, c.a])).max(0)
        forces = np.maximum(forces, SMALL * forces.max())
        ordinary = ((forces > ORDINARY[0]) & (forces < ORDINARY[1])) | (forces == 0)
        if m.constraint_names and not ordinary.all():  # of closed loops the guess has no forces
            largest[c.u] = forces[self.motors]
            scale[c.f] = forces.max()
        for part in (c.v, c.a, c.u):
            typical = np.maximum(largest[part], SMALL * largest[part].max(initial=0.0))
            scale[part] = np.minimum(upper[part], np.where(typical > 0, typical, 1.0))
        for part, below in ((c.jerk, c.a), (c.force_rate, c.u)):
            if part.stop > part.start:
                scale[part] = np.minimum(upper[part], 10 * scale[below] / T)
        ranges = np.array([span(each) for each in self.parameters.values()]).reshape(-1, 2)
        scale[c.p] = np.abs(ranges).max(1, initial=0.0)
        scale[c.t] = duration[1]
        return np.where(ordinary, 1.0, 1000.0 ** np.round(np.log10(np.where(ordinary, 1.0, forces)) / 3))

    def _end_bounds(
        self, lower: np.ndarray, upper: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds at the end: with a velocity, and at a position unless there are goals of frames.

        Closed loops, and of quaternions the unit length, determine some coordinates and velocities by the others, which are left open.
        """
        m, c, end = self.mechanism, self.columns, (lower.copy(), upper.copy())
        G = np.asarray(m.constraint_jacobian(last, 0.0)) if m.constraint_names else np.zeros((0, m.nv))
        if not self.velocity_free:
            _fix(end, c.v, self.last_velocity, split(G).independent)
            if self._builds_up and not self.last_velocity.any():
                _fix(end, c.a, np.zeros(m.nv), self.motors)
        if not self.goals:
            turn = np.asarray(m.position_rate(np.tile(last, (m.nv, 1)), np.eye(m.nv))).T  # dq/dt = turn v
            lengths = scipy.linalg.null_space(turn.T).T  # lengths dq/dt = 0
            loops = G[m.description.holonomic_rows] @ np.linalg.pinv(turn)
            where = split(np.vstack([lengths, loops]))
            _fix(end, c.q, last, where.independent)
            for k in where.dependent:
                if np.any(lengths[:, k]):  # of a quaternion: the other sign would be another position
                    end[int(last[k] < 0)][c.q.start + k] = 0.0
        return end

    def _names(self) -> tuple[str, ...]:
        m = self.mechanism
        motors = [m.v_names[k] for k in self.motors]
        rates = m.q_names if self._turning else ()
        return (
            *(f"q.{n}" for n in m.q_names),
            *(f"v.{n}" for n in m.v_names),
            *(f"a.{n}" for n in m.v_names),
            *(f"u.{n}" for n in motors),
            *(f"loop force {k}" for k in self._loop_rows),
            *(f"rate of q.{n}" for n in rates),
            *(f"jerk.{n}" for n in (m.v_names if self.jerk_limit else ())),
            *(f"rate of u.{n}" for n in (motors if self.torque_rate_limit and not self.jerk_limit else ())),
            *(f"p.{n}" for n in self.parameters),
            *(f"rate of p.{n}" for n in self.parameters),
            *(("t", "rate of t") if self.clock else ()),
        )

    def _limits(self, lower: np.ndarray, upper: np.ndarray) -> None:
        m, c = self.mechanism, self.columns
        for connection in m.description.connections:
            name, declared = connection.name, connection.limits
            if name not in m.joint_names or not _width(m, name):
                continue
            q, v = m.q_slice(name), m.v_slice(name)
            if q.stop - q.start == v.stop - v.start:
                for side, numbers in ((lower, declared.lower), (upper, declared.upper)):
                    if numbers:
                        side[c.q][q] = values_of(numbers)
            upper[c.v][v] = self._speed(connection)
            lower[c.v][v] = -upper[c.v][v]
        for k, motor in enumerate(self.motors):
            upper[c.u.start + k] = self._effort(motor)
            lower[c.u.start + k] = -upper[c.u.start + k]
        for part, limits, chosen in (
            (c.a, self.acceleration_limit, slice(None)),
            (c.jerk, self.jerk_limit, slice(None)),
            (c.force_rate, self.torque_rate_limit, self.motors),
        ):
            if limits and part.stop > part.start:
                upper[part] = self._by_velocity(limits)[chosen]
                lower[part] = -upper[part]
        for k, bounds in enumerate(self.parameters.values()):
            lower[c.p.start + k], upper[c.p.start + k] = span(bounds)

    def _by_velocity(self, limits: Mapping[str, float] | None) -> np.ndarray:
        """Return limits by joint as limits of all velocities, (nv,); infinite where there is none."""
        m = self.mechanism
        out = np.full(m.nv, np.inf)
        for joint, limit in (limits or {}).items():
            out[m.v_slice(joint)] = limit
        return out

    def _speed(self, connection: Connection) -> Any:
        """Return the limits of the velocities of a joint."""
        if self.velocity_limit and connection.name in self.velocity_limit:
            return self.velocity_limit[connection.name]
        held = connection.limits.velocity
        return values_of(held) if held else np.inf

    def _coupled_limits(self, z: SX) -> tuple[PhaseConstraint, ...]:
        """Return the limits of the joints that follow others, which have no entries in z."""
        d, c = self.mechanism.description, self.columns
        if not d.couplings:
            return ()
        tree, made = d.uncoupled, []
        q, v, _ = every_joint(d)(z[c.q], z[c.v], [value_of(p) for p in d.parameters])
        for connection in (each for each in d.connections if each.name in d.coupled):
            name, held = connection.name, connection.limits
            lower, upper = values_of(held.lower or (-np.inf,)), values_of(held.upper or (np.inf,))
            speed = np.ravel(self._speed(connection))
            rows = {
                f"position of {name}": (q[tree.q_slices[name]], np.array(lower), np.array(upper)),
                f"velocity of {name}": (v[tree.v_slices[name]], -speed, speed),
            }
            for what, (row, low, high) in rows.items():
                if np.isfinite([low, high]).any():
                    made.append(PhaseConstraint(what, ca.Function("limits", [z], [row]), low, high))
        return tuple(made)

    def _effort(self, motor: int) -> float:
        m = self.mechanism
        name = next(j for j in m.joint_names if motor in range(*m.v_slice(j).indices(m.nv)))
        if self.torque_limit and name in self.torque_limit:
            return float(self.torque_limit[name])
        held = next(c for c in m.description.connections if c.name == name).limits.effort
        return float(values_of(held)[motor - m.v_slice(name).start]) if held else np.inf

    def _equations(self, z: SX, forces: np.ndarray) -> ca.Function:
        """Return what is zero at every time, the equations of motion over the given forces (nv,)."""
        m, c = self.mechanism, self.columns
        q, v, a = z[c.q], z[c.v], z[c.a]
        residual = self._quantity("inverse_dynamics", z, self.smooth_mechanism.tree)(q, v, a)
        for k, motor in enumerate(self.motors):
            residual[motor] -= z[c.u.start + k]
        parts = [residual]
        if (rows := self._loop_rows).size:
            G = quantity(m, "constraint_jacobian")(q, 0)[rows.tolist(), :]
            parts[0] = residual - ca.mtimes(G.T, z[c.f])
            parts.append(quantity(m, "constraint_acceleration")(q, v, a, 0)[rows.tolist()])
        parts[0] = parts[0] / ca.DM(forces)
        if self._turning:
            parts.append(z[c.rate] - quantity(m, "position_rate")(q, v))
        parts += [z[c.p_rate]] if self.parameters else []
        parts += [z[c.t_rate] - 1] if self.clock else []
        return ca.Function("equations", [z], [ca.vertcat(*parts)])

    def _running(self, z: SX) -> ca.Function | None:
        motion, total = self.symbols(z), SX(0)
        for each in self.cost:
            if each.weight and (rate := each.running(motion)) is not None:
                total += each.weight * rate
        return None if total.is_zero() else ca.Function("running", [z], [total])

    def _final(self, z: SX, duration: tuple[float, float]) -> ca.Function | None:
        motion, T, total = self.symbols(z), SX.sym("T"), SX(0)
        for each in self.cost:
            if each.weight and isinstance(each, Time) and duration[0] == duration[1]:
                raise InputError(
                    f"cost: found a weight on time with the given duration {duration[0]:g} s; expected bounds such as duration=(0.1, 10)"
                )
            if each.weight and (end := each.final(motion, T)) is not None:
                total += each.weight * end
        return None if total.is_zero() else ca.Function("final", [z, T], [total])

    def _guess(self, first: np.ndarray, last: np.ndarray) -> Guess:
        """Return a way between the ends, smooth in time, with the forces of inverse dynamics."""
        return SmoothGuess(self, first, self._way(first, last))

    def random_vias(self, count: int, seed: int) -> list[np.ndarray]:
        """Return positions half-way that lie at random about the straight way, within the limits of the joints, (1, nq) each.

        They are as far from it as a quarter of the way of the joint that moves most, or farther.
        """
        m, first, last = self.mechanism, self.first, self.last()
        whole = m.position_difference(first, last)
        size = max(float(np.abs(whole).max()), 1e-3)
        lower, upper = np.full(self.columns.size, -np.inf), np.full(self.columns.size, np.inf)
        self._limits(lower, upper)
        rigid = np.ones(m.nv)
        rigid[self.modes[0]] = 0.0
        made = []
        for r in stream(seed).uniform(-1, 1, (count, m.nv)):
            q = m.integrate_position(first, whole / 2 + rigid * size * r * (0.25 / np.abs(r).max() + 0.5))
            made.append(np.clip(q, lower[self.columns.q], upper[self.columns.q])[None, :])
        return made

    def _way(self, first: np.ndarray, last: np.ndarray) -> Callable[..., np.ndarray]:
        """Return the steps from the start at fractions of the way: straight, or through positions on the line of a frame."""
        m = self.mechanism
        steps = np.array([np.zeros(m.nv), m.position_difference(first, last)])
        if len(self.via):
            passed = [m.position_difference(first, self._position("guess", q)) for q in self.via]
            steps = np.array([steps[0], *passed, steps[1]])
            return CubicSpline(np.linspace(0, 1, len(steps)), steps)
        line = next((each for each in self.keep if each.way(2) is not None), None)
        if line is not None:
            points, q = line.way(WAYPOINTS), first
            assert points is not None
            passed = [steps[0]]
            for point in points[1:-1]:
                q = inverse_kinematics(m, FramePoint(line.frame, point), guess=q).q
                passed.append(m.position_difference(first, q))
            steps = np.array([*passed, steps[1]])
        s = np.linspace(0, 1, len(steps))
        return CubicSpline(s, steps) if len(steps) > 2 else make_interp_spline(s, steps, k=1)


@dataclass(frozen=True, eq=False)
class SmoothGuess:
    """An initial guess along steps from a position that begins and ends at rest, with the forces of inverse dynamics.

    Parameters
    ----------
    task : Task
    first : array (nq,)
        Where it begins.
    way : function of fractions of the way, and the order of a derivative
        Steps from there, (count, nv).
    """

    task: Task
    first: np.ndarray
    way: Callable[..., np.ndarray]

    def __call__(self, fractions: np.ndarray, T: float) -> np.ndarray:
        task, s = self.task, fractions
        m, c = task.mechanism, task.columns
        along = s**3 * (10 - 15 * s + 6 * s**2)
        rate = (30 * s**2 * (1 - s) ** 2)[:, None] / T
        bend = (60 * s * (1 - s) * (1 - 2 * s))[:, None] / T**2
        z = np.zeros((len(s), c.size))
        steps, v = self.way(along), rate * self.way(along, 1)
        a = bend * self.way(along, 1) + rate**2 * self.way(along, 2)
        for end, h in ((task.first_velocity, BEGIN), (task.last_velocity, END)):
            if end.any():  # the cubics with slope 1 at one end, 0 at the other, and no value at both
                steps, v, a = (
                    steps + T * h(s)[:, None] * end,
                    v + h.deriv()(s)[:, None] * end,
                    a + h.deriv(2)(s)[:, None] * end / T,
                )
        z[:, c.q] = m.integrate_position(np.broadcast_to(self.first, (len(s), m.nq)), steps)
        z[:, c.v], z[:, c.a] = v, a
        z[:, c.p] = task._nominal
        if task.clock:
            z[:, c.t], z[:, c.t_rate] = (s * T)[:, None], 1.0
        if not m.constraint_names:
            z[:, c.u] = m.inverse_dynamics(z[:, c.q], z[:, c.v], z[:, c.a])[:, task.motors]
        if m.nq != m.nv:
            z[:, c.rate] = m.position_rate(z[:, c.q], z[:, c.v])
        return z


def _width(mechanism: Mechanism, joint: str) -> int:
    part = mechanism.v_slice(joint)
    return part.stop - part.start


def _fix(
    bounds: tuple[np.ndarray, np.ndarray], part: slice, values: np.ndarray, chosen: Sequence[int]
) -> None:
    """Fix the chosen entries of a part."""
    places = np.array(chosen, dtype=int)
    for side in bounds:
        side[part.start + places] = values[places]


def _frame_goals(where: str, given: Any) -> tuple[FramePoint | FramePose, ...]:
    """Return given goals of frames; none if positions are given."""
    goals = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not goals or not all(isinstance(g, Goal) for g in goals):
        return ()
    for goal in goals:
        if not isinstance(goal, FramePose | FramePoint):
            raise InputError(
                f"{where}: found {type(goal).__name__}; expected positions, art.goals.FramePose or art.goals.FramePoint"
            )
    return goals


def _pose_and_target(pose: SX, goal: FramePoint | FramePose) -> tuple[SX, ca.DM]:
    """Return where the frame of a goal is and where it shall be, (4, 4) or (3, 1)."""
    if isinstance(goal, FramePoint):
        return pose[:3, 3], ca.DM(np.asarray(goal.point, dtype=float))
    return pose, ca.DM(np.asarray(goal.pose, dtype=float))


def _frame_goal(motion: MotionSymbols, goal: FramePoint | FramePose, z: SX) -> PhaseConstraint:
    """Return a goal as a constraint on z."""
    pose, target = _pose_and_target(motion.pose(goal.frame), goal)
    rows, upper = pose[:3, -1] - target[:3, -1], np.zeros(3)
    if pose.numel() > 3:
        turn = ca.mtimes(target[:3, :3].T, pose[:3, :3])
        rows = ca.vertcat(
            rows,
            (turn[2, 1] - turn[1, 2]) / 2,
            (turn[0, 2] - turn[2, 0]) / 2,
            (turn[1, 0] - turn[0, 1]) / 2,
            (ca.trace(turn) - 1)
            / 2,  # cosine of the angle left: the sines before are zero at half a turn, too
        )
        upper = np.array([0.0] * 6 + [np.inf])
    return PhaseConstraint(
        f"{goal.frame} at its goal", ca.Function("goal", [z], [rows]), np.zeros(len(upper)), upper
    )


def off_goal(m: Mechanism, goal: FramePoint | FramePose, q: SX) -> SX:
    """Return the squared distance of a frame from its goal [m^2], plus 2 (1 - cos) of the angle between them."""
    pose, target = _pose_and_target(quantity(m, "pose", [goal.frame])(q), goal)
    off = ca.sumsqr(pose[:3, -1] - target[:3, -1])
    return off + ca.sumsqr(pose[:3, :3] - target[:3, :3]) / 2 if pose.numel() > 3 else off
