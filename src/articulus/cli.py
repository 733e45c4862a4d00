"""The command line. Imports what it needs only when a command runs."""

from __future__ import annotations

import contextlib
import dataclasses
import json as json_text
import shutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from articulus.errors import ArticulusError, DoubtfulResult, InputError

if TYPE_CHECKING:
    from articulus.api import Mechanism
    from articulus.cases import Case, Row
    from articulus.mechanism import Connection
    from articulus.study import Files, Outcome

PIPE_WIDTH = 240
"""Columns of a table that does not go to a terminal."""
TABLE_WIDTH = 150
"""Columns of a terminal from which the verification is a table."""

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
        _console(stderr=True).print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        raise SystemExit(2) from None


def _console(stderr: bool = False) -> Console:
    """Return a console that takes texts literally: names and units may hold brackets."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


# articulus --version


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


# articulus info


@app.command()
def info(
    model: Annotated[
        str, typer.Argument(help="Library name, or path of a .toml, .urdf, .xml or .mjcf file.")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Argument of the model, such as n=10."),
    ] = None,
) -> None:
    """Show what a mechanism is made of."""
    from articulus.load import load

    mechanism = load(model, **dict(_setting(text) for text in settings or ()))
    console = _console()
    console.print(_summary(mechanism))
    console.print(_drawing(mechanism))
    for table in (_bodies(mechanism), _joints(mechanism), _frames(mechanism), _parameters(mechanism)):
        if table.row_count:
            console.print(table)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InputError(f"--set {text}: expected NAME=VALUE, such as n=10")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _summary(mechanism: Mechanism) -> Text:
    from articulus.mechanism.numbers import value_of

    held = mechanism.description
    mass = sum(value_of(b.mass) for b in held.bodies)
    counts = f"{len(held.bodies)} bodies, {len(held.connections)} joints, nq = {held.nq}, nv = {held.nv}"
    text = Text.assemble(
        (held.name, "bold"), f": {counts}, {mass:.6g} kg, gravity {_vector(held.gravity)} m/s^2"
    )
    return text.append(f"\n{held.source}", "dim") if held.source else text


def _drawing(mechanism: Mechanism) -> Tree:
    held = mechanism.description
    root = Tree(Text("ground", "bold"))
    places = {"ground": root}
    for c in held.connections:
        label = Text.assemble((c.child, "bold"), f"  {c.name} ({_kind(c)})")
        places[c.child] = places[c.parent].add(label)
    for frame in held.frames:
        places[frame.body].add(Text(f"{frame.name} (frame)", "italic"))
    return root


def _kind(c: Connection) -> str:
    return f"{c.joint.type_name}, geared" if c.rotor else c.joint.type_name


def _bodies(mechanism: Mechanism) -> Table:
    table = _table("bodies", "name", "mass [kg]", "centre of mass [m]", "Ixx Iyy Izz Ixy Ixz Iyz [kg m^2]")
    for b in mechanism.description.bodies:
        table.add_row(b.name, _number(b.mass), _vector(b.com), _vector(b.inertia))
    return table


def _joints(mechanism: Mechanism) -> Table:
    table = _table(
        "joints", "name", "type", "parent", "child", "freedoms", "axis", "position", "speed", "effort"
    )
    for c in mechanism.description.connections:
        limits = c.limits
        axis = getattr(c.joint, "axis", None)
        table.add_row(
            c.name,
            _kind(c),
            c.parent,
            c.child,
            str(c.joint.nv),
            "" if axis is None else _vector(axis),
            f"{_vector(limits.lower)} to {_vector(limits.upper)}" if limits.lower or limits.upper else "",
            _vector(limits.velocity),
            _vector(limits.effort),
        )
    return table


def _frames(mechanism: Mechanism) -> Table:
    table = _table("frames", "name", "body", "position [m]")
    for f in mechanism.description.frames:
        table.add_row(f.name, f.body, _vector(f.at.xyz))
    return table


def _parameters(mechanism: Mechanism) -> Table:
    table = _table("parameters", "name", "value")
    for name, value in mechanism.parameters.items():
        table.add_row(name, f"{value:.6g}")
    return table


def _table(title: str, *columns: str) -> Table:
    from rich import box

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value.name} = {value.value:.6g}"


def _vector(values: Any) -> str:
    return " ".join(_number(x) for x in values)


# articulus run


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the results; that of the study if none is given.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint of a killed run.")
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    loops: Annotated[
        str | None,
        typer.Option(
            "--loops", help="Form in which loops are closed, in place of the study's, such as minimal."
        ),
    ] = None,
) -> None:
    """Run a study: write results and a report, check what it demands; exit with 1 if a check or the run fails."""
    from articulus.study import Files, read_study, run_study

    read = read_study(study)
    if loops is not None:
        read = dataclasses.replace(read, settings=dataclasses.replace(read.settings, loops=loops))
    files = Files.of(read, study.parent if out is None else out)
    notes = _console(stderr=True)
    if resume:
        state = "goes on from" if files.checkpoint.exists() else "starts anew: there is no checkpoint"
        notes.print(f"{read.name}: {state} {files.checkpoint}", soft_wrap=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # the table of figures says it
        outcome = run_study(read, files.results.parent, resume=resume, report=report)
    _print_outcome(outcome, files, report)
    if not outcome.passed:
        raise typer.Exit(1)


def _print_outcome(outcome: Outcome, files: Files, report: bool) -> None:
    console = _console()
    figures = _table(outcome.study.name, "figure", "value")
    for name, text in outcome.run.figures():
        figures.add_row(name, text)
    console.print(figures)
    checks = _table("checks", "check", "looks at", "expected", "found", "verdict")
    for k, v in enumerate(outcome.verdicts):
        verdict = Text("PASS", "green") if v.passed else Text("FAIL", "bold red")
        checks.add_row(v.check.name or f"check {k + 1}", v.check.place, v.check.demand, v.text, verdict)
    if checks.row_count:
        console.print(checks)
    console.print(f"results: {files.results}", soft_wrap=True)
    if report:
        console.print(f"report: {files.report}", soft_wrap=True)


# articulus verify


@app.command()
def verify(
    cases: Annotated[
        list[str] | None,
        typer.Argument(help="Names, or folders with cases of your own; all if none is given."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object a row.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Only list the cases.")] = False,
) -> None:
    """Compute published cases and compare with their printed numbers; exit with 1 if any differs."""
    from articulus import cases as library

    found = library.find(cases or None)
    if list_:
        _list_cases(found, json)
        return
    rows = [row for case in _watched(found) for row in case.rows()]
    if json:
        typer.echo(json_text.dumps([row.as_dict() for row in rows], indent=1, allow_nan=False))
    else:
        _print_rows(rows)
    if not all(row.passed for row in rows):
        raise typer.Exit(1)


def _watched(cases: list[Case]) -> Any:
    console = _console(stderr=True)
    return track(cases, "verifying", console=console, transient=True) if console.is_terminal else cases


def _list_cases(cases: list[Case], json: bool) -> None:
    if json:
        keys = ("name", "title", "source", "reference")
        typer.echo(json_text.dumps([{key: getattr(c, key) for key in keys} for c in cases], indent=1))
        return
    table = _table("cases", "name", "rows", "title", "source")
    for c in cases:
        table.add_row(c.name, str(len(c.expected)), c.title, c.reference)
    _console().print(table)


def _print_rows(rows: list[Row]) -> None:
    console = _console()
    if console.width >= TABLE_WIDTH:
        console.print(_row_table(rows))
    else:
        for row in rows:
            console.print(_row_lines(row))
    failed = sum(not row.passed for row in rows)
    console.print(f"{len(rows)} rows, {len(rows) - failed} pass, {failed} fail")


def _row_table(rows: list[Row]) -> Table:
    columns = ("case", "source", "quantity", "printed", "computed", "tolerance", "reason", "pass")
    table, last = _table("verification", *columns), ""
    for row in rows:
        if last and row.case != last:
            table.add_section()
        last = row.case
        numbers = (_value(row.printed), _value(row.computed, row.tolerance), f"{row.tolerance:g}")
        table.add_row(row.case, row.source, row.quantity, *numbers, row.reason, _verdict(row))
    return table


def _row_lines(row: Row) -> Text:
    """Return a row as lines, for a terminal too narrow for the table."""
    values = {"printed": _value(row.printed), "computed": _value(row.computed, row.tolerance)}
    text = Text.assemble(_verdict(row), f" {row.case}: ", (row.quantity, "bold"), "\n")
    for name, value in values.items():
        text.append(f"  {name:<10}" + value.replace("\n", "\n" + 12 * " ") + "\n")
    return text.append(f"  tolerance {row.tolerance:g}; {row.reason}\n  {row.source}\n", "dim")


def _verdict(row: Row) -> Text:
    return Text("pass", "green") if row.passed else Text("FAIL", "bold red")


def _value(value: Any, tolerance: float = 0.0) -> str:
    """Return a number, a vector on one line, or a matrix with a line for each row; noise gets two digits."""
    if value is None:
        return "none"
    if not isinstance(value, list):
        return f"{value + 0.0:.{2 if abs(value) < tolerance else 9}g}"
    between = "\n" if value and isinstance(value[0], list) else " "
    return between.join(_value(item, tolerance) for item in value)


# articulus bench


@app.command()
def bench(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object: machine and rows.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table in Markdown.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and shorter runs.")] = False,
) -> None:
    """Measure the speed of dynamics on this machine, beside other packages that are installed."""
    from articulus import bench as benchmark

    benchmark.run(quick=quick, json=json, markdown=markdown)


# articulus view


@app.command()
def view(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL | STUDY.toml | RESULT.nc ...",
            help="Library name, path of a model, path of a study (it is run first), or results to play over each other.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Argument of the model, such as n=10."),
    ] = None,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; others than this machine need the printed token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 takes any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Look at a mechanism or at runs in the browser: play, pose, modes, sliders over the parameters of a study."""
    from articulus.studio.viewer import Session, Viewing
    from articulus.studio.web import Access

    shown, title = _to_view(what, dict(_setting(text) for text in settings or ()))
    viewing = Viewing(Session(shown, title=title), Access(host), port)
    with contextlib.suppress(KeyboardInterrupt):
        _announce("look here", viewing.url, Access(host).local, host, "look", browser)
        viewing.wait()
    viewing.close()


