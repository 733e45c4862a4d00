"""What `make test` leaves to `make nightly`, where the same code is tested in several places."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

EVERYTHING = os.environ.get("ARTICULUS_MATRIX") == "all"
"""Whether every combination is run (`make nightly`)."""


def in_turn(choices: Sequence[T], turn: int, count: int = 1) -> list[T]:
    """Return `count` of some choices, others at every turn; all of them if everything is run."""
    if EVERYTHING:
        return list(choices)
    return [choices[(turn * count + k) % len(choices)] for k in range(count)]
