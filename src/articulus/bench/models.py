"""Random mechanisms that every engine gets: chains of revolutes, and a tree with a free base."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import articulus as art

Array = np.ndarray
GROUND = -1


@dataclass(frozen=True, eq=False)
class JointedBody:
    """A rigid body on the joint that carries it: a revolute about its z axis, or no joint at all.

    Parameters
    ----------
    parent : int
        Index of the link that it is attached to; -1 for the ground.
    at : array, (4, 4) [-, m]
        Pose of the joint in the parent.
    mass : float [kg]
    com : array, (3,) [m]
        Center of mass, link frame.
    inertia : array, (3, 3) [kg m^2]
        About the center of mass, link axes.
    free : bool
        Whether the link floats.
    """

    parent: int
    at: Array
    mass: float
    com: Array
    inertia: Array
    free: bool = False


@dataclass(frozen=True, eq=False)
class Model:
    """Links, parents before children, gravity 9.81 m/s^2 downwards."""

    name: str
    links: tuple[JointedBody, ...]

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return sum(6 if link.free else 1 for link in self.links)

    @cached_property
    def mechanism(self) -> art.Mechanism:
        """The model as articulus has it."""
        mechanism = art.Mechanism(self.name)
        for i, link in enumerate(self.links):
            parent = "ground" if link.parent == GROUND else f"link{link.parent}"
            joint = art.Free() if link.free else art.Revolute(axis=(0, 0, 1))
            mechanism.body(f"link{i}", mass=link.mass, com=tuple(link.com), inertia=link.inertia.tolist())
            mechanism.joint(f"joint{i}", joint, parent=parent, child=f"link{i}", at=link.at)
        return mechanism

    def states(self, rows: int, seed: int = 1) -> tuple[Array, Array, Array]:
        """Return q (rows, nq), v and tau (or vdot) (rows, nv) at random; quaternions have norm one."""
        rng = np.random.default_rng(seed)
        q, v, tau = (rng.normal(size=(rows, n)) for n in (self.mechanism.nq, self.nv, self.nv))
        if self.links[0].free:
            q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
        return q, v, tau


def chain(n: int) -> Model:
    """Return `n` revolutes one after another."""
    rng = np.random.default_rng(n)
    return Model(f"chain of {n}", tuple(_link(rng, i - 1) for i in range(n)))


def tree(limbs: int = 4, joints: int = 6) -> Model:
    """Return a floating body with limbs of revolutes; the default has 30 degrees of freedom."""
    rng = np.random.default_rng(limbs)
    links = [_link(rng, GROUND, free=True)]
    for i in range(limbs * joints):
        links.append(_link(rng, i if i % joints else 0))
    return Model(f"floating base with {limbs} limbs of {joints}", tuple(links))


def _link(rng: np.random.Generator, parent: int, free: bool = False) -> JointedBody:
    """Return a link with the inertia of a solid box, turned at random."""
    at = np.eye(4)
    if not free:
        at[:3, :3], at[:3, 3] = _rotation(rng), 0.2 * rng.normal(size=3)
    mass, sides, axes = rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.4, 3), _rotation(rng)
    moments = mass / 12 * (sides @ sides - sides**2)
    inertia = (axes * moments) @ axes.T
    return JointedBody(parent, at, mass, 0.1 * rng.normal(size=3), (inertia + inertia.T) / 2, free)


def _rotation(rng: np.random.Generator) -> Array:
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.sign(np.linalg.det(R))
