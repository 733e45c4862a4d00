"""What models draw is where the reference readers of their formats put it, and survives writing."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

import articulus as art
from articulus.errors import DoubtfulModel, ModelError
from articulus.model.files import (
    parse_mjcf,
    parse_toml,
    parse_urdf,
    read_mjcf,
    read_toml,
    read_urdf,
    write_toml,
)
from articulus.model.mechanism import Box, Capsule, Cylinder, Description, Ellipsoid, Mesh, Sphere, Visual
from browser.drawn import MASS, ROBOT, write_robot

from .meshes import TETRAHEDRON, ball, stl_bytes, volume

SINGLE = 1e-6
"""What single precision leaves of lengths of the order of a metre [m]."""


def visuals(d: Description) -> list[Visual]:
    return [v for b in d.bodies for v in b.visuals]


# URDF


def test_a_robot_is_drawn_as_pinocchio_reads_it(tmp_path: Path) -> None:
    place = write_robot(tmp_path)
    mech = art.load(place)
    model = pinocchio.buildModelFromUrdf(str(place))
    shapes = pinocchio.buildGeomFromUrdf(
        model, str(place), pinocchio.GeometryType.VISUAL, package_dirs=str(tmp_path)
    )
    q = np.array([0.4, -0.7])
    twin = np.concatenate([[np.cos(a), np.sin(a)] for a in q])
    data, placed = model.createData(), shapes.createData()
    pinocchio.forwardKinematics(model, data, twin)
    pinocchio.updateGeometryPlacements(model, data, shapes, placed)
    assert len(shapes.geometryObjects) == 3
    for k, there in enumerate(shapes.geometryObjects):
        body = next(b for b in mech.description.bodies if there.name.startswith(b.name))
        X = mech.pose(body.name, q) @ body.visuals[0].at.matrix()
        np.testing.assert_allclose(X, placed.oMg[k].homogeneous, atol=1e-12)
    foot, arm, tip = visuals(mech.description)
    assert isinstance(foot, Box)
    assert isinstance(arm, Cylinder)
    assert isinstance(tip, Mesh)
    np.testing.assert_allclose(foot.size, 2 * shapes.geometryObjects[0].geometry.halfSide)
    held = shapes.geometryObjects[1].geometry
    assert (arm.radius, arm.length) == pytest.approx((held.radius, 2 * held.halfLength))
    flat = 4 / 3 * np.pi * 0.12**2 * 0.06
    assert volume(tip) == pytest.approx(flat, rel=0.03), "the ball of 24 rings has 2 percent less"
    assert [foot.color, arm.color, tip.color] == ["#596673", "", "#c81ea0"]


LINK = '<robot name="r">{material}<link name="a">{mass}{visual}</link></robot>'


def link(visual: str, material: str = "") -> str:
    return LINK.format(mass=MASS, visual=f"<visual>{visual}</visual>", material=material)


def mesh(filename: str, more: str = "") -> str:
    return link(f'<geometry><mesh filename="{filename}" {more}/></geometry>')


def test_what_cannot_be_drawn_is_left_out_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "cut.stl").write_bytes(stl_bytes(TETRAHEDRON)[:100])
    (tmp_path / "whole.stl").write_bytes(stl_bytes(TETRAHEDRON))
    broken = [
        '<geometry><mesh filename="none.stl"/></geometry>',
        '<geometry><mesh filename="cut.stl"/></geometry>',
        '<geometry><mesh filename="x.fbx"/></geometry>',
        '<geometry><mesh filename="whole.stl" scale="1 0 1"/></geometry>',
        '<geometry><mesh filename="package://other/x.stl"/></geometry>',
        '<geometry><box size="1 2"/></geometry>',
        '<geometry><sphere radius="-1"/></geometry>',
        '<geometry><sphere radius="1"/><sphere radius="1"/></geometry>',
        '<origin xyz="a b c"/><geometry><sphere radius="1"/></geometry>',
        "",
    ]
    good = '<geometry><mesh filename="whole.stl"/></geometry>'
    text = LINK.format(
        mass=MASS, material="", visual="\n".join(f"<visual>{v}</visual>" for v in [*broken, good])
    )
    (tmp_path / "r.urdf").write_text(text)
    with pytest.warns(DoubtfulModel) as caught:
        found = read_urdf(tmp_path / "r.urdf", strict=True)  # pictures never stop a model
    (drawn,) = visuals(found)
    assert isinstance(drawn, Mesh)
    assert volume(drawn) == pytest.approx(1 / 6)
    assert [str(w.message) for w in caught] == [
        "r.urdf: 4 meshes, 6 shapes: see Mechanism.findings, or articulus info"
    ]
    assert len(found.findings) == len(broken)
    for k, expected in enumerate(
        ["'none.stl': no such file", "'cut.stl': 100 bytes", "'x.fbx': the suffix '.fbx'", "a scale of zero", "package_roots=",
         'size="1 2"', "found -1.0", "2 shapes", 'xyz="a b c"', "without <geometry>"],
    ):  # fmt: skip
        line = str(found.findings[k])
        assert line.startswith(f"r.urdf:{k + 1}: link.a.visual[{k}]"), line
        assert expected in line


def test_packages_and_folders(tmp_path: Path) -> None:
    for place in ("robot/urdf", "robot/meshes", "elsewhere/meshes", "robot/urdf/inner"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("robot/meshes", "elsewhere/meshes", "robot/urdf", "robot/urdf/inner"):
        (tmp_path / place / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    file = tmp_path / "robot" / "urdf" / "r.urdf"
    roots = {"other": tmp_path / "elsewhere"}
    for filename in (
        "x.stl", "inner/x.stl", "package://robot/meshes/x.stl", "package://other/meshes/x.stl", "package://inner/x.stl",
        "model://robot/meshes/x.stl", "inner\\x.stl",
    ):  # fmt: skip
        file.write_text(mesh(filename))
        assert len(visuals(read_urdf(file, package_roots=roots))) == 1, filename
    (tmp_path / "robot" / "meshes" / "out.stl").symlink_to(tmp_path / "elsewhere" / "meshes" / "x.stl")
    file.write_text(mesh("package://robot/meshes/out.stl"))
    with pytest.warns(DoubtfulModel, match="1 foreign path"):
        found = read_urdf(file)
    assert "it leads out of its package" in str(found.findings[0])
    assert visuals(found) == []


@pytest.mark.parametrize(
    "filename", ["../meshes/x.stl", "package:///robot/meshes/x.stl", "package://beside/x.stl"]
)
def test_paths_within_the_own_package_and_beside_it(filename: str, tmp_path: Path) -> None:
    for place in ("robot/urdf", "robot/meshes", "beside"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("robot/meshes", "beside"):
        (tmp_path / place / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    for place in ("robot", "beside"):
        (tmp_path / place / "package.xml").write_text("<package/>")
    file = tmp_path / "robot" / "urdf" / "r.urdf"
    file.write_text(mesh(filename))
    assert len(visuals(read_urdf(file))) == 1


@pytest.mark.parametrize(
    ("variable", "place"), [("ROS_PACKAGE_PATH", "far"), ("AMENT_PREFIX_PATH", "far/share")]
)
def test_packages_on_the_paths_of_ros(
    variable: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / place / "gripper").mkdir(parents=True)
    (tmp_path / place / "gripper" / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    (tmp_path / "r.urdf").write_text(mesh("package://gripper/x.stl"))
    monkeypatch.setenv(variable, str(tmp_path / "far"))
    assert len(visuals(read_urdf(tmp_path / "r.urdf"))) == 1


def test_a_text_has_no_folder_for_meshes() -> None:
    with pytest.warns(DoubtfulModel, match="1 mesh"):
        found = parse_urdf(mesh("x.stl"))
    assert visuals(found) == []
    assert found.findings[0].where == "model.urdf:1: link.a.visual[0].mesh"


def test_colors_by_name() -> None:
    red = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
    sphere = '<geometry><sphere radius="1"/></geometry>'
    for text in (
        link(sphere + '<material name="red"/>', red),
        link(sphere + red),
        link(f'{sphere}{red}</visual><visual>{sphere}<material name="red"/>'),
    ):
        assert {v.color for v in visuals(parse_urdf(text))} == {"#ff000080"}
    assert visuals(parse_urdf(link(sphere + '<material name="blue"/>', red)))[0].color == ""


def test_lumped_links_keep_their_place(tmp_path: Path) -> None:
    text = ROBOT.replace('name="bend" type="continuous"', 'name="bend" type="fixed"')
    place = write_robot(tmp_path)
    place.write_text(text)
    apart, whole = art.load(place), art.load(place, lump_fixed=True)
    assert [b.name for b in whole.description.bodies] == ["arm"]
    assert [type(v) for v in whole.description.visuals] == [Box], "the foot stands on ground"
    q = np.array([0.7])
    arm = next(b for b in whole.description.bodies if b.name == "arm")
    for name, moved in zip(("arm", "tip"), arm.visuals):
        own = next(b for b in apart.description.bodies if b.name == name).visuals[0]
        expected = apart.pose(name, q) @ own.at.matrix()
        np.testing.assert_allclose(whole.pose("arm", q) @ moved.at.matrix(), expected, atol=1e-12)


def test_a_root_called_ground_stands_still() -> None:
    text = ROBOT.replace('"foot"', '"ground"').replace(f'<link name="ground">{MASS}', '<link name="ground">')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the text has no folder for the mesh
        found = parse_urdf(text)
    assert [type(v) for v in found.visuals] == [Box]
    assert [b.name for b in found.bodies] == ["arm", "tip"]


# MJCF

SCENE = """<mujoco>
  <asset><mesh name="m" file="ball.stl" scale="0.5 1 1"/><material name="red" rgba="1 0 0 1"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom name="post" type="box" size="0.1 0.2 0.3" pos="1 0 0" rgba="0 0 1 0.5"/>
    <body name="arm" pos="0 0 1" euler="10 20 30"><joint axis="0 1 0" pos="0.1 0 0"/><joint axis="1 0 0"/>
      <geom name="ball" type="sphere" size="0.1" pos="0.1 0.2 0.3" material="red"/>
      <geom name="bar" type="capsule" fromto="0 0 0 0.5 0.1 0.2" size="0.05"/>
      <geom name="egg" type="ellipsoid" size="0.1 0.2 0.3" quat="1 0.2 0.3 0.4"/>
      <geom name="hidden" type="sphere" size="3" group="3"/>
      <geom name="clear" type="sphere" size="3" rgba="1 1 1 0"/>
      <body name="hand" pos="0.5 0 0"><joint type="slide" axis="0 0 1"/>
        <geom name="can" type="cylinder" size="0.1 0.2" euler="40 0 0" group="2"/>
        <geom name="shell" type="mesh" mesh="m" pos="0.3 0 0" euler="0 50 0"/></body></body>
  </worldbody>
