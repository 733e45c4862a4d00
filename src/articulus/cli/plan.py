"""`articulus plan`: tasks of motions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.printing import new_console, new_table


def plan(
    task: Annotated[Path, typer.Argument(help="Path of a task, a TOML file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder of the results; that of the task if none is given."),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
) -> None:
    """Find the best motion for a task: write plan, forces and a report with proof by simulation; exit with 1 if there is none."""
    from articulus.study.plans import PlanFiles, read_task, run_task
    from articulus.study.plans.report import doubts

    read = read_task(task)
    folder = task.parent if output is None else output
    outcome = run_task(read, folder, report=report)
    found, files, console = outcome.plan, PlanFiles.of(read, folder), new_console()
    rows = new_table(read.name, "figure", "value")
    rows.add_row(
        "search",
        f"{found.solution.status}, {found.solution.iterations} iterations in {found.solution.seconds:.3g} s",
    )
    rows.add_row("duration", f"{found.t[-1]:.6g} s")
    rows.add_row("cost", f"{found.solution.cost:.6g}")
    rows.add_row("estimated error", f"{found.error:.2g} of the sizes of the states")
    if outcome.run is not None:
        rows.add_row("simulated end off by", f"{found.end_error:.2g} rad or m")
    if outcome.residual is not None:
        rows.add_row("vibration after the end", str(outcome.residual))
    for text in doubts(outcome):
        rows.add_row("doubt", text)
    if not found.converged:
        for violation in found.violations()[:5]:
            rows.add_row("not kept", str(violation))
    console.print(rows)
    for what, place in (("plan", files.plan), ("forces", files.forces), ("report", files.report)):
        if place.exists() and (report or what != "report"):
            console.print(f"{what}: {place}", soft_wrap=True)
    if not outcome.ok:
        raise typer.Exit(1)
