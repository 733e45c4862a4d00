"""The state at which a whole loop is at rest: mechanism, states of components and held values of sampled ones.

With v = 0 at a fixed time, the unknowns are q, the states s of components and the held values d:

    v'(q, s, d) = 0,   s'(q, s, d) = 0,   d = r(q, s, d),   g(q) = 0

r: all sampled components, one after another; g: residuals of the constraints. Newton's method with exact derivatives; where it
does not get there, the way of a heavily damped motion, q' = v'(q, s, d) instead of q'' = v', with implicit steps that grow as the
imbalance falls: it leads downhill, to a stable state of rest, and ends as Newton's method. Commands u
may be unknown, too (`trim`): then joints move only as far as no commands can hold them, and v is what is given.

What is out of balance counts in parts of what is large in its row: of an acceleration that which a large displacement brings about
(`mechanism.scales`), of a loop the mechanism's length, of a component's rate what a large change of what it depends on makes.

Source: Kelley & Keyes 1998 (pseudo-transient continuation).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError
from articulus.linear import LinearModel
from articulus.numerics.newton import SMALL_MOTION, least_step, newton
from articulus.simulation.loop.functions import System
from articulus.simulation.solve.assembly import modal_dofs

MARGIN = 1e-7
"""Real part of a pole over the size of the largest, below which it counts as not growing [-]: rounding splits double poles at zero by
about the root of its own size."""
FLOWING = 500
"""Steps of the heavily damped motion after which the search gives up."""
FASTER, SLOWER = 2.0, 5.0
"""By what such a step grows after one that was taken, and shrinks after one that was not."""
LONGEST, GROWTH = 0.1, 1.2
"""Largest change of an unknown in such a step, over a large one, and largest growth of the imbalance [-]."""
FIXED = ("outside", "active", "kept", "resting", "push")
"""Held values that are no state of a component."""


@dataclass(frozen=True, eq=False)
class LoopEquilibrium:
    """A state at which a loop is at rest.

    Attributes
    ----------
    q : array, (nq,)
    states : dict of name to array
        States of components and held values of sampled ones.
    residuals : tuple of float
        Largest imbalance at the estimate and after each Newton step.
    linearized : callable
        Gives `linearize`.
    """

    q: np.ndarray
    states: Mapping[str, np.ndarray]
    residuals: tuple[float, ...]
    linearized: Callable[[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...]], LinearModel]

    @functools.cached_property
    def model(self) -> LinearModel:
        """Linear model of the whole loop about this state; inputs are joint forces."""
        return self.linearize()

    def linearize(
        self,
        inputs: Sequence[str] = ("tau",),
        outputs: Sequence[str] | None = None,
        opened: Sequence[str] = (),
    ) -> LinearModel:
        """Return the linear model of the whole loop about this state, states of components included; see `Loop.linearize`."""
        return self.linearized(tuple(inputs), None if outputs is None else tuple(outputs), tuple(opened))

    @functools.cached_property
    def stable(self) -> bool:
        """Whether no pole of the loop's linear model there has a positive real part."""
        poles = self.model.poles[np.isfinite(self.model.poles)]
        return bool((poles.real <= MARGIN * np.abs(poles).max(initial=1.0)).all())


