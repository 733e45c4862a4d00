"""Every law on random small trees (hypothesis); `nightly.py` runs as many cases as one likes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import case

from laws import LAWS, SMALL_LAWS

CASES_PER_LAW = 5
"""Twenty-two laws, so 110 cases in all; `make nightly` runs 10,000."""


@pytest.mark.parametrize("law", LAWS + SMALL_LAWS, ids=lambda law: law.__name__)
def test_law_on_random_trees(law):
    @settings(max_examples=CASES_PER_LAW)
    @given(st.integers(0, 2**31))
    def holds(seed):
        mech, state = case(seed, most=3)
        law(mech, state)

    holds()
