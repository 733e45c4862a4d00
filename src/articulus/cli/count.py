"""`articulus count`: operations of a mechanism's quantities beside published ones."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer

from articulus.cli.arguments import Model, Settings, options
from articulus.cli.printing import new_console, new_table
from articulus.errors import InputError


def count(
    model: Model,
    settings: Settings = None,
    quantity: Annotated[
        list[str] | None, typer.Option("--quantity", help="Quantity, such as mass_matrix; may be repeated.")
    ] = None,
    frame: Annotated[
        list[str] | None, typer.Option("--frame", help="Frame that the quantity is about; may be repeated.")
    ] = None,
    growth: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=FIRST:LAST",
            help="Also how counts grow with an argument of the model, such as n=2:10.",
        ),
    ] = None,
    simplify: Annotated[
        bool,
        typer.Option(
            "--simplify/--plain",
            help="The code that runs, or the algorithm without what the model makes disappear.",
        ),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count the operations of quantities, beside the counts that the literature prints."""
    from articulus.model.load import load
    from articulus.parallel.comparison import USUAL, compare, growths

    arguments = options(settings)
    family, sizes = _sizes(growth) if growth else ("", range(0))
    mechanism = load(model, **arguments)
    names = tuple(quantity or USUAL)
    rows = compare(mechanism, names, tuple(frame or ()), simplify)
    grown = (
        growths(lambda n: load(model, **(arguments | {family: n})), names, sizes, simplify) if sizes else {}
    )
    if as_json:
        formats = {
            "model": mechanism.name,
            "degrees_of_freedom": mechanism.nv,
            "rows": [dataclasses.asdict(row) | {"total": row.total} for row in rows],
            "growth": {
                name: {what: {"sizes": g.sizes, "counts": g.counts, "polynomial": str(g), "valid_from": g.valid_from}
                       for what, g in zip(("multiplications", "additions"), pair)}
                for name, pair in grown.items()
            },
        }  # fmt: skip
        typer.echo(json.dumps(formats, indent=2))
        return
    console = new_console()
    table = new_table(
        f"{mechanism.name}: {mechanism.nv} degrees of freedom",
        "count", "for", "multiplications", "additions", "others", "total", "per joint", "where",
    )  # fmt: skip
    for row in rows:
        numbers = (row.multiplications, row.additions, row.others, row.total)
        each = f"{row.total / mechanism.nv:.1f}" if mechanism.nv else ""
        table.add_row(row.who, row.what, *("" if x is None else str(x) for x in numbers), each, row.note)
    console.print(table)
    if grown:
        forms = new_table(f"growth with {family}", "quantity", "multiplications", "additions", "exact from")
        for name, (mul, add) in grown.items():
            forms.add_row(name, str(mul), str(add), str(max(mul.valid_from, add.valid_from)))
        console.print(forms)


def _sizes(text: str) -> tuple[str, range]:
    name, equals, ends = text.partition("=")
    first, colon, last = ends.partition(":")
    try:
        sizes = range(int(first), int(last) + 1)
    except ValueError:
        sizes = range(0)
    if not (name and equals and colon and len(sizes) >= 3):
        raise InputError(
            f"--growth {text}: expected NAME=FIRST:LAST with three sizes or more, such as n=2:10"
        )
    return name, sizes
