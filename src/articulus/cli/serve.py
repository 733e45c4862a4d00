"""`articulus serve`: a loop at a fixed rate for programs and hardware beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.arguments import Settings, options
from articulus.cli.printing import new_console, new_table


def serve(
    model: Annotated[
        str, typer.Argument(help="Path of a study, or a model: its path or its name in the library.")
    ],
    rate: Annotated[float, typer.Option(help="Ticks per second.")] = 1000.0,
    port: Annotated[
        int, typer.Option("--port", help="UDP port of this computer; 0 takes any free one.")
    ] = 47470,
    watchdog: Annotated[
        float, typer.Option(help="Seconds without a command after which the safe commands hold.")
    ] = 0.1,
    duration: Annotated[float, typer.Option(help="Seconds; until Ctrl-C if not given.")] = math.inf,
    output: Annotated[
        list[str] | None,
        typer.Option("--signal", help="Signal that is sent; q and v if not given. May be repeated."),
    ] = None,
    shared: Annotated[
        Path | None,
        typer.Option(help="File that is shared memory for programs beside, such as /dev/shm/arm."),
    ] = None,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON.")] = False,
) -> None:
    """Run a loop in real time on this computer: states out, commands in, over UDP or shared memory; Ctrl-C ends it with the statistics of its deadlines."""
    from articulus.bridges.serve import Server
    from articulus.bridges.stepped import of_study
    from articulus.dynamics.mechanism import Mechanism
    from articulus.model.load import load
    from articulus.simulation.running import Loop
    from articulus.study import read_study
    from articulus.study.reader import is_study

    signals = tuple(output or ("q", "v"))
    if is_study(model):
        study = read_study(Path(model))
        held = of_study(study, "serve")
        given = {key: held[key] for key in ("q0", "v0", "step", "method", "params")}
        loop: Loop | Mechanism = study.loop
    else:
        loop, given = load(model, **options(settings)), {}
    server = Server(loop, rate, port=port, watchdog=watchdog, outputs=signals, shared=shared, **given)
    console = new_console(stderr=as_json)
    console.print(
        f"serving {server.description()['mechanism']} at {rate:g} 1/s on udp://127.0.0.1:{server.port}; Ctrl-C ends it",
        soft_wrap=True,
    )
    try:
        server.run(duration)
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    found = server.statistics
    if as_json:
        held = {key: getattr(found, key) for key in ("ticks", "late", "uncommanded", "heard", "refused")}
        held |= {f"worst_{key}": max(getattr(found, key), default=0.0) for key in ("work", "delay")}
        typer.echo(json.dumps(held, indent=2))
        return
    table = new_table("deadlines", "figure", "value")
    for name, text in found.figures():
        table.add_row(name, text)
    console.print(table)
