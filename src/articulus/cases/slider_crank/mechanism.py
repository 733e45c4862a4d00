"""The slider-crank of the paper: q = (x1, y1, x2), crank end and slider; two uniform rods of 1 m and 1 kg."""

import casadi as ca
import numpy as np
from casadi import SX

from articulus.cases.points import Points, points

MASS = np.array([[4.0, 0.0, 1.0], [0.0, 4.0, 0.0], [1.0, 0.0, 2.0]]) / 6
GRAVITY = 9.81


def slider_crank() -> Points:
    """Return the equations; both rods have their centres at the height y1 / 2."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    x1, y1, x2 = ca.vertsplit(q)
    phi = ca.vertcat(x1**2 + y1**2 - 1, (x2 - x1) ** 2 + y1**2 - 1) / 2
    return points(MASS, GRAVITY * y1, phi, q, v)
