"""Inertial parameters from joint forces: exact for exact data, and as far off as their deviations say for noisy ones."""

import numpy as np
import pytest

import articulus as art
from articulus.design import inertial_fit
from articulus.design.inertial_fit import impossible_bodies
from articulus.design.regression import Regression
from articulus.errors import DoubtfulResult, InputError


def states(mech, rows, seed=0):
    rng = np.random.default_rng(seed)
    return mech.random_position(rng, rows), *rng.normal(size=(2, rows, mech.nv)) * 2


@pytest.fixture(scope="module")
def arm():
    return art.load("puma600")


def test_exact_forces_give_the_combinations(arm):
    q, v, a = states(arm, 200)
    tau = arm.inverse_dynamics(q, v, a)
    found = inertial_fit(arm, q, v, a, tau)
    true = found.base.of(Regression(arm).values())
    np.testing.assert_allclose(found.values, true, atol=1e-8 * np.abs(true).max())
    assert not found.impossible


def test_friction_of_a_changed_machine_is_found(arm):
    regression = Regression(arm, ("damping", "coulomb", "armature"))
    q, v, a = states(arm, 300, 1)
    phi = regression.values()
    phi[-3 * arm.nv :] += np.random.default_rng(2).uniform(0.1, 1.0, 3 * arm.nv)
    tau = regression.known(q, v, a) + regression.matrix(q, v, a) @ phi
    found = inertial_fit(arm, q, v, a, tau, ("damping", "coulomb", "armature"))
    np.testing.assert_allclose(found.values, found.base.of(phi), atol=1e-7 * np.abs(phi).max())
    back = (
        regression.known(q, v, a) + regression.matrix(q, v, a) @ found.full
    )  # the way back explains the forces as well
    np.testing.assert_allclose(back, tau, atol=1e-8 * np.abs(tau).max())


@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_estimates_spread_as_their_deviations_say(arm):
    away, noise = [], np.linspace(0.1, 2.0, arm.nv)
    for seed in range(10):
        q, v, a = states(arm, 400, seed)
        tau = arm.inverse_dynamics(q, v, a) + noise * np.random.default_rng(50 + seed).normal(
            size=(400, arm.nv)
        )
        tau[7:30, 2] = np.nan
        found = inertial_fit(arm, q, v, a, tau)
        away.append((found.values - found.base.of(Regression(arm).values())) / found.deviations)
        np.testing.assert_allclose(found.noise, noise, rtol=0.15)  # 400 samples: 3.5 percent, four times that
    size = np.sqrt(np.mean(np.square(away)))
    assert size == pytest.approx(1.0, abs=0.15)  # some 300 normal numbers: 0.04


def test_bodies_that_cannot_exist_are_named(arm):
    phi = Regression(arm).values()
    assert impossible_bodies(arm, phi) == ()
    phi[10] = -1.0
    assert impossible_bodies(arm, phi) == (arm.body_names[1],)


def test_poor_motions_are_doubted(arm):
    rng = np.random.default_rng(0)
    q = np.zeros((200, arm.nq)) + 1e-4 * rng.normal(size=(200, arm.nq))
    v, a = 1e-3 * rng.normal(size=(2, 200, arm.nv))
    with pytest.warns(DoubtfulResult):
        found = inertial_fit(arm, q, v, a, arm.inverse_dynamics(q, v, a))
    assert "hardly tells the parameters apart" in found.warnings[0]


def test_bad_input(arm):
    q, v, a = states(arm, 5)
    tau = arm.inverse_dynamics(q, v, a)
    for given, word in (
        ((q, v, a, tau[:3]), "tau has shape"),
        ((q, v, a * np.inf, tau), "vdot holds"),
        ((q[:2], v[:2], a[:2], tau[:2]), "more samples"),
    ):
        with pytest.raises(InputError, match=word):
            inertial_fit(arm, *given)
