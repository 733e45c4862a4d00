"""Workers of a dask cluster: `--scheduler tcp://host:8786`, or a cluster on this machine.

What travels is the order of the campaign (texts and numbers) and the files that its study reads, once to each worker, then index
ranges, and rows as bytes back. Each worker tells its versions and processor before it gets any work; one that differs is omitted.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from articulus.errors import ArticulusError, InputError, NumericalError
from articulus.model.files.storage import noting_files
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.encoding import decode, encode, order, read_order
from articulus.study.campaign.file_bundle import Unpacked, digest_of, pack
from articulus.study.campaign.ledger import Range
from articulus.study.campaign.machine import machine
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.processes import LEAST_SECONDS, SINGLE, SLOWER, START_SECONDS
from articulus.study.campaign.work import RunRows, Trouble, attempt

CONNECT_SECONDS = 10.0
"""Time within which a scheduler has to answer [s]."""
GONE_SECONDS = 60.0
"""Time that a scheduler may be silent before the campaign ends; what is done is kept [s]."""
ANSWER_SECONDS = 60.0
"""Time within which a new worker has to tell its versions, which may need to import much, and to take the files of the study [s]."""
LOOKING_SECONDS = 0.005
"""Time between two looks for new workers, for each worker that is known [s]."""
SILENT_SECONDS = 600.0
"""Time after which a worker that did not answer is asked again [s]."""
LOCAL = "local"
"""In place of an address: a cluster on this machine, as long as the campaign runs."""
LOOPBACK = "127.0.0.1"


def dask_module() -> Any:
    """Return `distributed`, or raise what to install."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "scheduler: dask.distributed is not installed; expected the extra `cluster`: pip install 'articulus[cluster]'"
        ) from None
    return distributed


# on a worker

MISSING, UNREAD = "missing", "unread"
"""Causes of a chunk that was not begun: the worker, whose address is the text, is new and has no job; or it cannot read it."""
_reading = threading.Lock()
_jobs: dict[str, _Job] = {}


class _Job:
    """A campaign on a worker, read when its first chunk comes."""

    def __init__(self, order: str, parcel: str, inside: str | None):
        self._order, self._files = order, Unpacked(parcel, inside)
        self._read: tuple[Campaign, Scale | None] | None = None

    def read(self) -> tuple[Campaign, Scale | None]:
        if self._read is None:
            with noting_files() as opened:
                campaign, scale = read_order(self._order, self._files.folder)
                campaign.study.loop  # noqa: B018  (built now, by one thread)
            self._files.require(opened)
            self._read = campaign, scale
        return self._read

    def close(self) -> None:
        self._files.close()


def describe_machine() -> str:
    """Return the machine of a worker, and give its BLAS one thread."""
    for name in SINGLE:
        os.environ[name] = "1"
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    return json.dumps(machine())


def take_job(name: str, order: str, parcel: str, dask_worker: Any = None) -> str:
    """Take a job on a worker; return what hinders it, nothing if all is well."""
    with _reading:
        if name not in _jobs:
            try:
                _jobs[name] = _Job(order, parcel, getattr(dask_worker, "local_directory", None))
            except (ArticulusError, OSError) as error:
                return str(error) or type(error).__name__
    return ""


def drop_job(name: str) -> None:
    """Remove a job and its files from a worker."""
    with _reading:
        job = _jobs.pop(name, None)
    if job is not None:
        job.close()


def task_of(name: str, first: int, count: int, threads: int) -> bytes:
    """Return the rows of a chunk, or what went wrong, as bytes; this is what a worker of the cluster runs."""
    from articulus import kernel

    with _reading:
        if name not in _jobs:
            return encode(Trouble(MISSING, dask_module().get_worker().address))
        try:
            campaign, scale = _jobs[name].read()
        except ArticulusError as error:
            return encode(Trouble(UNREAD, str(error)))
    with kernel.threads(threads):
        return encode(attempt(campaign, (first, count), scale))


# at the driver's


