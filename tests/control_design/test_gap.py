"""The nu-gap against closed forms and the chordal distance; margins of controllers against those that ncfsyn finds."""

import dataclasses

import numpy as np
import pytest

from articulus.control import ncfmargin, ncfsyn, nugap
from articulus.errors import InputError


def lag(gain, pole):
    """gain / (s - pole)."""
    return ([[pole]], [[1.0]], [[gain]], [[0.0]])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            lag(50.0, -0.5),
            lag(50.0, 0.5),
            200 / 10001,
        ),  # 100 / (2 s + 1) and 100 / (2 s - 1): at zero frequency
        (lag(1.0, 0.001), lag(1.0, -0.001), 0.002 / (1 + 1e-6)),  # 0.0020 in MATLAB's page
        (lag(1.0, -1.0), lag(3.0, -1.0), 0.5),  # 2 sqrt(x / (x + 1) / (x + 9)), x = 1 + w^2, largest at x = 3
        (lag(2.0, -1.0), lag(2.0, -1.0), 0.0),
        (lag(2.0, 1.0), lag(-2.0, 1.0), 1.0),  # the loops of the two turn apart
        (
            lag(0.5, 1.0),
            lag(0.5, -1.0),
            1.0,
        ),  # one needs feedback, and the gain of 0.5 is too small to tell them near
    ],
)
def test_closed_forms_of_first_order(first, second, expected):
    assert nugap(first, second) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert nugap(second, first) == pytest.approx(expected, rel=1e-6, abs=1e-7)


def random_plant(rng, n=4, m=2, p=3):
    A = rng.normal(size=(n, n)) - 0.8 * np.eye(n)
    return A, rng.normal(size=(n, m)), rng.normal(size=(p, n)), 0.3 * rng.normal(size=(p, m))


@pytest.mark.parametrize("seed", range(6))
def test_near_plants_are_as_far_apart_as_their_chordal_distance(seed):
    """For small changes the turns agree: sup of sigma((I + P2 P2*)^-1/2 (P1 - P2) (I + P1* P1)^-1/2), on a fine net."""
    rng = np.random.default_rng(seed)
    A, B, C, D = first = random_plant(rng)
    second = (A, B * (1 + 0.02 * rng.normal(size=B.shape)), C, D)
    w = np.logspace(-3, 3, 3001)

    def response(plant):
        a, b, c, d = plant
        return c @ np.linalg.solve(1j * w[:, None, None] * np.eye(len(a)) - a, b[None] + 0j) + d

    def inverse_root(X):
        values, V = np.linalg.eigh(np.eye(X.shape[-1]) + X)
        return (V / np.sqrt(values)[:, None, :]) @ V.conj().swapaxes(1, 2)

    P, Q = response(first), response(second)
    left = inverse_root(Q @ Q.conj().swapaxes(1, 2))
    right = inverse_root(P.conj().swapaxes(1, 2) @ P)
    peak = np.linalg.svd(left @ (P - Q) @ right, compute_uv=False)[:, 0].max()
    assert nugap(first, second) == pytest.approx(peak, rel=1e-4)  # the net's steps of 0.5 %


def test_metric_and_promise():
    """Triangle; and a controller with a margin above the gap makes the other plant stable with the promised margin."""
    rng = np.random.default_rng(3)
    A, B, C, D = random_plant(rng, 3, 1, 1)
    plants = [(A, B * (1 + k), C, D) for k in (0.0, 0.15, 0.4)]
    a, b, c = nugap(plants[0], plants[1]), nugap(plants[1], plants[2]), nugap(plants[0], plants[2])
    assert c <= a + b + 1e-9
    design = ncfsyn(plants[0])
    margin = ncfmargin(design)
    assert margin > c > 0
    found = ncfmargin(plants[2], design.controller)
    assert found >= np.sin(np.arcsin(margin) - np.arcsin(c)) - 1e-7


@pytest.mark.parametrize("period", [None, 0.1])
def test_margin_is_that_of_the_design(period):
    A = [[0.0, 1.0], [0.0, 0.0]] if period is None else [[1.0, 0.1], [0.0, 1.0]]
    plant = (A, [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]], *(() if period is None else (period,)))
    design = ncfsyn(plant)
    assert ncfmargin(design) == pytest.approx(design.margin, rel=1e-6)
    assert ncfmargin(plant, design.controller) == pytest.approx(design.margin, rel=1e-6)
    assert nugap(plant, plant) < 1e-6
    wrong = dataclasses.replace(design.controller, C=-design.controller.C, D=-design.controller.D)
    assert ncfmargin(plant, wrong) == 0.0


def test_messages():
    with pytest.raises(InputError, match="expected as many of both"):
        nugap(lag(1.0, -1.0), (-np.eye(2), np.eye(2), np.eye(2), np.zeros((2, 2))))
    with pytest.raises(InputError, match=r"periods None and 0\.1"):
        nugap(lag(1.0, -1.0), ([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1))
    with pytest.raises(InputError, match="found no controller"):
        ncfmargin(lag(1.0, -1.0))
