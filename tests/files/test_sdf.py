"""SDF files beside Pinocchio (of the same robot as URDF), their loops, poses, shapes and mistakes."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.model.files.sdf.reader import parse_sdf

from .sdf_models import FOUR_BAR

pinocchio = pytest.importorskip("pinocchio")


def rotation(rpy: np.ndarray) -> np.ndarray:
    return art.mechanism.Pose(rpy=tuple(rpy)).rotation()


def words(*numbers: float) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def rpy_of(R: np.ndarray) -> np.ndarray:
    return np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])


def robot(seed: int, count: int = 6, way: str = "model") -> tuple[str, str]:
    """Return a random tree as URDF and as SDF: links by poses in the model, or each in the frame of its joint's parent."""
    rng = np.random.default_rng(seed)
    urdf, sdf, placed = (
        ['<robot name="r"><link name="l0"/>'],
        ['<sdf version="1.9"><model name="r">'],
        [np.eye(4)],
    )
    sdf.append(
        '<link name="l0"><inertial><mass>1</mass></inertial></link><joint name="j0" type="fixed"><parent>world</parent><child>l0</child></joint>'
    )
    for k in range(1, count):
        parent = int(rng.integers(0, k))
        xyz, rpy = rng.uniform(-0.5, 0.5, 3), rng.uniform(-1, 1, 3)
        com, turn, mass = rng.uniform(-0.1, 0.1, 3), rng.uniform(-1, 1, 3), rng.uniform(0.5, 3)
        ixx, iyy, izz = map(float, rng.uniform(0.02, 0.03, 3))
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        kind, damping = ["revolute", "prismatic", "continuous"][k % 3], rng.uniform(0, 1)
        urdf.append(
            f'<link name="l{k}"><inertial><origin xyz="{words(com)}" rpy="{words(turn)}"/><mass value="{mass!r}"/>'
            f'<inertia ixx="{ixx!r}" iyy="{iyy!r}" izz="{izz!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><parent link="l{parent}"/><child link="l{k}"/><origin xyz="{words(xyz)}" rpy="{words(rpy)}"/>'
            f'<axis xyz="{words(axis)}"/><limit lower="-1" upper="2" effort="5" velocity="3"/></joint>'
        )
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = rotation(rpy), xyz
        placed.append(placed[parent] @ X)
        at = f'<pose relative_to="l{parent}">{words(xyz, rpy)}</pose>'
        if way == "model":
            at = f"<pose>{words(placed[k][:3, 3], rpy_of(placed[k][:3, :3]))}</pose>"
        given, within = axis, ""
        if way == "expressed":
            given, within = placed[k][:3, :3] @ axis, ' expressed_in="__model__"'
        sdf.append(
            f'<link name="l{k}">{at}<inertial><pose>{words(com, turn)}</pose><mass>{mass!r}</mass>'
            f"<inertia><ixx>{ixx!r}</ixx><iyy>{iyy!r}</iyy><izz>{izz!r}</izz></inertia></inertial></link>"
            f'<joint name="j{k}" type="{kind}"><parent>l{parent}</parent><child>l{k}</child><axis><xyz{within}>{words(given)}</xyz>'
            f"<limit><lower>-1</lower><upper>2</upper><effort>5</effort></limit><dynamics><damping>{damping!r}</damping></dynamics></axis></joint>"
        )
    return "".join(urdf) + "</robot>", "".join(sdf) + "</model></sdf>"


