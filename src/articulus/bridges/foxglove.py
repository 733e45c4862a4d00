"""A run played live to Foxglove over its websocket protocol, on this computer alone: the frames, shapes and signals of `run.save("x.mcap")`.

Protocol: foxglove.websocket.v1, the public specification of the ws-protocol repository: channels are advertised, clients subscribe, messages
are binary (opcode 1, subscription, time in nanoseconds, content).
"""

from __future__ import annotations

import asyncio
import json
import struct
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import articulus
from articulus.bridges.extra import require
from articulus.bridges.mcap import _Log
from articulus.errors import InputError, UnsupportedOperation
from articulus.simulation.results.run import Run

PROTOCOLS = ("foxglove.sdk.v1", "foxglove.websocket.v1")
HOST = "127.0.0.1"
STATE = ("/scene",)
"""Topics whose last message a late subscriber still needs."""
WAIT = 10.0
"""Seconds within which the server has to listen."""


class LivePlayer:
    """Plays runs to whoever listens on ws://localhost:port; a context manager.

    Parameters
    ----------
    port : int
        0: any that is free; `player.port` says which.
    """

    def __init__(self, port: int = 8765):
        self._websockets = require("websockets.asyncio.server", "articulus.bridges.foxglove", "view")
        self.port = port
        self._channels: list[dict[str, Any]] = []
        self._schemas: list[tuple[str, str]] = []
        self._last: dict[int, tuple[int, bytes]] = {}
        self._clients: dict[Any, dict[int, int]] = {}
        self._ready = threading.Event()
        self._error: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="articulus-foxglove")

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(WAIT) or self._error is not None:
            raise UnsupportedOperation(
                f"foxglove: port {self.port} of this computer cannot be listened on: {self._error}; expected one that is free, such as 0"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(WAIT)

    @property
    def listeners(self) -> int:
        """Number of programs that are connected."""
        return len(self._clients)

    def play(self, run: Run, speed: float = 1.0, until: Callable[[], bool] = lambda: False) -> None:
        """Send a single run in real time, `speed` times as fast; return when it is over or `until` says so."""
        if run.batch is not None:
            raise InputError("foxglove: found a batch of runs; expected one run, such as run.single(0)")
        if not speed > 0:
            raise InputError(f"foxglove: speed {speed!r}; expected a number above 0")
        told = _Messages(self)
        _Log(told).write(run)
        self._advertise()
        began = time.monotonic()
        start = time.time_ns()
        for at, _, channel, data in sorted(told.messages, key=lambda m: m[:2]):
            ahead = at / 1e9 / speed - (time.monotonic() - began)
            while ahead > 0 and not until():
                time.sleep(min(ahead, 0.05))
                ahead = at / 1e9 / speed - (time.monotonic() - began)
            if until():
                return
            self._send(channel, start + round(at / speed), data)

    # the server, in a thread of its own

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except (OSError, OverflowError, TypeError) as error:
            self._error = error
            self._ready.set()
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        async with self._websockets.serve(
            self._client, HOST, self.port, subprotocols=list(PROTOCOLS)
        ) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            self._ready.set()
            await self._stop.wait()

    async def _client(self, connection: Any) -> None:
        subscribed: dict[int, int] = {}
        self._clients[connection] = subscribed
        try:
            info = {
                "op": "serverInfo", "name": f"articulus {articulus.__version__}", "capabilities": [], "supportedEncodings": ["json"], "metadata": {},
                "sessionId": str(id(self)),
            }  # fmt: skip
            await connection.send(json.dumps(info))
            if self._channels:
                await connection.send(json.dumps({"op": "advertise", "channels": self._channels}))
            async for message in connection:
                await self._heed(connection, subscribed, message)
        finally:
            del self._clients[connection]

    async def _heed(self, connection: Any, subscribed: dict[int, int], message: Any) -> None:
        """Take a wish of a client; what is none is passed over, as the protocol says."""
        try:
            wish = json.loads(message)
            if wish["op"] == "subscribe":
                for each in wish["subscriptions"]:
                    channel, number = int(each["channelId"]), int(each["id"])
                    if 0 < channel <= len(self._channels) and 0 <= number < 1 << 32:
                        subscribed[channel] = number
                        if channel in self._last:
                            await connection.send(_binary(number, *self._last[channel]))
            elif wish["op"] == "unsubscribe":
                gone = set(map(int, wish["subscriptionIds"]))
                for channel in [c for c, number in subscribed.items() if number in gone]:
                    del subscribed[channel]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return

    def _advertise(self) -> None:
        message = json.dumps({"op": "advertise", "channels": self._channels})
        for connection in list(self._clients):
            asyncio.run_coroutine_threadsafe(_quietly(connection, message), self._loop)

    def _send(self, channel: int, at: int, data: bytes) -> None:
        if self._channels[channel - 1]["topic"] in STATE:
            self._last[channel] = at, data
        for connection, subscribed in list(self._clients.items()):
            if channel in subscribed:
                asyncio.run_coroutine_threadsafe(
                    _quietly(connection, _binary(subscribed[channel], at, data)), self._loop
                )


class _Messages:
    """What a writer of MCAP is told, kept to be sent."""

    def __init__(self, player: LivePlayer):
        self.player = player
        self.messages: list[tuple[int, int, int, bytes]] = []

    def register_schema(self, name: str, encoding: str, data: bytes) -> int:
        self.player._schemas.append((name, data.decode()))
        return len(self.player._schemas)

    def register_channel(self, topic: str, message_encoding: str, schema_id: int) -> int:
        channels = self.player._channels
        name, schema = self.player._schemas[schema_id - 1]
        for known in channels:
            if known["topic"] == topic and known["schema"] == schema:
                return int(known["id"])
        channels.append(
            {
                "id": len(channels) + 1, "topic": topic, "encoding": message_encoding, "schemaName": name, "schema": schema,
                "schemaEncoding": "jsonschema",
            }
        )  # fmt: skip
        return len(channels)

    def add_message(self, channel_id: int, log_time: int, publish_time: int, data: bytes) -> None:
        self.messages.append((log_time, len(self.messages), channel_id, data))

    def add_metadata(self, name: str, data: dict[str, str]) -> None:
        return


async def _quietly(connection: Any, message: Any) -> None:
    """Send, unless the other side has just gone."""
    try:
        await connection.send(message)
    except (OSError, require("websockets.exceptions", "articulus.bridges.foxglove", "view").ConnectionClosed):
        return


def _binary(subscription: int, at: int, data: bytes) -> bytes:
    return struct.pack("<BIQ", 1, subscription, at) + data
