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
from articulus.simulation.loop.contact import polyhedra
from articulus.simulation.loop.contact.ground import Surface
from articulus.simulation.loop.contact.pairs import touches
from articulus.simulation.loop.contact.patch import (
    LAW,
    STATE,
    Law,
    MovingFrame,
    Patch,
    held_states,
    patch,
    resistance,
    sliding,
)
from articulus.simulation.loop.contact.shapes import ConvexHull, HeightField, Plane, Shape
from articulus.simulation.loop.contact.solid import ContactSolid, Touch, corners_of, sizes_of, solid

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


def facing(shape: Shape) -> Kind:
    """Return the kind of a shape that touches another solid: of hulls with faces and edges."""
    return polyhedra.HullKind.of(shape) if isinstance(shape, ConvexHull) else kind_of(shape)


def _size(kind: Kind) -> int:
    """Return the number of numbers of a shape of a kind, the ball around it first."""
    if isinstance(kind, polyhedra.HullKind):
        return _size(kind.corners) + kind.numbers
    return 1 + (3 * kind if isinstance(kind, int) else SIZES[_type(kind).type_name])


def numbers(shape: Shape, number: Any = value_of, faces: bool = False) -> SX:
    """Return the radius of the ball around a shape and its sizes as a column, and its faces and edges where those of a hull are asked for."""
    more = facing(shape).column(shape) if faces and isinstance(shape, ConvexHull) else ()
    return ca.vertcat(number(getattr(shape, "bound", 0.0)), *(number(x) for x in sizes_of(shape)), *more)


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
    if isinstance(kind, int | polyhedra.HullKind):
        return ConvexHull
    return HeightField if isinstance(kind, HeightField) else kind


@functools.lru_cache(maxsize=64)
def _points(first: Kind, second: Kind) -> int:
    """Return the number of points at which two shapes may touch."""
    one, two = (SX.sym("x", STATE) for _ in range(2))
    sizes = [SX.sym("sizes", _size(kind)) for kind in (first, second)]
    return len(_touches(first, second, one, two, sizes))


def _touches(first: Kind, second: Kind, a: SX, b: SX, sizes: Sequence[SX]) -> list[Touch]:
    one = _solid(first, a, sizes[0])
    two: Any = Surface(*_pose(b), second if isinstance(second, HeightField) else None)
    if _type(second).type_name in SOLID:
        two = _solid(second, b, sizes[1])
    return touches((_type(first), _type(second)), one, two)


def _solid(kind: Kind, x: SX, sizes: SX) -> ContactSolid:
    if isinstance(kind, polyhedra.HullKind):
        return ContactSolid(kind.core(ca.vertsplit(sizes)[_size(kind.corners) :], sizes[0]), SX(0), *_pose(x))
    return solid(_type(kind), ca.vertsplit(sizes)[1:], *_pose(x))


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
    one, two = MovingFrame.of(a), MovingFrame.of(b)
    found = _touches(first, second, a, b, sizes)
    states = _split(state, wanted)
    full = Law.of(law, sizes[0][0])
    at = patch(found, one, two, full)
    free = (SX.zeros(3), SX.zeros(3), SX(0)) if holds else sliding(found, at.center, one, two, full, law[6])
    touching = sum((each.counts > 0 for each in found), SX(0))
    out = _results(at, one, two, full, states, free, touching)
    name = f"when_{kinds[0].type_name}_{kinds[1].type_name}"
    return guard, ca.Function(name, [on, *given], [ca.densify(ca.if_else(on, x, 0)) for x in out])


def _results(
    at: Patch,
    one: MovingFrame,
    two: MovingFrame,
    law: Law,
    states: dict[str, SX],
    free: tuple[SX, SX, SX],
    touching: SX,
) -> list[SX]:
    """Return wrenches on both, account, center, force and rates; `free` is friction without states: force, moment, power lost."""
    held = resistance(at, one, two, law, states)
    force, moment, lost = held.force + free[0], held.moment + free[1], at.lost + held.lost + free[2]
    push, turning = at.force + force, at.moment + moment
    wrenches = [ca.vertcat(turning + ca.cross(at.center - x.o, push), push) for x in (one, two)]
    stored = at.stored + sum((law.bristles()[name] * ca.sumsqr(z) / 2 for name, z in states.items()), SX(0))
    out = [wrenches[0], -wrenches[1], ca.vertcat(stored, lost, touching), at.center, push]
    if states:
        out.append(ca.vertcat(*(held.rates[name] + z / law.shear_damping for name, z in states.items())))
    return out


