"""`articulus build`: a model is built on a page."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer

from articulus.cli.arguments import Browser, Port
from articulus.cli.browser import announce


def build(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL.toml]", help="File to open; one that does not exist yet is written by Save."
        ),
    ] = None,
    port: Port = 8216,
    browser: Browser = True,
) -> None:
    """Build a model in the browser: bodies, joints, frames, loops and components by forms and by hand, or as text."""
    from articulus.browser.building import Building, BuildSession
    from articulus.browser.web import Access

    building = Building(BuildSession(model, build_schema()), Access(), port)
    with contextlib.suppress(KeyboardInterrupt):
        announce("build it here", building.url, True, "", "build", browser)
        building.wait()
    building.close()


def build_schema() -> dict[str, Any]:
    """Return the JSON Schema of models in which components have their own keys, as in studies."""
    from articulus.study.schema import json_schema

    model, study = json_schema("model"), json_schema("study")
    properties = model["properties"]
    component = {
        "description": "devices by name",
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/component"},
    }
    return model | {
        "$defs": study["$defs"] | model["$defs"],
        "properties": properties | {"component": component},
    }
