"""TOML: what is read, and what each mistake says."""

import math
from pathlib import Path

import casadi as ca
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.testing import assert_allclose

import articulus as art
import coupled_zoo
from articulus.errors import InputError, ModelError
from articulus.model.files import parse_toml, read_toml, toml_text, write_toml
from articulus.model.files.lump import lump_fixed
from articulus.model.files.toml.lines import key_lines
from articulus.model.files.toml.writer import attached_files
from articulus.model.mechanism import (
    Body,
    Coupling,
    CustomConstraint,
    CustomVelocityConstraint,
    Description,
    Harmonic,
    Limits,
    Lock,
    LoopJoint,
    Parameter,
    Polynomial,
    Pose,
    Prescribed,
    PrescribedPoint,
    Revolute,
    Rotor,
)

from .support import CRANE, descriptions, line_of, message


def test_crane() -> None:
    crane = parse_toml(CRANE, "crane.toml")
    lift = crane.connections[0]
    assert crane.bodies == (
        Body("boom", Parameter("payload", 2.0), (0.1, 0.0, 0.02), (1.0, 2.0, 2.5, 0.0, 0.0, 0.0)),
    )
    assert lift.joint == Revolute((0.0, 1.0, 0.0))
    assert lift.at == Pose((0.0, 0.0, 1.0), rpy=(math.pi / 2, 0.0, 0.0))
    assert lift.rotor == Rotor(0.003, 160.0, (0.0, 0.0, 1.0))
    assert lift.limits == Limits((-math.pi / 2,), (1.57,), (math.pi,), (100.0,))
    assert crane.frames[0].at == Pose((1.0, 2.0, 3.0))
    assert crane.source == "a sketch"


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(descriptions())
def test_round_trip(description: Description) -> None:
    again = parse_toml(toml_text(description))
    assert again == description
    assert repr(again) == repr(description)


