"""The variant Newton-Euler inertia matrix (VNEB): every column from a unit acceleration of one joint."""

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.model.mechanism import Body


def compute() -> dict:
    out = {}
    for name in ("puma600", "cat215b"):
        arm = art.load(name)
        q = np.linspace(0.8, -1.2, arm.nq)
        A = vneb(arm, q)
        out[f"A less composite-body matrix, {name}, relative"] = relative(A, arm.mass_matrix(q))
        out[f"A less matrix from Jacobians, {name}, relative"] = relative(A, from_jacobians(arm, q))
        out[f"A^-1 (tau - b) less articulated-body result, {name}, relative"] = solve(arm, q, A)
    return out


def vneb(arm: art.Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the inertia matrix of a serial arm by eqs. 8, 9, 11, 12, 27 and 30, in ground axes."""
    links = [LinkMoments(arm, body, k, q) for k, body in enumerate(arm.description.bodies)]
    n = len(links)
    A = np.zeros((n, n))
    for i in range(n):
        force, moment = np.zeros(3), np.zeros(3)
        for j in reversed(range(i, n)):
            step = links[j + 1].point - links[j].point if j + 1 < n else np.zeros(3)
            F, N = links[j].reaction(links[i])
            moment = N + moment + np.cross(step, force)
            force = F + force
            A[i, j] = A[j, i] = links[j].axis @ moment
    return A


class LinkMoments:
    """Mass M, first moment H and second moment K about the hinge, hinge point and axis Z, ground axes."""

    def __init__(self, arm: art.Mechanism, body: Body, k: int, q: np.ndarray):
        pose = arm.pose(body.name, q)
        R, c = pose[:3, :3], pose[:3, :3] @ body.com
        self.point, self.axis = pose[:3, 3], arm.jacobian(body.name, q)[:3, k]
        self.mass, self.first = body.mass, body.mass * c
        self.second = R @ body.inertia_matrix() @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def reaction(self, turned: "LinkMoments") -> tuple[np.ndarray, np.ndarray]:
        """Return force and moment at this hinge for a unit acceleration of another joint (eqs. 9, 27)."""
        speed_up = np.cross(turned.axis, self.point - turned.point)
        force = self.mass * speed_up + np.cross(turned.axis, self.first)
        return force, self.second @ turned.axis + np.cross(self.first, speed_up)


def from_jacobians(arm: art.Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the sum over bodies of m Jc' Jc + Jw' I Jw."""
    M = np.zeros((arm.nv, arm.nv))
    for body in arm.description.bodies:
        J, R = arm.jacobian(body.name, q), arm.pose(body.name, q)[:3, :3]
        center = J[3:] - np.cross(R @ body.com, J[:3], axisb=0, axisc=0)
        M += body.mass * center.T @ center + J[:3].T @ R @ body.inertia_matrix() @ R.T @ J[:3]
    return M


def solve(arm: art.Mechanism, q: np.ndarray, A: np.ndarray) -> float:
    v, tau = np.linspace(0.4, 1.0, arm.nv), np.linspace(2.0, -1.0, arm.nv)
    return relative(np.linalg.solve(A, tau - arm.bias(q, v)), arm.forward_dynamics(q, v, tau))
