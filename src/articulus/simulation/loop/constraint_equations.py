"""Loops in time: accelerations under constraints that can be switched, and the way back onto them after a step."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.coupled import Coupled
from articulus.dynamics.loops.base import ConstraintProblem, suggested_penalty
from articulus.dynamics.loops.branches import Branches, BranchState
from articulus.dynamics.loops.forms import DEFAULT, DUAL, ITERATIONS, Given, LoopForm
from articulus.dynamics.loops.pivoted import Following
from articulus.dynamics.loops.projection import Projection
from articulus.dynamics.tree import Tree
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.displacement import displacement

CALLS_FROM = 300
"""Constraint rows from which the equations are calls of procedures that loops of the same shape share. Up to there they are
written out, and a step takes four fifths of the time: 18.6 us against 24.1 us with 120 rows (40 four-bar loops)."""

REPORTED_BY_CALLS_FROM = 60
"""Constraint rows from which the equations are such calls in what a run reports, which is computed once per sample: a third of the
code to compile."""

PIECES_FROM = 60
"""Constraint rows from which the projection is written out in pieces that its iterations share, not as a whole. That is a
third less code to compile, and a step takes 1 to 3 % longer."""


class ClosingEquations:
    """The constraints of a mechanism on symbols.

    Parameters
    ----------
    description : Description
    form : Form
        In which the accelerations are found, and which says how a step returns to the constraints.
    as_found : bool
        Whether rows may keep another residual than zero; `active` then holds one per row after the flags of the constraints.
    """

    def __init__(self, description: Description, form: LoopForm, as_found: bool = False):
        self.description, self.form, self._as_found = description, form, as_found
        self.t = SX.sym("t")
        flags = len(description.constraints)
        self.active = SX.sym("active", flags + as_found * len(self.names))
        self._kept = self.active[flags:] if as_found else SX.zeros(len(self.names))
        self._whole = ClosedEquations(description, self.t)
        self._cut: dict[tuple[str, ...], Branches] = {}
        self._accelerations: dict[tuple[str, ...], ca.Function] = {}

    @property
    def tree(self) -> Tree | Coupled:
        """Whose q, v and p everything is written on."""
        return self._whole.symbols

    @property
    def rows(self) -> Constraints:
        """All constraint rows."""
        return self._whole.rows

    @property
    def M(self) -> SX:
        """The mass matrix of the tree."""
        return self._free_equations[0]

    @functools.cached_property
    def names(self) -> list[str]:
        """Names of the constraints, one for each row."""
        d = self.description
        return [c.name for c in d.constraints for _ in c.row_names(d)]

    def _on(self) -> SX:
        """Return 1 for every row that holds and 0 for the others."""
        index = {c.name: i for i, c in enumerate(self.description.constraints)}
        return ca.vertcat(SX(0, 1), *(self.active[index[name]] for name in self.names))

    def holding(self) -> ca.Function:
        """(active) -> 1 for every row that holds and 0 for the others, (m,)."""
        return ca.Function("holding", [self.active], [ca.densify(self._on())])

    @functools.cached_property
    def masses(self) -> SX:
        """The mass that every row feels at a general position, (m,)."""
        d = self.description
        q = np.random.default_rng(0).uniform(0.1, 1.0, d.nv) * d.scales().displacement
        start = displacement(d)(d.neutral, q)
        p = [value_of(x) for x in d.parameters]
        if self._by_branches:
            M = np.diag(self._branches(()).mass_diagonal(np.array(start).ravel(), p))
        else:
            M = np.array(ca.Function("M", [self.tree.q, self.tree.p], [self.M])(start, p))
        return SX(suggested_penalty(M, np.array(self.jacobian(start, 0.0, p)), 1.0))

    @property
    def _free_equations(self) -> tuple[SX, SX]:
        """The mass matrix and the bias without wrenches."""
        return self._whole.free

    @property
    def _by_branches(self) -> bool:
        """Whether the mechanism can be taken branch by branch: rigid bodies, each joint by itself."""
        return not (self.description.flexible or self.description.couplings)

    def _branches(self, frames: Sequence[str]) -> Branches:
        """Return the tree branch by branch."""
        key = tuple(frames)
        if key not in self._cut:
            self._cut[key] = Branches(self._whole.tree, key)
        return self._cut[key]

    def _write_out(self, graph: ca.Function) -> ca.Function:
        """Return a graph of calls as it is where there are many rows, and written out where there are few."""
        if len(self.names) >= CALLS_FROM:
            return graph
        symbols = [SX.sym(graph.name_in(i), graph.sparsity_in(i)) for i in range(graph.n_in())]
        return ca.Function(graph.name(), symbols, ca.cse(graph.call(symbols)))

    @property
    def n_own(self) -> int:
        """Number of the form's own states."""
        return self.form.size(self.description.nv, len(self.names))

    def _form_inputs(self, frames: Sequence[str]) -> tuple[Given, list[SX]]:
        """Return what the form starts from, and the symbols (q, v, tau, t, active, p, h, own, wrenches ...)."""
        tree, rows, on = self.tree, self.rows, self._on()
        tau, h, own = SX.sym("tau", self.description.nv), SX.sym("h"), SX.sym("own", self.n_own)
        wrenches = [SX.sym(f"wrench_{i}", 6) for i in range(len(frames))]
        bias, applied = self._free_equations[1], tau
        if frames:
            _, pushed = self._whole.equations(dict(zip(frames, wrenches)))
            bias, applied = pushed, tau + bias - pushed
        G = ca.mtimes(ca.diag(on), rows.G)
        held = Constraints(on * (rows.g - self._kept), G, on * rows.rate, on * rows.gamma)
        given = Given(
            tree, ConstraintProblem(self.M, tau - bias, held), applied, self.masses, on, self.t, h, own
        )
        return given, [tree.q, tree.v, tau, self.t, self.active, tree.p, h, own, *wrenches]

    def acceleration(self, frames: Sequence[str]) -> ca.Function:
        """(q, v, tau, t, active, p, h, own, wrenches ...) -> accelerations, multipliers, rates of the own states."""
        key = tuple(frames)
        if key not in self._accelerations:
            self._accelerations[key] = self._acceleration(key)
        return self._accelerations[key]

    def _acceleration(self, frames: tuple[str, ...]) -> ca.Function:
        if self.form.name == DEFAULT and self._by_branches:
            return self._write_out(self._graph(frames))
        given, symbols = self._form_inputs(frames)
        found = self.form.solve(given)
        out = ca.cse([ca.densify(x) for x in (found.vdot, found.multipliers, found.own_rate)])
        return ca.Function("closed", symbols, out)

    def short_acceleration(self, frames: Sequence[str]) -> ca.Function:
        """Return `acceleration` for code that is run rarely: where there are many rows, as calls of shared procedures."""
        if self.form.name == DEFAULT and self._by_branches and len(self.names) >= REPORTED_BY_CALLS_FROM:
            return self._graph(frames)
        return self.acceleration(frames)

    def _graph(self, frames: Sequence[str]) -> ca.Function:
        """Return the accelerations of the default form as calls of shared procedures."""
        s, h, own = self._state(), MX.sym("h"), MX.sym("own", 0)
        tau, wrenches = MX.sym("tau", self.description.nv), [MX.sym("wrench", 6) for _ in frames]
        found = self._branches(frames).acceleration(s, tau, wrenches, self._compliance, ITERATIONS)
        symbols = [s.q, s.v, tau, s.t, s.active, s.p, h, own, *wrenches]
        return ca.Function("closed", symbols, [*found, MX(0, 1)])

    def _state(self) -> BranchState:
        d = self.description
        sizes = {"q": d.nq, "v": d.nv, "t": 1, "p": len(d.parameters), "active": self.active.numel()}
        return BranchState(**{name: MX.sym(name, size) for name, size in sizes.items()})

    @property
    def _compliance(self) -> np.ndarray:
        """What a unit multiplier lets each row yield, (m,)."""
        return 1 / (DUAL * np.array(ca.DM(self.masses)).ravel())

    def beginning(self, frames: Sequence[str]) -> ca.Function:
        """(q, v, tau, t, active, p, h, own, wrenches ...) -> the form's own states that go with q and v."""
        given, symbols = self._form_inputs(frames)
        assert self.form.begin is not None
        return ca.Function("beginning", symbols, [ca.densify(self.form.begin(given))])

    def regular(self) -> ca.Function | None:
        """(q, v, t, active, p) -> the matrix that the form needs regular at the start; None where it needs none."""
        if self.form.regular is None:
            return None
        given, (q, v, _, t, active, p, *_) = self._form_inputs(())
        return ca.Function("regular", [q, v, t, active, p], [ca.densify(self.form.regular(given))])

    def velocity(self) -> ca.Function:
        """(q, v, tau, t, active, p, h, own) -> the velocities that follow from the form's own states."""
        given, symbols = self._form_inputs(())
        assert self.form.velocity is not None
        return ca.Function("velocity", symbols, ca.cse([ca.densify(self.form.velocity(given))]))

    def projection(self) -> ca.Function | None:
        """(q, v, t, active, p) -> q, v on the constraints, change of the energy [J]; None for a form that does not return to them."""
        if self.form.back is None:
            return None
        if self.form.back == "projection" and self._by_branches and not self._as_found:
            s = self._state()
            displaced = displacement(self.description)
            whole = len(self.names) < PIECES_FROM
            written = _as_it_is if whole else self._write_out
            projected = self._branches(()).projection(s, self._compliance, 2, displaced, written)
            graph = ca.Function("projection", [s.q, s.v, s.t, s.active, s.p], list(projected))
            return self._write_out(graph) if whole else graph
        tree, d, on = self.tree, self.description, self._on()
        G = ca.mtimes(ca.diag(on), self.rows.G)
        way: Projection | Following
        if self.form.back == "dependent":
            way = Following(self.M, G, iterations=2)
        else:
            way = Projection(self.M, G, DUAL * self.masses, iterations=2)
        displaced = displacement(d)
        at = ca.Function("at", [tree.q, tree.v, self.t, tree.p], [self.rows.g, self.rows.rate])
        dq = way.change(lambda x: on * (at(displaced(tree.q, x), tree.v, self.t, tree.p)[0] - self._kept))
        q = displaced(tree.q, dq)
        dv = way.change(lambda x: on * at(q, tree.v + x, self.t, tree.p)[1])
        energy = ca.Function("energy", [tree.q, tree.v, tree.p], [self._whole.energy()])
        change = energy(q, tree.v + dv, tree.p) - energy(tree.q, tree.v, tree.p)
        out = ca.cse([ca.densify(q), ca.densify(tree.v + dv), change])
        return ca.Function("projection", [tree.q, tree.v, self.t, self.active, tree.p], out)

    @functools.cached_property
    def jacobian(self) -> ca.Function:
        """(q, t, p) -> G, (m, nv)."""
        return ca.Function("jacobian", [self.tree.q, self.t, self.tree.p], [ca.densify(self.rows.G)])

    @functools.cached_property
    def position(self) -> ca.Function:
        """(q, t, p) -> position residuals, (m,)."""
        return ca.Function("position", [self.tree.q, self.t, self.tree.p], [ca.densify(self.rows.g)])

    @functools.cached_property
    def rate(self) -> ca.Function:
        """(q, v, t, p) -> velocity residuals, (m,)."""
        symbols = [self.tree.q, self.tree.v, self.t, self.tree.p]
        return ca.Function("rate", symbols, [ca.densify(self.rows.rate)])

    def residual(self) -> ca.Function:
        """(q, v, t, active, p) -> the largest position residual and the largest velocity residual of rows that hold."""
        tree, on = self.tree, self._on()
        off = (self.rows.g - self._kept, self.rows.rate)
        largest = [ca.mmax(ca.fabs(on * x)) if x.numel() else SX(0) for x in off]
        return ca.Function("residual", [tree.q, tree.v, self.t, self.active, tree.p], [ca.vertcat(*largest)])

    def residuals(self) -> ca.Function:
        """(q, v, t, active, p) -> the position and the velocity residual of every row, zero for rows that do not hold."""
        tree, on = self.tree, self._on()
        rows = [on * (self.rows.g - self._kept), on * self.rows.rate]
        return ca.Function("residuals", [tree.q, tree.v, self.t, self.active, tree.p], rows)

    def power(self) -> ca.Function:
        """(q, t, p, multipliers) -> power of the constraints [W]: -lambda' G v = lambda' g_t, that of prescribed motions."""
        tree = self.tree
        multipliers = SX.sym("multipliers", self.rows.g.numel())
        by_time = ca.substitute(self.rows.rate, tree.v, SX.zeros(tree.v.shape))
        return ca.Function("power", [tree.q, self.t, tree.p, multipliers], [ca.dot(multipliers, by_time)])


def _as_it_is(graph: ca.Function) -> ca.Function:
    return graph
