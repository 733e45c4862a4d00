"""The mechanics a second time, by other means: vectors in ground axes, NumPy, and virtual power (Kane).

Nothing here is recursive in forces, spatial, or shared with the package: a body's motion is followed joint by joint
by the textbook rules of relative motion, and d'Alembert's principle is summed over the bodies. Slow and plain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import articulus as art
import zoo
from articulus.model.mechanism import Body, Connection, Joint, Pose
from articulus.model.mechanism.joint.base import SerialJoint

GROUND = "ground"


@dataclass(frozen=True)
class Moving:
    """A moving frame: rotation, origin, and their first and second rates, all in ground axes."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    u: np.ndarray
    alpha: np.ndarray
    a: np.ndarray

    @staticmethod
    def still() -> Moving:
        zero = np.zeros(3)
        return Moving(np.eye(3), zero, zero, zero, zero, zero)

    def moved(self, d: np.ndarray, rate: np.ndarray | float = 0.0, acc: np.ndarray | float = 0.0) -> Moving:
        """Return the frame shifted by `d`, with relative velocity and acceleration, all in own axes."""
        r, s, b = (self.R @ (x * np.ones(3)) for x in (d, rate, acc))
        w = self.w
        u = self.u + cross(w, r) + s
        a = self.a + cross(self.alpha, r) + cross(w, cross(w, r)) + 2 * cross(w, s) + b
        return replace(self, p=self.p + r, u=u, a=a)

    def turned(self, R: np.ndarray, rate: np.ndarray | float = 0.0, acc: np.ndarray | float = 0.0) -> Moving:
        """Return the frame turned by `R`, with relative angular velocity and its rate in the turned axes."""
        new = self.R @ R
        s, b = (new @ (x * np.ones(3)) for x in (rate, acc))
        return replace(self, R=new, w=self.w + s, alpha=self.alpha + b + cross(self.w, s))

    def placed(self, pose: Pose) -> Moving:
        return self.moved(np.array(pose.xyz)).turned(rotation(pose))

    def unplaced(self, pose: Pose) -> Moving:
        """Return the frame in which this one has the given pose."""
        R = rotation(pose).T
        return self.turned(R).moved(-np.array(pose.xyz))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b of two vectors; `np.cross`, made for stacks of them, takes ten times as long."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(pose: Pose) -> np.ndarray:
    if any(pose.rpy):
        return Rotation.from_euler("xyz", pose.rpy).as_matrix()
    return quaternion(np.array(pose.quaternion))


