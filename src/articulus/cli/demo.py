"""`articulus demo`: the excavator on its hydraulics, with a report that plays it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from articulus.cli.printing import new_console, new_table


def demo(
    folder: Annotated[Path, typer.Option("--output", help="Folder of study and report.")] = Path(
        "articulus-demo"
    ),
) -> None:
    """Run the Cat 215B study: an excavator on its hydraulics in RESOLVED mode, with a report that plays it."""
    import importlib.util

    from articulus.library.cat215b_drives import JOINTS
    from articulus.study.demo import by_joint, overall, run_demo

    notes, console = new_console(stderr=True), new_console()
    notes.print(
        "Caterpillar 215B on its hydraulics, RESOLVED mode: the bucket goes 1.5 m outwards and 15 deg around the cab"
    )
    with notes.status("starting") as status:
        made = run_demo(folder, status.update if notes.is_terminal else notes.print)
    run = made.outcome.run
    joints = new_table("hydraulic drives", "", *JOINTS)
    for column in joints.columns[1:]:
        column.justify = "right"
    for row in by_joint(run):
        joints.add_row(*row)
    figures = new_table("the run", "figure", "value")
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
