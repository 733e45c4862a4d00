"""Arguments that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from articulus.errors import InputError

Model = Annotated[
    str, typer.Argument(help="Library name, or path of a .toml, .urdf, .xml, .mjcf or .sdf file.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Argument of the model, such as n=10."),
]
Host = Annotated[
    str,
    typer.Option("--host", help="Address to listen on; others than this machine need the printed token."),
]
Port = Annotated[int, typer.Option("--port", help="Port to listen on; 0 takes any free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")]


def options(settings: Sequence[str] | None) -> dict[str, Any]:
    """Return the arguments of a model by their names."""
    return dict(_setting(text) for text in settings or ())


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InputError(f"--set {text}: expected NAME=VALUE, such as n=10")
    if value in ("true", "false"):
        return name, value == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value