@pytest.mark.parametrize("way", ["model", "relative", "expressed"])
@pytest.mark.parametrize("seed", range(4))
def test_dynamics_are_those_of_pinocchio(seed: int, way: str) -> None:
    """The same tree as URDF in Pinocchio: mass matrix and bias to 1e-12; angles of poses lose a digit near 90 degrees."""
    urdf, sdf = robot(seed, way=way)
    ours = art.load(sdf)
    plain = art.Mechanism.from_description(ours.description)
    model = pinocchio.buildModelFromXML(urdf.replace('type="continuous"', 'type="revolute"'))
    data = model.createData()
    rng = np.random.default_rng(seed)
    order = [ours.joint_names.index(n) for n in model.names[1:]]
    moving = list(ours.v_names)
    place = [moving.index(model.names[i]) for i in range(1, model.njoints)]
    assert len(order) == ours.nv
    q, v = rng.uniform(-1, 1, (2, ours.nv))
    M = pinocchio.crba(model, data, q[place])
    M = np.triu(M) + np.triu(M, 1).T
    assert np.allclose(plain.mass_matrix(q)[np.ix_(place, place)], M, rtol=1e-11, atol=1e-12)
    bias = pinocchio.nonLinearEffects(model, data, q[place], v[place])
    damping = np.array(
        [
            ours.description.connections[[c.name for c in ours.description.connections].index(n)].damping[0]
            for n in moving
        ]
    )
    found = ours.inverse_dynamics(q, v, np.zeros(ours.nv)) - damping * v
    assert np.allclose(found[place], bias, rtol=1e-10, atol=1e-11)


def test_limits_and_defaults() -> None:
    _, sdf = robot(0)
    arm = art.load(sdf)
    revolute = next(c for c in arm.description.connections if c.name == "j3")
    assert revolute.limits.lower == (-1.0,)
    assert revolute.limits.effort == (5.0,)
    continuous = next(c for c in arm.description.connections if c.name == "j2")
    assert not continuous.limits.lower


def test_loops_are_closed_where_the_file_puts_them() -> None:
    """One degree of freedom, closed at q = 0, energy kept; the same as MuJoCo's with its loop as a stiff connection, to 2e-3."""
    m = art.load(FOUR_BAR)
    assert m.nv == 3
    assert [c.name for c in m.description.constraints] == ["d"]
    assert m.description.gravity == (0.0, 0.0, -9.8)
    assert np.allclose(m.pose("crank", np.zeros(3))[:3, 3], [0, 0, 1])
    assert np.abs(m.constraint_residual(np.zeros(3))).max() < 1e-12
    run = art.simulate(m, 0.4, step=1e-3)
    assert np.abs(m.constraint_residual(run.q[-1])).max() < 1e-8
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><option gravity="0 0 -9.8" timestep="0.0002"/><worldbody><body name="crank" pos="0 0 1"><joint axis="0 1 0"/>
    <inertial pos="0 0 .2" mass="1" diaginertia=".01 .01 .01"/><body name="coupler" pos="0 0 .4"><joint axis="0 1 0"/>
    <inertial pos=".3 0 0" mass="1" diaginertia=".01 .01 .01"/><body name="rocker" pos=".5 0 -.5"><joint axis="0 1 0" pos=".1 0 .5"/>
    <inertial pos="0 0 .2" mass="1" diaginertia=".01 .01 .01"/></body></body></body></worldbody>
    <equality><connect body1="rocker" anchor="0 0 0" solref="0.0008 1" solimp="0.99 0.999 0.001"/></equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    assert np.allclose(run.q[-1], data.qpos, atol=2e-3 * np.abs(data.qpos).max())


def test_free_links_and_shapes_that_touch() -> None:
    ball = """<sdf version="1.7"><model name="ball"><pose>0 0 .3 0 0 0</pose><link name="ball"><inertial><mass>1</mass></inertial>
    <visual name="v"><geometry><sphere><radius>.1</radius></sphere></geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
    <collision name="c"><pose>0 0 .05 0 0 0</pose><geometry><sphere><radius>.1</radius></sphere></geometry><surface><friction><ode><mu>.3</mu></ode></friction></surface>
    </collision></link></model></sdf>"""
    m = art.load(ball)
    assert m.nv == 6
    assert np.allclose(m.pose("ball", m.neutral)[:3, 3], [0, 0, 0.3])
    (contacts,) = m.components(contacts=True)
    assert contacts.friction == 1.0  # the larger one: the floor that is added has 1
    assert m.description.bodies[0].visuals[0].color == "#ff0000"
    run = art.simulate(m, 1.5, contacts=True, step=2e-4, method="rk4", outputs=(), sample=1.5)
    depth = 0.05 - m.pose("ball", run.q[-1])[2, 3]
    assert 0 < depth < 0.02
    assert art.load(ball, base="fixed").nv == 0


