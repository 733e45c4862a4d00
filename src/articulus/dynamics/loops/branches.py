"""The regularized form and the projection branch by branch, as a graph of calls of shared procedures.

A branch is all that is attached to one joint to the ground. The mass matrix falls into one block per branch, M_b = L_b D_b L_b',
and a constraint reaches few branches (branch-induced sparsity, Featherstone 2008, section 8.9), so that

    W = G M^-1 G' = sum over b of Y_b' D_b^-1 Y_b,   Y_b = L_b^-1 G_b'

has blocks only for constraints that share a branch. Branches and constraints that are alike, as the loops of a row are,
share their procedures and differ in constants: the code stays small, and set-up and step grow linearly with the number
of loops. Only the factorization of W with its compliances is written out for the whole, with the zeros kept.

Matrices pass between procedures as columns of their nonzeros.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics.constraints import Closure, closures
from articulus.dynamics.energy import gravity_energy, kinetic_energy
from articulus.dynamics.external import applied_wrenches
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passive import passive_forces, spring_energy
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree
from articulus.dynamics.tree_part import Parts, TreePart


@dataclass(frozen=True)
class BranchState:
    """Positions, velocities, time, parameters, and 1 for every constraint that holds or 0 [everything MX]."""

    q: MX
    v: MX
    t: MX
    p: MX
    active: MX


@dataclass(frozen=True)
class _Reach:
    """One constraint on one branch.

    Parameters
    ----------
    closure : int
        The constraint.
    columns : list of int
        Columns of its Jacobian that are velocities of the branch.
    places : list of int
        Where these velocities stand in the branch.
    """

    closure: int
    columns: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Branch:
    """One branch with the constraints that reach it."""

    part: TreePart
    reaches: list[_Reach] = field(default_factory=list)


@dataclass(frozen=True)
class _Procedures:
    """What is computed of a branch; branches that are alike share it.

    Parameters
    ----------
    moving : casadi.Function
        (constants, places, p, v, f, wrenches ..., blocks of G ...) -> L and D, Y ..., blocks of W ..., M^-1 (f - bias),
        G M^-1 (f - bias) of every constraint.
    resting : casadi.Function
        (constants, places, p, blocks of G ...) -> L and D, Y ..., blocks of W ...
    respond : casadi.Function
        (L and D, Y ..., x, multipliers ...) -> x - M^-1 G' multipliers.
    pairs : list of (int, int, casadi.Sparsity)
        For every block of W its constraints, by their places among those of the branch, and its structure.
    """

    moving: ca.Function
    resting: ca.Function
    respond: ca.Function
    pairs: list[tuple[int, int, ca.Sparsity]]


class Branches:
    """A mechanism of rigid bodies with its constraints, branch by branch.

    Parameters
    ----------
    tree : Tree
    frames : sequence of str
        Bodies or frames on which external wrenches act.
    """

    def __init__(self, tree: Tree, frames: Sequence[str] = ()):
        self.tree, self.frames = tree, tuple(frames)
        parts, self.closures = closures(tree)
        self._parts = parts
        self._first = np.cumsum([0, *(c.rows for c in self.closures)]).tolist()
        self._branches = self._cut(parts)
        self._made: dict[tuple, Any] = {}

    def _cut(self, parts: Parts) -> list[_Branch]:
        """Return the branches, each with the constraints that reach it."""
        tree, wrenches = self.tree, {name: self.tree.frame(name)[0] for name in self.frames}
        nodes: dict[int, list[int]] = {}
        for i in range(len(tree)):
            nodes.setdefault(tree.path(i)[-1], []).append(i)
        out = []
        for own in nodes.values():
            out.append(_Branch(parts.part(own, [name for name, node in wrenches.items() if node in own])))
        place = {k: (branch, at) for branch in out for at, k in enumerate(branch.part.at_v)}
        for c, closure in enumerate(self.closures):
            for column in sorted(set(closure.function.sparsity_out(1).get_triplet()[1])):
                branch, at = place[closure.at_v[column]]
                if not branch.reaches or branch.reaches[-1].closure != c:
                    branch.reaches.append(_Reach(c))
                branch.reaches[-1].columns.append(column)
                branch.reaches[-1].places.append(at)
        return out

    def mass_diagonal(self, q: np.ndarray, p: Sequence[float]) -> np.ndarray:
        """Return the diagonal of the mass matrix at a position, (nv,)."""
        out, places = np.zeros(self.tree.v.numel()), self._places(q, p)
        for branch in self._branches:
            own = branch.part
            function = self._once(("diagonal", own.shape), functools.partial(_diagonal, own))
            found = function(self._constants(own.constants, ca.DM(p)), places[own.at_place], p)
            out[own.at_v] = np.array(found).ravel()
        return out

    # accelerations

    def acceleration(
        self, s: BranchState, tau: MX, wrenches: Sequence[MX], compliance: np.ndarray, iterations: int
    ) -> tuple[MX, MX]:
        """Return vdot, (nv,), and multipliers, (m,), as `regularized` does, with compliances (m,)."""
        places = self._places(s.q, s.p)
        f = tau + self._whole("passive forces", passive_forces(self.tree, self.tree.v), s)
        gamma, jacobians = self._rows("acceleration", s, places)
        held, free, along = [], [], [[x] for x in gamma]
        for branch in self._branches:
            given = [*self._of(branch.part, s, places), s.v[branch.part.at_v], f[branch.part.at_v]]
            given += [wrenches[self.frames.index(name)] for name in branch.part.frames]
            out = self._procedures(branch).moving.call([*given, *jacobians(branch)])
            n = len(branch.reaches)
            for reach, contribution in zip(branch.reaches, out[len(out) - n :]):
                along[reach.closure].append(contribution)
            free.append(out[len(out) - n - 1])
            held.append(out[: len(out) - n - 1])
        factors, back = self._reduced(held, compliance), self._back(compliance)
        multipliers, rest = back.call([factors, _stack_sums(along)])
        for _ in range(iterations - 1):
            step, rest = back.call([factors, rest])
            multipliers = multipliers + step
        return self._join(self._responses(held, free, multipliers)), multipliers

    # back onto the constraints

    def projection(
        self,
        s: BranchState,
        compliance: np.ndarray,
        iterations: int,
        displaced: ca.Function,
        written: Callable[[ca.Function], ca.Function],
    ) -> tuple[MX, MX, MX]:
        """Return q and v on the constraints as `Projection` does, and the change of the stored energy [J].

        What iterations repeat is one function each: written out, it is compiled once.

        Parameters
        ----------
        s : State
        compliance : array, (m,)
        iterations : int
        displaced : casadi.Function
            (q, dx) -> q displaced in the directions of v.
        written : callable
            Returns a graph of calls as it shall be: written out, or as it is.
        """
        places = self._places(s.q, s.p)
        starting = self._function("starting", lambda at, on: self._starting(at, on, compliance), written)

        def column(what: str) -> Callable[[BranchState, MX], list[MX]]:
            return lambda at, on: [ca.vertcat(*self._rows(what, at, on)[0])]

        position, rate = (self._function(what, column(what), written) for what in ("position", "rate"))
        energy = self._function("energy", lambda at, on: [self._energy(at, on)], written)
        closer = self._closer(compliance, written)
        factors, rows_of_starts = starting(s, places)

        def change(residual: Callable[[MX | None], MX]) -> MX:
            dx = MX.zeros(self.tree.v.numel())
            for k in range(iterations):
                (dx,) = _call(closer, [factors, rows_of_starts, residual(dx if k else None), dx])
            return dx

        def off(dx: MX | None) -> MX:
            if dx is None:
                return position(s, places)[0]
            q = displaced(s.q, dx)
            return position(replace(s, q=q), self._places(q, s.p))[0]

        moved = replace(s, q=displaced(s.q, change(off)))
        after = self._places(moved.q, s.p)
        v = s.v + change(lambda dv: rate(moved if dv is None else replace(moved, v=s.v + dv), after)[0])
        return moved.q, v, energy(replace(moved, v=v), after)[0] - energy(s, places)[0]

    def _function(
        self,
        name: str,
        make: Callable[[BranchState, MX], list[MX]],
        written: Callable[[ca.Function], ca.Function],
    ) -> Callable[[BranchState, MX], list[MX]]:
        """Return a function of a state and the places of its joints."""
        d, p = self.tree.description, self.tree.p.numel()
        sizes = (d.nq, d.nv, 1, p, len(self.closures), self._parts.places.numel())
        *state, places = (MX.sym(f"i{k}", n) for k, n in enumerate(sizes))
        function = written(ca.Function(name, [*state, places], make(BranchState(*state), places)))
        return lambda s, at: _call(function, [s.q, s.v, s.t, s.p, s.active, at])

    def _starting(self, s: BranchState, places: MX, compliance: np.ndarray) -> list[MX]:
        """Return the factors of W, and what `_responses` needs of all branches, one below the other."""
        _, jacobians = self._rows("jacobian", s, places)
        held = [
            self._procedures(b).resting.call([*self._of(b.part, s, places), *jacobians(b)])
            for b in self._branches
        ]
        own = [x for b, h in zip(self._branches, held) for x in h[: 1 + len(b.reaches)]]
        return [self._reduced(held, compliance), ca.vertcat(*own)]

    def _closer(self, compliance: np.ndarray, written: Callable[[ca.Function], ca.Function]) -> ca.Function:
        """(factors, what `_responses` needs, residual, x) -> x - M^-1 G' multipliers, in the order of v."""
        back = self._back(compliance)
        sizes = [
            [self._procedures(b).respond.numel_in(k) for k in range(1 + len(b.reaches))]
            for b in self._branches
        ]
        total = sum(map(sum, sizes))
        factors, held = MX.sym("factors", back.numel_in(0)), MX.sym("held", total)
        residual, x = MX.sym("residual", self._first[-1]), MX.sym("x", self.tree.v.numel())
        pieces = iter(ca.vertsplit(held, np.cumsum([0, *(n for own in sizes for n in own)]).tolist()))
        of_branches = [[next(pieces) for _ in own] for own in sizes]
        multipliers, _rest = back.call([factors, residual])
        found = self._responses(of_branches, [x[b.part.at_v] for b in self._branches], multipliers)
        return written(ca.Function("closer", [factors, held, residual, x], [self._join(found)]))

    def _energy(self, s: BranchState, places: MX) -> MX:
        """Return the energy that is stored in motion, gravity and springs [J]."""
        energies = [self._whole("springs", spring_energy(self.tree), s)]
        for branch in self._branches:
            own = branch.part
            function = self._once(("energy", own.shape), functools.partial(_energy_function, own))
            energies.append(function(*self._of(own, s, places), s.v[own.at_v]))
        return ca.sum1(ca.vertcat(*energies))

    # pieces

    def _once(self, key: tuple, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _constants(self, constants: SX, p: Any) -> Any:
        return (
            ca.DM(constants)
            if constants.is_constant()
            else ca.Function("constants", [self.tree.p], [constants])(p)
        )

    def _places(self, q: Any, p: Any) -> Any:
        """Return the places of all joints."""
        symbols = [self.tree.q, self.tree.p]
        function = self._once(
            ("places",), lambda: ca.Function("places", symbols, [ca.densify(self._parts.places)])
        )
        return function(q, p)

    def _of(self, part: TreePart, s: BranchState, places: MX) -> list[Any]:
        """Return constants, places and parameters of a part."""
        return [self._constants(part.constants, s.p), places[part.at_place], s.p]

    def _whole(self, name: str, expression: SX, s: BranchState) -> MX:
        """Return a named expression of the tree's q, v and p; a structural zero where it is zero."""
        if expression.is_zero():
            return MX(*expression.shape)
        symbols = [self.tree.q, self.tree.v, self.tree.p]
        function = self._once((name,), lambda: ca.Function("whole", symbols, [ca.densify(expression)]))
        return function(s.q, s.v, s.p)

    def _rows(self, what: str, s: BranchState, places: MX) -> tuple[list[MX], Callable[[_Branch], list[MX]]]:
        """Return a column of every constraint and, for a branch, the blocks of its constraints' Jacobians."""
        columns, blocks = [], {}
        for c, closure in enumerate(self.closures):
            cuts = (
                [r for b in self._branches for r in b.reaches if r.closure == c]
                if what in WITH_JACOBIAN
                else []
            )
            key = (what, closure.function.__hash__(), tuple(tuple(r.columns) for r in cuts))
            function = self._once(key, functools.partial(_row_function, what, closure, cuts))
            at = s.q if closure.at_place is None else places[list(closure.at_place)]
            v = s.v[list(closure.at_v)]
            found = function.call([self._constants(closure.constants, s.p), at, v, s.t, s.p, s.active[c]])
            columns.append(found[0])
            blocks.update({id(r): block for r, block in zip(cuts, found[1:])})
        return columns, lambda branch: [blocks[id(r)] for r in branch.reaches]

    def _block(self, reach: _Reach) -> ca.Sparsity:
        """Return the structure of the block of a Jacobian."""
        return _columns(self.closures[reach.closure].function.sparsity_out(1), reach.columns)

    def _procedures(self, branch: _Branch) -> _Procedures:
        blocks = [self._block(r) for r in branch.reaches]
        texts = tuple(
            (tuple(b.row()), tuple(b.colind()), b.shape, tuple(r.places))
            for b, r in zip(blocks, branch.reaches)
        )
        key = ("branch", branch.part.shape, texts)
        places = [r.places for r in branch.reaches]
        return self._once(key, lambda: _branch_procedures(branch.part, blocks, places))

    def _blocks_of_W(self) -> list[tuple[int, int, ca.Sparsity]]:
        """Return constraints and structure of every block of W, in the order in which branches give them."""
        out = []
        for branch in self._branches:
            for i, k, structure in self._procedures(branch).pairs:
                out.append((branch.reaches[i].closure, branch.reaches[k].closure, structure))
        return out

    @functools.cached_property
    def _structure(self) -> tuple[SX, SX]:
        """Return symbols of the nonzeros of all blocks, and W of them."""
        blocks = self._blocks_of_W()
        symbols = SX.sym("blocks", sum(structure.nnz() for *_, structure in blocks))
        places: list[tuple[int, int]] = []
        for i, k, structure in blocks:
            places += [(self._first[i] + r, self._first[k] + c) for r, c in zip(*structure.get_triplet())]
        return symbols, _sum_entries(places, ca.vertsplit(symbols), self._first[-1])

    def _factor(self, compliance: np.ndarray) -> Factorization:
        def make() -> Factorization:
            return Factorization(self._structure[1] + ca.diag(SX(ca.DM(compliance))))

        return self._once(("factored",), make)

    def _reduced(self, held: list[list[MX]], compliance: np.ndarray) -> MX:
        """Return the factors of W with the compliances."""
        blocks = [x for b, h in zip(self._branches, held) for x in h[1 + len(b.reaches) :]]

        def make() -> ca.Function:
            return ca.Function("reduced", [self._structure[0]], [self._factor(compliance).entries()])

        return self._once(("reduced",), make)(ca.vertcat(*blocks))

    def _back(self, compliance: np.ndarray) -> ca.Function:
        """(factors, residual) -> multipliers, and what they leave of the residual."""

        def make() -> ca.Function:
            factored = self._factor(compliance)
            entries, residual = (
                SX.sym("factors", factored.entries().numel()),
                SX.sym("residual", self._first[-1]),
            )
            found = ca.densify(factored.with_entries(entries).solve(residual))
            return ca.Function("back", [entries, residual], [found, ca.DM(compliance) * found])

        return self._once(("back",), make)

    def _responses(self, held: list[list[MX]], x: list[MX], multipliers: MX) -> list[MX]:
        """Return x - M^-1 G' multipliers of every branch."""
        of = ca.vertsplit(multipliers, self._first)
        out = []
        for branch, h, own in zip(self._branches, held, x):
            given = [*h[: 1 + len(branch.reaches)], own, *(of[r.closure] for r in branch.reaches)]
            out.append(self._procedures(branch).respond(*given))
        return out

    def _join(self, x: list[MX]) -> MX:
        """Return what the branches have, in the order of v."""
        order = [k for branch in self._branches for k in branch.part.at_v]
        return ca.vertcat(*x)[np.argsort(order).tolist()]


def _call(function: ca.Function, given: list[MX]) -> list[MX]:
    """Return a call of a function that is written out, or the calls that a graph consists of."""
    return function.call(given, not function.is_a("SXFunction"), False)


WITH_JACOBIAN = ("acceleration", "jacobian")
"""Rows that come with the Jacobian."""


def _row_function(what: str, closure: Closure, cuts: list[_Reach]) -> ca.Function:
    """(constants, places, v, t, p, active) -> a column, blocks of the Jacobian as columns of nonzeros; zero when not active."""
    symbols, active = closure.function.sx_in(), SX.sym("active")
    g, G, rate, gamma = closure.function.call(symbols)
    column = {"position": g, "rate": rate, "acceleration": gamma, "jacobian": SX(0, 1)}[what]
    blocks = [active * _nonzeros(G[:, r.columns]) for r in cuts]
    return ca.Function(what, [*symbols, active], ca.cse([active * column, *blocks]))


def _nonzeros(x: SX) -> SX:
    return ca.vec(x.nz[:])


def _columns(structure: ca.Sparsity, columns: list[int]) -> ca.Sparsity:
    return ca.DM(structure, 1.0)[:, columns].sparsity()


def _branch_procedures(part: TreePart, blocks: list[ca.Sparsity], places: list[list[int]]) -> _Procedures:
    b = part.on_symbols()
    n = b.v.numel()
    symbols = [SX.sym(f"G{i}", block.nnz()) for i, block in enumerate(blocks)]
    G = [_widen_block(SX(block, x), at, n) for block, x, at in zip(blocks, symbols, places)]
    mass = Factorization(ca.sparsify(mass_matrix(b)))
    Y = [mass.forward(ca.sparsify(x.T)) for x in G]
    W = {
        (i, k): ca.sparsify(ca.mtimes(Y[i].T, mass.divide_by_pivots(Y[k])))
        for i in range(len(Y))
        for k in range(i + 1)
    }
    held = [mass.entries(), *map(_nonzeros, Y), *map(_nonzeros, W.values())]
    f, wrenches = SX.sym("f", n), {name: SX.sym("wrench", 6) for name in part.frames}
    run = Inline(b)
    bias = newton_euler(run, b.v, SX.zeros(n), force=applied_wrenches(run, wrenches)).tau
    free = mass.solve(f - bias)
    along = [ca.densify(ca.mtimes(x, free)) for x in G]
    given = [b.constants, b.places, b.p, b.v, f, *wrenches.values(), *symbols]
    moving = ca.Function("moving", given, ca.cse([*held, ca.densify(free), *along]))
    resting = ca.Function("resting", [b.constants, b.places, b.p, *symbols], ca.cse(held))
    pairs = [(i, k, w.sparsity()) for (i, k), w in W.items()]
    return _Procedures(moving, resting, _respond(mass, [y.sparsity() for y in Y], n), pairs)


def _respond(mass: Factorization, Y: list[ca.Sparsity], n: int) -> ca.Function:
    entries, x = SX.sym("factors", mass.entries().numel()), SX.sym("x", n)
    columns = [SX.sym(f"Y{i}", y.nnz()) for i, y in enumerate(Y)]
    multipliers = [SX.sym(f"multipliers{i}", y.size2()) for i, y in enumerate(Y)]
    total = SX.zeros(n)
    for y, column, each in zip(Y, columns, multipliers):
        total = total + ca.mtimes(SX(y, column), each)
    response = mass.with_entries(entries).backward(total)
    return ca.Function("respond", [entries, *columns, x, *multipliers], [ca.densify(x - response)])


def _stack_sums(columns: list[list[MX]]) -> MX:
    """Return the sums of lists of columns, one below the other: as few sums of long columns."""
    deepest = max(map(len, columns), default=0)
    layers = [
        ca.vertcat(*(c[k] if k < len(c) else MX(ca.DM.zeros(c[0].numel())) for c in columns))
        for k in range(deepest)
    ]
    return functools.reduce(
        lambda a, b: a + b, layers, MX(0, 1) if not layers else MX.zeros(layers[0].numel())
    )


def _widen_block(block: SX, at: list[int], n: int) -> SX:
    """Return the block of a Jacobian with a column for every velocity of the branch."""
    out = SX(block.size1(), n)
    out[:, at] = block
    return ca.sparsify(out)


def _diagonal(part: TreePart) -> ca.Function:
    b = part.on_symbols()
    return ca.Function("diagonal", [b.constants, b.places, b.p], [ca.densify(ca.diag(mass_matrix(b)))])


def _energy_function(part: TreePart) -> ca.Function:
    b = part.on_symbols()
    return ca.Function(
        "stored", [b.constants, b.places, b.p, b.v], [kinetic_energy(b, b.v) + gravity_energy(b)]
    )


def _sum_entries(places: list[tuple[int, int]], entries: list[SX], size: int) -> SX:
    """Return the matrix of entries at given places; those at the same place are added."""
    total: dict[tuple[int, int], SX] = {}
    for place, entry in zip(places, entries):
        total[place] = total[place] + entry if place in total else entry
    order = sorted(total, key=lambda place: (place[1], place[0]))
    structure = ca.Sparsity.triplet(size, size, [r for r, _ in order], [c for _, c in order])
    return SX(structure, ca.vertcat(SX(0, 1), *(total[place] for place in order)))
