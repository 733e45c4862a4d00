"""MJCF: the same masses and, at random positions, the same places as MuJoCo; what is refused and how."""

from __future__ import annotations

import sys
from pathlib import Path

import casadi as ca
import mujoco
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulModel, ModelError, UnsupportedOperation
from articulus.model.files import parse_mjcf, read_mjcf
from articulus.model.mechanism import Description, values_of

from .mjcf_models import BALL, CHAIN, FREE, MODELS, SEVERAL, SPRINGS, STATIC, mujoco_position
from .support import message


def pose(d: Description, body: str, q: np.ndarray) -> np.ndarray:
    """Return the pose of a body in ground, joint by joint."""
    X = np.eye(4)
    while body != "ground":
        c = d.inboard(body)
        J = c.joint.transform(ca.SX(ca.DM(q[d.q_slices[c.name]])))
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = ca.DM(J.R).full(), ca.DM(J.p).full().ravel()
        X = c.at.matrix() @ step @ np.linalg.inv(c.child_at.matrix()) @ X
        body = c.parent
    return X


def random_q(d: Description, seed: int) -> np.ndarray:
    q = d.neutral + np.random.default_rng(seed).uniform(-1, 1, d.nq)
    for c in d.connections:
        if c.joint.nq in (4, 7):
            start = d.q_slices[c.name].start
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_agrees_with_mujoco(name: str, seed: int) -> None:
    ours = parse_mjcf(MODELS[name])
    model = mujoco.MjModel.from_xml_string(MODELS[name])
    data = mujoco.MjData(model)
    q = random_q(ours, seed)
    data.qpos[:] = mujoco_position(q, ours)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    assert (ours.nq, ours.nv) == (model.nq, model.nv)
    heavy = [b for b in ours.bodies if not b.massless]
    for i, body in zip([i for i in range(1, model.nbody) if model.body_mass[i]], heavy):
        X = pose(ours, body.name, q)
        np.testing.assert_allclose(X[:3, 3], data.xpos[i], atol=1e-13)
        np.testing.assert_allclose(X[:3, :3], data.xmat[i].reshape(3, 3), atol=1e-13)
        np.testing.assert_allclose(X[:3, :3] @ values_of(body.com) + X[:3, 3], data.xipos[i], atol=1e-13)
        R = data.ximat[i].reshape(3, 3)
        np.testing.assert_allclose(
            X[:3, :3] @ body.inertia_matrix() @ X[:3, :3].T,
            R @ np.diag(model.body_inertia[i]) @ R.T,
            atol=1e-12,
        )
        assert body.mass == model.body_mass[i]
    for i, frame in enumerate(ours.frames):
        X = pose(ours, frame.body, q) @ frame.at.matrix()
        np.testing.assert_allclose(X[:3, 3], data.site_xpos[i], atol=1e-13)
        np.testing.assert_allclose(X[:3, :3], data.site_xmat[i].reshape(3, 3), atol=1e-13)


def test_springs_and_friction() -> None:
    d = parse_mjcf(SPRINGS)
    h, s = d.connections
    assert (h.stiffness, h.rest, h.damping) == ((3.0,), (0.5,), (0.2,))
    assert (s.stiffness, s.rest, s.armature) == ((5.0,), (0.1,), (0.3,))
    assert d.gravity == (1.0, 2.0, -3.0)


def test_limits() -> None:
    slide = parse_mjcf(CHAIN).connections[1]
    assert (slide.limits.lower, slide.limits.upper) == ((-0.1,), (0.2,))
    hinge = parse_mjcf(STATIC).connections[1]
    assert hinge.limits.effort == (5.0,)
    assert hinge.coulomb == (0.2,)


def test_several_joints_have_bodies_without_mass_between() -> None:
    d = parse_mjcf(SEVERAL)
    assert [b.name for b in d.bodies] == ["a.x", "a.y", "a", "b.p", "b"]
    assert d.bodies[0].massless == "between the joints of a"


