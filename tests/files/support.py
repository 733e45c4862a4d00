"""Random descriptions, small model texts and a helper for messages."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from articulus.errors import ModelError
from articulus.model.mechanism import (
    ALL_JOINTS,
    Body,
    Connection,
    Cylindrical,
    Description,
    Distance,
    Frame,
    Free,
    Harmonic,
    Helical,
    Limits,
    Lock,
    LoopJoint,
    NoSlip,
    Parameter,
    PointOnPoint,
    Polynomial,
    Pose,
    Prescribed,
    PrescribedPoint,
    Prismatic,
    Revolute,
    RollingContact,
    Rotor,
    SlidingContact,
    Touching,
    Universal,
)

CRANE = """schema = 1
name = "crane"
source = "a sketch"
gravity = [0, 0, -9.81]

[parameters]
payload = "2 kg"

[body.boom]
mass = {parameter = "payload"}
com = [0.1, 0, "20 mm"]
inertia = [1, 2, 2.5]

[joint.lift]
type = "revolute"
parent = "ground"
child = "boom"
axis = [0, 1, 0]
at = {xyz = [0, 0, 1], rpy = ["90 deg", 0, 0]}
armature = 0.1
rotor = {inertia = 0.003, ratio = 160, axis = [0, 0, 1]}
limits = {lower = "-90 deg", upper = 1.57, velocity = "30 rpm", effort = 100}

[frame.tool]
body = "boom"
at = [1, 2, 3]
"""

INERTIAL = """<inertial>
      <origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/>
    </inertial>"""

ARM = f"""<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    {INERTIAL}
  </link>
  <link name="lower">
    {INERTIAL}
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0 0 0.5"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="continuous">
    <origin xyz="1 0 0"/>
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="0 0 1"/>
  </joint>
