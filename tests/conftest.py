"""Shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("project", derandomize=True, deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))
