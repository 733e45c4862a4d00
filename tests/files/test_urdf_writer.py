"""Writing URDF: what is read back is the same mechanism; what the format cannot carry is refused by name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import articulus as art
from articulus.dynamics.quantities import function
from articulus.errors import DoubtfulModel, InputError, ModelError
from articulus.model.files import parse_urdf, read_urdf
from articulus.model.files.urdf.writer import urdf_text
from articulus.model.mechanism import Description, Device, Equipment

from .meshes import TETRAHEDRON, stl_bytes
from .support import ARM, INERTIAL

HEAVY = ARM.replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link>')
MIMIC = ARM.replace(
    '<child link="lower"/>', '<child link="lower"/><mimic joint="shoulder" multiplier="-2" offset="0.1"/>'
)
ENDLESS = art.Limits((-1.0,), (1.0,), (2.0,), (3.0,))


@pytest.mark.parametrize(
    ("text", "options"),
    [(ARM, {}), (HEAVY, {"base": "free"}), (MIMIC, {}), (ARM.replace('"base"', '"ground"'), {})],
    ids=["fixed", "free", "mimic", "ground"],
)
def test_what_was_read_is_written_without_loss(text: str, options: dict[str, Any]) -> None:
    arm = parse_urdf(text, **options)
    assert parse_urdf(urdf_text(arm)) == arm


def every_kind() -> art.Mechanism:
    """Return a mechanism with everything that URDF can carry, joint frames away from the bodies' included."""
    rng = np.random.default_rng(1)

    def pose() -> art.Pose:
        return art.Pose(tuple(rng.normal(size=3)), quaternion=tuple(rng.normal(size=4)))

    m = art.Mechanism("every kind & <more>")
    kinds = [
        art.Free(),
        art.Revolute((0, 0.6, 0.8)),
        art.Prismatic((1, 0, 0)),
        art.Fixed(),
        art.Planar(),
        art.Revolute((0, 0, 1)),
    ]
    for k, joint in enumerate(kinds):
        m.body(f"b{k}", rng.uniform(1, 2), rng.normal(size=3), (1.0, 1.2, 1.4, 0.1, 0.2, -0.1))
        more: dict[str, Any] = {"limits": ENDLESS, "damping": 0.3, "coulomb": 0.2} if joint.nv == 1 else {}
        m.joint(f"j{k}", joint, "ground" if k in (0, 3) else f"b{k - 1}", f"b{k}", pose(), pose(), **more)
    m.couple("j5", to="j1", ratio=-0.5, offset=0.2)
    m.frame("tool", "b2", pose())
    m.frame("mark", "ground", at=art.Pose((0, 0, 1), rpy=(0.3, np.pi / 2, 0.4)))
    return m


def values(d: Description, q: np.ndarray, v: np.ndarray, frames: list[str]) -> list[np.ndarray]:
    """Return mass matrix, bias and poses."""
    found = [function(d, "mass_matrix")(q), function(d, "bias")(q, v)]
    return [np.asarray(x) for x in (*found, *(function(d, "pose", (name,))(q) for name in frames))]


def test_every_kind_has_the_same_dynamics_and_poses_when_read_back(tmp_path: Path) -> None:
    """To rounding: quaternions become angles."""
    m = every_kind()
    m.save(tmp_path / "m.urdf")
    back = read_urdf(tmp_path / "m.urdf")
    assert back.coordinate_names() == m.q_names
    rng = np.random.default_rng(2)
    q, v = m.neutral + rng.uniform(-1, 1, m.nq), rng.normal(size=m.nv)
    frames = [*m.body_names, *m.frame_names]
    for ours, theirs in zip(values(m.description, q, v, frames), values(back, q, v, frames)):
        np.testing.assert_allclose(theirs, ours, atol=1e-12 * np.abs(ours).max())
    limits = {c.name: c.limits for c in back.connections}
    assert all(limits[c.name] == c.limits for c in m.description.connections)
    model = pin.buildModelFromUrdf(str(tmp_path / "m.urdf"))  # another program reads it
    assert model.nv == m.nv + 1  # the coupled joint is one of its own there


