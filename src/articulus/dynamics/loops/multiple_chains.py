"""Several chains that hold one member: hands and their object, legs and their body, in O(m N).

Each chain is reduced to what its tip does by itself and how it yields to a force, then the member alone is solved for:

    1   chain k:  qdd_open, xdd_open, W = J M^-1 J'                       (W is Lambda^-1 of the source)
    2   [M_0 + sum X' R] vdot_0 = tau_0 - bias_0 + sum X' P
    3   chain k:  f = P - R vdot_0                                        force of the chain on the member
    4   chain k:  qdd = qdd_open - M^-1 J' f

    B = [phi^c' W phi^c]^-1,  s = alpha^c - phi^c' (zeta - xdd_open + W phi h)
    P = phi h + phi^c B s,    R = phi^c B phi^c' X

with phi^c the constraint space of the contact, phi its motion space, h forces along phi that are known (friction),
X vdot_0 + zeta the acceleration of the member at the tip and alpha^c what turning contact axes ask for.

Source: Lilly & Orin 1989, equations 8 to 12 and 43, table 1; accelerations are those of points, ground axes. Two chains
meet only in the sum of step 2. Cost: O(m N).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics import forward
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.kinematics import acceleration, jacobian, velocity
from articulus.dynamics.loops.base import Factorization, solve
from articulus.dynamics.loops.contact import GeneralJoint
from articulus.dynamics.loops.rank import require_full_rank
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.operators import (
    OperatorFactors,
    apply_transposed,
    factors,
    operational_inertia,
    weighted,
)
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree
from articulus.errors import InputError
from articulus.model.mechanism import Description
from articulus.spatial import Force, Transform, cross, skew


@dataclass(frozen=True)
class Grasp:
    """One chain with its tip on the member.

    Parameters
    ----------
    description : Description
        The chain: any tree whose forces reach the member through the tip alone.
    tip : str
        Body or frame at the contact; its axes are those of the contact.
    contact : Contact
    """

    description: Description
    tip: str
    contact: GeneralJoint

    def __post_init__(self) -> None:
        tree = Tree(self.description)
        dofs = sum(len(tree.dofs[i]) for i in tree.path(tree.frame(self.tip)[0]))
        if dofs < self.contact.n_c:
            raise InputError(
                f"chain '{self.description.name}': {dofs} degrees of freedom behind tip '{self.tip}' for the "
                f"{self.contact.name} contact, which stops {self.contact.n_c} motions; expected at least as many. "
                "Choose a contact with fewer constraints, or make chain and object one mechanism with a loop"
            )


def multiple_chains(member: Description, body: str, grasps: Sequence[Grasp]) -> ca.Function:
    """Return the accelerations of a member and of the chains that hold it, as a CasADi function.

    Parameters
    ----------
    member : Description
        What is held; as a rule one body on a free joint.
    body : str
        Body of the member that the tips touch.
    grasps : sequence of Grasp
        All in the ground frame of the member.

    Returns
    -------
    casadi.Function
        Inputs q_0, v_0, tau_0 of the member, then for k = 1, 2, ... q_k, v_k, tau_k of chain k and h_k, the forces
        along the contact's motion space. Outputs vdot_0, then vdot_k and f_k: accelerations of chain k, and moment
        [N m] and force [N] of chain k on the member at its tip, in ground axes. Positions must fit each other.

    A mechanism with named parameters is taken at their values. Where a chain cannot move its tip in a direction that
    the contact stops, the result is not finite or wrong: see `require_grasp`.
    """
    _require_same_gravity(member, grasps)
    held = _Member(Tree(member), body)
    chains = [_Chain(Tree(g.description), g.tip, g.contact) for g in grasps]
    reduced = [_Reduced(chain, held) for chain in chains]
    matrix = mass_matrix(held.tree) + sum(ca.mtimes(r.X.T, r.R) for r in reduced)
    force = held.tau - held.bias() + sum(ca.mtimes(r.X.T, r.P) for r in reduced)
    vdot = solve(matrix, force)
    inputs, outputs = {"q_0": held.tree.q, "v_0": held.tree.v, "tau_0": held.tau}, {"vdot_0": vdot}
    for k, (chain, r) in enumerate(zip(chains, reduced), 1):
        f = r.P - ca.mtimes(r.R, vdot)
        inputs |= {f"q_{k}": chain.tree.q, f"v_{k}": chain.tree.v, f"tau_{k}": chain.tau, f"h_{k}": chain.h}
        outputs |= {f"vdot_{k}": chain.open - chain.response(f), f"f_{k}": f}
    trees = [held.tree, *(chain.tree for chain in chains)]
    results = [_at_values(ca.densify(x), trees) for x in outputs.values()]
    return ca.Function("multiple_chains", list(inputs.values()), results, list(inputs), list(outputs))


def require_grasp(grasp: Grasp, q: np.ndarray) -> None:
    """Raise NumericalError when a chain at position q cannot move its tip in every direction the contact stops."""
    tree = Tree(grasp.description)
    phi_c = _rotate_directions(tree.world_frame(grasp.tip), grasp.contact.constraint_space())
    W = operational_inertia(tree, grasp.tip, grasp.tip)
    mobility = _at_values(ca.mtimes(phi_c.T, ca.mtimes(W, phi_c)), [tree])
    require_full_rank(
        np.array(ca.Function("mobility", [tree.q], [mobility])(q)),
        [f"direction {i + 1} of the {grasp.contact.name} contact" for i in range(grasp.contact.n_c)],
        f"chain '{grasp.description.name}' has too few degrees of freedom here for its grasp at tip '{grasp.tip}'",
        "Move it away from the singular position, choose a contact with fewer constraints, or make chain and object "
        "one mechanism with a loop.",
    )


def _require_same_gravity(member: Description, grasps: Sequence[Grasp]) -> None:
    for k, grasp in enumerate(grasps, 1):
        if grasp.description.gravity != member.gravity:
            raise InputError(
                f"chain {k}, '{grasp.description.name}': gravity {grasp.description.gravity}; expected that of the "
                f"member '{member.name}', {member.gravity}: all stand on the same ground"
            )


class _Member:
    """The member at the symbols of its state."""

    def __init__(self, tree: Tree, body: str):
        self.tree = tree
        self.tau = SX.sym("tau", tree.description.nv)
        self.p = tree.world_frame(body).p
        self.J = jacobian(tree, body)
        self.velocity = velocity(tree, body, tree.v)
        self.drift = acceleration(tree, body, tree.v, SX.zeros(tree.description.nv))

    def bias(self) -> SX:
        motion = newton_euler(Inline(self.tree), self.tree.v, SX.zeros(self.tree.description.nv))
        return motion.tau - passive_forces(self.tree, self.tree.v)


class _Chain:
    """One chain at the symbols of its state: what it does alone (step 1)."""

    def __init__(self, tree: Tree, tip: str, contact: GeneralJoint):
        n = tree.description.nv
        self.tree, self.tau, self.h = tree, SX.sym("tau", n), SX.sym("h", 6 - contact.n_c)
        self.tip = tree.world_frame(tip)
        self.phi, self.phi_c = (
            _rotate_directions(self.tip, space)
            for space in (contact.motion_space(), contact.constraint_space())
        )
        self.velocity = velocity(tree, tip, tree.v)
        self.open = forward.forward_dynamics(Inline(tree), tree.v, self.tau + passive_forces(tree, tree.v))
        self.xdd_open = acceleration(tree, tip, tree.v, self.open)
        self._factors = factors(tree)
        self._Y = propagate_wrench(tree, self._factors, tip)
        self.W = ca.mtimes(self._Y.T, weighted(self._factors, self._Y))

    def response(self, f: SX) -> SX:
        """Return M^-1 J' f."""
        return apply_transposed(self._factors, weighted(self._factors, ca.mtimes(self._Y, f)))


