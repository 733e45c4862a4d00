"""The slider-crank of the paper: q = (x1, y1, x2), crank end and slider; two uniform rods of 1 m and 1 kg."""

from dataclasses import replace

import articulus as art
from articulus.cases.points import GRAVITY, Points, points, rods


def slider_crank(across: float | None = None) -> Points:
    """Return the equations; `across` is another mass that y1 feels than that of the rods, 4/6 [kg]."""
    m = rods(
        "slider-crank", {"end": "xy", "slider": "x"}, {"pin": (0.0, 0.0)}, [("pin", "end"), ("end", "slider")]
    )
    system = points(m)
    if across is None:
        return system
    M = system.problem.M
    M[1, 1] = across
    return replace(system, problem=replace(system.problem, M=M))


def linkage() -> art.Mechanism:
    """Return the same rods as a mechanism in joint coordinates: the end of the second, "slider", stays on y = 0."""
    m = art.Mechanism("slider-crank", gravity=(0.0, -GRAVITY, 0.0))
    for name, parent, at in (("crank", "ground", (0, 0, 0)), ("rod", "crank", (1, 0, 0))):
        m.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(1 / 12, 1 / 12, 1 / 12))
        m.joint(f"{name}_pin", art.Revolute((0, 0, 1)), parent, name, at=at)
    m.frame("slider", "rod", at=(1, 0, 0))
    return m.constrain(art.PrescribedPoint("rail", "slider", y=art.Polynomial((0.0,))))
