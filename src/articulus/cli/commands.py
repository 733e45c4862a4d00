"""All commands, and what is around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from articulus.cli.bench import bench
from articulus.cli.browser import drive, view
from articulus.cli.build import build
from articulus.cli.campaign import campaigns
from articulus.cli.count import count
from articulus.cli.deadline import deadline
from articulus.cli.demo import demo
from articulus.cli.design import design
from articulus.cli.export import export
from articulus.cli.fit import fit
from articulus.cli.info import info
from articulus.cli.linear import design_controller, invert, linearize, reduce
from articulus.cli.models import models
from articulus.cli.plan import plan
from articulus.cli.printing import new_console
from articulus.cli.run import run
from articulus.cli.schedule import schedule
from articulus.cli.schema import schema
from articulus.cli.serve import serve
from articulus.cli.verify import verify
from articulus.errors import ArticulusError

app = typer.Typer(
    name="articulus",
    help="Computational control of articulated mechanisms.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake prints its message and exits with 2."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="articulus")
    except ArticulusError as error:
        new_console(stderr=True).print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        raise SystemExit(2) from None


def _version(asked: bool) -> None:
    if not asked:
        return
    from importlib.metadata import version

    from articulus.kernel.jit import host, versions

    found, target = versions(), host()
    fused = " with fused multiply-add" if target.fma else ""
    typer.echo(f"articulus {version('articulus')}")
    typer.echo(f"casadi {version('casadi')}")
    typer.echo(f"llvmlite {found['llvmlite']} (LLVM {found['llvm']})")
    typer.echo(f"{found['cpu']}: {target.lanes} lanes of 64 bits{fused}")
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show versions and processor.")
    ] = False,
) -> None:
    pass


for _command in (
    info, models, count, schedule, deadline, run, fit, design, plan, linearize, reduce, design_controller, invert, verify, bench, view, build, drive, serve, export,
    demo, schema,
):  # fmt: skip
    app.command()(_command)
app.add_typer(campaigns)
