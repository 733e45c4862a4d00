"""Inertias of a URDF file that no rigid body has: wrong ones are refused, doubtful ones kept as they are and marked.

Vendors' files are full of them, and most do no harm: rounded digits, a sensor welded to a heavy link, products of
inertia about another point. What is refused has no meaning (a negative mass, a negative moment about a link's own axis) or
belongs to a link that moves and is far from any body of the robot's size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from articulus.errors import Finding
from articulus.model.files.lump import merge_bodies, rigid_groups
from articulus.model.mechanism import GROUND, Body, Description
from articulus.model.mechanism.body import NEGLIGIBLE
from articulus.model.mechanism.numbers import value_of, values_of

MARK = "inertia of the URDF file, as it is"
KIND = "doubtful inertia"

EXCESS = 1.05
"""Largest moment over the sum of the others beyond which a body that moves has to be small to be merely doubtful."""
INDEFINITE = 0.25
"""Share of the largest moment by which the smallest of a body that moves may be negative (a shipped Romeo: 0.22)."""


def mark_doubtful(bodies: Iterable[Body]) -> tuple[list[Body], list[Finding]]:
    """Return the bodies, doubtful ones marked, and what is doubtful; `Description.build` refuses the wrong ones."""
    out, doubts = [], []
    for body in bodies:
        found = list(body.findings(f"body.{body.name}"))
        doubtful = replace(body, doubtful=MARK) if found else body
        if found and not any(doubtful.findings("")):
            doubts += [replace(f, kind=KIND) for f in found]
            body = doubtful
        out.append(body)
    return out, doubts


def wrong_bodies(description: Description) -> set[str]:
    """Return the doubtful bodies of those that move as one and together are far from any body of the robot's size."""
    length = _length(description)
    out: set[str] = set()
    for carrier, parts in rigid_groups(description).items():
        doubtful = {b.name for b, _ in parts if b.doubtful}
        if doubtful and carrier != GROUND and _far_off(merge_bodies(carrier, parts), length):
            out |= doubtful
    return out


def _length(d: Description) -> float:
    """Return the length of the longest link: between joints, or twice as far as a center of mass [m]."""
    between = [math.hypot(*values_of(c.at.xyz)) for c in d.connections]
    return max([*between, *(2 * math.hypot(*values_of(b.com)) for b in d.bodies)])


def _far_off(body: Body, length: float) -> bool:
    mass = value_of(body.mass)
    least, middle, largest = np.linalg.eigvalsh(body.inertia_matrix())
    if largest <= NEGLIGIBLE * mass:
        return False
    longer = largest > mass * (length / 2) ** 2  # more than all of the mass at the ends of the longest link
    return bool(least < -INDEFINITE * largest or (longer and largest > EXCESS * (least + middle)))
