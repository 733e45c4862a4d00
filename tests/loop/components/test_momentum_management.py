"""A station at its torque equilibrium, and what is felt on it."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus import spacecraft as sc
from articulus.simulation.loop import components as c

J = (6.8e7, 1.5e7, 7.9e7)
"""Pitch is unstable under gravity gradient: Jx < Jz."""
ORBIT = sc.Orbit(6.778e6)
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
NAMES = ("store_x", "store_y", "store_z")
STEADY = np.array([0.5, 3.0, 0.5])
"""Torque of drag and the like [N m]."""


def station() -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    m = art.Mechanism("station", gravity=(0, 0, 0))
    m.body("hub", 2e5, (0, 0, 0), J).joint("hub", art.Free(), "ground", "hub")
    m.frame("rack", "hub", (5.0, 0.0, -3.0))
    s = ORBIT.state()
    R = np.array([[0, 0, -1.0], [1, 0, 0], [0, -1, 0]])
    return (
        m,
        np.array([*art.spatial.quaternion_of_rotation(R), *s.position]),
        np.array([0, -ORBIT.rate, 0, *(R.T @ s.velocity)]),
    )


def test_matrices_are_those_of_the_motion() -> None:
    """Pitch alone: theta'' = 3 n^2 (Jz - Jx) / Jy theta, in the book's form (Hughes 1986, section 9.1), and roll-yaw is coupled by n."""
    A, B = sc.station_matrices(J, ORBIT.rate)
    n = ORBIT.rate
    assert A[4, 1] == pytest.approx(3 * n**2 * (J[2] - J[0]) / J[1], rel=1e-12)
    assert A[3, 0] == pytest.approx(-4 * n**2 * (J[1] - J[2]) / J[0], rel=1e-12)
    np.testing.assert_allclose(B[3:6], -np.diag(1 / np.array(J)), rtol=1e-12)
    assert np.linalg.eigvals(A).real.max() > 1e-4


def test_mean_momentum_goes_to_zero_at_the_torque_equilibrium() -> None:
    """After some orbits momentum is zero and gravity gradient carries the steady torque about pitch, by its closed form."""
    m, q0, v0 = station()
    K = sc.momentum_gains(J, ORBIT.rate, angle=0.1, momentum=1e4, torque=10.0)
    A, B = sc.station_matrices(J, ORBIT.rate)
    assert np.linalg.eigvals(A - B @ K).real.max() < -0.1 * ORBIT.rate
    parts = [
        c.spacecraft.SpaceEnvironment("hub"),
        c.CentralGravity(),
        *(c.spacecraft.Tachometer(n) for n in NAMES),
        c.spacecraft.Microgravity("rack"),
        c.spacecraft.HillPointing(),
        c.spacecraft.MomentumManagement("hub", K, NAMES, name="manager"),
        c.spacecraft.TorqueAllocation("manager.torque", AXES, NAMES),
        *(
            c.ReactionWheel("hub", 100.0, a, name=n, momentum=-1e2 * x)
            for a, n, x in zip(AXES, NAMES, v0[:3])
        ),
        c.PrescribedForce("hub", (*STEADY, 0, 0, 0)),
    ]
    run = art.simulate(m, 60000.0, q0, v0, components=parts, method="rk8", step=20.0, sample=200.0)
    held = np.array([np.ravel(run[f"{n}.momentum"])[-1] for n in NAMES])
    assert np.abs(held).max() < 0.05 * np.abs(np.array([run[f"{n}.momentum"] for n in NAMES])).max()
    theta = run["manager.angles"][-1]
    carried = 3 * ORBIT.rate**2 * (J[2] - J[0]) * np.sin(theta[1]) * np.cos(theta[1])
    assert carried == pytest.approx(-STEADY[1], rel=0.03)
    felt = np.linalg.norm(run["rack_microgravity.acceleration"][-1])
    assert 1e-7 < felt < 1e-4


def test_nothing_is_felt_at_the_center_and_the_gradient_elsewhere() -> None:
    """A station that turns with its orbit: 3 n^2 z towards or from the Earth, n^2 y across the plane, nothing along."""
    m, q0, v0 = station()
    m = art.Mechanism("station", gravity=(0, 0, 0))
    m.body("hub", 2e5, (0, 0, 0), (1.0, 1.0, 1.0)).joint("hub", art.Free(), "ground", "hub")
    m.frame("rack", "hub", (5.0, 2.0, -3.0))
    parts = [c.CentralGravity(), c.spacecraft.Microgravity("hub"), c.spacecraft.Microgravity("rack")]
    run = art.simulate(m, 1.0, q0, v0, components=parts, step=1.0)
    n2 = ORBIT.rate**2
    assert np.abs(run["hub_microgravity.acceleration"][0]).max() < 1e-12
    np.testing.assert_allclose(
        run["rack_microgravity.acceleration"][0], [0.0, n2 * 2.0, 3 * n2 * 3.0], atol=3e-10
    )


def test_wrong_numbers_are_told() -> None:
    with pytest.raises(art.InputError, match="three"):
        c.spacecraft.MomentumManagement("hub", np.zeros((3, 12)), ("a",))
    with pytest.raises(art.InputError, match="above 0"):
        sc.momentum_gains(J, 1e-3, angle=0.0, momentum=1.0, torque=1.0)
    with pytest.raises(art.InputError, match="3 or 6"):
        sc.station_matrices((1, 2), 1e-3)
