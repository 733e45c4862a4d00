"""The page of a viewer and its WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from articulus.browser.export import LIVE_SCRIPTS, SCRIPTS, policy
from articulus.browser.viewer.session import BESIDE, ViewerSession
from articulus.browser.viewer.source import Source
from articulus.browser.web import Access, MessageError, object_in, text
from articulus.browser.web.client import Client
from articulus.browser.web.site import Site
from articulus.errors import ArticulusError

log = logging.getLogger("articulus.browser")

LONGEST = 60_000
"""Size of the largest message that is examined [bytes]: positions of about 2500 coordinates."""
LONGEST_FILE = 8_000_000
"""Size of the largest message with a dropped file [bytes]."""
LOOK = 0.25
"""Time between two looks at the files; one that has not changed since the last look is complete [s]."""
SILENCE = 60.0
"""Time after which a page that does not answer counts as gone [s]; compiling may hold up the program for a while."""


class Session(Protocol):
    """What stands behind a page."""

    def page(self) -> str:
        """Return the text of the page."""
        ...

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a message."""
        ...


class ViewerServer:
    """What connects a session with browsers.

    Parameters
    ----------
    session : ViewerSession, or another Session
    access : Access
    source : Source
        Files that are read again when they change, and what reads dropped ones.
    """

    scripts: tuple[str, ...] = LIVE_SCRIPTS
    long: tuple[str, ...] = ("open",)
    """Questions that may be as long as a file."""

    def __init__(self, session: Session, access: Access, source: Source | None = None):
        self.session, self.source = session, source or Source()
        self._sockets: set[ServerConnection] = set()
        allowed = f"{policy((*SCRIPTS, *self.scripts))}; style-src 'unsafe-inline'"
        self.site = Site(
            access, {"": session.page().encode()}, self._talk, SILENCE, allowed, largest=LONGEST_FILE
        )
        self._numbers = itertools.count(1)

    async def _talk(self, socket: ServerConnection) -> None:
        """Answer one page, question after question; those of `BESIDE` keep none waiting."""
        client = Client(next(self._numbers), socket)
        self._sockets.add(socket)
        beside: set[asyncio.Task[None]] = set()
        try:
            async for content in socket:
                if not client.admit():
                    client.drop("too many")
                    continue
                try:
                    message = object_in(content, LONGEST_FILE)
                    if len(content) > LONGEST and message.get("do") not in self.long:
                        raise MessageError(f"found {len(content)} characters; expected at most {LONGEST}")
                    number = _number(message)
                except MessageError as error:
                    client.drop(str(error))
                    continue
                if message.get("do") in BESIDE:
                    task = asyncio.create_task(self._reply(socket, message, number))
                    beside.add(task)
                    task.add_done_callback(beside.discard)
                else:
                    await self._reply(socket, message, number)
        except ConnectionClosed:
            pass
        finally:
            self._sockets.discard(socket)
            for task in beside:
                task.cancel()

    async def _reply(self, socket: ServerConnection, message: dict[str, Any], number: int) -> None:
        answer, good = await asyncio.to_thread(self._answer, message, number)
        with contextlib.suppress(ConnectionClosed):
            await socket.send(answer)
        if good:
            await self._respond(message)

    async def _respond(self, message: dict[str, Any]) -> None:
        """Tell all pages what an answer has changed."""
        if message.get("do") == "open":
            await self._tell("renewed", fresh=True)

    async def watch(self) -> None:
        """Read the files again whenever they have changed, until this is cancelled; what is wrong in them stands on the page."""
        seen = before = self.source.stamp()
        while True:
            await asyncio.sleep(LOOK)
            source, now = self.source, self.source.stamp()
            if source.read is None or now == seen or now != before or None in now:
                before = now
                continue
            seen = now
            await self._renew(source, source.read)

    async def _renew(self, source: Source, read: Callable[[], ViewerSession]) -> None:
        """Show the files of a source as they are now, or say what is wrong in them."""
        await self._tell("notice", text="The file has changed; it is read again ...")
        try:
            session = await asyncio.to_thread(read)
            page = await asyncio.to_thread(session.page)
        except ArticulusError as error:
            await self._tell("notice", text=f"The file has changed, and what is shown is older:\n{error}")
        except Exception as error:
            log.exception("the file cannot be shown")
            await self._tell("notice", text=f"The file cannot be shown: {type(error).__name__}: {error}")
        else:
            if self.source is source:
                self._show(session, page)
                await self._tell("renewed", fresh=False)

    def _show(self, session: Session, page: str) -> None:
        """Show something else; pages that are open ask for it again."""
        self.session, self.site.pages = session, {"": page.encode()}

    async def _tell(self, kind: str, **fields: Any) -> None:
        """Send a message to all pages."""
        message = text(kind, **fields)
        for socket in tuple(self._sockets):
            with contextlib.suppress(ConnectionClosed):
                await socket.send(message)

    def _answer(self, message: dict[str, Any], number: int) -> tuple[str, bool]:
        """Return the answer to a message, and whether there is one; a page that waits for one gets it, whatever happens."""
        try:
            found = self._find_file(message)
            return text("answer", **found, id=number), "error" not in found
        except MessageError as error:
            return text("answer", error=str(error), id=number), False
        except Exception as error:
            log.exception("no answer to '%.40s'", message.get("do"))
            return text("answer", error=f"{type(error).__name__}: {error}", id=number), False

    def _find_file(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._open(message) if message.get("do") == "open" else self.session.answer(message)

    def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        """Show a dropped file in place of what is shown; its files are no longer looked at."""
        name, content = message.get("name"), message.get("text")
        if not isinstance(name, str) or not isinstance(content, str):
            raise MessageError("open: expected name and text of a file")
        try:
            session = self.source.open(name, content)
        except ArticulusError as error:
            return {"error": str(error)}
        self.source = Source(open_text=self.source.open_text)
        self._show(session, session.page())
        return {}


def _number(message: dict[str, Any]) -> int:
    number = message.get("id")
    if type(number) is not int:
        raise MessageError("id: expected a whole number")
    return number
