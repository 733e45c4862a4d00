"""`articulus schedule`: one step on several processors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.arguments import options
from articulus.cli.printing import new_console, new_table
from articulus.errors import InputError


def schedule(
    source: Annotated[
        str, typer.Argument(help="Model, as of info, or a listing of equations in a file that ends in .ode.")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Argument of the model, such as n=10."),
    ] = None,
    processors: Annotated[str, typer.Option(help="Numbers of processors, parted by commas.")] = "1,2,4,8",
    method: Annotated[
        str, typer.Option(help="Integration of the step: euler, ab2, ab3, ab4, am4, rk4.")
    ] = "rk4",
    grain: Annotated[
        str, typer.Option(help="Size of tasks: operation, near fine, fused, equation.")
    ] = "fused",
    transfer: Annotated[
        float, typer.Option(help="Time of a transfer between processors, in operations.")
    ] = 0.0,
    seconds: Annotated[
        float, typer.Option(help="Also search for the best schedule for so long (without transfers).")
    ] = 0.0,
    chart: Annotated[
        Path | None, typer.Option(help="Write the Gantt chart of the last one, an .svg file.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(help="Write the task graph in the language of Graphviz.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with the charts of all, HTML.")] = None,
) -> None:
    """Schedule one step of integration on several processors: predicted times, speed-up, and how far from the best at most."""
    from articulus.model.files.storage import write_text
    from articulus.parallel import cp_dt_misf, df_ihs, ode_graph, read_listing, step_graph, waits

    numbers = _numbers(processors)
    if source.endswith(".ode"):
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"listing '{source}': {error}") from None
        tasks = ode_graph(read_listing(text).rates(), method, grain)  # type: ignore[arg-type]
    else:
        from articulus.model.load import load

        tasks = step_graph(load(source, **options(settings)), method, grain)  # type: ignore[arg-type]
    title = (
        f"one step of {source} by {method}: {len(tasks)} tasks, {tasks.work:g} operations, "
        f"critical path {tasks.critical_path:g}, parallelism {tasks.parallelism:.3g}"
    )
    table = new_table(
        title, "processors", "by", "step", "speed-up", "above the best at most", "checks between processors"
    )
    best, found = None, []
    for m in numbers:
        best = cp_dt_misf(tasks, m, transfer)
        if seconds and not transfer:
            best = df_ihs(tasks, m, seconds)
        found.append(best)
        table.add_row(
            str(m), best.method, f"{best.makespan:g}", f"{best.speedup:.3g}", f"{100 * best.error:.3g} %",
            f"{len(waits(best))} of {len(waits(best, all_of_them=True))}",
        )  # fmt: skip
    new_console().print(table)
    if chart is not None and best is not None:
        best.save(chart)
    if graph is not None:
        write_text(graph, tasks.dot())
    if report is not None:
        from articulus.study.schedule_report import schedule_report

        write_text(report, schedule_report(found, f"One step of {source} by {method}"))


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise InputError(f"--processors {text}: expected whole numbers from 1, such as 1,2,4")
    return found