def test_ball_and_free() -> None:
    assert parse_mjcf(BALL).connections[0].damping == (0.3,) * 3
    assert parse_mjcf(FREE).coordinate_names()[:7] == tuple(
        f"float.{n}" for n in ("qw", "qx", "qy", "qz", "x", "y", "z")
    )


def test_names_that_meet_are_kept_apart() -> None:
    d = parse_mjcf(STATIC)
    assert [b.name for b in d.bodies] == ["ground_body", "body2"]
    assert [f.name for f in d.frames] == ["ground_site", "ground_body_site"]


def test_switched_off_forces() -> None:
    flags = '<option><flag gravity="disable" spring="disable" damper="disable"/></option><worldbody>'
    d = parse_mjcf(SPRINGS.replace("<worldbody>", flags, 1))
    assert d.gravity == (0.0, 0.0, 0.0)
    assert d.connections[0].stiffness == d.connections[0].damping == ()


LEFT_OUT = {
    "fluid": (CHAIN.replace("<worldbody>", '<option density="1.2"/><worldbody>'), ["fluid"]),
    "tendon": (CHAIN.replace("</mujoco>", '<tendon><fixed name="t" stiffness="1"><joint joint="h" coef="1"/></fixed></tendon></mujoco>'), ["tendon 't' with stiffness"]),
    "tendon limit": (CHAIN.replace("</mujoco>", '<tendon><fixed name="t" limited="true" range="0 1"><joint joint="h" coef="1"/></fixed></tendon></mujoco>'), ["limits of tendon 't'"]),
    "ball spring": (BALL.replace('damping="0.3"', 'stiffness="1"'), ["spring that turns freely in space in joint 'ball'"]),
    "two at once": (
        BALL.replace('damping="0.3"', 'stiffness="1"').replace("<worldbody>", '<option viscosity="1"/><worldbody>'),
        ["fluid", "spring"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out_is_named(case: str) -> None:
    text, parts = LEFT_OUT[case]
    with pytest.warns(DoubtfulModel, match=r"robot\.xml: 1 omitted") as caught:
        findings = parse_mjcf(text, "robot.xml").findings
    assert len(caught) == 1
    for part in parts:
        assert any(part in f.found for f in findings)
    with pytest.raises(ModelError) as refused:
        parse_mjcf(text, "robot.xml", strict=True)
    assert all(part in str(refused.value) for part in parts)


def test_a_welded_body_without_inertia_is_doubtful() -> None:
    point = '<body name="point" pos="1 0 0"><inertial pos="0 0 0" mass="2" diaginertia="0 0 0"/></body></body></worldbody>'
    text = SPRINGS.replace("</body>\n  </worldbody>", point)
    with pytest.warns(DoubtfulModel, match="1 doubtful inertia"):
        d = parse_mjcf(text)
    assert d.findings[0].where.endswith("body.point.inertia")
    arm, model = art.Mechanism.from_description(d), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3, 0.2
    mujoco.mj_forward(model, data)
    column = np.zeros(2)
    mujoco.mj_mulM(model, data, column, np.array([1.0, 0.0]))
    np.testing.assert_allclose(arm.mass_matrix([0.3, 0.2])[:, 0], column, rtol=1e-13)


def test_findings_have_lines() -> None:
    text = BALL.replace('damping="0.3"', 'stiffness="1"')
    with pytest.warns(DoubtfulModel):
        found = parse_mjcf(text, "robot.xml").findings
    assert found[0].where == "robot.xml:4: joint.ball"


def test_contacts_are_noted_without_a_warning() -> None:
    noted = parse_mjcf(FREE, "robot.xml", strict=True).findings
    assert [f.kind for f in noted] == ["note on contacts"]
    assert "3 geoms" in noted[0].found


FOUR_BAR = """<mujoco>
  <worldbody>
    <body name="crank"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
      <body name="rod" pos="0 0 1"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 2 0 0" size="0.1"/>
        <site name="end" pos="2 0 0"/></body></body>
    <body name="rocker" pos="2 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
      <site name="top" pos="0 0 1"/></body>
  </worldbody>
  <equality>EQUALITY</equality>
</mujoco>"""

LOOPS = {
    "connect": ('<connect body1="rod" body2="rocker" anchor="2 0 0"/>', 3),
    "connect sites": ('<connect site1="end" site2="top"/>', 3),
    "weld": ('<weld body1="rod" body2="rocker"/>', 6),
    "weld sites": ('<weld site1="end" site2="top"/>', 6),
    "lock": ('<joint joint1="b" polycoef="0.25 0 0 0 0"/>', 1),
}


@pytest.mark.parametrize("case", LOOPS)
def test_equalities_have_the_residual_of_mujoco(case: str) -> None:
    """Position of the second anchor from the first, in the axes of the first body: MuJoCo's residual is in ground axes."""
    element, rows = LOOPS[case]
    text = FOUR_BAR.replace("EQUALITY", element)
    arm = art.Mechanism.from_description(parse_mjcf(text))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = q = np.array([0.2, 0.1, 0.05])
    mujoco.mj_forward(model, data)
    ours, theirs = arm.constraint_residual(q), data.efc_pos[: data.ne]
    assert len(ours) == len(theirs) == rows
    if case == "lock":
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
        return
    body = "rod" if "sites" not in case else "end"
    turned = arm.pose(body, q)[:3, :3] @ ours[:3]  # Fixed and Spherical: position first
    np.testing.assert_allclose(np.abs(turned), np.abs(theirs[:3]), atol=1e-13)


def test_inactive_equalities_are_noted() -> None:
    text = FOUR_BAR.replace("EQUALITY", '<weld name="grip" active="false" body1="rod" body2="rocker"/>')
    d = parse_mjcf(text)
    assert d.constraints == ()
    assert any("grip" in f.found for f in d.findings)


def test_switched_off_equalities_are_left_out() -> None:
    text = FOUR_BAR.replace("EQUALITY", LOOPS["connect"][0])
    flag = '<option><flag equality="disable"/></option><worldbody>'
    assert parse_mjcf(text.replace("<worldbody>", flag)).constraints == ()


def test_equipment_is_no_part_of_the_equations() -> None:
    more = """<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>
      <actuator><motor joint="h"/></actuator><sensor><jointpos joint="h"/></sensor></mujoco>"""
    equipped = parse_mjcf(CHAIN.replace("</mujoco>", more))
    assert [d.type for d in equipped.equipment.devices] == ["linear_drive", "joint_sensor"]
    assert equipped.fingerprint == parse_mjcf(CHAIN).fingerprint


def test_sensors_that_are_left_out_change_no_motion() -> None:
    more = '<sensor><clock name="watch"/><subtreecom name="mass" body="BODY"/></sensor></mujoco>'
    body = parse_mjcf(CHAIN).bodies[0].name
    with pytest.warns(DoubtfulModel, match="omitted sensor"):
        found = parse_mjcf(CHAIN.replace("</mujoco>", more.replace("BODY", body))).findings
    texts = [str(f) for f in found if "sensor" in str(f)]
    assert texts
    assert all("the motion is the same" in text for text in texts)


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(UnsupportedOperation, match=r"articulus\[mjcf\]"):
        parse_mjcf(CHAIN)


REFUSED = {
    "nan": (CHAIN.replace('pos="0 0 1"', 'pos="0 nan 1"'), "robot.xml:4"),
    "overflow": (CHAIN.replace('pos="0 0 1"', 'pos="0 1e999 1"'), "robot.xml:4"),
    "syntax": (CHAIN.replace("</body>", "</bdy>", 1), "robot.xml:11"),
    "doctype": ("<!DOCTYPE mujoco [<!ENTITY a 'x'>]>" + CHAIN, "DOCTYPE"),
    "schema": (CHAIN.replace("axis=", "axes=", 1), "robot.xml:5"),
    "negative mass": (CHAIN.replace('mass="2"', 'mass="-2"'), "mass"),
    "singular": (CHAIN.replace('mass="1"', 'mass="1e-15"').replace("0.1 0.2 0.25 0.01 0.02 0.03", "1e-15 1e-15 1e-15 0 0 0").replace("slide", "hinge"), "robot.xml"),
    "not mjcf": ("<robot/>", "<mujoco>"),
    "no bodies": ("<mujoco/>", "no body"),
    "many": (CHAIN.replace("<worldbody>", '<worldbody><replicate count="1000000000"><geom size="1"/></replicate>'), "at most"),
    "file in a text": (CHAIN.replace("<worldbody>", '<include file="x.xml"/><worldbody>'), "no folder"),
}  # fmt: skip


BODY = '<body><joint/><geom size="1"/></body>'
CROWDS = {
    "bodies": BODY * 20_001,
    "replicate": f'<replicate count="200">{BODY * 101}</replicate>',
    "nested": f'<replicate count="1000"><replicate count="1000">{BODY}</replicate></replicate>',
    "geoms": '<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>',
    "grid": '<body><composite type="cable" count="20000 2 1" size="1"/></body>',
}


@pytest.mark.parametrize("case", CROWDS)
def test_too_many_bodies(case: str, tmp_path: Path) -> None:
    text = f"<mujoco><worldbody>{CROWDS[case]}</worldbody></mujoco>"
    assert "at most 20000" in message(lambda: parse_mjcf(text, "robot.xml"))
    (tmp_path / "robot.xml").write_text(text)
    assert "at most 20000" in message(lambda: read_mjcf(tmp_path / "robot.xml"))


def test_too_many_bodies_by_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "more.xml").write_text(f"<mujoco>{BODY * 101}</mujoco>")
    (tmp_path / "robot.xml").write_text(
        '<mujoco><worldbody><replicate count="200"><include file="more.xml"/></replicate></worldbody></mujoco>'
    )
    assert "more.xml:1: <body>" in message(lambda: read_mjcf(tmp_path / "robot.xml"))


def test_too_many_bodies_between_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articulus.model.files.mjcf.check.MAX_BODIES", 4)
    assert "body 5 of the model" in message(lambda: parse_mjcf(SEVERAL, "robot.xml"))


def test_replicated_bodies_are_read() -> None:
    text = f'<mujoco><worldbody><replicate count="7" offset="9 0 0">{BODY}</replicate></worldbody></mujoco>'
    assert parse_mjcf(text).nv == 7


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    text, part = REFUSED[case]
    said = message(lambda: parse_mjcf(text, "robot.xml"))
    assert said.startswith("robot.xml")
    assert part in said


def with_include(folder: Path, file: str) -> Path:
    place = folder / "robot.xml"
    place.write_text(CHAIN.replace("<worldbody>", f'<include file="{file}"/>\n<worldbody>'))
    return place


def test_include_inside(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    assert read_mjcf(with_include(tmp_path, "sub/more.xml")).gravity == (0.0, 0.0, -1.0)


@pytest.mark.parametrize("file", ["../secret.xml", "/etc/secret.xml", "link.xml", "sub/../../secret.xml"])
def test_include_outside(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    said = message(lambda: read_mjcf(with_include(folder, file)))
    assert "robot.xml:3" in said
    assert "out of the model's folder" in said


def test_include_with_a_name_that_is_too_long(tmp_path: Path) -> None:
    assert "robot.xml:3" in message(lambda: read_mjcf(with_include(tmp_path, "x" * 5000)))


def test_include_of_itself(tmp_path: Path) -> None:
    assert "includes itself" in message(lambda: read_mjcf(with_include(tmp_path, "robot.xml")))
    (tmp_path / "more.xml").write_text('<mujoco><include file="more.xml"/></mujoco>')
    assert "more.xml:1" in message(lambda: read_mjcf(with_include(tmp_path, "more.xml")))


def test_outside_path_in_an_included_file(tmp_path: Path) -> None:
    mesh = '<mujoco><asset><mesh file="../x.stl"/></asset></mujoco>'
    (tmp_path / "more.xml").write_text(mesh)
    assert "more.xml:1: <mesh>" in message(lambda: read_mjcf(with_include(tmp_path, "more.xml")))


def test_include_beside_the_including_file(tmp_path: Path) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    (sub / "more.xml").write_text('<mujoco><include file="y.xml"/></mujoco>')
    (sub / "y.xml").write_text('<mujoco><option gravity="0 0 -2"/></mujoco>')
    assert read_mjcf(with_include(tmp_path, "sub/more.xml")).gravity == (0.0, 0.0, -2.0)
    (sub / "y.xml").write_text('<mujoco><include file="../../secret.xml"/></mujoco>')
    assert "y.xml:1" in message(lambda: read_mjcf(with_include(tmp_path, "sub/more.xml")))


def test_attached_model(tmp_path: Path) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    place = tmp_path / "robot.xml"
    place.write_text(
        '<mujoco><asset><model name="m" file="sub/child.xml"/></asset>'
        '<worldbody><attach model="m" body="b" prefix="p_"/></worldbody></mujoco>'
    )
    child = """<mujoco><asset><mesh name="c" file="{}"/></asset><worldbody>
      <body name="b"><joint axis="0 1 0"/><geom size="0.1" pos="0 0 0.1"/></body></worldbody></mujoco>"""
    (sub / "child.xml").write_text(child.format("../../x.stl"))
    assert "child.xml:1: <mesh" in message(lambda: read_mjcf(place))
    (sub / "child.xml").write_text(child.replace('<mesh name="c" file="{}"/>', ""))
    assert read_mjcf(place).nv == 1


def test_asset_link_out_of_the_folder_of_another_file(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "out").symlink_to(tmp_path)
    (folder / "more.xml").write_text('<mujoco><asset><mesh file="out/x.stl"/></asset></mujoco>')
    place = with_include(folder, "more.xml")
    place.write_text(place.read_text().replace("<compiler ", '<compiler meshdir="meshes" '))
    assert "more.xml:1: <mesh>" in message(lambda: read_mjcf(place))


@pytest.mark.parametrize("key", ["meshdir", "texturedir", "assetdir"])
def test_asset_folder_outside(key: str, tmp_path: Path) -> None:
    place = tmp_path / "robot.xml"
    place.write_text(CHAIN.replace("<worldbody>", f'<compiler {key}=".."/><worldbody>'))
    assert key in message(lambda: read_mjcf(place))


def test_missing_mesh_is_a_model_error(tmp_path: Path) -> None:
    place = tmp_path / "robot.xml"
    place.write_text(CHAIN.replace("<worldbody>", '<asset><mesh file="x.stl"/></asset><worldbody>'))
    with pytest.raises(ModelError, match=r"x\.stl"):
        read_mjcf(place)


def in_package(tmp_path: Path, mark: str) -> Path:
    """Return a model in package/models/robot, which includes package/more.xml."""
    folder = tmp_path / "package" / "models" / "robot"
    folder.mkdir(parents=True)
    (tmp_path / "package" / mark).write_text("")
    (tmp_path / "package" / "more.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    return with_include(folder, "../../more.xml")


@pytest.mark.parametrize("mark", ["__init__.py", "package.xml"])
def test_files_of_the_same_package(mark: str, tmp_path: Path) -> None:
    place = in_package(tmp_path, mark)
    assert read_mjcf(place).gravity == (0.0, 0.0, -1.0)
    (tmp_path / "package" / mark).unlink()
    assert "out of the model's folder" in message(lambda: read_mjcf(place))


def test_declared_roots(tmp_path: Path) -> None:
    place = in_package(tmp_path, "README")
    assert "roots=[...]" in message(lambda: read_mjcf(place))
    assert read_mjcf(place, roots=[tmp_path / "package"]).gravity == (0.0, 0.0, -1.0)


def test_outermost_python_package(tmp_path: Path) -> None:
    place = in_package(tmp_path, "__init__.py")
    (place.parent.parent / "__init__.py").write_text("")
    assert read_mjcf(place).gravity == (0.0, 0.0, -1.0)


def test_memory_hints_are_no_reason_to_refuse() -> None:
    assert parse_mjcf(CHAIN.replace("<worldbody>", '<size nstack="600000"/><worldbody>')).nv == 2
    assert "at most" in message(
        lambda: parse_mjcf(CHAIN.replace("<worldbody>", '<size nstack="600000000"/><worldbody>'))
    )