def faceted(
    holds: bool,
    rolls: bool,
    placed: Sequence[tuple[polyhedra.PlacedSolid, polyhedra.PlacedSolid]],
    shapes: Sequence[tuple[int, int]],
    given: Sequence[SX],
    total: int,
) -> list[SX]:
    """Return what the function of `swept` gives, for pairs of polyhedra.

    Parameters
    ----------
    holds, rolls : bool
        As in `swept`.
    placed : sequence of pairs
        Where their numbers are.
    shapes : sequence of two numbers each
        The pairs.
    given : sequence of SX
        Movements, numbers of all shapes, law, states of the pairs.
    total : int
        Number of all shapes.
    """
    moving, sizes, law, z = given
    near = []
    for pair in placed:
        a, b = (moving[STATE * x.frame : STATE * x.frame + 3] for x in pair)
        near.append(ca.sumsqr(a - b) < (sizes[pair[0].bound] + sizes[pair[1].bound]) ** 2)
    sums = polyhedra.touch_sums(placed, not holds, moving, sizes, law, ca.densify(ca.vertcat(*near)))
    count, size, nz = len(placed), sum(polyhedra.SUMS), sum(held_states(holds, rolls, True).values())
    reads = [Selection(0, STATE, tuple(STATE * pair[k].frame for pair in placed)) for k in (0, 1)]
    reads += [Selection(1, 1, tuple(pair[0].bound for pair in placed)), Selection(2, LAW, (0,) * count)]
    reads += [Selection(3, size, tuple(size * k for k in range(count)))]
    ends = [Selection(0, 6, tuple(6 * pair[k] for pair in shapes)) for k in (0, 1)]
    adds = [*ends, Selection(1, ACCOUNT, (0,) * count)]
    adds += [Selection(k, 3, tuple(3 * i for i in range(count))) for k in (3, 4)]
    columns = [moving, sizes, law, sums]
    if nz:
        each = tuple(nz * i for i in range(count))
        reads.append(Selection(4, nz, each))
        adds.append(Selection(2, nz, each))
        columns.append(z)
    outputs = [6 * total, ACCOUNT, nz * count, 3 * count, 3 * count]
    inputs = [x.numel() for x in columns]
    return list(
        sweep.function(*_facet_functions(holds, rolls), inputs, reads, outputs, adds).call(
            columns, False, True
        )
    )


@functools.lru_cache(maxsize=8)
def _facet_functions(holds: bool, rolls: bool) -> tuple[ca.Function, ca.Function]:
    """Return guard and body of what follows from the sums of the touches of a pair."""
    on, a, b, bound = SX.sym("on"), SX.sym("a", STATE), SX.sym("b", STATE), SX.sym("bound")
    law, sums = SX.sym("law", LAW), SX.sym("sums", sum(polyhedra.SUMS))
    wanted = held_states(holds, rolls, True)
    state = SX.sym("z", sum(wanted.values()))
    given = [a, b, bound, law, sums, *([state] if wanted else [])]
    meets = sums[0] > 0
    guard = ca.Function("near", given, [ca.logic_or(meets, ca.sumsqr(state) > 0) if wanted else meets])
    one, two, full = MovingFrame.of(a), MovingFrame.of(b), Law.of(law, bound)
    at, force, moment = polyhedra.patch_of(sums, one.o, full)
    out = _results(at, one, two, full, _split(state, wanted), (force, moment, SX(0)), sums[-1])
    return guard, ca.Function("when_polyhedra", [on, *given], [ca.densify(ca.if_else(on, x, 0)) for x in out])


def _split(column: SX, sizes: dict[str, int]) -> dict[str, SX]:
    """Return the pieces of a column by name."""
    out, at = {}, 0
    for name, size in sizes.items():
        out[name], at = column[at : at + size], at + size
    return out


def _pose(x: SX) -> tuple[SX, SX]:
    return ca.reshape(x[9:], 3, 3), x[:3]
