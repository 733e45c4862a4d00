"""What `articulus campaign` prints of the results of a campaign."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from articulus.cli.printing import new_console, new_table
from articulus.errors import brief

if TYPE_CHECKING:
    from articulus.study.campaign.result import Result

MOST_DOUBTS = 3
"""Doubtful runs whose reasons are printed."""


def print_status(result: Result) -> None:
    """Print how far a campaign is."""
    from articulus.study.campaign.driver import Folder

    ledger = Folder(result.folder).ledger()
    done = ledger.count_done()
    ledger.close()
    state = "complete" if done >= result.runs else f"{result.runs - done:,} left"
    console = new_console()
    console.print(
        f"{result.folder}: {done:,} of {result.runs:,} runs done, {state}, {int(result.table.failed.sum()):,} without figures",
        soft_wrap=True,
    )


def print_result(result: Result) -> None:
    """Print everything; of what cannot be printed, why: the rest is not lost with it."""
    _ = result.table.status  # raises where rows are damaged
    for part in (_print_head, _print_doubts, _print_failures, _print_requirements, _print_figures):
        try:
            part(result)
        except Exception as error:  # noqa: BLE001  (hours of computation must not be lost to a table)
            new_console(stderr=True).print(
                f"{part.__name__.removeprefix('_print_')}: cannot be shown ({type(error).__name__}: {brief(error)})",
                soft_wrap=True,
            )
    new_console().print(f"results: {result.folder}", soft_wrap=True)


def _print_head(result: Result) -> None:
    table = result.table
    new_console().print(
        f"{result.folder}: {len(table):,} of {result.runs:,} runs done, {int(table.failed.sum()):,} without figures",
        soft_wrap=True,
    )
    for note in result.notes:
        new_console().print(f"note: {note}", soft_wrap=True)


def _print_doubts(result: Result) -> None:
    table = result.table
    doubtful = table.index[table.doubts > 0].tolist()
    if not doubtful:
        return
    console = new_console()
    console.print(f"{len(doubtful):,} runs are doubtful", soft_wrap=True)
    known = [run for run in doubtful if run in table.texts]
    known.sort(key=lambda run: "Likely cause" not in table.texts[run])  # the worst have one
    for run in known[:MOST_DOUBTS]:
        console.print(f"  run {run}: {table.texts[run]}", soft_wrap=True)
    if known[MOST_DOUBTS:]:
        again = f"articulus campaign show {shlex.quote(str(result.folder))} --run {known[MOST_DOUBTS]}"
        console.print(
            f"  and others: run {known[MOST_DOUBTS]} whole, with its reasons: {again}", soft_wrap=True
        )


def _print_failures(result: Result) -> None:
    import numpy as np

    table, failed = result.table, result.table.failed
    if not failed.any():
        return
    causes = new_table("without figures", "cause", "runs", "first run", "what happened")
    for code in np.unique(table.cause[failed]):
        rows = np.flatnonzero(failed & (table.cause == code))
        first = int(table.index[rows[0]])
        causes.add_row(table.cause_texts[code], f"{rows.size:,}", str(first), table.texts.get(first, ""))
    new_console().print(causes)


def _print_requirements(result: Result) -> None:
    from articulus.study.campaign.report.sections import bounded, percent
    from articulus.study.campaign.statistics import NOTES, judge

    console, table = new_console(), result.table
    if not len(result.campaign.requirements) or not len(table):
        return
    kept = new_table(
        "requirements", "requirement", "runs that keep it", "share", "95 % bounds", "worst", "in run"
    )
    sampler = result.campaign.sampler
    for j in judge(result.campaign.requirements, table.figures, sampler):
        worst, (unit, size) = result.worst(j.requirement.figure, 1), j.requirement.bound_unit
        value = table.figures[j.requirement.figure][table.index == worst[0]][0] / size if worst.size else 0.0
        kept.add_row(
            j.requirement.text,
            f"{j.rate.passed:,} of {j.rate.runs:,}",
            percent(j.rate.rate),
            bounded(j.rate),
            f"{value:.4g} {unit}".removesuffix(" -") if worst.size else "",
            str(worst[0]) if worst.size else "",
        )
    console.print(kept)
    if NOTES[sampler]:
        console.print(f"note: {NOTES[sampler]}", soft_wrap=True)


def _print_figures(result: Result) -> None:
    import numpy as np

    from articulus.study.campaign.figures import scales

    table = result.table
    if not len(table.figures) or table.failed.all():
        return
    figures = new_table("figures", "figure", "unit", "least", "median", "greatest")
    shown = scales(result.campaign.requirements, table.units)
    for name, values in table.figures.items():
        unit, size = shown[name]
        good = values[~np.isnan(values)] / size  # not every run reaches every time that is looked at
        ends = (good.min(), np.median(good), good.max()) if good.size else (np.nan,) * 3
        figures.add_row(name, unit, *("–" if np.isnan(x) else f"{x:.6g}" for x in ends))
    new_console().print(figures)
