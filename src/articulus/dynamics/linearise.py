"""Exact derivatives of the dynamics by recursion, not by differentiating the recursions.

A small change of freedom j turns everything behind it by S_j. Seen from the turned bodies only the velocity and the
acceleration that come from in front of the joint have changed, by

    Psid_j  = V_p x S_j                      Psidd_j = A_p x S_j + V_p x Psid_j        (p: parent of j)

so that a body's force changes by I Psidd_j + 2B Psid_j with 2B = (V x*) I - I (V x) + (. x* I V). Sums
over the bodies behind a joint give every entry. The same holds for a change of rate, with Sdot_j + Psid_j and S_j
in place of Psidd_j and Psid_j. A rotor r on the parent adds r qd to its momentum, r to the row vector of its joint
and V_p x* r to what multiplies rates.

Source: Singh, Russell & Wensing 2022 (ground-frame algorithm), rederived here for joints with several freedoms and
with rotors. The derivative by a quaternion is with respect to a small rotation in the child's axes. Cost: O(n d).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.inverse import base_acceleration
from articulus.dynamics.passive import passive_rates
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force, Motion, RigidInertia, cross, skew


@dataclass(frozen=True)
class RateMatrix:
    """The 6 x 6 matrix 2B = [[E, 0], [-2 f~, 0]] of a body or of several: it looks at the angular part alone.

    That the other blocks vanish, and E = 2 (w~ (J - tr(J)/2) - h~ v~), follows from Jacobi's identity and from
    J w~ + w~ J = tr(J) w~ - (J w)~ for symmetric J.
    """

    E: SX
    f: SX
    """Linear momentum."""

    @staticmethod
    def of(inertia: RigidInertia, V: Motion, linear_momentum: SX, spin: SX) -> RateMatrix:
        """Return 2B of a body with velocity V that carries rotors of total spin momentum `spin`."""
        moment = inertia.J - 0.5 * ca.trace(inertia.J) * SX.eye(3)
        E = 2 * (ca.mtimes(skew(V.w), moment) - ca.mtimes(skew(inertia.h), skew(V.v))) - skew(spin)
        return RateMatrix(E, linear_momentum)

    def __add__(self, other: RateMatrix) -> RateMatrix:
        return RateMatrix(self.E + other.E, self.f + other.f)

    def __matmul__(self, m: Motion) -> Force:
        return Force(ca.mtimes(self.E, m.w), 2 * cross(m.w, self.f))

    def row(self, m: Motion) -> Force:
        """Return m' 2B as the force whose power along x is m' 2B x."""
        return Force(ca.mtimes(self.E.T, m.w) + 2 * cross(self.f, m.v), SX.zeros(3))


def inverse_dynamics_derivatives(tree: Tree, v: SX, vdot: SX) -> tuple[SX, SX, SX]:
    """Return d tau/d q, d tau/d v and M of inverse dynamics at (q, v, vdot), each (nv, nv)."""
    nodes, nv = tree.nodes, tree.description.nv
    S: dict[int, Motion] = {}
    psid: dict[int, Motion] = {}
    psidd: dict[int, Motion] = {}
    rate: dict[int, Motion] = {}
    rotor: dict[int, tuple[Force, Force]] = {}
    V: list[Motion] = []
    A: list[Motion] = []
    inertia: list[RigidInertia] = []
    h: list[Force] = []
    spin: list[SX] = []
    F: list[Force] = []
    for i, node in enumerate(nodes):
        p, freedoms = tree.parents[i], tree.freedoms[i]
        Vp = Motion.zero() if p == ROOT else V[p]
        Ap = base_acceleration(tree) if p == ROOT else A[p]
        VJ = AJ = Motion.zero()
        for s, k in zip(node.S, freedoms):
            S[k] = tree.world[i].motion_to_parent(s)
            VJ, AJ = VJ + S[k] * v[k], AJ + S[k] * vdot[k]
        V.append(Vp + VJ)
        A.append(Ap + AJ + V[i].cross(VJ))
        for k in freedoms:
            psid[k] = Vp.cross(S[k])
            psidd[k] = Ap.cross(S[k]) + Vp.cross(psid[k])
            rate[k] = psid[k] + V[i].cross(S[k])
            r = Force.zero() if p == ROOT else tree.world[p].force_to_parent(node.rotor)
            rotor[k] = (r, Vp.cross_force(r))
            if p != ROOT:
                spin[p] += r.n * v[k]
                F[p] += r * vdot[k] + Vp.cross_force(r * v[k])
        inertia.append(tree.world[i].inertia_to_parent(node.inertia))
        h.append(inertia[i] @ V[i])
        spin.append(SX.zeros(3))
        F.append(inertia[i] @ A[i] + V[i].cross_force(h[i]))
    B = [RateMatrix.of(inertia[i], V[i], h[i].f, spin[i]) for i in range(len(nodes))]
    dq, dv, M = SX.zeros(nv, nv), SX.zeros(nv, nv), SX.zeros(nv, nv)
    for i in reversed(range(len(nodes))):
        p, freedoms = tree.parents[i], tree.freedoms[i]
        for k, armature in zip(freedoms, nodes[i].armature):
            r, r_rate = rotor[k]
            IS = inertia[i] @ S[k]
            by_q = inertia[i] @ psidd[k] + B[i] @ psid[k]
            by_v = inertia[i] @ rate[k] + B[i] @ S[k]
            for l in freedoms:
                dq[l, k], dv[l, k], M[l, k] = S[l].dot(by_q), S[l].dot(by_v), S[l].dot(IS)
            M[k, k] += armature
            by_q, by_v, row = by_q + S[k].cross_force(F[i]), by_v + r_rate, IS + r
            row_rate = B[i].row(S[k]) + r_rate
            for j in tree.path(p):
                for l in tree.freedoms[j]:
                    dq[l, k], dv[l, k] = S[l].dot(by_q), S[l].dot(by_v)
                    M[l, k] = M[k, l] = S[l].dot(row)
                    dq[k, l] = psidd[l].dot(row) + psid[l].dot(row_rate)
                    dv[k, l] = rate[l].dot(row) + S[l].dot(row_rate)
        if p != ROOT:
            inertia[p] += inertia[i]
            B[p] += B[i]
            F[p] += F[i]
    by_position, by_rate = passive_rates(tree, v)
    return dq - ca.densify(ca.diag(by_position)), dv - ca.densify(ca.diag(by_rate)), M
