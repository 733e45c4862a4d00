"""Cores of shapes on symbols: how far a point is from them, and in which direction.

In the axes of the shape. Distances are negative inside; gradients are unit vectors that point outwards.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.errors import UnsupportedOperation

TINY = 1e-60
"""Square of a length below which a vector has no direction [m^2]: derivatives stay finite there. Bristles of nanometers bend by 1e-20 m."""
BESIDE = 1e-9
"""Height of a foot above other faces from which it is beside its own, over the size of the hull [-]."""
STEPS = 16
"""Halvings of a segment in search of its nearest point, before the last step, which is exact for parabolas."""


def length(x: SX) -> SX:
    """Return the length of a vector, with finite derivatives at zero."""
    return ca.sqrt(ca.fmax(ca.sumsqr(x), TINY))


def direction(x: SX) -> SX:
    """Return a vector divided by its length."""
    return x / length(x)


def clamp(x: SX, low: float | SX, high: float | SX) -> SX:
    """Return x within bounds."""
    return ca.fmin(ca.fmax(x, low), high)


@dataclass(frozen=True)
class CorePoint:
    """The origin."""

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return distance and gradient."""
        return length(p), direction(p)

    def points(self) -> list[SX]:
        """Return the corners."""
        return [SX.zeros(3)]


@dataclass(frozen=True)
class CoreSegment:
    """A piece of the z axis around the origin."""

    half: SX

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return distance and gradient."""
        away = ca.vertcat(p[:2], p[2] - clamp(p[2], -self.half, self.half))
        return length(away), direction(away)

    def points(self) -> list[SX]:
        """Return both ends."""
        return [ca.vertcat(0, 0, -self.half), ca.vertcat(0, 0, self.half)]


@dataclass(frozen=True)
class Brick:
    """A box around the origin, given by half its edges."""

    half: SX

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return distance and gradient."""
        distance, g = _outside(ca.fabs(p) - self.half)
        return distance, g * _sign(p)

    def nearest(self, p: SX) -> SX:
        """Return the nearest point of the core."""
        return clamp(p, -self.half, self.half)

    def breaks(self, a: SX, b: SX) -> list[SX]:
        """Return where the line from a to b passes through the planes of the faces, in parts of it."""
        way = b - a
        safe = ca.if_else(ca.fabs(way) > TINY, way, 1)
        return [clamp(x, 0, 1) for side in (-1, 1) for x in ca.vertsplit((side * self.half - a) / safe)]

    def points(self) -> list[SX]:
        """Return the eight corners."""
        return [self.half * ca.vertcat(*signs) for signs in itertools.product((-1, 1), repeat=3)]

    def edges(self) -> list[tuple[int, int]]:
        """Return the numbers of the two corners of each edge."""
        corners = list(itertools.product((-1, 1), repeat=3))
        pairs = itertools.combinations(range(8), 2)
        return [(i, j) for i, j in pairs if sum(a != b for a, b in zip(corners[i], corners[j])) == 1]


@dataclass(frozen=True)
class Drum:
    """A solid cylinder along z around the origin."""

    radius: SX
    half: SX

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return distance and gradient."""
        r = length(p[:2])
        distance, g = _outside(ca.vertcat(r, ca.fabs(p[2])) - ca.vertcat(self.radius, self.half))
        return distance, ca.vertcat(g[0] * p[:2] / r, g[1] * _sign(p[2]))

    def nearest(self, p: SX) -> SX:
        """Return the nearest point of the core."""
        inwards = ca.fmin(1, self.radius / length(p[:2]))
        return ca.vertcat(inwards * p[:2], clamp(p[2], -self.half, self.half))


@dataclass(frozen=True)
class Corners:
    """The corners of a convex hull, on which it stands on surfaces; how far a point is from it is not known."""

    corners: tuple[SX, ...]

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Raise: what needs distances takes `Facets`."""
        raise UnsupportedOperation(
            "contact of two solids one of which is a hull; expected `Contacts` with both of them, which takes their faces"
        )

    def points(self) -> list[SX]:
        """Return the corners."""
        return list(self.corners)


