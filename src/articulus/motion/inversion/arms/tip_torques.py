"""`tip_torques`: joint forces that move the tip of a mechanism with flexible bodies along a path, from before to after the motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, doubtful
from articulus.model.mechanism.constraint.frame_coordinates import LENGTHS
from articulus.motion.inversion.arms import nominal
from articulus.motion.inversion.arms.accessibility import require_access
from articulus.motion.inversion.arms.collocation import CollocationGrid
from articulus.motion.inversion.arms.newton import Trajectory, fixed_point, newton
from articulus.motion.inversion.arms.outputs import read_outputs
from articulus.motion.inversion.arms.rest import RestPose, balanced, rest
from articulus.motion.inversion.arms.servo import PathPoint, Servo
from articulus.motion.inversion.paths import Path, as_path
from articulus.motion.inversion.result import Inversion
from articulus.simulation.solve.assembly import assemble, modal_dofs, one_state

Array = np.ndarray
Method = Literal["newton", "fixed_point"]

LEFT = 1e-6
"""Share of the slowest internal motion that is left at the ends of the horizon, unless that takes longer than the path."""
CUT = 1e-3
"""Forces at the ends of the horizon less those that hold the mechanism there, over their largest change: above it is too short."""
LONGEST = 8.0
"""Pre- or post-actuation over the duration of the path, at most, unless it is given. It is tried from once the duration on."""
COARSE = 4
"""Steps that are one of the first, coarse grid; half as many where that fails."""
AMPLITUDES = 6
"""Halvings of the share of the path by which it is approached where Newton's method diverges."""
ACCURATE = 1e-3
"""Estimated error of the forces over their largest change, and consistency of the motion, that pass."""


def tip_torques(
    mechanism: Mechanism,
    tip: str,
    path: Path | Any,
    actuators: Sequence[str],
    *,
    outputs: Sequence[str] = ("x", "y"),
    times: Any = None,
    guess: Any = None,
    step: float = 1e-3,
    pre: float | None = None,
    post: float | None = None,
    method: Method = "newton",
    params: Mapping[str, Any] | None = None,
) -> Inversion:
    """Return the joint forces that move a tip along a path exactly, and the motion of the whole mechanism with them.

    The mechanism is at rest long before and long after. An arm with flexible links is not minimum-phase: the forces begin before the
    tip moves and end after it has arrived. The motion is found as a whole, by collocation of fourth order with the conditions that its
    internal part grows out of rest at the start and decays to rest at the end (Ledesma & Bayo 1993; Chen & Paden 1996).

    Parameters
    ----------
    mechanism : Mechanism
        Open or closed, with flexible bodies of any kind, gravity and passive joints.
    tip : str
        Body or frame, for example one at the tip node of a flexible body.
    path : Path, or array (N, outputs)
        Path of the outputs in ground axes [m, rad]; an array needs its `times` [s].
    actuators : sequence of str
        That are driven, with as many degrees of freedom as there are outputs.
    outputs : sequence of str
        Coordinates of the tip, x, y, z, roll, pitch, yaw, or of other frames as in "elbow.y".
    times : array, (N,) [s]
        Times of a path that is given as an array.
    guess : array (nq,) or dict of names
        Estimate of the first pose, which chooses the branch (elbow up or down); neutral if not given.
    step : float [s]
        Between the times of the result.
    pre, post : float [s]
        How long before and after the motion the forces may act; chosen from the zeros if not given.
    method : str
        "newton": on the whole trajectory, quadratic convergence; approaches the path in steps of its amplitude where it diverges.
        "fixed_point": linear equations about the nominal motion of the rigid mechanism, set up once, everything else substituted.
    params : dict of parameter name to number

    Returns
    -------
    Inversion
        Inputs "tau.<joint>", outputs "<frame>.<coordinate>", states q and v. Figures: zeros at the start and at the end, iterations,
        residual, estimated error of the forces, and the forces of the same path for rigid bodies.

    Raises
    ------
    InputError
        For outputs that do not fit the joints, tips that the joints cannot move, a path that is not smooth enough, zeros on the imaginary
        axis, a horizon too short for the zeros.
    NumericalError
        If the path is out of reach or the method diverges.
    """
    if method not in SOLVERS:
        raise InputError(f"method: found {method!r}; expected one of {', '.join(map(repr, SOLVERS))}")
    if not 0 < step < math.inf:
        raise InputError(f"step: found {step!r}; expected a positive time [s]")
    actuators = (actuators,) if isinstance(actuators, str) else tuple(actuators)
    servo = Servo(mechanism, read_outputs(mechanism, tip, outputs), actuators, params)
    wanted = as_path(path, times)
    _require_path(wanted, servo)
    return _Task(servo, wanted, float(step), method).inversion(_first_pose(servo, guess, wanted), pre, post)


