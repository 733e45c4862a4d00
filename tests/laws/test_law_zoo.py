"""Every law on every mechanism of the zoo."""

from __future__ import annotations

import pytest

import laws
import zoo
from laws import LAWS, SMALL_LAWS

LAWS_OF_LARGE = (
    laws.forward_undoes_inverse,
    laws.mass_matrix_is_symmetric_positive_definite,
    laws.factors_make_the_mass_matrix,
    laws.inverse_and_solution_agree_with_the_mass_matrix,
    laws.energy_changes_by_power,
    laws.every_body_obeys_newton_and_euler,
    laws.inverse_derivatives_are_differences,
)
"""Building the symbols of 40 bodies takes a second for each question; Pinocchio judges the rest at that size."""


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", zoo.SMALL)
def test_law(name, law):
    mech = zoo.get(name)
    law(mech, zoo.random_state(mech, 21))


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("law", LAWS_OF_LARGE, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", [n for n in zoo.ALL if n not in zoo.SMALL])
def test_law_of_large_mechanisms(name, law):
    mech = zoo.get(name)
    law(mech, zoo.random_state(mech, 21))


@pytest.mark.parametrize("law", SMALL_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "name", ["free_body", "screws", "crosses", "balls", "parameters_rpy", "parameters_quaternion"]
)
def test_law_of_small_mechanisms(name, law):
    mech = zoo.get(name)
    law(mech, zoo.random_state(mech, 22))
