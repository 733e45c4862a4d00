"""Model texts read by the program that owns the format and by our readers: the same dynamics.

URDF against Pinocchio, MJCF against MuJoCo; the texts are random, and MJCF mechanisms are also built by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.files import parse_mjcf, parse_urdf

AGREEMENT = 1e-10
"""Relative to the largest entry: exact algorithms on up to 12 bodies, cond(M) below 1e4; texts carry all digits."""


def numbers(x) -> str:
    return " ".join(repr(float(v)) for v in np.atleast_1d(x))


def agree(ours, theirs, tolerance=AGREEMENT):
    size = max(1.0, np.abs(theirs).max(initial=0))
    assert np.shape(ours) == np.shape(theirs)
    assert np.abs(ours - theirs).max(initial=0) <= tolerance * size


def unit(rng, n=3):
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


def inertia(rng, mass):
    """Return the inertia of a random, turned ellipsoid."""
    semi = rng.uniform(0.05, 0.3, 3)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    I = R @ np.diag(mass / 5 * (np.sum(semi**2) - semi**2)) @ R.T
    return (I + I.T) / 2


# URDF


def urdf_text(seed: int, links: int) -> str:
    rng = np.random.default_rng(seed)
    out = ['<robot name="random">']
    for i in range(links):
        I = inertia(rng, mass := rng.uniform(0.5, 3))
        six = {"ixx": I[0, 0], "iyy": I[1, 1], "izz": I[2, 2], "ixy": I[0, 1], "ixz": I[0, 2], "iyz": I[1, 2]}
        terms = " ".join(f'{k}="{v!r}"' for k, v in zip(six, map(float, six.values())))
        out.append(
            f'<link name="l{i}"><inertial><origin xyz="{numbers(rng.uniform(-0.3, 0.3, 3))}" '
            f'rpy="{numbers(rng.uniform(-3, 3, 3))}"/><mass value="{mass!r}"/><inertia {terms}/></inertial></link>'
        )
    for i in range(1, links):
        kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"], p=[0.4, 0.2, 0.2, 0.2])
        limit = (
            '<limit lower="-3" upper="3" effort="9" velocity="9"/>'
            if kind in ("revolute", "prismatic")
            else ""
        )
        axis = f'<axis xyz="{numbers(unit(rng))}"/>' if kind != "fixed" else ""
        parent = rng.integers(i) if rng.random() < 0.4 else i - 1
        out.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{numbers(rng.uniform(-0.4, 0.4, 3))}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
            f"{axis}{limit}</joint>"
        )
    return "\n".join([*out, "</robot>"])


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_urdf_dynamics_equal_pinocchio(seed, base):
    pin = pytest.importorskip("pinocchio")
    text = urdf_text(seed, 12)
    model = (
        pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        if base == "floating"
        else pin.buildModelFromXML(text)
    )
    data = model.createData()
    mech = art.Mechanism.from_description(parse_urdf(text, base=base))
    rng = np.random.default_rng(seed)
    q, v, tau = (
        pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)),
        *rng.normal(size=(2, model.nv)),
    )
    for name in model.names[1:]:
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # continuous: cosine and sine
            angle = rng.uniform(-3, 3)
            q[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
    ours_q, order = np.zeros(mech.nq), np.zeros(mech.nv, dtype=int)
    for c in mech.description.connections:
        Q, V = mech.description.q_slices[c.name], mech.description.v_slices[c.name]
        if not c.joint.nv:
            continue
        name = c.name if model.existJointName(c.name) else "root_joint"
        joint = model.joints[model.getJointId(name)]
        theirs = q[joint.idx_q : joint.idx_q + joint.nq]
        if joint.nv == 6:
            ours_q[Q], order[V] = (
                np.r_[theirs[6], theirs[3:6], theirs[:3]],
                [joint.idx_v + k for k in (3, 4, 5, 0, 1, 2)],
            )
        else:
            ours_q[Q] = np.arctan2(theirs[1], theirs[0]) if joint.nq == 2 else theirs
            order[V] = joint.idx_v
    vdot = pin.aba(model, data, q, v, tau)
    agree(mech.forward_dynamics(ours_q, v[order], tau[order]), vdot[order])
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    agree(mech.mass_matrix(ours_q), M[np.ix_(order, order)])
    agree(mech.bias(ours_q, v[order]), pin.nle(model, data, q, v)[order])


# MJCF


def mjcf_model(seed: int, bodies: int, floating: bool) -> tuple[str, art.Mechanism]:
    """Return a random tree as MJCF text and as a mechanism built by hand."""
    rng = np.random.default_rng(seed)
    mech = art.Mechanism("random", gravity=(0.3, -0.4, -9.0))
    parent_of = [None] + [int(rng.integers(i)) if rng.random() < 0.4 else i - 1 for i in range(1, bodies)]
    opening: dict[int, str] = {}
    for i in range(bodies):
        mass = float(rng.uniform(0.5, 3))
        I, com = inertia(rng, mass), rng.uniform(-0.3, 0.3, 3)
        six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        pos, quaternion, anchor, axis = (
            rng.uniform(-0.4, 0.4, 3),
            unit(rng, 4),
            rng.uniform(-0.2, 0.2, 3),
            unit(rng),
        )
        kind = "free" if floating and i == 0 else rng.choice(["hinge", "slide", "ball"])
        scalar = kind in ("hinge", "slide")
        drive = (
            {"armature": rng.uniform(0.01, 0.1), "damping": rng.uniform(0.1, 0.5)} if kind != "free" else {}
        )
        spring = {"stiffness": rng.uniform(0.5, 2), "rest": rng.uniform(-0.5, 0.5)} if scalar else {}
        mech.body(f"b{i}", mass, com, I)
        joint = {"free": art.Free, "hinge": art.Revolute, "slide": art.Prismatic, "ball": art.Spherical}[kind]
        at = art.Pose(tuple(pos), quaternion=tuple(quaternion)).matrix()
        if kind == "free":  # its pose is that of the body in the world, whatever pos and quat say
            mech.joint(f"j{i}", joint(), "ground", f"b{i}")
        else:
            at[:3, 3] += at[:3, :3] @ anchor
            parent = "ground" if i == 0 else f"b{parent_of[i]}"
            many = {k: (float(x),) * (3 if kind == "ball" else 1) for k, x in (drive | spring).items()}
            made = joint(tuple(axis)) if scalar else joint()
            mech.joint(f"j{i}", made, parent, f"b{i}", at=at, child_at=tuple(anchor), **many)
        text = f'<body name="b{i}" pos="{numbers(pos)}" quat="{numbers(quaternion)}">'
        text += f'<inertial pos="{numbers(com)}" mass="{mass!r}" fullinertia="{numbers(six)}"/>'
        if kind == "free":
            text += f'<freejoint name="j{i}"/>'
        else:
            names = {
                "armature": "armature",
                "damping": "damping",
                "stiffness": "stiffness",
                "rest": "springref",
            }
            extra = " ".join(f'{names[k]}="{float(x)!r}"' for k, x in (drive | spring).items())
            turn = f'axis="{numbers(axis)}"' if scalar else ""
            text += f'<joint name="j{i}" type="{kind}" pos="{numbers(anchor)}" {turn} {extra}/>'
        opening[i] = text

    def nested(i: int) -> str:
        return opening[i] + "".join(nested(k) for k in range(bodies) if parent_of[k] == i) + "</body>"

    text = (
        '<mujoco model="random"><compiler angle="radian" autolimits="true"/>'
        '<option gravity="0.3 -0.4 -9.0"/>'
        f"<worldbody>{nested(0)}</worldbody></mujoco>"
    )
    return text, mech


class MujocoTwin:
    """A MuJoCo model, and the map v_mujoco = T v_ours: its free joint has linear parts first, in world axes."""

    def __init__(self, mujoco, text: str, mech: art.Mechanism, seed: int):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        rng = np.random.default_rng(seed)
        d = mech.description
        self.q, self.T = np.zeros(mech.nq), np.zeros((self.model.nv, mech.nv))
        self.free: tuple[slice, slice, np.ndarray] | None = None
        for c in d.connections:
            at = self.model.joint(c.name)
            Q, V = d.q_slices[c.name], d.v_slices[c.name]
            theirs_q = slice(at.qposadr[0], at.qposadr[0] + c.joint.nq)
            theirs_v = slice(at.dofadr[0], at.dofadr[0] + c.joint.nv)
            q = (
                np.r_[unit(rng, 4), rng.normal(size=c.joint.nq - 4)]
                if c.joint.nq > 1
                else rng.uniform(-1, 1, 1)
            )
            self.q[Q] = q
            self.data.qpos[theirs_q] = np.r_[q[4:], q[:4]] if c.joint.nq == 7 else q
            if c.joint.nv == 6:
                R = art.Pose(quaternion=tuple(q[:4])).rotation()
                zero = np.zeros((3, 3))
                self.T[theirs_v, V] = np.block([[zero, R], [np.eye(3), zero]])
                self.free = (theirs_v, V, R)
            else:
                self.T[theirs_v, V] = np.eye(c.joint.nv)
        self.v, tau = rng.normal(size=(2, mech.nv))
        self.tau = tau
        self.data.qvel[:] = self.T @ self.v
        self.data.qfrc_applied[:] = np.linalg.solve(self.T.T, tau)
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        self.M = self.T.T @ M @ self.T
        qacc = self.data.qacc.copy()
        if self.free:  # d/dt (R v) = R (vdot + w x v)
            theirs_v, V, R = self.free
            qacc[theirs_v][:3] -= R @ np.cross(self.v[V][:3], self.v[V][3:])
        self.vdot = np.linalg.solve(self.T, qacc)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("route", ["by hand", "reader"])
def test_mjcf_dynamics_equal_mujoco(seed, floating, route):
    mujoco = pytest.importorskip("mujoco")
    text, mech = mjcf_model(seed, 9, floating)
    if route == "reader":
        mech = art.Mechanism.from_description(parse_mjcf(text))
    twin = MujocoTwin(mujoco, text, mech, seed)
    agree(mech.mass_matrix(twin.q), twin.M)
    # MuJoCo solves with its own sparse factors and no constraint is active: exact but for roundings
    agree(mech.forward_dynamics(twin.q, twin.v, twin.tau), twin.vdot, 1e-9)
