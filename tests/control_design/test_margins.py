"""Margins against closed forms, python-control and the poles of the loop that is changed by them."""

import control
import numpy as np
import pytest

from articulus.control import as_plant, lqg, lqr, margins, open_loop, with_delays
from articulus.control.connect import series
from articulus.errors import DoubtfulResult, InputError


def unstable(A, B, C, D, gain):
    """Number of unstable poles with L replaced by gain L (a matrix on the inputs)."""
    m = B.shape[1]
    closed = A - B @ gain @ np.linalg.solve(np.eye(m) + D @ gain, C)
    return np.count_nonzero(np.linalg.eigvals(closed).real > 0)


def test_margins_of_a_single_loop_in_closed_form():
    """L = k / (s (s + 1)^2): phase -180 at 1 rad/s, where |L| = k / 2."""
    found = margins(control.tf([0.5], np.poly([0, -1, -1]))).channels[0]
    assert found.gain_up == pytest.approx(4.0, rel=1e-9)
    assert found.omega_up == pytest.approx(1.0, rel=1e-9)
    gain, phase, _, _, crossing, _ = control.stability_margins(control.tf([0.5], np.poly([0, -1, -1])))
    assert gain == pytest.approx(4.0)
    assert np.degrees(found.phase) == pytest.approx(phase, rel=1e-6)
    assert found.omega_phase == pytest.approx(crossing, rel=1e-6)
    assert found.delay == pytest.approx(found.phase / found.omega_phase, rel=1e-9)


def test_loop_that_is_stable_only_in_between_has_margins_to_both_sides():
    """Routh: s^2 (s + 10) + 20 g (s + 1): stable for g > 0; with s (s - 1) below, for g above a limit only."""
    L = control.tf([4.0, 4.0], [1, -1, 0])  # s^2 + (4 g - 1) s + 4 g: stable for g > 1/4
    found = margins(L).channels[0]
    assert found.gain_down == pytest.approx(0.25, rel=1e-9)
    assert found.gain_up == np.inf


def test_disk_margin_and_its_gain_and_phase():
    """Integrator: S - 1/2 = (s - 1) / (2 (s + 1)) has gain 1/2 at all frequencies: disk margin 2."""
    found = margins(control.tf([1.0], [1, 0]))
    assert found.disk.size == pytest.approx(2.0, rel=1e-9)
    assert found.sensitivity.value == pytest.approx(1.0, rel=1e-9)
    L = control.tf([25.0], [1, 10, 10, 10])
    disk = margins(L).disk
    a = disk.size
    w = np.geomspace(1e-2, 1e2, 20001)
    S = 1 / (1 + L(1j * w))
    assert 1 / np.abs(S - 0.5).max() == pytest.approx(a, rel=1e-6)
    assert disk.gain == pytest.approx(((2 - a) / (2 + a), (2 + a) / (2 - a)))


@pytest.mark.parametrize("seed", [1, 4])
def test_changes_of_one_channel_by_its_margins_lead_to_the_boundary(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 5)) - 2.0 * np.eye(5)
    B, C, D = 1.5 * rng.normal(size=(5, 2)), rng.normal(size=(2, 5)), np.zeros((2, 2))
    assert not unstable(A, B, C, D, np.eye(2))
    found = margins((A, B, C, D))
    tried = 0
    for i, channel in enumerate(found.channels):
        for factor in (channel.gain_up, channel.gain_down):
            if 0 < factor < np.inf:
                inside, outside = np.ones(2), np.ones(2)
                inside[i], outside[i] = factor ** (1 - 1e-6), factor ** (1 + 1e-6)
                assert not unstable(A, B, C, D, np.diag(inside))
                assert unstable(A, B, C, D, np.diag(outside))
                tried += 1
        assert channel.disk.size >= found.disk.size * (1 - 1e-9)
    assert tried >= 2


def test_disk_margin_of_all_channels_is_safe_and_the_independent_one_is_between():
    """Coupled as in the digest of robust control: each channel alone looks far better than both together."""
    a = 10.0
    A, B = np.array([[0.0, a], [-a, 0.0]]), np.eye(2)
    C = np.array([[1.0, a], [-a, 1.0]])
    found = margins((A, B, C, np.zeros((2, 2))), independent=True)
    assert all(c.gain_up == np.inf and np.degrees(c.phase) == pytest.approx(90) for c in found.channels)
    assert found.disk.size <= found.independent.size * (1 + 1e-3)
    assert found.independent.size < 0.25 < min(c.disk.size for c in found.channels)
    # gains 1 + e and 1 - e with e above 1 / sqrt(a^2 + 1) make this loop unstable (closed form), which lies outside of the disk
    high = found.independent.gain[1]
    e = 1 / np.sqrt(a**2 + 1)
    assert high < 1 + 1.1 * e
    assert unstable(A, B, C, np.zeros((2, 2)), np.diag([1 + 1.01 * e, 1 - 1.01 * e]))


