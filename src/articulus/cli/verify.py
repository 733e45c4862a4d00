"""`articulus verify`: published cases beside the numbers expected of them."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import track
from rich.table import Table
from rich.text import Text

from articulus.cli.printing import new_console, new_table

if TYPE_CHECKING:
    from articulus.cases import Case, CaseRow

TABLE_WIDTH = 150
"""Columns of a terminal from which the verification is a table."""


def verify(
    cases: Annotated[
        list[str] | None,
        typer.Argument(help="Names, or folders with cases of your own; all if none is given."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object a row.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Only list the cases.")] = False,
) -> None:
    """Compute published cases and compare with the numbers expected of them; exit with 1 if any row fails."""
    from articulus import cases as library

    found = library.find(cases or None)
    if list_:
        _list_cases(found, json)
        return
    rows = [row for case in _watch(found) for row in case.rows()]
    if json:
        typer.echo(json_text.dumps([row.as_dict() for row in rows], indent=1, allow_nan=False))
    else:
        _print_rows(rows)
    if not all(row.passed for row in rows):
        raise typer.Exit(1)


def _watch(cases: list[Case]) -> Any:
    console = new_console(stderr=True)
    return track(cases, "verifying", console=console, transient=True) if console.is_terminal else cases


def _list_cases(cases: list[Case], json: bool) -> None:
    if json:
        keys = ("name", "title", "source", "reference")
        typer.echo(json_text.dumps([{key: getattr(c, key) for key in keys} for c in cases], indent=1))
        return
    table = new_table("cases", "name", "rows", "title", "source")
    for c in cases:
        table.add_row(c.name, str(len(c.expected)), c.title, c.reference)
    new_console().print(table)


def _print_rows(rows: list[CaseRow]) -> None:
    console = new_console()
    if console.width >= TABLE_WIDTH:
        console.print(_row_table(rows))
    else:
        for row in rows:
            console.print(_row_lines(row))
    console.print(_totals(rows))


def _totals(rows: list[CaseRow]) -> str:
    """Return how many rows pass, deviate as known and fail; rows that repeat others are counted apart."""
    own = [row for row in rows if not row.same_as]
    failed = sum(not row.passed for row in own)
    known = sum(row.passed and bool(row.deviation) for row in own)
    text = f"{len(own)} rows, {len(own) - failed - known} pass, {known} known deviations, {failed} fail"
    again = len(rows) - len(own)
    if again:
        wrong = sum(not row.passed for row in rows if row.same_as)
        text += f"; {again} more repeat rows of other cases, {wrong} of them fail"
    return text


def _row_table(rows: list[CaseRow]) -> Table:
    columns = ("case", "source", "quantity", "expected", "computed", "tolerance", "origin", "reason", "pass")
    table, last = new_table("verification", *columns), ""
    for row in rows:
        if last and row.case != last:
            table.add_section()
        last = row.case
        numbers = (_value(row.expected), _value(row.computed, row.tolerance), f"{row.tolerance:g}")
        table.add_row(row.case, row.source, row.quantity, *numbers, row.origin, _remark(row), _verdict(row))
    return table


def _row_lines(row: CaseRow) -> Text:
    """Return a row as lines, for a terminal too narrow for the table."""
    values = {"expected": _value(row.expected), "computed": _value(row.computed, row.tolerance)}
    text = Text.assemble(_verdict(row), f" {row.case}: ", (row.quantity, "bold"), "\n")
    for name, value in values.items():
        text.append(f"  {name:<10}" + value.replace("\n", "\n" + 12 * " ") + "\n")
    return text.append(
        f"  tolerance {row.tolerance:g}; {row.origin}: {_remark(row)}\n  {row.source}\n", "dim"
    )


def _verdict(row: CaseRow) -> Text:
    if not row.passed:
        return Text("FAIL", "bold red")
    return Text("known deviation", "yellow") if row.deviation else Text("pass", "green")


def _remark(row: CaseRow) -> str:
    """Return the reason, with what is known of a deviation and which row is repeated."""
    deviation = f"; known deviation: {row.deviation}" if row.deviation else ""
    return row.reason + deviation + (f"; the same as {row.same_as}" if row.same_as else "")


def _value(value: Any, tolerance: float = 0.0) -> str:
    """Return a number, a vector on one line, or a matrix with a line for each row; noise gets two digits."""
    if value is None:
        return "none"
    if not isinstance(value, list):
        return f"{value + 0.0:.{2 if abs(value) < tolerance else 9}g}"
    between = "\n" if value and isinstance(value[0], list) else " "
    return between.join(_value(item, tolerance) for item in value)
