"""Running a campaign, or what is left of one."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus import kernel
from articulus.errors import InputError, doubtful
from articulus.kernel import pool
from articulus.model.files.storage import StrPath, as_path, write_bytes
from articulus.simulation.results.run import Run
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.settings import RunSettings
from articulus.study.campaign.completion import mark, nothing_left
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.driver import Driver, Folder, Tell, Workers
from articulus.study.campaign.ledger import Ledger
from articulus.study.campaign.local_worker import LocalWorker
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.pilot_runs import Pilot
from articulus.study.campaign.result import Result
from articulus.study.campaign.work import SET_ASIDE


def run(
    study: StrPath | Campaign | Loop | Run,
    runs: int | None = None,
    *,
    output: StrPath | None = None,
    threads: int | None = None,
    workers: int = 0,
    scheduler: str | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    retry_failed: bool = False,
    tell: Tell | None = None,
    **given: Any,
) -> Result:
    """Run a study many times with numbers that vary, and return the table of all runs.

    Run again with the same arguments, it continues where it was; with more runs, it adds them.

    Parameters
    ----------
    study : path or text of a study (TOML), a Campaign, a Loop or a Run
        A loop or a run is written as a study first (`Loop.save_study`), beside the folder `output`.
    runs : int
        Number of runs; that of the table [campaign] of the study if not given.
    output : path
        Folder of the results; that of the study with the ending ".campaign" if not given. Without it, a study given as text leaves
        nothing behind.
    threads : int
        Threads of all together; all cores if not given. Results do not depend on it.
    workers : int
        Worker processes; 0 works in this process. A run that kills its worker, hangs or fills its memory is set aside.
    scheduler : str
        Address of a dask scheduler, such as "tcp://host:8786", whose workers do the work (extra `cluster`); "local" starts a cluster
        of `workers` processes here.
    time_limit : float [s]
        Wall-clock time that a chunk of runs may take in a worker; thirty times what chunks take if not given.
    memory : int [bytes]
        Address space of a worker; its share of the machine's memory if not given.
    retry_failed : bool
        Whether runs that were set aside, because they raised or killed their worker, are tried again.
    tell : callable
        Called with a `Progress` now and then.
    given :
        Keys of the table [campaign] in place of those of the study: vary, group, sampler, seed, figures, requirements, bands,
        keep, second_order. Not beside a Campaign, which has its own. With a Loop also t_end, q0, v0, params and settings of its run,
        as those of `simulate`; `seed` is that of the sampler.

    Raises
    ------
    InputError
        The folder belongs to another campaign, or study, versions or processor have changed: what is there stays as it is.
    """
    if isinstance(study, (Loop, Run)):
        place = (
            Path(tempfile.mkdtemp(prefix="articulus-campaign-")) / "loop.campaign"
            if output is None
            else as_path(output)
        )
        here = place.parent if output is None else None
        try:
            written = _write_study(study, place, given)
            result = run(
                written, runs, output=place, threads=threads, workers=workers,
                scheduler=scheduler, time_limit=time_limit, memory=memory, retry_failed=retry_failed, tell=tell, **given,
            )  # fmt: skip
        except BaseException:
            if here is not None:
                shutil.rmtree(here, ignore_errors=True)
            raise
        if here is not None:
            weakref.finalize(result, shutil.rmtree, here, ignore_errors=True)
        return result
    how = WorkerOptions(threads, workers, scheduler, time_limit, memory)
    planned = study if isinstance(study, Campaign) else None
    if planned is not None:
        require_as_planned(planned, {"runs": runs, **given})
    passing = False
    if output is not None:
        place = as_path(output)
    elif isinstance(study, Campaign) or (isinstance(study, str) and "\n" in study):
        place, passing = Path(tempfile.mkdtemp(prefix="articulus-campaign-")), True
    else:
        place = default_folder(study)
    if not isinstance(study, Campaign) and not retry_failed and nothing_left(place, study, runs, given):
        return Result(place)
    try:
        planned = planned or Campaign.read(study, runs=runs, **given)  # type: ignore[arg-type]
        _require_variety(planned)
        folder = Folder(place)
        folder.require(planned)
        with folder.lock():
            folder.claim(planned)
            _run(planned, folder, how, retry_failed, tell)
        result = Result(place)
        result.keep_worst()
        if not isinstance(study, Campaign):
            mark(place, study, runs, given, planned.files)
    except BaseException:
        if passing:
            shutil.rmtree(place, ignore_errors=True)
        raise
    if passing:
        weakref.finalize(result, shutil.rmtree, place, ignore_errors=True)
    return result


def _write_study(study: Loop | Run, output: Path, given: dict[str, Any]) -> Path:
    """Write a loop or a run as a study beside the folder of its campaign; what the run needs is taken out of `given`."""
    place = output.with_suffix(".toml")
    names = [*(f.name for f in dataclasses.fields(RunSettings) if f.init), "q0", "v0", "params"]
    own = {n: given.pop(n) for n in names if n in given and n != "seed"}
    if isinstance(study, Run) and own:
        raise InputError(
            f"campaign: found {', '.join(own)} beside a Run, which has its own; expected one of them"
        )
    if isinstance(study, Loop) and "t_end" not in own:
        raise InputError("campaign: found a Loop without t_end; expected the end of its runs [s]")
    with tempfile.TemporaryDirectory(prefix="articulus-study-") as folder:  # whole or not at all
        made = study.save_study(Path(folder) / place.name, **own)
        texts = {place.with_name(p.name): p.read_bytes() for p in made.parent.iterdir()}
    for file, text in texts.items():
        if file.exists() and file.read_bytes() != text:
            raise InputError(
                f"{file}: found a file with another content; expected none, or the study of this loop. Choose another `output`"
            )
    for file, text in texts.items():
        write_bytes(file, text)
    return place


def _require_variety(planned: Campaign) -> None:
    """Raise InputError for a campaign whose runs would all be the same."""
    if planned.runs > 1 and not planned.axes and not planned.study.loop.system.network.noise:
        raise InputError(
            f"campaign: found {planned.runs} runs in which nothing varies, and no noise; expected a line in [campaign.vary]: all would be the "
            "same run"
        )


def require_as_planned(planned: Campaign, given: Mapping[str, Any]) -> None:
    """Raise InputError when something is given that a Campaign, which is complete, says already."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"campaign: found {name} beside a Campaign, which has its own; expected one of them. Give {name} to "
                "Campaign.read, or the study in place of the Campaign"
            )


