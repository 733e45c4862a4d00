"""The page of a campaign and its WebSocket: every second what is new."""

from __future__ import annotations

import asyncio
import contextlib
from importlib.resources import files

from articulus.browser.web import Access, text
from articulus.browser.web.serving import Serving
from articulus.errors import InputError
from articulus.model.files.storage import StrPath
from articulus.study.campaign.page.watch import Watch

try:
    from websockets.asyncio.server import ServerConnection, broadcast
    from websockets.exceptions import ConnectionClosed

    from articulus.browser.web.site import Site, contents
except ImportError:
    raise InputError(
        "campaign page: the package websockets is not installed; expected the extra `view`: pip install 'articulus[view]'"
    ) from None

PERIOD = 1.0
"""Time from one look at the folder to the next [s]."""
SILENCE = 60.0
"""Time after which a page that does not answer counts as gone [s]."""


def pages() -> dict[str, bytes]:
    """Return every file that is served, by its name in the address."""
    own = files("articulus.study.campaign.page") / "assets"
    shared = files("articulus.browser") / "assets" / "numbers.js"
    look = files("articulus.study.report") / "style.css"
    return contents(*(own / n for n in ("index.html", "page.css", "page.js", "drawing.js")), shared, look)


class CampaignPage(Serving):
    """The page of a campaign, served by a thread of its own until it is closed.

    Parameters
    ----------
    folder : path
        That of the campaign; it may be there only later.
    access : Access
        Who may look; this machine if not given.
    port : int
        0 takes any free one.
    inside : bool
        Whether the campaign is run by this process.
    owner : object
        Kept as long as the page: results of a campaign that leaves nothing behind take their folder with them.
    """

    def __init__(
        self,
        folder: StrPath,
        access: Access | None = None,
        port: int = 0,
        *,
        inside: bool = False,
        owner: object = None,
    ):
        self._owner = owner
        self.watch = Watch(folder, inside)
        self._sockets: set[ServerConnection] = set()
        site = Site(access or Access(), pages(), self._talk, SILENCE)
        super().__init__(site, self.watch.folder.name, port, self._last)

    async def _talk(self, socket: ServerConnection) -> None:
        """Send what is new every second; what a page says is ignored."""
        seen = -1
        self._sockets.add(socket)
        with contextlib.suppress(ConnectionClosed):
            try:
                while True:
                    found = await asyncio.to_thread(self.watch.look, seen)
                    seen = found["version"]
                    await socket.send(text("state", **found))
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(socket.wait_closed(), PERIOD)
                        return
            finally:
                self._sockets.discard(socket)

    async def _last(self) -> None:
        """Send the last state to everybody."""
        if self._sockets:
            broadcast(self._sockets, text("state", **await asyncio.to_thread(self.watch.look)))