SOLVERS: dict[str, Callable[..., Trajectory]] = {"newton": newton, "fixed_point": fixed_point}


def _first_pose(servo: Servo, q: Any, path: Path) -> Array:
    """Return the position of rigid bodies at the start of the path that is nearest to an estimate; the servo chooses its rows there."""
    mechanism = servo.mechanism
    first = one_state("q", mechanism.positions(q), mechanism.nq).copy()
    first[modal_dofs(mechanism)] = 0.0
    if mechanism.description.constraints:
        first = assemble(mechanism, first, t=path.t0, params=servo.params).q
    servo.keep_independent_rows(first, path.t0)
    first = nominal.closed(servo, first, _point(path, np.array([path.t0])))
    require_access(servo, first[None], np.array([path.t0]))
    return first


def _point(path: Path, t: Array, share: float = 1.0) -> PathPoint:
    """Return the path at some times; with a share of its amplitude the outputs go that part of the way."""
    y, begin = path.derivatives(t, 2), path.position(path.t0)
    return PathPoint(t, begin + share * (y[0] - begin), share * y[1], share * y[2])


@dataclass(frozen=True)
class _Horizon:
    """Times of the result: equidistant, with the start of the path among them, and a whole number of coarse steps."""

    first: float
    step: float
    count: int

    def times(self, every: int = 1) -> Array:
        return self.first + self.step * np.arange(0, self.count + 1, every)


@dataclass(frozen=True)
class _Plain:
    """The nominal motion for a share of the path: poses along it, rigid and bent by the inertia of this motion, and rest at both ends."""

    share: float
    times: Array
    q: Array
    bent: Array
    start: RestPose
    end: RestPose

    def motion(self, t: Array) -> tuple[Array, Array]:
        """Return positions and velocities of the bent mechanism."""
        return nominal.spline(self.times, self.bent, t)

    def rigid(self, t: Array) -> tuple[Array, Array]:
        """Return positions and velocities of the rigid one."""
        return nominal.spline(self.times, self.q, t)


@dataclass(frozen=True)
class _Found:
    """A trajectory on a grid."""

    plain: _Plain
    grid: CollocationGrid
    trajectory: Trajectory

    def at(self, t: Array) -> tuple[Array, Array]:
        """Return positions and velocities at other times within the same horizon."""
        times, x = self.grid.nodes.t, self.trajectory
        q = CubicHermiteSpline(times, x.q, x.v)
        return q(t), CubicHermiteSpline(times, x.v, x.motion.vdot)(t)


