"""Redundant inversion of one linear structure: rows of the digest, its optimality, its answers to bad input."""

import numpy as np
import pytest
from scipy.signal import lsim

from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.motion.inversion.links import minimal_vibration
from articulus.structure import beam

WHOLE = beam(1.0, EI=2.0, mass_per_length=0.3, planes="y", elements=2, root="pinned", tip_mass=0.2)
ACROSS = np.flatnonzero(WHOLE.dofs[:, 1] != 0)
M, K = (
    np.asarray(X.todense() if hasattr(X, "todense") else X)[np.ix_(ACROSS, ACROSS)]
    for X in (WHOLE.M, WHOLE.K)
)
D = 0.002 * K
NAMES = [tuple(row) for row in WHOLE.dofs[ACROSS]]
TORQUE, TIP = (np.eye(5)[NAMES.index(at)] for at in ((0, 5), (2, 1)))
PIEZO = np.eye(5)[NAMES.index((1, 5))][:, None] - TORQUE[:, None]
T = np.arange(-6.0, 8.0, 0.005)


def push(ends_loaded: bool = False) -> np.ndarray:
    s = np.clip(T / 2.0, 0.0, 1.0)
    pulse = np.sin(np.pi * s) ** 4
    step = s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    return np.outer(pulse, [0.0, 1.0, 0.0, -2.0, 1.0]) + (
        np.outer(1 + step, [0.0, 0.2, 0.1, -0.4, 0.0]) if ends_loaded else 0.0
    )


@pytest.mark.parametrize(
    "ends_loaded", [False, True], ids=["at rest without load", "loads remain at the ends"]
)
def test_forward_integration_with_the_inputs_keeps_the_tip(ends_loaded: bool) -> None:
    force = push(ends_loaded)
    found = minimal_vibration(M, D, K, TORQUE, PIEZO, TIP, force, T, t0=0.0, t_end=2.0)
    assert found.ok
    B = np.column_stack([TORQUE, PIEZO])

    inertia = np.linalg.inv(M)
    A = np.block([[np.zeros((5, 5)), np.eye(5)], [-inertia @ K, -inertia @ D]])
    E = np.vstack([np.zeros((5, 7)), inertia @ np.hstack([B, np.eye(5)])])
    part = (T > -2.0) & (T < 3.0)
    known = np.hstack([found.inputs, force])[part]
    plant = (A, E, np.r_[TIP, np.zeros(5)][None], np.zeros((1, 7)))
    _, tip, _ = lsim(
        plant, known, T[part] - T[part][0], X0=found.states[part][0]
    )  # exact between the samples
    size = np.ptp(found.states[:, :5], axis=0).max()
    assert np.abs(tip).max() < 1e-4 * size  # linear interpolation of 5 ms samples: h^2/8 of curvature


def test_any_other_voltage_that_keeps_the_tip_vibrates_more() -> None:
    force = push()
    best = minimal_vibration(M, D, K, TORQUE, PIEZO, TIP, force, T, t0=0.0, t_end=2.0)
    V = best.input("V1")
    for change in (0.9 * V, 1.1 * V, V + 0.05 * np.abs(V).max() * np.exp(-((T - 0.7) ** 2) / 0.1)):
        other = minimal_vibration(
            M, D, K, TORQUE, None, TIP, force + np.outer(change, PIEZO), T, t0=0.0, t_end=2.0
        )
        assert other.figures["J"] > best.figures["J"]
    assert best.figures["J"] < best.figures["J_without"]


def test_actuators_that_do_the_same_share_the_work() -> None:
    once = minimal_vibration(M, D, K, TORQUE, PIEZO, TIP, push(), T, t0=0.0, t_end=2.0)
    twice = np.hstack([PIEZO, PIEZO])
    with pytest.warns(DoubtfulResult, match="rank .* = 2, not 3"):
        shared = minimal_vibration(M, D, K, TORQUE, twice, TIP, push(), T, t0=0.0, t_end=2.0)
    assert shared.figures["J"] == pytest.approx(once.figures["J"], rel=1e-9)
    assert np.allclose(shared.inputs[:, 1:], once.inputs[:, 1:] / 2, atol=1e-9 * np.abs(once.inputs).max())


def test_zeros_on_the_imaginary_axis_are_named() -> None:
    collocated = TORQUE
    with pytest.raises(NumericalError, match=r"zero s = .*imaginary axis"):
        minimal_vibration(M, None, K, TORQUE, None, collocated, push(), T, t0=0.0, t_end=2.0)


def test_a_grid_too_short_for_the_zeros_is_refused_with_the_length_needed() -> None:
    short = (T > -0.02) & (T < 2.02)
    with pytest.raises(NumericalError, match=r"slowest zero .* needs about .* s before and after"):
        minimal_vibration(M, D, K / 100, TORQUE, None, TIP, push()[short], T[short], t0=0.0, t_end=2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": np.eye(2)}, r"K has shape \(2, 2\); expected \(5, 5\)"),
        ({"force": np.zeros((5, 5))}, "force has shape"),
        ({"tip": np.zeros(5)}, "dependent"),
        ({"t": np.r_[T[:-1], 99.0]}, "equal positive"),
        ({"M": M * np.nan}, "not finite"),
    ],
)
def test_bad_input(change: dict, message: str) -> None:
    given = {"M": M, "D": D, "K": K, "torques": TORQUE, "piezos": PIEZO, "tip": TIP, "force": push(), "t": T}
    with pytest.raises(InputError, match=message):
        minimal_vibration(**given | change, t0=0.0, t_end=2.0)
