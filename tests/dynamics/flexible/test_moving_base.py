"""A beam on a base that moves in the plane, against the equations of Padilla & von Flotow 1989 at the three levels.

The printed equations hold to first order in the modal coordinates, rates and accelerations; so the package's inverse
dynamics is differentiated by them at zero. Body-frame speeds v1, v2 along and across the beam, v3 its angular rate.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism.modes import LEVELS
from flexible_zoo import Cloud

P = 60
X = (np.arange(P) + 0.5) / P
RHO = np.full(P, 1.3 / P)
PHI = np.stack([X**2, X**3 - 0.4 * X**2], axis=1)
SLOPES = (np.array([2.0, 0.0]), np.array([-0.8, 3.0]))
"""Slope of each shape as a x + b x^2."""
K = np.array([[30.0, 2.0], [2.0, 300.0]])
MU_OF_X = np.array(
    [
        [
            [
                a[0] * b[0] * x**3 / 3 + (a[0] * b[1] + a[1] * b[0]) * x**4 / 4 + a[1] * b[1] * x**5 / 5
                for b in SLOPES
            ]
            for a in SLOPES
        ]
        for x in X
    ]
)
"""(P, 2, 2) integral of slope_i slope_j from 0 to x."""
HUB, HUB_INERTIA, OFFSET = 3.0, 0.2, 0.15
M_B, E1, I_B = RHO.sum(), (RHO * X).sum(), (RHO * X**2).sum()
E, F, G = RHO @ PHI, (RHO * X) @ PHI, np.einsum("p,pi,pj->ij", RHO, PHI, PHI)
MU, ETA = np.einsum("p,pij->ij", RHO, MU_OF_X), np.einsum("p,pij->ij", RHO * X, MU_OF_X)


def mechanism(level: str) -> art.Mechanism:
    r, phi, h = np.zeros((P, 3)), np.zeros((P, 3, 2)), np.zeros((P, 3, 2, 2))
    r[:, 0], phi[:, 1], h[:, 0] = X, PHI, -MU_OF_X
    beam = Cloud(RHO, r, phi, h).modes(K, np.zeros((2, 2)), {}).at_level(level)
    m = art.Mechanism("base", gravity=(0, 0, 0))
    m.body("hub", mass=HUB, inertia=(1.0, 1.0, HUB_INERTIA)).flexible("beam", beam)
    m.joint("float", art.Free(), parent="ground", child="hub")
    m.joint("clamp", art.Fixed(), parent="hub", child="beam", at=(OFFSET, 0, 0))
    return m


def printed(level: str, v: np.ndarray, a: np.ndarray, q, qd, qdd):
    """Return the forces on (v1, v2, v3, modes): left-hand side less right-hand side of the printed rows."""
    (v1, v2, v3), (a1, a2, a3), m, b = v, a, HUB + M_B, OFFSET
    Eq, Eqd, Eqdd = (ca.dot(ca.DM(E), x) for x in (q, qd, qdd))
    mu, eta, g = ((lambda x, A=A: ca.mtimes(ca.DM(A), x)) for A in (MU, ETA, G))
    kept, stiff = float(level != "ruthless"), float(level == "consistent")
    rows = [
        m * a1 - kept * Eq * a3 - m * v2 * v3 - v3**2 * (b * M_B + E1) - kept * 2 * v3 * Eqd,
        m * a2 + (b * M_B + E1) * a3 + Eqdd + m * v3 * v1 - kept * v3**2 * Eq,
        -kept * Eq * a1 + (b * M_B + E1) * a2 + (b**2 * M_B + 2 * E1 * b + I_B + HUB_INERTIA) * a3
        + ca.dot(ca.DM(b * E + F), qdd) + kept * v2 * v3 * Eq + v3 * v1 * (b * M_B + E1),
    ]  # fmt: skip
    modal = ca.DM(E) * a2 + ca.DM(b * E + F) * a3 + g(qdd) + v3 * v1 * ca.DM(E) - kept * v3**2 * g(q)
    modal += stiff * (-mu(q) * a1 + v3**2 * (b * mu(q) + eta(q)) + v2 * v3 * mu(q)) + ca.mtimes(ca.DM(K), q)
    return ca.vertcat(*rows, modal)


@pytest.mark.parametrize("level", LEVELS)
def test_equations_to_first_order_in_the_deformation(level: str) -> None:
    m, rng = mechanism(level), np.random.default_rng(6)
    q, qd, qdd = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    v, a = rng.normal(size=(2, 3))
    d = m.description
    free, modal = d.v_slices["float"], d.mode_slices("beam")[0]
    names = [name.split(".")[-1] for name in d.coordinate_names(rates=True)[free]]
    at = [names.index(n) for n in ("vx", "vy", "wz")]
    V, A = ca.SX.zeros(m.nv), ca.SX.zeros(m.nv)
    for k, i in enumerate(at):
        V[free.start + i], A[free.start + i] = v[k], a[k]
    V[modal], A[modal] = qd, qdd
    Q = ca.SX(ca.DM(m.neutral))
    Q[d.mode_slices("beam")[1]] = q
    tau = m.function("inverse_dynamics")(Q, V, A)
    found = ca.vertcat(*(tau[free.start + i] for i in at), tau[modal])
    x = ca.vertcat(q, qd, qdd)
    for part in (lambda y: y, lambda y: ca.jacobian(y, x)):
        both = ca.Function("both", [x], [part(found), part(printed(level, v, a, q, qd, qdd))])
        ours, theirs = (np.array(y) for y in both(np.zeros(6)))
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