def test_meshes_lie_beside_and_colors_are_kept(tmp_path: Path) -> None:
    (tmp_path / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    red = '<material name="r"><color rgba="1 0 0 0.5"/></material>'
    shapes = [
        '<mesh filename="x.stl"/>',
        '<box size="1 2 3"/>',
        '<sphere radius="2"/>',
        '<cylinder radius="1" length="2"/>',
    ]
    drawn = "".join(f"<visual><origin xyz='1 2 3'/><geometry>{s}</geometry>{red}</visual>" for s in shapes)
    (tmp_path / "a.urdf").write_text(ARM.replace("</link>", f"{drawn}</link>", 1))
    arm = art.load(tmp_path / "a.urdf")
    (tmp_path / "out").mkdir()
    arm.save(tmp_path / "out" / "b.urdf")
    assert (tmp_path / "out" / "b.mesh0.obj").is_file()
    assert read_urdf(tmp_path / "out" / "b.urdf").bodies == arm.description.bodies


def test_other_shapes_are_left_out_with_a_warning(tmp_path: Path) -> None:
    m = art.Mechanism("m").body("a", 1.0, inertia=(1, 1, 1), visuals=[art.visual.Ellipsoid(radii=(1, 2, 3))])
    m.joint("turn", art.Revolute((0, 0, 1)), "ground", "a")
    with pytest.warns(DoubtfulModel, match=r"shapes are left out \(1\), which URDF does not know: ellipsoid"):
        m.save(tmp_path / "m.urdf")
    assert read_urdf(tmp_path / "m.urdf").nv == 1


def one(joint: art.Joint | None = None, **more: Any) -> art.Mechanism:
    m = art.Mechanism("m").body("a", 1.0, inertia=(1, 1, 1)).body("b", 1.0, inertia=(1, 1, 1))
    m.joint("i", art.Revolute((0, 1, 0)), "ground", "a")
    return m.joint("j", joint or art.Revolute((0, 0, 1)), "a", "b", at=(1, 0, 0), **more)


NOT_CARRIED = {
    "joint.j: found a spherical": one(art.Spherical()),
    "joint.j.stiffness": one(stiffness=1.0),
    "joint.j.armature": one(armature=1.0),
    "joint.j.rotor": one(rotor=art.Rotor(1.0)),
    "joint.j.coulomb_speed": one(coulomb=1.0, coulomb_speed=0.1),
    "joint.j.damping: found friction in a planar joint": one(art.Planar(), damping=(1.0, 1.0, 1.0)),
    "joint.j.limits: found limits of which some are infinite": one(art.Prismatic((1, 0, 0))),
    "neither lower nor upper": one(limits=art.Limits((-1.0,), (1.0,))),
    "both or neither": one(limits=art.Limits(velocity=(1.0,))),
    "parameters.m": one()
    .body("c", art.Parameter("m", 1.0), inertia=(1, 1, 1))
    .joint("k", art.Fixed(), "b", "c"),
    "gravity": art.Mechanism.from_description(replace(one().description, gravity=(0.0, 0.0, -1.6))),
    "constraint.pin": one().constrain(art.PointOnPoint("pin", "b", "ground")),
    "equipment.drive: found a component of type 'torque'": art.Mechanism.from_description(
        replace(one().description, equipment=Equipment((Device("torque", (("name", "drive"),)),)))
    ),
    "coupling.j": one().couple("j", to="i", polynomial=(0.0, 1.0, 2.0)),
}


@pytest.mark.parametrize("part", NOT_CARRIED)
def test_what_urdf_cannot_carry_is_refused_by_name(part: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=re.escape(part)):
        NOT_CARRIED[part].save(tmp_path / "m.urdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.xyz", "m.json", "m", "m.nc"])
def test_unknown_suffix_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"suffix.*expected one of .*\.toml, \.urdf"):
        one().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["run.toml", "run.csv", "run"])
def test_unknown_suffix_of_a_run_is_an_error(name: str, tmp_path: Path) -> None:
    run = art.simulate(one(), 0.01)
    with pytest.raises(InputError, match=r"suffix.*expected one of \.nc"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_finding_is_one_per_thing() -> None:
    with pytest.raises(ModelError) as caught:
        urdf_text(one(art.Spherical(), damping=(1.0, 1.0, 1.0)).description)
    assert len(str(caught.value).splitlines()) == 1


def test_shapes_that_may_touch_are_kept(tmp_path: Path) -> None:
    shapes = """<collision name="a"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry></collision>
    <collision><geometry><sphere radius="0.25"/></geometry></collision>
    <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>"""
    text = f"""<robot name="r"><link name="base"/><link name="tip"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>
    <joint name="j" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    first = art.load(tmp_path / "r.urdf")
    first.save(tmp_path / "again.urdf")
    second = art.load(tmp_path / "again.urdf")
    one, other = (m.description.equipment.collisions for m in (first, second))
    assert [(c.type, dict(c.values)["name"], dict(c.values)["frame"]) for c in other] == [
        ("box", "a", "tip"),
        ("sphere", "tip_collision1", "tip"),
        ("cylinder", "tip_collision2", "tip"),
    ]
    for mine, found in zip(one, other):
        for key, value in mine.values:
            if key not in ("name", "frame"):
                assert dict(found.values)[key] == pytest.approx(value, abs=1e-15)
