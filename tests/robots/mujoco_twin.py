"""A mechanism that was read from MJCF beside MuJoCo's own model of the same file: the same quantities at the same state.

What the mechanism's findings list as left out is switched off in MuJoCo's model. MuJoCo keeps every joint and has the linear
velocity of a free joint in ground axes: with all velocities v_m = B T v (T of the couplings, B of the free joints) it follows

    M = (B T)' M_m (B T),   bias = (B T)' (M_m d/dt(B T) v + bias_m - passive_m).
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.polynomial import Polynomial

import articulus as art
from articulus.model.mechanism import Coupling, Free, Pose, value_of, values_of

BALL = 1
"""mjtJoint; free joints come before it."""


class Twin:
    """Both models.

    Parameters
    ----------
    mechanism : Mechanism
    model : MjModel
    """

    def __init__(self, mechanism: art.Mechanism, model: Any):
        self.mechanism, self.model, self.data = mechanism, model, mujoco.MjData(model)
        self.d = mechanism.description
        self._leave_out()

    def _leave_out(self) -> None:
        """Switch off in MuJoCo what has no part in the mechanism itself."""
        m = self.model
        m.opt.density = m.opt.viscosity = 0.0
        m.tendon_stiffness[:] = m.tendon_damping[:] = 0.0
        m.body_gravcomp[:] = 0.0
        m.jnt_stiffness[m.jnt_type <= BALL] = 0.0
        for field in ("actuator_armature", "actuator_damping"):
            if hasattr(m, field):
                getattr(m, field)[:] = 0.0

    def state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return a random position and velocity."""
        q, v = self.d.neutral + rng.uniform(-0.5, 0.5, self.d.nq), rng.uniform(-1, 1, self.d.nv)
        for _, at in self.d.quaternions:
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        return q, v

    # from one to the other

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Return the positions of all joints, those that follow others included."""
        d, tree = self.d, self.d.uncoupled
        out = np.zeros(tree.nq)
        out[list(d.independent_places[0])] = q
        for c in d.couplings:
            out[tree.q_slices[c.joint].start] = c.position(
                [out[tree.q_slices[name].start] for name in c.to], value_of
            )
        return out

    def turned(self, q: np.ndarray) -> np.ndarray:
        """Return B T."""
        tree, full = self.d.uncoupled, self.positions(q)
        B = np.eye(tree.nv)
        for c in tree.connections:
            if isinstance(c.joint, Free):
                at, R = tree.v_slices[c.name].start, self._rotation(full, c.name)
                B[at : at + 6, at : at + 6] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
        return B @ self._followed(q)

    def _followed(self, q: np.ndarray) -> np.ndarray:
        """Return T."""
        d, tree = self.d, self.d.uncoupled
        T, full = np.zeros((tree.nv, d.nv)), self.positions(q)
        T[list(d.independent_places[1]), range(d.nv)] = 1.0
        for c in d.couplings:
            for name, slope in zip(c.to, _slopes(c, full[tree.q_slices[c.to[0]].start])):
                T[tree.v_slices[c.joint].start] += slope * T[tree.v_slices[name].start]
        return T

    def _rotation(self, full: np.ndarray, joint: str) -> np.ndarray:
        at = self.d.uncoupled.q_slices[joint].start
        return Pose(quaternion=tuple(full[at : at + 4])).rotation()

    def place(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Put MuJoCo into a state; return the acceleration of all its coordinates where ours are not accelerated."""
        tree, full = self.d.uncoupled, self.positions(q)
        qpos = full.copy()
        for c in tree.connections:
            if isinstance(c.joint, Free):
                part = tree.q_slices[c.name]
                qpos[part] = np.roll(full[part], 3)
        self.data.qpos[:], self.data.qvel[:] = qpos, self.turned(q) @ v
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        return self._rate(full, self._followed(q) @ v)

    def _rate(self, full: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return d/dt(B T) v from the positions and velocities of all joints."""
        tree, rate = self.d.uncoupled, np.zeros(self.d.uncoupled.nv)
        for c in self.d.couplings:
            at, x = tree.v_slices[c.joint].start, full[tree.q_slices[c.to[0]].start]
            leaders = [tree.v_slices[name].start for name in c.to]
            rate[at] = np.dot(_slopes(c, x), rate[leaders])
            if c.polynomial:
                rate[at] += Polynomial(values_of(c.polynomial)).deriv(2)(x) * v[leaders[0]] ** 2
        for c in tree.connections:
            if isinstance(c.joint, Free):  # d/dt (R u) = R (w x u)
                at = tree.v_slices[c.name].start
                rate[at : at + 3] = self._rotation(full, c.name) @ np.cross(
                    v[at : at + 3], v[at + 3 : at + 6]
                )
        return rate

    # quantities of the mechanism, by MuJoCo

    def mass_matrix_of_all(self) -> np.ndarray:
        nv = self.model.nv
        M = np.zeros((nv, nv))
        for k in range(nv):
            column = np.zeros(nv)
            mujoco.mj_mulM(self.model, self.data, column, np.eye(nv)[k])
            M[:, k] = column
        return M

    def friction(self) -> np.ndarray:
        """Return the dry friction of MuJoCo's velocities, in the smooth form that it has here."""
        v = self.data.qvel
        loss = np.array(self.model.dof_frictionloss)
        if self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS):
            loss = 0.0 * loss
        return loss * v / np.sqrt(v**2 + 1e-6)

    def errors(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the largest difference of each quantity at a random state, over its largest value."""
        a, d, (q, v) = self.mechanism, self.d, self.state(rng)
        rate, BT = self.place(q, v), self.turned(q)
        M_all = self.mass_matrix_of_all()
        M = BT.T @ M_all @ BT
        bias = BT.T @ (M_all @ rate + self.data.qfrc_bias - self.data.qfrc_passive + self.friction())
        tau = rng.uniform(-1, 1, d.nv) * (1e-3 + np.abs(bias).max(initial=0.0))
        found = {"poses": self._poses(q)}
        if d.nv:
            ours = a.mass_matrix(q)
            vdot = a.tree.forward_dynamics(q, v, tau)
            found["mass matrix"] = _relative(ours, M)
            found["bias"] = _relative(a.bias(q, v), bias)
            found["forward dynamics"] = _relative(vdot, np.linalg.solve(M, tau - bias))
        return found

    def _poses(self, q: np.ndarray) -> float:
        a, data, m = self.mechanism, self.data, self.model
        poses = a.poses(q)
        bodies = [b.name for b in self.d.bodies if not b.massless.startswith("between the joints of")]
        sites = [f.name for f in self.d.frames[: m.nsite]]
        theirs = [(n, data.xpos[i + 1], data.xmat[i + 1]) for i, n in enumerate(bodies)]
        theirs += [(n, data.site_xpos[i], data.site_xmat[i]) for i, n in enumerate(sites)]
        size = 1.0 + max(np.abs(p).max() for _, p, _ in theirs)
        return max(
            max(np.abs(poses[n][:3, 3] - p).max() / size, np.abs(poses[n][:3, :3] - R.reshape(3, 3)).max())
            for n, p, R in theirs
        )


def _slopes(coupling: Coupling, x: float) -> tuple[float, ...]:
    """Return the speed of a coupled joint over that of each joint that it follows; x: position of the first of them."""
    if coupling.polynomial:
        return (float(Polynomial(values_of(coupling.polynomial)).deriv(1)(x)),)
    return values_of(coupling.ratio)


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12))
