"""Every test compiles into its own cache folder."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from articulus import kernel


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Point the cache to a fresh private folder and forget kernels of other tests."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ARTICULUS_CACHE", str(folder))
    monkeypatch.setattr(kernel, "_sources", OrderedDict())
    monkeypatch.setattr(kernel, "_kernels", OrderedDict())
    return folder
