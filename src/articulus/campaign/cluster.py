"""Workers of a dask cluster: `--scheduler tcp://host:8786`, or a cluster on this machine.

What travels is the order of the campaign (texts and numbers), an index range, and rows as bytes. Each worker tells its versions and
processor before its work counts; one that differs is left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from functools import lru_cache
from typing import Any

from articulus.campaign.bands import Scale
from articulus.campaign.design import Campaign
from articulus.campaign.ledger import Range
from articulus.campaign.machine import machine
from articulus.campaign.processes import LEAST_SECONDS, SINGLE, SLOWER, START_SECONDS
from articulus.campaign.wire import order, ordered, packed, unpacked
from articulus.campaign.work import Rows, Trouble, attempt
from articulus.errors import InputError, NumericalError

CONNECT_SECONDS = 10.0
"""Time within which a scheduler has to answer [s]."""
GONE_SECONDS = 60.0
"""Time that a scheduler may be silent before the campaign ends; what is done is kept [s]."""
LOCAL = "local"
"""In place of an address: a cluster on this machine, as long as the campaign runs."""


def dask_module() -> Any:
    """Return `distributed`, or raise what to install."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "scheduler: dask.distributed is not installed; expected the extra `cluster`: pip install 'articulus[cluster]'"
        ) from None
    return distributed


_reading = threading.Lock()


@lru_cache(maxsize=2)
def _read_once(text: str) -> tuple[Campaign, Scale | None]:
    campaign, scale = ordered(text)
    campaign.study.loop  # noqa: B018  (built now, by one thread)
    return campaign, scale


def _ordered(text: str) -> tuple[Campaign, Scale | None]:
    with _reading:
        return _read_once(text)


def told() -> str:
    """Return the machine of a worker, and give its BLAS one thread."""
    for name in SINGLE:
        os.environ[name] = "1"
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    return json.dumps(machine())


def task_of(text: str, first: int, count: int, threads: int) -> bytes:
    """Return the rows of a chunk, or what went wrong, as bytes; this is what a worker of the cluster runs."""
    from articulus import kernel

    campaign, scale = _ordered(text)
    with kernel.threads(threads):
        return packed(attempt(campaign, (first, count), scale))


