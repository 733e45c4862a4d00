"""`articulus schema`: JSON Schema of model, study, task and campaign files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def schema(
    kind: Annotated[str, typer.Argument(help="model, study, task or campaign")] = "study",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; printed if not given.")
    ] = None,
) -> None:
    """Write the JSON Schema of a kind of TOML file, by which editors complete and check it while it is typed.

    Begin the file with the line `#:schema study.json`.
    """
    from articulus.model.files.storage import write_text
    from articulus.study.schema import json_schema

    text = json.dumps(json_schema(kind), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
