"""Constraints as data: what is refused, with which words, and what a fingerprint knows of them."""

from __future__ import annotations

import casadi as ca
import pytest

import articulus as art
from articulus.model.mechanism import ALL_CONSTRAINTS, LoopJoint
from articulus.model.mechanism.joint.base import SerialJoint
from closed_zoo import four_bar

q, v, t = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t")


def said(*constraints):
    """Return everything that is said against constraints on the four-bar."""
    m = four_bar()
    for c in constraints:
        m.constrain(c)
    with pytest.raises(art.ModelError) as caught:
        _ = m.description
    return str(caught.value)


def custom(rows, *inputs):
    return ca.Function("f", list(inputs), [rows])


class Pair(SerialJoint):
    """Two hinges in a row, which say nothing about closing a loop."""

    type_name = "pair"
    nq = nv = 2
    coordinate_names = velocity_names = ("first", "second")
    rotational = (True, True)

    def elementary(self):
        return art.Revolute((1, 0, 0)), art.Revolute((0, 1, 0))


WRONG = {
    "name twice": (art.Distance("pin", "ground", "coupler", 1.0), "pin", "second time"),
    "unknown frame": (art.PointOnPoint("p", "crak", "ground"), "constraint.p.first", "did you mean 'crank'"),
    "unknown joint": (art.Lock("p", "crank", 0.0), "constraint.p.joint", "did you mean 'crank_pin'"),
    "same body": (art.PointOnPoint("p", "crank", "crank"), "constraint.p.second", "on the same body"),
    "loop on one body": (LoopJoint("p", art.Revolute(), "crank", "crank"), "loop.p.child", "another body"),
    "loop without rows": (LoopJoint("p", Pair(), "ground", "crank"), "loop.p.type", "no closure rows"),
    "free loop": (LoopJoint("p", art.Free(), "ground", "crank"), "loop.p.type", "closes nothing"),
    "length": (art.Distance("p", "ground", "crank", 0.0), "constraint.p.length", '"point"'),
    "nan": (art.Distance("p", "ground", "crank", float("nan")), "constraint.p.length", "finite"),
    "nan in motion": (art.Prescribed("p", "crank_pin", float("inf")), "constraint.p.motion", "finite"),
    "coordinate": (art.Prescribed("p", "crank_pin", 0.1, "angle"), "constraint.p.coordinate", "revolute joint"),
    "lock count": (art.Lock("p", "crank_pin", (0.0, 1.0)), "constraint.p.values", "found 2 numbers; expected 1"),
    "nothing driven": (art.PrescribedPoint("p", "crank"), "constraint.p", "at least one"),
    "driven in itself": (
        art.PrescribedPoint("p", "crank", x=1, base="crank"),
        "constraint.p.base",
        "on the body of 'crank'; expected a frame on another body",
    ),
    "driven ground": (art.PrescribedPoint("p", "ground", x=1), "constraint.p.frame", "moves"),
    "radius": (art.NoSlip("p", "crank", -1.0), "constraint.p.radius", "radius > 0"),
    "ball": (art.SlidingContact("p", "ground", "crank", -1.0), "constraint.p.radius", "radius >= 0"),
    "own face": (art.RollingContact("p", "crank", "crank"), "constraint.p.frame", "on another body"),
    "wheel on ground": (art.Touching("p", "ground", 1.0), "constraint.p.frame", "moves"),
    "custom size": (art.CustomConstraint("p", custom(t, ca.SX.sym("q", 2), t)), "constraint.p.function", "expected 3 numbers"),
    "not linear": (
        art.CustomVelocityConstraint("p", custom(v[0] ** 2, q, v, t)),
        "constraint.p.function",
        "not linear in v",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_constraint(case):
    constraint, where, words = WRONG[case]
    text = said(constraint)
    assert where in text
    assert words in text


def test_all_findings_at_once():
    text = said(art.Lock("a", "x", 0.0), art.Distance("b", "y", "ground", 1.0), art.NoSlip("c", "crank", 0.0))
    assert text.count("\n") == 2


BAD_CALLS = {
    "no constraint": (lambda: four_bar().constrain("pin"), "expected a constraint"),
    "no joint": (lambda: four_bar().loop("x", "revolute", "crank", "rocker"), "expected a joint type"),
    "name": (lambda: four_bar().constrain(art.Lock(3, "crank_pin", 0.0)), "expected a name"),
    "parent": (lambda: four_bar().loop("x", art.Revolute(), None, "rocker"), "loop 'x', parent"),
    "pose": (lambda: four_bar().loop("x", art.Revolute(), "crank", "rocker", at=(1, 2)), "loop 'x', at"),
    "motion": (lambda: art.Prescribed("x", "j", "fast"), "Prescribed.motion: found 'fast'"),
    "function": (lambda: art.CustomConstraint("x", lambda q: q), r"CustomConstraint.function: .*casadi.Function of \(q, t\)"),
    "inputs": (lambda: art.CustomConstraint("x", custom(q, q)), r"found 1 inputs .* expected the inputs \(q, t\)"),
    "axis": (lambda: art.NoSlip("x", "crank", 1.0, (0, 0, 2)), "unit vector"),
    "edge": (lambda: art.SlidingContact("x", "ground", "crank", 0.0, (0, 0, 2)), "unit vector"),
    "polynomial": (lambda: art.Polynomial(()), "at least one"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_call(case):
    call, words = BAD_CALLS[case]
    with pytest.raises(art.InputError, match=words):
        call()


def test_a_ring_of_joints_is_told_how_to_close_a_loop():
    m = art.Mechanism("ring")
    for name in "ab":
        m.body(name, 1.0, inertia=(1, 1, 1))
    m.joint("j", art.Revolute(), "ground", "a").joint("k", art.Revolute(), "a", "b").joint(
        "l", art.Revolute(), "ground", "b"
    )
    with pytest.raises(
        art.ModelError, match=r"write 'l' as a loop joint \(\[loop.name\], or Mechanism.loop\)"
    ):
        _ = m.description


def test_fingerprint_knows_constraints():
    plain = four_bar().description.fingerprint
    functions = [custom(q[0] * k - t, q, t) for k in (1, 2, 2)]
    a, b, c = (four_bar().constrain(art.CustomConstraint("c", f)).description for f in functions)
    assert len({plain, a.fingerprint, b.fingerprint}) == 3
    assert b == c
    assert hash(b) == hash(c)
    assert b.fingerprint == c.fingerprint
    assert four_bar(closed_by=art.Spherical()).description.fingerprint != plain


def test_parameters_of_constraints_are_parameters():
    m = four_bar().constrain(art.Prescribed("d", "crank_pin", art.Harmonic(art.Parameter("swing", 0.2), 1.0)))
    assert m.parameters == {"swing": 0.2}
    assert m.constraint_residual([0.0, 0, 0], 0.5 * 3.14159, params={"swing": 0.7})[5] == pytest.approx(-0.7)


def test_types_have_different_names():
    assert len({c.type_name for c in ALL_CONSTRAINTS}) == len(ALL_CONSTRAINTS)