</robot>
"""


def line_of(text: str, part: str) -> int:
    """Return the line on which a part of a text first stands."""
    return text[: text.index(part)].count("\n") + 1


def message(read: Callable[[], object]) -> str:
    """Return the text of the ModelError that a call has to raise."""
    with pytest.raises(ModelError) as caught:
        read()
    assert caught.value.findings
    return str(caught.value)


# random descriptions

finite = st.floats(-1e6, 1e6, allow_nan=False)
positive = st.floats(1e-6, 1e6)
printable = st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("C", "Z"))
names = st.text(printable, min_size=1, max_size=8).filter(lambda n: n.isprintable() and n != "ground")
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
AXES = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.0, 0.8), (0.1, 0.2, 0.3), (-5.0, 1e-3, 7.0))


@st.composite
def axes(draw: st.DrawFn) -> tuple[float, ...]:
    x, y, z = draw(st.sampled_from(AXES))
    length = (x * x + y * y + z * z) ** 0.5
    return (x / length, y / length, z / length)


@st.composite
def numbers(draw: st.DrawFn, values: st.SearchStrategy[float] = finite) -> object:
    """A number, now and then a parameter; its value belongs to its name, so that one name has one value."""
    value = draw(values)
    if draw(st.integers(0, 9)) == 0:
        return Parameter(
            f"p{struct.pack('>d', value + 0.0).hex()}", value + 0.0
        )  # 0.0 and -0.0 have one name
    return value


def vectors(size: int, values: st.SearchStrategy[float] = finite) -> st.SearchStrategy[tuple[object, ...]]:
    return st.tuples(*[numbers(values) for _ in range(size)])


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    xyz = draw(st.one_of(st.just((0.0, 0.0, 0.0)), vectors(3)))
    turn = draw(st.sampled_from(("none", "rpy", "quaternion")))
    if turn == "rpy":
        return Pose(xyz, rpy=draw(vectors(3)))
    if turn == "quaternion":
        return Pose(xyz, quaternion=draw(vectors(4, st.floats(0.1, 1))))
    return Pose(xyz)


@st.composite
def bodies(draw: st.DrawFn, name: str) -> Body:
    if draw(st.integers(0, 5)) == 0:
        return Body(name, com=draw(vectors(3)), massless=draw(texts.filter(bool)))
    size = draw(positive)
    inertia = (size, draw(numbers(st.just(size * 1.5))), size * 2, size * 0.01, -0.0, 0.0)
    return Body(name, draw(numbers(positive)), draw(vectors(3)), inertia)


@st.composite
def joints(draw: st.DrawFn) -> object:
    kind = draw(st.sampled_from(ALL_JOINTS))
    if kind in (Revolute, Prismatic, Cylindrical):
        return kind(draw(axes()))
    if kind is Helical:
        return Helical(draw(axes()), draw(numbers()))
    if kind is Universal:
        return Universal((1.0, 0.0, 0.0), (0.0, 0.6, 0.8))
    return kind()


@st.composite
def connections(draw: st.DrawFn, name: str, parent: str, child: str) -> Connection:
    joint = draw(joints())
    held = {}
    for key in ("armature", "damping", "coulomb", "rest"):
        held[key] = draw(st.one_of(st.just(()), vectors(joint.nv, positive)))
    if joint.nq == joint.nv:
        held["stiffness"] = draw(st.one_of(st.just(()), vectors(joint.nv, positive)))
    if joint.nv == 1 and draw(st.booleans()):
        held["rotor"] = Rotor(draw(numbers(positive)), draw(numbers()), draw(axes()))
    high = draw(st.one_of(st.just(()), st.tuples(*[st.one_of(positive, st.just(float("inf")))] * joint.nv)))
    limits = Limits((), high, high, ())
    at, child_at = draw(poses()), draw(poses())
    return Connection(
        name, joint, parent, child, at, child_at, limits=limits, coulomb_speed=draw(positive), **held
    )


@st.composite
def time_functions(draw: st.DrawFn) -> object:
    if draw(st.booleans()):
        return Polynomial(draw(vectors(draw(st.integers(1, 4)))))
    return Harmonic(*draw(vectors(4)))


@st.composite
def constraints(draw: st.DrawFn, name: str, points: list[str], links: list[Connection]) -> object:
    """A loop or constraint of any type; the first two of `points` are on different bodies."""
    a, b = points[:2]
    moving = [c for c in links if c.joint.nv]
    kind = draw(
        st.sampled_from(
            [
                "loop",
                "point",
                "distance",
                "point_drive",
                "wheel",
                "touching",
                "slide",
                "roll",
                "lock",
                "drive",
            ]
        )
    )
    link = draw(st.sampled_from(moving)) if moving else None
    if kind == "loop":
        joint = draw(joints().filter(lambda j: not isinstance(j, Free)))
        return LoopJoint(name, joint, a, b, draw(poses()), draw(poses()))
    if kind == "distance":
        return Distance(name, a, b, draw(numbers(positive)))
    if kind == "point_drive":
        return PrescribedPoint(name, b, draw(time_functions()), None, draw(time_functions()))
    if kind in ("wheel", "touching"):
        return (NoSlip if kind == "wheel" else Touching)(name, b, draw(numbers(positive)), draw(axes()))
    if kind == "slide":
        return SlidingContact(name, a, b, draw(numbers(positive)), draw(st.none() | axes()))
    if kind == "roll":
        return RollingContact(name, a, b, draw(numbers(positive)), draw(st.booleans()))
    if kind == "lock" and link is not None:
        return Lock(name, link.name, draw(vectors(link.joint.nq, positive)))
    if kind == "drive" and link is not None and link.joint.nq == link.joint.nv:
        return Prescribed(
            name, link.name, draw(time_functions()), draw(st.sampled_from(link.joint.coordinate_names))
        )
    return PointOnPoint(name, a, b)


@st.composite
def descriptions(draw: st.DrawFn) -> Description:
    """A tree of up to four bodies with joints of any type, frames and parameters."""
    held = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    split = draw(st.integers(1, min(4, len(held) - 1)))
    points, others = held[:split], held[split:]
    parts = tuple(draw(bodies(n)) for n in points)
    links = []
    for i, child in enumerate(points):
        parent = draw(st.sampled_from(["ground", *points[:i]]))
        links.append(draw(connections(f"j {child}", parent, child)))
    frames = tuple(Frame(n, draw(st.sampled_from(["ground", *points])), draw(poses())) for n in others)
    order = draw(st.permutations(links))
    gravity = draw(vectors(3))
    rows = draw(st.lists(names, max_size=3, unique=True))
    closed = tuple(draw(constraints(n, ["ground", points[-1]], links)) for n in rows)
    try:
        return Description.build(draw(texts), parts, tuple(order), frames, gravity, draw(texts), closed)
    except ModelError as error:
        assume("moves no mass" not in str(error) and "not positive definite: it feels" not in str(error))
        raise
