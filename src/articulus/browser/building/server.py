"""The server of the page on which a model is built."""

from __future__ import annotations

import asyncio
from typing import Any

from articulus.browser.building.session import BuildSession
from articulus.browser.export import BUILD_SCRIPTS
from articulus.browser.viewer.server import LOOK, ViewerServer
from articulus.browser.viewer.source import Source
from articulus.browser.web import Access

CHANGES = ("edit", "undo", "redo", "text", "open", "save", "reload")


class BuildServer(ViewerServer):
    """What connects a model that is built with browsers.

    Parameters
    ----------
    session : BuildSession
    access : Access
    """

    scripts = BUILD_SCRIPTS
    long = ("open", "text")

    def __init__(self, session: BuildSession, access: Access):
        self.built = session
        super().__init__(session, access, Source(paths=() if session.path is None else (session.path,)))

    def _find_file(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.built.answer(message)

    async def _respond(self, message: dict[str, Any]) -> None:
        if message.get("do") in CHANGES:
            await self._tell("changed", number=self.built.document.number)

    async def watch(self) -> None:
        """Take over what an editor writes to the file, until this is cancelled."""
        before = self.source.stamp()
        seen = before
        while True:
            await asyncio.sleep(LOOK)
            now = self.source.stamp()
            if now != seen and now == before and await asyncio.to_thread(self.built.look_at_file):
                await self._tell("changed", number=self.built.document.number)
            seen, before = (now if now == before else seen), now
