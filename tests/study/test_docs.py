"""The page on studies says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from articulus.study import parse_study, run_only
from articulus.study.check import BOUNDS, FIGURES, MOMENTS
from articulus.study.event_reader import EVENTS, event_fields, keys
from articulus.study.reader import HEAD, TOP
from articulus.study.settings import RUN

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text()


def test_the_example_runs_and_passes() -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert example
    assert run_only(parse_study(example[1], "arm.toml")).ok


def test_every_key_stands_on_the_page() -> None:
    words = [*TOP, *HEAD, *(field.name for field in RUN), *FIGURES, *BOUNDS, *MOMENTS, *EVENTS]
    for kind in EVENTS.values():
        words += [*keys(kind), *(word for field in event_fields(kind) for word in field.words)]
    assert [w for w in words if not re.search(rf"\b{re.escape(w)}\b", PAGE)] == []
