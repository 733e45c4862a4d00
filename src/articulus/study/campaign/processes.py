"""Worker processes on this machine: one that dies, hangs or fills its memory costs a chunk, not the campaign."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO

from articulus.errors import InputError
from articulus.kernel.pool import cores
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.encoding import decode, order
from articulus.study.campaign.ledger import Range
from articulus.study.campaign.machine import machine
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.work import RunRows, Trouble

START_SECONDS = 600.0
"""Wall-clock time that the first chunk of a worker may take, which may have to compile [s]."""
LEAST_SECONDS = 20.0
"""Least time limit of a chunk [s]."""
SLOWER = 30.0
"""Times longer than expected that a chunk may take."""
LEAST_MEMORY = 4 << 30
"""Least limit of the address space of a worker [bytes]: libraries reserve more than they use."""
SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables that give BLAS one thread."""


class Processes:
    """Worker processes, each with its share of the threads.

    Parameters
    ----------
    campaign : Campaign
    scale : Scale or None
        Where values over time are counted.
    count : int
        Number of processes.
    threads : int
        Threads of all together; each has at least one.
    time_limit : float [s]
        Wall-clock time that a chunk may take; a multiple of what chunks take if not given.
    memory : int [bytes]
        Address space that a worker may use; its share of the machine's memory if not given.
    """

    inside = False

    def __init__(
        self,
        campaign: Campaign,
        scale: Scale | None,
        count: int,
        threads: int | None = None,
        time_limit: float | None = None,
        memory: int | None = None,
    ):
        self.slots = count
        self._order, self._limit = order(campaign, scale), time_limit
        self._environment = os.environ | {
            **dict.fromkeys(SINGLE, "1"),
            "ARTICULUS_THREADS": str(max(1, (threads or cores()) // count)),
            "ARTICULUS_WORKER_MEMORY": str(memory or max(LEAST_MEMORY, _physical() * 8 // 10 // count)),
            "ARTICULUS_PROGRESS": "off",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        }
        self._found: queue.SimpleQueue[tuple[_Worker, Range | None, RunRows | Trouble | InputError]] = (
            queue.SimpleQueue()
        )
        self._workers: list[_Worker] = []
        self._slowest = 0.0
        self._waiting: list[Range] = []

    def submit(self, task: Range) -> None:
        """Hand out a chunk to a worker without one; begin a worker where there is none."""
        for worker in self._workers:
            if worker.task is None:
                worker.begin(task)
                return
        worker = _Worker(self._order, self._environment, self._found)
        self._workers.append(worker)
        worker.begin(task)

    def wait(self, seconds: float) -> list[tuple[Range, RunRows | Trouble]]:
        """Return what has come back; a worker beyond its time is ended."""
        for worker in self._workers:
            usual = max(LEAST_SECONDS, SLOWER * self._slowest) if worker.chunks else START_SECONDS
            allowed = self._limit if self._limit and worker.ready else usual
            if worker.task is not None and time.monotonic() - worker.began > allowed:
                worker.late = f"no answer within {allowed:.3g} s"
                worker.kill()
        try:
            worker, task, found = self._found.get(timeout=seconds)
        except queue.Empty:
            return []
        if isinstance(found, InputError):
            raise found
        if isinstance(found, Trouble) and found.again:  # it is dead; what it did not answer, it never will
            self._workers.remove(worker)
            worker.kill()
            task = worker.task
        elif worker.chunks > 1:
            self._slowest = max(self._slowest, time.monotonic() - worker.began)
        return [] if task is None else [(task, found)]

    def close(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            worker.kill()
        self._workers = []

    @property
    def pids(self) -> list[int]:
        """Process numbers of the workers."""
        return [w.process.pid for w in self._workers]


class _Worker:
    """One process, and the thread that listens to it; it is ready when it has told its machine.

    Its task is what it has not answered: set by `begin`, taken away by the listener with the answer, so that a chunk counts once
    even if the process dies before the driver looks.
    """

    def __init__(self, order: str, environment: dict[str, str], found: queue.SimpleQueue):
        self.task: Range | None = None
        self.began, self.chunks, self.ready, self.late = time.monotonic(), 0, False, ""
        self._found = found
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "articulus.study.campaign.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment, start_new_session=True,
        )  # fmt: skip
        self._write(f"{order}\n")
        self._listener = threading.Thread(target=self._listen, name="campaign worker", daemon=True)
        self._listener.start()

    def begin(self, task: Range) -> None:
        self.task, self.began = task, time.monotonic()
        self._write(f"{task[0]} {task[1]}\n")

    def _write(self, text: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it is dead: the listener says so
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()

    def kill(self) -> None:
        """End the process and wait for it and for its listener."""
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        self._listener.join(1.0)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        try:
            with self.process.stdout as stream:
                theirs = json.loads(_frame(stream))
                different = [k for k, x in machine().items() if theirs.get(k) != x]
                if different:
                    k = different[0]
                    raise InputError(
                        f"campaign: found a worker with {k} {theirs.get(k)}; expected {machine()[k]}, as here"
                    )
                self.began, self.ready = time.monotonic(), True
                while True:
                    found = decode(_frame(stream))
                    self.chunks += 1
                    task, self.task = self.task, None
                    self._found.put((self, task, found))
        except InputError as error:
            self._found.put((self, None, error))
        except (EOFError, ValueError, OSError):
            self._found.put((self, None, self._death()))
        finally:
            self._errors.close()

    def _death(self) -> Trouble:
        with contextlib.suppress(OSError):
            self.process.kill()
        code = self.process.wait()
        if self.late:
            return Trouble("out of time", self.late, True)
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        memory = any(
            word in line
            for line in said
            for word in ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate")
        )
        text = f"its worker ended with {how}{': ' + said[-1] if said else ''}"
        return Trouble("out of memory" if memory else "killed", text, True)


def _frame(stream: IO[bytes]) -> bytes:
    """Return the next frame; raise EOFError at the end."""
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    size = int.from_bytes(head, "little")
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _physical() -> int:
    """Memory of the machine [bytes]."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
