"""Fixed-order design: gradients, limits, several plants; the optimal projection."""

import casadi as ca
import numpy as np
import pytest

from articulus.control import DesignLimits, fixed_order, optimal_projection
from articulus.control.plant import Partition, of_matrices
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.errors import InputError, NumericalError

A = np.array([[0, 1.0, 0, 0], [-1, -0.01, 1, 0.01], [0, 0, 0, 1], [1, 0.01, -2, -0.02]])


def plant(stiffness: float = 1.0):
    """Return two masses on springs: force on the first, position of the second measured; noise on both."""
    D = np.zeros((6, 6))
    D[4, 5] = D[5, 4] = 1.0
    scaled = A.copy()
    scaled[3, :3:2] *= stiffness
    B = np.hstack([np.eye(4), np.zeros((4, 1)), np.eye(4)[:, [1]]])
    return of_matrices(scaled, B, np.vstack([np.eye(4), np.zeros((1, 4)), np.eye(4)[[2]]]), D)


@pytest.mark.parametrize("what", ["square", "peak", "damping"])
def test_gradients_are_exact(what):
    """Against central differences at a stable controller."""
    closed = ClosedLoop(Partition.of(plant(), 1, 1, "test"), 2)
    law = optimal_projection(plant(), 2, commands=1, measured=1).law
    K = np.block([[law.D, law.C], [law.B, law.A]])
    K[1:, 1:] *= 1.01  # not at the minimum
    call = {
        "square": closed.square,
        "peak": closed.peak,
        "damping": lambda K: closed.pole(
            K, lambda s: s.real / np.abs(s), lambda s: 1j * s.imag * s.conjugate() / abs(s) ** 3
        ),
    }[what]
    slope = call(K)[1]
    for i, j in ((1, 0), (0, 2), (2, 1)):
        dK = np.zeros_like(K)
        dK[i, j] = 1e-5
        by = (call(K + dK)[0] - call(K - dK)[0]) / 2e-5
        np.testing.assert_allclose(slope[i, j], by, rtol=2e-4, atol=1e-5 * np.abs(slope).max())


def test_full_order_is_lqg_and_lower_orders_agree_with_the_projection():
    full = optimal_projection(plant(), 4, commands=1, measured=1)
    np.testing.assert_allclose(full.h2, full.full, rtol=1e-9)
    np.testing.assert_allclose(full.projection, np.eye(4), atol=1e-6)
    two = optimal_projection(plant(), 2, commands=1, measured=1)
    assert two.h2 > two.full
    assert np.linalg.matrix_rank(two.projection, 1e-6) == 2
    other = fixed_order(plant(), 2, commands=1, measured=1, starts=2)
    np.testing.assert_allclose(other.h2[0], two.h2, rtol=1e-5)


def test_limits_are_kept_and_cost_something():
    free = fixed_order(plant(), 2, commands=1, measured=1, starts=1, seed=1)
    least = -np.max(free.poles.real / np.abs(free.poles))
    bound = least + 0.1
    held = fixed_order(
        plant(), 2, commands=1, measured=1, starts=1, seed=1, limits=DesignLimits(damping=bound)
    )
    assert np.min(-held.poles.real / np.abs(held.poles)) >= bound * (1 - 2e-3)
    assert held.objective > free.objective


def test_one_controller_for_two_plants():
    plants = [plant(), plant(1.3)]
    both = fixed_order(plants, 2, commands=1, measured=1, starts=2)
    assert len(both.h2) == 2
    assert np.isfinite(both.h2).all()
    alone = fixed_order(plants[0], 2, commands=1, measured=1, starts=2)
    assert both.h2[0] >= alone.h2[0] * (1 - 1e-6)


def test_what_cannot_be_done_is_said():
    with pytest.raises(InputError, match="H2 norm is infinite"):
        fixed_order(
            plant(),
            lambda p: (ca.SX(0, 0), ca.SX(0, 1), ca.SX(1, 0), p[0]),
            [0.01],
            commands=1,
            measured=1,
            starts=1,
        )
    runaway = of_matrices([[1.0, 1], [0, 1]], [[1.0, 0], [0, 1]], [[1.0, 0], [1, 0]], np.diag([1e-3, 0]))
    with pytest.raises(NumericalError, match="no controller of this form"):
        fixed_order(runaway, 0, commands=1, measured=1, h2=0, hinf=1, starts=2)
    with pytest.raises(InputError, match="start"):
        fixed_order(plant(), lambda p: (ca.SX(0, 0), ca.SX(0, 1), ca.SX(1, 0), p[0]), commands=1, measured=1)
