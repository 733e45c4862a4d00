"""`Motion`: positions over time and the forces that produce them; what every planner and every inversion returns.

A kind of motion says its times and what holds at any time (`t`, `at`); all the rest follows from these here: forces as components, feedback along
the motion, a simulation, files, tables, pictures.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.files.storage import write_text
from articulus.model.mechanism.numbers import values_of
from articulus.motion.follow import (
    default_bandwidth,
    doubt_efforts,
    inertia_feedback,
    require_times,
    steps,
    within_limits,
)
from articulus.motion.lqr_tracking import feedback_along
from articulus.motion.piecewise import Piecewise
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components.pd import PD
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.loop.components.state_feedback import StateFeedback

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.control.design import Check
    from articulus.simulation.results import Run

GAUSS = (1 + np.polynomial.legendre.leggauss(4)[0]) / 2
"""Places in an interval, from 0 to 1, at which forces are taken: none is at an end, where they may jump."""
INTERVALS = 200
"""Least number of intervals in which forces are cubics."""
OUTPUT = 1e-3
"""Output step of a simulation with forces alone, about [s]; of short and long motions as many as `LOOKS` says."""
LOOKS = 200, 5000
"""Least and largest number of those steps."""
DIFFERENCE = 1e-6
"""Step of differences of positions [rad, m or 1]."""


class MotionState(NamedTuple):
    """A motion at some times: positions, velocities, accelerations, and forces of the motors (None without a mechanism), (..., n) each."""

    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray | None


class Motion:
    """A motion of a mechanism, or of joints whose mechanism is not known.

    A kind of motion has `t`, `mechanism` and `at`; it may have its own `actuators`, `gains`, `checks`, `warnings`, `breakpoints`.
    """

    if TYPE_CHECKING:  # fields of some kinds, properties of others

        @property
        def t(self) -> np.ndarray:
            """Times, (points,) [s]; every time at which an acceleration or a force jumps is one of them."""

        @property
        def mechanism(self) -> Mechanism | None:
            """The mechanism that moves; None if the motion was planned for joints alone."""

    checks: Sequence[Check] = ()
    """What was checked of the result."""
    warnings: Sequence[str] = ()
    """What is doubtful about it."""
    gains: Any = None
    """Feedback gains that the method itself found, if it finds some."""

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., n) each; where one jumps that after the jump.

        Before the first and after the last time of the motion, what holds there.
        """
        raise NotImplementedError

    @cached_property
    def _points(self) -> MotionState:
        return self.at(self.t)

    @cached_property
    def q(self) -> np.ndarray:
        """Positions at the times, (points, nq)."""
        return self._points.q

    @cached_property
    def v(self) -> np.ndarray:
        """Velocities at the times, (points, nv)."""
        return self._points.v

    @cached_property
    def vdot(self) -> np.ndarray:
        """Accelerations at the times, (points, nv); those after a jump."""
        return self._points.vdot

    @cached_property
    def tau(self) -> np.ndarray:
        """Forces of the motors at the times, (points, nv) [N m or N], zero where there is none; those after a jump."""
        if self._points.tau is None:
            self._require_mechanism("tau")
        return np.asarray(self._points.tau)

    @property
    def ok(self) -> bool:
        """Whether every check holds and nothing is doubtful."""
        return all(check.passed for check in self.checks) and not self.warnings

    @property
    def breakpoints(self) -> np.ndarray:
        """Times between which the motion is smooth [s]."""
        return self.t

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the velocities; numbers from 0 without a mechanism."""
        if self.mechanism is None:
            return tuple(str(k) for k in range(self.q.shape[-1]))
        return self.mechanism.v_names

    @property
    def units(self) -> tuple[str, ...]:
        """Units of what the velocities are the rates of: rad, m, or 1 for the coordinates of modes; empty texts without a mechanism."""
        if self.mechanism is None:
            return ("",) * len(self.names)
        return self.mechanism.description.velocity_units("rad", "m", "1")

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Joints with motors."""
        m = self._require_mechanism("actuators")
        return tuple(c.name for c in m.description.independent if c.name in m.joint_names)

    def _require_mechanism(self, what: str) -> Mechanism:
        if self.mechanism is None:
            raise InputError(
                f"{what}: found a motion of joints without a mechanism; expected one of a mechanism, such as point_to_point(..., mechanism=robot)"
            )
        if self.t.ndim > 1:
            raise InputError(f"{what}: found {self.t.shape[:-1]} motions; expected one, such as motion[0]")
        return self.mechanism

    @property
    def _length(self) -> float:
        """Return how long the motion takes [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def pieces(self) -> Piecewise:
        """Forces of the motors as cubics, (nv,)."""
        self._require_mechanism("forces")
        breaks = self._fine_times()
        times = breaks[:-1, None] + np.diff(breaks)[:, None] * GAUSS
        tau = self.at(times.ravel()).tau
        return Piecewise.through(breaks, GAUSS, np.asarray(tau).reshape(*times.shape, -1))

    def _fine_times(self) -> np.ndarray:
        """Return the times and more between them, where they are far apart."""
        longest = self._length / INTERVALS
        parts = [
            np.linspace(a, b, int(np.ceil((b - a) / longest * (1 - 1e-9))) + 1)[:-1]
            for a, b in zip(self.t[:-1], self.t[1:])
            if b > a
        ]
        return np.append(np.concatenate(parts), self.t[-1])

    @property
    def _holding(self) -> np.ndarray:
        """Forces that hold the end of the motion, (nv,); of closed loops the last ones."""
        m = self._require_mechanism("forces")
        last = self.at(self.t[-1])
        if m.constraint_names:
            return np.asarray(last.tau)
        hold = np.zeros(m.nv)
        places = self._motors
        hold[places] = np.asarray(m.gravity(last.q))[places]
        return hold

    @property
    def _motors(self) -> list[int]:
        """Velocities that motors act on."""
        m = self._require_mechanism("actuators")
        return [k for j in self.actuators for k in range(m.nv)[m.v_slice(j)]]

    @property
    def _driven_everywhere(self) -> bool:
        """Whether every degree of freedom has a motor, so that feedback needs no model of what is left free."""
        m = self._require_mechanism("track")
        return len(self._motors) == m.nv

    def feedforward(self) -> tuple[PrescribedForce, ...]:
        """Return the forces of the motors as components for `simulate` and `Loop`; after the motion they hold its end.

        The first time of the motion is the time 0 of the run.
        """
        m, forces, hold = self._require_mechanism("feedforward"), self.pieces.shift(-self.t[0]), self._holding
        return tuple(
            PrescribedForce(joint, forces.columns(m.v_slice(joint)).function(hold[m.v_slice(joint)]))
            for joint in self.actuators
        )

    def track(
        self,
        kp: Any = None,
        kd: Any = None,
        *,
        bandwidth: float | None = None,
        deviation: float | None = None,
        period: float | None = None,
    ) -> tuple[PD | StateFeedback, tuple[PrescribedForce, ...]]:
        """Return a controller that keeps the mechanism on the motion, and the forces to go with it.

        `run` simulates with them. Where every degree of freedom has a motor, the feedback has gains in proportion to the inertia along the
        motion and a bandwidth; else it is linear-quadratic.

        Parameters
        ----------
        kp : numbers [N m/rad or N/m]
            Gains of a PD controller in the joints with motors, used instead.
        kd : numbers [N m s/rad or N s/m]
        bandwidth : float [rad/s]
            10 over the duration if not given, at most 0.2 over the period.
        deviation : float
            For linear-quadratic feedback: part of the extent of the motion at which it may spend all that the motors can, or, without limits, the
            largest planned force; 0.05 if not given.
        period : float [s]
            Period of the controller; continuous if not given.
        """
        m = self._require_mechanism("track")
        if (kp is None) != (kd is None):
            raise InputError(
                "track: found one of kp and kd; expected both, or none for linear-quadratic feedback"
            )
        require_times(bandwidth=bandwidth, period=period)
        if kp is not None:
            return self._proportional(kp, kd, period), self.feedforward()
        times = self._fine_times()
        q, v, _, tau = self.at(times)
        course = (times - self.t[0], q, v)
        if deviation is None and self._driven_everywhere:
            w = bandwidth or default_bandwidth(self._length, period)
            return inertia_feedback(m, *course, self.actuators, w, period), self.feedforward()
        part, sizes = 0.05 if deviation is None else deviation, self._force_sizes()
        feedback = feedback_along(m, *course, np.asarray(tau), self.actuators, sizes, part, period)
        return feedback, self.feedforward()

    def _force_sizes(self) -> np.ndarray:
        """Return what each motor may spend, (motors,): its largest force along the motion."""
        used = np.abs(self.tau[:, self._motors]).max(0)
        return np.maximum(used, 0.1 * used.max() if used.any() else 1.0)

    def _proportional(self, kp: Any, kd: Any, period: float | None) -> PD:
        m = self._require_mechanism("track")
        target: list[int] = []
        rate: list[int] = []
        for joint in self.actuators:
            if (
                m.q_slice(joint).stop - m.q_slice(joint).start
                != m.v_slice(joint).stop - m.v_slice(joint).start
            ):
                raise InputError(
                    f"track: found the motor in '{joint}', whose velocities are not the rates of its coordinates; expected a controller of "
                    "your own beside `feedforward()`"
                )
            target += range(m.nq)[m.q_slice(joint)]
            rate += range(m.nv)[m.v_slice(joint)]
        times = self._fine_times()
        state = self.at(times)
        v, vdot = (np.take(x, rate, 1) for x in (state.v, state.vdot))
        q = Piecewise.cubic(times - self.t[0], np.take(state.q, target, 1), v).function()
        v_target = Piecewise.cubic(times - self.t[0], v, vdot).function()
        return PD(kp=kp, kd=kd, target=q, rate=v_target, joints=self.actuators, period=period)

    def run(
        self,
        q0: Any = None,
        v0: Any = None,
        *,
        track: bool = True,
        mechanism: Mechanism | None = None,
        period: float | None = None,
        bandwidth: float | None = None,
        limits: bool = False,
        **settings: Any,
    ) -> Run:
        """Return a simulation of the motion: its forces with feedback along it (`track`), or its forces alone; the last step ends where the motion does.

        Parameters
        ----------
        q0, v0 : positions, velocities
            The start of the motion if not given.
        track : bool
            Whether there is feedback.
        mechanism : Mechanism
            That moves, such as one with another payload; that of the motion if not given.
        period : float [s]
            Period of the controller; the run then ends with the first period after the motion. Continuous if not given.
        bandwidth : float [rad/s]
            Bandwidth of the feedback; see `track`.
        limits : bool
            Keep the forces of motors within the efforts of their joints, as drives do. Without it a run in which a motor gives more than its joint's
            effort by a fiftieth says so.
        **settings
            Of `simulate`.
        """
        from articulus.simulation.running import Loop

        m, T = mechanism or self._require_mechanism("run"), self._length
        if not hasattr(m, "description"):
            raise InputError(f"run: found the mechanism {m!r}; expected a Mechanism")
        if not track and (period is not None or bandwidth is not None):
            raise InputError(
                "run: found period or bandwidth with track=False; expected none: there is no controller to take them"
            )
        d = m.description
        stiff = any(any(values_of(c.coulomb)) for c in d.connections) or not self._driven_everywhere
        if track:
            controller, forces = self.track(bandwidth=bandwidth, period=period)
            end, step = steps(T, bandwidth or default_bandwidth(T, period), period)
            chosen: dict[str, Any] = {"step": step, "method": "rosenbrock" if stiff else "rk4"}
        else:
            controller, forces, end = None, self.feedforward(), T
            chosen = {
                "method": "dormand_prince",
                "rtol": 1e-9,
                "atol": 1e-11,
                "step": T / int(np.clip(round(T / OUTPUT), *LOOKS)),
            }
        components: list[Component] = list(forces)
        if limits:
            planned = (
                self.pieces.shift(-self.t[0]).columns(self._motors).function(self._holding[self._motors])
            )
            controller, components = within_limits(m, controller, planned, self.actuators)
        loop = Loop(m, controller=controller, components=components)
        q0, v0 = self.q[0] if q0 is None else q0, self.v[0] if v0 is None else v0
        run = loop.simulate(end, q0=q0, v0=v0, **(chosen | settings))
        if not limits:
            doubt_efforts(m, run, self.actuators)
        return run

    def view(self, **settings: Any) -> Any:
        """Show a simulation of the motion (`run`) in the browser; settings are those of `Run.view`."""
        return self.run().view(**settings)

    def sample(self) -> SampledMotion:
        """Return the motion as numbers at its times and polynomials between them; what `save` writes."""
        if self.t.ndim > 1:
            raise InputError(f"sample: found {self.t.shape[:-1]} motions; expected one, such as motion[0]")
        times = self._fine_times()
        after = self.at(times)
        before = self.at(np.nextafter(times, times[0]))
        forces = None if self.mechanism is None else self.pieces
        return SampledMotion(
            times, after.q, after.v, after.vdot, before.vdot, self.mechanism, self._names_of_motors(), forces
        )

    def _names_of_motors(self) -> tuple[str, ...]:
        return () if self.mechanism is None else self.actuators

    def save(self, path: str | PathLike[str]) -> None:
        """Write the motion to a netCDF4 file, whole or not at all; `load_motion` reads it. Needs the extra `data`."""
        from articulus.motion.store import save_motion

        save_motion(self.sample(), path)

    def to_csv(self, path: str | PathLike[str], *, step: float | None = None) -> None:
        """Write times, positions, velocities, accelerations and forces to a file of comma-separated values; an existing one is replaced.

        Parameters
        ----------
        path : path of the file
        step : float [s]
            Between the times in the file, such as the period of a robot's controller; the times of the motion if not given.
        """
        require_times(step=step)
        t = (
            self.t
            if step is None
            else self.t[0] + step * np.arange(int(np.ceil(self._length / step - 1e-9)) + 1)
        )
        names, rows = self._table(t)
        text = io.StringIO()
        np.savetxt(text, rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        write_text(path, text.getvalue())

    def _table(self, t: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return headings and rows of a table."""
        state, m = self.at(t), self.mechanism
        q_names = self.names if m is None else m.q_names
        q_units = self.units if len(q_names) == len(self.units) else ("",) * len(q_names)
        forces = ("",) * len(self.names) if m is None else m.description.velocity_units("N m", "N", "J")
        columns, names = [t[:, None]], ["t [s]"]
        for what, values, of, units in (
            ("q", state.q, q_names, q_units),
            ("v", state.v, self.names, tuple(f"{u}/s" if u else "" for u in self.units)),
            ("vdot", state.vdot, self.names, tuple(f"{u}/s^2" if u else "" for u in self.units)),
            ("tau", state.tau, self.names, forces),
        ):
            if values is not None:
                columns.append(values)
                names += [f"{what}.{n} [{u}]" if u else f"{what}.{n}" for n, u in zip(of, units)]
        return names, np.hstack(columns)

    def plot(self) -> Figure:
        """Return a figure of positions, velocities and forces over time."""
        import matplotlib.pyplot as plt

        if self.t.ndim > 1:
            raise InputError(f"plot: found {self.t.shape[:-1]} motions; expected one, such as motion[0]")
        t = self._fine_times()
        state = self.at(t)
        unit = " or ".join(dict.fromkeys(self.units)) if self.mechanism is not None else "-"
        groups = [("positions", state.q, unit), ("velocities", state.v, f"{unit} per s")]
        if state.tau is not None:
            groups.append(("forces", state.tau[:, self._motors], "N m or N"))
        figure, axes = plt.subplots(
            len(groups), 1, sharex=True, figsize=(8, 2.2 * len(groups)), layout="constrained"
        )
        for ax, (what, values, its) in zip(axes, groups):
            ax.plot(t, values, label=self.names if values.shape[1] == len(self.names) <= 8 else None)
            ax.set_ylabel(f"{what} [{its}]")
        axes[-1].set_xlabel("t [s]")
        if len(self.names) <= 8:
            axes[1].legend(frameon=False, fontsize="small", ncols=4)
        axes[0].set_title(f"{self._length:.5g} s")
        return figure


