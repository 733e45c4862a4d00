"""The joint-space mass matrix by composite rigid bodies (CRBA)."""

from __future__ import annotations

from casadi import SX

from articulus.dynamics.tree import ROOT, Tree


def mass_matrix(tree: Tree) -> SX:
    """Return M(q), symmetric positive definite (composite-rigid-body algorithm, CRBA).

    Returns
    -------
    SX, (nv, nv) [kg m^2, kg m, kg]
        Armature and rotors included.

    Source: Featherstone 2008, table 6.2; Walker & Orin 1982, method 3. Cost: O(n d) with d the depth of the tree.
    """
    M = SX.zeros(tree.description.nv, tree.description.nv)
    composite = [node.inertia for node in tree.nodes]
    for i in reversed(range(len(tree))):
        node, v, p = tree.nodes[i], tree.freedoms[i], tree.parents[i]
        if p != ROOT:
            composite[p] += node.X.inertia_to_parent(composite[i])
        for a, (S, k, armature) in enumerate(zip(node.S, v, node.armature)):
            F = composite[i] @ S
            for S_same, l in list(zip(node.S, v))[: a + 1]:
                M[k, l] = M[l, k] = S_same.dot(F)
            M[k, k] += armature
            F, j = node.X.force_to_parent(F) + node.rotor, p
            while j != ROOT:
                for S_up, l in zip(tree.nodes[j].S, tree.freedoms[j]):
                    M[k, l] = M[l, k] = S_up.dot(F)
                F, j = tree.nodes[j].X.force_to_parent(F), tree.parents[j]
    return M
