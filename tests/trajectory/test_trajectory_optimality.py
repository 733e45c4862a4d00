"""Costates, Hamiltonian and switching functions against closed forms; inputs that jump come out sharp; singular arcs are told."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from articulus.errors import InputError
from articulus.motion.trajectory import Phase, ode, solve_problem

SCHEMES = ("hermite_simpson", "radau 3", "lobatto 4", "shooting")


def fast_cart(end: float = 1.0) -> Phase:
    """Return a mass of 1 with a force of at most 1 that goes as far as `end` from rest to rest, in the least time."""
    x, u, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
    given = {"duration": (0.1, 10.0), "start": [0, 0], "end": [end, 0], "u_bounds": [(-1, 1)]}
    return ode(x, u, ca.vertcat(x[1], u), final=T, time=T, **given)


@pytest.mark.parametrize("name", SCHEMES)
def test_costates_of_the_least_effort(name: str) -> None:
    """u = 6 - 12 t, J = 12 d^2 for a distance d: dJ/dx = -24 at the start, p_v = -2 u, H = u^2 + p_x v - 2 u^2 = -36 everywhere."""
    x, u = SX.sym("x", 2), SX.sym("u", 1)
    phase = ode(x, u, ca.vertcat(x[1], u), duration=1.0, start=[0, 0], end=[1, 0], running=u**2)
    plan = solve_problem(phase, scheme=name, intervals=16)
    p = plan.costates[0]
    assert p[:, 0] == pytest.approx(np.full(len(plan.t), -24.0), abs=1e-5)
    # linear inputs and steps of order 4 have costates of order 2 at the nodes
    assert p[:, 1] == pytest.approx(-2 * (6 - 12 * plan.t), abs=0.1 if name == "shooting" else 1e-5)
    assert plan.hamiltonian[0] == pytest.approx(np.full(len(plan.t), -36.0), abs=0.5)


@pytest.mark.parametrize("name", SCHEMES)
def test_hamiltonian_of_a_free_duration(name: str) -> None:
    """A pendulum that pays 1 per second: H, without that, is -1 everywhere; it is constant the better the finer the mesh."""
    x, u, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
    rates = ca.vertcat(x[1], u - ca.sin(x[0]))
    phase = ode(x, u, rates, duration=(0.5, 9.0), start=[0, 0], end=[1, 0], running=u**2, final=T, time=T)
    off = [
        np.abs(solve_problem(phase, scheme=name, intervals=n, tolerance=1e-10).hamiltonian[0] + 1).max()
        for n in (10, 20)
    ]
    assert off[1] < 0.02
    assert off[1] < off[0] / 3


@pytest.mark.parametrize("name", SCHEMES)
def test_inputs_that_jump_come_out_sharp(name: str) -> None:
    """T = 2; 7 intervals have no node where the force turns. S is the costate of the speed, t - 1."""
    coarse = solve_problem(fast_cart(), scheme=name, intervals=7)
    assert re.search(r"inputs jump inside of intervals, at t = (1|0\.99|1\.00)", str(coarse))
    sharp = solve_problem(fast_cart(), scheme=name, intervals=7, error=1e-5)
    assert sharp.duration == pytest.approx(2, abs=2e-6)
    assert "inputs jump inside" not in str(sharp)
    away = np.abs(sharp.t - 1) > 0.02
    assert np.abs(sharp["u"][away]) == pytest.approx(np.ones(away.sum()), abs=1e-4)
    S = sharp.switching[0][:, 0]
    inner = away & (sharp.t > 0.01) & (sharp.t < 1.99)  # the ends of steps have half the weight
    # linear inputs have the mean of S over both intervals of a node, which may be of different lengths
    assert S[inner] == pytest.approx((sharp.t - 1)[inner], abs=0.1 if name == "shooting" else 0.02)


def test_a_switch_off_the_middle() -> None:
    """x' = v, v' = u - 0.5: up with 0.5, down with 1.5, so T = sqrt(2 (1 / 0.5 + 1 / 1.5)) and the force turns at 3 T / 4."""
    x, u, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
    given = {"duration": (0.1, 10.0), "start": [0, 0], "end": [1, 0], "u_bounds": [(-1, 1)]}
    phase = ode(x, u, ca.vertcat(x[1], u - 0.5), final=T, time=T, **given)
    exact = np.sqrt(2 * (1 / 0.5 + 1 / 1.5))
    sharp = solve_problem(phase, intervals=9, error=1e-6)
    assert sharp.duration == pytest.approx(exact, rel=1e-5)
    assert np.abs(sharp.meshes[0] - 0.75).min() < 1e-3


def test_singular_arcs_do_not_chatter_silently() -> None:
    """x' = u, least integral of x^2 from 1: u = -1 to the time 1, then 0, cost 1/3. Radau's inputs settle, those of Hermite-Simpson swing."""
    x, u = SX.sym("x", 1), SX.sym("u", 1)
    phase = ode(x, u, u, duration=5.0, start=[1], u_bounds=[(-1, 1)], running=x**2)
    with pytest.warns(
        UserWarning, match=r"u swings from point to point between t = 1.* and 4.* s.*a singular arc"
    ):
        swinging = solve_problem(phase, intervals=33)
    assert swinging.cost == pytest.approx(1 / 3, rel=1e-3)
    calm = solve_problem(phase, intervals=33, scheme="radau 3")
    assert calm.cost == pytest.approx(1 / 3, rel=1e-4)
    assert np.abs(calm["u"][calm.t > 1.5]).max() < 1e-3


def test_who_has_no_costates_says_so() -> None:
    weak = solve_problem(fast_cart(), scheme="weak", intervals=8)
    with pytest.raises(InputError, match=r'found the scheme "weak"; expected collocation or shooting'):
        _ = weak.switching


def goddard() -> Phase:
    """Return the rocket that shall rise as high as it can (Dolan, Moré & Munson 2004): full thrust, a singular arc, none."""
    x, u, T = SX.sym("x", 3), SX.sym("u", 1), SX.sym("T")
    h, v, m = ca.vertsplit(x)
    drag = 310 * v**2 * ca.exp(-500 * (h - 1))
    return ode(
        x,
        u,
        ca.vertcat(v, (3.5 * u - drag) / m - 1 / h**2, -7 * u),
        duration=(0.02, 1.0),
        start=[1, 0, 1],
        end=[None, None, 0.6],
        u_bounds=[(0, 1)],
        x_bounds=[(1, 1.2), (0, 2), (0.6, 1)],
        final=-h,
        time=T,
        guess=([[1, 0, 1], [1.01, 0.05, 0.6]], [[0.5]]),
        scale=([0.01, 0.1, 1], [1]),
    )


def test_goddards_rocket() -> None:
    """Printed 1.01283. The duration is free and costs nothing, so the Hamiltonian is zero; on the singular arc the thrust is inside."""
    calm = solve_problem(goddard(), scheme="shooting", intervals=60)
    assert -calm.cost == pytest.approx(1.01283, abs=1e-5)
    largest = np.abs(calm.costates[0]).max()
    assert np.abs(calm.hamiltonian[0]).max() < 1e-3 * largest
    inside = (calm["u"] > 0.05) & (calm["u"] < 0.95)
    assert inside.sum() > 10
    with pytest.warns(UserWarning, match=r"u swings from point to point"):
        swinging = solve_problem(goddard(), intervals=40)
    assert swinging.cost == pytest.approx(calm.cost, abs=1e-5)
