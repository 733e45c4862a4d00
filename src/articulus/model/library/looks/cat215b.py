"""The Caterpillar 215B: tracks, house with cab, boom, stick, bucket, hydraulic cylinders. Hinges are where the model has them.

The cab: x forward, y to the left, z up. Boom, stick and bucket: x along the link, y up, z to the right.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from articulus.model.library.looks import Looks
from articulus.model.library.looks.shapes import (
    BLACK,
    DARK,
    GLASS,
    RUBBER,
    STEEL,
    YELLOW,
    box,
    disc,
    plate,
    tube,
)
from articulus.model.mechanism import Cylinder, Pose, Strut, Visual

GROUND = -0.9
"""Assumed: the swing bearing is 0.9 m above the ground [m]."""


def cat215b() -> Looks:
    """Return the shapes of the excavator."""
    return {
        "ground": (*_track(1.05), *_track(-1.05), *_undercarriage()),
        "cab": (*_house(), *_cab((0.72, 0.74, 0.36)), *_boom_cylinders()),
        "boom": tuple(_boom()),
        "stick": tuple(_stick()),
        "bucket": tuple(_bucket()),
    }


def _track(y: float) -> Iterator[Visual]:
    high, long, middle = 0.72, 3.7, GROUND + 0.39
    r = high / 2
    yield box((long - high, 0.6, high), (0, y, middle), RUBBER)
    for x in (long / 2 - r, r - long / 2):
        yield disc((x, y, middle), (0, 1, 0), r, 0.6, RUBBER)
    for x in np.linspace(r - long / 2, long / 2 - r, 17):
        yield box((0.1, 0.62, 0.05), (x, y, middle + r), BLACK)
    for k in range(6):
        yield disc((-1.35 + 0.54 * k, y, middle - 0.05), (0, 1, 0), 0.2, 0.64, DARK)


def _undercarriage() -> Iterator[Visual]:
    yield box((1.9, 1.6, 0.42), (0, 0, GROUND + 0.56), DARK)
    yield disc((0, 0, -0.08), (0, 0, 1), 0.72, 0.26, STEEL)


def _house() -> Iterator[Visual]:
    yield box((3.5, 2.5, 0.3), (-0.45, 0, 0.22), DARK)
    yield box((1.55, 2.46, 1.0), (-1.05, 0, 0.85), YELLOW)
    yield box((0.55, 2.44, 0.98), (-2.05, 0, 0.74), DARK)
    yield box((1.5, 0.85, 0.75), (0.55, -0.82, 0.72), YELLOW)
    for k in range(5):
        yield box((0.9, 0.02, 0.05), (-1.05, -1.24, 0.6 + 0.13 * k), BLACK)
    yield tube((-1.1, -0.7, 1.33), (-1.1, -0.7, 1.88), 0.07, BLACK)
    for y in (-0.42, 0.1):  # foot of the boom
        yield box((0.75, 0.1, 0.62), (1.28, y, 0.68), DARK)


def _cab(at: tuple[float, float, float]) -> Iterator[Visual]:
    """Yield the driver's cab: floor, roof, pillars, glass, seat."""
    for size, place, color in (
        ((1.5, 0.92, 0.5), (0, 0, 0.25), YELLOW),
        ((1.42, 0.92, 0.09), (-0.03, 0, 1.68), YELLOW),
        *(((0.07, 0.07, 1.2), (x, y, 1.06), YELLOW) for x in (0.68, -0.7, -0.05) for y in (0.42, -0.42)),
        ((0.45, 0.45, 0.12), (-0.25, 0, 0.62), BLACK),
        ((0.12, 0.45, 0.6), (-0.47, 0, 0.92), BLACK),
        ((1.36, 0.84, 1.1), (0, 0, 1.06), GLASS),
    ):
        yield box(size, [a + b for a, b in zip(place, at)], color)


def _boom_cylinders() -> Iterator[Visual]:
    for y, z in ((-0.5, 0.33), (0.18, -0.33)):
        yield Strut(body="boom", end=(2.3, 0.7, z), radius=0.1, at=Pose((1.75, y, 0.5)), color=DARK)


def _pin(x: float, y: float, radius: float, width: float) -> Cylinder:
    return disc((x, y, 0), (0, 0, 1), radius, width, STEEL)


def _boom() -> Iterator[Visual]:
    yield plate(
        [
            (-0.16, -0.16), (0.1, -0.22), (1.5, 0.28), (2.55, 0.62), (4.1, 0.34), (5.08, -0.13), (5.34, -0.12), (5.38, 0.1),
            (5.2, 0.24), (4.2, 0.74), (2.75, 1.12), (2.2, 1.1), (1.2, 0.64), (-0.1, 0.2), (-0.2, 0.05),
        ], 0.46, YELLOW,
    )  # fmt: skip
    yield plate([(2.1, 1.02), (2.7, 1.04), (2.55, 1.34), (2.35, 1.34)], 0.36, YELLOW)
    for pin in ((0, 0, 0.14, 0.66), (5.2, 0, 0.12, 0.62), (2.45, 1.24, 0.07, 0.42), (2.3, 0.7, 0.09, 0.62)):
        yield _pin(*pin)
    yield Strut(body="stick", end=(-0.55, 0.26, 0), radius=0.1, at=Pose((2.45, 1.24, 0.0)), color=DARK)


def _stick() -> Iterator[Visual]:
    yield plate(
        [
            (-0.62, 0.1), (-0.15, -0.16), (0.25, -0.22), (1.75, -0.12), (1.93, -0.08), (1.93, 0.06), (1.72, 0.12), (0.1, 0.28),
            (-0.45, 0.4), (-0.66, 0.3),
        ], 0.34, YELLOW,
    )  # fmt: skip
    yield plate([(-0.1, 0.24), (0.3, 0.2), (0.16, 0.42), (0.04, 0.42)], 0.24, YELLOW)
    for pin in ((0, 0, 0.13, 0.5), (1.8, 0, 0.09, 0.5), (-0.55, 0.26, 0.07, 0.44), (0.1, 0.34, 0.06, 0.3)):
        yield _pin(*pin)
    yield Strut(body="bucket", end=(-0.2, 0.34, 0), radius=0.075, at=Pose((0.1, 0.34, 0.0)), color=DARK)


def _bucket() -> Iterator[Visual]:
    """Yield the bucket, the tip of its teeth at (1, 1), opening towards (1, -1): curling is a negative rotation."""
    side = [
        (-0.1, -0.06), (0.1, -0.12), (0.32, 0.1), (0.9, 0.84), (0.72, 0.98), (0.36, 1.0), (0.02, 0.82), (-0.16, 0.5), (-0.18, 0.16),
    ]  # fmt: skip
    for z in (-0.5, 0.5):
        yield plate(side, 0.06, DARK, z)
    back = [(0.08, -0.1), side[0], *reversed(side[5:]), side[4], side[3]]
    for (x0, y0), (x1, y1) in itertools.pairwise(back):
        size = (math.hypot(x1 - x0, y1 - y0) + 0.03, 0.05, 1.04)
        yield box(size, ((x0 + x1) / 2, (y0 + y1) / 2, 0), DARK, (0, 0, math.atan2(y1 - y0, x1 - x0)))
    for k in range(5):
        z = -0.44 + 0.22 * k
        yield plate([(0.79, 0.87), (0.87, 0.79), (1.0, 1.0)], 0.08, STEEL, z)
    yield _pin(0, 0, 0.11, 0.62)
    yield _pin(-0.2, 0.34, 0.07, 0.4)
