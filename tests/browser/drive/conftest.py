"""Shared by the tests of driving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def driven(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give the excavator, driven in real time."""
    pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
    from articulus.browser.drive import machine_for

    from .support import driving

    with driving(machine_for("cat215b"), tmp_path_factory.mktemp("recordings")) as found:
        yield found
