"""What `make test` leaves to `make nightly`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import selection


def chosen(
    monkeypatch: pytest.MonkeyPatch, everything: bool = False, args: tuple[str, ...] = ()
) -> list[Any]:
    """Return what is kept of two tests with 3 x 4 marked cases each, and of one without a mark."""
    mark = SimpleNamespace(args=(3,))
    items = [
        SimpleNamespace(
            path=Path("test_a.py"),
            originalname=name,
            callspec=SimpleNamespace(indices={"law": i, "name": k, "same": k}),
            iter_markers=lambda _: [SimpleNamespace(args=("name, same",)), SimpleNamespace(args=(["law"],))],
            get_closest_marker=lambda asked, name=name: (
                mark if name != "free" and asked == "in_turn" else None
            ),
        )
        for name in ("first", "second", "free")
        for i in range(3)
        for k in range(4)
    ]
    monkeypatch.setattr(selection, "EVERYTHING", everything)
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    selection.pytest_collection_modifyitems(SimpleNamespace(args=args, hook=hook), items)
    return items


def test_one_case_in_three_runs_and_every_value_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = chosen(monkeypatch)
    assert [sum(x.originalname == name for x in kept) for name in ("first", "second", "free")] == [4, 4, 12]
    for name in ("first", "second"):
        for axis, count in (("law", 3), ("name", 4)):
            found = {x.callspec.indices[axis] for x in kept if x.originalname == name}
            assert found == set(range(count))
    first, second = (
        {tuple(x.callspec.indices.values()) for x in kept if x.originalname == name}
        for name in ("first", "second")
    )
    assert not first & second


def test_everything_runs_at_night_and_where_a_test_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(chosen(monkeypatch, everything=True)) == 36
    assert len(chosen(monkeypatch, args=("test_a.py::first",))) == 36
    assert len(chosen(monkeypatch, args=("test_a.py",))) == 20
