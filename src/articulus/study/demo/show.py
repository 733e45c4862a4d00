"""Running the demo: its study and its report beside each other in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from articulus.files.storage import write_text
from articulus.study.reader import read_study
from articulus.study.report import report_text
from articulus.study.runner import Outcome, make_folder, replay, run_only

NAME = "cat215b_resolved"


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo gave.

    Parameters
    ----------
    outcome : Outcome
    study, report : Path
        Files that were written: the study, to change and run again, and its report.
    """

    outcome: Outcome
    study: Path
    report: Path


def run_demo(folder: Path, tell: Callable[[str], None]) -> Demo:
    """Write the study to a folder, run it, and write its report; `tell` is called with what is being done.

    Raises
    ------
    InputError
        The folder cannot be made, or a file in it not be written.
    """
    make_folder(folder)
    study, report = folder / f"{NAME}.toml", folder / f"{NAME}.html"
    write_text(study, (files(__package__) / study.name).read_text(encoding="utf-8"))
    tell("reading the study")
    read = read_study(study)
    tell("deriving the equations, compiling them, running 15 s")
    outcome = run_only(read)
    tell("writing the report")
    write_text(report, report_text(outcome, replay(outcome)))
    return Demo(outcome, study, report)
