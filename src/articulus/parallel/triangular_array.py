"""Forward dynamics of a serial arm on a triangular array of n (n + 1)/2 processors, step by step.

Processor (j, i), j >= i, has body j as it is moved by joint i. All columns of the inertia matrix are found at the same time, each by sums in
logarithmic depth over its bodies (the variant of the Newton-Euler method whose columns do not need each other); the factorization LDL' and
the substitutions then take one step for each joint. Every step is one operation of vectors or matrices that all processors in work execute
together, so that the time is the sum of the operations of the steps.

Source: Fijany & Bejczy 1989. The moment of equation (27) has the term H x V' that equation (10) leaves out in print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.parallel.animation import CellWork, animate
from articulus.parallel.log_depth import ChainArrays, inverse_dynamics
from articulus.parallel.segments import joint_numbers

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

Array = np.ndarray

MATRIX_PRODUCT, MATRIX_VECTOR, CROSS, SCALED, SUM, DOT = (27, 18), (9, 6), (6, 3), (3, 0), (0, 3), (3, 2)
"""Multiplications and additions of the operations of matrices and vectors of three."""


@dataclass(frozen=True)
class ArrayStep:
    """What the array does in a step.

    Attributes
    ----------
    name : str
    processors : int
        That are in work.
    multiplications, additions : int
        Of each of them.
    cells : tuple of (int, int)
        Body and joint of each, from 0.
    """

    name: str
    processors: int
    multiplications: int
    additions: int
    cells: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class ArrayRun:
    """What the array found, and how.

    Attributes
    ----------
    M : array (nv, nv)
        Inertia matrix.
    vdot : array (nv,)
        Accelerations of the joints.
    steps : tuple of ArrayStep
        Of the inertia matrix, then of the linear equations.
    """

    M: Array
    vdot: Array
    steps: tuple[ArrayStep, ...]

    def operations(self, *names: str) -> tuple[int, int]:
        """Return the multiplications and additions one after the other of all steps whose names begin with one of these words, or of all.

        Parameters
        ----------
        *names : str
        """
        chosen = [s for s in self.steps if not names or s.name.startswith(names)]
        return sum(s.multiplications for s in chosen), sum(s.additions for s in chosen)

    def animation(self, step_duration: float = 1.0) -> str:
        """Return an animated SVG picture: which processors work, one step after the other, and what the step is.

        Rows are bodies, columns are joints. What is done once for each body is drawn in the first column.

        Parameters
        ----------
        step_duration : float [s]
            Time for which a step is shown.
        """
        n = len(self.M)
        titles = [f"{s.name}: {s.multiplications} mul, {s.additions} add" for s in self.steps]
        work = (
            CellWork(j, i, k, k, s.name.split(",")[0].split(" ")[0])
            for k, s in enumerate(self.steps, 1)
            for j, i in s.cells
        )
        heads = [f"joint {i + 1}" for i in range(n)]
        return animate([(j, i) for i in range(n) for j in range(i, n)], work, titles, step_duration, heads)


def run_array(mechanism: Mechanism, q: Any, v: Any, tau: Any) -> ArrayRun:
    """Return the forward dynamics of a serial arm of hinges as the array computes them.

    The bias vector is that of `log_depth.inverse_dynamics`, which the first column of the array would run; its steps are not listed.

    Parameters
    ----------
    mechanism : Mechanism
        A chain of rigid bodies on hinges, without armature.
    q, v, tau : array_like (nv,)
        tau with friction and springs of the joints added.
    """
    chain = ChainArrays(mechanism)
    if not chain.masses[:, 11].all() or chain.armature.any():
        raise InputError(f"'{mechanism.name}' has slides or armature; expected hinges without armature")
    q, v, tau = joint_numbers("run_array", chain.n, q=q, v=v, tau=tau)
    array = _Array(chain, q)
    bias, _ = inverse_dynamics(mechanism, q, v, np.zeros(chain.n))
    M = array.inertia_matrix()
    vdot = array.solve(M, tau - bias)
    return ArrayRun(M, vdot, tuple(array.steps))


class _Array:
    """The processors and what they did; everything is in the axes of the last body."""

    def __init__(self, chain: ChainArrays, q: Array):
        self.n, self.steps = chain.n, list[ArrayStep]()
        self._project(chain.steps(q), chain.masses)

    def _step(self, name: str, cells: int | list[tuple[int, int]], *costs: tuple[int, int]) -> None:
        """Note a step of the processors (body, joint), or of so many in the first column."""
        at = tuple((j, 0) for j in range(cells)) if isinstance(cells, int) else tuple(cells)
        multiplications, additions = (sum(c[k] for c in costs) for k in range(2))
        self.steps.append(ArrayStep(name, len(at), multiplications, additions, at))

    def _project(self, X: Array, masses: Array) -> None:
        """Find the orientation of every body by doubling, and bring axis, distance to the next body and inertia into common axes."""
        n = self.n
        self._step("orientation of each joint", n, (4, 0))
        R = [
            *(x[:3, :3] for x in X[1:]),
            np.eye(3),
        ]  # of body j + 1 in body j; behind the last there is nothing
        step = 1
        while step < n:
            self._step("orientation, doubled", n - step, MATRIX_PRODUCT)
            R = [r @ R[j + step] if j + step < n else r for j, r in enumerate(R)]
            step *= 2
        turn = [r.T for r in R]
        self.axis = np.array([t[:, 2] for t in turn])
        self._step("distance", n, MATRIX_VECTOR)
        self.ahead = np.array([t @ x[:3, 3] for t, x in zip(turn, X[1:])] + [np.zeros(3)])
        self._step("first moment", n, MATRIX_VECTOR)
        self.mass, self.h = masses[:, 0], np.array([t @ m[1:4] for t, m in zip(turn, masses)])
        self._step("second moment", n, MATRIX_PRODUCT, MATRIX_PRODUCT)
        J = [np.array([[m[4], m[5], m[6]], [m[5], m[7], m[8]], [m[6], m[8], m[9]]]) for m in masses]
        self.J = np.array([t @ j @ t.T for t, j in zip(turn, J)])

    def inertia_matrix(self) -> Array:
        """Return the inertia matrix, all columns at the same time."""
        n = self.n
        cells = [(j, i) for i in range(n) for j in range(i, n)]
        P = self._distances()
        self._step("acceleration", cells, CROSS)
        V = {(j, i): np.cross(self.axis[i], P[j, i]) for j, i in cells}
        self._step("force", cells, SCALED, CROSS, SUM)
        F = {(j, i): self.mass[j] * V[j, i] + np.cross(self.axis[i], self.h[j]) for j, i in cells}
        self._step("moment", cells, MATRIX_VECTOR, CROSS, SUM)
        N = {(j, i): self.J[j] @ self.axis[i] + np.cross(self.h[j], V[j, i]) for j, i in cells}
        F, N = self._sums(F, N, P)
        self._step("component", cells, DOT)
        M = np.zeros((n, n))
        for j, i in cells:
            M[j, i] = M[i, j] = self.axis[j] @ N[j, i]
        return M

    def _distances(self) -> dict[tuple[int, int], Array]:
        """Return the vectors from joint i to joint j >= i by doubling, every column for itself."""
        n = self.n
        P = {(j, i): self.ahead[j - 1] if j > i else np.zeros(3) for i in range(n) for j in range(i, n)}
        step = 1
        while step < n:
            waiting = [(j, i) for j, i in P if j - step > i]
            self._step("distance, doubled", waiting, SUM)
            P |= {(j, i): P[j, i] + P[j - step, i] for j, i in waiting}
            step *= 2
        return P

    def _sums(self, F: dict, N: dict, P: dict) -> tuple[dict, dict]:
        """Return force and moment of body j and all behind it at joint j, by doubling, every column for itself."""
        n, step = self.n, 1
        while step < n:
            waiting = [(j, i) for j, i in F if j + step < n]
            self._step("sum, doubled", waiting, SUM, SUM, SUM, CROSS)
            N |= {
                (j, i): N[j, i] + N[j + step, i] + np.cross(P[j + step, j], F[j + step, i])
                for j, i in waiting
            }
            F |= {(j, i): F[j, i] + F[j + step, i] for j, i in waiting}
            step *= 2
        return F, N

    def solve(self, M: Array, b: Array) -> Array:
        """Return the solution of M x = b by LDL' without square roots, a step for each joint."""
        n, L, x = self.n, M.copy(), b.copy()
        for k in range(n - 1):
            self._step("factor", [(j, i) for i in range(k + 1, n) for j in range(i, n)], (2, 1))
            share = L[k + 1 :, k] / L[k, k]
            x[k + 1 :] -= share * x[k]
            L[k + 1 :, k + 1 :] -= np.outer(share, L[k + 1 :, k])
            L[k + 1 :, k] = share
        self._step("division", [(j, j) for j in range(n)], (1, 0))
        x /= np.diag(L)
        for k in reversed(range(1, n)):
            self._step("substitution", [(j, j) for j in range(k)], (1, 1))
            x[:k] -= L[k, :k] * x[k]
        return x
