"""The pages say what the code does: every field, every joint type, every unit; the example is read."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

import articulus as art
from articulus.errors import ModelError
from articulus.model.files import parse_toml, toml_text
from articulus.model.files.toml.tables import TABLES, field_table, joint_table, unit_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "toml.md").read_text()


@pytest.mark.parametrize("kind", TABLES)
def test_fields(kind: str) -> None:
    assert field_table(TABLES[kind]) in PAGE


@pytest.mark.parametrize("kind", TABLES)
def test_every_key_has_a_meaning(kind: str) -> None:
    for row in field_table(TABLES[kind]).splitlines()[2:]:
        assert all(row.split(" | ")[i].strip(" |") for i in (0, 1, 3, 4)), row


def test_joint_types_and_units() -> None:
    assert joint_table() in PAGE
    assert unit_table() in PAGE


def test_example() -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert example is not None
    crane = parse_toml(example[1], "crane.toml")
    assert crane.nv == 5
    assert parse_toml(toml_text(crane)) == crane


def test_reader_of_the_extending_page() -> None:
    code = re.search(r"```python\n(.*?)```", (DOCS / "extending" / "reader.md").read_text(), re.S)
    assert code is not None
    scope: dict[str, object] = {}
    exec(code[1], scope)  # noqa: S102 (a page of this repository)
    parse = scope["parse_points"]
    assert parse("a 1 0 0 0\nb 2 1 1 1\n").nv == 12  # type: ignore[operator]
    with pytest.raises(ModelError, match=r"model\.points:2: body\.b"):
        parse("a 1 0 0 0\nb x\n")  # type: ignore[operator]


def test_free_joint_conversions_of_the_urdf_page(tmp_path: Path) -> None:
    """A body that floats has the same accelerations in the three programs through the functions of the page."""
    code = re.search(r"```python\n(import numpy.*?)```", (DOCS / "urdf_mjcf.md").read_text(), re.S)
    assert code is not None
    to: dict[str, object] = {}
    exec(code[1], to)  # noqa: S102 (a page of this repository)
    text = """<mujoco><option integrator="RK4"/><worldbody><body name="hull"><freejoint name="float"/>
      <inertial pos="0.1 0.2 -0.3" mass="2" fullinertia="1 1.5 2 0.1 -0.2 0.3"/></body></worldbody></mujoco>"""
    (tmp_path / "hull.xml").write_text(text)
    hull = art.load(tmp_path / "hull.xml")
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=7), rng.normal(size=6), rng.normal(size=6)
    q[:4] /= np.linalg.norm(q[:4])
    R, vdot = hull.pose("hull", q)[:3, :3], hull.forward_dynamics(q, v, tau)

    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = to["q_to_mujoco"](q), to["v_to_mujoco"](v, R)  # type: ignore[operator]
    data.qfrc_applied = to["v_to_mujoco"](tau, R)  # type: ignore[operator]
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(to["vdot_to_mujoco"](vdot, v, R), data.qacc, atol=1e-10)  # type: ignore[operator]
    np.testing.assert_allclose(to["vdot_from_mujoco"](data.qacc, v, R), vdot, atol=1e-10)  # type: ignore[operator]
    np.testing.assert_allclose(to["v_from_mujoco"](data.qvel, R), v, atol=1e-14)  # type: ignore[operator]
    np.testing.assert_array_equal(to["q_from_mujoco"](data.qpos), q)  # type: ignore[operator]

    twin = pinocchio.Model()
    free = twin.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "float")
    body = hull.description.bodies[0]
    inertia = pinocchio.Inertia(body.mass, np.array(body.com), body.inertia_matrix())
    twin.appendBodyToJoint(free, inertia, pinocchio.SE3.Identity())
    there = [to["q_to_pinocchio"](q), *(to["v_to_pinocchio"](x) for x in (v, tau))]  # type: ignore[operator]
    found = pinocchio.aba(twin, twin.createData(), *there)
    np.testing.assert_allclose(to["v_to_pinocchio"](found), vdot, atol=1e-10)  # type: ignore[operator]
    np.testing.assert_array_equal(to["q_from_pinocchio"](there[0]), q)  # type: ignore[operator]
