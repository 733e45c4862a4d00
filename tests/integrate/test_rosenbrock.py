"""The coefficients of the Rosenbrock method fulfil their conditions, and stiff problems are cheap."""

import numpy as np
import pytest
from motions import relaxation, relaxation_end, relaxation_jacobian

from articulus.simulation.integrate import Linearized, Rosenbrock


def triangle(rows):
    out = np.zeros((6, 6))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


# Hairer & Wanner 1996, section IV.7: Gamma from C = I / gamma - Gamma^-1, alpha = A Gamma, weights = m Gamma
GAMMA = np.linalg.inv(np.eye(6) / Rosenbrock.gamma - triangle(Rosenbrock.couplings))
ALPHA = triangle(Rosenbrock.stages) @ GAMMA
BETA = ALPHA + GAMMA
WEIGHTS = np.array([*Rosenbrock.stages[5], 1.0]) @ GAMMA
EMBEDDED = np.array([*Rosenbrock.stages[5], 0.0]) @ GAMMA


def conditions(b):
    """Return left and right sides of the order conditions (table 7.1 there), by order."""
    a, beta = ALPHA.sum(axis=1), BETA.sum(axis=1)
    return {
        1: [(b.sum(), 1)],
        2: [(b @ beta, 1 / 2)],
        3: [(b @ a**2, 1 / 3), (b @ BETA @ beta, 1 / 6)],
        4: [
            (b @ a**3, 1 / 4),
            (b @ (a * (ALPHA @ beta)), 1 / 8),
            (b @ BETA @ a**2, 1 / 12),
            (b @ BETA @ BETA @ beta, 1 / 24),
        ],
    }


def test_order_conditions():
    """Printed with 16 digits, of which sums with large terms lose some."""
    for order, pairs in conditions(WEIGHTS).items():
        for left, right in pairs:
            assert abs(left - right) < 1e-13, order
    embedded = conditions(EMBEDDED)
    for order in (1, 2, 3):
        for left, right in embedded[order]:
            assert abs(left - right) < 1e-13, order
    assert max(abs(left - right) for left, right in embedded[4]) > 1e-3


@pytest.mark.parametrize("theta", [0.2, 0.5, 0.9, 1.0])
def test_order_conditions_of_the_dense_output(theta):
    """Order 3 anywhere in the step: the conditions with powers of theta on the right."""
    y, z = Rosenbrock.dense
    b = (theta * (np.array([*Rosenbrock.stages[5], 1.0]) + y) + theta**2 * (z - y) - theta**3 * z) @ GAMMA
    scale = {1: theta, 2: theta**2, 3: theta**3}
    for order, pairs in conditions(b).items():
        for left, right in pairs if order < 4 else []:
            assert abs(left - scale[order] * right) < 1e-13, order


def test_sums_of_rows_are_the_nodes():
    np.testing.assert_allclose(ALPHA.sum(axis=1), Rosenbrock.nodes, atol=1e-14)
    np.testing.assert_allclose(GAMMA.sum(axis=1), Rosenbrock.time_weights, atol=1e-14)


def test_it_is_l_stable():
    """|R(i y)| <= 1 on the imaginary axis, and R = 1 + z b (I - z B)^-1 1 vanishes at infinity, embedded too."""
    for b in (WEIGHTS, EMBEDDED):
        assert abs(1 - b @ np.linalg.solve(BETA, np.ones(6))) < 1e-12
    for y in np.logspace(-2, 6, 200):
        R = 1 + 1j * y * WEIGHTS @ np.linalg.solve(np.eye(6) - 1j * y * BETA, np.ones(6))
        assert abs(R) <= 1 + 1e-12


def test_stiff_van_der_pol_against_radau():
    """Two jumps of the relaxation oscillation, whose times magnify errors of the slow branches."""
    solution = Rosenbrock().integrate(
        Linearized(relaxation, relaxation_jacobian), 0.0, 2000.0, [2.0, 0.0], 1e-7, 1e-9
    )
    np.testing.assert_allclose(solution.x[-1], relaxation_end(), rtol=1e-5)
    assert solution.statistics.steps < 2000
    assert solution.statistics.factorizations == solution.statistics.attempts
    assert solution.statistics.jacobians == solution.statistics.steps


def test_a_fast_transient_does_not_bind_the_steps():
    """Prothero & Robinson's problem with rate 1e8, the time derivative by a difference: x follows cos t."""
    rate = 1e8
    stiff = Linearized(lambda t, x: -rate * (x - np.cos(t)) - np.sin(t), lambda t, x: -rate * np.eye(1))
    solution = Rosenbrock().integrate(stiff, 0.0, 10.0, [1.0], 1e-6, 1e-6)
    np.testing.assert_allclose(solution.x[:, 0], np.cos(solution.t), atol=1e-5)
    assert solution.statistics.attempts < 200
