"""The same mechanism built by hand in Pinocchio, and the maps between its coordinates and ours.

Pinocchio puts linear parts first and quaternions as xyzw. Joints that it lacks in our form (cylindrical, universal,
planar) are several of its joints with massless bodies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import articulus as art
import zoo
from articulus.model.mechanism import Connection, Description, Joint, Pose
from articulus.model.mechanism.joint.base import SerialJoint

SWAP = [3, 4, 5, 0, 1, 2]
"""Linear-first to angular-first and back."""


def se3(pose: Pose) -> pin.SE3:
    return pin.SE3(pose.matrix())


def turn(axis: Sequence[float]) -> pin.JointModel:
    return pin.JointModelRevoluteUnaligned(np.array(axis, dtype=float))


def slide(axis: Sequence[float]) -> pin.JointModel:
    return pin.JointModelPrismaticUnaligned(np.array(axis, dtype=float))


PARTS: dict[type[Joint], Callable[[Any], list[pin.JointModel]]] = {
    art.Fixed: lambda j: [],
    art.Revolute: lambda j: [turn(j.axis)],
    art.Prismatic: lambda j: [slide(j.axis)],
    art.Helical: lambda j: [pin.JointModelHelicalUnaligned(np.array(j.axis), j.pitch)],
    art.Cylindrical: lambda j: [turn(j.axis), slide(j.axis)],
    art.Universal: lambda j: [turn(j.axis), turn(j.second_axis)],
    art.Planar: lambda j: [slide((1, 0, 0)), slide((0, 1, 0)), turn((0, 0, 1))],
    art.Spherical: lambda j: [pin.JointModelSpherical()],
    art.Free: lambda j: [pin.JointModelFreeFlyer()],
}
"""The Pinocchio joints of a joint type, parent side first."""


def parts_of(joint: Joint) -> list[pin.JointModel]:
    """Return the Pinocchio joints, parent side first; a serial joint without a line in `PARTS` by what it is made of."""
    if type(joint) in PARTS:
        return PARTS[type(joint)](joint)
    if isinstance(joint, SerialJoint):
        return [part for each in joint.elementary() for part in parts_of(each)]
    pytest.skip(f"Pinocchio has no {joint.type_name} joint that `PARTS` knows")


def depth_first(d: Description, body: str = "ground") -> Iterator[Connection]:
    """Yield the joints branch by branch: Pinocchio's composite algorithms want each subtree in one piece."""
    for c in d.connections:
        if c.parent == body:
            yield c
            yield from depth_first(d, c.child)


class Twin:
    """A Pinocchio model with `q_map`, `v_map`: pin's q[i] is our q[q_map[i]], likewise for v."""

    def __init__(self, mech: art.Mechanism):
        d = zoo.with_numbers(mech.description)
        self.model = model = pin.Model()
        model.gravity = pin.Motion(np.array(d.gravity), np.zeros(3))
        place = {"ground": (0, pin.SE3.Identity())}
        q_map, v_map, armature = {}, {}, {}
        for c in depth_first(d):
            joint, X = place[c.parent]
            X = X * se3(c.at)
            q0, v0 = d.q_slices[c.name].start, d.v_slices[c.name].start
            for k, part in enumerate(parts_of(c.joint)):
                joint = model.addJoint(joint, part, X, f"{c.name}.{k}")
                X = pin.SE3.Identity()
                nq, nv = model.joints[joint].nq, model.joints[joint].nv
                order_q = {4: [1, 2, 3, 0], 7: [4, 5, 6, 1, 2, 3, 0]}.get(nq, range(nq))
                q_map[joint] = [q0 + i for i in order_q]
                v_map[joint] = [v0 + i for i in (SWAP if nv == 6 else range(nv))]
                armature[joint] = [c.per_dof("armature")[i - d.v_slices[c.name].start] for i in v_map[joint]]
                q0, v0 = q0 + nq, v0 + nv
            place[c.child] = (joint, X * se3(c.child_at).inverse())
        for b in d.bodies:
            joint, X = place[b.name]
            model.appendBodyToJoint(joint, pin.Inertia(b.mass, np.array(b.com), b.inertia_matrix()), X)
        for f in d.frames:
            joint, X = place[f.body]
            model.addFrame(pin.Frame(f.name, joint, X * se3(f.at), pin.FrameType.OP_FRAME))
        order = range(1, model.njoints)
        self.q_map = np.array([i for j in order for i in q_map[j]], dtype=int)
        self.v_map = np.array([i for j in order for i in v_map[j]], dtype=int)
        model.armature = np.array([a for j in order for a in armature[j]])
        self.data = model.createData()

    def v(self, ours: np.ndarray) -> np.ndarray:
        return ours[self.v_map]

    def q(self, ours: np.ndarray) -> np.ndarray:
        return ours[self.q_map]

    def vector(self, theirs: np.ndarray) -> np.ndarray:
        """Return a vector or the columns of a matrix in our order."""
        out = np.empty_like(theirs)
        out[..., self.v_map] = theirs
        return out

    def matrix(self, theirs: np.ndarray) -> np.ndarray:
        out = np.empty_like(theirs)
        out[np.ix_(self.v_map, self.v_map)] = theirs
        return out

    def frame(self, name: str) -> int:
        return self.model.getFrameId(name)