@dataclass(frozen=True)
class _Task:
    """What is asked for, and the way to it."""

    servo: Servo
    path: Path
    step: float
    method: Method

    def inversion(self, first: Array, pre: float | None, post: float | None) -> Inversion:
        """Return the answer, from the first pose on."""
        start = rest(self.servo, first, self._at(self.path.t0), "start")
        plain = self._plain(first, start, 1.0)
        require_access(self.servo, plain.q, plain.times)
        _require_same_zeros(start, plain.end)
        coarse, horizon = self._long_enough(plain, pre, post)
        return self._result(coarse, self._solve(plain, horizon, 1, coarse))

    def _long_enough(self, plain: _Plain, pre: float | None, post: float | None) -> tuple[_Found, _Horizon]:
        """Return the trajectory on the coarse grid with a horizon at whose ends the mechanism is at rest."""
        duration = self.path.t_end - self.path.t0
        longest = duration
        while True:
            horizon = self._horizon(plain, pre, post, longest)
            try:
                found = self._continuation(plain, horizon, COARSE)
            except NumericalError:
                found = self._continuation(plain, horizon, COARSE // 2)
            short = [share > CUT and given is None for share, given in zip(_ends(found), (pre, post))]
            longest *= 2
            if not any(short) or longest > LONGEST * duration:
                self._require_rest(found)
                return found, horizon

    def _at(self, t: float, share: float = 1.0) -> PathPoint:
        return _point(self.path, np.array([t]), share)

    def _plain(self, first: Array, start: RestPose, share: float) -> _Plain:
        ends = self.path.t0, self.path.t_end
        times, q = nominal.poses(self.servo, first, lambda t: _point(self.path, t, share), *ends)
        end = rest(self.servo, q[-1], self._at(self.path.t_end, share), "end")
        at = _point(self.path, times, share)
        try:
            bent = balanced(self.servo, q, *nominal.rigid_motion(self.servo, q, at), at)
        except NumericalError:  # only an estimate
            bent = q
        return _Plain(share, times, q, bent, start, end)

    def _horizon(self, plain: _Plain, pre: float | None, post: float | None, longest: float) -> _Horizon:
        lengths = []
        for name, given, rate in (("pre", pre, plain.start.growth), ("post", post, plain.end.decay)):
            if given is not None and not 0 <= given < math.inf:
                raise InputError(f"{name}: found {given!r}; expected a time [s], zero or more")
            lengths.append(min(-math.log(LEFT) / rate, longest) if given is None else given)
        coarse = COARSE * self.step
        before = math.ceil(lengths[0] / coarse - 1e-9) * coarse
        whole = before + (self.path.t_end - self.path.t0) + lengths[1]
        steps = COARSE * max(math.ceil(whole / coarse - 1e-9), 2)
        return _Horizon(self.path.t0 - before, self.step, steps)

    def _continuation(self, whole: _Plain, horizon: _Horizon, every: int) -> _Found:
        """Return the trajectory on a coarse grid: at once, or by Newton's method in steps of the amplitude of the path."""
        done, stride = None, 1.0
        while True:
            share = min(1.0, (done.plain.share if done else 0.0) + stride)
            plain = whole if share == 1.0 else self._plain(whole.q[0], whole.start, share)
            try:
                done = self._solve(plain, horizon, every, done)
            except NumericalError as reason:
                if self.method != "newton":
                    raise
                stride /= 2
                if stride < 0.5**AMPLITUDES:
                    raise NumericalError(f"{reason}. {self._diagnosis(whole)}") from None
                continue
            if share == 1.0:
                return done

    def _diagnosis(self, whole: _Plain) -> str:
        """Return what the zeros at rest along the path say about a method that diverges."""
        expected = len(whole.start.unstable)
        for t, q in zip(whole.times, whole.q):
            y = self._at(t).y
            at = PathPoint(np.array([t]), y, 0 * y, 0 * y)
            try:
                found = len(rest(self.servo, q, at, "middle").unstable)
            except (InputError, NumericalError):
                found = -1
            if found != expected:
                return (
                    f"The likely reason: at t = {t:.4g} s zeros cross the imaginary axis or the driven joints lose the outputs ({expected} zeros have "
                    "a positive real part at the start); expected a path that keeps away from such poses, other joints or outputs, or other modes"
                )
        return "Expected a slower or shorter path, stiffer bodies, or a smaller step"

    def _solve(self, plain: _Plain, horizon: _Horizon, every: int, near: _Found | None) -> _Found:
        """Return the trajectory from the nominal motion or, by Newton's method, from another trajectory."""
        t, h = horizon.times(every), every * horizon.step
        nodes, middles = (_point(self.path, x, plain.share) for x in (t, t[:-1] + h / 2))
        grid = CollocationGrid(h, nodes, middles, plain.start, plain.end)
        if near is None or self.method != "newton":
            return _Found(plain, grid, SOLVERS[self.method](self.servo, grid, *plain.motion(t)))
        q, v = (x + y - z for x, y, z in zip(near.at(t), plain.rigid(t), near.plain.rigid(t)))
        slopes = None
        if near.plain is plain:
            slopes = near.trajectory.slopes.finer(round(near.grid.step / h))
        return _Found(plain, grid, SOLVERS["newton"](self.servo, grid, q, v, slopes))

    def _require_rest(self, found: _Found) -> None:
        """Raise InputError if the mechanism is not at rest at both ends of the horizon."""
        for name, share, rate in zip(
            ("pre", "post"), _ends(found), (found.plain.start.growth, found.plain.end.decay)
        ):
            if share > CUT:
                t = found.grid.nodes.t
                given = self.path.t0 - t[0] if name == "pre" else t[-1] - self.path.t_end
                needed = given + math.log(share / CUT) / rate
                raise InputError(
                    f"{name} = {given:.3g} s is too short for the zeros: the slowest internal motion changes at {rate:.4g} 1/s, and at the end of "
                    f"the horizon forces are still off rest by {100 * share:.2g} % of their largest change; expected about {name} = {needed:.3g} for "
                    f"{100 * CUT:g} %, more damping, or a smoother path"
                )

    def _result(self, coarse: _Found, fine: _Found) -> Inversion:
        servo, at, x = self.servo, fine.grid.nodes, fine.trajectory
        tau, names = x.motion.tau, servo.mechanism.v_names
        change = max(float(np.ptp(tau, axis=0).max()), 1e-300)
        every = round(coarse.grid.step / fine.grid.step)
        error = np.abs(tau[::every] - coarse.trajectory.motion.tau).max() / (every**4 - 1) / change
        off = np.abs(x.position).max()
        slip = _inconsistency(fine)
        units = np.array(servo.mechanism.description.velocity_units("N m", "N", "J"))
        inversion = Inversion(
            self.method,
            at.t,
            tau,
            at.y,
            tuple(f"tau.{names[i]}" for i in servo.driven),
            servo.output_names,
            tuple(units[servo.driven]),
            tuple("m" if what in LENGTHS else "rad" for _, what in servo.outputs),
            self.path.t0,
            self.path.t_end,
            np.hstack([x.q, x.v]),
            tuple(f"{kind}.{name}" for kind in "qv" for name in names),
            {
                "zeros": fine.grid.start.zeros,
                "zeros_end": fine.grid.end.zeros,
                "iterations": len(x.sizes) + len(coarse.trajectory.sizes),
                "steps": coarse.trajectory.sizes + x.sizes,
                "force_error": float(error),
                "rigid_inputs": nominal.rigid_forces(servo, fine.plain.rigid(at.t)[0], at),
                "hold_start": fine.grid.start.tau,
                "hold_end": fine.grid.end.tau,
            },
            (
                Check("outputs and loops off by [m, rad]", float(off), 1e-8, bool(off <= 1e-8)),
                Check(
                    "derivatives of the motion, by differences, off by [-]", slip, ACCURATE, slip <= ACCURATE
                ),
                Check("estimated error of the forces [-]", float(error), ACCURATE, bool(error <= ACCURATE)),
                *(
                    Check(f"forces off rest at the {end} [-]", x, CUT, x <= CUT)
                    for end, x in zip(("start", "end"), _ends(fine))
                ),
            ),
            mechanism=servo.mechanism if not servo.params else None,
        )
        for check in inversion.checks:
            if not check.passed:
                doubtful(f"tip_torques: {check}; a smaller step or a smoother path may help")
        return inversion


def _ends(found: _Found) -> tuple[float, float]:
    """Return how far the first and the last forces are from those that hold the mechanism, over the largest change."""
    tau, plain = found.trajectory.motion.tau, found.plain
    change = max(float(np.ptp(tau, axis=0).max()), 1e-300)
    return tuple(
        float(np.abs(a - b).max() / change) for a, b in ((tau[0], plain.start.tau), (tau[-1], plain.end.tau))
    )  # type: ignore[return-value]


def _inconsistency(found: _Found) -> float:
    """Return by how much velocities and accelerations differ from sixth-order differences of the motion, over their largest values."""
    x, h = found.trajectory, found.grid.step
    length = found.plain.start.length
    worst = 0.0
    for value, rate in ((x.q, x.v), (x.v, x.motion.vdot)):
        ahead = [value[3 + k : len(value) - 3 + k] - value[3 - k : len(value) - 3 - k] for k in (1, 2, 3)]
        slope = (45 * ahead[0] - 9 * ahead[1] + ahead[2]) / (60 * h)
        worst = max(worst, length(slope - rate[3:-3]).max() / max(length(rate).max(), 1e-300))
    return float(worst)


def _require_same_zeros(start: RestPose, end: RestPose) -> None:
    """Raise InputError unless as many zeros lie in the right half plane at the end as at the start."""
    if len(start.unstable) != len(end.unstable):
        raise InputError(
            f"{len(start.unstable)} zeros have a positive real part at the start of the path, {len(end.unstable)} at its end: on the way some cross the "
            "imaginary axis or pass through infinity, where the driven joints lose the outputs. Expected a path along which their number stays, "
            "other outputs or joints, or other modes of the flexible bodies"
        )


def _require_path(path: Path, servo: Servo) -> None:
    """Raise InputError for a path that does not fit the outputs or whose acceleration jumps."""
    if path.count != len(servo.outputs):
        raise InputError(
            f"path: found {path.count} coordinates; expected {len(servo.outputs)}, of {', '.join(servo.output_names)}"
        )
    jumps = path.jumps(2)
    if jumps:
        jump = jumps[0]
        what = ("position", "velocity", "acceleration")[jump.derivative]
        raise InputError(
            f"path: the {what} of {servo.output_names[jump.coordinate]} jumps by {jump.size:.4g} (SI) at t = {jump.time:.4g} s; expected a "
            "continuous acceleration, because forces act on it: a Profile of order 2 or more"
        )