def default_folder(study: StrPath) -> Path:
    """Return where the campaign of a study goes."""
    return as_path(study).with_suffix(".campaign")


@dataclass(frozen=True)
class WorkerOptions:
    """Where a campaign runs; see `run` for what each means."""

    threads: int | None = None
    workers: int = 0
    scheduler: str | None = None
    time_limit: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("threads", 1), ("workers", 0), ("memory", 1)):
            given = getattr(self, name)
            whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
            if given is not None and (not whole or given < least):
                raise InputError(f"{name}: found {given!r}; expected a whole number, at least {least}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit: found {self.time_limit!r}; expected a positive time in seconds")

    def create(self, planned: Campaign, scale: Scale | None) -> Workers:
        """Return the workers."""
        if self.scheduler is not None:
            from articulus.study.campaign.cluster import Cluster

            return Cluster(planned, scale, self.scheduler, self.workers or 2, self.threads, self.time_limit)
        return self.processes(planned, scale) if self.workers else LocalWorker(planned, scale)

    def near(self, planned: Campaign) -> Workers:
        """Return workers on this machine, for the few first runs."""
        return (
            self.processes(planned, None)
            if self.workers and self.scheduler is None
            else LocalWorker(planned, None)
        )

    def processes(self, planned: Campaign, scale: Scale | None) -> Workers:
        """Return workers in processes of their own, at least one."""
        from articulus.study.campaign.processes import Processes

        return Processes(planned, scale, max(1, self.workers), self.threads, self.time_limit, self.memory)


def _run(
    planned: Campaign, folder: Folder, how: WorkerOptions, retry_failed: bool, tell: Tell | None
) -> None:
    ledger = folder.ledger()
    try:
        lost = ledger.drop_lost()
        if lost:
            doubtful(
                f"{folder.path}: found {len(lost)} of its shards gone or damaged ({', '.join(lost[:3])}{', ...' if lost[3:] else ''}): "
                "their runs are computed again"
            )
        if retry_failed:
            table = Result(folder.path).table
            ledger.forget(table.index[table.status == SET_ASIDE].tolist())
        if not ledger.missing(planned.runs):
            return
        with kernel.threads(how.threads or pool.count()):
            driver = Driver(planned, folder, ledger, tell)
            scale = (
                folder.scale(lambda: _band_scale(planned, folder, ledger, how, tell))
                if planned.bands
                else None
            )
            driver.run(how.create(planned, scale), lambda: how.processes(planned, scale))
    finally:
        ledger.close()


def _band_scale(
    planned: Campaign, folder: Folder, ledger: Ledger, how: WorkerOptions, tell: Tell | None
) -> Scale:
    """Return where values over time are counted, from the first runs."""
    pilot = Pilot(planned, folder, ledger, tell)
    return pilot.scale(lambda: how.near(planned), lambda: how.processes(planned, None))