</mujoco>"""


def test_geoms_are_where_mujoco_has_them(tmp_path: Path) -> None:
    original = ball(10, 0.2).move(np.eye(4))
    shifted = Mesh(original.vertices + np.float32([0.3, 0.2, 0.1]), original.triangles)
    (tmp_path / "ball.stl").write_bytes(stl_bytes(shifted))
    (tmp_path / "scene.xml").write_text(SCENE)
    d = read_mjcf(tmp_path / "scene.xml")
    mech = art.Mechanism.from_description(d)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    data = mujoco.MjData(model)
    data.qpos = q = np.array([0.3, -0.4, 0.2])
    mujoco.mj_forward(model, data)
    drawn = [("ground", v) for v in d.visuals] + [(b.name, v) for b in d.bodies for v in b.visuals]
    names = ["post", "ball", "bar", "egg", "can", "shell"]
    kinds = [Box, Sphere, Capsule, Ellipsoid, Cylinder, Mesh]
    assert [type(v) for _, v in drawn] == kinds
    for (body, v), name in zip(drawn, names):
        g = model.geom(name).id
        X = mech.pose(body, q) @ v.at.matrix()
        np.testing.assert_allclose(X[:3, 3], data.geom_xpos[g], atol=1e-12)
        np.testing.assert_allclose(X[:3, :3].ravel(), data.geom_xmat[g], atol=1e-12)
        if name != "shell":
            np.testing.assert_allclose(_half(v), _half_there(model, g), atol=1e-12)
    assert [v.color for _, v in drawn] == ["#0000ff80", "#ff0000", "", "", "", ""]
    # MuJoCo moves vertices to the principal axes; seen from the body they stand where the file has them
    shell = drawn[-1][1]
    assert isinstance(shell, Mesh)
    X = shell.at.matrix()
    seen = shell.vertices[shell.triangles] @ X[:3, :3].T + X[:3, 3]
    turn = art.Pose(xyz=(0.3, 0, 0), rpy=(0, np.radians(50), 0)).matrix()
    expected = (shifted.vertices * [0.5, 1, 1])[shifted.triangles] @ turn[:3, :3].T + turn[:3, 3]
    np.testing.assert_allclose(seen, expected, atol=SINGLE)


def _half(v: Visual) -> np.ndarray:
    return v.bounds()[1]


def _half_there(model: mujoco.MjModel, g: int) -> np.ndarray:
    """Return half the box around a geom, from MuJoCo's own one (center and half sizes)."""
    return model.geom_aabb[g, 3:]


