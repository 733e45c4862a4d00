"""Shared by all tests."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

from durations import LIMIT, Durations
from selection import EVERYTHING, pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]

settings.register_profile("project", derandomize=True, deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

# Optimized, native code that runs for moments only would take an eighth of the time of all tests. `make widths` tests with optimization.
os.environ.setdefault("ARTICULUS_OPTIMIZATION", "0")

# Every processor has a worker: threads of BLAS would only wait for each other, and use it up by waiting. Read when NumPy is imported.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background job; commands under test are interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Measure every test; what `make nightly` runs may take its time.

    Code for eight lanes takes twice as long to make as code for four, which are enough here: `make widths` tests every width.
    """
    from articulus.kernel.jit import widest  # imports NumPy

    os.environ.setdefault("ARTICULUS_LANES", str(min(4, widest())))
    config.addinivalue_line(
        "markers",
        "in_turn(n): `make test` runs one in n of its cases, `make nightly` all (tests/selection.py)",
    )
    config.addinivalue_line("markers", "nightly: `make nightly` runs it, `make test` a smaller version")
    config.pluginmanager.register(Durations(float("inf") if EVERYTHING else LIMIT), "durations of tests")


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every garbage collection, about a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()
