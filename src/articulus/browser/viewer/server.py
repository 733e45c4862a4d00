"""The page of a viewer and its WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from articulus.browser.export import LIVE_SCRIPTS, SCRIPTS, policy
from articulus.browser.viewer.session import BESIDE, ViewerSession
from articulus.browser.web import Access, MessageError, object_in, text
from articulus.browser.web.client import Client
from articulus.browser.web.site import Site

log = logging.getLogger("articulus.browser")

LONGEST = 60_000
"""Size of the largest message that is looked at [bytes]: positions of about 2500 coordinates."""
SILENCE = 60.0
"""Time after which a page that does not answer counts as gone [s]; compiling may hold up the program for a while."""


class ViewerServer:
    """What connects a session with browsers.

    Parameters
    ----------
    session : Session
    access : Access
    """

    def __init__(self, session: ViewerSession, access: Access):
        self.session = session
        allowed = f"{policy((*SCRIPTS, *LIVE_SCRIPTS))}; style-src 'unsafe-inline'"
        self.site = Site(access, {"": session.page().encode()}, self._talk, SILENCE, allowed)
        self._numbers = itertools.count(1)

    async def _talk(self, socket: ServerConnection) -> None:
        """Answer one page, question after question; those of `BESIDE` keep none waiting."""
        client = Client(next(self._numbers), socket)
        beside: set[asyncio.Task[None]] = set()
        try:
            async for content in socket:
                if not client.admit():
                    client.drop("too many")
                    continue
                try:
                    message = object_in(content, LONGEST)
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
            for task in beside:
                task.cancel()

    async def _reply(self, socket: ServerConnection, message: dict[str, Any], number: int) -> None:
        answer = await asyncio.to_thread(self._answer, message, number)
        with contextlib.suppress(ConnectionClosed):
            await socket.send(answer)

    def _answer(self, message: dict[str, Any], number: int) -> str:
        """Return the answer to a message; a page that waits for one gets it, whatever happens."""
        try:
            return text("answer", **self.session.answer(message), id=number)
        except MessageError as error:
            return text("answer", error=str(error), id=number)
        except Exception as error:
            log.exception("no answer to '%.40s'", message.get("do"))
            return text("answer", error=f"{type(error).__name__}: {error}", id=number)


def _number(message: dict[str, Any]) -> int:
    number = message.get("id")
    if type(number) is not int:
        raise MessageError("id: expected a whole number")
    return number
