"""`articulus campaign`: a study, many times."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from articulus.cli.printing import new_console, new_table
from articulus.errors import InputError, brief

if TYPE_CHECKING:
    from articulus.study.campaign.driver import Progress, Tell
    from articulus.study.campaign.result import Result

INTERRUPTED = 130
"""Exit status after Ctrl-C."""
MOST_DOUBTS = 3
"""Doubtful runs whose reasons are printed."""


def campaign(
    study: Annotated[
        str, typer.Argument(help="Path of a study, a TOML file; or the word show, then a folder.")
    ],
    folder: Annotated[Path | None, typer.Argument(help="After show: folder of a campaign.")] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", help="Number of runs; that of the study if none is given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder of the results; beside the study if none is given."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the sampler.")] = None,
    sampler: Annotated[
        str | None,
        typer.Option("--sampler", help="monte carlo, latin hypercube, sobol, grid, list or saltelli."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", help="Threads; all cores if none is given.")
    ] = None,
    run: Annotated[
        int | None,
        typer.Option("--run", help="After show: compute this run again, whole, and keep it as a file."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="After show: write all rows to this file, .parquet or .csv."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html, with the worst runs to replay.")
    ] = True,
    workers: Annotated[
        int, typer.Option("--workers", help="Worker processes on this machine; 0 works in this one.")
    ] = 0,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", help="Address of a dask scheduler, such as tcp://host:8786; local starts one here."
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds that a chunk of runs may take in a worker.")
    ] = None,
    worst_case: Annotated[
        str | None,
        typer.Option(
            "--worst-case",
            help="Search the worst case of a requirement, such as 'settling < 2 s', in so many --runs.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="Of --worst-case: differential evolution or cma-es.")
    ] = "differential evolution",
    rare: Annotated[
        str | None,
        typer.Option(
            "--rare",
            help="Probability that a requirement is missed, however rare, with so many --runs per level.",
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            "--until", help="Run until the pass rate is certainly above or below this number, at most --runs."
        ),
    ] = None,
    page: Annotated[
        bool,
        typer.Option("--page", help="Open a page in the browser that shows the campaign while it runs."),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --page: open it, or only print its address.")
    ] = True,
    status: Annotated[
        bool, typer.Option("--status", help="Say how far the campaign is, and do nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again the runs that were set aside.")
    ] = False,
) -> None:
    """Run a study many times with numbers that vary; the same command again goes on where it was."""
    from articulus.study.campaign.finished import nothing_left

    place = output or Path(study).with_suffix(".campaign")
    if page:
        _require_pageable(study == "show", folder or place, status, worst_case, rare)
    if study == "show":
        if folder is None:
            raise InputError("campaign show: found no folder; expected that of a campaign")
        result = _result(folder)
        if table is not None:
            result.table.save(table)
            new_console().print(f"{len(result.table):,} rows: {table}", soft_wrap=True)
            return
        _show(result, run, report)
        return
    for option, given in (("--run", run), ("--table", table)):
        if given is not None:
            raise InputError(
                f"campaign: found {option} without show; expected articulus campaign show FOLDER {option} ..."
            )
    if folder is not None:
        raise InputError(
            f"campaign: found two arguments, {study} and {folder}; expected one study. --output names the folder"
        )
    if status:
        _print_status(_result(place))
        return
    options: dict[str, Any] = {"seed": seed, "sampler": sampler}
    asked = [x for x in (worst_case, rare, until) if x is not None]
    if asked:
        if len(asked) > 1:
            raise InputError("campaign: found two of --worst-case, --rare and --until; expected one")
        how = {"workers": workers or None, "scheduler": scheduler, "time_limit": time_limit}
        if until is None:
            _require_here(how)
            place = output or Path(study).with_suffix(".search")
        chosen = {k: v for k, v in (options | how | {"threads": threads}).items() if v is not None}
        with _page(place, page, browser):
            _explore(study, place, runs, chosen, worst_case, method, rare, until)
        return
    done = None if retry_failed else nothing_left(place, study, runs, options)
    if done is not None:
        shown = f"articulus {'view' if page else 'campaign show'} {shlex.quote(str(place))}"
        text = f"{place}: all {done:,} runs are done; nothing is left. They are shown by: {shown}"
        new_console().print(text, soft_wrap=True)
        return
    from articulus.study.campaign.calls import run as run_campaign

    try:
        with _stoppable(), _page(place, page, browser), _bar() as tell:
            result = run_campaign(
                study,
                runs,
                output=place,
                threads=threads,
                workers=workers,
                scheduler=scheduler,
                time_limit=time_limit,
                retry_failed=retry_failed,
                tell=tell,
                **options,
            )
    except KeyboardInterrupt:
        _print_interrupted(place, "")
    _show(result, None, report)


def _explore(
    study: str,
    place: Path,
    runs: int | None,
    given: dict[str, Any],
    worst_case: str | None,
    method: str,
    rare: str | None,
    until: float | None,
) -> None:
    """Answer a question with runs that are chosen on the way."""
    from articulus.cli import campaign_explore as explore

    try:
        with _stoppable(), _bar() as tell:
            given = given | {"output": place, "tell": tell}
            if worst_case is not None:
                explore.print_worst_case(study, worst_case, runs, method, given)
            elif rare is not None:
                explore.print_rare(study, rare, runs, given)
            elif until is not None:
                explore.print_until(study, until, runs, given)
    except KeyboardInterrupt as interrupted:
        _print_interrupted(place, str(interrupted))


def _require_here(how: dict[str, Any]) -> None:
    """Raise InputError for options that a search, which works in this process, does not have."""
    for name, given in how.items():
        if given is not None:
            raise InputError(
                f"campaign: found --{name.replace('_', '-')} with --worst-case or --rare; expected none: a search works in this process, "
                "with --threads"
            )


def _result(folder: Path) -> Result:
    from articulus.study.campaign.result import Result

    return Result(folder)


def _show(result: Result, run: int | None, report: bool) -> None:
    """Print a campaign and write its report; or write a single run."""
    if run is not None:
        (file,) = result.keep([run])
        new_console().print(
            f"run {run}: {file}; see it with: articulus view {shlex.quote(str(file))}", soft_wrap=True
        )
        return
    _print(result)
    if report and len(result.table):
        new_console().print(f"report: {result.report()}", soft_wrap=True)


def _require_pageable(
    show: bool, folder: Path, status: bool, worst_case: str | None, rare: str | None
) -> None:
    """Raise InputError for commands that run no campaign in a folder."""
    for option, given in (("show", show), ("--status", status)):
        if given:
            raise InputError(
                f"campaign: found --page and {option}; expected a study to run. The page of a folder: articulus view {folder}"
            )
    for option, text in (("--worst-case", worst_case), ("--rare", rare)):
        if text is not None:
            raise InputError(
                f"campaign: found --page and {option}; expected --page without it: a search keeps no table that it could show"
            )


@contextlib.contextmanager
def _page(place: Path, wanted: bool, browser: bool) -> Iterator[None]:
    """Serve a page while a campaign runs in this process, where one is wanted."""
    if not wanted:
        yield
        return
    from articulus.study.campaign.page import CampaignPage

    served = CampaignPage(place, inside=True)
    try:
        new_console(stderr=True).print(f"look here: {served.url}", soft_wrap=True)
        if browser:
            webbrowser.open(served.url)
        yield
    finally:
        served.close(within=1.0)  # Ctrl-C ends within two seconds, whatever the browser does


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Let the end of a batch job (SIGTERM) be as Ctrl-C."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _bar() -> Iterator[Tell]:
    """Give what shows the progress: a bar on a terminal, nothing in a pipe."""
    console = new_console(stderr=True)
    if not console.is_terminal or os.environ.get("ARTICULUS_PROGRESS", "").lower() == "off":
        yield lambda progress: None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[text]}"),
    )
    with Display(*columns, console=console, transient=True, refresh_per_second=4) as display:
        task = display.add_task("campaign", total=None, text="")

        def tell(progress: Progress) -> None:
            display.update(task, total=progress.total, completed=progress.done, text=_text(progress))

        yield tell


def _text(p: Progress) -> str:
    """Return rate, remaining time and failures so far."""
    rate = f"{p.rate:.3g} runs/s" if p.rate < 1000 else f"{p.rate / 1000:.3g}k runs/s"
    left = "" if p.remaining == float("inf") else f", {_time(p.remaining)} left"
    total = "" if p.total is None else f" of {p.total:,}"
    return f"{p.done:,}{total} runs, {rate}{left}, {p.failed:,} without figures{p.note and ', '}{p.note}"


def _time(seconds: float) -> str:
    whole = int(seconds + 0.5)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def _print_interrupted(place: Path, text: str) -> None:
    """Say what is kept, and end at once: what native code is still doing is not waited for.

    `text` is that of a search; without one it is told what is kept in the folder of the campaign.
    """
    from articulus.study.campaign.driver import Folder

    held, kept, total = Folder(place), 0, 0
    if not text and held.settings is not None:
        ledger = held.ledger()
        kept, total = ledger.done(), held.settings["runs"]
        ledger.close()
    text = text or (
        f"interrupted: {kept:,} of {total:,} runs are kept in {place}; the same command goes on from there"
    )
    new_console(stderr=True).print(text, soft_wrap=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _print_status(result: Result) -> None:
    from articulus.study.campaign.driver import Folder

    ledger = Folder(result.folder).ledger()
    done = ledger.done()
    ledger.close()
    state = "complete" if done >= result.runs else f"{result.runs - done:,} left"
    console = new_console()
    console.print(
        f"{result.folder}: {done:,} of {result.runs:,} runs done, {state}, {int(result.table.failed.sum()):,} without figures",
        soft_wrap=True,
    )


def _print(result: Result) -> None:
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
    from articulus.study.campaign.statistics import NOTES, judged

    console, table = new_console(), result.table
    if not len(result.campaign.requirements) or not len(table):
        return
    kept = new_table(
        "requirements", "requirement", "runs that keep it", "share", "95 % bounds", "worst", "in run"
    )
    sampler = result.campaign.sampler
    for j in judged(result.campaign.requirements, table.figures, sampler):
        worst, (unit, size) = result.worst(j.requirement.figure, 1), j.requirement.written
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