def test_a_model_without_files_has_shapes_too() -> None:
    text = '<mujoco><worldbody><body><freejoint/><geom type="box" size="1 2 3"/></body></worldbody></mujoco>'
    assert visuals(parse_mjcf(text)) == [Box((2, 4, 6))]


# TOML

HEAD = """schema = 1
name = "drawn"
visuals = [{type = "box", size = [1, 1, "5 cm"], at = [0, 0, -0.1]}]

[joint.turn]
type = "revolute"
parent = "ground"
child = "arm"
axis = [0, 1, 0]

[body.arm]
mass = 1
inertia = [1, 1, 1]
"""


def test_shapes_in_toml() -> None:
    lists = (
        HEAD
        + 'visuals = [{type = "sphere", radius = 0.1, color = "#FF0000"}, {type = "capsule", radius = 1, length = 2}]'
    )
    tables = HEAD + '[[body.arm.visuals]]\ntype = "sphere"\nradius = "100 mm"\ncolor = "#ff0000"\n'
    tables += '[[body.arm.visuals]]\ntype = "capsule"\nradius = 1\nlength = 2\n'
    assert parse_toml(lists) == parse_toml(tables)
    assert visuals(parse_toml(lists)) == [Sphere(0.1, color="#ff0000"), Capsule(1, 2)]
    assert parse_toml(lists).visuals == (Box((1, 1, 0.05), at=(0, 0, -0.1)),)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('type = "bx"', "m.toml:15: body.arm.visuals[0].type: found 'bx'; expected a shape. did you mean 'box'"),
        ('type = "sphere"', "m.toml:14: body.arm.visuals[0]: found no radius; expected radius [m]"),
        ('type = "sphere"\nradius = -1', "m.toml:16: body.arm.visuals[0].radius: found -1.0; expected a plain number above zero"),
        ('type = "sphere"\nradius = "1 kg"', "m.toml:16: body.arm.visuals[0].radius: found '1 kg' measures [kg]"),
        ('type = "sphere"\nradius = 1\ncolour = "#000000"', "visuals[0].colour: found the unknown key 'colour'; expected a known key. did you mean 'color'?"),
        ('type = "sphere"\nradius = 1\ncolor = "red"', "m.toml:17: body.arm.visuals[0].color: found 'red'"),
        ('type = "box"\nsize = [1, 2]', "m.toml:16: body.arm.visuals[0].size: found 2 entries"),
        ('type = "mesh"', "m.toml:14: body.arm.visuals[0]: found no file"),
        ('type = "mesh"\nfile = "none.stl"', "m.toml:16: body.arm.visuals[0].file: found 'none.stl': no such file"),
        ('type = "mesh"\nfile = "../x.stl"', "m.toml:16: body.arm.visuals[0].file: found '../x.stl': a file that is not read"),
        ('type = "mesh"\nfile = "x.stl"\nscale = [1, 0, 1]', "m.toml:17: body.arm.visuals[0].scale: found (1.0, 0.0, 1.0)"),
    ],
)  # fmt: skip
def test_mistakes_have_lines(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    (tmp_path / "m.toml").write_text(f"{HEAD}[[body.arm.visuals]]\n{line}\n")
    with pytest.raises(ModelError) as refusal:
        read_toml(tmp_path / "m.toml")
    assert said in str(refusal.value)


@pytest.mark.parametrize("wrong", ["visuals = 3", "visuals = [3]", 'visuals = {type = "box"}'])
def test_a_list_of_tables_is_expected(wrong: str) -> None:
    with pytest.raises(ModelError, match=r"model.toml:14: body.arm.visuals.*expected a list of tables"):
        parse_toml(HEAD + wrong)


def test_written_shapes_come_back_equal(tmp_path: Path) -> None:
    one = art.load(write_robot(tmp_path)).description
    other = Mesh(TETRAHEDRON.vertices, TETRAHEDRON.triangles, at=(0.1, 0.2, 0.3), color="#01020304")
    m = art.Mechanism("all", visuals=[other, Ellipsoid((1, 2, 3), at=art.Pose(rpy=(0.1, 0.2, 0.3)))])
    m.body(
        "arm", 1.0, (0, 0, 0), (1, 1, 1), visuals=[TETRAHEDRON, *visuals(one), Capsule(0.1, 0.2), Sphere(0.1)]
    )
    m.joint("turn", art.Revolute((0, 1, 0)), "ground", "arm")
    m.save(tmp_path / "all.toml")
    assert art.load(tmp_path / "all.toml").description == m.description
    assert {p.name for p in tmp_path.glob("all.*")} == {"all.toml", "all.mesh0.obj", "all.mesh1.obj"}
    write_toml(one, tmp_path / "robot.toml")
    assert read_toml(tmp_path / "robot.toml") == one


def test_a_run_keeps_what_is_drawn(tmp_path: Path) -> None:
    mech = art.load(write_robot(tmp_path))
    art.simulate(mech, 0.01, step=1e-3).save(tmp_path / "run.nc")
    assert visuals(art.load_run(tmp_path / "run.nc").mechanism.description) == visuals(mech.description)


def test_a_scaled_mesh(tmp_path: Path) -> None:
    (tmp_path / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    text = '[[body.arm.visuals]]\ntype = "mesh"\nfile = "x.stl"\nscale = [0.1, -0.1, 0.2]\ncolor = "#123456"'
    (tmp_path / "m.toml").write_text(HEAD + text)
    (found,) = visuals(read_toml(tmp_path / "m.toml"))
    assert isinstance(found, Mesh)
    assert volume(found) == pytest.approx(0.1 * 0.1 * 0.2 / 6, rel=1e-6)
    assert found.color == "#123456"
