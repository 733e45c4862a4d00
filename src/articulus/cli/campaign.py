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
from typer.core import TyperGroup

from articulus.cli import campaign_explore as explore
from articulus.cli.campaign_tables import print_result, print_status
from articulus.cli.printing import new_console

if TYPE_CHECKING:
    from articulus.study.campaign.driver import Progress, Tell
    from articulus.study.campaign.result import Result

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class _Group(TyperGroup):
    """The commands of campaigns; a study in place of one is told which runs it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0].endswith(".toml"):
            ctx.fail(
                f"found the study {args[0]} in place of a command; expected: articulus campaign run {shlex.quote(args[0])}"
            )
        return super().resolve_command(ctx, args)


campaigns = typer.Typer(
    name="campaign",
    cls=_Group,
    help="Run a study many times with numbers that vary: pass rates, worst cases, rare failures.",
    no_args_is_help=True,
)

Study = Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")]
Folder = Annotated[
    Path, typer.Argument(help="Folder of a campaign, or its study if the folder is beside it.")
]
Requirement = Annotated[
    str | None,
    typer.Argument(
        help="Such as 'settling < 2 s', or the name of its figure; the only one of the study if none is given."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", help="Folder of the results; beside the study if none is given."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the sampler.")]
SearchSeed = Annotated[int, typer.Option("--seed", help="Seed of the search.")]
Sampler = Annotated[
    str | None,
    typer.Option("--sampler", help="monte carlo, latin hypercube, sobol, grid, list or saltelli."),
]
Threads = Annotated[int | None, typer.Option("--threads", help="Threads; all cores if none is given.")]
Workers = Annotated[
    int, typer.Option("--workers", help="Worker processes on this machine; 0 works in this one.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", help="Address of a dask scheduler, such as tcp://host:8786; local starts one here."
    ),
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", help="Seconds that a chunk of runs may take in a worker.")
]
Page = Annotated[
    bool, typer.Option("--page", help="Open a page in the browser that shows the campaign while it runs.")
]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="With --page: open it, or only print its address.")
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Write report.html, with the worst runs to replay.")
]


@campaigns.command()
def run(
    study: Study,
    runs: Annotated[
        int | None, typer.Option("--runs", help="Number of runs; that of the study if none is given.")
    ] = None,
    output: Output = None,
    seed: Seed = None,
    sampler: Sampler = None,
    threads: Threads = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again the runs that were set aside.")
    ] = False,
    report: Report = True,
    page: Page = False,
    browser: Browser = True,
) -> None:
    """Run a study many times with numbers that vary; the same command again continues where it was."""
    from articulus.study.campaign.completion import nothing_left

    place = output or study.with_suffix(".campaign")
    options: dict[str, Any] = {"seed": seed, "sampler": sampler}
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
    _show(result, report)


@campaigns.command()
def show(
    folder: Folder,
    run: Annotated[
        int | None, typer.Option("--run", help="Compute this run again, whole, and keep it as a file.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--table", help="Write all rows to this file, .parquet or .csv.")
    ] = None,
    report: Report = True,
) -> None:
    """Print the results of a campaign and write its report, as far as it is done; or write one run, or the table."""
    result, console = _result(folder), new_console()
    if table is not None:
        result.table.save(table)
        console.print(f"{len(result.table):,} rows: {table}", soft_wrap=True)
    if run is not None:
        (file,) = result.keep([run])
        text = f"run {run}: {file}; see it with: articulus view {shlex.quote(str(file))}"
        console.print(text, soft_wrap=True)
    if table is None and run is None:
        _show(result, report)


@campaigns.command()
def status(folder: Folder) -> None:
    """Say how far a campaign is."""
    print_status(_result(folder))


@campaigns.command()
def worst_case(
    study: Study,
    requirement: Requirement = None,
    runs: Annotated[int, typer.Option("--runs", help="Number of runs of the search.")] = 2000,
    method: Annotated[
        str, typer.Option("--method", help="differential evolution or cma-es.")
    ] = "differential evolution",
    output: Output = None,
    seed: SearchSeed = 0,
    threads: Threads = None,
) -> None:
    """Search what varies for the run that misses a requirement by most."""
    place = output or study.with_suffix(".search")
    given = {"output": place, "seed": seed, "threads": threads}
    with _interruptible(place) as tell:
        explore.print_worst_case(study, requirement, runs, method, given | {"tell": tell})


@campaigns.command()
def rare(
    study: Study,
    requirement: Requirement = None,
    runs: Annotated[int, typer.Option("--runs", help="Number of runs per level.")] = 2000,
    output: Output = None,
    seed: SearchSeed = 0,
    threads: Threads = None,
) -> None:
    """Estimate the probability that a requirement is missed, however rare that is."""
    place = output or study.with_suffix(".search")
    given = {"output": place, "seed": seed, "threads": threads}
    with _interruptible(place) as tell:
        explore.print_rare(study, requirement, runs, given | {"tell": tell})


@campaigns.command()
def until(
    study: Study,
    above: Annotated[
        float | None,
        typer.Option("--above", help="Stop when the pass rate is certainly above this number, or below."),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            "--width", help="Stop when the bounds of the pass rate are not further apart than this."
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Largest number of runs.")] = 1_000_000,
    output: Output = None,
    seed: Seed = None,
    sampler: Sampler = None,
    threads: Threads = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
    page: Page = False,
    browser: Browser = True,
) -> None:
    """Run a study until its pass rate is certainly above or below a number, or known to a width."""
    place = output or study.with_suffix(".campaign")
    given = {
        "output": place,
        "seed": seed,
        "sampler": sampler,
        "threads": threads,
        "workers": workers,
        "scheduler": scheduler,
        "time_limit": time_limit,
    }
    with _interruptible(place) as tell, _page(place, page, browser):
        explore.print_until(study, above, width, runs, given | {"tell": tell})


def _result(folder: Path) -> Result:
    from articulus.study.campaign.result import Result

    return Result(folder.with_suffix(".campaign") if folder.suffix == ".toml" else folder)


def _show(result: Result, report: bool) -> None:
    """Print a campaign and write its report."""
    print_result(result)
    if report and len(result.table):
        new_console().print(f"report: {result.report()}", soft_wrap=True)


@contextlib.contextmanager
def _interruptible(place: Path) -> Iterator[Tell]:
    """Give what shows the progress; after Ctrl-C, say what was found so far and end."""
    try:
        with _stoppable(), _bar() as tell:
            yield tell
    except KeyboardInterrupt as interrupted:
        _print_interrupted(place, str(interrupted))


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
        kept, total = ledger.count_done(), held.settings["runs"]
        ledger.close()
    text = text or (
        f"interrupted: {kept:,} of {total:,} runs are kept in {place}; the same command goes on from there"
    )
    new_console(stderr=True).print(text, soft_wrap=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
