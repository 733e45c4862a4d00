"""A loop with a mechanism of ball joints as a problem E(t, x, x') = 0 in absolute coordinates, on numbers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.dynamics.ball_joints import BallJoints
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import tree_of
from articulus.simulation.loop.functions import System

if TYPE_CHECKING:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import SuperLU


class BallJointEquations:
    """The equations as CasADi functions, for any held values, parameters and noise.

    Parameters
    ----------
    system : System
        System of a mechanism of ball joints, without states of components.
    """

    def __init__(self, system: System):
        tree, (_, d, p, w, t, h) = tree_of(system.description), system.arguments
        balls = BallJoints(tree)
        q, v = balls.joints
        c = ca.vertcat(q, v, ca.DM.zeros(system.nc - q.numel() - v.numel()))
        tau, *forces = system.loads.call([c, d, p, w, t, h])
        friction = ca.Function("friction", [tree.q, tree.v, tree.p], [passive_forces(tree, tree.v)])
        wrenches = dict(zip(system.network.wrenches(), forces))
        newton = balls.newton(tau + friction(q, v, tree.p), wrenches)
        at = [ca.vertcat(balls.x, balls.xdot, balls.sigma, t), ca.vertcat(d, p, w, h, tree.p)]
        self.models = tree.p.numel()
        pattern = newton.matrix.sparsity()
        self.pattern = np.array(pattern.row()), np.array(pattern.colind())
        self.matrix = ca.Function("matrix", at, [newton.matrix.nz[:]])
        self.right = ca.Function("right", at, [newton.right])
        self.change = ca.Function("change", [*at, balls.unknown], [newton.change])
        self.absolute = ca.Function("absolute", [tree.q, tree.v, tree.p], [balls.absolute(tree.q, tree.v)])
        self.joints = ca.Function("joints", [balls.x], [q, v])


@functools.lru_cache(maxsize=8)
def equations_of(system: System) -> BallJointEquations:
    """Return the equations of a system, made once: runs of the same loop follow each other."""
    return BallJointEquations(system)


class BallJointProblem:
    """E(t, x, x') = 0 with held values.

    Parameters
    ----------
    equations : BallJointEquations
    d, p, w : arrays
        Held values, parameters and noise of the loop.
    h : float [s]
        For how long noise is held.
    """

    def __init__(self, equations: BallJointEquations, d: np.ndarray, p: np.ndarray, w: np.ndarray, h: float):
        self._equations, self._model = equations, p[: equations.models]
        self._given = ca.DM(np.concatenate([d, p, w, [h], self._model]))

    def begin(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return x of a state of the joints."""
        return np.array(self._equations.absolute(q, v, self._model)).ravel()

    def end(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v of the joints."""
        q, v = (np.array(each).ravel() for each in self._equations.joints(x))
        return q, v

    def matrix(self, t: float, x: np.ndarray, xdot: np.ndarray, sigma: float) -> csc_array:
        """Return the matrix of the linear system of a Newton correction, (7 n, 7 n)."""
        from scipy.sparse import csc_array  # here: it takes longer to load than the rest of the package

        rows, columns = self._equations.pattern
        values = np.array(self._equations.matrix(np.concatenate([x, xdot, [sigma, t]]), self._given))
        return csc_array((values.ravel(), rows, columns), (columns.size - 1, columns.size - 1))

    def correction(
        self, t: float, x: np.ndarray, xdot: np.ndarray, sigma: float, kept: Any
    ) -> tuple[np.ndarray, Any]:
        """Return dx of the Newton iteration, and the factored matrix."""
        at = ca.DM(np.concatenate([x, xdot, [sigma, t]]))
        if kept is None:
            kept = factor_blocks(self.matrix(t, x, xdot, sigma))
        if kept is None:
            return np.full(x.shape, np.nan), None
        unknown = kept.solve(np.array(self._equations.right(at, self._given)).ravel())
        return np.array(self._equations.change(at, self._given, unknown)).ravel(), kept


def factor_blocks(matrix: csc_array) -> SuperLU | None:
    """Return the factors of a matrix whose blocks go from the ends of a tree inwards; None where it is singular."""
    from scipy.sparse.linalg import splu

    if not np.isfinite(matrix.data).all():
        return None
    try:
        return splu(matrix, permc_spec="NATURAL")
    except RuntimeError:  # exactly singular
        return None
