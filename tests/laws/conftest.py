"""Laws hold in code for several lanes as well, also for few rows."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def lanes(all_lanes: None) -> None:
    """Compute all batches in such code."""
