"""`articulus view` and `articulus drive`: pages in the browser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from articulus.cli.arguments import Browser, Host, Model, Port, Settings, options
from articulus.cli.printing import new_console
from articulus.errors import InputError

if TYPE_CHECKING:
    from articulus.browser.drive import Driving
    from articulus.browser.viewer import ViewerSession
    from articulus.browser.web import Access
    from articulus.browser.web.serving import Serving


def view(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL | STUDY.toml | RESULT.nc ... | FOLDER",
            help="Library name, path of a model, path of a study (it is run first), results to play over each other, or folder of a campaign, which may still run.",
        ),
    ],
    settings: Settings = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Look at a mechanism, at runs or at a campaign in the browser: play, pose, modes, sliders over the parameters of a study."""
    from articulus.browser.web import Access

    viewing = _page_of(what, options(settings), Access(host), port)
    with contextlib.suppress(KeyboardInterrupt):
        announce("look here", viewing.url, Access(host).local, host, "look", browser)
        viewing.wait()
    viewing.close()


def _page_of(what: list[str], arguments: dict[str, Any], access: Access, port: int) -> Serving:
    """Return the page of what is to be seen."""
    from articulus.model.library import names

    if len(what) == 1 and (Path(what[0]) / "campaign.json").is_file():
        from articulus.study.campaign.page import CampaignPage

        if arguments:
            raise InputError(
                f"--set: found {what[0]}; expected a model: a campaign has its arguments in the study"
            )
        return CampaignPage(what[0], access, port)
    if len(what) == 1 and Path(what[0]).is_dir() and what[0] not in names():
        raise InputError(
            f"view: found the folder {what[0]}; expected a model, a study, results, or a folder that `articulus campaign` wrote"
        )
    from articulus.browser.viewer import Source, ViewerSession, Viewing

    def read() -> ViewerSession:
        shown, title = _to_view(what, arguments)
        return ViewerSession(shown, title=title)

    return Viewing(read(), access, port, Source(read, _watched(what), _open_text))


def _watched(what: list[str]) -> tuple[Path, ...]:
    """Return the files that are read: those named, and the model of a study."""
    from articulus.model.files.toml.reader import load_tables
    from articulus.study import is_study

    paths = [Path(name) for name in what if Path(name).is_file()]
    if len(what) == 1 and is_study(what[0]):
        model = load_tables(paths[0].read_text(encoding="utf-8"), what[0])["study"].get("model")
        beside = paths[0].parent / model if isinstance(model, str) else paths[0]
        paths += [beside] if beside.is_file() and beside not in paths else []
    return tuple(paths)


def _open_text(name: str, text: str) -> ViewerSession:
    """Return what a file holds that was dropped onto the page: a study is run."""
    from articulus.browser.viewer import ViewerSession
    from articulus.browser.viewer.source import open_model
    from articulus.model.files.toml.reader import load_tables
    from articulus.study import parse_study, run_only

    if not name.lower().endswith(".toml") or "study" not in load_tables(text, name):
        return open_model(name, text)
    study = parse_study(text, name)
    return ViewerSession(run_only(study).run, title=study.name)


def _to_view(what: list[str], arguments: dict[str, Any]) -> tuple[Any, str]:
    """Return a mechanism, or runs by their names, and a title."""
    from articulus.model.load import load
    from articulus.simulation.results import load_run
    from articulus.study import is_study, read_study, run_only

    models = not all(Path(name).suffix == ".nc" for name in what) and not is_study(what[0])
    if arguments and not models:
        raise InputError(
            f"--set: found {what[0]}; expected a model: results and studies have their arguments in the file"
        )
    if all(Path(name).suffix == ".nc" for name in what):
        return {Path(name).stem: load_run(name) for name in what}, ""
    if len(what) > 1:
        raise InputError(f"view: found {', '.join(what)}; expected one model or study, or results (.nc) only")
    if is_study(what[0]):
        study = read_study(what[0])
        return run_only(study).run, study.name
    return load(what[0], **arguments), ""


def announce(call: str, url: str, local: bool, host: str, verb: str, browser: bool) -> None:
    """Say where a page is, and open it."""
    import webbrowser

    console = new_console()
    console.print(f"{call}: {url}", soft_wrap=True)
    console.print("end with Ctrl+C")
    if not local:
        warning = f"warning: listening on {host}, unencrypted: whoever has this address can {verb}"
        new_console(stderr=True).print(Text(warning, "yellow"))
    if browser and local:
        webbrowser.open(url)


def _drive_by_file(model: str, file: Path, folder: Path) -> None:
    """Let a file hold the sticks, and write the recording."""
    from articulus.browser.drive import machine_for
    from articulus.browser.drive.commands import read_commands, replay

    machine, console = machine_for(model), new_console()
    recording = replay(machine, read_commands(file, machine))
    path = recording.save(folder, f"{machine.mechanism.name}-{file.stem}")
    console.print(f"{machine.title}: {recording.duration:g} s driven by {file.name}", soft_wrap=True)
    console.print(f"recording: {path}, and a page that plays it: {path.with_suffix('.html')}", soft_wrap=True)


def drive(
    model: Model = "cat215b",
    host: Host = "127.0.0.1",
    port: Port = 8215,
    folder: Annotated[Path, typer.Option("--output", help="Folder of the recordings.")] = Path("recordings"),
    commands: Annotated[
        Path | None,
        typer.Option("--commands", help="CSV file of the sticks over time, in place of a person: no page."),
    ] = None,
    browser: Browser = True,
    foxglove: Annotated[
        int | None, typer.Option(help="Port of this computer on which Foxglove may look on, such as 8765.")
    ] = None,
) -> None:
    """Drive a mechanism in real time from a browser: sticks, keyboard or gamepad."""
    if commands is not None:
        _drive_by_file(model, commands, folder)
        return
    import asyncio
    import logging
    import signal

    from articulus.browser.drive import Access, Driving, machine_for

    notes = new_console(stderr=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.ERROR)
    driving = Driving(machine_for(model), Access(host), folder)

    def ready() -> None:
        announce("drive it here", driving.url, driving.access.local, host, "drive", browser)

    async def serve() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, done.set)
        await driving.run(port, ready, done)

    with _shown_to_foxglove(driving, foxglove):
        asyncio.run(serve())
    for path in driving.server.saved:
        notes.print(f"recording: {path}", soft_wrap=True)


@contextlib.contextmanager
def _shown_to_foxglove(driving: Driving, port: int | None) -> Iterator[None]:
    """Let Foxglove see the machine that is driven, if a port is given."""
    if port is None:
        yield
        return
    from articulus.bridges.foxglove import LiveFeed, LivePlayer
    from articulus.simulation.running.watching import RunPart

    plant, mechanism = driving.session.plant, driving.session.plant.machine.mechanism

    def read() -> RunPart:
        shown = driving.session.shown
        q, v = plant.q(shown.state), plant.v(shown.state)
        return RunPart.of(mechanism, np.array([shown.t]), q[None], v[None])

    with LivePlayer(port) as player, LiveFeed(player).polling(read):
        yield
