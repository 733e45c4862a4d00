"""Running the demo: its study and its report beside each other in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from articulus.model.files.storage import write_text
from articulus.study.reader import read_study
from articulus.study.report import report_text
from articulus.study.runner import Outcome, make_folder, replay, run_only

NAME, TIP = "cat215b_resolved", "light_arm_tip"


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo gave.

    Parameters
    ----------
    outcome, tip : Outcome
        Outcome and tip of the excavator, and of the light arm.
    study, tip_study, report : Path
        Files that were written: the studies, to change and run again, and the report of both.
    """

    outcome: Outcome
    tip: Outcome
    study: Path
    tip_study: Path
    report: Path


def run_demo(folder: Path, tell: Callable[[str], None]) -> Demo:
    """Write the studies to a folder, run them, and write their report; `tell` is called with what is being done.

    Raises
    ------
    InputError
        The folder cannot be made, or a file in it not be written.
    """
    make_folder(folder)
    report = folder / f"{NAME}.html"
    first, second = (folder / f"{name}.toml" for name in (NAME, TIP))
    for study in (first, second):
        write_text(study, (files(__package__) / study.name).read_text(encoding="utf-8"))
    tell("excavator: reading the study")
    read = read_study(first)
    tell("excavator: deriving the equations, compiling them, running 15 s")
    outcome = run_only(read)
    tell("light arm: finding the torques that move its tip along a line")
    tip = run_only(read_study(second))
    tell("writing the report")
    write_text(report, report_text(outcome, replay(outcome), (tip, replay(tip))))
    return Demo(outcome, tip, first, second, report)
