"""Polyhedra: what hulls, boxes and cylinders are where a hull takes part, and their corners and edges in each other's faces.

A corner touches where it is behind all faces of the other solid; its depth is the distance from the nearest face. An edge touches
between its ends: along it the largest height above the faces is convex, and its minimum is found by cutting off with the lines that
are active on both sides (Kelley 1960). What its ends carry as corners is left out, so that nothing jumps where it becomes deepest at an end. The
gradient is the mixture of both faces in which the slope along the edge vanishes: across both edges where two of them cross. The point
is in the middle of all that lie nearly as deep, so that an edge on a face is carried in the middle. Every force is the gradient of an
energy, 2/5 k depth^(5/2) of a corner and 2/5 k D^(5/4) of an edge, D = (d^2 - a^2) (d^2 - b^2) / d^2 with the depths a, b of its ends.

Native code goes through corners and edges in loops and passes over all of a pair whose balls are apart.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from articulus.kernel import sweep
from articulus.kernel.sweep import Selection
from articulus.model.mechanism.numbers import Number
from articulus.simulation.loop.contact.cores import Facets, direction, length
from articulus.simulation.loop.contact.law import SHALLOW, hertz, sliding_friction
from articulus.simulation.loop.contact.patch import (
    ALONE,
    LAW,
    STATE,
    Law,
    MovingFrame,
    Patch,
)
from articulus.simulation.loop.contact.shapes import Box, ConvexHull, Cylinder, Shape
from articulus.simulation.loop.contact.solid import Touch, corners_of

SIDES = 16
"""Sides of the prism that stands for a cylinder; its corners are 1 percent outside, its sides 1 percent inside."""
FLAT = 1e-9
"""Cosine by which normals of one face may differ from 1."""
CUTS = 8
"""Lines that cut off the minimum along an edge."""
NEARLY = 0.01
"""Part of the depth by which points of an edge may be higher than the deepest and still count for the middle."""
SUMS = (1, 3, 3, 3, 1, 3, 3, 3)
"""Numbers of a touch: normal force, times place, push, its moment, normal force times squared place; friction, its moment; account."""
TINY = 1e-300


@dataclass(frozen=True)
class Polyhedron:
    """Corners, faces and edges.

    Attributes
    ----------
    corners : array (n, 3) of numbers [m]
    normals : array (m, 3)
        Unit vectors outwards.
    offsets : sequence of m numbers [m]
        Distance of each face from the origin.
    edges : tuple of pairs
        Numbers of corners.
    """

    corners: np.ndarray
    normals: np.ndarray
    offsets: Sequence[Number]
    edges: tuple[tuple[int, int], ...]

    @property
    def faces(self) -> int:
        """Number of faces with which it is computed: a power of two, so that solids share their code."""
        return max(8, 1 << (len(self.offsets) - 1).bit_length())

    def column(self, number: Callable[[Any], Any], bound: Any) -> list[Any]:
        """Return the numbers of all corners, then normal and offset of all faces; those beyond the last are behind everything."""
        corners = [number(x) for x in self.corners.ravel()]
        faces = [x for n, d in zip(self.normals, self.offsets) for x in (*map(float, n), number(d))]
        return corners + faces + [0.0, 0.0, 0.0, 2 * bound] * (self.faces - len(self.offsets))


class HullKind(NamedTuple):
    """Numbers of corners, of faces and of edges with which hulls are computed that balls and capsules touch."""

    corners: int
    faces: int
    edges: int

    @property
    def numbers(self) -> int:
        """How many numbers say what it is."""
        return 4 * self.faces + 6 * self.edges

    @staticmethod
    def of(shape: ConvexHull) -> HullKind:
        """Return the kind of a hull."""
        solid = polyhedron(shape)
        assert solid is not None
        return HullKind(corners_of(shape), solid.faces, -(-len(solid.edges) // 16) * 16)

    def column(self, shape: ConvexHull) -> list[float]:
        """Return faces and edges; the first edge stands for those beyond the last."""
        solid = polyhedron(shape)
        assert solid is not None
        planes = solid.column(float, shape.bound)[3 * len(solid.corners) :]
        edges = [[*solid.corners[i], *solid.corners[j]] for i, j in solid.edges]
        edges += edges[:1] * (self.edges - len(edges))
        return planes + [float(x) for edge in edges for x in edge]

    def core(self, numbers: Sequence[SX], size: SX) -> Facets:
        """Return the core from its numbers."""
        x = list(numbers)
        planes = [x[k : k + 4] for k in range(0, 4 * self.faces, 4)]
        ends = [ca.vertcat(*x[k : k + 3]) for k in range(4 * self.faces, len(x), 3)]
        return Facets(
            tuple(ca.vertcat(*row[:3]) for row in planes),
            tuple(row[3] for row in planes),
            tuple(zip(ends[::2], ends[1::2])),
            size,
        )


def polyhedron(shape: Shape) -> Polyhedron | None:
    """Return a shape as a polyhedron; None for a flat hull, and for what is none."""
    match shape:
        case ConvexHull():
            return _hull(shape.vertices)
        case Box():
            signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            half = [x / 2 for x in shape.size]
            corners = np.array([[s * h for s, h in zip(row, half)] for row in signs], dtype=object)
            normals = np.vstack([np.eye(3), -np.eye(3)])
            pairs = tuple(
                (i, j) for i in range(8) for j in range(i) if np.abs(signs[i] - signs[j]).sum() == 2
            )
            return Polyhedron(corners, normals, [*half, *half], pairs)
        case Cylinder():
            return _prism(shape.radius, shape.length)
    return None


@functools.lru_cache(maxsize=512)
def _hull(vertices: tuple[tuple[float, ...], ...]) -> Polyhedron | None:
    """Return the hull of points, with triangles in one plane as one face; None if it is flat."""
    from scipy import spatial  # late: its import would slow down every first run

    points = np.array(vertices)
    size, middle = float(np.ptp(points, axis=0).max()), points.mean(axis=0)
    try:
        found = spatial.ConvexHull((points - middle) / size)
    except (spatial.QhullError, ValueError):
        return None
    numbers = np.full(len(found.simplices), -1)
    normals: list[np.ndarray] = []
    for k, plane in enumerate(found.equations):
        same = [
            i for i, n in enumerate(normals) if n[:3] @ plane[:3] > 1 - FLAT and abs(n[3] - plane[3]) < 1e-6
        ]
        numbers[k] = same[0] if same else len(normals)
        if not same:
            normals.append(plane)
    edges = {
        tuple(sorted(set(triangle) & set(found.simplices[other])))
        for k, triangle in enumerate(found.simplices)
        for other in found.neighbors[k]
        if numbers[k] != numbers[other]
    }
    faces = np.array(normals)
    used = np.unique(found.simplices)
    place = {int(k): i for i, k in enumerate(used)}
    offsets = size * -faces[:, 3] + faces[:, :3] @ middle
    pairs = tuple((place[int(i)], place[int(j)]) for i, j in sorted(edges))
    return Polyhedron(points[used], faces[:, :3], offsets.tolist(), pairs)


def _prism(radius: Number, height: Number) -> Polyhedron:
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    out = 2 / (1 + np.cos(np.pi / SIDES))
    half, n = height / 2, SIDES
    ring = [(radius * float(out * np.cos(a)), radius * float(out * np.sin(a))) for a in angles]
    corners = np.array([[x, y, s * half] for s in (-1, 1) for x, y in ring], dtype=object)
    middles = angles + np.pi / SIDES
    sides = np.column_stack([np.cos(middles), np.sin(middles), 0 * middles])
    inside = radius * float(out * np.cos(np.pi / SIDES))
    around = [(k, (k + 1) % n) for k in range(n)]
    edges = [*around, *((i + n, j + n) for i, j in around), *((k, k + n) for k in range(n))]
    normals = np.vstack([sides, [[0, 0, 1], [0, 0, -1]]])
    return Polyhedron(corners, normals, [*[inside] * n, half, half], tuple(edges))


@dataclass(frozen=True)
class PlacedSolid:
    """Where the numbers of a polyhedron are in the column of sizes, and the frame of its movement."""

    solid: Polyhedron
    frame: int
    bound: int
    corners: int

    @property
    def planes(self) -> int:
        """Where the faces begin."""
        return self.corners + 3 * len(self.solid.corners)


def touch_sums(
    pairs: Sequence[tuple[PlacedSolid, PlacedSolid]], slides: bool, moving: SX, sizes: SX, law: SX, near: SX
) -> SX:
    """Return the sums of all touches, pair by pair, see `SUMS`; places are from the origin of the first shape.

    Parameters
    ----------
    pairs : sequence of two `PlacedSolid` each
    slides : bool
        Whether friction has no states.
    moving, sizes, law : SX
        Columns of movements, sizes, and the law.
    near : SX
        A number for each pair: whether its balls meet.
    """
    sums = SX.zeros(sum(SUMS) * len(pairs))
    for sign in (1, -1):
        groups: dict[int, list[int]] = {}
        for k, pair in enumerate(pairs):
            groups.setdefault(pair[sign > 0].solid.faces, []).append(k)
        for faces, chosen in groups.items():
            items = _Items(pairs, chosen, sign)
            given = [moving, sizes, law]
            sums += items.sweep(_corner(faces, sign, slides), near, given, items.corners, faces)
            cut = items.cuts(faces, near, given)
            sums += items.sweep(_edge(faces, sign, slides), cut, given, items.edges, faces, flagged=True)
    return sums


class _Items:
    """Corners and edges of one solid of each pair, in the faces of the other."""

    def __init__(self, pairs: Sequence[tuple[PlacedSolid, PlacedSolid]], chosen: Sequence[int], sign: int):
        self.pairs, self.sign = pairs, sign
        self.corners, self.edges = list[tuple[int, tuple[int, ...]]](), list[tuple[int, tuple[int, ...]]]()
        for k in chosen:
            own = pairs[k][sign < 0]
            self.corners += [(k, (own.corners + 3 * i,)) for i in range(len(own.solid.corners))]
            self.edges += [(k, (own.corners + 3 * i, own.corners + 3 * j)) for i, j in own.solid.edges]

    def _reads(
        self, items: list[tuple[int, tuple[int, ...]]], flags: Sequence[int], faces: int
    ) -> list[Selection]:
        movers = [
            Selection(1, STATE, tuple(STATE * self.pairs[k][side].frame for k, _ in items)) for side in (0, 1)
        ]
        ends = [Selection(2, 3, tuple(each)) for each in zip(*(at for _, at in items))]
        planes = tuple(self.pairs[k][self.sign > 0].planes for k, _ in items)
        bounds = tuple(self.pairs[k][0].bound for k, _ in items)
        return [
            Selection(0, 1, tuple(flags)), *movers, Selection(2, 1, bounds), *ends,
            Selection(2, 4 * faces, planes), Selection(3, LAW, (0,) * len(items)),
        ]  # fmt: skip

    def sweep(
        self, functions: tuple[ca.Function, ca.Function], flags: SX, given: list[SX],
        items: list[tuple[int, tuple[int, ...]]], faces: int, flagged: bool = False,
    ) -> SX:  # fmt: skip
        """Return the sums of what corners or edges feel, by pairs."""
        places = range(len(items)) if flagged else [k for k, _ in items]
        starts = np.cumsum([0, *SUMS]).tolist()
        adds = [Selection(0, n, tuple(starts[-1] * k + at for k, _ in items)) for n, at in zip(SUMS, starts)]
        inputs = [x.numel() for x in (flags, *given)]
        reads = self._reads(items, places, faces)
        return sweep.function(*functions, inputs, reads, [starts[-1] * len(self.pairs)], adds).call(
            [flags, *given], False, True
        )[0]

    def cuts(self, faces: int, near: SX, given: list[SX]) -> SX:
        """Return for each edge whether part of it is behind all faces."""
        inputs = [x.numel() for x in (near, *given)]
        reads = self._reads(self.edges, [k for k, _ in self.edges], faces)
        count = len(self.edges)
        adds = [Selection(0, 1, tuple(range(count)))]
        return sweep.function(*_cut(faces, self.sign), inputs, reads, [count], adds).call(
            [near, *given], False, True
        )[0]


@dataclass(frozen=True)
class _Symbols:
    """What a touch is computed of."""

    flag: SX
    a: SX
    b: SX
    bound: SX
    ends: list[SX]
    planes: SX
    law: SX

    @staticmethod
    def of(ends: int, faces: int) -> _Symbols:
        points = [SX.sym("end", 3) for _ in range(ends)]
        return _Symbols(
            SX.sym("flag"), SX.sym("a", STATE), SX.sym("b", STATE), SX.sym("bound"), points,
            SX.sym("planes", 4 * faces), SX.sym("law", LAW),
        )  # fmt: skip

    @property
    def given(self) -> list[SX]:
        return [self.flag, self.a, self.b, self.bound, *self.ends, self.planes, self.law]

    def guard(self) -> ca.Function:
        return ca.Function("near", self.given, [self.flag > 0])

    def local(self, sign: int) -> tuple[list[SX], MovingFrame]:
        """Return the ends in the axes of the solid with the faces, and how that moves."""
        own, other = (MovingFrame.of(x) for x in ((self.a, self.b) if sign > 0 else (self.b, self.a)))
        return [ca.mtimes(other.R.T, own.o + ca.mtimes(own.R, p) - other.o) for p in self.ends], other

    def faces(self) -> tuple[list[SX], list[SX]]:
        rows = ca.vertsplit(self.planes, 4)
        return [row[:3] for row in rows], [row[3] for row in rows]


@functools.lru_cache(maxsize=64)
def _corner(faces: int, sign: int, slides: bool) -> tuple[ca.Function, ca.Function]:
    """Return guard and body of a corner behind faces."""
    x = _Symbols.of(1, faces)
    (p,), other = x.local(sign)
    normals, offsets = x.faces()
    height, n = SX(-ca.inf), SX.zeros(3)
    for normal, offset in zip(normals, offsets):
        value = ca.dot(normal, p) - offset
        higher = value > height
        height, n = ca.if_else(higher, value, height), ca.if_else(higher, normal, n)
    at = _touch(other, p, height, n, sign)
    spring = hertz(at.depth, x.law[0], x.bound)
    stored = 0.4 * spring * ca.fmax(at.depth, 0)
    return x.guard(), _body("when_corner", x, [(at, spring)], stored, slides)


@functools.lru_cache(maxsize=64)
def _cut(faces: int, sign: int) -> tuple[ca.Function, ca.Function]:
    """Return guard and body of whether part of an edge is behind all faces."""
    x = _Symbols.of(2, faces)
    (p, q), _ = x.local(sign)
    low, high = _interval(*_lines(x, p, q), SX(0))
    on = SX.sym("on")
    flag = ca.if_else(on, low < high, 0)
    return x.guard(), ca.Function("when_cut", [on, *x.given], [ca.densify(flag)])


@functools.lru_cache(maxsize=64)
def _edge(faces: int, sign: int, slides: bool) -> tuple[ca.Function, ca.Function]:
    """Return guard and body of an edge behind faces, between its ends."""
    x = _Symbols.of(2, faces)
    (p, q), other = x.local(sign)
    heights, slopes = _lines(x, p, q)
    normals, _ = x.faces()

    def active(s: SX) -> tuple[SX, SX]:
        best, line = SX(-ca.inf), (SX(0), SX(0))
        for height, slope in zip(heights, slopes):
            value = height + s * slope
            higher = value > best
            best = ca.if_else(higher, value, best)
            line = ca.if_else(higher, height, line[0]), ca.if_else(higher, slope, line[1])
        return line

    def normal(line: tuple[SX, SX]) -> SX:
        out, left = SX.zeros(3), SX(1)
        for each, height, slope in zip(normals, heights, slopes):
            this = left * ca.logic_and(height == line[0], slope == line[1])
            out, left = out + this * each, left - this
        return out

    first, last = active(SX(0)), active(SX(1))
    low, high = first, last
    between = ca.logic_and(first[1] < 0, last[1] > 0)
    for _ in range(CUTS):
        new = active(_crossing(low, high, between))
        falls = new[1] < 0
        low, high = (
            (ca.if_else(each, new[0], line[0]), ca.if_else(each, new[1], line[1]))
            for each, line in ((falls, low), (1 - falls, high))
        )
    s = _crossing(low, high, between)
    line = active(s)
    height = line[0] + s * line[1]
    share = ca.if_else(between, high[1] / ca.if_else(between, high[1] - low[1], 1), 1)
    n = share * normal(low) + (1 - share) * normal(high)
    begin, end = _interval(heights, slopes, height + NEARLY * ca.fabs(height))
    at = _touch(other, p + (begin + end) / 2 * (q - p), height, n, sign)
    ends = [
        _touch(other, r, h, normal(each), sign)
        for r, h, each in ((p, first[0], first), (q, last[0] + last[1], last))
    ]
    d = ca.fmax(at.depth, SHALLOW * x.bound)
    a, b = (ca.fmin(ca.fmax(end.depth, 0), d) for end in ends)
    A, B = d**2 - a**2, d**2 - b**2
    D = ca.if_else(ca.logic_and(between, at.depth > 0), A * B / d**2, 0)
    k = x.law[0] * ca.sqrt(ca.sqrt(ca.fmax(D, (SHALLOW * x.bound) ** 2)))
    inside = D > 0
    springs = [k * (A + B - D) / d, -k * a * B / d**2, -k * b * A / d**2]
    springs = [ca.if_else(inside, spring, 0) for spring in springs]
    return x.guard(), _body("when_edge", x, list(zip([at, *ends], springs)), 0.4 * k * D, slides)


def _lines(x: _Symbols, p: SX, q: SX) -> tuple[list[SX], list[SX]]:
    """Return the height of p above each face, and what is added on the way to q."""
    normals, offsets = x.faces()
    heights = [ca.dot(n, p) - d for n, d in zip(normals, offsets)]
    return heights, [ca.dot(n, q - p) for n in normals]


def _interval(heights: list[SX], slopes: list[SX], level: SX) -> tuple[SX, SX]:
    """Return between which parts of an edge it is lower than a level above all faces; the first is larger if nowhere."""
    low, high = SX(0), SX(1)
    for height, slope in zip(heights, slopes):
        level_there = (level - height) / ca.if_else(slope == 0, 1, slope)
        nowhere = ca.logic_and(slope == 0, height >= level)
        low = ca.if_else(slope < 0, ca.fmax(low, level_there), ca.if_else(nowhere, 2, low))
        high = ca.if_else(slope > 0, ca.fmin(high, level_there), high)
    return low, high


def _crossing(low: tuple[SX, SX], high: tuple[SX, SX], between: SX) -> SX:
    """Return where two lines meet."""
    s = (low[0] - high[0]) / ca.if_else(between, high[1] - low[1], 1)
    return ca.if_else(between, ca.fmin(ca.fmax(s, 0), 1), 0)


def _touch(other: MovingFrame, p: SX, height: SX, n: SX, sign: int) -> Touch:
    """Return the touch of a point given in the axes of the solid with the faces."""
    point = other.o + ca.mtimes(other.R, p - n * height / 2)
    return Touch(point, sign * ca.mtimes(other.R, n), -height, -height)


def _body(name: str, x: _Symbols, pushes: list[tuple[Touch, SX]], stored: SX, slides: bool) -> ca.Function:
    """Return the function of the sums of some touches with the forces of their springs; losses are those of the first."""
    one, two = MovingFrame.of(x.a), MovingFrame.of(x.b)
    force, moment, rubbing, turning, lost = SX.zeros(3), SX.zeros(3), SX.zeros(3), SX.zeros(3), SX(0)
    for number, (touch, spring) in enumerate(pushes):
        p, v = touch.point - one.o, one.velocity(touch.point) - two.velocity(touch.point)
        rate = -ca.dot(touch.normal, v)
        N = spring if number else spring * ca.fmax(1 + 1.5 * x.law[1] * rate, 0)
        force, moment = force + N * touch.normal, moment + ca.cross(p, N * touch.normal)
        lost += (N - spring) * rate
    total = ca.if_else(stored > 0, length(force), 0)
    p, n = pushes[0][0].point - one.o, direction(pushes[0][0].normal)
    if slides:
        v = one.velocity(pushes[0][0].point) - two.velocity(pushes[0][0].point)
        along = v - n * ca.dot(n, v)
        rubbing = sliding_friction(x.law[2] * total, along, x.law[6])
        turning = ca.cross(p, rubbing)
        lost -= ca.dot(rubbing, along)
    account = ca.vertcat(stored, lost, stored > 0)
    sums = [total, total * p, force, moment, total * ca.sumsqr(p), rubbing, turning, account]
    on = SX.sym("on")
    return ca.Function(name, [on, *x.given], [ca.densify(ca.if_else(on, each, 0)) for each in sums])


def patch_of(sums: SX, origin: SX, law: Law) -> tuple[Patch, SX, SX]:
    """Return all touches of a pair together, and force and moment about the center of friction without states."""
    total, weighed, push, turning, squares, force, moment, account = ca.vertsplit(
        sums, np.cumsum([0, *SUMS]).tolist()
    )
    whole = total + law.least
    c = weighed / whole
    spread = ca.sqrt(
        ca.fmax(whole * squares - ca.sumsqr(weighed), 0) + (ALONE * law.size * law.least) ** 2 + TINY
    )
    normal = push / ca.sqrt(ca.sumsqr(push) + (ALONE * law.least) ** 2)
    at = Patch(origin + c, normal, total, push, turning - ca.cross(c, push), spread, account[0], account[1])
    return at, force, moment - ca.cross(c, force)