class Cluster:
    """Workers of a dask cluster.

    Parameters
    ----------
    campaign : Campaign
    scale : Scale or None
    address : str
        Address of the scheduler; LOCAL starts a cluster here.
    count : int
        Processes of a cluster that is started here.
    threads : int
        Threads of all processes of such a cluster.
    time_limit : float [s]
        Wall-clock time that a chunk may take.

    Raises
    ------
    InputError
        No scheduler answers, or no worker has the versions and the processor of this machine.
    """

    inside = False

    def __init__(
        self,
        campaign: Campaign,
        scale: Scale | None,
        address: str,
        count: int = 2,
        threads: int | None = None,
        time_limit: float | None = None,
    ):
        dask = dask_module()
        self._dask, self._local = dask, None
        self._limit = time_limit
        self._job = order(campaign, scale), pack(campaign)
        self._name = digest_of("\n".join(self._job))
        if address == LOCAL:
            self._local = _local(dask, count)
            address = self._local.scheduler_address
        self._address = address
        try:
            self._client = self._connect()
        except (OSError, ValueError, TimeoutError) as error:
            self._close_local()
            raise InputError(
                f"scheduler: found no answer from {address} within {CONNECT_SECONDS:g} s ({type(error).__name__}); expected the address of "
                "a dask scheduler that runs, such as tcp://host:8786"
            ) from None
        self._threads = max(1, (threads or os.cpu_count() or 1) // count) if self._local else (threads or 1)
        self._futures: dict[Any, tuple[Range, float, list[str]]] = {}
        self._waiting: list[Range] = []
        self._good: dict[str, int] = {}
        self._silent: dict[str, float] = {}
        self._alone = time.monotonic()
        self._slowest = 0.0
        self._checked = -1e9
        self._check(wait=True)

    def _connect(self) -> Any:
        return self._dask.Client(
            self._address,
            timeout=CONNECT_SECONDS,
            set_as_default=False,
            name="articulus",
            security=None if self._local is None else self._local.security,
        )

    @property
    def slots(self) -> int:
        """Two chunks for each thread of a worker: one is worked on while the next is on its way."""
        self._check()
        return max(1, 2 * sum(self._good.values()))

    def _check(self, wait: bool = False) -> None:
        """Look for workers that are new; with many of them less often, because the scheduler tells of all."""
        if time.monotonic() - self._checked < 1.0 + LOOKING_SECONDS * len(self._good):
            return
        self._checked = time.monotonic()
        if wait:
            with contextlib.suppress(TimeoutError, self._dask.TimeoutError):
                self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        try:
            known = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError, ValueError):
            return  # `wait` sees to a scheduler that is gone
        self._silent = {w: end for w, end in self._silent.items() if w in known and end > time.monotonic()}
        fresh = [w for w in known if w not in self._good and w not in self._silent]
        reason = self._introduce({w: int(known[w].get("nthreads", 1)) for w in fresh})
        self._good = {w: threads for w, threads in self._good.items() if w in known}
        if any(self._good.values()):
            self._alone = time.monotonic()
        elif wait:
            self.close()
            reason = reason or ("there is none" if not known else f"none of {len(known)} has articulus")
            raise InputError(
                f"scheduler: found no worker that can take part: {reason}; expected workers with the same versions and processor"
            )

    def _introduce(self, fresh: dict[str, int]) -> str:
        """Ask new workers for their versions and processor and give the job to those that match; return why one does not."""
        reason = ""
        found = self._ask(describe_machine, (), list(fresh), ANSWER_SECONDS)
        for worker, text in found.items():
            theirs = json.loads(text)
            different = [k for k, x in machine().items() if theirs.get(k) != x]
            if different:
                k = different[0]
                self._good[worker] = 0
                reason = f"{worker} has {k} {theirs.get(k)}, here it is {machine()[k]}"
        matching = [w for w in found if w not in self._good]
        for worker, text in self._ask(take_job, (self._name, *self._job), matching, ANSWER_SECONDS).items():
            self._good[worker] = 0 if text else fresh[worker]
            reason = f"{worker}: {text}" if text else reason
        again = time.monotonic() + SILENT_SECONDS
        self._silent |= {w: again for w in fresh if w not in self._good}
        return reason

    def _ask(
        self, function: Callable[..., Any], given: tuple, workers: list[str], seconds: float
    ) -> dict[str, str]:
        """Return what workers answer within a time; those that are gone, hang or lack articulus are not among them."""
        found: dict[str, Any] = {}

        def ask() -> None:
            with contextlib.suppress(Exception):  # the scheduler is gone: `wait` sees to that
                found.update(self._client.run(function, *given, workers=workers, on_error="return"))

        if workers:
            thread = threading.Thread(target=ask, name="campaign asks", daemon=True)
            thread.start()
            thread.join(seconds)
        return {w: text for w, text in list(found.items()) if isinstance(text, str)}

    def submit(self, task: Range) -> None:
        """Hand out a chunk to the workers that may take part; without one, when one comes.

        Others are named to the scheduler only where there are any: a list of many workers in every task would be most of the
        traffic. A worker that is not known yet has no job, and says so.
        """
        allowed = [w for w, good in self._good.items() if good]
        if not allowed:
            self._waiting.append(task)
            return
        if len(allowed) == len(self._good) and not self._silent:
            allowed = []
        future = self._client.submit(
            task_of, self._name, *task, self._threads, pure=False, workers=allowed or None, retries=0
        )
        self._futures[future] = task, time.monotonic(), allowed

    def wait(self, seconds: float) -> list[tuple[Range, RunRows | Trouble]]:
        """Return what has come back; a chunk beyond its time is given up."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(f.done() for f in self._futures):
            time.sleep(0.01)
        if self._client.status != "running" or any(f.status in ("cancelled", "lost") for f in self._futures):
            self._reconnect()
            return []
        out: list[tuple[Range, RunRows | Trouble]] = []
        for future in list(self._futures):
            task, began, allowed = self._futures[future]
            if future.done():
                del self._futures[future]
                answer = self._take(future, began)
                if isinstance(answer, Trouble) and answer.cause == MISSING:
                    self._introduce({answer.text: self._good.pop(answer.text, 0) or 1})
                    self._waiting.append(task)
                else:
                    out.append((task, answer))
            elif allowed and not any(w in self._good for w in allowed):
                self._give_up(future)
                out.append((task, Trouble("killed", "all workers that might have done it are gone", True)))
            elif time.monotonic() - began > self._allowance():
                self._give_up(future)
                out.append(
                    (task, Trouble("out of time", f"no answer within {self._allowance():.3g} s", True))
                )
        self._hand_out_waiting()
        return out

    def _give_up(self, future: Any) -> None:
        del self._futures[future]
        with contextlib.suppress(Exception):
            self._client.cancel(future, force=True)

    def _hand_out_waiting(self) -> None:
        self._check()
        if time.monotonic() - self._alone > GONE_SECONDS:
            raise NumericalError(
                f"scheduler: {self._address} has had no usable worker for {GONE_SECONDS:g} s. Finished runs are saved: start "
                "workers and give the same command"
            )
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self.submit(task)

    def _reconnect(self) -> None:
        """Wait for a scheduler that is gone, and hand out again what it had."""
        tasks = [task for task, *_ in self._futures.values()] + self._waiting
        self._futures, self._good, self._silent, self._waiting = {}, {}, {}, []
        with contextlib.suppress(Exception):
            self._client.close(timeout=1.0)
        end = time.monotonic() + GONE_SECONDS
        while time.monotonic() < end:
            try:
                self._client = self._connect()
            except (OSError, ValueError, TimeoutError):
                time.sleep(0.5)
                continue
            self._checked = -1e9
            self._check(wait=True)
            for task in tasks:
                self.submit(task)
            return
        raise NumericalError(
            f"scheduler: {self._address} has been gone for {GONE_SECONDS:g} s. Finished runs are saved: start a scheduler and give the same command"
        )

    def _allowance(self) -> float:
        return self._limit or (max(LEAST_SECONDS, SLOWER * self._slowest) if self._slowest else START_SECONDS)

    def _take(self, future: Any, began: float) -> RunRows | Trouble:
        try:
            found = decode(future.result(timeout=CONNECT_SECONDS))
        except self._dask.KilledWorker as error:  # dask has tried it on several workers
            return Trouble("killed", f"its workers died: {error}")
        except Exception as error:  # noqa: BLE001  (whatever the cluster raises, the chunk did not come back)
            return Trouble("killed", f"the cluster lost it: {type(error).__name__}: {error}", True)
        if isinstance(found, Trouble) and found.cause == UNREAD:
            raise InputError(f"scheduler: {found.text}")
        self._slowest = max(self._slowest, time.monotonic() - began)
        return found

    def close(self) -> None:
        """Cancel what is under way, without waiting for it; files on the workers are removed."""
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._futures), force=True)
        self._ask(drop_job, (self._name,), [w for w, good in self._good.items() if good], 0.5)
        self._futures, self._waiting = {}, []
        with contextlib.suppress(Exception):
            self._client.close(timeout=1.0)
        self._close_local()

    def _close_local(self) -> None:
        if self._local is not None:
            with contextlib.suppress(Exception):
                self._local.close(timeout=1.0)


def _local(dask: Any, count: int) -> Any:
    """Return a cluster on this machine: processes of one thread, which hand their chunks to native threads.

    It listens on the loopback address only, and whoever connects needs the certificate that was made for it and lies in the memory
    of its processes: another user of the machine cannot run code in the workers. Its web servers, which dask always starts, answer nothing.
    """
    import dask as base

    try:
        security = dask.Security.temporary()
    except ImportError:
        raise InputError(
            "scheduler: found no package 'cryptography', without which any user of this machine could run code in the workers; expected "
            "the extra `cluster`: pip install 'articulus[cluster]'"
        ) from None
    environment = {**dict.fromkeys(SINGLE, "1"), "ARTICULUS_PROGRESS": "off"}
    settings = {
        "distributed.nanny.environ": environment,
        "distributed.worker.daemon": True,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with base.config.set(settings):
        return dask.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls",
            security=security,
            scheduler_kwargs={"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
            worker_dashboard_address=None,
            silence_logs=50,
        )
