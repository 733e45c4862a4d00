"""The page and its WebSocket: one operator or two, any number of spectators, on one port."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import itertools
import logging
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from articulus.browser.drive import protocol
from articulus.browser.drive.gauges import Gauges
from articulus.browser.drive.machine import Machine
from articulus.browser.drive.protocol import HEADER, PHASES
from articulus.browser.drive.realtime import WRITER, Figures, Pacer, urgent
from articulus.browser.drive.recording import Recording
from articulus.browser.drive.session import DriveSession, Shown
from articulus.browser.drive.terrain import CELL
from articulus.browser.poses import body_poses
from articulus.browser.scene import scene_of
from articulus.browser.web import Access, MessageError, text
from articulus.browser.web import client as web_client
from articulus.browser.web.site import Site, contents
from articulus.errors import ArticulusError

log = logging.getLogger("articulus.browser")

FRAMES = 60
"""Frames sent in a second."""
READ = 60_000_000
"""Time from one reading of the gauges to the next [ns]."""
SMALLEST = 2e-3
"""Change of a height that a page is told of [m]."""
STATUS = 0.25
"""Time from one status message to the next [s]."""


SILENCE = 4.0
"""Time after which a page that does not answer counts as gone [s]; its sticks are released long before."""


def pages() -> dict[str, bytes]:
    """Return every file that is served, by its name in the address."""
    here, shared = files("articulus.browser.drive") / "page", files("articulus.browser") / "assets"
    own = ("index.html", "drive.css", "drive.js", "view.js")
    return contents(
        *(here / name for name in own),
        *(shared / name for name in ("three.min.js", "numbers.js", "scene.js")),
    )


class DriveClient(web_client.Client):
    """One page, with the number of its last move that the machine has obeyed."""

    echo = 0

    def __init__(self, number: int, socket: ServerConnection):
        super().__init__(number, socket)
        self._moves: collections.deque[tuple[int, int]] = collections.deque(maxlen=1000)

    def note_move(self, number: int, at: int) -> None:
        """Take the number of a move that was handed on before a time [ns]."""
        self._moves.append((at, number))

    def last_move(self, read: int) -> int:
        """Return the number of the last move that a state knows whose sticks were read at a time [ns]."""
        while self._moves and self._moves[0][0] <= read:
            self.echo = self._moves.popleft()[1]
        return self.echo


class DriveServer:
    """What connects a session with browsers.

    Parameters
    ----------
    session : Session
    pacer : Pacer
        Whose figures are shown.
    access : Access
    folder : Path
        Where recordings go.
    """

    def __init__(self, session: DriveSession, pacer: Pacer, access: Access, folder: Path):
        self.session, self.pacer, self.folder = session, pacer, folder
        self.machine = session.plant.machine
        self.clients: dict[int, DriveClient] = {}
        self.holders: dict[str, int | None] = dict.fromkeys(self.machine.groups)
        self.saved: list[Path] = []
        self.site = Site(access, pages(), self._talk, SILENCE)
        self.gauges = Gauges(session.plant)
        self._hello = introduction(self.machine) | {
            "gauges": [dataclasses.asdict(g) for g in self.gauges.all]
        }
        self._numbers = itertools.count(1)
        self._news = asyncio.Event()
        self._frame: tuple[Any, np.ndarray] | None = None
        self._read: tuple[int, np.ndarray] | None = None

    # clients

    async def _talk(self, socket: ServerConnection) -> None:
        client = DriveClient(next(self._numbers), socket)
        self.clients[client.number] = client
        log.info("client %d came", client.number)
        if not any(self.holders.values()):
            self._take(client, self.machine.groups)
        tell = asyncio.create_task(self._tell(client))
        show = asyncio.create_task(self._show(client))
        try:
            await socket.send(text("hello", you=client.number, machine=self._hello))
            async for content in socket:
                self._hear(client, content)
        except ConnectionClosed:
            pass
        finally:
            for task in (tell, show):
                task.cancel()
            self._drop(client)

    def _drop(self, client: DriveClient) -> None:
        del self.clients[client.number]
        log.info("client %d went", client.number)
        for group in self._groups_of(client):
            self._give(group)
        self._announce()

    def _hear(self, client: DriveClient, content: str | bytes) -> None:
        if not client.admit():
            client.drop("too many")
            return
        try:
            message = protocol.read(content, self.machine)
            self._obey(client, message)
        except MessageError as error:
            client.drop(str(error))

    def _obey(self, client: DriveClient, message: protocol.Message) -> None:
        session, held = self.session, self._groups_of(client)
        if isinstance(message, protocol.TakeAxes) and message.take:
            if self.holders[message.group] is None:
                self._take(client, [message.group])
            return
        if not held:
            raise MessageError("found an order of a spectator")
        match message:
            case protocol.Move(axes, number):
                for group in held:
                    session.move(group, axes)
                client.note_move(number, session.now())
            case protocol.TakeAxes(group) if group in held:
                self._give(group)
            case protocol.Choose(mode):
                session.ask(lambda: session.choose(mode))
            case protocol.ChooseDelay(seconds):
                session.ask(lambda: session.choose_delay(seconds))
            case protocol.SwitchSoil(on):
                session.ask(lambda: session.switch_soil(on))
            case protocol.Act(action):
                session.ask(session.stop_recording if action == "stop" else getattr(session, action))
        if not isinstance(message, protocol.Move):
            self._announce()

    # who drives

    def _groups_of(self, client: DriveClient) -> list[str]:
        return [group for group, number in self.holders.items() if number == client.number]

    def _take(self, client: DriveClient, groups: Any) -> None:
        if not any(self.holders.values()):
            self.session.ask(self.session.enter)
            self.session.ask(self.session.resume)
        self.holders |= dict.fromkeys(groups, client.number)
        self._announce()

    def _give(self, group: str) -> None:
        """Free a group: its sticks are released, and the machine stops when nobody is left."""
        self.holders[group] = None
        self.session.move(group, (0.0,) * len(self.machine.axes))
        if not any(self.holders.values()):
            self.session.ask(self.session.leave)
        self._announce()

    # to the page

    def _announce(self) -> None:
        """Send to everybody at once."""
        self._news.set()
        self._news = asyncio.Event()

    async def _tell(self, client: DriveClient) -> None:
        while True:
            news = self._news
            await client.socket.send(text("status", **self._status(client)))
            try:
                await asyncio.wait_for(news.wait(), STATUS)
                await asyncio.sleep(0.02)
            except TimeoutError:
                pass

    async def _show(self, client: DriveClient) -> None:
        place = protocol.HEADER.index("echo")
        terrain = self.session.terrain
        seen = None if terrain is None else np.full(terrain.heights.shape, terrain.level)
        while True:
            if terrain is not None and seen is not None:
                cells = np.flatnonzero(np.abs(terrain.heights - seen) > SMALLEST)
                if len(cells):
                    seen.flat[cells] = heights = terrain.heights.flat[cells]
                    told = np.round(1e3 * (heights - terrain.level)).astype(int)
                    await client.socket.send(text("ground", cells=cells.tolist(), heights=told.tolist()))
            shown = self.session.shown
            content = self.picture(shown).copy()
            content[place] = client.last_move(shown.read)
            await client.socket.send(content.tobytes())
            await asyncio.sleep(1 / FRAMES)

    def picture(self, shown: Shown) -> np.ndarray:
        """Return the frame of a state, made once for all clients."""
        if self._frame is None or self._frame[0] is not shown:
            plant = self.session.plant
            q = plant.q(shown.state)
            poses = body_poses(self.machine.mechanism, q)
            if self._read is None or shown.read - self._read[0] > READ:
                self._read = (shown.read, self.gauges.at(shown.state))
            more = [self._read[1]]
            ahead = self.session.ahead
            if shown is not ahead and self.session.delay:
                more.append(body_poses(self.machine.mechanism, plant.q(ahead.state)))
            self._frame = (shown, protocol.frame(shown, q, plant.v(shown.state), poses, *more))
        return self._frame[1]

    def _status(self, client: DriveClient) -> dict[str, Any]:
        shown, last = self.session.shown, self.session.last
        spectators = len(self.clients) - len({n for n in self.holders.values() if n is not None})
        return {
            "phase": str(shown.phase),
            "mode": self.machine.modes[shown.mode],
            "soil": shown.soil,
            "delay": self.session.delay,
            "recording": shown.recording,
            "holders": self.holders,
            "yours": self._groups_of(client),
            "spectators": spectators,
            "replay": 0.0 if last is None else last.duration,
            "saved": self.saved[-1].name if self.saved else "",
            "recent": _figures(self.pacer.recent),
            "total": _figures(self.pacer.total),
            "drift": self.pacer.drift * 1e-9,
        }

    # recordings

    async def save(self, recording: Recording) -> None:
        """Write a recording and notify everybody."""
        name = f"{self.machine.mechanism.name}-{datetime.now():%Y%m%d-%H%M%S}"
        try:
            path = await asyncio.to_thread(self._write, recording, name)
        except ArticulusError as error:
            log.error("%s", error)
            return
        self.saved.append(path)
        log.info("recording of %.1f s: %s", recording.duration, path)
        self._announce()

    def _write(self, recording: Recording, name: str) -> Path:
        with urgent(WRITER):
            return recording.save(self.folder, name)


def _figures(f: Figures) -> dict[str, float]:
    return {
        "steps": f.steps,
        "missed": f.missed + f.skipped,
        "on_time": f.on_time,
        "step_time": f.step_time,
        "worst_step": f.worst_step * 1e-9,
        "worst_latency": f.worst_latency * 1e-9,
        "share": f.share,
    }


def introduction(machine: Machine) -> dict[str, Any]:
    """Return title, axes, modes, and what the machine looks like, as JSON can hold them."""
    d = machine.mechanism.description
    places = [{"q": d.q_slices[a.name].start, "v": d.v_slices[a.name].start} for a in machine.axes]
    bent = [d.mode_slices(body.name)[1] for body in d.bodies]
    return {
        "title": machine.title,
        "source": d.source,
        "axes": [dataclasses.asdict(axis) | place for axis, place in zip(machine.axes, places)],
        "groups": list(machine.groups),
        "modes": list(machine.modes),
        "soil": machine.soil,
        "ground": machine.ground,
        "field": None
        if machine.digging is None
        else {"cell": CELL, "cells": 2 * round(machine.digging.reach / CELL) + 1},
        "digging": None if machine.digging is None else dataclasses.asdict(machine.digging),
        "notes": dict(machine.notes),
        "nq": d.nq,
        "nv": d.nv,
        "seat": None if machine.seat is None else dataclasses.asdict(machine.seat),
        "flexible": [(modes.start, modes.stop) for modes in bent],
        "scene": scene_of(machine.mechanism, paths=[c.path for c in machine.components if c.path]).plain(),
        "header": list(HEADER),
        "phases": [str(phase) for phase in PHASES],
    }
