"""Flexible mechanisms with one coordinate in all, or none: every question has an answer, and runs go through."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
from articulus.dynamics.energy import total_mass
from articulus.dynamics.quantities import QUANTITIES, Quantity
from articulus.errors import UnsupportedOperation
from articulus.structure import beam_body

LENGTH, EI, DENSITY = 1.0, 4e4, 3.0


@functools.cache
def cantilever() -> art.Mechanism:
    """Return one mode on a fixed joint: the only coordinate is modal."""
    m = art.Mechanism("cantilever")
    m.flexible("beam", beam_body(LENGTH, EI=EI, mass_per_length=DENSITY, modes=1, damping=None))
    m.joint("weld", art.Fixed(), "ground", "beam", child_at=art.Pose(rpy=(np.pi / 2, 0, 0)))
    return m.frame("tip", "beam", node="tip")


@functools.cache
def hinged() -> art.Mechanism:
    """Return a beam without modes on a hinge: the only coordinate is the joint's."""
    m = art.Mechanism("hinged")
    m.flexible("beam", beam_body(LENGTH, EI=EI, mass_per_length=DENSITY, modes=0))
    return m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "beam").frame("tip", "beam", node="tip")


@functools.cache
def still() -> art.Mechanism:
    """Return a beam without modes on a fixed joint: no coordinate at all."""
    m = art.Mechanism("still")
    m.flexible("beam", beam_body(LENGTH, EI=EI, mass_per_length=DENSITY, modes=0))
    return m.joint("weld", art.Fixed(), "ground", "beam").frame("tip", "beam", node="tip")


@pytest.mark.parametrize("make", [cantilever, hinged, still])
@pytest.mark.parametrize(
    "name", [n for n, row in QUANTITIES.items() if n != "center_of_mass" and row.flexible]
)
def test_every_quantity_has_its_shape(make, name):
    m = make()
    f = m.function(name, ("tip", "tip")[: QUANTITIES[name].frames])
    found = f.call([np.zeros(f.size_in(i)) for i in range(f.n_in())])
    assert len(found) == len(QUANTITIES[name].outputs)
    assert all(np.isfinite(np.array(x)).all() for x in found)


def test_a_quantity_without_a_form_for_flexible_bodies_refuses_them(monkeypatch):
    """What a row does not vouch for with modes is refused: no number is better than a wrong one."""
    monkeypatch.setitem(QUANTITIES, "total_mass", Quantity((), ("mass",), lambda s: (total_mass(s.tree),)))
    with pytest.raises(UnsupportedOperation, match="'total_mass' of a mechanism with flexible bodies"):
        cantilever().function("total_mass")


def test_first_frequency_and_sag_of_a_cantilever():
    """omega = lambda^2 sqrt(EI / rho L^4), and the share of the first mode in the sag rho g L^4 / 8 EI, 32 sigma / lambda^5.

    lambda = 1.8751041 and sigma = 0.7340955 are those of the clamped-free beam (Blevins, table 8-1). Sixteen elements err by
    about 1e-6 of the frequency; the sag is a ten-thousandth of the length, so that terms of second order are less.
    """
    m, root, sigma = cantilever(), 1.8751041, 0.7340955
    omega = np.abs(m.linearize().poles.imag).max()
    assert omega == pytest.approx(root**2 * np.sqrt(EI / (DENSITY * LENGTH**4)), rel=1e-5)
    rest = art.equilibrium(m)
    exact = DENSITY * m.gravity_vector[2] * LENGTH**4 / (8 * EI)
    assert m.pose("tip", rest.q)[2, 3] == pytest.approx(32 * sigma / root**5 * exact, rel=1e-5)
    period = 2 * np.pi / omega
    run = art.simulate(m, period, v0=[0.05], q0=rest.q, step=period / 100)
    # a full period later it is back, but for RK4's (2 pi)^5 / 120 / 100^4 of the amplitude 0.05 / omega
    assert_allclose(run.q[-1], rest.q, atol=2e-6 * 0.05 / omega)


def test_a_beam_without_modes_is_a_rod():
    m, q = hinged(), np.array([0.3])
    inertia = DENSITY * LENGTH**3 / 3
    assert_allclose(m.mass_matrix(q), [[inertia]], rtol=1e-9)
    moment = DENSITY * LENGTH * m.gravity_vector[2] * LENGTH / 2 * np.cos(0.3)
    assert_allclose(m.gravity(q), [moment], rtol=1e-9)
    assert_allclose(m.forward_dynamics(q, [0.0], [0.0]), [-moment / inertia], rtol=1e-9)
    runs = art.rollout(m, 0.05, q0=np.array([[0.3], [0.4]]))
    assert_allclose(runs.q[0, -1], art.simulate(m, 0.05, q0=q).q[-1], rtol=1e-9)


def test_runs_without_any_coordinate():
    run = art.simulate(still(), 0.01)
    assert run.q.shape[-1] == 0
