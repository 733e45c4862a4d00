"""Shared by the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .browser import chromium


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Give the system's Chromium, started once for all tests of pages that a process runs: starting it takes as long as several tests."""
    with chromium() as found:
        yield found
