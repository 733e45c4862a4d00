"""A few files in memory and one WebSocket, on one port."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from importlib.resources.abc import Traversable
from pathlib import PurePath

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from articulus.browser.web.access import Access
from articulus.errors import InputError

log = logging.getLogger("articulus.browser")

CLOSE = 65_536
"""Size of a message whose sender is disconnected, if nothing else is said [bytes]."""
MOST_CLIENTS = 16
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
"""What a page may load where it has no policy of its own."""
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

Talk = Callable[[ServerConnection], Awaitable[None]]


class Site:
    """What is served behind one address.

    Parameters
    ----------
    access : Access
    pages : dict of name in the address to content
        Texts or bytes; the name "" is the page itself. The ending of a name says what it is.
    talk : coroutine function
        What happens with a page that has connected.
    silence : float [s]
        After which a page that does not answer counts as gone.
    policy : str
        Content-Security-Policy of every answer.
    largest : int
        Size of a message whose sender is disconnected [bytes].
    """

    def __init__(
        self,
        access: Access,
        pages: Mapping[str, bytes],
        talk: Talk,
        silence: float,
        policy: str = POLICY,
        largest: int = CLOSE,
    ):
        self.access, self.pages, self.policy, self.largest = access, pages, policy, largest
        self.url = ""
        self.open = 0
        self._talk, self._silence = talk, silence

    async def start(self, port: int) -> Server:
        """Listen, and return the server; port 0 takes any free one.

        Raises
        ------
        InputError
            The port is taken, or the address is not one of this machine.
        """
        try:
            server = await serve(
                self._count,
                self.access.host,
                port,
                process_request=self._request,
                compression=None,
                max_size=self.largest,
                ping_interval=0.5 * self._silence,
                ping_timeout=0.5 * self._silence,
                server_header=None,
            )
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(
                f"cannot listen on {self.access.host}:{port}: {why}; expected a free port, see --port"
            ) from None
        found = next(iter(server.sockets)).getsockname()[1]
        name = f"[{self.access.host}]" if ":" in self.access.host else self.access.host
        self.url = f"http://{name}:{found}/{self.access.token}/"
        return server

    async def _count(self, socket: ServerConnection) -> None:
        self.open += 1
        try:
            await self._talk(socket)
        finally:
            self.open -= 1

    def _request(self, _: ServerConnection, request: Request) -> Response | None:
        """Return a file, a refusal, or nothing for a WebSocket that may open."""
        upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
        hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
        if len(hosts) > 1 or len(origins) > 1:
            return self._response(400, b"a header was given twice")
        host, origin = next(iter(hosts), None), next(iter(origins), None)
        refused = self.access.refusal(request.path, host, origin, upgrade)
        if refused:
            log.warning("refused: %s (host %.80r, origin %.80r)", refused[1], host, origin)
            return self._response(refused[0], refused[1].encode())
        name = request.path.partition("?")[0].split("/", 2)[2:]
        if upgrade and name == ["socket"]:
            return None if self.open < MOST_CLIENTS else self._response(503, b"too many clients")
        found = self.pages.get(name[0]) if name and not upgrade else None
        if found is None:
            return self._response(404, b"no such page")
        return self._response(200, found, KINDS[PurePath(name[0] or "index.html").suffix])

    def _response(self, status: int, content: bytes, kind: str = "text/plain") -> Response:
        headers = Headers({**HEADERS, "Content-Security-Policy": self.policy, "Connection": "close"})
        headers["Content-Type"] = f"{kind}; charset=utf-8"
        headers["Content-Length"] = str(len(content))
        return Response(status, HTTPStatus(status).phrase, headers, content)


def contents(*sources: Traversable) -> dict[str, bytes]:
    """Return files by their names; "index.html" also as the page itself."""
    found = {s.name: s.read_bytes() for s in sources}
    return found | ({"": found["index.html"]} if "index.html" in found else {})
