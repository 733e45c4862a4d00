"""How each kind of method takes one run from one time to another.

To add a kind of method: a subclass of `Stepper` here, and its line in `STEPPERS`.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.dynamics.ball_joints import refusal
from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate import (
    Adaptive,
    AdaptiveState,
    AlphaMethod,
    AlphaState,
    Cvodes,
    Idas,
    Linearized,
    Mechanical,
    Method,
    Rosenbrock,
    Sdirk,
    SdirkState,
    SecondOrderMethod,
    StepControl,
)
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.integrate.mechanical import MotionPoint
from articulus.simulation.integrate.sdirk import GAMMA
from articulus.simulation.loop.components import BeamForces
from articulus.simulation.loop.displacement import displacement
from articulus.simulation.loop.functions import ARGUMENTS, System, native
from articulus.simulation.running.ball_joint_problem import BallJointProblem, equations_of
from articulus.simulation.running.batched_calls import KernelCall, run_one
from articulus.simulation.running.native_engine import INSIDE, NativeEngine
from articulus.simulation.running.tolerance import SHARE, descriptor_sizes

if TYPE_CHECKING:
    from articulus.simulation.running.beam_problem import BeamEquations

RETURN = 0.5, 1.5e-3
"""Time in which what is off the constraints falls to 1/e, for solvers without a projection of their own, over the distance of grid points and over
the mechanism's characteristic time; the shorter one counts [-]."""
MOST_PASSAGES = 256
"""Passages of a solver that are kept until their states are handed out: one for each run of a batch."""


SHORTEST = 1e-9
"""Part of a step of the grid below which no gap shortens the steps of a method [-]."""
GROWTH = 4.0
"""Growth of the pieces in which CVODES and IDAS go where something may meet [-]."""


