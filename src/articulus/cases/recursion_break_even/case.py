"""Operations of recursive and of matrix forward dynamics of chains; work over the critical path for a Stanford arm."""

from itertools import count as numbers

import numpy as np

import articulus as art
from articulus.parallel import count, mechanism_graph

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
KINDS = ("revolute", "spherical")
SMALL = 10
"""Velocities below which forward dynamics here is not recursive."""
TWISTS = (0.0, -np.pi / 2, np.pi / 2, 0.0, -np.pi / 2, np.pi / 2)
"""Of the axes of the Stanford arm, each against the one before it [rad]."""


def compute() -> dict:
    graphs = [mechanism_graph(stanford(n)) for n in range(1, 7)]
    ways = np.array([g.critical_path for g in graphs])
    speed_up = np.array([g.work for g in graphs]) / ways
    return {
        "joints from which on recursion takes fewer operations: revolute, spherical": [break_even(kind) for kind in KINDS],
        "Stanford arm of 1 and of 6 joints: largest speed-up": [float(speed_up[0]), float(speed_up[-1])],
        "Stanford arm: critical path of 6 joints over that of 3, between 1.5 and 2.5 (1 = yes)": bool(1.5 < ways[-1] / ways[2] < 2.5),
    }  # fmt: skip


def break_even(kind: str) -> int:
    """Return the least number of joints for which forward dynamics by recursion takes fewer operations than by the mass matrix."""
    for n in numbers(1):
        m = chain(kind, n)
        matrix = operations(m, "mass_matrix") + operations(m, "bias") + m.nv**3 / 3 + 2 * m.nv**2
        if m.nv >= SMALL and operations(m, "forward_dynamics") < matrix:
            return n
    raise AssertionError("never")


def operations(m: art.Mechanism, quantity: str) -> int:
    found = count(m, quantity)
    return found.multiplications + found.additions


def chain(kind: str, n: int) -> art.Mechanism:
    """Return a chain of equal bodies with joints in turning directions."""
    m = art.Mechanism(f"chain of {n}")
    for i in range(n):
        m.body(f"b{i}", 1.0, (0.1, 0.02, 0.3), (0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
        axis = AXES[i % 3]
        joint = art.Revolute(axis) if kind == "revolute" else art.Spherical()
        m.joint(
            f"j{i}",
            joint,
            f"b{i - 1}" if i else "ground",
            f"b{i}",
            at=art.Pose((0.3, 0.1, 0.5), rpy=(0.3, 0.2, 0.1)),
        )
    return m


def stanford(n: int) -> art.Mechanism:
    """Return the first joints of a Stanford arm, hinges but for a slide as the third; bodies without symmetry."""
    m = art.Mechanism("stanford")
    for i in range(n):
        m.body(f"b{i}", 1.0 + i, (0.1, 0.02, 0.3), (0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
        joint = art.Prismatic((0, 0, 1)) if i == 2 else art.Revolute((0, 0, 1))
        m.joint(
            f"j{i}",
            joint,
            f"b{i - 1}" if i else "ground",
            f"b{i}",
            at=art.Pose((0.0, 0.1, 0.2), rpy=(TWISTS[i], 0, 0)),
        )
    return m
