"""Chains of inextensible beams by the angles of their nodes, eq. 6 of Eisler, Segalman & Robinett 1989, with hat functions."""

import numpy as np


class Chain:
    """Nodes along the arc, one more at each hinge.

    Parameters
    ----------
    links : list of links, each a list of elements (length, mass, EI)
    points : list of (link, mass): point masses at the outer end of a link
    """

    def __init__(self, links, points=()):
        self.starts, nodes = [], 0
        total = sum(len(link) + 1 for link in links)
        q, M, K = np.zeros(total), np.zeros((total, total)), np.zeros((total, total))
        at, weight = np.polynomial.legendre.leggauss(4)
        at, weight = (at + 1) / 2, weight / 2
        for i, link in enumerate(links):
            self.starts.append(nodes)
            for k, (length, mass, EI) in enumerate(link):
                a, b = nodes + k, nodes + k + 1
                for s, w in zip(at, weight):
                    here = q.copy()
                    here[a] += length * (s - s * s / 2)
                    here[b] += length * s * s / 2
                    M += w * mass * np.outer(here, here)
                K[np.ix_([a, b], [a, b])] += EI / length * np.array([[1, -1], [-1, 1]])
                q[[a, b]] += length / 2
            nodes += len(link) + 1
            for j, mass in points:
                if j == i:
                    M += mass * np.outer(q, q)
        self.M, self.K, self.q = M, K, q

    def accelerations(self, theta, rate, held=(), given=()):
        """Return the angular accelerations without torques; those of some nodes are given."""
        gap = theta[:, None] - theta[None]
        left = np.cos(gap) * self.M
        across = np.sin(-gap)  # gamma_m . beta_n = sin(theta_n - theta_m)
        push = (across * self.M) @ rate**2 - (across * self.K).sum(1)
        out = np.zeros(len(theta))
        free = np.setdiff1d(np.arange(len(theta)), held)
        out[list(held)] = given
        push = push - left[:, list(held)] @ np.asarray(given, dtype=float).reshape(-1) if len(held) else push
        out[free] = np.linalg.solve(left[np.ix_(free, free)], push[free])
        return out

    def tip(self, theta):
        return np.array([self.q @ np.cos(theta), self.q @ np.sin(theta)])

    def hertz(self, angles, basis):
        """Return frequencies about straight links at some angles; `basis` spans the motions that are free."""
        theta = np.zeros(len(self.M))
        for start, angle in zip(self.starts, angles):
            theta[start:] = angle
        M, K = np.cos(theta[:, None] - theta[None]) * self.M, self.K
        values = np.linalg.eigvals(np.linalg.solve(basis.T @ M @ basis, basis.T @ K @ basis)).real
        values = np.sort(values)
        return np.sqrt(values[values > 1.0]) / (2 * np.pi)  # rigid motions are zero but for rounding
