"""Where browsers are required, a missing one fails tests; elsewhere it skips them."""

from __future__ import annotations

import pytest

from .browser import NEEDED, chromium


@pytest.mark.parametrize(
    ("value", "outcome"), [("required", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_browser(monkeypatch, value: str, outcome: type[BaseException]) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(NEEDED, value)
    with pytest.raises(outcome, match="no Chromium"), chromium():
        pass