@dataclass(frozen=True)
class Facets:
    """A convex hull by its faces and edges.

    Attributes
    ----------
    normals, offsets : tuple of SX (3,), of SX [m]
        Of each face.
    edges : tuple of pairs of SX (3,) [m]
        Ends of each edge.
    size : SX [m]
        Radius of the ball around it.
    """

    normals: tuple[SX, ...]
    offsets: tuple[SX, ...]
    edges: tuple[tuple[SX, SX], ...]
    size: SX

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return distance and gradient: from the face in front of which the point is, from an edge if from none."""
        height, n = self._highest(p)
        beside, _ = self._highest(p - height * n)
        away = self._from_edge(p)
        on_edge = ca.logic_and(height > 0, beside > BESIDE * self.size)
        return ca.if_else(on_edge, length(away), height), ca.if_else(on_edge, direction(away), n)

    def nearest(self, a: SX, b: SX) -> tuple[SX, SX]:
        """Return the nearest points of a segment and of all edges."""
        best, p, q = SX(ca.inf), SX.zeros(3), SX.zeros(3)
        for begin, end in self.edges:
            mine, other = nearest_of_segments(a, b - a, begin, end - begin)
            square = ca.sumsqr(mine - other)
            nearer = square < best
            best, p, q = (ca.if_else(nearer, x, y) for x, y in ((square, best), (mine, p), (other, q)))
        return p, q

    def points(self) -> list[SX]:
        """Return the ends of the edges."""
        return [end for edge in self.edges for end in edge]

    def _highest(self, p: SX) -> tuple[SX, SX]:
        """Return the largest height of a point above a face, and the normal of that."""
        height, n = SX(-ca.inf), SX.zeros(3)
        for normal, offset in zip(self.normals, self.offsets):
            value = ca.dot(normal, p) - offset
            higher = value > height
            height, n = ca.if_else(higher, value, height), ca.if_else(higher, normal, n)
        return height, n

    def _from_edge(self, p: SX) -> SX:
        """Return the way from the nearest point of all edges."""
        best, out = SX(ca.inf), SX.zeros(3)
        for begin, end in self.edges:
            along = end - begin
            part = clamp(ca.dot(p - begin, along) / ca.fmax(ca.sumsqr(along), TINY), 0, 1)
            away = p - begin - part * along
            square = ca.sumsqr(away)
            nearer = square < best
            best, out = ca.if_else(nearer, square, best), ca.if_else(nearer, away, out)
        return out


Core = CorePoint | CoreSegment | Brick | Drum | Corners | Facets


def _sign(x: SX) -> SX:
    """Return 1 or -1 for each element."""
    return ca.if_else(x < 0, -1, 1)


def _outside(q: SX) -> tuple[SX, SX]:
    """Return distance and gradient for coordinates q that are negative inside, all of them or some."""
    out, most = ca.fmax(q, 0), ca.mmax(q)
    beyond = length(out)
    outside = most > 0
    nearest, left = [], SX(1)
    for i in range(q.numel()):  # the face that is nearest from inside, the first of several
        nearest.append(left * (q[i] >= most))
        left = left - nearest[-1]
    return ca.if_else(outside, beyond, most), ca.if_else(outside, out / beyond, ca.vertcat(*nearest))


def nearest_of_segment(core: Brick | Drum, a: SX, b: SX) -> SX:
    """Return the point of the segment from a to b that is nearest to a core; one of those inside where it goes through.

    The slope of half the squared distance rises along the segment. For a box it is linear between the planes of the faces; for
    a cylinder it is bracketed by halving. One step of the secant follows.
    """

    def slope(s: SX) -> SX:
        p = a + s * (b - a)
        return ca.dot(p - core.nearest(p), b - a)

    low, high = SX(0), SX(1)
    if isinstance(core, Brick):
        for at in core.breaks(a, b):
            rise = slope(at)
            low, high = (
                ca.if_else(rise < 0, ca.fmax(low, at), low),
                ca.if_else(rise > 0, ca.fmin(high, at), high),
            )
    else:
        for _ in range(STEPS):
            middle = (low + high) / 2
            rises = slope(middle) >= 0
            low, high = ca.if_else(rises, low, middle), ca.if_else(rises, middle, high)
    first, last = slope(low), slope(high)
    rise = last - first
    part = ca.if_else(rise > 0, clamp(-first / ca.fmax(rise, TINY), 0, 1), 0.5)
    return a + (low + part * (high - low)) * (b - a)


def nearest_of_segments(a: SX, u: SX, b: SX, v: SX) -> tuple[SX, SX]:
    """Return the nearest points of the segments a + s u and b + t v, with s and t from 0 to 1.

    Source: Ericson 2005, section 5.1.9.
    """
    uu, vv, uv = ca.fmax(ca.sumsqr(u), TINY), ca.fmax(ca.sumsqr(v), TINY), ca.dot(u, v)
    r = a - b
    ur, vr = ca.dot(u, r), ca.dot(v, r)
    crossing = uu * vv - uv**2
    skew = crossing > 1e-12 * uu * vv
    s = ca.if_else(skew, clamp((uv * vr - ur * vv) / ca.fmax(crossing, 1e-12 * uu * vv), 0, 1), 0.5)
    t = clamp((uv * s + vr) / vv, 0, 1)
    s = clamp((uv * t - ur) / uu, 0, 1)
    return a + s * u, b + t * v