def quaternion(wxyz: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    return Rotation.from_rotvec(np.asarray(axis) * angle).as_matrix()


@dataclass(frozen=True)
class Motion:
    """A frame on the parent's side of a joint, and the joint's coordinates with their rates."""

    frame: Moving
    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray

    def turn(self, e: Sequence[float], k: int) -> Motion:
        """Return the motion behind a turn about `e` by coordinate k."""
        e = np.array(e)
        moved = self.frame.turned(about(e, self.q[k]), e * self.v[k], e * self.vdot[k])
        return replace(self, frame=moved)

    def slide(self, e: Sequence[float], k: int, pitch: float = 1.0) -> Motion:
        """Return the motion behind a shift along `e` by coordinate k times `pitch`."""
        e = np.array(e) * pitch
        return replace(self, frame=self.frame.moved(e * self.q[k], e * self.v[k], e * self.vdot[k]))

    def ball(self) -> Motion:
        return replace(self, frame=self.frame.turned(quaternion(self.q), self.v, self.vdot))

    def float(self) -> Motion:
        q, v, vdot = self.q, self.v, self.vdot
        R = quaternion(q[:4])
        acc = R @ (vdot[3:] + np.cross(v[:3], v[3:]))
        return replace(self, frame=self.frame.moved(q[4:], R @ v[3:], acc).turned(R, v[:3], vdot[:3]))


RULES: dict[type[Joint], Callable[[Motion, Any], Motion]] = {
    art.Fixed: lambda m, j: m,
    art.Revolute: lambda m, j: m.turn(j.axis, 0),
    art.Prismatic: lambda m, j: m.slide(j.axis, 0),
    art.Helical: lambda m, j: m.slide(j.axis, 0, j.pitch).turn(j.axis, 0),
    art.Cylindrical: lambda m, j: m.slide(j.axis, 1).turn(j.axis, 0),
    art.Universal: lambda m, j: m.turn(j.axis, 0).turn(j.second_axis, 1),
    art.Planar: lambda m, j: m.slide((1, 0, 0), 0).slide((0, 1, 0), 1).turn((0, 0, 1), 2),
    art.Spherical: lambda m, j: m.ball(),
    art.Free: lambda m, j: m.float(),
}
"""How a joint type moves the frame behind it."""


def through(frame: Moving, joint: Joint, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> Moving:
    """Return the frame behind a joint; a serial joint without a line in `RULES` goes by what it is made of."""
    if type(joint) in RULES:
        return RULES[type(joint)](Motion(frame, q, v, vdot), joint).frame
    if not isinstance(joint, SerialJoint):
        pytest.skip(f"`RULES` has no line for a {joint.type_name} joint")
    for part in joint.elementary():
        frame = through(frame, part, q[: part.nq], v[: part.nv], vdot[: part.nv])
        q, v, vdot = q[part.nq :], v[part.nv :], vdot[part.nv :]
    return frame


class Reference:
    """One mechanism with plain numbers."""

    def __init__(self, mech: art.Mechanism, params: Mapping[str, float] | None = None):
        self.d = zoo.with_numbers(mech.description, params)
        self.g = np.array(self.d.gravity)
        self._unit: tuple[np.ndarray, list] | None = None

    def motion(
        self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray
    ) -> tuple[dict[str, Moving], dict[str, Moving]]:
        """Return the motion of every body and frame, and of the child's joint frame of every joint."""
        at, joints = {GROUND: Moving.still()}, {}
        for c in self.d.connections:
            Q, V = self.d.q_slices[c.name], self.d.v_slices[c.name]
            joints[c.name] = through(at[c.parent].placed(c.at), c.joint, q[Q], v[V], vdot[V])
            at[c.child] = joints[c.name].unplaced(c.child_at)
        for f in self.d.frames:
            at[f.name] = at[f.body].placed(f.at)
        return at, joints

    def unit_motions(self, q: np.ndarray) -> list[dict[str, Moving]]:
        """Return the motion for a unit rate of each degree of freedom alone."""
        if self._unit is None or not np.array_equal(self._unit[0], q):
            n = self.d.nv
            self._unit = (q.copy(), [self.motion(q, e, np.zeros(n))[0] for e in np.eye(n)])
        return self._unit[1]

    @property
    def moving(self) -> list[Body]:
        """Return the bodies that are not welded to the ground."""
        welded = {GROUND}
        for c in self.d.connections:
            if c.joint.nv == 0 and c.parent in welded:
                welded.add(c.child)
        return [b for b in self.d.bodies if b.name not in welded]

    def jacobian(self, frame: str, q: np.ndarray) -> np.ndarray:
        return np.array([np.r_[m[frame].w, m[frame].u] for m in self.unit_motions(q)]).T.reshape(6, -1)

    def spins(self) -> list[tuple[Connection, int, float, float, np.ndarray]]:
        """Return joint, degree of freedom, J, ratio and axis of every rotor."""
        return [
            (c, self.d.v_slices[c.name].start, c.rotor.inertia, c.rotor.ratio, np.array(c.rotor.axis))
            for c in self.d.connections
            if c.rotor is not None
        ]

    def body_momentum(self, q: np.ndarray, v: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return angular momentum about the ground origin and linear momentum of each body with its rotors."""
        at, _ = self.motion(q, v, np.zeros(self.d.nv))
        out = {GROUND: (np.zeros(3), np.zeros(3))}
        for b in self.d.bodies:
            f = at[b.name].moved(np.array(b.com))
            L = f.R @ b.inertia_matrix() @ f.R.T @ f.w
            out[b.name] = (L + np.cross(f.p, b.mass * f.u), b.mass * f.u)
        for c, k, J, ratio, axis in self.spins():
            n, p = out[c.parent]
            out[c.parent] = (n + at[c.parent].R @ axis * (J * ratio * v[k]), p)
        return out

    def kinetic(self, q: np.ndarray, v: np.ndarray) -> float:
        at, _ = self.motion(q, v, np.zeros(self.d.nv))
        T = 0.0
        for b in self.d.bodies:
            f = at[b.name].moved(np.array(b.com))
            w = f.R.T @ f.w
            T += 0.5 * b.mass * f.u @ f.u + 0.5 * w @ b.inertia_matrix() @ w
        for c in self.d.connections:
            for k, a in zip(range(self.d.nv)[self.d.v_slices[c.name]], c.per_dof("armature")):
                T += 0.5 * a * v[k] ** 2
        for c, k, J, ratio, axis in self.spins():
            along = (at[c.parent].R @ axis) @ at[c.parent].w
            T += 0.5 * J * (along + ratio * v[k]) ** 2 - 0.5 * J * along**2
        return T

    def potential(self, q: np.ndarray) -> float:
        zero = np.zeros(self.d.nv)
        at, _ = self.motion(q, zero, zero)
        V = -sum(b.mass * self.g @ at[b.name].moved(np.array(b.com)).p for b in self.moving)
        for c in self.d.connections:
            if c.joint.nq == c.joint.nv:
                stretch = q[self.d.q_slices[c.name]] - np.array(c.per_dof("rest"))
                V += 0.5 * np.array(c.per_dof("stiffness")) @ stretch**2
        return V

    def friction(self, v: np.ndarray) -> np.ndarray:
        """Return the friction forces, which act against v."""
        out = np.zeros(self.d.nv)
        for c in self.d.connections:
            V = self.d.v_slices[c.name]
            out[V] = -np.array(c.per_dof("damping")) * v[V]
            out[V] -= np.array(c.per_dof("coulomb")) * v[V] / np.hypot(v[V], c.coulomb_speed)
        return out

    def springs(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.d.nv)
        for c in self.d.connections:
            if c.joint.nq == c.joint.nv:
                stretch = q[self.d.q_slices[c.name]] - np.array(c.per_dof("rest"))
                out[self.d.v_slices[c.name]] = -np.array(c.per_dof("stiffness")) * stretch
        return out

    def inverse_dynamics(
        self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, wrenches: Mapping[str, np.ndarray] | None = None
    ) -> np.ndarray:
        """Return tau by virtual power: inertia less gravity less external, along the motion of each degree of freedom."""
        at, _ = self.motion(q, v, vdot)
        unit = self.unit_motions(q)
        tau = -self.friction(v) - self.springs(q)
        for b in self.d.bodies:
            com, I = np.array(b.com), b.inertia_matrix()
            f = at[b.name].moved(com)
            force, Iw = b.mass * (f.a - self.g), f.R @ I @ f.R.T
            moment = Iw @ f.alpha + np.cross(f.w, Iw @ f.w)
            for k, m in enumerate(unit):
                g = m[b.name].moved(com)
                tau[k] += force @ g.u + moment @ g.w
        for c in self.d.connections:
            V = self.d.v_slices[c.name]
            tau[V] += np.array(c.per_dof("armature")) * vdot[V]
        for c, j, J, ratio, axis in self.spins():
            f = at[c.parent]
            e = f.R @ axis
            change = J * ratio * (vdot[j] * e + v[j] * np.cross(f.w, e))
            tau[j] += J * ratio * (e @ f.alpha + ratio * vdot[j])
            tau += [change @ m[c.parent].w for m in unit]
        for name, wrench in (wrenches or {}).items():
            tau -= [wrench[:3] @ m[name].w + wrench[3:] @ m[name].u for m in unit]
        return tau

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return M as the sum over the bodies of J' (mass and inertia) J, with armature and rotors."""
        M = np.zeros((self.d.nv, self.d.nv))
        unit = self.unit_motions(q)
        for b in self.d.bodies:
            at = [m[b.name].moved(np.array(b.com)) for m in unit]
            u, w = np.array([f.u for f in at]), np.array([f.R.T @ f.w for f in at])
            M += b.mass * u @ u.T + w @ b.inertia_matrix() @ w.T
        for c in self.d.connections:
            V = self.d.v_slices[c.name]
            M[V, V] += np.diag(c.per_dof("armature"))
        for c, k, J, ratio, axis in self.spins():
            along = np.array([(m[c.parent].R @ axis) @ m[c.parent].w for m in unit])
            M[k, k] += J * ratio**2
            M[k] += J * ratio * along
            M[:, k] += J * ratio * along
        return M
