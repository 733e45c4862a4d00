"""A cable of 12 m that hangs over a span of 10 m, as beads on massless cables: they hang as a polygon, many as the elastic catenary."""

import numpy as np

import articulus as art
from articulus.simulation.loop.components import Cable

SPAN, LENGTH, STIFFNESS = 10.0, 12.0, 5000.0  # m, m, N
MASS, GRAVITY = 1.0, 9.81  # kg/m, m/s^2


def compute() -> dict:
    found = {n: hanging(n) for n in (6, 8, 10)}
    tension, sag = extrapolate(found)
    return {
        "8 parts: horizontal tension [N] and sag [m]": found[8],
        "6, 8 and 10 parts, extrapolated: horizontal tension [N]": tension,
        "6, 8 and 10 parts, extrapolated: sag [m]": sag,
    }


def extrapolate(found: dict[int, np.ndarray]) -> np.ndarray:
    """Return the values of infinitely many parts: the parabola in 1/n^2 through three of them."""
    x = {n: 1 / n**2 for n in found}
    weights = {n: np.prod([x[j] / (x[j] - x[n]) for j in x if j != n]) for n in x}
    return np.sum([weights[n] * found[n] for n in found], axis=0)


def hanging(n: int) -> np.ndarray:
    """Return horizontal tension [N] and sag [m] of a cable in n parts, its mass in beads between them."""
    m, cables = chain(n)
    s = np.arange(1, n) / n
    rest = art.Loop(m, components=cables).equilibrium(
        np.ravel(np.column_stack([SPAN * s, -12 * s * (1 - s)])), tolerance=1e-12
    )
    points = np.array([m.pose(name, rest.q)[:3, 3] for name in nodes(n)])
    parts = np.diff(points, axis=0)
    lengths = np.linalg.norm(parts, axis=1)
    tensions = STIFFNESS * (n * lengths / LENGTH - 1)
    return np.array([(tensions * parts[:, 0] / lengths)[0], -points[n // 2, 2]])


def chain(n: int) -> tuple[art.Mechanism, list[Cable]]:
    """Return beads that slide in the plane of the cable, and the parts of the cable between them."""
    m = art.Mechanism("chain", gravity=(0, 0, -GRAVITY))
    m.frame("left", "ground").frame("right", "ground", (SPAN, 0, 0))
    for k in range(1, n):
        m.body(f"slide{k}", massless="guides the bead")
        m.body(f"bead{k}", MASS * LENGTH / n, inertia=(1, 1, 1))
        m.joint(f"x{k}", art.Prismatic((1, 0, 0)), "ground", f"slide{k}")
        m.joint(f"z{k}", art.Prismatic((0, 0, 1)), f"slide{k}", f"bead{k}")
    pairs = zip(nodes(n), nodes(n)[1:])
    return m, [Cable(pair, stiffness=STIFFNESS, length=LENGTH / n) for pair in pairs]


def nodes(n: int) -> list[str]:
    return ["left", *(f"bead{k}" for k in range(1, n)), "right"]
