"""How fast articulus is on this machine, beside other engines on the same mechanisms: `articulus bench`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import track

from articulus.bench.machine import machine, sentence
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.sections import BenchSection, sections
from articulus.bench.table import as_json, as_markdown, as_table
from articulus.errors import InputError

__all__ = ["BenchReport", "FigureLimit", "Measurement", "measure", "run"]

QUICK_SECONDS = 0.0
"""Of a race in a smoke run, whose two rounds show that it works; its times are rough."""
PIPE_WIDTH = 240
"""Columns of a table that does not go to a terminal."""


@dataclass(frozen=True)
class BenchReport:
    """What was measured, and on what."""

    machine: dict[str, Any]
    rows: list[Measurement]


def run(quick: bool = False, json: bool = False, markdown: bool = False, only: Sequence[str] = ()) -> None:
    """Measure, and print the result.

    Parameters
    ----------
    quick : bool
        A smoke run: small mechanisms, few repeats, few new processes.
    json : bool
        Print one JSON object.
    markdown : bool
        Print a table in Markdown.
    only : sequence of str
        Words in titles of sections; all sections if empty.
    """
    report = measure(quick, show_progress=True, only=only)
    if json or markdown:
        text = as_json if json else as_markdown
        sys.stdout.write(text(report.machine, report.rows) + "\n")
        return
    console = _console(stderr=False)
    console.print(sentence(report.machine))
    console.print(as_table(report.rows))
    barred = [row.met for row in report.rows if row.met is not None]
    console.print(f"{len(report.rows)} rows; {sum(barred)} of {len(barred)} bars met")


def measure(quick: bool = False, show_progress: bool = False, only: Sequence[str] = ()) -> BenchReport:
    """Return all rows, measured in one go on one core.

    Parameters
    ----------
    quick : bool
        A smoke run: small mechanisms, few repeats, few new processes.
    show_progress : bool
        Show on a terminal what is being measured.
    only : sequence of str
        Words in titles of sections; all sections if empty.
    """
    parts = _select_sections(sections(quick), only)
    effort = Effort(QUICK_SECONDS, quick=True, rounds=2) if quick else Effort()
    facts = machine(effort.seconds)
    rows = [
        row for part in (_with_progress(parts) if show_progress else parts) for row in _rows(part, effort)
    ]
    return BenchReport(facts, [row.with_share(1e9 * facts["peak_gflops"]) for row in rows])


def _rows(part: BenchSection, effort: Effort) -> Iterator[Measurement]:
    """Yield the rows of a section; an error ends the section, not the benchmark."""
    try:
        yield from part.rows(effort)
    except Exception as error:  # noqa: BLE001, whatever an engine beside ours raises
        yield Measurement(part.title, 0, failed=True, note=f"{type(error).__name__}: {error}")


def _select_sections(parts: list[BenchSection], only: Sequence[str]) -> list[BenchSection]:
    """Return the sections that are asked for."""
    for words in only:
        if not any(words in part.title for part in parts):
            raise InputError(
                f"bench: found no section with '{words}' in its title; expected words of: {', '.join(p.title for p in parts)}"
            )
    return [part for part in parts if not only or any(words in part.title for words in only)]


def _with_progress(parts: list[BenchSection]) -> Iterable[BenchSection]:
    console = _console(stderr=True)
    return track(parts, "measuring", console=console, transient=True) if console.is_terminal else parts


def _console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
