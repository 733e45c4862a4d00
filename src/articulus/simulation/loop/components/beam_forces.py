"""The elastic forces of a beam of large deflection that is a link of a mechanism."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError
from articulus.model.mechanism import Free, Pose
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, find_joint, wrong
from articulus.spatial.rotation import quaternion_matrix, quaternion_product

if TYPE_CHECKING:
    from articulus.simulation.exact_beams.beam import Beam


@dataclass(frozen=True)
class BeamForces(Disturbance):
    """The elastic forces between the nodes of a geometrically exact beam, which are bodies of a mechanism.

    `BeamForces.link` puts a `Beam` into a mechanism: each node is a rigid body, joined to the one before by a `Free` joint
    that is neutral where the beam is undeformed. With the pose of the second node as seen from the first, whose logarithm is d,
    an element holds (d - d0)' K (d - d0) / 2 and pushes along its joint with

        tau = -D' (K (d - d0) + c K dd/dt),   dd/dt = D v

    These are the elements of `articulus.simulation.exact_beams`; here they hang in any tree or loop, with any joints, in runs of any method.

    Parameters
    ----------
    joints : sequence of str
        Free joints between neighboring nodes.
    poses : rows of seven numbers
        Quaternion (w, x, y, z) and position [m] of each second node as seen from the first, undeformed.
    undeformed : rows of six numbers
        d0.
    stiffness : matrices of 6 x 6
        K.
    damping : number [s]
        c: stress by rate over stress by strain, the same in all directions.
    name : str

    Signals: `wrench`, moment and force in every element, six each, in axes of its middle [N m, N].

    Notes
    -----
    Stretching and shear are stiff: explicit methods need steps below an element's length over the speed of sound.
    """

    joints: tuple[str, ...]
    poses: Any = quantity("-, m", "pose between nodes, undeformed", size="elements x 7")
    undeformed: Any = quantity("rad, m", "its logarithm", size="elements x 6")
    stiffness: Any = quantity("N m, N, N/m", "of each element, row by row", size="elements x 36")
    damping: Number = quantity("s", "stress by rate over stress by strain", default=0.0)
    name: str = "beam_forces"

    type_name = "beam_forces"
    signals: ClassVar = {"wrench": "N m, N"}

    def __post_init__(self) -> None:
        convert(self, damping=as_number)
        object.__setattr__(self, "joints", tuple(self.joints))
        for field, size in (("poses", 7), ("undeformed", 6), ("stiffness", 36)):
            object.__setattr__(self, field, _rows(self, field, size))
        at_least(self, 0.0, damping=self.damping)

    @classmethod
    def link(cls, mechanism: Mechanism, name: str, beam: Beam, damping: float = 0.0) -> BeamForces:
        """Add a beam to a mechanism as bodies `<name>_0`, `<name>_1`, ... and return its forces, a component of every run.

        Parameters
        ----------
        mechanism : Mechanism
            Gets the bodies and the joints between them, named after their outer node; join `<name>_0`, whose x axis points
            along the beam, to what carries it.
        name : str
        beam : articulus.simulation.exact_beams.Beam
            Nodes, sections and bodies count; supports, loads, gravity and base are those of the mechanism.
        damping : float [s]
            See `BeamForces`.
        """
        if beam.supports or beam.loads or any(beam.gravity) or beam.base is not None:
            raise InputError(
                Finding(
                    f"beam '{name}'",
                    "supports, loads, gravity or a base",
                    "none: in a mechanism joints, components and its own gravity take their place",
                )
            )
        from articulus.simulation.exact_beams.pieces import (
            Pieces,  # late: every run imports this file, and few have beams
        )

        cut = Pieces.of(beam)
        for k, M in enumerate(cut.inertia):
            mass, com = M[3, 3], np.array([M[2, 4], M[0, 5], M[1, 3]]) / M[3, 3]
            about = M[:3, :3] - mass * (com @ com * np.eye(3) - np.outer(com, com))
            mechanism.body(f"{name}_{k}", mass=mass, com=com, inertia=about)
        joints = tuple(f"{name}_{k}" for k in range(1, beam.nodes))
        poses = _relative(beam.poses)
        for k, pose in enumerate(poses):
            at = Pose(xyz=tuple(pose[4:]), quaternion=tuple(pose[:4]))
            mechanism.joint(joints[k], Free(), f"{name}_{k}", f"{name}_{k + 1}", at=at)
        return cls(joints, poses, cut.undeformed, cut.stiffness.reshape(-1, 36), damping, f"{name}_beam")

    def work(self, s: Scope) -> None:
        law, wrenches, c = _element(), [], s.number(self.damping)
        for joint, pose, d0, K in zip(self.joints, self.poses, self.undeformed, self.stiffness):
            if not isinstance(find_joint(s, self, joint).joint, Free):
                raise wrong(
                    self,
                    "joints",
                    f"'{joint}', which is not free",
                    "free joints, as `BeamForces.link` makes them",
                )
            v = s.joint_v(joint)
            stress, energy, loss, tau = law(
                s.joint_q(joint), v, ca.DM(pose), ca.DM(d0), ca.reshape(ca.DM(K), 6, 6), c
            )
            s.force(joint, tau)
            s.stores(energy)
            s.dissipates(loss)
            wrenches.append(stress)
        s.write("wrench", ca.vertcat(*wrenches))


def _element() -> ca.Function:
    """Return (q, v, pose, d0, K, c) -> stress, energy, loss, joint force of an element."""
    from articulus.simulation.exact_beams.lie import logarithm, logarithm_rates  # late, as above

    q, v, pose, d0 = SX.sym("q", 7), SX.sym("v", 6), SX.sym("pose", 7), SX.sym("d0", 6)
    K, c, d = SX.sym("K", 6, 6), SX.sym("c"), SX.sym("d", 6)
    D = ca.Function("rates", [d], [logarithm_rates(d)[1]])
    place = ca.vertcat(
        quaternion_product(pose[:4], q[:4]), pose[4:] + ca.mtimes(quaternion_matrix(pose[:4]), q[4:])
    )
    found = logarithm(place)
    by_v = D(found)
    elastic, rate = ca.mtimes(K, found - d0), ca.mtimes(by_v, v)
    viscous = c * ca.mtimes(K, rate)
    stress = elastic + viscous
    outputs = [stress, ca.dot(found - d0, elastic) / 2, ca.dot(rate, viscous), -ca.mtimes(by_v.T, stress)]
    return ca.Function("beam_element", [q, v, pose, d0, K, c], outputs)


def _relative(poses: np.ndarray) -> np.ndarray:
    """Return the pose of every node as seen from the one before, (elements, 7)."""
    q, p = SX.sym("q", 4), SX.sym("p", 4)
    inverse = ca.vertcat(q[0], -q[1:])
    turn = ca.Function("turn", [q, p], [quaternion_product(inverse, p), quaternion_matrix(q).T])
    out = []
    for A, B in itertools.pairwise(poses):
        between, back = turn(A[:4], B[:4])
        out.append(np.concatenate([np.array(between).ravel(), np.array(back) @ (B[4:] - A[4:])]))
    return np.array(out)


def _rows(component: BeamForces, field: str, size: int) -> tuple[tuple[float, ...], ...]:
    held: Any = np.asarray(getattr(component, field), dtype=float)
    if held.shape != (len(component.joints), size):
        raise wrong(
            component, field, f"shape {held.shape}", f"({len(component.joints)}, {size}), one row per joint"
        )
    return tuple(tuple(map(float, row)) for row in held)
