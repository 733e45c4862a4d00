"""One page that is open somewhere, and how much it may send."""

from __future__ import annotations

import logging
import time

from websockets.asyncio.server import ServerConnection

log = logging.getLogger("articulus.browser")

RATE, BURST = 200.0, 400.0
"""Messages of one client in a second, and at once, beyond which they are dropped."""


class Client:
    """One page that is open somewhere.

    Parameters
    ----------
    number : int
    socket : ServerConnection
    """

    def __init__(self, number: int, socket: ServerConnection):
        self.number, self.socket = number, socket
        self._left, self._at = BURST, time.monotonic()
        self._dropped, self._told = 0, 0.0

    def admit(self) -> bool:
        """Whether another message of this client is within its rate."""
        now = time.monotonic()
        self._left, self._at = min(BURST, self._left + (now - self._at) * RATE), now
        self._left -= 1
        if self._left < 0:
            self._left = 0.0
            return False
        return True

    def drop(self, why: str) -> None:
        """Note a message that is dropped; the log gets at most one line per second."""
        self._dropped += 1
        if time.monotonic() - self._told > 1.0:
            log.warning("client %d: dropped %d message(s): %s", self.number, self._dropped, why)
            self._dropped, self._told = 0, time.monotonic()
