"""PID tuning, notch, roll-off and input shapers against closed forms."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from articulus.control import notch, pidtune, rolloff
from articulus.control.filters import ei, zv, zvd
from articulus.control.plant import of_matrices
from articulus.errors import InputError


@pytest.mark.parametrize("integral", [True, False])
def test_pid_has_the_crossover_and_margin_asked_for(integral):
    plant = of_matrices([[0, 1.0], [0, -0.4]], [[0], [2.0]], [[1.0, 0]])
    design = pidtune(plant, 5.0, 55.0, integral=integral)
    loop = -plant.response([5.0])[0] @ design.controller.response([5.0])[0]
    np.testing.assert_allclose(abs(loop[0, 0]), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.degrees(np.angle(-loop[0, 0])), 55.0, atol=1e-6)
    assert (design.ki > 0) == integral
    assert design.phase_margin == pytest.approx(55.0, abs=0.01)


def test_pid_says_what_it_cannot():
    lag = of_matrices(np.diag([-1.0, -1, -1, -1]) + np.eye(4, k=1), np.eye(4)[:, [3]], np.eye(4)[[0]])
    with pytest.raises(InputError, match="a PID turns it by"):
        pidtune(lag, 20.0, 60.0)


def test_notch_and_rolloff():
    assert abs(notch(7.0, 0.05).response([7.0])[0, 0, 0]) == pytest.approx(0.05)
    np.testing.assert_allclose(np.abs(notch(7.0).response([1e-4, 1e5])[:, 0, 0]), 1.0, rtol=1e-6)
    b, a = scipy.signal.butter(4, 3.0, analog=True)
    omega = np.array([0.1, 3.0, 10.0])
    np.testing.assert_allclose(
        rolloff(3.0, 4).response(omega)[:, 0, 0], scipy.signal.freqs(b, a, omega)[1], rtol=1e-10
    )


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_shaped_steps_leave_a_mode_at_rest(damping):
    """A mode driven by the shaped step by exact integration over its pieces: at rest at the end of the shaper."""
    w = 4.0
    A = np.array([[0, 1.0], [-w * w, -2 * damping * w]])
    for shaper in (zv(w, damping), zvd(w, damping)):
        x, level = np.zeros(2), 0.0
        for t, a, after in zip(shaper.times, shaper.amplitudes, [*shaper.times[1:], shaper.duration]):
            level += a
            rest = np.array([level, 0.0])
            x = rest + scipy.linalg.expm(A * (after - t)) @ (x - rest)
        np.testing.assert_allclose(x, [1.0, 0.0], atol=1e-12)
    assert zvd(w).residual(1.1 * w)[0] < 0.2 * zv(w).residual(1.1 * w)[0]


def test_ei_leaves_what_it_says_and_sampling_keeps_the_sum():
    shaper = ei(4.0, 0.05)
    np.testing.assert_allclose(shaper.residual([4.0]), 0.05, rtol=1e-12)
    band = shaper.residual(np.linspace(0.85, 1.15, 31) * 4.0)
    assert band.max() <= 0.0500001
    t = np.arange(0, 4, 0.01)
    shaped = shaper.shape(t, np.where(t > 0.5, 1.0, 0.0), period=0.01)
    np.testing.assert_allclose(shaped[-1], 1.0, atol=1e-12)
    with pytest.raises(InputError, match="damping ratio 1"):
        zv(3.0, 1.0)


def test_a_command_that_jumps_at_its_first_time_is_shaped_from_what_was_before():
    """The shaped step is the sum of the amplitudes so far; held before its start it would be one from the beginning."""
    shaper, t = zvd(4.0, 0.1), np.linspace(0.0, 3.0, 301)
    after = np.array([sum(a for d, a in zip(shaper.times, shaper.amplitudes) if d <= x) for x in t])
    np.testing.assert_allclose(shaper.shape(t, np.ones(301), before=0.0), after, atol=1e-12)
    np.testing.assert_allclose(shaper.shape(t, np.ones(301)), 1.0, atol=1e-12)
    two = shaper.shape(t, np.ones((301, 2)), before=[0.0, 1.0])
    np.testing.assert_allclose(two, np.c_[after, np.ones(301)], atol=1e-12)
    with pytest.raises(InputError, match="one for each of the 2 columns"):
        shaper.shape(t, np.ones((301, 2)), before=[0.0, 1.0, 2.0])
