"""Whatever is wrong with a mechanism is refused, with where, what was found and what was expected."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import Body, Connection, Description, Frame

GOOD = (0.2, 0.2, 0.2, 0.0, 0.0, 0.0)
HINGE = art.Revolute((0.0, 1.0, 0.0))


def body(name="rod", **changes):
    return Body(name, **{"mass": 1.0, "inertia": GOOD} | changes)


def joint(name="hinge", parent="ground", child="rod", **changes):
    return Connection(name, **{"joint": HINGE, "parent": parent, "child": child} | changes)


def findings(bodies=(), joints=(), frames=(), **options):
    """Return what is said against a mechanism; an empty list when it is accepted."""
    try:
        Description.build(
            "m", tuple(bodies) or (body(),), tuple(joints) or (joint(),), tuple(frames), **options
        )
    except art.ModelError as error:
        return list(error.findings)
    return []


def only(found):
    assert len(found) == 1, [str(f) for f in found]
    return str(found[0])


def test_good_mechanism_is_accepted():
    assert findings() == []


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"mass": -1.0}, "body.rod.mass", "found -1 kg; expected mass > 0"),
        ({"mass": 0.0}, "body.rod.mass", 'massless = "reason"'),
        ({"inertia": (-1.0, 1.0, 1.0, 0, 0, 0)}, "body.rod.inertia", "positive definite"),
        ({"inertia": (0.0,) * 6}, "body.rod.inertia", "positive definite"),
        ({"inertia": (1.0, 1.0, 1.0, 2.0, 0, 0)}, "body.rod.inertia", "principal moments -1"),
        ({"inertia": (1.0, 1.0, 3.0, 0, 0, 0)}, "body.rod.inertia", "triangle inequality"),
        ({"massless": "a marker"}, "body.rod.mass", "zero, because massless = 'a marker'"),
        ({"mass": art.Parameter("m", -2.0)}, "body.rod.mass", "found -2 kg"),
    ],
)
def test_bodies_that_cannot_be(changes, where, words):
    found = findings([body(**changes)])
    assert found[0].where == where
    assert words in str(found[0])


def test_flat_plate_is_a_body():
    """The triangle inequality holds with equality for a plate, and printed digits may overshoot it a little."""
    assert findings([body(inertia=(1.0, 1.0, 2.0, 0, 0, 0))]) == []
    assert findings([body(inertia=(1.0, 1.0, 2.0 + 1e-6, 0, 0, 0))]) == []


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"armature": (-1.0,)}, "joint.hinge.armature", "at least 0"),
        ({"damping": (-1.0,)}, "joint.hinge.damping", "at least 0"),
        ({"coulomb": (-1.0,)}, "joint.hinge.coulomb", "at least 0"),
        ({"stiffness": (-1.0,)}, "joint.hinge.stiffness", "at least 0"),
        ({"coulomb_speed": 0.0}, "joint.hinge.coulomb_speed", "more than 0"),
        ({"joint": art.Spherical(), "stiffness": (1.0, 1, 1)}, "joint.hinge.stiffness", "no linear spring"),
        ({"joint": art.Free(), "stiffness": (1.0,) * 6}, "joint.hinge.stiffness", "on a free joint"),
        (
            {"joint": art.Universal(), "rotor": art.Rotor(0.1)},
            "joint.hinge.rotor",
            "with 2 degrees of freedom",
        ),
        ({"joint": art.Fixed(), "rotor": art.Rotor(0.1)}, "joint.hinge.rotor", "with 0 degrees of freedom"),
        ({"rotor": art.Rotor(-0.1)}, "joint.hinge.rotor.inertia", "at least 0"),
        ({"rotor": art.Rotor(0.1, 1.0, (0.0, 0.0, 2.0))}, "joint.hinge.rotor.axis", "of length 2"),
        (
            {"limits": art.Limits(lower=(1.0,), upper=(-1.0,))},
            "joint.hinge.limits.lower",
            "1 above upper = -1",
        ),
        ({"limits": art.Limits(velocity=(-1.0,))}, "joint.hinge.limits.velocity", "at least 0"),
        ({"limits": art.Limits(effort=(math.nan,))}, "joint.hinge.limits.effort", "found nan"),
    ],
)
def test_joints_that_cannot_be(changes, where, words):
    found = findings(joints=[joint(**changes)])
    assert found[0].where == where
    assert words in only(found)


@pytest.mark.parametrize("kind", [art.Revolute, art.Prismatic, art.Helical, art.Cylindrical, art.Universal])
def test_axis_has_to_be_a_unit_vector(kind):
    with pytest.raises(art.InputError, match=r"length 2; expected a unit vector. Divide it by its length"):
        kind((0.0, 0.0, 2.0))
    with pytest.raises(art.InputError, match="A zero axis has no direction"):
        kind((0.0, 0.0, 0.0))
    with pytest.raises(art.InputError, match="axis"):
        kind((0.0, math.nan, 1.0))
    with pytest.raises(art.InputError, match="expected 3 numbers, found 2"):
        kind((0.0, 1.0))


def test_axes_of_a_cross_are_different():
    with pytest.raises(art.InputError, match="are parallel"):
        art.Universal((1, 0, 0), (-1, 0, 0))


def test_axis_is_kept_as_given_or_made_exactly_unit():
    assert art.Revolute((0, 0, 1)).axis == (0.0, 0.0, 1.0)
    almost = art.Revolute((0.6, 0.0, 0.8000001)).axis
    assert np.linalg.norm(almost) == pytest.approx(1.0, abs=1e-15)


# names and topology


def test_duplicate_names():
    assert "the name 'rod' a second time" in str(findings([body(), body()])[0])
    two = [body("a"), body("b")]
    found = findings(two, [joint("j", child="a"), joint("j", child="b")])
    assert only(found) == "joint.j: found the name 'j' a second time; expected unique names"
    assert "the name 'rod' a second time" in only(findings(frames=[Frame("rod", "rod")]))


def test_reserved_and_unprintable_names():
    assert "it is the fixed world" in str(findings([body("ground")], [joint(child="ground")])[0])
    for name in ("", " rod", "rod\n", "a\x00b"):
        assert any("printable name" in str(f) for f in findings([body(name)], [joint(child=name)]))


def test_names_may_be_in_any_script():
    assert (
        findings([body("Ausleger-größe/1 (links)")], [joint("关节", child="Ausleger-größe/1 (links)")]) == []
    )


def test_unknown_bodies_are_guessed():
    found = findings([body("boom"), body("arm")], [joint("a", child="boom"), joint("b", "bom", "arm")])
    assert "found 'bom'; expected the name of a body. did you mean 'boom'?" in only(found)
    assert "did you mean 'rod'?" in only(findings(frames=[Frame("tip", "rood")]))
    assert any("joint.hinge.child" in str(f) for f in findings(joints=[joint(child="nobody")]))
    assert any("did you mean 'ground'?" in str(f) for f in findings(joints=[joint(parent="groud")]))


def test_cycle_is_shown():
    bodies = [body("a"), body("b"), body("c")]
    found = findings(bodies, [joint("ab", "a", "b"), joint("bc", "b", "c"), joint("ca", "c", "a")])
    text = only(found)
    assert "a cycle" in text
    assert all(name in text for name in "abc")


def test_cycle_beside_a_good_tree():
    bodies = [body("good"), body("a"), body("b")]
    found = findings(bodies, [joint("g", child="good"), joint("ab", "a", "b"), joint("ba", "b", "a")])
    assert "a cycle" in only(found)


def test_orphan_self_joint_and_second_parent():
    assert "no joint that carries it" in only(findings([body(), body("lost")]))
    assert any("which is also its parent" in str(f) for f in findings(joints=[joint(parent="rod")]))
    bodies = [body("a"), body("b")]
    twice = [joint("1", child="a"), joint("2", child="b"), joint("3", "a", "b")]
    assert "which joint '2' already carries" in only(findings(bodies, twice))


def test_mechanism_without_bodies():
    with pytest.raises(art.ModelError, match="no body at all"):
        Description.build("m", (), ())


def test_two_values_of_one_parameter():
    a, b = art.Parameter("size", 1.0), art.Parameter("size", 2.0)
    assert "two values, 1.0 and 2.0" in only(findings([body(mass=a, com=(b, 0, 0))]))
    assert findings([body(mass=a, com=(art.Parameter("size", 1.0), 0, 0))]) == []


def test_parameter_names_and_values():
    for name in ("", "two words", "1st", "a-b"):
        with pytest.raises(art.InputError, match="letters, digits and underscores"):
            art.Parameter(name, 1.0)
    for value in (math.nan, math.inf):
        with pytest.raises(art.InputError, match="not finite"):
            art.Parameter("a", value)


def test_all_findings_at_once():
    bodies = [body("a", mass=-1.0), body("b", inertia=(1.0, 1, 9, 0, 0, 0)), body("lost")]
    joints = [joint("1", child="a", damping=(-1.0,)), joint("2", "aa", "b")]
    found = findings(bodies, joints, [Frame("tip", "nowhere")], gravity=(0.0, math.nan, 0.0))
    places = {f.where for f in found}
    expected = {
        "gravity",
        "body.a.mass",
        "body.b.inertia",
        "joint.1.damping",
        "joint.2.parent",
        "frame.tip.body",
    }
    assert expected | {"body.lost"} <= places
    with pytest.raises(art.ModelError) as error:
        Description.build("m", tuple(bodies), tuple(joints))
    assert len(str(error.value).splitlines()) == len(error.value.findings)


def test_locate_tells_the_place_in_a_file():
    with pytest.raises(art.ModelError, match=r"^crane.toml:7: body.rod.mass: found -1 kg"):
        Description.build("m", (body(mass=-1.0),), (joint(),), locate=lambda path: f"crane.toml:7: {path}")


# numbers that are not finite


def poisoned(thing, value):
    """Yield (name, function that makes a copy) with one number of a dataclass replaced, for every number in it."""
    for field in dataclasses.fields(thing):
        held = getattr(thing, field.name)
        replaced = functools.partial(lambda name, x: dataclasses.replace(thing, **{name: x}), field.name)
        if isinstance(held, float):
            yield field.name, functools.partial(replaced, value)
        elif isinstance(held, tuple) and held and all(isinstance(x, (int, float)) for x in held):
            for i in range(len(held)):
                yield f"{field.name}[{i}]", functools.partial(replaced, (*held[:i], value, *held[i + 1 :]))
        elif dataclasses.is_dataclass(held) and not isinstance(held, art.mechanism.Joint):
            for name, make in poisoned(held, value):
                yield f"{field.name}.{name}", lambda make=make, replaced=replaced: replaced(make())


def refused(option, make):
    """Return whether the object cannot be made, or no mechanism be built with it."""
    try:
        return bool(findings(**{option: [make()]}))
    except art.InputError:
        return True


FULL = joint(
    at=art.Pose((1.0, 2, 3), rpy=(0.1, 0.2, 0.3)),
    child_at=art.Pose((1.0, 2, 3), quaternion=(1.0, 2, 3, 4)),
    armature=(0.1,),
    damping=(0.1,),
    coulomb=(0.1,),
    stiffness=(0.1,),
    rest=(0.1,),
    rotor=art.Rotor(0.1, 3.0, (0.0, 0.0, 1.0)),
    limits=art.Limits((-1.0,), (1.0,), (1.0,), (1.0,)),
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_finite_anywhere_is_refused(value):
    """Every single number of a body, a joint with everything on it, a frame and gravity (limits may be infinite)."""
    cases = [("bodies", *case) for case in poisoned(body(com=(0.1, 0.2, 0.3)), value)]
    cases += [("joints", *case) for case in poisoned(FULL, value)]
    cases += [("frames", *case) for case in poisoned(Frame("f", "rod", FULL.at), value)]
    assert len(cases) > 45
    assert findings(gravity=(0.0, value, 0.0))
    accepted = [f"{option}.{name}" for option, name, make in cases if not refused(option, make)]
    infinite_limits = [n for n in accepted if n.startswith("joints.limits") and math.isinf(value)]
    assert [n for n in accepted if n not in infinite_limits] == []


@pytest.mark.parametrize("field", ["lower", "upper"])
def test_limit_that_is_not_a_number_is_refused(field):
    assert findings(joints=[joint(limits=art.Limits(**{field: (math.nan,)}))])


# numbers of the wrong form or count


@pytest.mark.parametrize(
    "make",
    [
        lambda: joint(rotor=art.Rotor(0.1, 1.0, (0.0, 1.0))),
        lambda: joint(rotor=art.Rotor("big")),
        lambda: joint(limits=art.Limits(lower="low")),
        lambda: joint(limits=art.Limits(lower=(-1.0, -1.0))),
        lambda: joint(armature=(1.0, 2.0)),
        lambda: joint(joint=art.Planar(), damping=(1.0,)),
        lambda: joint(rest=(None,)),
    ],
    ids=["rotor axis", "rotor inertia", "limit", "limits", "armature", "damping", "rest"],
)
def test_numbers_of_the_wrong_form(make):
    with pytest.raises((art.InputError, art.ModelError)):
        Description.build("m", (body(),), (make(),))


@pytest.mark.parametrize("changes", [{"com": (0.0, 0.0)}, {"inertia": (1.0, 1.0)}, {"mass": "heavy"}])
def test_numbers_of_a_body_of_the_wrong_form(changes):
    with pytest.raises(art.InputError):
        body(**changes)


def test_one_number_is_enough_for_one_dof():
    assert art.Limits(lower=-1.0, upper=1).lower == (-1.0,)
    assert findings(joints=[joint(limits=art.Limits(lower=-1.0, upper=1), damping=2)]) == []


def test_parameter_in_an_axis_is_kept_or_refused():
    try:
        held = art.Revolute((art.Parameter("tilt", 0.0), 0.0, 1.0)).axis
    except art.InputError:
        return
    assert isinstance(held[0], art.Parameter)


def test_equal_mechanisms_have_equal_fingerprints():
    builds = [
        Description.build("m", (body(),), (joint(rotor=art.Rotor(kind(1), kind(2))),))
        for kind in (int, float, np.float64)
    ]
    assert builds[0] == builds[1] == builds[2]
    assert len({d.fingerprint for d in builds}) == 1


# massless bodies


def massless_chain(*joints, at=(0.0, 0.0, 0.0), end=True):
    """Return findings on a chain of massless bodies, the last with mass if `end`."""
    n = len(joints)
    bodies = [body(f"b{i}", mass=0.0, inertia=(0.0,) * 6, massless="frame") for i in range(n)]
    if end:
        bodies[-1] = body(f"b{n - 1}")
    links = [
        joint(f"j{i}", f"b{i - 1}" if i else "ground", f"b{i}", joint=x, at=art.Pose(at))
        for i, x in enumerate(joints)
    ]
    return findings(bodies, links)


def test_massless_body_needs_a_reason():
    assert findings([body(mass=0.0, inertia=(0.0,) * 6)])
    assert (
        findings(
            [body("a"), body("b", mass=0.0, inertia=(0.0,) * 6, massless="a camera mount")],
            [joint(child="a"), joint("w", "a", "b", joint=art.Fixed())],
        )
        == []
    )


def test_massless_leaf_that_moves_is_refused():
    assert massless_chain(HINGE, end=False)


def test_massless_body_between_perpendicular_hinges_is_accepted():
    assert massless_chain(art.Revolute((1, 0, 0)), art.Revolute((0, 1, 0))) == []


def test_massless_body_between_coaxial_hinges_is_refused():
    assert massless_chain(HINGE, HINGE)


def test_massless_bodies_of_a_gantry_are_accepted():
    assert massless_chain(art.Prismatic((1, 0, 0)), art.Prismatic((0, 1, 0)), art.Prismatic()) == []


def test_massless_body_on_an_armature_is_accepted():
    """A degree of freedom with inertia of its own needs no mass behind it."""
    marker = body(mass=0.0, inertia=(0.0,) * 6, massless="a pointer")
    assert findings([marker], [joint(armature=(0.1,))]) == []
    assert findings([marker], [joint(rotor=art.Rotor(1e-3, 10.0))]) == []


def test_massless_body_with_more_dofs_than_mass_resists_is_refused():
    """A ball joint before a hinge: the hinge's axis is one of the three directions of the ball."""
    assert massless_chain(art.Spherical(), HINGE)
    assert "moves no mass" in only(massless_chain(art.Prismatic((1, 0, 0)), art.Prismatic((1, 0, 0))))