class Stepper(abc.ABC):
    """Takes a row (c, d, memory) from t to t1.

    Parameters
    ----------
    system : System
    method : Integrator
    h : float [s]
        Distance of the grid points: for how long noise is held, however short the way from t to t1 is.
    control : StepControl
        Tolerances, for a method that controls its error.
    independent : sequence of int
        Constraint rows that imply all the others.

    Attributes
    ----------
    chooses_rows : bool
        Whether it works with the independent rows alone, each run with its own.
    switches : bool
        Whether constraints may begin or cease to hold during a run.
    extra : int
        Numbers that the method remembers from call to call; all zero: it remembers nothing.
    across_jumps : bool
        Whether these numbers serve on after a jump of held values.
    span : tuple of float [s]
        Beginning and end of the run; the engine sets it.
    ahead : int
        Steps of the grid from the present one to the next stop; the engine sets it.
    evaluations, rejected : int
        Counts so far.
    """

    chooses_rows: ClassVar[bool] = False
    switches: ClassVar[bool] = True
    extra = 0
    across_jumps = True

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        self.system, self.h = system, h
        self._method, self._control, self._rows = method, control, list(independent)
        self.evaluations, self.rejected, self.ahead = 0, 0, 1
        self.span = (0.0, 0.0)
        self._jumps: dict[tuple[float, float], tuple[float, ...]] = {}

    @classmethod
    def native_loop(cls, system: System, method: Any, h: float) -> NativeEngine | None:
        """Return the native time loop for runs without events; None where steps are taken one by one."""
        return None

    @abc.abstractmethod
    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        """Return the row at t1; raise NumericalError when it cannot be reached."""

    @property
    def jumps(self) -> tuple[float, ...]:
        """Times at which inputs jump or bend in the run [s], ascending."""
        if self.span not in self._jumps:
            self._jumps[self.span] = self.system.jumps_between(*self.span)
        return self._jumps[self.span]

    @functools.cached_property
    def _meeting(self) -> kernel.Kernel | None:
        """The time in which a gap may close as native code; None where there are no gaps."""
        found = self.system.meeting
        return None if found is None else native(found)

    def _soonest(
        self, t: float, c: np.ndarray, rate: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray
    ) -> float:
        """Return for how long no gap closes, as far as can be seen from t; at least a billionth of the grid [s]."""
        assert self._meeting is not None
        found = float(np.ravel(self._meeting(c, d, p, w, t, self.h, rate))[0])
        return max(found, SHORTEST * self.h)

    async def advancing(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        """Return what `advance` does, for runs that go on together."""
        return self.advance(x, p, w, t, t1)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return c, d and the memory."""
        nc, nd = self.system.nc, self.system.nd
        return x[:nc], x[nc : nc + nd], x[nc + nd :]

    @functools.cached_property
    def correction_kernel(self) -> kernel.Kernel | None:
        """The correction after a step as native code."""
        found = self.system.correction
        return None if found is None else native(found)

    def correct(self, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray, t: float) -> np.ndarray:
        """Return c on the constraints and with unit quaternions."""
        return run_one(self.correcting(c, d, p, w, t))

    async def correcting(
        self, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray, t: float
    ) -> np.ndarray:
        """Return what `correct` does, for runs that go on together."""
        return (
            c
            if self.correction_kernel is None
            else np.ravel(await KernelCall(self.correction_kernel, c, d, p, w, t, self.h))
        )


class ExplicitStepper(Stepper):
    """One step of an explicit method over the whole interval."""

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        super().__init__(system, method, h, control, independent)
        loop = self.native_loop(system, method, h)
        if loop.past:
            raise InputError(
                f"method '{method.name}' looks back over steps; expected a one-step method, such as rk4, for events"
            )
        self._step = native(loop.single_step())
        self._cost = method.evaluations

    @classmethod
    def native_loop(cls, system: System, method: Any, h: float) -> NativeEngine:
        loop = NativeEngine(system, method, h)
        if loop.past and system.noisy:
            raise InputError(
                f"method '{method.name}' looks back over steps, and noise makes the forces jump at every step; expected a "
                "one-step method, such as rk4, or noise that acts through a sampled component"
            )
        return loop

    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        return run_one(self.advancing(x, p, w, t, t1))

    async def advancing(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        c, d, _ = self.split(x)
        self.evaluations += self._cost
        return np.concatenate([np.ravel(await KernelCall(self._step, c, d, p, w, t, t1 - t)), d])


class AdaptiveStepper(Stepper):
    """An adaptive method; it remembers its step and the error of the last one."""

    extra = 2

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        super().__init__(system, method, h, control, independent)
        self._rate = native(system.rhs)

    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        c, d, memory = self.split(x)
        problem = self._problem(d, p, w)
        if memory[0]:
            state = AdaptiveState(t, c.copy(), memory[0], memory[1])
        else:
            state = self._method.start(problem, t, c, t1, self._control)
        end = self._method.run(
            problem, state, t1, self._control, self.jumps, self._projection(d, p, w), self._limit(d, p, w)
        ).state
        self.evaluations += end.statistics.evaluations
        self.rejected += end.statistics.rejections
        return np.concatenate([end.x, d, [end.h, end.error]])

    def _projection(self, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> Any:
        """Return what brings every accepted step back onto the constraints; None where nothing can drift."""
        return None if self.correction_kernel is None else lambda t, c: self.correct(c, d, p, w, t)

    def _limit(self, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> Any:
        """Return how long a step may be where something may meet; None where nothing can."""
        return None if self._meeting is None else lambda t, c, rate: self._soonest(t, c, rate, d, p, w)

    def _problem(self, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> Any:
        rate, h = self._rate, self.h

        def f(t: float, c: np.ndarray) -> np.ndarray:
            return np.ravel(rate(c, d, p, w, t, h))

        return f


class RosenbrockStepper(AdaptiveStepper):
    """A linearly implicit method with the exact Jacobian.

    That of long mechanisms, whose equations are graphs of calls, is left to the CasADi virtual machine: 4 ms for a humanoid of 32
    joints, where native code takes 0.3 ms, and half a minute to compile.
    """

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        super().__init__(system, method, h, control, independent)
        short = system.rhs.is_a("SXFunction")
        symbols: list[Any] = system.rhs.sx_in() if short else system.rhs.mx_in()
        rate = system.rhs.call(symbols)[0]
        parts = [ca.densify(ca.jacobian(rate, symbols[i])) for i in (0, ARGUMENTS.index("t"))]
        terms = ca.Function("partial", symbols, parts, list(ARGUMENTS), ["by_c", "by_t"])
        self._partial: Any = native(terms) if short else terms

    def _problem(self, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> Linearized:
        n, h = self.system.nc, self.h
        by_t = np.zeros(n)

        def jacobian(t: float, c: np.ndarray) -> np.ndarray:
            nonlocal by_t
            by_c, by_t = self._partial(c, d, p, w, t, h)
            return np.array(by_c).reshape(n, n)

        return Linearized(super()._problem(d, p, w), jacobian, lambda t, c: np.array(by_t).ravel())


class SundialsStepper(Stepper):
    """CVODES on the equations as they are.

    The solver goes on without a restart over as many steps of the grid as the engine says are free of stops. It has no
    place for a projection between its own steps, so that the equations carry one: c' = f(c) + (on the constraints - c) /
    time of return. Whatever is off dies out; nothing changes for states that are on the constraints.

    Remembers how many steps the present passage has and how many are done, when it began and from where; the states of
    a passage are found at once and handed out step by step. A resumed run finds them again, with bit-identical results.
    """

    across_jumps = False

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        plain = np.ndim(control.atol) == 0  # the solvers take one tolerance: states are in units of theirs
        self._sizes = np.ones(system.nc) if plain else control.atol / SHARE
        given = type(method)(rtol=control.rtol, atol=control.atol if plain else SHARE)
        super().__init__(system, given, h, control, independent)
        scales = system.description.scales()
        self._return = min(RETURN[0] * h, RETURN[1] * scales.time)
        self.extra = 3 + system.nc
        self._solvers: dict[int, Any] = {}
        self._passages: OrderedDict[tuple, np.ndarray] = OrderedDict()

    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        c, d, memory = self.split(x)
        if abs(t1 - t - self.h) > 1e-9 * self.h:  # within a step, to find an event
            end = self._in_pieces(t, t1, c, d, p, w)
            return np.concatenate([self.correct(end, d, p, w, t1), d, np.zeros(self.extra)])
        n, done, began, start = int(memory[0]), int(memory[1]), memory[2], memory[3:]
        if not n:
            n, done, began, start = self._steps(t, c, d, p, w), 0, t, c.copy()
        try:
            states = self._passage(n, began, start, d, p, w)
        except NumericalError:
            if n == 1:
                raise
            n, done, began, start = 1, 0, t, c.copy()  # step by step, to see how far it goes
            states = self._passage(n, began, start, d, p, w)
        end, done = states[done], done + 1
        memory = np.concatenate([[n, done, began], start]) if done < n else np.zeros(self.extra)
        return np.concatenate([self.correct(end, d, p, w, t1), d, memory])

    def _steps(self, t: float, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> int:
        """Return the number of steps of the grid to go at once: where something may meet, a power of two before it does."""
        if self._meeting is None or self.ahead == 1:
            return self.ahead
        free = int(min(self._free(t, c, d, p, w) / self.h, self.ahead))
        return 1 << max(free.bit_length() - 1, 0)

    def _free(self, t: float, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray) -> float:
        """Return for how long nothing meets, as far as can be seen from t [s]."""
        return self._soonest(t, c, np.ravel(self._rate(c, d, p, w, t, self.h)), d, p, w)

    @functools.cached_property
    def _rate(self) -> kernel.Kernel:
        return native(self.system.rhs)

    def _passage(
        self, n: int, t: float, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray
    ) -> np.ndarray:
        """Return the states after each of n steps, (n, nc)."""
        key = (n, t, *(a.tobytes() for a in (c, d, p, w)))
        if key not in self._passages:
            if n == 1:
                self._passages[key] = self._in_pieces(t, t + self.h, c, d, p, w)[None]
            else:
                self._passages[key] = self._solve(n, t, t + n * self.h, c, d, p, w)
            while len(self._passages) > MOST_PASSAGES:
                self._passages.popitem(last=False)
        return self._passages[key]

    def _in_pieces(
        self, t: float, t1: float, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray
    ) -> np.ndarray:
        """Return the state at t1, in pieces between which inputs jump or something meets, (nc,)."""
        near = 1e-9 * self.h
        for end in [*(s for s in self.jumps if t + near < s < t1 - near), t1]:
            piece = np.inf
            while t < end:
                if self._meeting is not None:
                    piece = min(GROWTH * piece, self._free(t, c, d, p, w))
                far = end if t + piece >= end - near else t + piece
                c = self._solve(1, t, far, c, d, p, w)[0]
                piece, t = far - t, far
        return c

    def _solve(
        self, n: int, t: float, t1: float, c: np.ndarray, d: np.ndarray, p: np.ndarray, w: np.ndarray
    ) -> np.ndarray:
        """Return the states at n equal times up to t1, (n, nc); inputs that jump at either end are seen from inside."""
        if n not in self._solvers:
            self._solvers[n] = self._prepare(n)
        for jump in self.jumps:
            if abs(jump - t) <= 1e-9 * self.h:
                t = max(t, jump + math.ulp(jump))
            elif abs(jump - t1) <= 1e-9 * self.h:
                t1 = min(t1, jump - 4 * math.ulp(jump))
        found = self._solvers[n](t, t1, c / self._sizes, np.concatenate([d, p, w]))
        return np.asarray(found) * self._sizes

    def _prepare(self, n: int) -> Any:
        """Return the solver with n outputs: (t, t1, c, given) -> states, (n, nc), these in units of their sizes."""
        system = self.system
        x, d, p, w, t = [ca.MX.sym(name, k) for name, k in zip(ARGUMENTS[:-1], system.sizes)]
        c, back = x * self._sizes, ca.MX.zeros(system.nc)
        if system.correction is not None:
            back = (system.correction(c, d, p, w, t, self.h) - c) / self._return
        return self._solver(x, [c, d, p, w, t], back, [(k + 1) / n for k in range(n)])

    def _bounded(self, n: int) -> Any:
        """Return the method with its longest step as a part of n steps of the grid."""
        longest = self._control.max_step / (n * self.h)
        return dataclasses.replace(self._method, longest=longest if longest < 1 else 0.0)

    def _solver(self, x: ca.MX, state: list[ca.MX], back: ca.MX, outputs: list[float]) -> Any:
        """Return the solver for x, c in units of their sizes, with `back` added to the rates; `state` is c, d, p, w, t."""
        _, d, p, w, t = state
        rate = (self.system.rhs(*state, self.h) + back) / self._sizes
        rhs = ca.Function("rhs", [t, x, ca.vertcat(d, p, w)], [rate])
        return self._bounded(len(outputs)).prepare(rhs, outputs)


class IdasStepper(SundialsStepper):
    """IDAS with accelerations and multipliers as unknowns (index 1)."""

    chooses_rows = True

    def _solver(self, x: ca.MX, state: list[ca.MX], back: ca.MX, outputs: list[float]) -> Any:
        _, d, p, w, t = state
        z = ca.MX.sym("z", self.system.description.nv + len(self._rows))
        plain = np.ndim(self._control.atol) == 0
        sizes, balances = (np.ones(z.numel()),) * 2 if plain else descriptor_sizes(self.system, self._rows)
        rate, balance = self.system.descriptor(self._rows)(*state, self.h, z * sizes)
        dae = ca.Function(
            "dae", [t, x, z, ca.vertcat(d, p, w)], [(rate + back) / self._sizes, balance / balances]
        )
        solve = self._bounded(len(outputs)).prepare(dae, outputs)
        return lambda t0, t1, x0, g0: solve(
            t0, t1, x0, self._consistent(t0, x0 * self._sizes, g0) / sizes, g0
        )[0]

    @functools.cached_property
    def _accelerations(self) -> kernel.Kernel:
        return native(self.system.acceleration)

    def _consistent(self, t: float, c: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Return accelerations and multipliers at a state; where rows are redundant, IDAS may distribute their force differently at every start."""
        parts = np.split(given, np.cumsum(self.system.sizes[1:3]))
        found = self._accelerations(c, *parts, t, self.h)
        return np.concatenate([np.ravel(found[0]), np.ravel(found[1])[self._rows]])


class AlphaStepper(Stepper):
    """Newmark, HHT and generalized-alpha on M v' + G' lambda = f, g = 0; remembers v', a and lambda."""

    across_jumps = False
    chooses_rows = True
    switches = False

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        super().__init__(system, method, h, control, independent)
        _require_no_states(system, method)
        bound = [c.name for c in system.description.constraints if not c.holonomic]
        if bound:
            raise InputError(
                f"method '{method.name}' is for constraints on positions; found '{bound[0]}', which is on velocities: the method "
                "solves g(q) = 0 at the end of a step; expected a method such as rk4, dormand_prince or cvodes"
            )
        self._beams = beams_of(system, self._rows)
        if self._beams is not None:
            self.extra = self._beams.memory
            return
        self._terms = _Terms(system, self._rows)
        self._power = native(system.rhs)
        nv = system.description.nv
        self.extra = 1 + 2 * nv + self._terms.m

    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        if self._beams is not None:
            return self._with_beams(self._beams, x, p, w, t, t1)
        c, d, memory = self.split(x)
        s = self.system
        nv, (q, v) = s.description.nv, (c[s.places["q"]], c[s.places["v"]])
        problem = self._terms.problem(d, p, w, self.h)
        if memory[0]:
            vdot, a, multipliers = np.split(memory[1:], [nv, 2 * nv])
            state = AlphaState(t, q, v, vdot, a, multipliers)
        else:
            state = self._method.start(problem, t, q, v)
        end = self._method.step(problem, state, t1 - t)
        self.evaluations += end.iterations
        out = c.copy()
        out[s.places["q"]], out[s.places["v"]] = end.q, end.v
        rates = [np.ravel(self._power(each, d, p, w, at, self.h))[-2:] for each, at in ((c, t), (out, t1))]
        out[-2:] += (t1 - t) / 2 * (rates[0] + rates[1])
        return np.concatenate([out, d, [1.0], end.vdot, end.a, end.multipliers])

    def _with_beams(
        self, beams: BeamEquations, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float
    ) -> np.ndarray:
        """Return the row at t1 where beams are cut off; it remembers the state of the parts."""
        c, d, memory = self.split(x)
        problem = beams.problem(d, p, w, self.h)
        if memory[0]:
            state, before = problem.from_memory(memory, t)
        else:
            s = self.system
            state = self._method.start(problem, t, *problem.begin(c[s.places["q"]], c[s.places["v"]]))
            before = problem.power(state)
        whole = (
            abs(t1 - t - self.h) <= 1e-9 * self.h
        )  # the same number in every step: a tangent belongs to it
        end = self._method.step(problem, state, self.h if whole else t1 - t)
        self.evaluations += end.iterations - state.iterations
        out, after = c.copy(), problem.power(end)
        problem.end(end.q, end.v, out)
        out[-2:] += (t1 - t) / 2 * (before + after)
        return np.concatenate([out, d, problem.to_memory(end, after)])


def beams_of(system: System, rows: list[int]) -> BeamEquations | None:
    """Return the equations of the parts where the mechanism has beams of large deflection that can be cut off."""
    if not any(isinstance(c, BeamForces) for c in system.network.components):
        return None
    from articulus.simulation.running.beam_problem import equations_of as found  # late: few runs have beams

    return found(system, tuple(rows))


def _require_no_states(system: System, method: Integrator) -> None:
    """Refuse states of components."""
    own = [name for name in system.places if name not in ("q", "v") and not name.startswith("work.")]
    if own:
        raise InputError(
            f"method '{method.name}' is for mechanisms alone: its formulas are those of second-order equations of motion; found "
            f"the component state '{own[0]}', whose equation is of first order; expected a method such as rosenbrock or cvodes"
        )


class BallJointStepper(Stepper):
    """A diagonally implicit method in the absolute coordinates of a mechanism of ball joints; remembers nothing."""

    switches = False

    def __init__(
        self, system: System, method: Any, h: float, control: StepControl, independent: Sequence[int]
    ):
        super().__init__(system, method, h, control, independent)
        why = refusal(system.description)
        if why:
            raise InputError(
                f"method '{method.name}' is for trees of rigid bodies on ball joints: {why}. Methods for every mechanism that "
                "bear stiff forces are rosenbrock, cvodes and generalized_alpha"
            )
        _require_no_states(system, method)
        self._equations = equations_of(system)
        self._power = native(system.rhs)

    def advance(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, t1: float) -> np.ndarray:
        c, d, _ = self.split(x)
        q, v = (self.system.places[name] for name in "qv")
        problem = BallJointProblem(self._equations, d, p, w, self.h)
        h = (t1 - t) * (
            1 - INSIDE if self.system.jumps else 1.0
        )  # an input that jumps at t1 is seen from inside
        end = self._method.step(problem, SdirkState(t, problem.begin(c[q], c[v])), h)
        self.evaluations += end.iterations
        out, work = c.copy(), np.zeros(2)
        for stage, at, weight in ((end.stage, t + GAMMA * h, 1 - GAMMA), (end.x, t + h, GAMMA)):
            out[q], out[v] = problem.end(stage)
            work += h * weight * np.ravel(self._power(out, d, p, w, at, self.h))[-2:]
        out[-2:] += work
        return np.concatenate([self.correct(out, d, p, w, t1), d])


class _Terms:
    """Mass, force, the given constraint rows and tangents of a system as native code."""

    def __init__(self, system: System, rows: list[int]):
        self.system = system
        net, d = system.network, system.description
        dq, rate, multipliers = SX.sym("dq", d.nv), net.vdot, SX(0, 1)
        G = g = gamma = SX(0, d.nv)
        if system.closing is not None:
            multipliers = SX.sym("lambda", len(rows))
            terms = system.constraint_terms()(net.q, net.v, net.t, system.model)
            g, G, gamma = (x[rows, :] for x in terms)
        self.m = multipliers.numel()
        inertia = net.ask("mass_matrix", net.q)
        force = system.applied_forces() - net.ask("bias", net.q, net.v)
        balance = ca.mtimes(inertia, rate) + ca.mtimes(G.T, multipliers) - force
        moved = displacement(d)(net.q, dq)
        shifted = ca.substitute(balance, net.q, moved)
        stiffness = ca.substitute(ca.jacobian(shifted, dq), dq, SX.zeros(d.nv))
        damping = -ca.jacobian(force, net.v)
        symbols = [*system.arguments, rate, multipliers]
        parts = {"M": inertia, "f": force, "g": g, "G": G, "gamma": gamma}
        self._kernels = {
            name: native(
                ca.Function(name, symbols, [ca.densify(x)], [*ARGUMENTS, "vdot", "multipliers"], ["out"])
            )
            for name, x in parts.items()
            if x.numel()
        }
        self._displaced = native(displacement(d)) if d.nq != d.nv else None
        scales = d.scales()
        self._sizes = (scales.displacement, d.position_sizes(scales))
        by_v, by_vdot = SX.sym("by_v"), SX.sym("by_vdot")
        tangent = inertia + (by_v / by_vdot) * damping + stiffness / by_vdot
        everything = ca.cse([ca.densify(SX(x)) for x in (balance, tangent, g, G) if x.numel()])
        names = ["residual", "tangent", "g", "G"][: len(everything)]
        into = [*ARGUMENTS, "vdot", "multipliers", "by_v", "by_vdot"]
        self._newton = kernel.compile(
            ca.Function("newton", [*symbols, by_v, by_vdot], everything, into, names),
            finite=False,
            ranks=((1, 1, 1, 1, 0, 0, 1, 1, 0, 0), (1, 2, 1, 2)[: len(everything)]),
        )

    def problem(self, d: np.ndarray, p: np.ndarray, w: np.ndarray, h: float) -> Mechanical:
        """Return the mechanical system with these held values."""
        n = self.system.description.nv
        rest, zero, none = np.zeros(n), np.zeros(n), np.zeros(self.m)
        tail = np.zeros(self.system.nc - self.system.description.nq - n)

        def ask(
            name: str, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray = zero, m: np.ndarray = none
        ) -> np.ndarray:
            return np.asarray(self._kernels[name](np.concatenate([q, v, tail]), d, p, w, t, h, a, m))

        closed, displaced = self.m > 0, self._displaced
        blank = np.zeros(0), np.zeros((0, n))

        def at_once(at: MotionPoint, by_v: float, by_vdot: float) -> tuple[np.ndarray, ...]:
            c = np.concatenate([at.q, at.v, tail])
            correction = self._newton(c, d, p, w, at.t, h, at.vdot, at.multipliers, by_v, by_vdot)
            return correction if closed else (*correction, *blank)

        return Mechanical(
            mass=lambda t, q: ask("M", t, q, rest).reshape(n, n),
            force=lambda t, q, v: ask("f", t, q, v).reshape(n),
            constraint=(lambda t, q: ask("g", t, q, rest).reshape(self.m)) if closed else None,
            jacobian=(lambda t, q: ask("G", t, q, rest).reshape(self.m, n)) if closed else None,
            gamma=(lambda t, q, v: ask("gamma", t, q, v).reshape(self.m)) if closed else None,
            displace=(lambda q, dq: np.ravel(displaced(q, dq))) if displaced is not None else np.add,
            at_once=at_once,  # type: ignore[arg-type]
            sizes=self._sizes,
        )


STEPPERS: dict[type[Integrator], type[Stepper]] = {
    Method: ExplicitStepper,
    SecondOrderMethod: ExplicitStepper,
    Adaptive: AdaptiveStepper,
    Rosenbrock: RosenbrockStepper,
    Cvodes: SundialsStepper,
    Idas: IdasStepper,
    AlphaMethod: AlphaStepper,
    Sdirk: BallJointStepper,
}
"""What runs the methods of a class; the nearest base class of a method decides."""


def stepper_of(method: Integrator) -> type[Stepper]:
    """Return what runs a method; raise InputError for one that cannot run a mechanism."""
    for kind in type(method).__mro__:
        if kind in STEPPERS:
            return STEPPERS[kind]
    raise InputError(f"method '{method.name}' cannot run a mechanism: `STEPPERS` has no line for its class")
