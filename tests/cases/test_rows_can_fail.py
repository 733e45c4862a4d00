"""A row that cannot fail verifies nothing."""

import dataclasses
import functools

import casadi as ca
import numpy as np
import pytest

from articulus import cases
from articulus.cases.row import agrees
from articulus.dynamics.mechanism import Mechanism
from articulus.structure import Structure

CASES = cases.find()
NOT_OF_A_MECHANISM = {
    "n_body_pendulum": {
        "operations of bodies 7-9 over those of bodies 4-6",
        "entries of the factored matrix of bodies 7-9 over those of bodies 4-6",
        "4 bodies over 0.5 s by steps of 5 and 2.5 ms, extrapolated, less the motion by lie_rk4",
    },
    "cat215b": {
        "effort limits of the model: cab, boom, stick, bucket [N m]",
        "actuators hold gravity at theta = 0 (1 = yes)",
    },
    "two_link": {"A22 [1/s]"},
}
"""Rows that ask for something else than numbers of a mechanism, for a yes or no with a margin of more than a percent, or for
zeros, which stay zero."""
ROUNDING = {"error of regularized, iteration 4 [m/s^2]"}
"""Rows whose expected number is rounding: they bound it from above."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_value_beyond_the_tolerance_fails(case):
    """No tolerance is so wide that twice as much, a number that is not finite, or zero where another is expected would pass."""
    for row in case.expected:
        if row.deviation:
            continue  # fails when it agrees, and beyond a bound of its own: test_runner
        expected = np.asarray(row.expected, dtype=float)
        beyond = 2 * row.tolerance + 1e-15 * (1 + np.abs(expected).max(initial=0.0))
        for wrong in (expected + beyond, expected - beyond, np.full_like(expected, np.nan)):
            assert not agrees(row.expected, wrong.tolist(), row.tolerance), row.quantity
        if expected.any() and row.quantity not in ROUNDING:
            assert not agrees(row.expected, np.zeros_like(expected).tolist(), row.tolerance), row.quantity


@pytest.mark.parametrize(
    "name",
    ["cat215b", "flexible_operators", "inertia_matrix", "n_body_pendulum", "spatial_operators", "two_link"],
)
def test_rows_fail_when_the_answers_of_mechanisms_are_wrong(name, monkeypatch):
    """Every answer of a mechanism, from native code and from CasADi, is wrong by a percent in some of its entries."""
    monkeypatch.setattr(Mechanism, "_ask", _wrong(Mechanism._ask))
    monkeypatch.setattr(Mechanism, "function", _wrong_function(Mechanism.function))
    (case,) = cases.find([name])
    passed = {row.quantity for row in case.rows() if row.passed}
    assert passed <= NOT_OF_A_MECHANISM.get(name, set())


def test_weights_fail_when_the_mass_of_bars_is_wrong(monkeypatch):
    """The rows on weights come from assembled masses, not from lengths and densities multiplied by hand."""
    assemble = Structure.assemble

    def heavier(*args, **settings):
        found = assemble(*args, **settings)
        return dataclasses.replace(found, M=1.01 * found.M)

    monkeypatch.setattr(Structure, "assemble", staticmethod(heavier))
    (case,) = cases.find(["draper_tetrahedron"])
    weights = [row for row in case.rows() if row.quantity.startswith("weight")]
    assert weights
    assert not any(row.passed for row in weights)


def _off(x):
    """Return numbers with errors of up to a percent, another for each entry."""
    x = np.asarray(x, dtype=float)
    return x * (1 + 0.01 * np.sin(1.0 + np.arange(x.size))).reshape(x.shape)


def _wrong(ask):
    @functools.wraps(ask)
    def answer(self, *args, **settings):
        found = ask(self, *args, **settings)
        return tuple(map(_off, found)) if isinstance(found, tuple) else _off(found)

    return answer


def _wrong_function(function):
    @functools.wraps(function)
    def make(self, *args, **settings):
        f = function(self, *args, **settings)

        def call(*numbers):
            found = f(*numbers)
            return tuple(map(_off, found)) if isinstance(found, tuple) else ca.DM(_off(found))

        return call

    return make
