"""A loop with a mechanism of ball joints as a problem E(t, x, x') = 0 in absolute coordinates, on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.dynamics.ball_joints import BallJoints
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import tree_of
from articulus.loop.functions import System


class BallJointEquations:
    """The equations as CasADi functions, for any held values, parameters and noise.

    Parameters
    ----------
    system : System
        Of a mechanism of ball joints, without states of components.
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
        at = [balls.x, balls.xdot, balls.sigma, t, d, p, w, h, tree.p]
        self.models = tree.p.numel()
        pattern = newton.matrix.sparsity()
        self.pattern = np.array(pattern.row()), np.array(pattern.colind())
        self.matrix = ca.Function("matrix", at, [newton.matrix.nz[:]], {"cse": True})
        self.right = ca.Function("right", at, [newton.right], {"cse": True})
        self.change = ca.Function("change", [*at, balls.unknown], [newton.change], {"cse": True})
        self.absolute = ca.Function("absolute", [tree.q, tree.v, tree.p], [balls.absolute(tree.q, tree.v)])
        self.joints = ca.Function("joints", [balls.x], [q, v])


@dataclass(frozen=True)
class BallJointProblem:
    """E(t, x, x') = 0 with given held values d, parameters p, noise w and the time h [s] for which noise is held."""

    equations: BallJointEquations
    d: np.ndarray
    p: np.ndarray
    w: np.ndarray
    h: float

    def begin(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return x of a state of the joints."""
        return np.array(self.equations.absolute(q, v, self.p[: self.equations.models])).ravel()

    def end(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v of the joints."""
        q, v = (np.array(each).ravel() for each in self.equations.joints(x))
        return q, v

    def correction(
        self, t: float, x: np.ndarray, xdot: np.ndarray, sigma: float, kept: Any
    ) -> tuple[np.ndarray, Any]:
        """Return dx of the Newton iteration, and the factored matrix."""
        e = self.equations
        at = (x, xdot, sigma, t, self.d, self.p, self.w, self.h, self.p[: e.models])
        if kept is None:
            kept = _factored(np.array(e.matrix(*at)).ravel(), *e.pattern)
        unknown = kept(np.array(e.right(*at)).ravel())
        return np.array(e.change(*at, unknown)).ravel(), kept


def _factored(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return what solves with a sparse matrix; its solutions are not finite where the matrix is singular."""
    from scipy.sparse import csc_array  # here: it takes longer to load than the rest of the package
    from scipy.sparse.linalg import splu

    n = columns.size - 1
    if not np.isfinite(values).all():
        return lambda right: np.full(n, np.nan)
    try:
        return splu(csc_array((values, rows, columns), (n, n)), permc_spec="NATURAL").solve
    except RuntimeError:  # exactly singular
        return lambda right: np.full(n, np.nan)
