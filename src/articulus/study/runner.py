"""Running a study: results file, report, checks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.model.files.storage import StrPath, as_path, write_text
from articulus.simulation.loop.components import FrameWrench
from articulus.simulation.results.run import Run
from articulus.simulation.results.store import xarray_module
from articulus.simulation.running.checkpoint import discard
from articulus.study.check import Verdict
from articulus.study.study import Study
from articulus.study.tip import TipRun, compare_tips


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a study came to.

    Parameters
    ----------
    study : Study
    run : Run
        As far as it got.
    verdicts : tuple of Verdict
    tips : tuple of TipRun
        Tips of a study with a tip motion: this run, and those with simpler feedforward.
    """

    study: Study
    run: Run
    verdicts: tuple[Verdict, ...]
    tips: tuple[TipRun, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no run failed and all checks pass."""
        return not self.run.failed.size and all(v.passed for v in self.verdicts)


@dataclass(frozen=True)
class Files:
    """Where a study writes.

    Parameters
    ----------
    results, report, checkpoint, forces : Path
        The last of a study with a tip motion.
    """

    results: Path
    report: Path
    checkpoint: Path
    forces: Path

    @staticmethod
    def of(study: Study, folder: StrPath) -> Files:
        """Return the files of a study in a folder."""
        place = as_path(folder)
        return Files(*(place / f"{study.name}.{end}" for end in ("nc", "html", "checkpoint", "forces.csv")))


def run_study(study: Study, folder: StrPath, *, resume: bool = False, report: bool = True) -> Outcome:
    """Run a study and write its results, and its report unless that is not wanted.

    Parameters
    ----------
    study : Study
    folder : path
        Made if it is not there.
    resume : bool
        Whether to go on from the checkpoint of a run that was killed; without it, an existing checkpoint is refused, so
        that no work is lost or silently reused.
    report : bool

    Raises
    ------
    InputError
        A checkpoint is in the way, or a file cannot be written.
    """
    from articulus.study.report import report_text

    xarray_module()
    files = Files.of(study, folder)
    make_folder(files.results.parent)
    if files.checkpoint.exists() and not resume:
        raise InputError(
            f"{files.checkpoint}: found the checkpoint of a run that did not end; expected none. "
            "Resume it with --resume, or delete it to start anew"
        )
    outcome = run_only(study, files.checkpoint)
    outcome.run.save(files.results)
    if study.tip is not None:
        study.tip.inversion.to_csv(files.forces)
    discard(files.checkpoint)
    if report:
        write_text(files.report, report_text(outcome, replay(outcome)))
    return outcome


def replay(outcome: Outcome) -> str:
    """Return an HTML element that plays the run of a study; empty where nothing moved."""
    from articulus.browser import replay_fragment

    study, run = outcome.study, outcome.run
    if not np.isfinite(run.q).all(axis=-1).any():
        return ""
    acting = {f"{c.name}.wrench": c.frame for c in study.components if isinstance(c, FrameWrench)}
    shown = {signal: frame for signal, frame in acting.items() if signal in run.signals}
    runs = {tip.name: tip.run for tip in outcome.tips if tip.run is not None} or run
    trail = study.tip.tip if study.tip is not None else ""
    return replay_fragment(runs, title=study.name, params=study.params, wrenches=shown, trail=trail)


def run_only(study: Study, checkpoint: Path | None = None) -> Outcome:
    """Run a study and check what it gives; write nothing but the checkpoint."""
    run = _run(study, checkpoint)
    run = dataclasses.replace(run, meta={**run.meta, "study": study.text})
    tips = () if study.tip is None or run.failed.size else compare_tips(study, run)
    return Outcome(study, run, tuple(check.verdict(run) for check in study.checks), tips)


def _run(study: Study, checkpoint: Path | None) -> Run:
    try:
        return study.loop.run(
            study.settings, study.q0, study.v0, params=study.params, checkpoint=checkpoint,
            checkpoint_interval=study.checkpoint_interval, keep_checkpoint=True,
        )  # fmt: skip
    except NumericalError as error:
        if not isinstance(error.result, Run):
            raise
        return error.result


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
