"""Two four-bar linkages side by side, ten seconds by ALF1 and ALF2 through positions with three degrees of freedom."""

import casadi as ca
import numpy as np
from casadi import SX

import articulus as art
from articulus.cases.points import Points, Run, by_accelerations, by_momenta, points
from articulus.dynamics.loops import regularised

GRAVITY = 9.81
GROUNDS = ((0.0, 0.0), (1.0, 0.0), (2.0, 0.0))
UPRIGHT, RATE = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 1.0]), np.array([1.0, 0.0] * 3)
Y1 = 1


def compute() -> dict:
    system = double_four_bar()
    alf1 = by_accelerations(
        system, lambda p: regularised(p, 1e7, 20.0, iterations=3), UPRIGHT, RATE, Y1, 1e-8
    )
    alf2 = by_momenta(system, UPRIGHT, RATE, Y1, 1e-5, penalty=1e7, frequency=10.0, iterations=10)
    return {
        **joints(),
        "ALF1, frequency 20: passages [s]": alf1.passages,
        **ends("ALF1, frequency 20", alf1),
        "ALF2, frequency 10: passages": len(alf2.passages),
        **ends("ALF2, frequency 10", alf2),
    }


def ends(label: str, run: Run) -> dict:
    return {f"{label}: (x1, y1)(10 s) [m]": run.q[:2], f"{label}: energy error [J]": run.energy_error}


def joints() -> dict:
    """Return what the same linkage in joint coordinates says."""
    m = art.load("n_four_bar", n=2)
    turn = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    upright, level = (m.nv - len(art.independent_rows(m, angle * turn)) for angle in (0.0, np.pi / 2))
    return {
        "energy [J]": sum(m.energy(m.neutral, turn)),
        "freedoms, upright": upright,
        "freedoms, level": level,
    }


def double_four_bar() -> Points:
    """Return five uniform rods of 1 m and 1 kg between three grounds and three points."""
    q, v = SX.sym("q", 6), SX.sym("v", 6)
    moving = ca.vertsplit(q, 2)
    M, height, phi = np.zeros((6, 6)), SX(0), []
    for i, ground in enumerate(GROUNDS):
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += np.eye(2) / 3
        height += moving[i][1] / 2
        phi.append(_stretch(moving[i] - SX(ca.DM(ground))))
    for i in range(2):
        both = slice(2 * i, 2 * i + 4)
        M[both, both] += np.kron([[1 / 3, 1 / 6], [1 / 6, 1 / 3]], np.eye(2))
        height += (moving[i][1] + moving[i + 1][1]) / 2
        phi.append(_stretch(moving[i + 1] - moving[i]))
    return points(M, GRAVITY * height, ca.vertcat(*phi), q, v)


def _stretch(rod: SX) -> SX:
    return (ca.dot(rod, rod) - 1) / 2
