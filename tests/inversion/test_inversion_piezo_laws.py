"""Laws of criteria of placement and of previews: units, signs, order, mirrored beams, sums and times."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from articulus.motion.inversion import Line, Profile
from articulus.motion.inversion.piezo import BeamModes, PiezoLayers, beam_placement
from articulus.motion.inversion.piezo.criteria import Modal, passive, regulator, smallest_gramian
from articulus.motion.inversion.tracking import preview

SEEDS = range(3)


def modal(seed: int, faster: float = 1.0) -> tuple[Modal, np.ndarray]:
    """Return three vibrating modes on a clock that runs `faster`, and four actuators."""
    rng = np.random.default_rng(seed)
    omega = np.sort(rng.uniform(2, 15, 3)) * faster
    return Modal(omega, np.diag(0.02 * omega * rng.uniform(0.5, 1.5, 3))), rng.normal(size=(4, 3))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [-1.0, 1e-3, 1e3])
def test_criteria_count_actuators_in_any_unit_and_of_any_sign(seed: int, k: float) -> None:
    m, b = modal(seed)
    assert regulator(m, k * b, 0.3 * k**2) == pytest.approx(regulator(m, b, 0.3), rel=1e-8)
    assert smallest_gramian(m, k * b) == pytest.approx(k**2 * smallest_gramian(m, b), rel=1e-7)
    cost, gain = passive(m, b, None)
    other, turned = passive(m, k * b, None)
    assert other == pytest.approx(cost, rel=1e-6)
    assert turned * k**2 == pytest.approx(gain, rel=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_criteria_do_not_know_the_order_of_modes_and_actuators(seed: int) -> None:
    m, b = modal(seed)
    order, rows = [2, 0, 1], [3, 1, 0, 2]
    mixed = Modal(m.omega[order], m.damping[np.ix_(order, order)])
    for criterion in (
        lambda m, b: regulator(m, b, 0.3),
        smallest_gramian,
        lambda m, b: passive(m, b, None)[0],
    ):
        assert criterion(mixed, b[:, order]) == pytest.approx(criterion(m, b), rel=1e-6)
        assert criterion(m, b[rows]) == pytest.approx(criterion(m, b)[rows], rel=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_dearer_control_costs_more_and_stronger_actuators_less(seed: int) -> None:
    m, b = modal(seed)
    costs = [regulator(m, b, R) for R in (0.01, 0.1, 1.0, 10.0)]
    assert all((later >= sooner * (1 - 1e-9)).all() for sooner, later in pairwise(costs))
    assert (regulator(m, 2 * b, 0.3) <= regulator(m, b, 0.3) * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_feedback_that_is_best_is_no_worse_than_any(seed: int) -> None:
    m, b = modal(seed)
    cost, gain = passive(m, b, None)
    for factor in (0.1, 0.5, 2.0, 10.0):
        for k, each in enumerate(b):
            assert passive(m, each[None], float(gain[k] * factor))[0][0] >= cost[k] * (1 - 1e-6)


# beams


def supported(length: float = 1.0, EI: float = 1.0, line: float = 1.0) -> BeamModes:
    return BeamModes.simply_supported(length, EI=EI, mass_per_length=line, modes=3, damping=1e-3)


PAIRS = [(0.05, 0.25), (0.3, 0.5), (0.1, 0.7), (0.55, 0.85)]


@pytest.mark.parametrize("criterion", ["gramian", "lqr"])
def test_mirrored_pairs_of_a_beam_held_alike_at_both_ends_are_as_good(criterion: str) -> None:
    more = {"R": 1e3} if criterion == "lqr" else {}
    mirrored = [(1 - b, 1 - a) for a, b in PAIRS]
    for pair, other in zip(PAIRS, mirrored, strict=True):
        own, turned = (
            beam_placement(supported(), 1.0, criterion=criterion, candidates=[each], **more).cost
            for each in (pair, other)
        )
        assert turned == pytest.approx(own, rel=1e-6)


@pytest.mark.parametrize(("EI", "line"), [(1e4, 1e4), (1e-3, 1e-3)])
def test_best_places_do_not_depend_on_how_heavy_a_beam_is(EI: float, line: float) -> None:
    """Stiffness and mass in proportion: the same frequencies and shapes, in other units of force."""
    own = beam_placement(supported(), 1.0, criterion="gramian", candidates=PAIRS)
    other = beam_placement(supported(EI=EI, line=line), 1.0, criterion="gramian", candidates=PAIRS)
    assert (other.first, other.second) == (own.first, own.second)
    assert supported(EI=EI, line=line).omega == pytest.approx(supported().omega, rel=1e-12)


def test_layers_push_in_proportion() -> None:
    """To the charge constant, and to the width together with the beam's."""
    usual = PiezoLayers(0.05, 0.01, 70e9, 2e-4, 63e9, 120e-12)
    assert replace(usual, d31=240e-12).gain == pytest.approx(2 * usual.gain, rel=1e-12)
    assert replace(usual, width=0.10).gain == pytest.approx(2 * usual.gain, rel=1e-12)


# previews


SYSTEM = ([[0.0, 1.0], [-2.0, -3.0]], [[0.0], [1.0]], [[4.0, -1.0]], [[0.0]])
TIMES = np.linspace(-0.4, 1.4, 91)


def seen(path: Line, length: float, t: np.ndarray = TIMES) -> np.ndarray:
    found = preview(SYSTEM, path, length).inversions[0]
    return np.interp(t, found.t, found.inputs[:, 0])


@pytest.mark.parametrize("length", [0.1, 0.4])
def test_previews_add_up_and_come_later_with_their_paths(length: float) -> None:
    path = Line(0.0, 1.0, Profile(1.0))
    u = seen(path, length)
    assert seen(Line(0.0, -2.5, Profile(1.0)), length) == pytest.approx(-2.5 * u, abs=1e-7)
    assert seen(Line(0.0, 1.0, Profile(1.0, t0=0.7)), length, TIMES + 0.7) == pytest.approx(u, abs=1e-5)


def test_longer_previews_come_closer_to_the_whole_inverse() -> None:
    """By e^(-a length) with the unstable zero a = 4 1/s."""
    path = Line(0.0, 1.0, Profile(1.0))
    whole = seen(path, 4.0)
    off = [np.abs(seen(path, length) - whole).max() for length in (0.3, 0.6, 0.9)]
    ratio = np.exp(-4.0 * 0.3)
    assert off[1] < 3 * ratio * off[0]
    assert off[2] < 3 * ratio * off[1]
