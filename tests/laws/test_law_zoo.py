"""Every law on every mechanism of the zoo."""

from __future__ import annotations

import pytest

import zoo
from laws import LAWS, SMALL_LAWS


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", zoo.ALL)
def test_law(name, law):
    mech = zoo.get(name)
    law(mech, zoo.random_state(mech, 21))


@pytest.mark.parametrize("law", SMALL_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "name", ["free_body", "screws", "crosses", "balls", "parameters_rpy", "parameters_quaternion"]
)
def test_law_of_small_mechanisms(name, law):
    mech = zoo.get(name)
    law(mech, zoo.random_state(mech, 22))
