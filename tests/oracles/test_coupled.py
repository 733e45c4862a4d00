"""Coupled joints against Pinocchio's mimic joints and MuJoCo's joint equalities."""

from __future__ import annotations

import dataclasses
import re

import mujoco
import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

import articulus as art
from articulus.model.files import parse_mjcf, parse_urdf
from articulus.model.mechanism import Joint
from articulus.model.mechanism.edit import rebuilt

BODY = """<inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/><mass value="1.3"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>"""


def joint(name: str, kind: str, parent: str, child: str, axis: str, mimic: str = "") -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0.2 0.1 0.3" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/>{mimic}</joint>"""


HAND = f"""<robot name="hand"><link name="palm">{BODY}</link>
{"".join(f'<link name="{n}">{BODY}</link>' for n in "abcd")}
{joint("j1", "revolute", "palm", "a", "0 0 1")}
{joint("j2", "revolute", "a", "b", "0 1 0")}
{joint("j3", "revolute", "b", "c", "1 0 0", '<mimic joint="j2" multiplier="-0.7" offset="0.2"/>')}
{joint("j4", "prismatic", "a", "d", "0.6 0 0.8", '<mimic joint="j2" multiplier="0.3" offset="0.1"/>')}
</robot>"""
ROUNDING = 1e-13
"""Two algorithms on four bodies."""


def hand(base: Joint) -> art.Mechanism:
    """Return the hand with its mimic joints as couplings; `base` is the joint that carries the palm."""
    d = parse_urdf(re.sub("<mimic.*?/>", "", HAND))
    joints = [dataclasses.replace(c, joint=base) if c.child == "palm" else c for c in d.connections]
    m = art.Mechanism.from_description(rebuilt(d, connections=tuple(joints)))
    return m.couple("j3", to="j2", ratio=-0.7, offset=0.2).couple("j4", to="j2", ratio=0.3, offset=0.1)


def test_mimic_joints_of_pinocchio():
    m, model = hand(art.Fixed()), pin.buildModelFromXML(HAND, True)
    data, rng = model.createData(), np.random.default_rng(3)
    assert (m.nq, m.nv) == (model.nq, model.nv) == (2, 2)
    q, v, vdot = rng.normal(size=(3, 2))
    assert_allclose(
        m.inverse_dynamics(q, v, vdot), pin.rnea(model, data, q, v, vdot), rtol=ROUNDING, atol=ROUNDING
    )
    M = np.triu(pin.crba(model, data, q))
    assert_allclose(np.triu(m.mass_matrix(q)), M, rtol=ROUNDING, atol=ROUNDING)
    pin.framesForwardKinematics(model, data, q)
    for name in "abcd":
        frame = model.getFrameId(name)
        assert_allclose(m.pose(name, q), data.oMf[frame].homogeneous, atol=ROUNDING)
        J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        assert_allclose(m.jacobian(name, q)[[3, 4, 5, 0, 1, 2]], J, atol=ROUNDING)


def test_mimic_joints_of_pinocchio_on_a_base_that_flies():
    """Linear parts first and quaternions xyzw there; the velocity of the base is in body axes in both."""
    m, model = hand(art.Free()), pin.buildModelFromXML(HAND, pin.JointModelFreeFlyer(), True)
    data, rng = model.createData(), np.random.default_rng(4)
    assert (m.nq, m.nv) == (model.nq, model.nv) == (9, 8)
    q, (v, vdot) = rng.normal(size=9), rng.normal(size=(2, 8))
    q[:4] /= np.linalg.norm(q[:4])
    swap = [3, 4, 5, 0, 1, 2, 6, 7]
    theirs = np.r_[q[4:7], q[1:4], q[0], q[7:]]
    tau = pin.rnea(model, data, theirs, v[swap], vdot[swap])
    size = np.abs(tau).max()
    assert_allclose(m.inverse_dynamics(q, v, vdot)[swap], tau, atol=ROUNDING * size)


JAW = """<mujoco><option gravity="0.3 -0.5 -9.81"><flag contact="disable"/></option>
<default><geom size="0.1 0.05 0.03" type="box" density="800"/></default>
<worldbody><body name="a" pos="0 0 1"><joint name="screw" axis="0 0 1" damping="0.2"/><geom/>
  <body name="b" pos="0.1 0 0.2"><joint name="left" type="slide" axis="1 0 0" stiffness="7" armature="0.3"/><geom/>
    <body name="c" pos="0 0.1 0.1"><joint name="tip" axis="0.6 0 0.8"/><geom pos="0.1 0 0"/></body></body>
  <body name="d" pos="-0.1 0 0.2"><joint name="right" axis="0 1 0" damping="0.1"/><geom pos="0 0.1 0"/></body></body></worldbody>
<equality><joint joint1="left" joint2="screw" polycoef="0.02 0.1 0.05 -0.03 0.01"/>
  <joint joint1="right" joint2="screw" polycoef="0.3 -0.8 0 0 0"/></equality></mujoco>"""


def jaw() -> art.Mechanism:
    bare = re.sub("<equality>.*</equality>", "", JAW, flags=re.S)
    m = art.Mechanism.from_description(parse_mjcf(bare))
    return m.couple("left", to="screw", polynomial=(0.02, 0.1, 0.05, -0.03, 0.01)).couple(
        "right", to="screw", ratio=-0.8, offset=0.3
    )


def test_joint_equalities_of_mujoco():
    """MuJoCo's equality is soft: its equations without it, projected on the motions that keep it, are ours.

    T comes from the derivative of MuJoCo's own residual, and dT/dt v from that along the motion.
    """
    model, m = mujoco.MjModel.from_xml_string(JAW), jaw()
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    assert m.q_names == ("screw", "tip")
    q, v, tau = rng.normal(size=(3, 2))
    polynomial = [np.polynomial.Polynomial(row[:5]) for row in model.eq_data]
    at = {model.joint(n).id: n for n in ("screw", "left", "tip", "right")}
    x, xdot = q[0], v[0]
    lifted = {"screw": x, "tip": q[1], "left": polynomial[0](x), "right": polynomial[1](x)}
    slope = [p.deriv()(x) for p in polynomial]
    rows = {"screw": (1, 0), "tip": (0, 1), "left": (slope[0], 0), "right": (slope[1], 0)}
    bend = {"left": polynomial[0].deriv(2)(x) * xdot**2, "right": polynomial[1].deriv(2)(x) * xdot**2}
    T = np.array([rows[at[k]] for k in range(4)], dtype=float)
    gamma = np.array([bend.get(at[k], 0.0) for k in range(4)])
    data.qpos, data.qvel = [lifted[at[k]] for k in range(4)], T @ v
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos).max() < 1e-15  # the lifted position keeps MuJoCo's equality
    M = np.zeros((4, 4))
    mujoco.mj_fullM(model, data, M)
    force = T.T @ (data.qfrc_passive - data.qfrc_bias - M @ gamma) + tau
    expected = np.linalg.solve(T.T @ M @ T, force)
    assert_allclose(m.forward_dynamics(q, v, tau), expected, rtol=1e-11, atol=1e-11)
    for name in "abcd":
        assert_allclose(m.pose(name, q)[:3, 3], data.body(name).xpos, atol=1e-13)
