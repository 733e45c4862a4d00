"""Shared by all tests."""

from __future__ import annotations

import gc
import os
import signal

from hypothesis import settings

settings.register_profile("project", derandomize=True, deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

# Optimized, native code that runs for moments only would take an eighth of the time of all tests. `make widths` tests with optimization.
os.environ.setdefault("ARTICULUS_OPTIMIZATION", "0")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background job; commands under test are interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every garbage collection, about a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()