def test_exact_delay_uses_up_the_delay_margin():
    """L = 2 exp(-s T) / (s + 1): crossing at sqrt(3), delay margin (pi - atan(sqrt 3)) / sqrt 3 - T."""
    limit = (np.pi - np.arctan(np.sqrt(3))) / np.sqrt(3)
    plain = control.tf([2.0], [1, 1])
    assert margins(plain).channels[0].delay == pytest.approx(limit, rel=1e-9)
    found = margins(with_delays(plain, 0.4 * limit))
    assert found.stable
    assert found.channels[0].delay == pytest.approx(0.6 * limit, rel=1e-9)
    # phase crossing: w T + atan w = pi; gain there
    w = found.channels[0].omega_up
    assert w * 0.4 * limit + np.arctan(w) == pytest.approx(np.pi, rel=1e-9)
    assert found.channels[0].gain_up == pytest.approx(np.sqrt(1 + w**2) / 2, rel=1e-9)
    for part, poles in ((0.99, 0), (1.01, 2), (5.0, 2)):
        loop = with_delays(plain, part * limit)
        if poles:
            with pytest.warns(DoubtfulResult, match="2 unstable poles|unstable poles"):
                found = margins(loop)
            assert found.unstable >= poles
        else:
            assert margins(loop).stable
        pade = loop.pade(12)
        assert found.unstable == unstable(pade.A, pade.B, pade.C, pade.D, np.eye(1)) or not poles


def test_delay_with_integrator_and_two_channels():
    """Stability with exact delays against Pade approximants of high order."""
    rng = np.random.default_rng(0)
    A = np.array([[0.0, 1, 0], [0, -1, 0.2], [0, 0, -3]])
    B, C = rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    plant = (A, B, 0.5 * C, np.zeros((2, 2)))
    counts = []
    for delay in (0.05, 0.4, 1.5):
        loop = with_delays(plant, {"u.0": delay}, {"y.1": 0.5 * delay})
        pade = loop.pade(9)
        expected = unstable(pade.A, pade.B, pade.C, pade.D, np.eye(2))
        if expected:
            with pytest.warns(DoubtfulResult):
                counts.append(margins(loop).unstable)
        else:
            counts.append(margins(loop).unstable)
        assert counts[-1] == expected
        w = np.array([0.3, 1.0, 2.0])
        np.testing.assert_allclose(loop.response(w), pade.response(w), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(
            loop.response(w)[:, 0, 0],
            as_plant(plant).response(w)[:, 0, 0] * np.exp(-1j * w * delay),
            rtol=1e-12,
        )


@pytest.mark.parametrize(("delay", "count"), [(0.02, 0), (0.5, 2)])
def test_undamped_modes_and_a_rigid_motion_behind_a_delay(delay, count):
    """Rate feedback on a free mass with an undamped mode of 3 rad/s; poles of the loop by a Pade approximant."""
    A = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, -9.0, 0]])
    loop = with_delays((A, [[0], [1], [0], [1]], [[1.0, 2.0, 0.0, 2.0]], [[0.0]]), delay)
    pade = loop.pade(8)
    assert unstable(pade.A, pade.B, pade.C, pade.D, np.eye(1)) == count
    if count:
        with pytest.warns(DoubtfulResult, match=f"{count} unstable poles"):
            margins(loop)
    else:
        assert margins(loop).stable
    assert np.isinf(loop.response(0.0)).all()


def test_delay_of_a_sampled_loop_is_whole_periods():
    plant = ([[0.9]], [[0.1]], [[1.0]], [[0.0]], 0.1)
    late = with_delays(plant, 0.3)
    w = np.array([0.5, 5.0, 20.0])
    np.testing.assert_allclose(
        late.response(w)[:, 0, 0], as_plant(plant).response(w)[:, 0, 0] * np.exp(-0.3j * w), rtol=1e-12
    )
    assert margins(late).stable
    with pytest.raises(InputError, match=r"whole periods"):
        with_delays(plant, 0.25)


