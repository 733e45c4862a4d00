"""`articulus fit`: parameters of a study from a record."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.printing import new_console, new_table
from articulus.errors import DoubtfulResult


def fit(
    study: Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")],
    records: Annotated[
        list[Path],
        typer.Argument(help="Measured runs: .csv, .nc or .mat, with columns such as 'q.lift [rad]'."),
    ],
    by: Annotated[list[str], typer.Option("--by", help="Parameter to fit; may be given several times.")],
    delay: Annotated[bool, typer.Option("--delay", help="Fit the delay of the records, too.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Go on though the check before the fit forbids it.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", help="File of the result, JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Page of the result, HTML.")] = None,
) -> None:
    """Fit parameters of a study to measured runs; exit with 1 if there is a reason to doubt."""
    from articulus.design.fits import Experiment
    from articulus.design.fits import fit as fit_parameters
    from articulus.study import read_study
    from articulus.study.records import read_record

    read = read_study(study)
    params = {n: x for n, x in read.params.items() if n not in by}
    experiments = [
        Experiment(read_record(r), read.loop, None, read.q0, read.v0, params, read.settings.step)
        for r in records
    ]
    start = {n: float(read.params[n]) for n in by if n in read.params}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # printed below
        found = fit_parameters(experiments, start if len(start) == len(by) else by, delay=delay, force=force)
    console = new_console()
    table = new_table(read.name, "parameter", "value", "deviation", "from")
    for name, x, s, first in zip(found.names, found.values, found.deviations, found.start):
        table.add_row(name, f"{x:.6g}", f"{s:.2g}", f"{first:.6g}")
    console.print(table)
    for entry, error in found.training.items():
        console.print(
            f"{entry}: error {error:.3g} fitted, {found.validation.get(entry, float('nan')):.3g} held out"
        )
    console.print(f"verdict: {found.verdict}", soft_wrap=True)
    for doubt in found.warnings:
        console.print(f"doubt: {doubt}", soft_wrap=True)
    if output is not None:
        found.to_json(output)
        console.print(f"result: {output}", soft_wrap=True)
    if report is not None:
        found.to_html(report)
        console.print(f"report: {report}", soft_wrap=True)
    if not found.ok:
        raise typer.Exit(1)