@dataclass(frozen=True, eq=False)
class SampledMotion(Motion):
    """A motion given by numbers at times: positions are polynomials of degree five between them, whose derivatives the velocities and accelerations are.

    Parameters
    ----------
    t : array, (points,) [s]
    q : array, (points, nq)
    v, vdot : array, (points, nv)
    vdot_before : array, (points, nv)
        Accelerations before each time, where they jump.
    mechanism : Mechanism or None
    actuators : tuple of str
        Joints with motors.
    pieces : Piecewise or None
        Forces of the motors.
    """

    t: np.ndarray = field()
    q: np.ndarray = field()
    v: np.ndarray = field()
    vdot: np.ndarray = field()
    vdot_before: np.ndarray = field()
    mechanism: Mechanism | None = None
    actuators: tuple[str, ...] = ()
    pieces: Piecewise | None = None  # type: ignore[assignment]

    @cached_property
    def _positions(self) -> Piecewise:
        if self.q.shape[1] == self.v.shape[1]:
            return Piecewise.quintic(self.t, self.q, self.v, self.vdot, self.vdot_before)
        m = self._require_mechanism("at")
        rate = m.position_rate(self.q, self.v)
        return Piecewise.quintic(
            self.t,
            self.q,
            rate,
            *(_second(m, self.q, rate, self.v, a) for a in (self.vdot, self.vdot_before)),
        )

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., n) each."""
        tau = None if self.pieces is None else self.pieces(t)
        x = self._positions
        if self.q.shape[1] == self.v.shape[1]:
            return MotionState(x(t), x(t, 1), x(t, 2), tau)
        v = Piecewise.cubic(self.t, self.v, self.vdot, self.vdot_before)
        return MotionState(x(t), v(t), v(t, 1), tau)


def _second(m: Mechanism, q: np.ndarray, rate: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
    """Return second derivatives of coordinates whose rates are not the velocities, by central differences of those rates along the motion."""
    h = DIFFERENCE / max(float(np.abs(rate).max(initial=0.0)), 1e-300)
    ahead, back = (m.position_rate(q + sign * h * rate, v) for sign in (1, -1))
    return np.asarray((ahead - back) / (2 * h) + m.position_rate(q, vdot))
