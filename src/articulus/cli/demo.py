"""`articulus demo`: the excavator on its hydraulics and a light arm whose tip follows a line, with a report that plays both."""

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
    """Run two studies, with a report that plays them: an excavator on its hydraulics, and the tip of a light arm on a line."""
    import importlib.util

    from articulus.model.library.cat215b_drives import JOINTS
    from articulus.study.demo import by_joint, overall, run_demo, tip_rows

    notes, console = new_console(stderr=True), new_console()
    notes.print(
        "Caterpillar 215B on its hydraulics, RESOLVED mode, with the gains of Wong's thesis (1991) as printed: the bucket goes 1.5 m outwards and 15 deg around the cab; then a light arm "
        "of two flexible links, whose tip follows a line: its torques begin before the tip moves"
    )
    with notes.status("starting") as status:
        result = run_demo(folder, status.update if notes.is_terminal else notes.print)
    run = result.outcome.run
    joints = new_table("hydraulic drives", "", *JOINTS)
    for column in joints.columns[1:]:
        column.justify = "right"
    for row in by_joint(run):
        joints.add_row(*row)
    figures = new_table("the run", "figure", "value")
    for row in overall(run):
        figures.add_row(*row)
    tips = new_table(
        "light arm: distance of the tip from its line", "forces", "largest [m]", "after the motion [m]"
    )
    for column in tips.columns[1:]:
        column.justify = "right"
    for row in tip_rows(result.tip):
        tips.add_row(*row)
    console.print(joints, figures, tips)
    program = _program()
    first = "" if importlib.util.find_spec("websockets") else "   (first: pip install 'articulus[view,data]')"
    console.print(f"report, with a replay:  {result.report.resolve().as_uri()}", soft_wrap=True)
    console.print(
        f"run it again, changed:  copy {result.study} or {result.tip_study.name}, then {program} run COPY.toml",
        soft_wrap=True,
    )
    console.print(f"pose it, see its modes: {program} view {result.study}{first}", soft_wrap=True)
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
