"""`articulus linearize`, `reduce`, `design-controller`, `invert`: linear models of studies and models, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from articulus.cli.arguments import Settings, options
from articulus.cli.printing import new_console, new_table

if TYPE_CHECKING:
    from articulus.study.linear import PlantSource
    from articulus.study.linear.runner import LinearOutcome

Plant = Annotated[
    str, typer.Argument(help="Study, file of a linear model, model file, or name of a library model.")
]
Task = Annotated[Path, typer.Argument(help="Path of a task, a TOML file.")]
Output = Annotated[Path | None, typer.Option("--output", help="Folder of the results.")]
Name = Annotated[
    str, typer.Option("--name", help="Beginning of the names of files; that of the model if none is given.")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON in place of TOML.")]
Report = Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", help="Input, such as u, u.motor, tau or w; all commands if none is given."),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--signal", help="Output, such as q, q.boom or gyro.rate; all signals if none is given."),
]
At = Annotated[float | None, typer.Option("--at", help="Time [s] of a study; its start if not given.")]
Trimmed = Annotated[bool, typer.Option("--trim", help="About a state that constant commands hold.")]


def linearize(
    model: Plant,
    inputs: Inputs = None,
    signals: Outputs = None,
    at: At = None,
    trim: Trimmed = False,
    settings: Settings = None,
    name: Name = "",
    output: Output = None,
    json: Json = False,
    report: Report = True,
) -> None:
    """Write the linear model of a study or model about an operating point, with its modes as a report."""
    from articulus.study.linear import run_linearization

    source = _source(model, inputs, signals, at, trim, settings)
    outcome = run_linearization(source, output or Path(), name=name, format=_format(json), report=report)
    _print_outcome(outcome)


def reduce(
    model: Plant,
    order: Annotated[int | None, typer.Option("--order", help="States that are left.")] = None,
    max_error: Annotated[
        float | None, typer.Option("--max-error", help="Instead: fewest states whose bound is at most this.")
    ] = None,
    method: Annotated[str, typer.Option("--method", help="balred, schmr, bstmr or ohklmr.")] = "balred",
    match: Annotated[
        str | None, typer.Option("--match", help="What balred keeps exactly: fast or rest.")
    ] = None,
    inputs: Inputs = None,
    signals: Outputs = None,
    at: At = None,
    trim: Trimmed = False,
    settings: Settings = None,
    name: Name = "",
    output: Output = None,
    json: Json = False,
    report: Report = True,
) -> None:
    """Write a linear model with fewer states, with the error over frequency as a report."""
    from articulus.study.linear import run_reduction

    outcome = run_reduction(
        _source(model, inputs, signals, at, trim, settings),
        output or Path(),
        order=order,
        max_error=max_error,
        method=method,
        match=match,
        name=name,
        format=_format(json),
        report=report,
    )
    _print_outcome(outcome)


def design_controller(task: Task, output: Output = None, json: Json = False, report: Report = True) -> None:
    """Design a controller as a file says; write it for studies to take in, and a report. Exit with 1 if its closed loop fails."""
    from articulus.study.linear import read_design, run_design

    outcome = run_design(read_design(task), output or task.parent, format=_format(json), report=report)
    _print_outcome(outcome)


def invert(task: Task, output: Output = None, json: Json = False, report: Report = True) -> None:
    """Compute inputs that make outputs follow a path; write them for studies to take in, and a report. Exit with 1 if there are none."""
    from articulus.study.linear import read_inversion, run_inversion

    outcome = run_inversion(read_inversion(task), output or task.parent, format=_format(json), report=report)
    _print_outcome(outcome)


def _source(
    model: str,
    inputs: list[str] | None,
    signals: list[str] | None,
    at: float | None,
    trim: bool,
    settings: list[str] | None,
) -> PlantSource:
    from articulus.study.linear import PlantSource

    return PlantSource(model, Path(), options(settings), tuple(inputs or ()), tuple(signals or ()), at, trim)


def _format(json: bool) -> str:
    return "json" if json else "toml"


def _print_outcome(outcome: LinearOutcome) -> None:
    console = new_console()
    rows = new_table(outcome.name, "figure", "value")
    for name, text in outcome.figures():
        rows.add_row(name, text)
    for text in outcome.notes:
        rows.add_row("doubt", text)
    if outcome.failure:
        rows.add_row("failed", outcome.failure)
    console.print(rows)
    for file in outcome.files:
        console.print(f"written: {file}", soft_wrap=True)
    if not outcome.ok:
        raise typer.Exit(1)