class Cluster:
    """Workers of a dask cluster.

    Parameters
    ----------
    campaign : Campaign
    scale : Scale or None
    address : str
        Of the scheduler; LOCAL starts a cluster here.
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
        self._order, self._limit = order(campaign, scale), time_limit
        if address == LOCAL:
            self._local = _local(dask, count)
            address = self._local.scheduler_address
        self._address = address
        try:
            self._client = self._connected()
        except (OSError, ValueError, TimeoutError) as error:
            self._close_local()
            raise InputError(
                f"scheduler: found no answer from {address} within {CONNECT_SECONDS:g} s ({type(error).__name__}); expected the address of "
                "a dask scheduler that runs, such as tcp://host:8786"
            ) from None
        self._threads = max(1, (threads or os.cpu_count() or 1) // count) if self._local else (threads or 1)
        self._futures: dict[Any, tuple[Range, float]] = {}
        self._good: dict[str, int] = {}
        self._slowest = 0.0
        self._checked = -1e9
        self._check(wait=True)

    def _connected(self) -> Any:
        return self._dask.Client(
            self._address, timeout=CONNECT_SECONDS, set_as_default=False, name="articulus"
        )

    @property
    def slots(self) -> int:
        """Two chunks for each thread of a worker: one is worked on while the next is on its way."""
        self._check()
        return max(1, 2 * sum(self._good.values()))

    def _check(self, wait: bool = False) -> None:
        """Ask workers that are new for their versions and processor; those that differ get no work."""
        if time.monotonic() - self._checked < 1.0:
            return
        self._checked = time.monotonic()
        if wait:
            with contextlib.suppress(TimeoutError, self._dask.TimeoutError):
                self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        try:
            known = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError, ValueError):
            return  # `wait` sees to a scheduler that is gone
        fresh = [w for w in known if w not in self._good]
        try:
            found = self._client.run(told, workers=fresh, on_error="return") if fresh else {}
        except (OSError, TimeoutError, ValueError):
            found = {}
        differing = ""
        for worker, text in found.items():
            if not isinstance(text, str):
                continue  # it is gone already, or lacks articulus
            theirs = json.loads(text)
            different = [k for k, x in machine().items() if theirs.get(k) != x]
            self._good[worker] = 0 if different else int(known[worker].get("nthreads", 1))
            if different:
                k = different[0]
                differing = f"{worker} has {k} {theirs.get(k)}, here it is {machine()[k]}"
        self._good = {w: threads for w, threads in self._good.items() if w in known}
        if wait and not any(self._good.values()):
            self.close()
            reason = differing or ("there is none" if not known else f"none of {len(known)} has articulus")
            raise InputError(
                f"scheduler: found no worker that can take part: {reason}; expected workers with the same versions and processor"
            )

    def submit(self, task: Range) -> None:
        """Hand out a chunk."""
        allowed = [w for w, good in self._good.items() if good]
        future = self._client.submit(
            task_of,
            self._order,
            *task,
            self._threads,
            pure=False,
            workers=allowed or None,
            retries=0,
            allow_other_workers=False,
        )
        self._futures[future] = task, time.monotonic()

    def wait(self, seconds: float) -> list[tuple[Range, Rows | Trouble]]:
        """Return what has come back; a chunk beyond its time is given up."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(f.done() for f in self._futures):
            time.sleep(0.01)
        if self._client.status != "running" or any(f.status in ("cancelled", "lost") for f in self._futures):
            self._reconnect()
            return []
        out: list[tuple[Range, Rows | Trouble]] = []
        for future in list(self._futures):
            task, began = self._futures[future]
            if future.done():
                del self._futures[future]
                out.append((task, self._taken(future, began)))
            elif time.monotonic() - began > self._allowed():
                del self._futures[future]
                with contextlib.suppress(Exception):
                    self._client.cancel(future, force=True)
                out.append((task, Trouble("out of time", f"no answer within {self._allowed():.3g} s", True)))
        return out

    def _reconnect(self) -> None:
        """Wait for a scheduler that is gone, and hand out again what it had."""
        tasks = [task for task, _ in self._futures.values()]
        self._futures, self._good = {}, {}
        with contextlib.suppress(Exception):
            self._client.close(timeout=1.0)
        end = time.monotonic() + GONE_SECONDS
        while time.monotonic() < end:
            try:
                self._client = self._connected()
            except (OSError, ValueError, TimeoutError):
                time.sleep(0.5)
                continue
            self._checked = -1e9
            self._check(wait=True)
            for task in tasks:
                self.submit(task)
            return
        raise NumericalError(
            f"scheduler: {self._address} has been gone for {GONE_SECONDS:g} s. What is done is kept: start a scheduler and give the same command"
        )

    def _allowed(self) -> float:
        return self._limit or (max(LEAST_SECONDS, SLOWER * self._slowest) if self._slowest else START_SECONDS)

    def _taken(self, future: Any, began: float) -> Rows | Trouble:
        try:
            found = unpacked(future.result(timeout=CONNECT_SECONDS))
        except self._dask.KilledWorker as error:  # dask has tried it on several workers
            return Trouble("killed", f"its workers died: {error}")
        except Exception as error:  # noqa: BLE001  (whatever the cluster raises, the chunk did not come back)
            return Trouble("killed", f"the cluster lost it: {type(error).__name__}: {error}", True)
        self._slowest = max(self._slowest, time.monotonic() - began)
        return found

    def close(self) -> None:
        """Cancel what is under way, without waiting for it."""
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._futures), force=True)
        self._futures = {}
        with contextlib.suppress(Exception):
            self._client.close(timeout=1.0)
        self._close_local()

    def _close_local(self) -> None:
        if self._local is not None:
            with contextlib.suppress(Exception):
                self._local.close(timeout=1.0)


def _local(dask: Any, count: int) -> Any:
    """Return a cluster on this machine: processes of one thread, which hand their chunks to native threads."""
    environment = {**dict.fromkeys(SINGLE, "1"), "ARTICULUS_PROGRESS": "off"}
    import dask as base

    with base.config.set({"distributed.nanny.environ": environment, "distributed.worker.daemon": True}):
        return dask.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