class _Reduced:
    """P, R and X of one chain."""

    def __init__(self, chain: _Chain, member: _Member):
        r = chain.tip.p - member.p
        shift = ca.blockcat([[SX.eye(3), SX.zeros(3, 3)], [-skew(r), SX.eye(3)]])
        self.X = ca.mtimes(shift, member.J)
        relative = ca.mtimes(shift, member.velocity) - chain.velocity
        passing = cross(member.velocity[:3], chain.velocity[3:] - member.velocity[3:])
        zeta = ca.mtimes(shift, member.drift) + ca.vertcat(SX.zeros(3), passing)
        turning = ca.vertcat(*(cross(chain.velocity[:3], part) for part in ca.vertsplit(relative, 3)))
        known = ca.mtimes(chain.phi, chain.h)
        B = Factorization(ca.mtimes(chain.phi_c.T, ca.mtimes(chain.W, chain.phi_c)))
        s = ca.mtimes(chain.phi_c.T, turning - zeta + chain.xdd_open - ca.mtimes(chain.W, known))
        self.P = known + ca.mtimes(chain.phi_c, B.solve(s))
        self.R = ca.mtimes(chain.phi_c, B.solve(ca.mtimes(chain.phi_c.T, self.X)))


def propagate_wrench(tree: Tree, f: OperatorFactors, frame: str) -> SX:
    """Return H psi B = (I - H psi K) J', a unit wrench on a frame passed inward through joints that yield, (nv, 6).

    Source: Rodriguez, Jain & Kreutz 1989, lemma 4; the force propagation method of Lilly & Orin 1989. Cost: O(n).
    """
    origin = Transform(SX.eye(3), tree.world_frame(frame).p)
    z = ca.horzcat(*(origin.force_to_parent(Force.of(e)).column() for e in ca.horzsplit(SX.eye(6))))
    Y = SX.zeros(tree.description.nv, 6)
    for i in tree.path(tree.frame(frame)[0]):
        for k in reversed(tree.dofs[i]):
            Y[k, :] = ca.mtimes(f.S[k].column().T, z)
            z = z - ca.mtimes(f.K[k].column(), Y[k, :])
    return Y


def _rotate_directions(frame: Transform, space: np.ndarray) -> SX:
    """Return directions given in a frame's axes in those of the ground, (6, n)."""
    columns = SX(ca.DM(space))
    return ca.vertcat(ca.mtimes(frame.R, columns[:3, :]), ca.mtimes(frame.R, columns[3:, :]))


def _at_values(expression: SX, trees: Sequence[Tree]) -> SX:
    """Return an expression with named parameters at their values."""
    for tree in trees:
        values = ca.DM([p.value for p in tree.description.parameters])
        expression = ca.substitute(expression, tree.p, values) if values.numel() else expression
    return expression
