"""`drive`: loop, session and server together, until somebody ends it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from articulus.browser.drive.machine import Machine
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.realtime import LOOP, SERVER, Pacer, urgent
from articulus.browser.drive.recording import Recording, can_store
from articulus.browser.drive.session import DriveSession
from articulus.browser.web import Access
from articulus.errors import InputError

SWITCH = 1e-4
"""Time after which a thread that holds the interpreter gives it to the loop that waits for it [s]."""


class Driving:
    """A machine whose loop runs in its own thread and whose server runs in this one.

    Parameters
    ----------
    machine : Machine
    access : Access
    folder : Path
        Where recordings go.
    """

    def __init__(self, machine: Machine, access: Access, folder: Path):
        try:
            from articulus.browser.drive.server import DriveServer
        except ImportError:
            raise InputError(
                "drive: the package websockets is not installed; expected the extra `view`: pip install 'articulus[view]'"
            ) from None
        self.access = access
        self.session = DriveSession(Plant(machine), kept=self._keep)
        self.pacer = Pacer(self.session.work, self.session.plant.h)
        self.server = DriveServer(self.session, self.pacer, access, folder)
        self._build()
        self._recordings: list[Recording] = []
        self._wake: Callable[[], object] = lambda: None

    @property
    def url(self) -> str:
        """Address of the page, once the server listens."""
        return self.server.site.url

    def _build(self) -> None:
        """Compile and load now what would hold up the loop later."""
        self.server.picture(self.session.shown)
        plant = self.session.plant
        _ = Recording(plant, plant.state()[None]).run
        can_store()

    def _keep(self, recording: Recording) -> None:
        self._recordings.append(recording)
        self._wake()

    async def run(self, port: int, ready: Callable[[], None], done: asyncio.Event) -> None:
        """Serve until `done`; call `ready` when the page can be opened. Nothing recorded is lost at the end."""
        loop, fresh = asyncio.get_running_loop(), asyncio.Event()
        self._wake = functools.partial(loop.call_soon_threadsafe, fresh.set)
        listening = await self.server.site.start(port)
        async with listening:
            with in_real_time(self.pacer):
                saving = asyncio.create_task(self._save(fresh))
                ready()
                await done.wait()
                saving.cancel()
                await asyncio.gather(saving, return_exceptions=True)
        self._wake = lambda: None
        self.session.stop_recording()
        await self._drain()

    async def _save(self, fresh: asyncio.Event) -> None:
        while True:
            await fresh.wait()
            fresh.clear()
            await self._drain()

    async def _drain(self) -> None:
        while self._recordings:
            await self.server.save(self._recordings[0])
            self._recordings.pop(0)


@contextlib.contextmanager
def in_real_time(pacer: Pacer) -> Iterator[None]:
    """Run a loop in its own thread, with an interpreter that does not make it wait."""

    def run() -> None:
        with urgent(LOOP):
            pacer.run()

    before = sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH)
    thread = threading.Thread(target=run, name="drive", daemon=True)
    thread.start()
    try:
        with urgent(SERVER):
            yield
    finally:
        pacer.stop()
        thread.join()
        sys.setswitchinterval(before)
        gc.unfreeze()
