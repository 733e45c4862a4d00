"""The slider-crank of the paper: q = (x1, y1, x2), crank end and slider; two uniform rods of 1 m and 1 kg."""

import casadi as ca
import numpy as np
from casadi import SX

import articulus as art
from articulus.cases.points import Points, points

MASS = np.array([[4.0, 0.0, 1.0], [0.0, 4.0, 0.0], [1.0, 0.0, 2.0]]) / 6
GRAVITY = 9.81


def slider_crank(across: float = 4 / 6) -> Points:
    """Return the equations; both rods have their centres at the height y1 / 2. `across` is the mass that y1 feels [kg]."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    x1, y1, x2 = ca.vertsplit(q)
    phi = ca.vertcat(x1**2 + y1**2 - 1, (x2 - x1) ** 2 + y1**2 - 1) / 2
    mass = MASS.copy()
    mass[1, 1] = across
    return points(mass, GRAVITY * y1, phi, q, v)


def linkage() -> art.Mechanism:
    """Return the same rods as a mechanism in joint coordinates: the end of the second, "slider", stays on y = 0."""
    m = art.Mechanism("slider-crank", gravity=(0.0, -GRAVITY, 0.0))
    for name, parent, at in (("crank", "ground", (0, 0, 0)), ("rod", "crank", (1, 0, 0))):
        m.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(1 / 12, 1 / 12, 1 / 12))
        m.joint(f"{name}_pin", art.Revolute((0, 0, 1)), parent, name, at=at)
    m.frame("slider", "rod", at=(1, 0, 0))
    return m.constrain(art.PrescribedPoint("rail", "slider", y=art.Polynomial((0.0,))))
