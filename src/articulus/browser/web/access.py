"""Who may talk to the server: address, origin and token of a request."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII)
"""A Host header: an IPv6 address in brackets, or a name or IPv4 address; a port may follow, nothing else."""


@dataclass(frozen=True)
class Access:
    """What a request must show.

    Parameters
    ----------
    host : str
        Address that the server listens on.
    token : str
        First part of every path; random if not given.
    """

    host: str = LOOPBACK[0]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK

    def refusal(
        self, path: str, host: str | None, origin: str | None, upgrade: bool
    ) -> tuple[int, str] | None:
        """Return status and reason for a request that is refused, None for one that is let in.

        Parameters
        ----------
        path : str
            Path of the request, with its query.
        host, origin : str or None
            Headers of the request.
        upgrade : bool
            Whether it asks for a WebSocket, which must state its origin.
        """
        if host is None or not self._is_own_host(host):
            return 421, "this server does not have that name"
        if origin is not None and origin != f"http://{host}":
            return 403, "this page may not talk to the machine"
        if upgrade and origin is None:
            return 403, "no origin"
        if not hmac.compare_digest(path.split("/")[1].encode() if "/" in path else b"", self.token.encode()):
            return 403, "the address holds no valid token: use the one that the program printed"
        return None

    def _is_own_host(self, host: str) -> bool:
        """Whether a Host header can be ours; a foreign name that leads here is an attack by DNS rebinding."""
        parts = _HOST.fullmatch(host)
        if parts is None:
            return False
        name = parts[1] or parts[2]
        if self.local:
            return name in LOOPBACK
        return name in (*LOOPBACK, self.host, socket.gethostname()) or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
