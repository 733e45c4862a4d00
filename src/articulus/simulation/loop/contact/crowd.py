"""Contact of many pairs: a sweep over all pairs of one kind, which native code passes over while they are far apart."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import casadi as ca
from casadi import SX

from articulus.kernel import sweep
from articulus.kernel.sweep import Selection
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.contact.ground import Surface
from articulus.simulation.loop.contact.law import normal_force, sliding_friction
from articulus.simulation.loop.contact.pairs import touches
from articulus.simulation.loop.contact.patch import Law, MovingFrame, approach, held_states, patch, resistance
from articulus.simulation.loop.contact.shapes import ConvexHull, HeightField, Plane, Shape
from articulus.simulation.loop.contact.solid import Touch, corners_of, sizes_of, solid

STATE = 18
"""Numbers of a moving shape: origin, angular velocity, velocity, axes column by column; ground axes."""
LAW = 7
"""Numbers of the law: stiffness, dissipation, friction, shear, shear_damping, rolling, slip speed."""
SIZES = {"sphere": 1, "capsule": 2, "box": 4, "cylinder": 3, "plane": 0, "height_field": 0}
"""Numbers of a shape; those of a hull come from its corners."""
SOLID = ("sphere", "capsule", "box", "cylinder", "hull")
ACCOUNT = 3
"""Numbers of the account of a pair: energy held, power lost, points in contact."""

Kind = Any
"""A kind of shape: its class; a height field is a kind of its own, hulls are of one kind with as many corners, which stand for it."""


def kind_of(shape: Shape) -> Kind:
    """Return the kind of a shape."""
    if isinstance(shape, ConvexHull):
        return corners_of(shape)
    return shape if isinstance(shape, HeightField) else type(shape)


def _size(kind: Kind) -> int:
    """Return the number of numbers of a shape of a kind, the ball around it first."""
    return 1 + (3 * kind if isinstance(kind, int) else SIZES[_type(kind).type_name])


def numbers(shape: Shape, number: Any = value_of) -> SX:
    """Return the radius of the ball around a shape and its sizes as a column."""
    return ca.vertcat(number(getattr(shape, "bound", 0.0)), *(number(x) for x in sizes_of(shape)))


def states_of(first: Kind, second: Kind, holds: bool, rolls: bool) -> dict[str, int]:
    """Return name and size of the states of a pair."""
    return held_states(holds, rolls, _points(first, second) > 1)


def swept(
    kinds: tuple[Kind, Kind],
    holds: bool,
    rolls: bool,
    frames: Sequence[int],
    starts: Sequence[int],
    pairs: Sequence[tuple[int, int]],
) -> ca.Function:
    """(movements, numbers of all shapes, law, states of the pairs) -> wrenches on all shapes, account, rates, points, forces.

    Parameters
    ----------
    kinds : two kinds
    holds, rolls : bool
        Whether friction holds at rest, and whether rolling is resisted.
    frames : sequence of int
        Frame of each shape.
    starts : sequence of int
        Where the numbers of each shape begin, and where those of the last end.
    pairs : sequence of two numbers each
        Pairs of the shapes that may touch.

    Rates are those beyond the decay of a bristle without load, -z / T, which all pairs have. Wrenches are about the origins of the shapes, points and forces those of each pair, on its first shape.
    """
    guard, body = _pair(*kinds, holds, rolls)
    nz, count, shapes = sum(states_of(*kinds, holds, rolls).values()), len(pairs), len(frames)
    first, second = zip(*pairs)
    own, other = map(_size, kinds)
    law, whole = (0,) * count, range(count)
    reads = [Selection(0, STATE, tuple(STATE * frames[i] for i in each)) for each in (first, second)]
    reads += [Selection(1, own, tuple(starts[i] for i in first))]
    reads += [Selection(1, other, tuple(starts[i] for i in second)), Selection(2, LAW, law)]
    adds = [Selection(0, 6, tuple(6 * i for i in each)) for each in (first, second)]
    adds += [Selection(1, ACCOUNT, law), *(Selection(k, 3, tuple(3 * i for i in whole)) for k in (3, 4))]
    if nz:
        each = tuple(nz * i for i in whole)
        reads.append(Selection(3, nz, each))
        adds.append(Selection(2, nz, each))
    inputs = [STATE * (max(frames) + 1), starts[-1], LAW, nz * count]
    outputs = [6 * shapes, ACCOUNT, nz * count, 3 * count, 3 * count]
    return sweep.function(guard, body, inputs, reads, outputs, adds)


def written_out(
    kinds: tuple[Kind, Kind],
    holds: bool,
    rolls: bool,
    frames: Sequence[int],
    starts: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    given: Sequence[SX],
) -> list[SX]:
    """Return what the function of `swept` gives for its arguments, every pair written out: what is zero or known falls away.

    A few pairs on planes take a third of the time so, since ground does not move and capsules on hinges turn about few axes; code of many
    pairs would grow.
    """
    guard, body = _pair(*kinds, holds, rolls)
    nz = sum(states_of(*kinds, holds, rolls).values())
    own, other = map(_size, kinds)
    moving, sizes, law, z = given
    wrenches = [SX.zeros(6) for _ in frames]
    account, rates, points, pushes = SX.zeros(ACCOUNT), [SX(0, 1)], [], []
    for n, (i, j) in enumerate(pairs):
        a, b = (moving[STATE * frames[k] : STATE * (frames[k] + 1)] for k in (i, j))
        arguments = [a, b, sizes[starts[i] : starts[i] + own], sizes[starts[j] : starts[j] + other], law]
        arguments += [z[nz * n : nz * (n + 1)]] if nz else []
        on_first, on_second, more, point, push, *rate = body.call([guard.call(arguments)[0], *arguments])
        wrenches[i], wrenches[j], account = wrenches[i] + on_first, wrenches[j] + on_second, account + more
        points.append(point)
        pushes.append(push)
        rates += rate
    return [ca.vertcat(*wrenches), account, ca.vertcat(*rates), ca.vertcat(*points), ca.vertcat(*pushes)]


def _near(first: SX, a: SX, second: Kind, other: SX, b: SX) -> SX:
    """Return 1 where two shapes may touch, 0 where the balls around them do not; a and b are their movements."""
    if _type(second) in (Plane, HeightField):
        return ca.dot(b[15:18], a[:3] - b[:3]) < highest(second) + first[0]
    return ca.sumsqr(a[:3] - b[:3]) < (first[0] + other[0]) ** 2


def highest(surface: Kind) -> float:
    """Return the height that no point of a surface exceeds, above its frame [m]."""
    if not isinstance(surface, HeightField):
        return 0.0
    heights = [h for row in surface.heights for h in row]
    return max(heights) + 0.25 * (max(heights) - min(heights))  # cubics go beyond their points, by less


def _type(kind: Kind) -> type[Shape]:
    if isinstance(kind, int):
        return ConvexHull
    return HeightField if isinstance(kind, HeightField) else kind


@functools.lru_cache(maxsize=64)
def _points(first: Kind, second: Kind) -> int:
    """Return the number of points at which two shapes may touch."""
    one, two = (SX.sym("x", STATE) for _ in range(2))
    sizes = [SX.sym("sizes", _size(kind)) for kind in (first, second)]
    return len(_touches(first, second, one, two, sizes))


def _touches(first: Kind, second: Kind, a: SX, b: SX, sizes: Sequence[SX]) -> list[Touch]:
    one = solid(_type(first), ca.vertsplit(sizes[0])[1:], *_pose(a))
    two: Any = Surface(*_pose(b), second if isinstance(second, HeightField) else None)
    if _type(second).type_name in SOLID:
        two = solid(_type(second), ca.vertsplit(sizes[1])[1:], *_pose(b))
    return touches((_type(first), _type(second)), one, two)


@functools.lru_cache(maxsize=64)
def _pair(first: Kind, second: Kind, holds: bool, rolls: bool) -> tuple[ca.Function, ca.Function]:
    """Return guard and body of a pair, see `swept`: of movements and numbers of both, law and states."""
    kinds = (_type(first), _type(second))
    on, a, b, law = SX.sym("near"), SX.sym("a", STATE), SX.sym("b", STATE), SX.sym("law", LAW)
    sizes = [SX.sym("sizes", _size(kind)) for kind in (first, second)]
    wanted = states_of(first, second, holds, rolls)
    state = SX.sym("z", sum(wanted.values()))
    given = [a, b, *sizes, law, *([state] if wanted else [])]
    near = _near(sizes[0], a, second, sizes[1], b)
    bent = (
        ca.sumsqr(state) > 0 if wanted else SX(0)
    )  # parted, its bristles straighten and give off what they hold
    guard = ca.Function("near", given, [ca.logic_or(near, bent) if wanted else near])
    k, loss, mu, shear, T, rolling, slow = ca.vertsplit(law)
    one, two = _moving(a), _moving(b)
    found = _touches(first, second, a, b, sizes)
    states = _split(state, wanted)
    full = Law(k, loss, mu, shear, T, rolling, sizes[0][0])
    at = patch(found, one, two, full)
    held = resistance(at, one, two, full, states)
    force, moment, lost = held.force, held.moment, at.lost + held.lost
    if not holds:
        force, moment, more = _sliding(found, at.center, one, two, full, slow)
        moment, lost = moment + held.moment, lost + more
    push, turning = at.force + force, at.moment + moment
    wrenches = [ca.vertcat(turning + ca.cross(at.center - x[:3], push), push) for x in (a, b)]
    stored = at.stored + sum((full.bristles()[name] * ca.sumsqr(z) / 2 for name, z in states.items()), SX(0))
    touching = sum((each.counts > 0 for each in found), SX(0))
    out = [wrenches[0], -wrenches[1], ca.vertcat(stored, lost, touching), at.center, push]
    if wanted:
        out.append(ca.vertcat(*(held.rates[name] + z / T for name, z in states.items())))
    name = f"when_{kinds[0].type_name}_{kinds[1].type_name}"
    return guard, ca.Function(name, [on, *given], [ca.densify(ca.if_else(on, x, 0)) for x in out])


def _sliding(
    found: list[Touch], center: SX, first: MovingFrame, second: MovingFrame, law: Law, slow: SX
) -> tuple[SX, SX, SX]:
    """Return force, moment about the center and lost power of friction -mu N v / sqrt(v^2 + v_s^2) at each point."""
    rate = approach(first, second)
    force, moment, lost = SX.zeros(3), SX.zeros(3), SX(0)
    for each in found:
        N = normal_force(each.counts, rate(each), law.stiffness, law.dissipation, law.size)
        along = first.velocity(each.point) - second.velocity(each.point) + each.normal * rate(each)
        friction = sliding_friction(law.friction * N, along, slow)
        force, moment = force + friction, moment + ca.cross(each.point - center, friction)
        lost -= ca.dot(friction, along)
    return force, moment, lost


def _split(column: SX, sizes: dict[str, int]) -> dict[str, SX]:
    """Return the pieces of a column by name."""
    out, at = {}, 0
    for name, size in sizes.items():
        out[name], at = column[at : at + size], at + size
    return out


def _pose(x: SX) -> tuple[SX, SX]:
    return ca.reshape(x[9:], 3, 3), x[:3]


def _moving(x: SX) -> MovingFrame:
    R, o = _pose(x)
    return MovingFrame(o, R, x[3:6], x[6:9])