def _to_view(what: list[str], options: dict[str, Any]) -> tuple[Any, str]:
    """Return a mechanism, or runs by their names, and a title."""
    from articulus.load import load
    from articulus.runs import load_run
    from articulus.study import is_study, read_study, run_only

    models = not all(Path(name).suffix == ".nc" for name in what) and not is_study(what[0])
    if options and not models:
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
    return load(what[0], **options), ""


def _announce(call: str, url: str, local: bool, host: str, verb: str, browser: bool) -> None:
    """Say where a page is, and open it."""
    import webbrowser

    console = _console()
    console.print(f"{call}: {url}", soft_wrap=True)
    console.print("end with Ctrl+C")
    if not local:
        warning = f"warning: listening on {host}, unencrypted: whoever has this address can {verb}"
        _console(stderr=True).print(Text(warning, "yellow"))
    if browser and local:
        webbrowser.open(url)


# articulus drive


@app.command()
def drive(
    model: Annotated[
        str, typer.Argument(help="Library name, or path of a .toml, .urdf, .xml or .mjcf file.")
    ] = "cat215b",
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; others than this machine need the printed token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 takes any free one.")] = 8215,
    folder: Annotated[Path, typer.Option("--output", help="Folder of the recordings.")] = Path("recordings"),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Drive a mechanism in real time from a browser: sticks, keyboard or gamepad."""
    import asyncio
    import logging
    import signal

    from articulus.studio.drive import Access, Driving, machine_for

    notes = _console(stderr=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.ERROR)
    driving = Driving(machine_for(model), Access(host), folder)

    def ready() -> None:
        _announce("drive it here", driving.url, driving.access.local, host, "drive", browser)

    async def serve() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, done.set)
        await driving.run(port, ready, done)

    asyncio.run(serve())
    for path in driving.server.saved:
        notes.print(f"recording: {path}", soft_wrap=True)


# articulus demo


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--output", help="Folder of study and report.")] = Path(
        "articulus-demo"
    ),
) -> None:
    """Run the Cat 215B study: an excavator on its hydraulics in RESOLVED mode, with a report that plays it."""
    import importlib.util

    from articulus.library.cat215b_drives import JOINTS
    from articulus.study.demo import by_joint, overall, run_demo

    notes, console = _console(stderr=True), _console()
    notes.print(
        "Caterpillar 215B on its hydraulics, RESOLVED mode: the bucket goes 1.5 m outwards and 15 deg around the cab"
    )
    with notes.status("starting") as status:
        made = run_demo(folder, status.update if notes.is_terminal else notes.print)
    run = made.outcome.run
    joints = _table("hydraulic drives", "", *JOINTS)
    for column in joints.columns[1:]:
        column.justify = "right"
    for row in by_joint(run):
        joints.add_row(*row)
    figures = _table("the run", "figure", "value")
    for row in overall(run):
        figures.add_row(*row)
    console.print(joints, figures)
    program = _program()
    first = "" if importlib.util.find_spec("websockets") else "   (first: pip install 'articulus[view,data]')"
    console.print(f"report, with a replay:  {made.report.resolve().as_uri()}", soft_wrap=True)
    console.print(f"run it again, changed:  copy {made.study}, then {program} run COPY.toml", soft_wrap=True)
    console.print(f"pose it, see its modes: {program} view {made.study}{first}", soft_wrap=True)
    console.print(f"drive the machine:      {program} drive cat215b{first}", soft_wrap=True)


def _program() -> str:
    """Return how this program was called, as short as it works from here."""
    called = Path(sys.argv[0])
    if called.name != "articulus":
        return "articulus" if called.name != "__main__.py" else "python -m articulus"
    found = shutil.which("articulus")
    if found and called.resolve() == Path(found).resolve():
        return "articulus"
    return str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)
