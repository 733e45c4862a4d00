"""Shared by the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .browser import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Give the system's Chromium."""
    with chromium() as found:
        yield found
