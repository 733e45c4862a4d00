"""The page of a viewer and its WebSocket."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from articulus.studio.export import LIVE_SCRIPTS, SCRIPTS, policy
from articulus.studio.viewer.session import Session
from articulus.studio.web import Access, MessageError, object_in, text
from articulus.studio.web.client import Client
from articulus.studio.web.site import Site

SILENCE = 60.0
"""Time after which a page that does not answer counts as gone [s]; compiling may hold up the program for a while."""


class Server:
    """What connects a session with browsers.

    Parameters
    ----------
    session : Session
    access : Access
    """

    def __init__(self, session: Session, access: Access):
        self.session = session
        allowed = f"{policy((*SCRIPTS, *LIVE_SCRIPTS))}; style-src 'unsafe-inline'"
        self.site = Site(access, {"": session.page().encode()}, self._talk, SILENCE, allowed)
        self._numbers = itertools.count(1)

    async def _talk(self, socket: ServerConnection) -> None:
        """Answer one page, question after question."""
        client = Client(next(self._numbers), socket)
        try:
            async for content in socket:
                if not client.admit():
                    client.drop("too many")
                    continue
                try:
                    message = object_in(content)
                    number = _number(message)
                    answer = await asyncio.to_thread(self.session.answer, message)
                except MessageError as error:
                    client.drop(str(error))
                    continue
                await socket.send(text("answer", **answer, id=number))
        except ConnectionClosed:
            pass


def _number(message: dict[str, Any]) -> int:
    number = message.get("id")
    if type(number) is not int:
        raise MessageError("id: expected a whole number")
    return number
