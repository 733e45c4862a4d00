"""What `make test` leaves to `make nightly`, where the same code is tested in several places."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

EVERYTHING = os.environ.get("ARTICULUS_MATRIX") == "all"
"""Whether every combination is run (`make nightly`)."""


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave to `make nightly` tests with the mark `nightly`, and all cases but one in n of those with the mark `in_turn(n)`: others for every value
    of a parameter and every test of a file, so that each value has its turn. Tests that are named on the command line run all."""
    if EVERYTHING or any("::" in name for name in config.args):
        return
    names: dict[Any, list[str]] = defaultdict(list)
    kept: list[Any] = []
    left: list[Any] = []
    for item in items:
        if item.get_closest_marker("nightly"):
            left.append(item)
            continue
        mark, case = item.get_closest_marker("in_turn"), getattr(item, "callspec", None)
        if mark is None or case is None:
            kept.append(item)
            continue
        tests = names[item.path]
        if item.originalname not in tests:
            tests.append(item.originalname)
        turn = tests.index(item.originalname) + sum(_places(item, dict(case.indices)))
        (left if turn % mark.args[0] else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def _places(item: Any, places: dict[str, int]) -> list[int]:
    """Return the place of a case in every table of parameters; those that stand in one table have one place together."""
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        for name in (names.split(",") if isinstance(names, str) else list(names))[1:]:
            places.pop(name.strip(), None)
    return list(places.values())


def in_turn(choices: Sequence[T], turn: int, count: int = 1) -> list[T]:
    """Return `count` of some choices, others at every turn; all of them if everything is run."""
    if EVERYTHING:
        return list(choices)
    return [choices[(turn * count + k) % len(choices)] for k in range(count)]
