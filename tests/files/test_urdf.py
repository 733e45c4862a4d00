"""URDF: numbers and placements, against Pinocchio's reading of the same text."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from articulus.errors import InputError, ModelError
from articulus.model.files import parse_urdf
from articulus.model.mechanism import Description, Fixed, Free, Limits, Planar, Prismatic, Revolute

from .support import ARM, INERTIAL

TYPES = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "fixed": Fixed}


def random_urdf(seed: int, count: int, types: tuple[str, ...] = tuple(TYPES)) -> str:
    """Return a random tree whose links all have mass."""
    rng = np.random.default_rng(seed)

    def three(scale: float = 1.0) -> str:
        return " ".join(repr(float(x)) for x in scale * rng.standard_normal(3))

    parts = []
    for i in range(count):
        a, b, c = rng.uniform(0.1, 1.0, 3)
        moments = f'ixx="{a + b}" iyy="{b + c}" izz="{a + c}" ixy="{0.05 * a}" ixz="0.01" iyz="-0.02"'
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="{three()}" rpy="{three()}"/>'
            f'<mass value="{rng.uniform(0.5, 5)}"/><inertia {moments}/></inertial></link>'
        )
        if i:
            kind = rng.choice(types)
            parts.append(
                f'<joint name="j{i}" type="{kind}"><origin xyz="{three()}" rpy="{three()}"/>'
                f'<parent link="l{rng.integers(i)}"/><child link="l{i}"/><axis xyz="{three(3.0)}"/>'
                f'<limit lower="-2" upper="1" effort="5" velocity="7"/></joint>'
            )
    return f'<robot name="random">{"".join(parts)}</robot>'


def pose_at_zero(d: Description, body: str) -> np.ndarray:
    """Return the pose of a body in ground with every joint at its neutral position."""
    X = np.eye(4)
    while body != "ground":
        c = d.inboard(body)
        X = c.at.matrix() @ np.linalg.inv(c.child_at.matrix()) @ X
        body = c.parent
    return X


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 8), st.booleans())
def test_agrees_with_pinocchio(seed: int, count: int, floating: bool) -> None:
    text = random_urdf(seed, count)
    ours = parse_urdf(text, base="floating" if floating else "fixed")
    root = pin.JointModelFreeFlyer() if floating else None
    theirs = pin.buildModelFromXML(text, root) if root else pin.buildModelFromXML(text)
    data = theirs.createData()
    pin.framesForwardKinematics(theirs, data, pin.neutral(theirs))
    assert ours.nv == theirs.nv
    for body in ours.bodies:
        frame = theirs.frames[theirs.getFrameId(body.name)]
        np.testing.assert_allclose(
            pose_at_zero(ours, body.name), data.oMf[theirs.getFrameId(body.name)].homogeneous, atol=1e-12
        )
        if not frame.inertia.mass:  # the frame of a moving link: its inertia is in the joint
            continue
        np.testing.assert_allclose(body.mass, frame.inertia.mass, rtol=1e-15)
        np.testing.assert_allclose(body.com, frame.inertia.lever, atol=1e-14)
        np.testing.assert_allclose(body.inertia_matrix(), frame.inertia.inertia, atol=1e-13)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_lumped_inertias_agree_with_pinocchio(seed: int, count: int) -> None:
    text = random_urdf(seed, count)
    theirs = pin.buildModelFromXML(text)
    assume(theirs.nv > 0)
    ours = parse_urdf(text, lump_fixed=True)
    assert not any(isinstance(c.joint, Fixed) for c in ours.connections)
    for c in ours.connections:
        inertia = theirs.inertias[theirs.getJointId(c.name)]
        body = next(b for b in ours.bodies if b.name == c.child)
        np.testing.assert_allclose(body.mass, inertia.mass, rtol=1e-13)
        np.testing.assert_allclose(body.com, inertia.lever, atol=1e-12)
        np.testing.assert_allclose(body.inertia_matrix(), inertia.inertia, atol=1e-11)
    points = {*(b.name for b in ours.bodies), *(f.name for f in ours.frames)}
    assert points == {f"l{i}" for i in range(count)}


def test_nothing_is_left_when_everything_is_fixed() -> None:
    with pytest.raises(ModelError, match="no body"):
        parse_urdf(random_urdf(1, 3, ("fixed",)), lump_fixed=True)


def test_arm() -> None:
    arm = parse_urdf(ARM, "arm.urdf")
    assert arm.name == "arm"
    assert [c.name for c in arm.connections] == ["fixed_base", "shoulder", "elbow"]
    shoulder = arm.connections[1]
    assert shoulder.joint == Revolute((0.0, 1.0, 0.0))
    assert shoulder.limits == Limits((-1.0,), (1.0,), (3.0,), (10.0,))
    assert (shoulder.damping, shoulder.coulomb) == ((0.1,), (0.2,))
    assert arm.connections[2].limits == Limits()


def test_axis_is_normalized() -> None:
    arm = parse_urdf(ARM.replace("0 1 0", "0 3e-200 4e-200"))
    np.testing.assert_allclose(arm.connections[1].joint.axis, (0, 0.6, 0.8), rtol=1e-15)


def test_planar_and_floating() -> None:
    text = ARM.replace('"revolute"', '"planar"').replace('<dynamics damping="0.1" friction="0.2"/>', "")
    arm = parse_urdf(text)
    joint = arm.connections[1]
    assert joint.joint == Planar()
    np.testing.assert_allclose(joint.child_at.rotation()[:, 2], (0, 1, 0))
    neutral = joint.at.matrix() @ np.linalg.inv(joint.child_at.matrix())
    np.testing.assert_allclose(neutral, pose_at_zero(parse_urdf(ARM), "upper"), atol=1e-15)
    assert isinstance(parse_urdf(text.replace('"planar"', '"floating"')).connections[1].joint, Free)


def test_zero_inertial_counts_as_none() -> None:
    zero = INERTIAL.replace('"2"', '"0"').replace('"1"', '"0"').replace('"2.5"', '"0"')
    arm = parse_urdf(ARM.replace(INERTIAL, zero, 1))
    assert arm.bodies[1].massless == "an inertial of zero in the URDF"


def test_quaternion_origin() -> None:
    arm = parse_urdf(ARM.replace('xyz="1 0 0"', 'xyz="1 0 0" quat_xyzw="1 0 0 0"'))
    assert arm.connections[2].at.quaternion == (0.0, 1.0, 0.0, 0.0)


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="base"):
        parse_urdf(ARM, base="flying")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mimic"):
        parse_urdf(ARM, mimic="x")  # type: ignore[arg-type]


def test_what_is_not_dynamics_is_ignored() -> None:
    more = '<transmission name="t"><joint name="x"/></transmission><gazebo/><material name="m"/><custom/>'
    assert parse_urdf(ARM.replace("</robot>", more + "</robot>")) == parse_urdf(ARM)
