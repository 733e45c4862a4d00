"""URDF: each of the 18 clear-cut defects is refused with file, line, element and reason; judgement cases decided."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import articulus as art
from articulus.errors import DoubtfulModel, Finding, ModelError, UnsupportedOperation
from articulus.model.files import parse_toml, parse_urdf, read_urdf, toml_text
from articulus.model.mechanism import Coupling, Fixed, Free

from .support import ARM, INERTIAL, line_of, message

NAME = "arm.urdf"
SECOND = ARM.index(INERTIAL, ARM.index(INERTIAL) + 1)


def lower(old: str, new: str) -> str:
    """Return the arm with a change in its last link or in a joint."""
    assert old in ARM[SECOND:]
    return ARM[:SECOND] + ARM[SECOND:].replace(old, new, 1)


LOOP = """<joint name="ring" type="fixed"><parent link="lower"/><child link="upper"/></joint>"""

# name: text, what the line holds, element, reason
DEFECTS = {
    "truncated": (ARM[: ARM.index("<dynamics")], None, "joint name='shoulder'", "syntax"),
    "mismatched tag": (ARM.replace("</inertial>", "</inertal>", 1), "</inertal>", "<inertial>", "mismatched"),
    "empty": ("", None, "an XML file", "empty"),
    "negative mass": (lower('value="2"', 'value="-2"'), "<mass value=\"-2\"", "link.lower.mass", "mass > 0"),
    "mass nan": (lower('value="2"', 'value="nan"'), 'value="nan"', "link.lower.mass", "finite"),
    "mass one kilo": (lower('value="2"', 'value="one kilo"'), "one kilo", "link.lower.mass", "number"),
    "indefinite inertia": (lower('ixx="1"', 'ixx="-1"'), 'ixx="-1"', "link.lower.inertia", "positive"),
    "triangle": (lower('izz="2.5"', 'izz="9"'), 'izz="9"', "link.lower.inertia", "triangle"),
    "kinematic loop": (ARM.replace("</robot>", LOOP + "</robot>"), "ring", "joint.ring", "loop"),
    "two roots": (ARM.replace("</robot>", '<link name="stray"/></robot>'), "stray", "link.stray", "root"),
    "duplicate link": (ARM.replace('<link name="lower">', '<link name="upper">'), None, "link.upper", "second"),
    "parent link missing": (ARM.replace('parent link="base"', 'parent link="bse"'), "bse", "joint.shoulder.parent", "link"),
    "zero axis": (ARM.replace("0 1 0", "0 0 0"), '<axis xyz="0 0 0"', "joint.shoulder.axis", "direction"),
    "unknown joint type": (ARM.replace('"revolute"', '"hinge"'), "hinge", "joint.shoulder.type", "revolute"),
    "lower above upper": (ARM.replace('lower="-1"', 'lower="2"'), 'lower="2"', "joint.shoulder.limits.lower", "swapped"),
    "two numbers in xyz": (ARM.replace('xyz="1 0 0"', 'xyz="1 0"'), 'xyz="1 0"', "joint.elbow.origin", "3 finite"),
    "joint to itself": (ARM.replace('child link="lower"', 'child link="upper"'), None, "joint.elbow.child", "its parent"),
    "origin inf": (ARM.replace('xyz="1 0 0"', 'xyz="inf 0 0"'), "inf 0 0", "joint.elbow.origin", "finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", DEFECTS)
def test_defect_is_refused(case: str, tmp_path: Path) -> None:
    text, spot, element, reason = DEFECTS[case]
    place = tmp_path / NAME
    place.write_text(text)
    said = message(lambda: read_urdf(place))
    assert element in said
    assert reason in said
    line = f"{NAME}:{line_of(text, spot)}:" if spot else f"{NAME}:"
    assert line in said
    assert said.split(":")[1].isdigit()


def test_there_are_eighteen() -> None:
    assert len(DEFECTS) == 18


NUMBERS = ["1.5kg", "1_0", "0x10", "1e999", "1,5", "", "1 2", "--1", "1e", "infinity", "٣", "1.0f"]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_strict(number: str) -> None:
    assert f"{NAME}:{line_of(ARM, '<mass')}" in message(
        lambda: parse_urdf(ARM.replace('<mass value="2"', f'<mass value="{number}"', 1), NAME)
    )


# judgement cases: doubtful, so loaded with one warning, and refused by strict=True


def doubt(text: str, kind: str, **options: Any) -> Finding:
    """Return the one finding of its kind with which a text is loaded; strict reading refuses it with the same words."""
    with pytest.warns(DoubtfulModel, match=kind) as caught:
        found = parse_urdf(text, NAME, **options)
    assert len(caught) == 1
    (finding,) = [f for f in found.findings if f.kind == kind]
    assert str(finding) in message(lambda: parse_urdf(text, NAME, strict=True, **options))
    return finding


def test_revolute_without_limit_is_doubtful_as_the_specification_demands_one() -> None:
    said = str(
        doubt(ARM.replace('<limit lower="-1" upper="1" effort="10" velocity="3"/>', ""), "missing limit")
    )
    assert "joint.shoulder" in said
    assert "specification" in said
    assert "continuous" in said


def test_limit_without_effort_has_none() -> None:
    text = ARM.replace(' effort="10"', "")
    assert "without effort" in str(doubt(text, "missing limit"))
    with pytest.warns(DoubtfulModel):
        assert parse_urdf(text).connections[1].limits.effort == (math.inf,)


def test_massless_moving_leaf_has_no_forward_dynamics() -> None:
    text = ARM[:SECOND] + ARM[SECOND:].replace(INERTIAL, "")
    finding = doubt(text, "massless joint")
    line = line_of(text, '<joint name="elbow"')
    assert finding.where == f"{NAME}:{line}: joint.elbow"
    assert "moves no mass" in finding.found
    with pytest.warns(DoubtfulModel):
        arm = art.Mechanism.from_description(parse_urdf(text, NAME))
    np.testing.assert_allclose(arm.mass_matrix([0.3, 0.2])[1], 0.0, atol=1e-15)
    for ask in (
        lambda: arm.forward_dynamics([0.3, 0.2], [0.0, 0.0], [0.0, 0.0]),
        lambda: arm.mass_matrix_inverse([0.3, 0.2]),
        lambda: arm.linearize(),
        lambda: art.simulate(arm, 0.1),
    ):
        with pytest.raises(UnsupportedOperation, match="'elbow'"):
            ask()
    elsewhere = arm.frame("tip", "lower")  # building on keeps the mark
    assert elsewhere.description.connections[2].massless
    assert parse_toml(toml_text(arm.description)).connections == arm.description.connections


@pytest.mark.parametrize(
    ("old", "new"),
    [('izz="2.5"', 'izz="3.2"'), ('ixy="0"', 'ixy="1.6"'), ('ixx="1"', 'ixx="0"')],
    ids=["triangle", "indefinite by products", "no moment"],
)
def test_doubtful_inertia_is_kept_as_it_is(old: str, new: str) -> None:
    text = lower(old, new).replace('<mass value="2"/>', '<mass value="200"/>')
    finding = doubt(text, "doubtful inertia")
    assert finding.where.endswith("link.lower.inertia")
    with pytest.warns(DoubtfulModel):
        arm = parse_urdf(text, NAME)
    model = pin.buildModelFromXML(text)
    ours, theirs = arm.bodies[2], model.inertias[2]
    assert ours.doubtful
    np.testing.assert_allclose(ours.inertia_matrix(), theirs.inertia, rtol=1e-14, atol=1e-15)
    assert parse_toml(toml_text(arm)) == arm


def test_dummy_link_welded_to_a_heavy_one_may_have_any_inertia() -> None:
    weld = '<joint name="weld" type="fixed"><parent link="lower"/><child link="dummy"/></joint></robot>'
    inertial = (
        '<mass value="1e-6"/><inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="1e-6"/>'
    )
    dummy = f'<link name="dummy"><inertial>{inertial}</inertial></link>'
    doubt(ARM.replace("</robot>", dummy + weld), "doubtful inertia")
    turned = weld.replace("fixed", "continuous")
    assert "link.dummy.inertia" in message(lambda: parse_urdf(ARM.replace("</robot>", dummy + turned), NAME))


def test_indefinite_mass_matrix_is_refused_with_the_joint() -> None:
    # no moment about the link's own axes is negative, that about the elbow's axis is: (1.2 + 1.2) / 2 - 1.5
    inertial = """<inertial><mass value="2"/><inertia ixx="1.2" iyy="2" izz="1.2" ixy="0" ixz="1.5" iyz="0"/></inertial>"""
    text = ARM[:SECOND] + ARM[SECOND:].replace(INERTIAL, inertial).replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="1 0 -1"/>'
    )
    said = message(lambda: parse_urdf(text, NAME))
    assert "joint.elbow" in said
    assert "not positive definite" in said


def test_massless_inner_link_may_move_when_mass_hangs_behind_it() -> None:
    arm = parse_urdf(ARM.replace(INERTIAL, "", 1), NAME)
    assert arm.bodies[1].massless == "no inertial in the URDF"


def test_massless_leaf_behind_a_fixed_joint_is_a_frame_with_a_name() -> None:
    tool = '<link name="tool"/><joint name="grip" type="fixed"><parent link="lower"/><child link="tool"/></joint>'
    arm = parse_urdf(ARM.replace("</robot>", tool + "</robot>"), NAME)
    assert arm.bodies[-1].name == "tool"
    assert arm.bodies[-1].massless


def test_free_base_needs_mass_on_its_base() -> None:
    assert doubt(ARM, "massless joint", base="free").where.endswith("joint.floating_base")
    heavy = ARM.replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link>')
    arm = parse_urdf(heavy, base="free")
    assert arm == parse_urdf(heavy, base="floating")
    assert isinstance(arm.connections[0].joint, Free)
    dummy = ARM.replace(
        '<link name="base"/>',
        f'<link name="base"/><link name="hull">{INERTIAL}</link>'
        '<joint name="weld" type="fixed"><parent link="base"/><child link="hull"/></joint>',
    )
    assert parse_urdf(dummy, base="free").nv == 8


def test_utf16_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(ARM.encode("utf-16"))
    assert "UTF-16" in message(lambda: read_urdf(tmp_path / NAME))
    (tmp_path / NAME).write_bytes(ARM.replace('"lower"', '"l\xf6wer"').encode("latin-1"))
    assert f"{NAME}:11:" in message(lambda: read_urdf(tmp_path / NAME))


def test_deep_nesting_is_refused() -> None:
    text = "<robot name='r'>" + "<a>" * 20_000 + "</a>" * 20_000 + "</robot>"
    assert "levels" in message(lambda: parse_urdf(text, NAME))


def chain(count: int, parent: str = "l{}") -> str:
    links = "".join(f'<link name="l{i}">{INERTIAL}</link>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><origin xyz="0 0 1"/><parent link="{parent.format(i)}"/>'
        f'<child link="l{i + 1}"/></joint>'
        for i in range(count - 1)
    )
    return f"<robot name='chain'>{links}{joints}</robot>"


def test_a_chain_of_1500_links_is_read() -> None:
    assert parse_urdf(chain(1500), NAME).nv == 1499


def test_a_star_of_1500_links_is_read() -> None:
    assert parse_urdf(chain(1500, "l0"), NAME).nv == 1499


def test_too_many_links_are_refused() -> None:
    text = "<robot name='r'>" + "<link name='a'/>" * 20_001 + "</robot>"
    assert "at most 20000" in message(lambda: parse_urdf(text, NAME))


@pytest.mark.parametrize("mass", ["0", "-2"])
def test_hint_of_a_mass_that_is_not_positive_is_one_for_urdf(mass: str) -> None:
    said = message(lambda: parse_urdf(lower('value="2"', f'value="{mass}"'), NAME, strict=True))
    assert "Delete <inertial> for a link that is only a frame." in said
    assert "massless" not in said


DOCTYPES = [
    "<!DOCTYPE robot>",
    '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
]


@pytest.mark.parametrize("declaration", DOCTYPES)
def test_doctype_is_refused(declaration: str) -> None:
    text = ARM.replace("<robot", declaration + "\n<robot")
    assert f"{NAME}:2" in message(lambda: parse_urdf(text, NAME))


# mesh paths

MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual></link>'


def with_mesh(filename: str) -> str:
    return ARM.replace("</link>", MESH.format(filename), 1)


@pytest.mark.parametrize(
    "filename",
    ["../x.stl", "a/../../x.stl", "/etc/x.stl", "file:///etc/x.stl", "package://p/../../x.stl", "..\\x.stl", "http://h/x.stl",
     "package://../x.stl", "package://known/../../x.stl", "link/x.stl"],
)  # fmt: skip
def test_mesh_outside_is_not_read(filename: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")
    (folder / NAME).write_text(with_mesh(filename))
    with pytest.warns(DoubtfulModel, match="1 foreign path"):
        assert read_urdf(folder / NAME, package_roots={"known": folder}).nv == 2
    said = message(lambda: read_urdf(folder / NAME, package_roots={"known": folder}, strict=True))
    assert "link.upper.visual[0].mesh" in said
    if not filename.startswith(("package://known", "link/")):
        assert "link.upper.visual[0].mesh" in message(
            lambda: parse_urdf(with_mesh(filename), NAME, strict=True)
        )


@pytest.mark.parametrize(
    "filename", ["x.stl", "a/b/../x.stl", "package://p/a/x.stl", "package://known/m/x.stl"]
)
def test_mesh_inside_is_accepted(filename: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(with_mesh(filename))
    with pytest.warns(DoubtfulModel, match="1 mesh"):
        found = read_urdf(tmp_path / NAME, package_roots={"known": tmp_path / "other"})
    assert "no such file" in found.findings[0].found


def test_mesh_beside_the_folder_is_accepted_when_its_root_is_declared(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / NAME).write_text(with_mesh("../meshes/x.stl"))
    with pytest.warns(DoubtfulModel, match="1 mesh"):
        found = read_urdf(folder / NAME, package_roots={"arm": tmp_path})
    assert "no such file" in found.findings[0].found


# further refusals

MORE = {
    "misspelled child": (ARM.replace("<limit ", "<limits "), "did you mean 'limit'"),
    "misspelled attribute": (ARM.replace("lower=", "lowr="), "did you mean 'lower'"),
    "misspelled link": (ARM.replace('<link name="base"/>', '<lnk name="base"/>'), "did you mean 'link'"),
    "second inertial": (ARM.replace("</inertial>", "</inertial><inertial/>", 1), "a second <inertial>"),
    "inertial without mass": (ARM.replace('<mass value="2"/>', "", 1), "without <mass>"),
    "inertia without iyz": (ARM.replace(' iyz="0"', "", 1), "without iyz"),
    "joint without child": (ARM.replace('<child link="lower"/>', ""), "without <child>"),
    "joint without name": (ARM.replace('name="elbow" ', ""), "without a name"),
    "second joint": (ARM.replace('"elbow"', '"shoulder"'), "a second joint 'shoulder'"),
    "negative damping": (ARM.replace('damping="0.1"', 'damping="-1"'), "joint.shoulder.damping"),
    "parent named ground": (ARM.replace('parent link="base"', 'parent link="ground"'), "the name of a link"),
    "link named ground": (ARM.replace('"upper"', '"ground"'), "the fixed world"),
    "not a robot": (ARM.replace("robot", "robbot"), "<robot>"),
    "xacro": (ARM.replace("<robot ", '<robot xmlns:xacro="x" ').replace("</robot>", "<xacro:m/></robot>"), "xacro"),
    "loop joint": (ARM.replace("</robot>", "<loop_joint/></robot>"), "loop_joint"),
    "no link": ("<robot name='r'/>", "no link"),
    "cycle without root": (ARM.replace('parent link="base"', 'parent link="lower"').replace('<link name="base"/>', ""), "cycle"),
    "damped floating joint": (ARM.replace('"revolute"', '"floating"'), "<dynamics>"),
}  # fmt: skip

DOUBTFUL = ("misspelled child", "misspelled attribute", "link named ground")


@pytest.mark.parametrize("case", MORE)
def test_further_refusal(case: str) -> None:
    text, reason = MORE[case]
    said = message(lambda: parse_urdf(text, NAME, strict=case in DOUBTFUL))
    assert said.startswith(f"{NAME}:")
    assert reason in said


@pytest.mark.parametrize("case", DOUBTFUL)
def test_further_doubt(case: str) -> None:
    text, reason = MORE[case]
    with pytest.warns(DoubtfulModel) as caught:
        arm = parse_urdf(text, NAME)
    assert len(caught) == 1
    assert arm.nv == 2
    assert any(reason in str(f) for f in arm.findings)


def test_all_mistakes_at_once() -> None:
    text = lower('value="2"', 'value="x"').replace("0 1 0", "0 0 0").replace("<limit ", "<limits ")
    with pytest.raises(ModelError) as caught:
        parse_urdf(text, NAME)
    assert {"link.lower.mass", "joint.shoulder.axis"} <= {
        f.where.split(": ")[1] for f in caught.value.findings
    }


def mimicking(more: str) -> str:
    return ARM.replace('<child link="lower"/>', f'<child link="lower"/><mimic {more}/>')


def test_mimic_is_a_coupling() -> None:
    text = mimicking('joint="shoulder" multiplier="-2" offset="0.1"')
    arm = parse_urdf(text, NAME)
    assert arm.couplings == (Coupling("elbow", ("shoulder",), (-2.0,), 0.1),)
    assert arm.nv == 1
    assert parse_urdf(mimicking('joint="shoulder"'), NAME).couplings[0].ratio == (1.0,)
    assert parse_urdf(text, NAME, mimic="independent").nv == 2


def test_mimic_of_nothing_that_moves_is_dropped() -> None:
    text = mimicking('joint="shouldr"')
    assert "did you mean 'shoulder'" in str(doubt(text, "dropped mimic"))
    weld = '<joint name="weld" type="fixed"><parent link="lower"/><child link="tip"/><mimic joint="elbow"/></joint>'
    doubt(ARM.replace("</robot>", f'<link name="tip"/>{weld}</robot>'), "dropped mimic")


@pytest.mark.parametrize("more", ['joint="elbow"', "", 'joint="shoulder" multiplier="x"'])
def test_wrong_mimic_is_refused(more: str) -> None:
    line = line_of(mimicking(more), "<mimic")
    assert f"{NAME}:{line}: mimic.elbow" in message(lambda: parse_urdf(mimicking(more), NAME))


def test_massless_links_may_follow_others() -> None:
    text = ARM[:SECOND] + ARM[SECOND:].replace(INERTIAL, "")
    text = text.replace('<child link="lower"/>', '<child link="lower"/><mimic joint="shoulder"/>')
    arm = art.Mechanism.from_description(parse_urdf(text, NAME))
    assert not arm.findings
    assert np.isfinite(arm.forward_dynamics([0.3], [0.1], [0.0])).all()


def test_a_root_named_ground_is_the_ground() -> None:
    arm = parse_urdf(ARM.replace('"base"', '"ground"'), NAME)
    assert [b.name for b in arm.bodies] == ["upper", "lower"]
    assert not any(isinstance(c.joint, Fixed) for c in arm.connections)