def test_sampled_loop_reaches_the_highest_frequency():
    """L = k / (z - 0.5) is on the negative axis at z = -1: |L| = k / 1.5."""
    found = margins(([[0.5]], [[1.0]], [[0.6]], [[0.0]], 0.1)).channels[0]
    assert found.gain_up == pytest.approx(2.5, rel=1e-9)
    assert found.omega_up == pytest.approx(np.pi / 0.1)


def test_regulator_has_its_guaranteed_margins():
    """At the commands of a regulator: |S| <= 1, gain from 1/2 to infinity, 60 degrees (one command, and each of two)."""
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    design = lqr((A, B), 1.0, 1.0)
    found = margins(design)
    assert found.sensitivity.value == pytest.approx(1.0, abs=1e-7)
    for channel in found.channels:
        assert channel.gain_up == np.inf
        assert channel.gain_down <= 0.5
        assert np.degrees(channel.phase) >= 60
    late = margins(open_loop(with_delays(design.plant, [0.01, 0.0]), design.controller))
    assert late.sensitivity.value > 1.0
    assert late.channels[0].delay == pytest.approx(found.channels[0].delay - 0.01, rel=1e-9)  # both are exact
    assert len(margins(design).plot().axes) == 3


def test_unstable_loop_warns_and_wrong_shapes_are_refused():
    with pytest.warns(DoubtfulResult, match=r"1 unstable poles.*sign"):
        margins(control.tf([-2.0], [1, 1]))
    with pytest.raises(InputError, match=r"2 inputs and 1 outputs"):
        margins(([[-1.0]], [[1.0, 1.0]], [[1.0]], [[0.0, 0.0]]))
    with pytest.raises(InputError, match=r"DelayedModel.*pade"):
        as_plant(with_delays(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), 0.1))
    with pytest.raises(InputError, match=r"gain of 2 at infinite frequency"):
        margins(with_delays(([[-1.0]], [[1.0]], [[1.0]], [[2.0]]), 0.1))


def test_lightly_damped_mode_between_coarse_frequencies_is_seen():
    """A mode with a damping of 1e-4 lifts the loop above one in a band of 0.1 percent: two more crossings."""
    w0 = 37.3
    L = series(
        as_plant(([[-1.0]], [[0.5]], [[1.0]], [[0.0]])),
        as_plant(([[0, 1], [-(w0**2), -2e-4 * w0]], [[0], [w0**2]], [[1, 0]], [[0]])),
    )
    with pytest.warns(DoubtfulResult):
        found = margins(L)
    # |L| = 1 where |w0^2 - w^2| = w0^2 / 2 / sqrt(1 + w^2), 0.7 percent beside w0
    assert found.channels[0].omega_phase == pytest.approx(w0, rel=0.008)
    assert found.channels[0].gain_down < 1


@pytest.mark.parametrize("seed", [0, 1, 4, 7])
def test_margins_of_a_spacecraft_with_light_modes(seed):
    """A free hub with four coupled modes, forces on all and all states measured: a regulator with a filter of quiet sensors.

    Far below the loop's frequencies the response of the hub is without bound and its phase is rounding: no crossing, and no error, comes of
    it. What is promised is checked by poles: at a gain a percent within the margins each loop is stable.
    """
    rng = np.random.default_rng(seed)
    w = 10 ** rng.uniform(0, 2, 4)
    M = np.diag([100.0, 1.0, 1.0, 1.0, 1.0])
    M[0, 1:] = M[1:, 0] = rng.uniform(0.5, 4, 4)
    inverse = np.linalg.inv(M)
    stiff, damping = np.diag(np.r_[0.0, w**2]), np.diag(np.r_[0.0, 0.004 * w])
    A = np.block([[np.zeros((5, 5)), np.eye(5)], [-inverse @ stiff, -inverse @ damping]])
    design = lqg((A, np.vstack([np.zeros((5, 5)), inverse]), np.eye(10)), 1.0, 1e-2, 1e-2, 1e-8)
    loop = open_loop(design.plant, design.controller)
    found = margins(loop)
    assert found.stable
    for i, channel in enumerate(found.channels):
        assert channel.gain_down == 0.0 or channel.gain_down > 1e-6
        for factor in (max(1.01 * channel.gain_down, 1e-3), min(0.99 * channel.gain_up, 1e3)):
            scaled = np.eye(5)
            scaled[i, i] = factor
            poles = np.linalg.eigvals(loop.A - loop.B @ scaled @ loop.C)
            assert poles.real.max() < 1e-6 * np.abs(poles).max()
