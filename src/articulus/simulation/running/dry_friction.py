"""How fast the smoothed dry friction of joints acts about rest: what an explicit step must resolve."""

from __future__ import annotations

import casadi as ca
import numpy as np

from articulus.dynamics.coupled import every_joint
from articulus.dynamics.passive import coefficients
from articulus.dynamics.tree import Tree
from articulus.model.mechanism import Description, Varying
from articulus.simulation.loop.functions import System


def present(system: System) -> bool:
    """Whether a joint has dry friction, or may have."""
    return any(
        isinstance(x, Varying) or x != 0 for c in system.description.connections for x in c.per_dof("coulomb")
    )


def rate(system: System, q: np.ndarray, v: np.ndarray, p: np.ndarray, t: float, h: float) -> float:
    """Return the largest rate of v' = -P diag(coulomb / coulomb_speed) v over the joints that come near rest [1/s].

    P is the inverse mass matrix at the first sample, under the constraints. A joint comes near rest when its rate changes
    sign, or falls below coulomb_speed or below what friction changes it by in a step.

    Parameters
    ----------
    system : System
    q, v : array, (n, nq), (n, nv)
        Samples of a run.
    p : array, (np,)
        Its parameters.
    t, h : float [s]
        Time of the first sample, step.
    """
    model = p[: len(system.description.parameters)]
    numbers = _numbers(system.description)
    dry, slow = (np.array(x).ravel() for x in numbers(model[: numbers.numel_in(0)]))
    P = np.linalg.inv(system.mass_matrix(q[0], model))
    if system.closing is not None:
        G = np.array(system.closing.jacobian(q[0], t, model))
        P = P - P @ G.T @ np.linalg.pinv(G @ P @ G.T, rcond=1e-10, hermitian=True) @ G @ P
    if system.description.couplings:
        every = every_joint(system.description)
        T = np.array(every(q[0], v[0], model)[2])
        P, v = T @ P @ T.T, np.array([np.array(every(*each, model)[1]).ravel() for each in zip(q, v)])
    lowest = np.nanmin(np.abs(v), axis=0)
    near = (lowest <= np.maximum(slow, h * dry * np.diag(P))) | (
        np.nanmin(v, axis=0) * np.nanmax(v, axis=0) < 0
    )
    root = np.sqrt(np.where(near, dry / slow, 0.0))
    return float(np.linalg.eigvalsh(root[:, None] * P * root).max(initial=0.0))


def _numbers(description: Description) -> ca.Function:
    """p -> coulomb, coulomb_speed, (nv,) each."""
    tree = Tree(description)
    c = coefficients(tree)
    return ca.Function("dry", [tree.p], [ca.densify(c.coulomb), ca.densify(c.coulomb_speed)])
