"""The benchmark as text: a table for people, Markdown for a page, JSON for programs."""

from __future__ import annotations

import json
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from articulus.bench.machine import sentence
from articulus.bench.row import Measurement

COLUMNS = ("what", "n", "ours", "peer's", "peer", "figure", "bar", "met", "of peak", "note")
RIGHT = ("n", "ours", "peer's", "figure", "of peak")


def as_json(machine: dict[str, Any], rows: list[Measurement]) -> str:
    """Return one JSON object with `machine` and `rows`."""
    return json.dumps({"machine": machine, "rows": [r.as_dict() for r in rows]}, indent=1, allow_nan=False)


def as_markdown(machine: dict[str, Any], rows: list[Measurement]) -> str:
    """Return the table in Markdown under a line on the machine."""
    rule = ["--:" if name in RIGHT else "---" for name in COLUMNS]
    lines = [COLUMNS, rule, *(cells(row) for row in rows)]
    return "\n".join([sentence(machine), "", *(f"| {' | '.join(line)} |" for line in lines)])


def as_table(rows: list[Measurement]) -> Table:
    """Return the table for a terminal."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in RIGHT else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, _style(cell)) for cell in cells(row)))
    return table


def cells(row: Measurement) -> list[str]:
    """Return the texts of a row, one for each column."""
    return [
        row.name,
        str(row.n or ""),
        duration(row.ours_us),
        duration(row.peer_us),
        row.peer,
        "" if row.value is None else f"{row.value:.3g} {row.unit}",
        str(row.bar or ""),
        {True: "yes", False: "NO", None: ""}[row.met],
        "" if row.peak_share is None else f"{100 * row.peak_share:.0f} %",
        row.note,
    ]


def duration(us: float | None) -> str:
    """Return microseconds with three digits in a unit that fits."""
    if us is None:
        return ""
    if us < 1e3:
        return f"{us:.3g} us"
    return f"{us / 1e3:.3g} ms" if us < 1e6 else f"{us / 1e6:.3g} s"


def _style(cell: str) -> str:
    return {"yes": "green", "NO": "bold red"}.get(cell, "")
