"""Static compliance at a node, of a structure and of what a few shapes leave of it."""

from __future__ import annotations

import numpy as np

from articulus.errors import InputError
from articulus.structure.element.base import Node
from articulus.structure.solution.statics import Statics, rigid_motions
from articulus.structure.structure import COMPONENTS, Structure

NEGLIGIBLE = 1e-3
"""Compliance in one direction, beside the largest of its kind, that a body may do without (a beam's stretching)."""


def compliance(structure: Structure, node: Node) -> np.ndarray:
    """Return elastic displacements and rotations of a node for unit forces and moments on it, (6, 6)."""
    rows = structure.rows(node)
    return rows @ Statics(structure).solve(rows.T)


def reduced_compliance(structure: Structure, basis: np.ndarray, node: Node) -> np.ndarray:
    """Return the same within the space of the shapes (n, r), (6, 6)."""
    N = rigid_motions(structure)
    if N.shape[1]:
        basis = basis - N @ (N.T @ (structure.M @ basis))
    K = basis.T @ (structure.K @ basis)
    rows = structure.rows(node) @ basis
    return rows @ np.linalg.pinv(K, rcond=1e-12, hermitian=True) @ rows.T


def check_carries(structure: Structure, basis: np.ndarray, node: Node, share: float) -> None:
    """Raise if the shapes give less than `share` of the static compliance at a node in any direction that matters."""
    exact, found = (
        np.diag(f) for f in (compliance(structure, node), reduced_compliance(structure, basis, node))
    )
    for kind, unit in ((slice(0, 3), "force"), (slice(3, 6), "moment")):
        for i in range(kind.start, kind.stop):
            if exact[i] > NEGLIGIBLE * exact[kind].max() and found[i] < share * exact[i]:
                name = COMPONENTS[i]
                raise InputError(
                    f"basis: a {unit} at node {node!r} in direction '{name}' meets {100 * found[i] / exact[i]:.3g} % of the static "
                    f"compliance of the structure; at least {100 * share:.3g} % are asked of shapes that carry something there: "
                    "add modes, or shapes of unit loads by craig_bampton or residual_flexibility"
                )
