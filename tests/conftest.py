"""Shared by all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("project", derandomize=True, deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background job; commands under test are interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def all_lanes() -> Iterator[None]:
    """Compute batches of any size in code for as many lanes as there are: few rows would go one by one."""
    from articulus.kernel import jit  # here: not every run needs it

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARTICULUS_LANES", str(jit.width()))
        yield
