"""Lemmas 1-4 on serial and branched mechanisms: dense operators built from the paper's definitions, against ours.

Everything is in ground axes about the ground origin, so that phi(parent, child) is the identity.
"""

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.model.mechanism import Body
from articulus.model.mechanism.numbers import value_of, values_of

TREES = {
    "serial (PUMA 600)": ("puma600", "tool", "link3"),
    "branched (human torso)": ("human_torso", "right_hand", "left_hand"),
}


def compute() -> dict:
    out: dict = {}
    for label, (name, *frames) in TREES.items():
        arm = art.load(name)
        q = np.linspace(-1.1, 0.9, arm.nq)
        out |= {f"{text}, {label}": value for text, value in lemmas(arm, q).items()}
        out |= {f"{text}, {label}": value for text, value in task_space(arm, q, *frames).items()}
    return out


def lemmas(arm: art.Mechanism, q: np.ndarray) -> dict:
    op = SpatialOperators(arm, q)
    eye = np.eye(arm.nv)
    M = arm.mass_matrix(q)
    L, D, L_inverse = arm.mass_matrix_factors(q)
    return {
        "M = H phi M phi' H'": relative(op.H @ op.phi @ op.M @ op.phi.T @ op.H.T, M),
        "L = I + H phi K": relative(eye + op.H @ op.phi @ op.K, L),
        "lemma 1, M = L D L'": relative(L * D @ L.T, M),
        "lemma 2, L (I - H psi K) = I": relative(L @ (eye - op.H @ op.psi @ op.K), eye),
        "lemma 3, M^-1 = (I - H psi K)' D^-1 (I - H psi K)": relative(
            L_inverse.T / D @ L_inverse, arm.mass_matrix_inverse(q)
        ),
        "lemma 3, M M^-1 = I": relative(M @ arm.mass_matrix_inverse(q), eye),
        "lemma 4, (I - H psi K) H phi = H psi": relative(L_inverse @ op.H @ op.phi, op.H @ op.psi),
    }


def task_space(arm: art.Mechanism, q: np.ndarray, a: str, b: str) -> dict:
    inverse = np.linalg.inv(arm.mass_matrix(q))
    Ja, Jb = arm.jacobian(a, q), arm.jacobian(b, q)
    return {
        "Lambda = J M^-1 J' of one frame": relative(arm.operational_inertia(a, q), Ja @ inverse @ Ja.T),
        "Lambda = J M^-1 J' of two frames": relative(arm.operational_inertia(a, q, b), Ja @ inverse @ Jb.T),
    }


class SpatialOperators:
    """H, phi, M, K and psi as dense matrices, by eqs. 2.2-2.5 and 3.1 of the paper (joints with one degree of freedom)."""

    def __init__(self, arm: art.Mechanism, q: np.ndarray):
        joints = arm.description.connections
        n = len(joints)
        place = {c.child: k for k, c in enumerate(joints)}
        bodies = {b.name: b for b in arm.description.bodies}
        axes = [at_origin(arm.jacobian(c.child, q), arm.pose(c.child, q))[:, k] for k, c in enumerate(joints)]
        inertias = [spatial_inertia(bodies[c.child], arm.pose(c.child, q)) for c in joints]
        E = np.zeros((6 * n, 6 * n))
        for k, c in enumerate(joints):
            if c.parent in place:
                E[block(place[c.parent]), block(k)] = np.eye(6)
        self.H = np.zeros((n, 6 * n))
        self.M = np.zeros((6 * n, 6 * n))
        for k in range(n):
            self.H[k, block(k)] = axes[k]
            self.M[block(k), block(k)] = inertias[k]
        P = articulated_inertia(self.M, self.H, E)
        G = P @ self.H.T @ np.linalg.inv(self.H @ P @ self.H.T)
        eye = np.eye(6 * n)
        self.K = E @ G
        self.phi = np.linalg.inv(eye - E)
        self.psi = np.linalg.inv(eye - E @ (eye - G @ self.H))


def articulated_inertia(M: np.ndarray, H: np.ndarray, E: np.ndarray) -> np.ndarray:
    """Return the block diagonal P of M = P - E [P - P H' (H P H')^-1 H P] E' (eq. 3.1), tips first."""
    P = M.copy()
    for k in reversed(range(len(H))):
        Pk, s = P[block(k), block(k)], H[k, block(k)]
        left = Pk - np.outer(Pk @ s, Pk @ s) / (s @ Pk @ s)
        for parent in range(k):
            if E[6 * parent, 6 * k]:
                P[block(parent), block(parent)] += left
    return P


def block(k: int) -> slice:
    return slice(6 * k, 6 * k + 6)


def skew(p: np.ndarray) -> np.ndarray:
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def at_origin(jacobian: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return a Jacobian of the velocity of the point that passes the ground origin."""
    return np.vstack([jacobian[:3], jacobian[3:] + skew(pose[:3, 3]) @ jacobian[:3]])


def spatial_inertia(body: Body, pose: np.ndarray) -> np.ndarray:
    """Return [[J, m c~], [-m c~, m I]] about the ground origin, ground axes."""
    R, mass = pose[:3, :3], value_of(body.mass)
    c = skew(pose[:3, 3] + R @ values_of(body.com))
    J = R @ body.inertia_matrix() @ R.T - mass * c @ c
    return np.block([[J, mass * c], [-mass * c, mass * np.eye(3)]])
