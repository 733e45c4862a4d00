"""Running a campaign, or what is left of one."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from articulus import kernel
from articulus.campaign.design import Campaign
from articulus.campaign.driver import Driver, Folder, Tell, Workers
from articulus.campaign.here import Here
from articulus.campaign.result import Result
from articulus.campaign.work import SET_ASIDE
from articulus.errors import InputError
from articulus.files.storage import StrPath, as_path


def campaign(
    study: StrPath | Campaign,
    runs: int | None = None,
    *,
    output: StrPath | None = None,
    threads: int | None = None,
    retry_failed: bool = False,
    tell: Tell | None = None,
    **given: Any,
) -> Result:
    """Run a study many times with numbers that vary, and return the table of all runs.

    Run again with the same arguments, it goes on where it was; with more runs, it adds them.

    Parameters
    ----------
    study : path or text of a study (TOML), or a Campaign
    runs : int
        Number of runs; that of the table [campaign] of the study if not given.
    output : path
        Folder of the results; that of the study with the ending ".campaign" if not given. Without it, a study given as text leaves
        nothing behind.
    threads : int
        Threads of this process; all cores if not given. Results do not depend on it.
    retry_failed : bool
        Whether runs that were set aside, because they raised or killed their worker, are tried again.
    tell : callable
        Called with a `Progress` now and then.
    given :
        Keys of the table [campaign] in place of those of the study: vary, group, sampler, seed, figures, requirements, bands,
        keep, second.

    Raises
    ------
    InputError
        The folder belongs to another campaign, or study, versions or processor have changed: what is there stays as it is.
    """
    planned = study if isinstance(study, Campaign) else Campaign.read(study, runs=runs, **given)
    passing = False
    if output is not None:
        place = as_path(output)
    elif isinstance(study, Campaign) or (isinstance(study, str) and "\n" in study):
        place, passing = Path(tempfile.mkdtemp(prefix="articulus-campaign-")), True
    else:
        place = default_folder(study)
    try:
        folder = Folder(place)
        folder.claim(planned)
        with folder.locked():
            _run(planned, folder, threads, retry_failed, tell)
        result = Result(place)
        result.keep_worst()
    except BaseException:
        if passing:
            shutil.rmtree(place, ignore_errors=True)
        raise
    if passing:
        weakref.finalize(result, shutil.rmtree, place, ignore_errors=True)
    return result


def default_folder(study: StrPath) -> Path:
    """Return where the campaign of a study goes."""
    return as_path(study).with_suffix(".campaign")


def _run(
    planned: Campaign, folder: Folder, threads: int | None, retry_failed: bool, tell: Tell | None
) -> None:
    ledger = folder.ledger()
    try:
        ledger.drop_lost()
        if retry_failed:
            table = Result(folder.path).table
            ledger.forget(table.index[table.status == SET_ASIDE].tolist())
        if not ledger.missing(planned.runs):
            return
        with kernel.threads(_threads(threads)):
            driver = Driver(planned, folder, ledger, tell)
            scale = driver.scale()
            workers: Workers = Here(planned, scale)
            driver.run(workers)
    finally:
        ledger.close()


def _threads(given: int | None) -> int:
    if given is None:
        return kernel.pool.count()
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise InputError(f"threads: found {given!r}; expected a whole number, at least 1")
    return int(given)