class LoopRest:
    """Balance of a loop at rest, as a function of x = (q, states of components, held values, commands that are unknown).

    Parameters
    ----------
    mechanism : Mechanism
    system : System
    c, d : array
        State at which the search begins; velocities are taken as zero.
    p : array
        Parameters of the loop.
    t, h : float [s]
        Time, and step of the loop.
    commands : sequence of int
        Parameters p that are unknown: constant parts of commands.
    fixed : array of bool, (nv,)
        Degrees of freedom that do not move.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        system: System,
        c: np.ndarray,
        d: np.ndarray,
        p: np.ndarray,
        t: float,
        h: float,
        commands: Sequence[int] = (),
        fixed: np.ndarray | None = None,
    ):
        self.mechanism, self.system, self.c, self.d = mechanism, system, c.copy(), d.copy()
        self.p, self.commands = p.copy(), list(commands)
        self._rest = np.zeros(system.nw), t, h
        self.t = t
        self.c[system.places["v"]] = 0.0
        self._moving = np.ones(mechanism.nv, dtype=bool) if fixed is None else ~fixed
        own = [name for name in system.places if name not in ("q", "v") and not name.startswith("work.")]
        held = [name for name in system.held_places if name not in FIXED]
        self.own, self.held = (
            {n: at[n] for n in names} for names, at in ((own, system.places), (held, system.held_places))
        )
        self._own, self._held = _indices(self.own), _indices(self.held)
        names = {q.name for q in mechanism.description.parameters}
        self.params: Mapping[str, Any] = {
            q.name: float(value) for q, value in zip(system.network.parameters, p) if q.name in names
        }

    def report(self, linearized: Callable[..., LinearModel], residuals: tuple[float, ...]) -> LoopEquilibrium:
        """Return the present state, with what gives its linear model."""
        states = {name: self.c[at].copy() for name, at in self.own.items()}
        states |= {name: self.d[at].copy() for name, at in self.held.items()}
        return LoopEquilibrium(self.c[self.system.places["q"]].copy(), states, residuals, linearized)

    def find(self, tolerance: float) -> tuple[float, ...]:
        """Move c and d to rest; return the largest residual on the way.

        Raises
        ------
        NumericalError
            There is no such state near the first.
        """
        q = self.c[self.system.places["q"]]
        x = np.concatenate([q, self.c[self._own], self.d[self._held], self.p[self.commands]])
        start, sizes = x, self.sizes(x)[0]
        x, history = newton(x, self.residual, self.step, self.move, tolerance, sizes)
        if not self.commands and not self._balanced(x, sizes, tolerance):
            x = self._flow(start, sizes, tolerance)
            x, again = newton(x, self.residual, self.step, self.move, tolerance, sizes)
            history = history + again
        left, allowed = np.abs(self.residual(x)), tolerance * np.maximum(sizes, self.sizes(x)[0])
        if not (left <= allowed).all():
            worst = int((left / allowed).argmax())
            states = [name for name, at in (self.own | self.held).items() for _ in range(at.stop - at.start)]
            labels = [
                *(f"v'.{name}" for name in self.mechanism.v_names),
                *states,
                *self.mechanism.constraint_names,
            ]
            method, none = (
                ("trim", "commands that hold it") if self.commands else ("equilibrium", "state of rest")
            )
            raise NumericalError(
                f"{method}: the loop around '{self.mechanism.name}' is out of balance by {left[worst]:.3g} after "
                f"{len(history) - 1} steps, most in {labels[worst]}; expected at most {allowed[worst]:.3g}. There may be no {none}; try "
                "another estimate"
            )
        self._put(x)
        return history

    def _put(self, x: np.ndarray) -> None:
        cuts = np.cumsum([self.mechanism.nq, self._own.size, self._held.size])
        places = self.system.places["q"]
        self.c[places], self.c[self._own], self.d[self._held], self.p[self.commands] = np.split(x, cuts)

    @functools.cached_property
    def _balance(self) -> ca.Function:
        """(c, d, p, w, t, h) -> v', s', d - r(d), and their derivatives by c, d and the commands."""
        s = self.system
        parts = [s.rhs, *(u.function for u in s.updates)]
        kind: Any = SX if all(f.is_a("SXFunction") for f in parts) else ca.MX
        c, d, p, *rest = (kind.sym(name, size) for name, size in zip("cdpwth", s.sizes))
        rate, renewed = s.rhs(c, d, p, *rest), d
        for update in s.updates:
            renewed = update.function(c, renewed, p, *rest)
        at = [*range(s.places["v"].start, s.places["v"].stop), *self._own.tolist()]
        out = ca.vertcat(ca.vec(rate)[at], ca.vec(d - renewed)[self._held.tolist()])
        by = [ca.densify(ca.jacobian(out, of)) for of in (c, d, *([p] if self.commands else []))]
        return ca.Function("balance", [c, d, p, *rest], [ca.densify(out), *by])

    @functools.cached_property
    def _position_rate(self) -> ca.Function:
        """(q, v) -> derivative of q' by v."""
        net = self.system.network
        E = ca.jacobian(net.ask("position_rate", net.q, net.v), net.v)
        return ca.Function("position_rate", [net.q, net.v], [ca.densify(E)])

    def residual(self, x: np.ndarray) -> np.ndarray:
        """Return what is not balanced at x."""
        self._put(x)
        balance = np.array(self._balance(self.c, self.d, self.p, *self._rest)[0]).ravel()
        g = self.mechanism.constraint_residual(x[: self.mechanism.nq], self.t, params=self.params)
        return np.append(balance, g)

    def derivative(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivative of the balance (v', s', d - r), and that of the constraints, by displacements, states, held values and commands."""
        self._put(x)
        m, places = self.mechanism, self.system.places
        _, by_c, by_d, *by_p = (np.array(y) for y in self._balance(self.c, self.d, self.p, *self._rest))
        E = np.array(self._position_rate(self.c[places["q"]], self.c[places["v"]]))
        parts = [by_c[:, places["q"]] @ E, by_c[:, self._own], by_d[:, self._held]]
        J = np.hstack([*parts, *(by[:, self.commands] for by in by_p)])
        G = m.constraint_jacobian(x[: m.nq], self.t, params=self.params)
        return J, np.hstack([G, np.zeros((len(G), J.shape[1] - m.nv))])

    def sizes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what is large in each row of the balance and of the constraints, and what is a large change of each unknown.

        A large displacement is known; from it follows what is a large acceleration, from that what is a large change of a
        component's state, and so on along the rows in which they meet.
        """
        nv = self.mechanism.nv
        J, G = self.derivative(x)
        scales = self.mechanism.description.scales(self.params)
        unknowns = np.concatenate([scales.displacement, np.zeros(J.shape[1] - nv)])
        sliding = scales.displacement == scales.length
        places = self.c[self.system.places["q"]]
        if len(places) == nv:  # what slides far beyond the size of its bodies: masses on ropes
            unknowns[:nv] = np.where(sliding, np.maximum(unknowns[:nv], np.abs(places)), unknowns[:nv])
        rows = np.zeros(len(J))
        for _ in range(1 + J.shape[1] - nv):
            rows = np.maximum(rows, np.abs(J * unknowns).max(axis=1, initial=0.0))
            met = np.abs(J) / np.where(rows > 0, rows, np.inf)[:, None]
            strongest = met.max(axis=0, initial=0.0)
            fresh = (unknowns == 0) & (strongest > 0)
            if not fresh.any():
                break
            unknowns[fresh] = 1 / strongest[fresh]
        unknowns[unknowns == 0] = 1.0
        rows = np.maximum(rows, np.abs(J * unknowns).max(axis=1, initial=0.0))
        rate = np.sqrt((rows[:nv] / unknowns[:nv]).max(initial=0.0)) or 1.0
        n = self._own.size
        least = unknowns[nv : nv + n + self._held.size].copy()
        least[:n] *= rate  # what rounds a kink off is no rate of a state
        rows[nv : nv + len(least)] = np.maximum(rows[nv : nv + len(least)], least)
        residual = np.abs(self.residual(x)[: len(J)])
        rows = np.where(rows > 0, rows, np.where(residual > 0, residual, 1.0))
        return np.append(rows, scales.row_sizes(G[:, :nv])), unknowns

    def step(self, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return the Newton step: displacement (nv), changes of states, held values and commands."""
        return self._step(x, residual, np.inf)

    def _step(self, x: np.ndarray, residual: np.ndarray, span: float) -> np.ndarray:
        """Return the implicit step of the heavily damped motion over a span [s^2]; an infinite one is Newton's."""
        J, G = self.derivative(x)
        held = len(J) - self._held.size
        J[:held] -= np.eye(*J.shape)[:held] / span
        J[held:] += np.eye(*J.shape)[held:] / span
        on_positions = self.mechanism.description.holonomic_rows
        kept = np.append(np.ones(len(J), dtype=bool), on_positions)
        rows, unknowns = self.sizes(x)
        every, others = np.vstack([J, G[on_positions]]), np.ones(J.shape[1] - self.mechanism.nv, dtype=bool)
        moving = np.append(self._moving, others)
        if not self.commands:
            return least_step(every, -residual[kept], moving, rows[kept], unknowns)
        joints = np.append(~modal_dofs(self.mechanism), ~others)
        plain = every * unknowns / rows[kept][:, None]
        return unknowns * _least_moved(plain, -residual[kept] / rows[kept], moving & joints, moving & ~joints)

    def _balanced(self, x: np.ndarray, sizes: np.ndarray, tolerance: float) -> bool:
        return bool((np.abs(self.residual(x)) <= tolerance * np.maximum(sizes, self.sizes(x)[0])).all())

    def _flow(self, x: np.ndarray, sizes: np.ndarray, tolerance: float) -> np.ndarray:
        """Return where the heavily damped motion leads: near to a stable state of rest, if there is one downhill.

        A step is as long as the imbalance does not grow by it, and takes nothing further than a tenth of what is large.
        """
        r, nv = self.residual(x), self.mechanism.nv
        unknowns, coarse = self.sizes(x)[1], sizes.copy()
        coarse[:nv] = unknowns[:nv] * (sizes[:nv] / unknowns[:nv]).max(initial=0.0)
        span = 1 / (coarse[:nv] / unknowns[:nv]).max(initial=SMALL_MOTION)
        for _ in range(FLOWING):
            by = self._step(x, r, span)
            there = self.move(x, by)
            found = self.residual(there)
            near = np.abs(by / unknowns).max(initial=0.0) <= LONGEST
            left, before = np.linalg.norm(found / coarse), np.linalg.norm(r / coarse)
            if not (near and left <= GROWTH * before):
                span /= SLOWER
                continue
            x, r, span = there, found, span * FASTER
            if (np.abs(r / sizes) <= np.sqrt(tolerance)).all():
                break
        return x

    def move(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        """Return x after a step."""
        nq, nv = self.mechanism.nq, self.mechanism.nv
        return np.append(self.mechanism.integrate_position(x[:nq], by[:nv]), x[nq:] + by[nv:])


def _least_moved(A: np.ndarray, b: np.ndarray, costly: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return x with A x = b (least squares) whose costly entries are as small as what the free ones leave open asks for."""
    x = np.zeros(A.shape[1])
    F, J = A[:, free], A[:, costly]
    sizes = np.linalg.norm(F, axis=0)
    F = F / np.where(sizes > 0, sizes, 1.0)
    U, values, _ = np.linalg.svd(F)
    open_ = U[:, np.count_nonzero(values > SMALL_MOTION * values.max(initial=0.0)) :]
    left, values, right = np.linalg.svd(open_.T @ J, full_matrices=False)
    strong = values > SMALL_MOTION * np.linalg.norm(J)
    x[costly] = right[strong].T @ ((left[:, strong].T @ (open_.T @ b)) / values[strong])
    x[free] = np.linalg.lstsq(F, b - J @ x[costly], rcond=SMALL_MOTION)[0] / np.where(sizes > 0, sizes, 1.0)
    return x


def _indices(places: Mapping[str, slice]) -> np.ndarray:
    return np.array([k for at in places.values() for k in range(at.start, at.stop)], dtype=int)