def test_frames_hang_on_links_or_ground() -> None:
    _, sdf = robot(1)
    more = '<frame name="tool" attached_to="l2"><pose>.1 0 0 0 0 0</pose></frame><frame name="spot"><pose>1 2 3 0 0 0</pose></frame>'
    m = art.load(sdf.replace("</model>", more + "</model>"))
    q = np.random.default_rng(0).uniform(-1, 1, m.nv)
    link, tool = m.pose("l2", q), m.pose("tool", q)
    assert np.allclose(tool[:3, 3], link[:3, 3] + 0.1 * link[:3, 0])
    assert np.allclose(m.pose("spot", q)[:3, 3], [1, 2, 3])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("<parent>l0</parent>", "<parent>l9</parent>", "'l9'; expected the name of a link"),
        ('relative_to="l0"', 'relative_to="l9"', "expected the name of a link, joint or frame"),
        ('type="prismatic"', 'type="prismatik"', "prismatic"),
        ("<mass>1</mass>", "<mass>one</mass>", "<mass>one</mass>"),
        ("<mass>1</mass>", "<mass>nan</mass>", "nan"),
        ('<link name="l1">', '<link name="l0">', "a second link 'l0'"),
        ('<model name="r">', '<model name="r"><pose>1 2</pose>', "6 numbers"),
    ],
)
def test_mistakes_are_told_with_their_lines(before: str, after: str, said: str) -> None:
    _, sdf = robot(2, way="relative")
    assert before in sdf
    with pytest.raises(ModelError, match=said) as caught:
        art.load(sdf.replace(before, after, 1).replace("<link", "\n<link"))
    assert "model:" in str(caught.value)


def test_what_is_not_read_is_refused() -> None:
    _, sdf = robot(0)
    with pytest.raises(UnsupportedOperation, match="gearbox"):
        art.load(sdf.replace('type="prismatic"', 'type="gearbox"', 1))
    with pytest.raises(UnsupportedOperation, match="include"):
        art.load(sdf.replace('<model name="r">', '<model name="r"><include><uri>x</uri></include>'))
    with pytest.raises(ModelError, match="0 models"):
        art.load('<sdf version="1.7"></sdf>')
    with pytest.raises(InputError, match="expected 'file' or 'fixed'"):
        art.load(sdf, base="free")


def test_cassie_has_its_loops() -> None:
    """32.94 kg; the loops of achilles and plantar rods, closed within the digits of the file."""
    found = [
        Path(p) / "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots/cassie_v2.sdf"
        for p in sys.path
    ]
    there = [p for p in found if p.exists()]
    if not there:
        pytest.skip("example-robot-data is not there")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = art.load(there[0])
    assert sum(b.mass for b in m.description.bodies) == pytest.approx(32.94)
    assert len(m.description.constraints) == 4
    assert np.abs(m.constraint_residual(m.neutral)).max() < 1e-9


def test_long_rows_of_frames_are_read() -> None:
    """Each of 1500 frames is relative to the one before: the last is 1.5 m away, however deep the row."""
    frames = "".join(
        f'<frame name="f{k}" attached_to="{f"f{k - 1}" if k else "a"}"><pose>{words(1e-3, *[0.0] * 5)}</pose></frame>'
        for k in range(1500)
    )
    text = (
        '<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>'
        f'<joint name="j" type="revolute"><parent>world</parent><child>a</child></joint>{frames}</model></sdf>'
    )
    found = parse_sdf(text)
    assert found.frames[-1].at.xyz[0] == pytest.approx(1.5, rel=1e-12)
    circle = text.replace('attached_to="a"', 'attached_to="f1499"')
    with pytest.raises(ModelError, match="circle of frames"):
        parse_sdf(circle)