def test_file_round_trip(tmp_path: Path) -> None:
    crane = parse_toml(CRANE)
    write_toml(crane, tmp_path / "crane.toml")
    write_toml(crane, tmp_path / "crane.toml")
    assert read_toml(tmp_path / "crane.toml") == crane
    assert [p.name for p in tmp_path.iterdir()] == ["crane.toml"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "crane.toml"
    place.write_text("old")
    monkeypatch.setattr("os.replace", _fail)
    with pytest.raises(InputError, match="cannot be written"):
        write_toml(parse_toml(CRANE), place)
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def _fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


MISTAKES = {
    "wrong dimension": ("com = [0.1, 0,", 'com = [0.1, "3 kg",', "body.boom.com[1]", "measures [kg], not [m]"),
    "wrong type": ("com = [0.1, 0,", "com = [0.1, true,", "body.boom.com[1]", "a number in m"),
    "nan": ("com = [0.1,", "com = [nan,", "body.boom.com[0]", "a number in m"),
    "inf": ("com = [0.1,", "com = [inf,", "body.boom.com", "finite"),
    "huge integer": ("com = [0.1,", f"com = [{'9' * 400},", "body.boom.com[0]", "a number in m"),
    "too short": ("[1, 2, 2.5]", "[1, 2]", "body.boom.inertia", "6 numbers"),
    "not a list": ("[1, 2, 2.5]", "3", "body.boom.inertia", "6 numbers"),
    "triangle": ("[1, 2, 2.5]", "[1, 2, 5]", "body.boom.inertia", "triangle"),
    "indefinite": ("[1, 2, 2.5]", "[1, 2, -1]", "body.boom.inertia", "positive"),
    "no mass": ('mass = {parameter = "payload"}', "", "body.boom", "massless"),
    "misspelled key": ("inertia = [1", "inertai = [1", "body.boom.inertai", "did you mean 'inertia'"),
    "misspelled type": ('"revolute"', '"revolut"', "joint.lift.type", "did you mean 'revolute'"),
    "no type": ('type = "revolute"', "", "joint.lift", "no type"),
    "no parent": ('parent = "ground"', "", "joint.lift", "no parent"),
    "no child": ('child = "boom"', "", "joint.lift", "no child"),
    "empty child": ('child = "boom"', 'child = ""', "joint.lift.child", "the name of a body"),
    "unknown parent": ('"ground"', '"grond"', "joint.lift.parent", "did you mean 'ground'"),
    "axis not unit": ("[0, 1, 0]", "[0, 2, 0]", "joint.lift.axis", "unit vector"),
    "zero axis": ("[0, 1, 0]", "[0, 0, 0]", "joint.lift.axis", "unit vector"),
    "parameter in an axis": ("axis = [0, 1, 0]", 'axis = [0, {parameter="payload"}, 0]', "joint.lift", "measures"),
    "two degrees of freedom": ("armature = 0.1", "armature = [1, 2]", "joint.lift.armature", "1 numbers"),
    "negative armature": ("armature = 0.1", "armature = -1", "joint.lift.armature", "at least 0"),
    "limits exchanged": ("upper = 1.57", "upper = -2", "joint.lift.limits.lower", "swapped"),
    "nan limit": ("upper = 1.57", "upper = nan", "joint.lift.limits.upper", "number"),
    "limits no table": ('limits = {lower = "-90 deg", upper = 1.57, velocity = "30 rpm", effort = 100}', "limits = 3", "joint.lift.limits", "a table"),
    "rotor without inertia": ("{inertia = 0.003, ", "{", "joint.lift.rotor", "no inertia"),
    "rpy and quaternion": ("rpy = [", "quaternion = [0, 1, 0, 0], rpy = [", "joint.lift.at", "not both"),
    "zero quaternion": ('rpy = ["90 deg", 0, 0]', "quaternion = [0, 0, 0, 0]", "joint.lift.at.quaternion", "zero"),
    "unknown parameter": ('parameter = "payload"', 'parameter = "paylod"', "body.boom.mass", "did you mean 'payload'"),
    "parameter of another dimension": ('"2 kg"', '"2 m"', "body.boom.mass", "[m], not [kg]"),
    "unused parameter": ('payload = "2 kg"', 'payload = "2 kg"\nspare = 1', "parameters.spare", "nothing uses"),
    "parameter name": ('payload = "2 kg"', 'payload = 1\n"a b" = 1', "parameters.a b", "letters"),
    "frame without body": ('body = "boom"', "", "frame.tool", "no body"),
    "frame on nothing": ('body = "boom"', 'body = "bom"', "frame.tool.body", "did you mean 'boom'"),
    "gravity": ("-9.81]", '"9.81 m/s"]', "gravity[2]", "m/s^2"),
    "unknown table": ("[frame.tool]", "[frames.tool]", "frames", "did you mean 'frame'"),
    "body not a table": ("[body.boom]", "[body]\nx = 3\n[body.boom]", "body.x", "a table"),
    "name missing": ('name = "crane"', "", "1", "no name"),
    "schema": ("schema = 1", "schema = 2", "schema", "schema = 1"),
    "schema missing": ("schema = 1\n", "", "crane.toml:1", "schema"),
    "syntax": ("[body.boom]", "[body.boom", "crane.toml:9", "syntax"),
    "duplicate table": ("[frame.tool]", "[body.boom]", "crane.toml", "syntax"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistake(case: str) -> None:
    old, new, where, reason = MISTAKES[case]
    assert old in CRANE
    text = message(lambda: parse_toml(CRANE.replace(old, new), "crane.toml"))
    assert text.startswith("crane.toml:")
    assert where in text
    assert reason in text


LINKAGE = (
    CRANE
    + """
[loop.pin]
type = "revolute"
parent = "ground"
child = "tool"
axis = [0, 1, 0]
at = [0, 0, "10 mm"]

[constraint.drive]
type = "prescribed"
joint = "lift"
motion = {type = "harmonic", amplitude = "10 deg", frequency = "2 Hz"}

[constraint.hold]
type = "lock"
joint = "lift"
values = "30 deg"

[constraint.path]
type = "prescribed_point"
frame = "tool"
z = {type = "polynomial", coefficients = [1, 2]}
x = "3 mm"
"""
)


def test_linkage() -> None:
    pin, drive, hold, path = parse_toml(LINKAGE).constraints
    assert pin == LoopJoint("pin", Revolute((0.0, 1.0, 0.0)), "ground", "tool", Pose((0.0, 0.0, 0.01)))
    assert drive == Prescribed("drive", "lift", Harmonic(math.radians(10), 4 * math.pi))
    assert hold == Lock("hold", "lift", math.radians(30))
    assert path == PrescribedPoint("path", "tool", x=0.003, z=Polynomial((1.0, 2.0)))


LINKAGE_MISTAKES = {
    "loop type": ('[loop.pin]\ntype = "revolute"', '[loop.pin]\ntype = "revolut"', "loop.pin.type", "'revolute'"),
    "loop side": ('child = "tool"', 'child = "tol"', "loop.pin.child", "did you mean 'tool'"),
    "loop key": ('at = [0, 0, "10 mm"]', "damping = 3", "loop.pin.damping", "unknown key"),
    "loop unit": ('"10 mm"', '"10 kg"', "loop.pin.at.xyz[2]", "[kg], not [m]"),
    "loop without child": ('child = "tool"', "", "loop.pin", "no child"),
    "free loop": ('[loop.pin]\ntype = "revolute"\nparent = "ground"\nchild = "tool"\naxis = [0, 1, 0]',
                  '[loop.pin]\ntype = "free"\nparent = "ground"\nchild = "tool"', "loop.pin.type", "closes nothing"),
    "constraint type": ('"lock"', '"loc"', "constraint.hold.type", "did you mean 'lock'"),
    "loop as constraint": ('"lock"', '"loop"', "constraint.hold.type", "[loop.name]"),
    "custom": ('"lock"', '"custom"', "constraint.hold.type", "valid names"),
    "unknown joint": ('joint = "lift"\nvalues', 'joint = "lft"\nvalues', "constraint.hold.joint", "'lift'"),
    "no values": ('values = "30 deg"', "", "constraint.hold", "no values"),
    "two values": ('values = "30 deg"', "values = [1, 2]", "constraint.hold.values", "a list of 1 numbers"),
    "values unit": ('"30 deg"', '"30 mm"', "constraint.hold.values", "[m], not [rad]"),
    "function type": ('"harmonic"', '"harmonics"', "constraint.drive.motion.type", "did you mean 'harmonic'"),
    "function unit": ('"2 Hz"', '"2 s"', "constraint.drive.motion.frequency", "[s], not"),
    "function key": ("frequency", "freqency", "constraint.drive.motion.freqency", "did you mean 'frequency'"),
    "no coefficients": ("[1, 2]}", "[]}", "constraint.path.z.coefficients", "at least one"),
    "a word": ('x = "3 mm"', 'x = "fast"', "constraint.path.x", "a number in m"),
    "name twice": ("[constraint.hold]", "[constraint.pin]", "constraint.pin", "a second time"),
}  # fmt: skip


@pytest.mark.parametrize("case", LINKAGE_MISTAKES)
def test_linkage_mistake(case: str) -> None:
    old, new, where, reason = LINKAGE_MISTAKES[case]
    assert old in LINKAGE
    text = message(lambda: parse_toml(LINKAGE.replace(old, new), "crane.toml"))
    assert text.startswith("crane.toml:")
    assert where in text
    assert reason in text


def test_functions_cannot_be_written() -> None:
    q, v, t = ca.SX.sym("q", 1), ca.SX.sym("v", 1), ca.SX.sym("t")
    held = parse_toml(CRANE)
    for constraint in (
        CustomConstraint("own", ca.Function("g", [q, t], [q - t])),
        CustomVelocityConstraint("own", ca.Function("g", [q, v, t], [v])),
        Prescribed("own", "lift", ca.Function("f", [t], [t])),
    ):
        d = Description.build(held.name, held.bodies, held.connections, constraints=(constraint,))
        with pytest.raises(InputError, match="cannot be written to a TOML file"):
            toml_text(d)


def test_lumped_bodies_keep_their_constraints() -> None:
    m = art.Mechanism("m").body("a", 1.0, inertia=(1, 1, 1)).body("b", 1.0, inertia=(1, 1, 1))
    m.joint("j", art.Revolute((0, 1, 0)), "ground", "a").joint("w", art.Fixed(), "a", "b", at=(1, 0, 0))
    m.loop("rail", art.Cylindrical((1, 0, 0)), "ground", "b", child_at=(0.3, 0, 0))
    lumped = art.Mechanism.from_description(lump_fixed(m.description))
    assert lumped.body_names == ("a",)
    assert_allclose(lumped.constraint_residual([0.2]), m.constraint_residual([0.2]), atol=1e-15)


def test_lines_of_mistakes() -> None:
    bad = CRANE.replace("[0, 1, 0]", "[0, 2, 0]").replace("[1, 2, 2.5]", "[\n  1,\n  2,\n  '5 m'\n]")
    text = message(lambda: parse_toml(bad, "crane.toml"))
    assert f"crane.toml:{line_of(bad, '5 m')}: body.boom.inertia[2]" in text
    assert f"crane.toml:{line_of(bad, 'axis = ')}: joint.lift.axis" in text


def test_all_mistakes_at_once() -> None:
    bad = CRANE
    for case in (
        "misspelled key",
        "axis not unit",
        "limits exchanged",
        "frame on nothing",
        "unused parameter",
    ):
        old, new, *_ = MISTAKES[case]
        bad = bad.replace(old, new)
    with pytest.raises(ModelError) as caught:
        parse_toml(bad, "crane.toml")
    text = str(caught.value)
    for part in ("inertai", "lift.axis", "limits.lower", "tool.body", "spare"):
        assert part in text
    lines = [int(f.where.split(":")[1]) for f in caught.value.findings]
    assert lines == sorted(lines)


def test_no_findings_that_only_follow() -> None:
    text = message(lambda: parse_toml(CRANE.replace('"revolute"', '"revolut"'), "crane.toml"))
    assert text.count("\n") == 0


def test_key_lines() -> None:
    text = """a = 1
[t."x.y"]
b.c = {d = [1,
  2], 'e f' = "]#"}  # } comment
s = '''
]'''
[[u]]
"q" = \"\"\"
x = 1
\"\"\"
z = -1e3
[[u]]
[u.w]
q = 1
"""
    lines = key_lines(text)
    assert lines["a"] == 1
    assert lines["t.x.y"] == 2
    assert lines["t.x.y.b.c.d"] == 3
    assert lines["t.x.y.b.c.d[1]"] == 4
    assert lines["t.x.y.b.c.e f"] == 4
    assert lines["t.x.y.s"] == 5
    assert lines["u"] == 7
    assert lines["u[0].q"] == 8
    assert lines["u[0].z"] == 11
    assert lines["u[1].w.q"] == 14
    assert "x" not in lines


@pytest.mark.parametrize(
    "deep", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{b = " * 5000 + "1" + "}" * 5000]
)
def test_deep_nesting(deep: str) -> None:
    assert "deep.toml" in message(lambda: parse_toml(f"schema = 1\n{deep}\n", "deep.toml"))


def test_integer_of_thousands_of_digits() -> None:
    assert "big.toml" in message(lambda: parse_toml(f"schema = 1\na = {'1' * 9999}\n", "big.toml"))


def test_a_text_that_is_no_unicode_is_not_written(tmp_path: Path) -> None:
    crane = parse_toml(CRANE)
    odd = Description.build("\ud800", crane.bodies, crane.connections)
    with pytest.raises(InputError, match="UTF-8"):
        write_toml(odd, tmp_path / "odd.toml")


def test_too_many_bodies_are_refused() -> None:
    text = 'schema = 1\nname = "crowd"\n' + "".join(f"[body.b{i}]\n" for i in range(20_001))
    assert "model.toml:3: body: found 20001 bodies; expected at most 20000" in message(
        lambda: parse_toml(text)
    )


COUPLED = (
    CRANE
    + """
[body.rack]
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]

[joint.slide]
type = "prismatic"
parent = "ground"
child = "rack"

[coupling.slide]
to = "lift"
ratio = "20 mm/rad"
offset = "10 mm"
"""
)


def test_coupling_has_the_units_of_its_joints() -> None:
    crane = parse_toml(COUPLED)
    assert crane.couplings == (Coupling("slide", "lift", 0.02, 0.01),)
    assert crane.coordinate_names() == ("lift",)
    assert parse_toml(toml_text(crane)) == crane


def test_couplings_of_every_kind_come_back() -> None:
    for name in coupled_zoo.ALL:
        d = coupled_zoo.get(name).coupled.description
        attached = attached_files(d)
        assert repr(parse_toml(toml_text(d), attached=attached.__getitem__)) == repr(d)


COUPLING_MISTAKES = {
    "unknown joint": ('to = "lift"', 'to = "lft"', "coupling.slide.to", "did you mean 'lift'"),
    "no joint": ('to = "lift"\n', "", "coupling.slide", "no to"),
    "a number": ('to = "lift"', "to = 3", "coupling.slide.to", "a list of joints"),
    "coupled joint": ("[coupling.slide]", "[coupling.slde]", "coupling.slde", "did you mean 'slide'"),
    "unit of ratio": ('"20 mm/rad"', '"20 mm"', "coupling.slide.ratio", "[m], not [m/rad]"),
    "unit of offset": ('"10 mm"', '"10 deg"', "coupling.slide.offset", "[rad], not [m]"),
    "count": ('"20 mm/rad"', "[1, 2]", "coupling.slide.ratio", "a list of 1 numbers"),
    "key": ("offset", "ofset", "coupling.slide.ofset", "did you mean 'offset'"),
    "both": ('offset = "10 mm"', "polynomial = [0, 1, 2]", "coupling.slide.polynomial", "the polynomial alone"),
    "no table": ("[coupling.slide]\n", "[coupling]\n", "coupling.to", "a table"),
}  # fmt: skip


@pytest.mark.parametrize("case", COUPLING_MISTAKES)
def test_coupling_mistake(case: str) -> None:
    old, new, where, reason = COUPLING_MISTAKES[case]
    assert old in COUPLED
    text = message(lambda: parse_toml(COUPLED.replace(old, new), "crane.toml"))
    assert text.startswith("crane.toml:")
    assert where in text
    assert reason in text


def test_lumped_bodies_keep_their_couplings() -> None:
    crane = parse_toml(COUPLED.replace('{parameter = "payload"}', "2.0").replace('payload = "2 kg"', ""))
    assert lump_fixed(crane).couplings == crane.couplings
