"""`articulus bench`: speed on this machine."""

from __future__ import annotations

from typing import Annotated

import typer


def bench(
    only: Annotated[
        list[str] | None,
        typer.Argument(help="Measure only sections with these words in their titles, such as 'cold start'."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object: machine and rows.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table in Markdown.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and shorter runs.")] = False,
) -> None:
    """Measure the speed of dynamics on this machine, beside other packages that are installed."""
    from articulus import bench as benchmark

    benchmark.run(quick=quick, json=json, markdown=markdown, only=only or [])
