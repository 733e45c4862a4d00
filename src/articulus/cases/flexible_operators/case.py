"""Three flexible links with four nodes each: the operators of the paper as dense matrices, against flexible bodies.

Everything is in ground axes. Links are counted from the base, so that the sums of the paper run over parents.
"""

import numpy as np
from scipy.linalg import block_diag

import articulus as art
from articulus.cases.checks import relative
from articulus.structure import EulerBernoulli, Lumped, Section, Structure, modes_of

LINKS, NODES = 3, 4
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
SECTION = Section(0.8, 900.0, 3.0, 5.0, 2.0, rotary=(3e-3, 1e-3, 2e-3))


def compute() -> dict:
    chain = [link(k) for k in range(LINKS)]
    arm, rigid = assemble_arm(chain, flexible=True), assemble_arm(chain, flexible=False)
    joints = [arm.v_names.index(f"joint{k}") for k in range(LINKS)]
    q = arm.neutral
    q[joints] = (0.4, -0.7, 1.1)
    v = np.random.default_rng(5).normal(size=arm.nv)
    op = FlexibleOperators(arm, chain, q)
    order = np.concatenate([[i for i in range(arm.nv) if i not in joints], joints])
    to_nodes = op.inner.T @ op.rates.T
    velocities = to_nodes @ v[order]
    return {
        "V^f = [I + B* phi* C*] [h* B*H*] X against the velocities of the nodes of articulus": relative(
            velocities,
            np.concatenate([arm.velocity(f"{k}-{j}", q, v) for k in range(LINKS) for j in range(NODES)]),
        ),
        "mass matrix [h; H B] [I + C phi B] m [I + C phi B]* [h; H B]*": relative(
            to_nodes.T @ op.m @ to_nodes, arm.mass_matrix(q)[np.ix_(order, order)]
        ),
        "kinetic energy 1/2 V^f* m V^f": relative(velocities @ op.m @ velocities / 2, arm.energy(q, v)[0]),
        "phi* H* qd are the velocities of the links of the rigid arm": relative(
            op.phi.T @ op.H.T @ v[joints],
            np.concatenate([rigid.velocity(f"link{k}", q[joints], v[joints]) for k in range(LINKS)]),
        ),
        "B* phi* H* qd are the velocities of the nodes of the rigid arm": relative(
            op.B.T @ op.phi.T @ op.H.T @ v[joints],
            np.concatenate(
                [rigid.velocity(f"{k}-{j}", q[joints], v[joints]) for k in range(LINKS) for j in range(NODES)]
            ),
        ),
        "B_k m_k B_k* is the rigid inertia of the link": relative(
            op.H @ op.phi @ op.B @ op.m @ op.B.T @ op.phi.T @ op.H.T, rigid.mass_matrix(q[joints])
        ),
    }


def link(k: int) -> Structure:
    """Return a free link along x with a lump at its end; node 0 is at the joint that carries it."""
    x = np.linspace(0.0, 0.9 - 0.1 * k, NODES)
    parts = [EulerBernoulli(j, j + 1, SECTION) for j in range(NODES - 1)]
    end = Lumped(NODES - 1, 0.3 + 0.1 * k, (0.02, 0.03, 0.025, 0.001, 0.0, 0.002), (0.0, 0.02, 0.01))
    return Structure.assemble(np.outer(x, (1.0, 0.0, 0.0)), [*parts, end])


def assemble_arm(chain: list[Structure], flexible: bool) -> art.Mechanism:
    """Return the arm; links are clamped at their joints, with all functions of the other nodes as modes, or none.

    At rest all levels are equal; the smallest is taken.
    """
    arm = art.Mechanism("arm", gravity=(0, 0, 0))
    for k, free in enumerate(chain):
        held = free.fix({0: "all"})
        arm.flexible(
            f"link{k}", modes_of(held, np.eye(held.count)[:, : held.count * flexible]).at_level("ruthless")
        )
        parent, node = (f"link{k - 1}", f"node{NODES - 1}") if k else ("ground", "")
        arm.joint(f"joint{k}", art.Revolute(AXES[k]), parent, f"link{k}", node=node)
        for j in range(NODES):
            arm.frame(f"{k}-{j}", f"link{k}", node=f"node{j}")
    return arm


class FlexibleOperators:
    """phi, E, H, B, C, h and m, by the definitions of section 4 (with udot where the dots are lost)."""

    def __init__(self, arm: art.Mechanism, chain: list[Structure], q: np.ndarray):
        n = 6 * NODES
        base = [arm.pose(f"link{k}", q) for k in range(LINKS)]
        place = [[arm.pose(f"{k}-{j}", q)[:3, 3] for j in range(NODES)] for k in range(LINKS)]
        self.m = block_diag(*(angular_first(s.M.toarray(), X[:3, :3]) for s, X in zip(chain, base)))
        self.B = block_diag(*(np.hstack([shift(X[:3, 3], p) for p in row]) for X, row in zip(base, place)))
        self.C, self.E = np.zeros((n * LINKS, 6 * LINKS)), np.zeros((6 * LINKS, 6 * LINKS))
        for k in range(1, LINKS):
            carrying = slice(n * k - 6, n * k)
            self.C[carrying, 6 * k : 6 * k + 6] = shift(place[k - 1][-1], base[k][:3, 3])
            self.E[6 * k - 6 : 6 * k, 6 * k : 6 * k + 6] = shift(base[k - 1][:3, 3], base[k][:3, 3])
        self.phi = np.linalg.inv(np.eye(6 * LINKS) - self.E)
        self.H = block_diag(*(np.append(X[:3, :3] @ axis, np.zeros(3)) for X, axis in zip(base, AXES)))
        h = block_diag(*(moves(X[:3, :3]) for X in base))
        self.inner = np.eye(n * LINKS) + self.C @ self.phi @ self.B
        self.rates = np.vstack([h, self.H @ self.B])


def shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return phi(a, b), which takes forces at b to a, angular part first."""
    x, y, z = b - a
    lever = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.block([[np.eye(3), lever], [np.zeros((3, 3)), np.eye(3)]])


def turn(R: np.ndarray, nodes: int) -> np.ndarray:
    """Return the matrix from (translation, rotation) of nodes in link axes to (rotation, translation) in ground axes."""
    none = np.zeros((3, 3))
    return np.kron(np.eye(nodes), np.block([[none, R], [R, none]]))


def angular_first(M: np.ndarray, R: np.ndarray) -> np.ndarray:
    T = turn(R, NODES)
    return T @ M @ T.T


def moves(R: np.ndarray) -> np.ndarray:
    """Return h: the free degrees of freedom of a link act on all of its nodes but the first."""
    return np.hstack([np.zeros((6 * NODES - 6, 6)), turn(R, NODES - 1).T])
