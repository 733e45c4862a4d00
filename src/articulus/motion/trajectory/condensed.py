"""Newton steps of programs on Hermite-Simpson meshes: unknowns are eliminated point by point, then step by step by a Riccati recursion.

The conditions of optimality of a program, linear about a point, are the system

    [W  J'] [dx    ]     [g]
    [J  0 ] [lambda] = - [r]

with the second derivatives W of the Lagrangian and of the barrier. On a Hermite-Simpson mesh of a mechanism whose joints all have motors
it is solved in the order in which its unknowns hang together, without a general sparse factorization:

1. at each point, forces follow from positions q, velocities v and accelerations a by the equations of motion;
2. in each interval, q and v of the middle and of the end follow from q, v, a at its start and a in the middle and at the end;
3. what is left is a linear-quadratic problem with the state (q, v, a) of a node and the inputs (a in the middle, a at the end), solved by
   a recursion from the last node to the first and back.

1 and 2 are one native call each for all points and for all intervals; 3 is native loops. Rows that are not eliminated (bounds of
functions of z, goals) have weights: lambda = D (C dx + r) + l. A free duration is a further unknown, by which all else is solved for once more.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import casadi as ca
import numpy as np
from casadi import MX, SX
from scipy.sparse import csr_matrix

from articulus import kernel
from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram, Part
from articulus.motion.trajectory.riccati import inverse_factor

SIDES = 2
"""Right-hand sides of a system."""
MOST_CHAINS = 12
"""Positions up to which a program is of this kind: the native code grows with their cube, and takes seconds to make beyond."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Places in z of positions, of their rates, of the rates of those, and of the forces that the equations give."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    forces: np.ndarray

    @property
    def free(self) -> np.ndarray:
        """Places of (q, v, a)."""
        return np.concatenate([self.q, self.v, self.a])

    @staticmethod
    def of(phase: Phase) -> Chains | None:
        """Return the places if every state is a position or its rate, and forces enter the equations one by one; None otherwise, and for many positions."""
        rates = {int(k): int(r) for k, r in phase.rates.items()}
        q = [k for k in sorted(rates) if rates[k] in rates]
        v = [rates[k] for k in q]
        if not 0 < len(q) <= MOST_CHAINS or sorted(q + v) != sorted(rates):
            return None
        a = [rates[k] for k in v]
        forces = sorted(set(range(phase.size)) - set(q + v + a))
        if len(set(q + v + a)) != 3 * len(q) or len(forces) != phase.equations.numel_out(0):
            return None
        z = SX.sym("z", phase.size)
        slope = ca.jacobian(phase.equations(z), z[forces])
        if not slope.is_constant() or not slope.sparsity().is_diag() or slope.nnz() != len(forces):
            return None
        return Chains(*(np.array(x, dtype=int) for x in (q, v, a, forces)))


