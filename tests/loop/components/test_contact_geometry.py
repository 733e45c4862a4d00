"""Where shapes touch: depths of every pair against nearest points found by projecting to and fro."""

from __future__ import annotations

import itertools

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from articulus.simulation.loop.contact import Box, Capsule, Cylinder, Plane, Shape, Sphere
from articulus.simulation.loop.contact.ground import Surface
from articulus.simulation.loop.contact.pairs import touches
from articulus.simulation.loop.contact.solid import sizes_of, solid

SOLIDS: tuple[Shape, ...] = (
    Sphere("a", 0.2),
    Capsule("a", 0.1, 0.5),
    Box("a", (0.3, 0.5, 0.7), 0.04),
    Cylinder("a", 0.25, 0.6, 0.04),
)
PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))


def function_of(first: Shape, second: Shape) -> ca.Function:
    """Return points, normals and depths as a function of both poses."""
    x = [ca.SX.sym("Ra", 3, 3), ca.SX.sym("a", 3), ca.SX.sym("Rb", 3, 3), ca.SX.sym("b", 3)]
    one, two = (
        Surface(R, o) if isinstance(s, Plane) else solid(type(s), [ca.SX(v) for v in sizes_of(s)], R, o)
        for s, R, o in ((first, *x[:2]), (second, *x[2:]))
    )
    found = touches((type(first), type(second)), one, two)  # type: ignore[arg-type]
    columns = [ca.horzcat(*(t.point for t in found)), ca.horzcat(*(t.normal for t in found))]
    return ca.Function("touches", x, [*columns, ca.vertcat(*(t.depth for t in found))])


def core(shape: Shape, p: np.ndarray) -> np.ndarray:
    """Return the nearest point of the core of a shape, in its axes."""
    match shape:
        case Sphere():
            return np.zeros(3)
        case Capsule():
            return np.array([0, 0, np.clip(p[2], -shape.length / 2, shape.length / 2)])
        case Box():
            half = np.array(shape.size) / 2 - shape.rounding
            return np.clip(p, -half, half)
    assert isinstance(shape, Cylinder)
    inwards = min(1.0, (shape.radius - shape.rounding) / np.hypot(*p[:2]))
    half = shape.length / 2 - shape.rounding
    return np.array([*(inwards * p[:2]), np.clip(p[2], -half, half)])


def margin(shape: Shape) -> float:
    return shape.rounding if isinstance(shape, Box | Cylinder) else shape.radius  # type: ignore[attr-defined]


def gap(first: Shape, second: Shape, pose: list[np.ndarray]) -> float:
    """Return the distance of two shapes: projections to and fro end at the nearest points of convex cores."""
    Ra, a, Rb, b = pose
    there = b
    for _ in range(20000):
        here = a + Ra @ core(first, Ra.T @ (there - a))
        before, there = there, b + Rb @ core(second, Rb.T @ (here - b))
        if np.linalg.norm(there - before) < 1e-13:
            break
    return float(np.linalg.norm(here - there)) - margin(first) - margin(second)


def poses(rng: np.random.Generator, count: int) -> list[list[np.ndarray]]:
    """Return random poses, not far from each other."""
    out = []
    for _ in range(count):
        Ra, Rb = Rotation.random(2, random_state=rng).as_matrix()
        b = rng.normal(size=3)
        out.append([Ra, np.zeros(3), Rb, b * rng.uniform(0.5, 1.0) / np.linalg.norm(b)])
    return out


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda s: s.type_name)
def test_depth_is_the_smallest_distance(first: Shape, second: Shape) -> None:
    found, checked = function_of(first, second), 0
    # the nearest point of a rim to a round neighbor is found in a few rounds: never nearer, and up to 1e-5 m off
    slack = 2e-5 if isinstance(first, Cylinder) and isinstance(second, Cylinder) else 1e-9
    for pose in poses(np.random.default_rng(1), 15):
        expected = gap(first, second, pose)
        if expected < -0.5 * (margin(first) + margin(second)):
            continue  # the cores themselves are near: no shortest line
        depth = float(np.max(np.array(found(*pose)[2])))
        assert -1e-9 < -depth - expected < slack
        checked += 1
    assert checked > 5


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda s: s.type_name)
def test_the_order_of_two_shapes_does_not_matter(first: Shape, second: Shape) -> None:
    """Swapped, the deepest point is the same and its normal the opposite; rounding."""
    one, two = function_of(first, second), function_of(second, first)
    for pose in poses(np.random.default_rng(3), 4):
        (p, n, d), (q, m, e) = (map(np.array, f(*x)) for f, x in ((one, pose), (two, [*pose[2:], *pose[:2]])))
        i, j = np.argmax(d), np.argmax(e)
        assert d[i] == pytest.approx(e[j], abs=1e-9)
        assert p[:, i] == pytest.approx(q[:, j], abs=1e-6)
        assert n[:, i] == pytest.approx(-m[:, j], abs=1e-6)


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda s: s.type_name)
def test_depth_in_a_plane_is_that_of_the_lowest_point(shape: Shape) -> None:
    found, rng = function_of(shape, Plane()), np.random.default_rng(4)
    for R, _, P, b in poses(rng, 8):
        up = R.T @ P[:, 2]  # in the axes of the shape
        support = core(shape, -1e9 * up) @ up - margin(shape)
        depth = float(np.max(np.array(found(R, np.zeros(3), P, b)[2])))
        assert depth == pytest.approx(-(support - b @ P[:, 2]), abs=1e-6)  # 1e-9 is not infinity in `core`


def test_a_cylinder_stands_on_four_points_and_lies_on_two() -> None:
    found = function_of(SOLIDS[3], Plane())
    upright, lying = np.eye(3), Rotation.from_euler("x", 90, degrees=True).as_matrix()
    for R, height, count in ((upright, 0.3, 4), (lying, 0.25, 2)):
        depths = np.array(found(R, [0, 0, height - 1e-4], np.eye(3), np.zeros(3))[2]).ravel()
        assert np.sum(depths > 0) == count
        assert depths.max() == pytest.approx(1e-4, abs=1e-12)
