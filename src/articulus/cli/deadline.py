"""`articulus deadline`: whether a study keeps a rate on this machine."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.printing import new_console, new_table
from articulus.errors import DoubtfulResult


def deadline(
    study: Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")],
    rate: Annotated[float, typer.Option(help="Ticks per second.")] = 1000.0,
    ticks: Annotated[int, typer.Option(help="How many ticks are measured.")] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the step of a study in a pinned thread; exit with 1 if an uninterrupted tick takes longer than its period."""
    from articulus.parallel import deadline as measured
    from articulus.study import read_study

    read = read_study(study)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        result = measured(read.loop, read.settings, rate, read.q0, read.v0, read.params, ticks)
    if as_json:
        t = result.timing
        formats = {
            "study": read.name, "rate": result.rate, "steps": result.steps,
            "operations": None if result.operations is None else result.operations.total,
            "ticks": len(t.seconds), "stolen": int(t.stolen.sum()), "pinned": t.pinned,
            "p50": t.quantile(0.5), "p99.9": t.quantile(0.999), "worst": t.worst, "worst_of_all": float(t.seconds.max()),
            "missed": result.missed, "missed_alone": result.missed_alone, "promised": result.promised, "failed": result.failed,
        }  # fmt: skip
        typer.echo(json.dumps(formats, indent=2))
    else:
        table = new_table(read.name, "figure", "value")
        for name, text in result.figures():
            table.add_row(name, text)
        new_console().print(table)
    if result.missed_alone or result.failed:
        raise typer.Exit(1)