@dataclass(frozen=True, eq=False)
class SaddleSystem:
    """A system [W J'; J 0] [dx; lambda] = -[g; r]: its numbers.

    Parameters
    ----------
    first : sequence of array, (places, entries)
        First derivatives of each constraint, by the solver's unknowns.
    second : sequence of array, (places, entries)
        Second derivatives of each cost and each constraint, likewise.
    diagonal : array, (n,)
        More of W: barrier and regularization.
    weights : array, (m',)
        D of the constraints after the first two.
    duration : float [s]
    """

    first: Sequence[np.ndarray]
    second: Sequence[np.ndarray]
    diagonal: np.ndarray
    weights: np.ndarray
    duration: float


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the derivatives of a block are, without the duration.

    Parameters
    ----------
    places : list of int
        In z, of each unknown of the block; -1 for the duration.
    inner, crossed, alone : array of int
        Which second derivatives are by two entries of z, by one and the duration, by the duration twice.
    by_duration : array of int
        Which first derivatives are by the duration.
    """

    places: list[int]
    inner: np.ndarray
    crossed: np.ndarray
    alone: np.ndarray
    by_duration: np.ndarray

    @staticmethod
    def of(block: Part, layout: Layout) -> Pattern:
        """Return the pattern of a block."""
        index, size = block.index[0], layout.z.shape[1]
        timed = index == layout.duration
        places = np.where(timed, -1, (index - layout.z[0, 0]) % size)
        (a, b), (_, j) = block.hessian_pattern, block.jacobian_pattern
        count = timed[a].astype(int) + timed[b]
        inner, crossed, alone = (np.flatnonzero(count == k) for k in range(3))
        return Pattern(places.tolist(), inner, crossed, alone, np.flatnonzero(timed[j]))


class Condensed:
    """The structure of a program, and its Newton steps.

    Parameters
    ----------
    phase : Phase
    chains : Chains
    layout : Layout
    program : NonlinearProgram
        As `collocation.transcribe` makes it: equations of motion, states that follow from rates, then all other constraints.
    """

    def __init__(self, phase: Phase, chains: Chains, layout: Layout, program: NonlinearProgram):
        self.chains, self.layout, self.program = chains, layout, program
        self._size, self._states = phase.size, phase.states
        self._scales = [phase.scale[places] for places in (chains.q, chains.v, chains.a)]
        self._timed = phase.duration[0] < phase.duration[1]
        self._sides = SIDES + self._timed
        self._patterns = {b: Pattern.of(b, layout) for b in (*program.costs, *program.constraints)}
        N = len(layout.lengths)
        self._code = code = _code(len(chains.q), self._sides)
        # row k + 1 is interval k; the row before is read when the recursion is through
        self._w, self._plan = np.zeros((N + 1, code.back.nw)), np.zeros((N + 1, code.forth.nw))
        self._stage, self._w_ahead, self._slopes, self._w_gaps = _parts(self._w[1:], code.sizes_back)
        self._p_ahead, self._p_gaps, _, _, self._V, self._v = _parts(self._plan, code.sizes_forth)
        self._value, self._state = np.zeros((1, code.back.nx)), np.zeros((1, code.forth.nx))
        self._failed, none = np.full(1, kernel.NEVER), np.zeros(1)
        self._log = np.zeros((1, N + 1, code.forth.nx))
        found = self._plan[None, ::-1, self._plan.shape[1] - code.back.nx :]
        self._back = code.back.on(self._value, none, self._w[::-1], self._failed, found)
        self._forth = code.forth.on(self._state, none, self._plan, np.full(1, kernel.NEVER), self._log)
        self._h, self._middle = np.zeros((N, 1)), np.zeros((N, 7 * len(chains.q)))

    @staticmethod
    def of(problem: Problem, layouts: Sequence[Layout], program: NonlinearProgram) -> Condensed | None:
        """Return the structure of a Hermite-Simpson program if it is of this kind, else None."""
        if len(problem.phases) > 1:
            return None
        chains = Chains.of(problem.phases[0])
        return None if chains is None else Condensed(problem.phases[0], chains, layouts[0], program)

    def _last(self, duration: float) -> None:
        """Let the intervals have the lengths that go with a duration."""
        self._h = self.layout.lengths[:, None] * duration
        self._middle, ahead = _coefficients(self._h, *self._scales)
        self._w_ahead[:], self._p_ahead[:-1] = ahead, ahead

    # at points

    @cached_property
    def _blocks(self) -> list[tuple[Part, bool]]:
        """All costs and constraints but the relations of states and rates, and whether each is taken at all points, not at one end."""
        blocks = [*self.program.costs, self.program.constraints[0], *self.program.constraints[2:]]
        return [(b, len(b.index) > 1) for b in blocks]

    @cached_property
    def _points(self) -> kernel.Kernel:
        """(diagonal, second and first derivatives and weights of each block, more of W at the ends) -> W by (q, v, a); F, B and Wff of `_point_function`."""
        everywhere = [b for b, every in self._blocks if every]
        text = [
            (
                p.places,
                p.inner.tolist(),
                *(x.tolist() for x in (*b.jacobian_pattern, *b.hessian_pattern)),
                b.width,
            )
            for b, p in ((b, self._patterns[b]) for b in everywhere)
        ]
        places = self.chains.free.tolist(), self.chains.forces.tolist()
        told = repr((text, *places, self._costs, len(everywhere) < len(self._blocks)))
        key = f"condensed points 2 {hashlib.sha256(told.encode()).hexdigest()}"
        return kernel.cached(key, self._point_function, finite=False, ranks=self._point_ranks)

    @cached_property
    def _costs(self) -> int:
        """Number of costs at all points."""
        return sum(len(b.index) > 1 for b in self.program.costs)

    def _point_ranks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (1,) * self._point_function().n_in(), (2, 2, 2, 2)

    def _point_function(self) -> ca.Function:
        """W of a point with the forces eliminated: their changes are F (changes of q, v, a) + f, and B = Wfy + Wff F."""
        size, free, forces = self._size, self.chains.free.tolist(), self.chains.forces.tolist()
        diagonal = SX.sym("diagonal", size)
        W, inputs, E = ca.diag(diagonal), [diagonal], None
        everywhere = [b for b, every in self._blocks if every]
        for number, block in enumerate(everywhere):
            own, (a, b), (i, j) = self._patterns[block], block.hessian_pattern, block.jacobian_pattern
            places = own.places
            second, first = SX.sym("second", len(own.inner)), SX.sym("first", len(i))
            W = W + _symmetric(size, places, a[own.inner], b[own.inner], second)
            inputs.append(second)
            if number < self._costs:
                continue
            C = SX(block.width, size)
            for k, (row, column) in enumerate(zip(i.tolist(), j.tolist())):
                C[row, places[column]] = first[k]
            inputs.append(first)
            if E is None:
                E = C
                continue
            weights = SX.sym("weights", block.width)
            inputs.append(weights)
            W = W + ca.mtimes(C.T, ca.mtimes(ca.diag(weights), C))
        if len(everywhere) < len(self._blocks):
            more = SX.sym("more", size * size)
            W, inputs = W + ca.reshape(more, size, size), [*inputs, more]
        assert E is not None
        F = -ca.mtimes(ca.diag(1 / ca.diag(E[:, forces])), E[:, free])
        Wff = W[forces, forces]
        B = W[forces, free] + ca.mtimes(Wff, F)
        H = W[free, free] + ca.mtimes(W[free, forces], F) + ca.mtimes(F.T, B)
        return ca.Function("points", inputs, [ca.densify(x) for x in (H, F, B, Wff)])

    def _condensed_points(self, system: SaddleSystem) -> tuple[np.ndarray, ...]:
        """Return W by (q, v, a), F, B and Wff at all points."""
        costs = len(self.program.costs)
        given, more = [system.diagonal[self.layout.z]], None
        row = 0
        for number, (block, every) in enumerate(self._blocks):
            c = number - costs
            constraint = c if c <= 0 else c + 1
            second = system.second[number if number < costs else costs + constraint]
            weights = None
            if c > 0:
                weights = system.weights[row : row + block.rows]
                row += block.rows
            if every:
                given.append(second[:, self._patterns[block].inner])
                if c >= 0:
                    given.append(system.first[constraint])
                if weights is not None:
                    given.append(weights.reshape(len(block.index), -1))
                continue
            if more is None:
                more = np.zeros((len(self.layout.z), self._size, self._size))
            first = system.first[constraint] if c > 0 else None
            point = int((block.index[0].min() - self.layout.z[0, 0]) // self._size) % len(more)
            more[point] += self._at_end(block, second[0], None if first is None else first[0], weights)
        if more is not None:
            given.append(more.reshape(len(more), -1))
        return tuple(self._points(*given))

    def _at_end(
        self, block: Part, second: np.ndarray, first: np.ndarray | None, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return what a block at a single point adds to W there."""
        own, (i, j) = self._patterns[block], block.jacobian_pattern
        places, (a, b) = np.array(own.places), (x[own.inner] for x in block.hessian_pattern)
        W = np.zeros((self._size, self._size))
        W[places[a], places[b]] = W[places[b], places[a]] = second[own.inner]
        if first is not None and weights is not None:
            C = np.zeros((block.width, self._size))
            C[i, places[j]] = first
            W += C.T @ (weights[:, None] * C)
        return W

    # the whole system

    def solve(
        self, system: SaddleSystem, g: np.ndarray, r: np.ndarray, held: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return changes (SIDES, n) and new multipliers (SIDES, m), or None where the reduced W is not positive definite.

        Parameters
        ----------
        system : SaddleSystem
        g : array, (SIDES, n)
        r : array, (SIDES, m)
        held : array, (SIDES, m')
            l of the constraints after the first two.
        """
        self._last(system.duration)
        if not self._timed:
            return self._solve(system, g, r, held)
        by_x, by_rows, alone = self._by_duration(system)
        found = self._solve(
            system, np.vstack([g, by_x]), np.vstack([r, by_rows]), np.vstack([held, np.zeros(held.shape[1])])
        )
        if found is None:
            return None
        dx, multipliers = found
        pulled = dx @ by_x + multipliers @ by_rows
        stiffness = alone + pulled[-1]
        if not stiffness > 0:
            return None
        T = -(g[:, self.layout.duration] + pulled[:-1])[:, None] / stiffness
        dx, multipliers = (y[:-1] + T * y[-1] for y in (dx, multipliers))
        dx[:, self.layout.duration] = T[:, 0]
        return dx, multipliers

    def _by_duration(self, system: SaddleSystem) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the column of W and J by the duration, and W by the duration alone."""
        place = self.layout.duration
        by_x, by_rows = np.zeros(self.program.size), np.zeros(int(self.program.first_rows[-1]))
        alone = system.diagonal[place]
        for block, second in zip((*self.program.costs, *self.program.constraints), system.second):
            own, (a, b) = self._patterns[block], block.hessian_pattern
            alone += second[:, own.alone].sum()
            pairs = np.stack([block.index[:, a[own.crossed]], block.index[:, b[own.crossed]]])
            other = np.where(pairs[0] == place, pairs[1], pairs[0])
            by_x += np.bincount(other.ravel(), second[:, own.crossed].ravel(), self.program.size)
        for block, first, begin in zip(self.program.constraints, system.first, self.program.first_rows):
            chosen = self._patterns[block].by_duration
            rows = block.jacobian_pattern[0][chosen]
            by_rows[begin : begin + block.rows].reshape(len(block.index), -1)[:, rows] = first[:, chosen]
        return by_x, by_rows, float(alone)

    def _solve(
        self, system: SaddleSystem, g: np.ndarray, r: np.ndarray, held: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the solution with the duration as it is."""
        sides = self._sides
        n, N, z = len(self.chains.q), len(self._h), self.layout.z
        H, F, B, Wff = self._condensed_points(system)
        first, second = (int(k) for k in self.program.first_rows[1:3])
        C = self._other_rows(system.first) if len(system.first) > 2 else None
        pull = g if C is None else g + (system.weights * r[:, second:] + held) @ C
        at = np.ascontiguousarray(pull[:, z].swapaxes(0, 1))
        diagonal = system.first[0][:, self._force_entries]
        f = -(r[:, :first].reshape(sides, len(z), -1) / diagonal).swapaxes(0, 1)
        of_forces = at[:, :, self.chains.forces]
        slopes = at[:, :, self.chains.free] + of_forces @ F + f @ B
        end, middle = self._gaps(r[:, first:second].reshape(sides, N, 4 * n).swapaxes(0, 1))
        inner, node = H[1::2], H[:-1:2]
        of_middle = slopes[1::2] + middle @ inner
        self._stage[:] = self._code.stages(inner, node, self._middle)
        stage_slopes = self._down(of_middle)
        stage_slopes[:, :, : 3 * n] += slopes[:-1:2]
        self._slopes[:] = stage_slopes.reshape(N, -1)
        self._w_gaps[:] = self._p_gaps[:-1] = end.reshape(N, -1)
        if not self._recursion(H[-1], slopes[-1]):
            return None
        s = self._log[0, :, : sides * 3 * n].reshape(N + 1, sides, 3 * n)
        c = self._log[0, 1:, sides * 3 * n :].reshape(N, sides, 2 * n)
        y = np.empty((len(z), sides, 3 * n))
        y[::2], y[1::2] = s, self._up(s[:-1], c) + middle
        dx = np.zeros((sides, self.program.size))
        dx[:, z[:, self.chains.free]] = y.swapaxes(0, 1)
        dx[:, z[:, self.chains.forces]] = (y @ F.swapaxes(1, 2) + f).swapaxes(0, 1)
        multipliers = np.empty((sides, r.shape[1]))
        forces = -(y @ B.swapaxes(1, 2) + f @ Wff + of_forces) / diagonal[:, None, :]
        multipliers[:, :first] = forces.swapaxes(0, 1).reshape(sides, -1)
        pushed = slopes[1::2] + y[1::2] @ inner
        V = self._V[1:].reshape(N, 3 * n, 3 * n)
        after = (s[1:] @ V + self._v[1:].reshape(N, sides, 3 * n))[:, :, :n] / self._scales[0]
        multipliers[:, first:second] = self._relations(pushed, after).swapaxes(0, 1).reshape(sides, -1)
        if C is not None:
            multipliers[:, second:] = system.weights * (dx @ C.T + r[:, second:]) + held
        return dx, multipliers

    def _recursion(self, V: np.ndarray, v: np.ndarray) -> bool:
        """Go from the last node, with the curvature and slopes of its cost, to the first and back; return whether every step had a least cost."""
        N, n, sides = len(self._h), len(self.chains.q), self._sides
        of_value = 9 * n * n
        self._value[:] = 0.0
        self._value[0, -of_value - sides * 3 * n : -sides * 3 * n] = V.ravel()
        self._value[0, -sides * 3 * n :] = v.ravel()
        self._failed[:] = kernel.NEVER
        self._back(0, N)
        self._back(N, N, closing=True)
        if self._failed[0] != kernel.NEVER:
            return False
        V, v = self._V[0].reshape(3 * n, 3 * n), self._v[0].reshape(sides, 3 * n)
        try:
            L = np.linalg.cholesky(V)
        except np.linalg.LinAlgError:
            return False
        self._state[:] = 0.0
        self._state[0, : sides * 3 * n] = -np.linalg.solve(L.T, np.linalg.solve(L, v.T)).T.ravel()
        self._forth(0, N)
        self._forth(N, N, closing=True)
        return True

    @cached_property
    def _force_entries(self) -> np.ndarray:
        """Which entries of the first derivatives of the equations of motion are those of row k by force k."""
        block = self.program.constraints[0]
        rows, columns = block.jacobian_pattern
        places = np.array(self._patterns[block].places)[columns]
        found = {int(i): k for k, (i, p) in enumerate(zip(rows, places)) if p == self.chains.forces[i]}
        return np.array([found[i] for i in range(len(self.chains.forces))], dtype=int)

    def _other_rows(self, first: Sequence[np.ndarray]) -> csr_matrix:
        """Return the first derivatives of all constraints after the first two, (m', n)."""
        rows, columns, entries, begin = list[np.ndarray](), list[np.ndarray](), list[np.ndarray](), 0
        for block, values in zip(self.program.constraints[2:], first[2:]):
            i, j = block.jacobian_pattern
            rows.append((begin + block.width * np.arange(len(block.index))[:, None] + i).ravel())
            columns.append(block.index[:, j].ravel())
            entries.append(values.ravel())
            begin += block.rows
        where = np.concatenate(rows), np.concatenate(columns)
        return csr_matrix((np.concatenate(entries), where), (begin, self.program.size))

    # an interval: its end and its middle follow from (q, v, a) at the start and (a in the middle, a at the end)

    def _gaps(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what residuals r (N, sides, 4 n) of states and rates add at the end and in the middle, (N, sides, 3 n) each."""
        h, (sq, sv, _), half = self._h[:, None], self._scales, len(self._states)
        q, v = (np.searchsorted(self._states, x) for x in (self.chains.q, self.chains.v))
        q1, v1, q2, v2 = r[:, :, q], r[:, :, v], r[:, :, half + q], r[:, :, half + v]
        still = np.zeros_like(q1)
        end = np.concatenate([(-q1 - h / 2 * v1 - 2 * h / 3 * v2) / sq, -v1 / sv, still], 2)
        inside = (-q1 / 2 - q2 - h / 8 * v1 - h / 3 * v2) / sq
        return end, np.concatenate([inside, (-v1 / 2 - v2) / sv, still], 2)

    def _relations(self, pushed: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the multipliers of the relations of states and rates, (N, sides, 4 n).

        Parameters
        ----------
        pushed : array, (N, sides, 3 n)
            Derivatives of all else by (q, v, a) in the middle.
        after : array, (N, sides, n)
            Derivatives of the cost from the end of the interval on, by q there, in its unit.
        """
        h, half = self._h[:, None], len(self._states)
        q, v = (np.searchsorted(self._states, x) for x in (self.chains.q, self.chains.v))
        by_q, by_v, by_a = (x / scale for x, scale in zip(np.split(pushed, 3, 2), self._scales))
        out = np.empty((*pushed.shape[:2], 2 * half))
        out[:, :, half + q] = -by_q
        out[:, :, q] = end = -by_q / 2 - after
        out[:, :, v] = 1.5 / h * by_a
        out[:, :, half + v] = 2 * h / 3 * end - by_v
        return out

    def _up(self, s: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return (q, v, a) in the middle, of states (N, sides, 3 n) and inputs (N, sides, 2 n)."""
        q, v, a = np.split(s, 3, 2)
        inner, end = np.split(c, 2, 2)
        k = np.split(self._middle[:, None], 7, 2)
        return np.concatenate(
            [
                q + k[0] * v + k[1] * a + k[2] * inner + k[3] * end,
                v + k[4] * a + k[5] * inner + k[6] * end,
                inner,
            ],
            2,
        )

    def _down(self, slopes: np.ndarray) -> np.ndarray:
        """Return the derivatives by states and inputs, (N, sides, 5 n), of those by (q, v, a) in the middle: transposed to `_up`."""
        q, v, a = np.split(slopes, 3, 2)
        k = np.split(self._middle[:, None], 7, 2)
        return np.concatenate(
            [q, v + k[0] * q, k[1] * q + k[4] * v, a + k[2] * q + k[5] * v, k[3] * q + k[6] * v], 2
        )


def _parts(rows: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return the parts of rows."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [rows[:, a:b] for a, b in itertools.pairwise(ends)]


def _symmetric(size: int, places: list[int], rows: np.ndarray, columns: np.ndarray, entries: SX) -> SX:
    """Return the symmetric matrix of entries of its upper triangle, at places in z."""
    W = SX(size, size)
    for k, (row, column) in enumerate(zip(rows.tolist(), columns.tolist())):
        W[places[row], places[column]] = entries[k]
        W[places[column], places[row]] = entries[k]
    return W


def _coefficients(
    h: np.ndarray, sq: np.ndarray, sv: np.ndarray, sa: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return by what (v, a, a inside, a at the end) enter q and (a, a inside, a at the end) v, in the middle (N, 7 n) and at the end (N, 6 n).

    At the end q does not depend on a there. Unknowns are over their sizes.
    """
    v, of_q, of_v = h * sv / sq, h**2 * sa / sq, h * sa / sv
    middle = [v / 2, of_q / 16, of_q / 12, -of_q / 48, 5 * of_v / 24, of_v / 3, -of_v / 24]
    end = [v, of_q / 6, of_q / 3, of_v / 6, 2 * of_v / 3, of_v / 6]
    return np.hstack(middle), np.hstack(end)


# native code of an interval


class _Code:
    """Functions of an interval of n chains, for some right-hand sides, in native code."""

    def __init__(self, n: int, sides: int):
        self.n, entries = n, 5 * n * (5 * n + 1) // 2
        self.sizes_back = [entries, 6 * n, sides * 5 * n, sides * 3 * n]
        self.sizes_forth = [6 * n, sides * 3 * n, 6 * n * n, sides * 2 * n, 9 * n * n, sides * 3 * n]
        self.stages = kernel.cached(
            f"condensed stages 1 {n}",
            lambda: _stage_function(n),
            finite=False,
            ranks=lambda: ((2, 2, 1), (1,)),
        )
        held = sum(self.sizes_forth[2:])
        self.back = kernel.recurrence(f"condensed back 3 {n} {sides}", lambda: [_back(n, sides)], held)
        self.forth = kernel.recurrence(
            f"condensed forth 1 {n} {sides}", lambda: [_forth(n, sides)], sides * 5 * n
        )


@cache
def _code(n: int, sides: int) -> _Code:
    return _Code(n, sides)


def _stage_function(n: int) -> ca.Function:
    """(W of the middle, W of the node, coefficients) -> lower triangle of W by state and inputs."""
    inner, node, given = SX.sym("inner", 3 * n, 3 * n), SX.sym("node", 3 * n, 3 * n), SX.sym("k", 7 * n)
    k = [ca.diag(x) for x in ca.vertsplit(given, n)]
    one, none = SX.eye(n), SX(n, n)
    L = ca.vertcat(
        ca.horzcat(one, *k[:4]), ca.horzcat(none, one, *k[4:]), ca.horzcat(none, none, none, one, none)
    )
    W = ca.mtimes(L.T, ca.mtimes(ca.tril2symm(ca.tril(inner)), L))
    W[: 3 * n, : 3 * n] += ca.tril2symm(ca.tril(node))
    return ca.Function("stages", [inner, node, given], [ca.densify(W[ca.Sparsity.lower(5 * n)].nz[:])])


def _ahead(n: int, coefficients: SX) -> SX:
    """Return the matrix from state and inputs to the state at the end, (3 n, 5 n)."""
    k = [ca.diag(x) for x in ca.vertsplit(coefficients, n)]
    one, none = SX.eye(n), SX(n, n)
    return ca.vertcat(
        ca.horzcat(one, *k[:3], none),
        ca.horzcat(none, one, *k[3:]),
        ca.horzcat(none, none, none, none, one),
    )


def _back(n: int, sides: int) -> ca.Function:
    """Return (gain, push, curvature V and slopes v of the cost to go) of the interval before."""
    sizes = [6 * n * n, sides * 2 * n, 9 * n * n, sides * 3 * n]
    stage = [5 * n * (5 * n + 1) // 2, 6 * n, sides * 5 * n, sides * 3 * n]
    held, p, w, number = MX.sym("held", sum(sizes)), MX.sym("p"), MX.sym("w", sum(stage)), MX.sym("k")
    _, _, V, v = ca.vertsplit(held, _ends(sizes))
    entries, ahead, slopes, gaps = ca.vertsplit(w, _ends(stage))
    V, v = ca.reshape(V, 3 * n, 3 * n), ca.reshape(v, 3 * n, sides)
    slopes, gaps = ca.reshape(slopes, 5 * n, sides), ca.reshape(gaps, 3 * n, sides)
    congruent, transposed, inverted = _back_functions(n, sides)
    Qxx, Qxu, Quu = congruent(V, entries, ahead)
    Q = transposed(v + ca.mtimes(V, gaps), ahead, slopes)
    Qx, Qu = Q[: 3 * n, :], Q[3 * n :, :]
    R = inverted(Quu)
    Y, y = ca.mtimes(R, Qxu.T), ca.mtimes(R, Qu)
    gain, push = -ca.mtimes(R.T, Y), -ca.mtimes(R.T, y)
    V_new = Qxx - ca.mtimes(Y.T, Y)
    v_new = Qx - ca.mtimes(Y.T, y)
    return ca.Function(
        "back", [held, p, w, number], [ca.vertcat(*(ca.vec(x) for x in (gain, push, V_new, v_new)))]
    )


def _back_functions(n: int, sides: int) -> tuple[ca.Function, ...]:
    V, entries, ahead = (
        SX.sym("V", 3 * n, 3 * n),
        SX.sym("entries", 5 * n * (5 * n + 1) // 2),
        SX.sym("ahead", 6 * n),
    )
    v, slopes, Quu = SX.sym("v", 3 * n, sides), SX.sym("slopes", 5 * n, sides), SX.sym("Quu", 2 * n, 2 * n)
    J = _ahead(n, ahead)
    Q = ca.mtimes(J.T, ca.mtimes(ca.tril2symm(ca.tril(V)), J)) + ca.tril2symm(
        SX(ca.Sparsity.lower(5 * n), entries)
    )
    m = 3 * n
    return (
        ca.Function(
            "congruent", [V, entries, ahead], [ca.densify(x) for x in (Q[:m, :m], Q[:m, m:], Q[m:, m:])]
        ),
        ca.Function("transposed", [v, ahead, slopes], [ca.densify(slopes + ca.mtimes(J.T, v))]),
        ca.Function("inverted", [Quu], [ca.densify(inverse_factor(Quu))]),
    )


def _forth(n: int, sides: int) -> ca.Function:
    """Return (state at the end, inputs) of an interval."""
    sizes = [6 * n, sides * 3 * n, 6 * n * n, sides * 2 * n, 9 * n * n, sides * 3 * n]
    held, p, w, number = MX.sym("held", sides * 5 * n), MX.sym("p"), MX.sym("w", sum(sizes)), MX.sym("k")
    ahead, gaps, gain, push, _, _ = ca.vertsplit(w, _ends(sizes))
    s = ca.reshape(held[: sides * 3 * n], 3 * n, sides)
    c = ca.mac(ca.reshape(gain, 2 * n, 3 * n), s, ca.reshape(push, 2 * n, sides))
    state, inputs, k = SX.sym("s", 3 * n, sides), SX.sym("c", 2 * n, sides), SX.sym("k", 6 * n)
    moved = ca.Function(
        "moved", [state, inputs, k], [ca.densify(ca.mtimes(_ahead(n, k), ca.vertcat(state, inputs)))]
    )
    after = moved(s, c, ahead) + ca.reshape(gaps, 3 * n, sides)
    return ca.Function("forth", [held, p, w, number], [ca.vertcat(ca.vec(after), ca.vec(c))])


def _ends(sizes: Sequence[int]) -> list[int]:
    return [int(k) for k in np.cumsum([0, *sizes])]
