"""Flexible bodies and mechanisms for the laws, independent of `articulus.structure`: clouds of particles.

A particle at r moves to r + phi eta + 1/2 eta' h eta; everything that `Modes` holds is a sum over the particles, written
out here once more with plain loops over modes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

import articulus as art
import zoo
from articulus.model.mechanism.modes import Level, Modes, Station


@dataclass(frozen=True)
class Cloud:
    """P particles, n modes."""

    mass: np.ndarray
    r: np.ndarray
    """(P, 3)"""
    phi: np.ndarray
    """(P, 3, n)"""
    h: np.ndarray
    """(P, 3, n, n)"""

    def shifted(self, eta: np.ndarray) -> np.ndarray:
        return self.r + self.phi @ eta + 0.5 * np.einsum("pakl,k,l->pa", self.h, eta, eta)

    def matrices(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the exact mass matrices rr, rf, ff of the displaced particles."""
        rows = np.concatenate(
            [-skew(self.shifted(eta)), np.broadcast_to(np.eye(3), (len(self.mass), 3, 3))], 2
        )
        slope = self.phi + self.h @ eta
        weigh = lambda a, b: np.einsum("p,pai,paj->ij", self.mass, a, b)  # noqa: E731
        return weigh(rows, rows), weigh(rows, slope), weigh(slope, slope)

    def modes(self, stiffness: np.ndarray, damping: np.ndarray, stations: dict[str, Station]) -> Modes:
        P, n = len(self.mass), self.phi.shape[2]
        R0 = np.concatenate([-skew(self.r), np.broadcast_to(np.eye(3), (P, 3, 3))], 2)
        none = np.zeros((P, 3, 3))
        R1 = [np.concatenate([-skew(self.phi[:, :, k]), none], 2) for k in range(n)]
        R2 = [[np.concatenate([-skew(self.h[:, :, k, l]), none], 2) for l in range(n)] for k in range(n)]
        weigh = lambda a, b: np.einsum("p,pai,paj->ij", self.mass, a, b)  # noqa: E731
        both = lambda a, b: weigh(a, b) + weigh(b, a)  # noqa: E731
        return Modes(
            names=tuple(f"m{k}" for k in range(n)),
            rr0=weigh(R0, R0),
            rr1=np.array([both(R0, R1[k]) for k in range(n)]).reshape(n, 6, 6),
            rr2=np.array([[both(R1[k], R1[l]) for l in range(n)] for k in range(n)]).reshape(n, n, 6, 6),
            rr2_shortening=np.array([[both(R0, R2[k][l]) for l in range(n)] for k in range(n)]).reshape(n, n, 6, 6),
            rf0=weigh(R0, self.phi),
            rf1=np.array([weigh(R1[k], self.phi) for k in range(n)]).reshape(n, 6, n),
            rf1_shortening=np.array([weigh(R0, self.h[:, :, k]) for k in range(n)]).reshape(n, 6, n),
            ff=weigh(self.phi, self.phi),
            stiffness=stiffness,
            damping=damping,
            stations=stations,
        )  # fmt: skip


def skew(a: np.ndarray) -> np.ndarray:
    """Return the matrices a x of rows (P, 3)."""
    x, y, z = a.T
    zero = np.zeros_like(x)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)


def random_cloud(rng: np.random.Generator, n: int, particles: int = 12, bend: float = 0.2) -> Cloud:
    h = 0.3 * bend * rng.normal(size=(particles, 3, n, n))
    return Cloud(
        rng.uniform(0.1, 0.4, particles),
        rng.uniform(-0.6, 0.6, (particles, 3)),
        bend * rng.normal(size=(particles, 3, n)),
        h + h.transpose(0, 1, 3, 2),
    )


def random_modes(rng: np.random.Generator, n: int, level: Level = "consistent", damped: bool = True) -> Modes:
    """Return a flexible body with stations "s0" and "s1"."""
    cloud = random_cloud(rng, n)
    K, D = ((B := rng.normal(size=(n, n))) @ B.T * scale + scale * np.eye(n) for scale in (20.0, 0.2))
    stations = {
        f"s{j}": Station(cloud.r[j], cloud.phi[j], 0.3 * rng.normal(size=(3, n)), cloud.h[j])
        for j in range(2)
    }
    return cloud.modes(K, D * damped, stations).at_level(level)


def soften(
    mech: art.Mechanism,
    seed: int,
    level: Level = "consistent",
    count: int = 2,
    damped: bool = True,
    share: float = 0.6,
):
    """Return a mechanism in which some rigid bodies, the first among them, are flexible, with joints and frames on stations."""
    rng, d = np.random.default_rng(seed), mech.description
    soft = {b.name for i, b in enumerate(d.bodies) if i == 0 or rng.random() < share}
    node = lambda body: rng.choice(["", "s0", "s1", "s1"]) if body in soft else ""  # noqa: E731
    bodies = [
        art.mechanism.Body(b.name, modes=random_modes(rng, int(rng.integers(1, count + 1)), level, damped))
        if b.name in soft
        else b
        for b in d.bodies
    ]
    connections = [dataclasses.replace(c, node=str(node(c.parent))) for c in d.connections]
    frames = [dataclasses.replace(f, node=str(node(f.body))) for f in d.frames]
    return art.Mechanism.from_description(
        dataclasses.replace(d, bodies=tuple(bodies), connections=tuple(connections), frames=tuple(frames))
    )


def state(mech: art.Mechanism, seed: int, bend: float = 0.3) -> zoo.State:
    """Return a random state, modal coordinates of size `bend`."""
    rng, d = np.random.default_rng(seed), mech.description
    q = np.zeros(mech.nq)
    for c in d.connections:
        parts = rng.normal(size=c.joint.nq)
        if c.joint.nq != c.joint.nv:  # a quaternion first
            parts[:4] /= np.linalg.norm(parts[:4])
        q[d.q_slices[c.name]] = parts
        modes = d.mode_slices(c.child)[1]
        q[modes] = bend * rng.normal(size=modes.stop - modes.start)
    v, vdot, tau = rng.normal(size=(3, mech.nv))
    return zoo.State(q, v, vdot, tau)


def stencil(f, h: float = 1e-3) -> np.ndarray:
    """Return df/dt at 0 by central differences of order four."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)
