"""Contact of one pair among many, as a function that native code passes over while the pair is far apart."""

from __future__ import annotations

import functools
from typing import Any

import casadi as ca
from casadi import SX

from articulus.loop.contact.ground import Surface
from articulus.loop.contact.law import hertz, normal_force
from articulus.loop.contact.pairs import touches
from articulus.loop.contact.shapes import HeightField, Plane, Shape
from articulus.loop.contact.solid import sizes_of, solid
from articulus.mechanism.numbers import value_of

STATE = 18
"""Numbers of a moving shape: origin, angular velocity, velocity, axes column by column; ground axes."""


def near(first: Shape, bound: SX, a: SX, second: Shape, other: SX, b: SX) -> SX:
    """Return 1 where two shapes may touch, 0 where the balls around them do not; a and b are their states."""
    if isinstance(second, Plane | HeightField):
        highest = 0.0
        if isinstance(second, HeightField):
            heights = [h for row in second.heights for h in row]
            highest = max(heights) + 0.25 * (
                max(heights) - min(heights)
            )  # cubics go beyond their points, by less
        return ca.dot(b[15:18], a[:3] - b[:3]) < highest + bound
    return ca.sumsqr(a[:3] - b[:3]) < (bound + other) ** 2


@functools.lru_cache(maxsize=64)
def pair(first: type[Shape], second: type[Shape] | HeightField) -> ca.Function:
    """(near, a, b, sizes of both, (k, a, mu, v_s)) -> wrenches on both about their origins, (stored, lost, touching).

    Friction is -mu N v / sqrt(v^2 + v_s^2): without a state, it gives way slowly under load.
    """
    kinds = (first, second if isinstance(second, type) else HeightField)
    on, a, b, law = SX.sym("near"), SX.sym("a", STATE), SX.sym("b", STATE), SX.sym("law", 4)
    sizes = [SX.sym("sizes", SIZES[kind.type_name]) for kind in kinds]
    one = solid(kinds[0], ca.vertsplit(sizes[0]), *_pose(a))
    two: Any = Surface(*_pose(b), second if isinstance(second, HeightField) else None)
    if kinds[1].type_name in SOLID:
        two = solid(kinds[1], ca.vertsplit(sizes[1]), *_pose(b))
    k, loss, mu, slow = ca.vertsplit(law)
    force, moments, account = SX.zeros(3), [SX.zeros(3), SX.zeros(3)], SX.zeros(3)
    for each in touches(kinds, one, two):
        v = _velocity(a, each.point) - _velocity(b, each.point)
        rate = -ca.dot(each.normal, v)
        N, spring = normal_force(each.counts, rate, k, loss), hertz(each.counts, k)
        along = v + each.normal * rate
        friction = -mu * N * along / ca.sqrt(ca.sumsqr(along) + slow**2)
        push = N * each.normal + friction
        force += push
        moments = [m + ca.cross(each.point - x[:3], push) for m, x in zip(moments, (a, b))]
        lost = (N - spring) * rate - ca.dot(friction, along)
        account += ca.vertcat(0.4 * spring * ca.fmax(each.counts, 0), lost, each.counts > 0)
    out = [ca.vertcat(moments[0], force), -ca.vertcat(moments[1], force), account]
    name = f"when_{kinds[0].type_name}_{kinds[1].type_name}"
    return ca.Function(name, [on, a, b, *sizes, law], [ca.if_else(on, x, 0) for x in out])


SIZES = {"sphere": 1, "capsule": 2, "box": 4, "cylinder": 3, "plane": 0, "height_field": 0}
SOLID = ("sphere", "capsule", "box", "cylinder")


def numbers(shape: Shape, number: Any = value_of) -> SX:
    """Return the sizes of a shape as a column."""
    return ca.vertcat(SX(0, 1), *(number(x) for x in sizes_of(shape)))


def _pose(x: SX) -> tuple[SX, SX]:
    return ca.reshape(x[9:], 3, 3), x[:3]


def _velocity(x: SX, p: SX) -> SX:
    return x[6:9] + ca.cross(x[3:6], p - x[:3])
