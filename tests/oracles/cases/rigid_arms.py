"""Rigid arms of Wong 1991 by Kane's equations in world axes: Jacobians of the mass centers, accelerations, nothing recursive in them."""

import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81])


class Arm:
    """Bodies on revolute joints about their z axes.

    Parameters
    ----------
    twist : angles of the joint axes about x of the frame before [deg]
    mass, inertia : mass [kg], moments about the mass center on the axes of the body [kg m^2]
    k : from the mass center to the own hinge [m]
    hinge : from the mass center of the parent to the hinge [m]
    parent : index of the parent, -1 for the ground
    """

    def __init__(self, twist, mass, inertia, k, hinge, parent):
        self.mass, self.inertia = np.array(mass, dtype=float), np.array(inertia, dtype=float)
        self.k, self.hinge, self.parent = np.array(k, dtype=float), np.array(hinge, dtype=float), parent
        self.n = len(parent)
        c, s = np.cos(np.radians(twist)), np.sin(np.radians(twist))
        self.twist = [np.array([[1, 0, 0], [0, a, -b], [0, b, a]]) for a, b in zip(c, s)]
        self.above = np.zeros((self.n, self.n))
        for i in range(self.n):
            j = i
            while j >= 0:
                self.above[i, j], j = 1.0, parent[j]

    def equations(self, q, v):
        """Return mass matrix and the forces that hold zero accelerations, (n, n) and (n,)."""
        n = self.n
        R, z, place, center = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
        w, alpha, a = np.zeros((n, 3)), np.zeros((n, 3)), np.empty((n, 3))
        for i, p in enumerate(self.parent):
            c, s = np.cos(q[i]), np.sin(q[i])
            turn = self.twist[i] @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            if p < 0:
                R[i], place[i], before, speed, rate = turn, 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
            else:
                R[i], arm = R[p] @ turn, R[p] @ self.hinge[i]
                place[i], speed, rate = center[p] + arm, w[p], alpha[p]
                before = a[p] + cross(rate, arm) + cross(speed, cross(speed, arm))
            z[i] = R[i, :, 2]
            w[i] = speed + z[i] * v[i]
            alpha[i] = rate + cross(speed, z[i]) * v[i]
            out = -R[i] @ self.k[i]
            center[i] = place[i] + out
            a[i] = before + cross(alpha[i], out) + cross(w[i], cross(w[i], out))
        turning = self.above[:, :, None] * z[None]
        moving = self.above[:, :, None] * np.cross(z[None], center[:, None] - place[None])
        I = np.einsum("iab,ib,icb->iac", R, self.inertia, R)
        spin = np.einsum("iab,ib->ia", I, alpha) + np.cross(w, np.einsum("iab,ib->ia", I, w))
        M = np.einsum("i,ija,ika->jk", self.mass, moving, moving)
        M += np.einsum("ija,iab,ikb->jk", turning, I, turning)
        push = self.mass[:, None] * (a - GRAVITY)
        return M, np.einsum("ija,ia->j", moving, push) + np.einsum("ija,ia->j", turning, spin)

    def torques(self, q, v, vdot):
        M, h = self.equations(q, v)
        return M @ vdot + h

    def accelerations(self, q, v, tau):
        M, h = self.equations(q, v)
        return np.linalg.solve(M, tau - h)

    def growth_rate(self, angle):
        """Return the largest real part of the poles at rest, from central differences of the weights."""
        q, d = np.full(self.n, angle), 1e-5
        steps = d * np.eye(self.n)
        weight = [self.equations(q + e, 0 * q)[1] - self.equations(q - e, 0 * q)[1] for e in steps]
        squares = np.linalg.eigvals(
            -np.linalg.solve(self.equations(q, 0 * q)[0], np.array(weight).T / (2 * d))
        )
        return np.sqrt(squares.astype(complex)).real.max()

    def staggered(self):
        i = np.arange(1, self.n + 1)
        return self.accelerations(0.1 * i, 0.2 * i, np.zeros(self.n))


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def profile(t, period, n):
    """Return eq. 3.43: position, velocity and acceleration of every joint."""
    w = 2 * np.pi / period
    one = np.ones(n)
    return (
        one * (w * t - np.sin(w * t)) / 2,
        one * w * (1 - np.cos(w * t)) / 2,
        one * w**2 * np.sin(w * t) / 2,
    )


def replay(arm, period, h):
    """Return errors of position, velocity, acceleration of RK4 with the torques of the profile at its stages [deg, ...]."""
    n, steps = arm.n, round(period / h)
    tau = [arm.torques(*profile(k * h / 2, period, n)) for k in range(2 * steps + 1)]
    x, errors = np.zeros(2 * n), []

    def rate(x, tau):
        return np.concatenate([x[n:], arm.accelerations(x[:n], x[n:], tau)])

    for k in range(steps + 1):
        wanted = profile(k * h, period, n)
        first = rate(x, tau[2 * k])
        errors.append([wanted[0] - x[:n], wanted[1] - x[n:], wanted[2] - first[n:]])
        if k == steps:
            break
        second = rate(x + h / 2 * first, tau[2 * k + 1])
        third = rate(x + h / 2 * second, tau[2 * k + 1])
        fourth = rate(x + h * third, tau[2 * k + 2])
        x = x + h / 6 * (first + 2 * second + 2 * third + fourth)
    return np.degrees(np.array(errors)).transpose(1, 0, 2)
