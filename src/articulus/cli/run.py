"""`articulus run`: studies."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from articulus.cli.printing import new_console, new_table
from articulus.errors import DoubtfulResult

if TYPE_CHECKING:
    from articulus.study import Files, Outcome


def run(
    study: Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder of the results; that of the study if none is given."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint of a killed run.")
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    loops: Annotated[
        str | None,
        typer.Option(
            "--loops", help="Form in which loops are closed, in place of the study's, such as minimal."
        ),
    ] = None,
    foxglove: Annotated[
        int | None,
        typer.Option(
            help="Port of this computer on which Foxglove may look on, such as 8765; the run keeps to real time."
        ),
    ] = None,
) -> None:
    """Run a study: write results and a report, check what it demands; exit with 1 if a check or the run fails."""
    from articulus.study import Files, read_study, run_study

    read = read_study(study)
    if loops is not None:
        read = dataclasses.replace(read, loops=loops)
    files = Files.of(read, study.parent if output is None else output)
    notes = new_console(stderr=True)
    if resume:
        state = "goes on from" if files.checkpoint.exists() else "starts anew: there is no checkpoint"
        notes.print(f"{read.name}: {state} {files.checkpoint}", soft_wrap=True)
    with warnings.catch_warnings(), contextlib.ExitStack() as held:
        warnings.simplefilter("ignore", DoubtfulResult)  # the table of figures says it
        if foxglove is not None:
            from articulus.bridges.foxglove import LivePlayer

            player = held.enter_context(LivePlayer(foxglove))
            notes.print(f"{read.name}: look on at ws://localhost:{player.port}", soft_wrap=True)
            held.enter_context(player.follow(speed=1.0))
        outcome = run_study(read, files.results.parent, resume=resume, report=report)
    _print_outcome(outcome, files, report)
    if not outcome.ok:
        raise typer.Exit(1)


def _print_outcome(outcome: Outcome, files: Files, report: bool) -> None:
    console = new_console()
    figures = new_table(outcome.study.name, "figure", "value")
    for name, text in outcome.run.figures():
        figures.add_row(name, text)
    console.print(figures)
    checks = new_table("checks", "check", "looks at", "expected", "found", "verdict")
    for k, v in enumerate(outcome.verdicts):
        verdict = Text("PASS", "green") if v.passed else Text("FAIL", "bold red")
        checks.add_row(v.check.name or f"check {k + 1}", v.check.place, v.check.demand, v.text, verdict)
    if checks.row_count:
        console.print(checks)
    console.print(f"results: {files.results}", soft_wrap=True)
    if report:
        console.print(f"report: {files.report}", soft_wrap=True)
