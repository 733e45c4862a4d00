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


def smooth_motion(mech, t, seed=0):
    rng = np.random.default_rng(seed)
    w = 2 * np.pi / 5 * np.arange(1, 5)
    a, b = 0.3 * rng.normal(size=(2, mech.nv, 4))
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    return s @ a.T + c @ b.T, (c * w) @ a.T - (s * w) @ b.T, -(s * w * w) @ a.T - (c * w * w) @ b.T


@pytest.mark.parametrize(("form", "tolerance"), [("momentum", 1e-7), ("energy", 1e-5)])
@pytest.mark.filterwarnings("ignore::articulus.errors.DoubtfulResult")
def test_sums_over_time_need_no_accelerations(arm, form, tolerance):
    """Simpson's rule at 1.25 ms is 1e-9 off; the energy of all joints together is conditioned like 5e3."""
    t = np.linspace(0, 5, 4001)
    q, v, a = smooth_motion(arm, t)
    terms = ("damping", "armature")
    tau = arm.inverse_dynamics(q, v, a)
    found = inertial_fit(arm, q, v, None, tau, terms, form=form, t=t)
    true = found.base.of(Regression(arm, terms).values())
    np.testing.assert_allclose(found.values, true, atol=tolerance * np.abs(true).max())


@pytest.mark.filterwarnings("ignore:.*no rigid body")
def test_momentum_form_bears_noisy_velocities(arm):
    """Accelerations by differences of noisy velocities ruin the fit; sums of momentum do not, with the deviations they say."""
    t = np.linspace(0, 5, 2001)
    q, v, a = smooth_motion(arm, t)
    rng = np.random.default_rng(3)
    tau = arm.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=v.shape)
    tau[400:440, 1] = np.nan
    noisy = v + 2e-3 * rng.normal(size=v.shape)
    sums = inertial_fit(arm, q, noisy, None, tau, form="momentum", t=t, window=40)
    with pytest.warns(DoubtfulResult):
        plain = inertial_fit(arm, q, noisy, np.gradient(noisy, t, axis=0), tau)
    true = Regression(arm).values()
    off = [np.linalg.norm((f.values - f.base.of(true)) / sums.deviations) for f in (sums, plain)]
    assert off[0] < 0.2 * off[1]
    assert off[0] / np.sqrt(len(sums.values)) < 2.0


def test_consistent_inertias(arm):
    """Bodies of the fit exist, and the combinations are no further from the truth than deviations say."""
    pytest.importorskip("clarabel")
    q, v, a = states(arm, 150, 4)
    tau = arm.inverse_dynamics(q, v, a)
    tau = tau + 0.3 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(1).normal(size=tau.shape)
    with pytest.warns(DoubtfulResult, match="no rigid body"):
        plain = inertial_fit(arm, q, v, a, tau)
    assert plain.impossible
    found = inertial_fit(arm, q, v, a, tau, consistent=True)
    assert found.impossible == ()
    true = Regression(arm).values()
    away = (found.base.of(found.full) - found.base.of(true)) / found.deviations
    assert np.sqrt(np.mean(away**2)) < 1.5


def test_consistent_inertias_of_good_data_are_those_of_the_fit(arm):
    pytest.importorskip("clarabel")
    q, v, a = states(arm, 200, 5)
    tau = arm.inverse_dynamics(q, v, a)
    found = inertial_fit(
        arm, q, v, a, tau + 1e-4 * np.random.default_rng(1).normal(size=tau.shape), consistent=True
    )
    away = (found.base.of(found.full) - found.values) / found.deviations
    assert np.abs(away).max() < 0.05


def test_pseudo_inertia_is_that_of_points():
    """Sum of m r r' of random points, and J from it."""
    from articulus.design.consistent_inertias import pseudo_inertia

    rng = np.random.default_rng(0)
    m, r = rng.uniform(1, 2, 5), rng.normal(size=(5, 3))
    h, S = m @ r, np.einsum("k,ki,kj->ij", m, r, r)
    J = np.trace(S) * np.eye(3) - S
    ten = [m.sum(), *h, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    expected = np.block([[S, h[:, None]], [h[None], np.array([[m.sum()]])]])
    np.testing.assert_allclose(pseudo_inertia(ten), expected, atol=1e-12)


def test_bad_forms(arm):
    q, v, a = states(arm, 50)
    tau = arm.inverse_dynamics(q, v, a)
    with pytest.raises(InputError, match="expected vdot"):
        inertial_fit(arm, q, v, None, tau)
    with pytest.raises(InputError, match="rising times"):
        inertial_fit(arm, q, v, None, tau, form="energy")
    with pytest.raises(InputError, match="form = 'power'"):
        inertial_fit(arm, q, v, None, tau, form="power")
    with pytest.raises(InputError, match="window = 1"):
        inertial_fit(arm, q, v, None, tau, form="momentum", t=np.arange(50.0), window=1)
