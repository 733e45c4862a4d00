"""A run played live to Foxglove over its websocket protocol, on this computer alone: the frames, shapes and signals of `run.save("x.mcap")`.

Protocol: foxglove.websocket.v1, the public specification of the ws-protocol repository: channels are advertised, clients subscribe, messages
are binary (opcode 1, subscription, time in nanoseconds, content).
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import dataclasses
import itertools
import json
import math
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np

import articulus
from articulus.bridges.extra import require
from articulus.bridges.mcap import _Log
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, UnsupportedOperation
from articulus.simulation.results.run import Run
from articulus.simulation.running.runner import CHUNK_SECONDS
from articulus.simulation.running.watching import RunPart, watched

PROTOCOLS = ("foxglove.sdk.v1", "foxglove.websocket.v1")
HOST = "127.0.0.1"
ORIGINS = ("https://app.foxglove.dev", "https://studio.foxglove.dev")
"""Web pages of other computers that may listen; pages of this one, and programs that are no page, may too."""
OWN = ("localhost", "127.0.0.1")
MOST_HEARD = 1 << 20
"""Bytes of a message of a listener."""
MOST_WAITING = 1000
"""Messages that wait for a listener who is slow; the oldest are dropped then."""
FRAMES = 60.0
"""Samples that are sent in a second of a run that is not held up."""
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
    origins : sequence of str
        Addresses of web pages that may listen besides Foxglove's own and those of this computer, such as "https://foxglove.example.org".

    Attributes
    ----------
    dropped : int
        Messages that listeners who were too slow did not get.
    """

    def __init__(self, port: int = 8765, origins: Sequence[str] = ()):
        self.origins, self.dropped = (*ORIGINS, *origins), 0
        self._websockets = require("websockets.asyncio.server", "articulus.bridges.foxglove", "view")
        self.port = port
        self._channels: list[dict[str, Any]] = []
        self._schemas: list[tuple[str, str]] = []
        self._last: dict[int, tuple[int, bytes]] = {}
        self._clients: dict[Any, _Listener] = {}
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
        began, start = time.monotonic(), time.time_ns()
        for at, _, channel, data in sorted(told.messages, key=lambda m: m[:2]):
            if not _wait(began + at / 1e9 / speed, until):
                return
            self._send(channel, start + round(at / speed), data)

    @contextlib.contextmanager
    def follow(self, speed: float | None = None) -> Iterator[None]:
        """Send every single run that is computed within a block, while it is computed: frames, shapes, joints, q and v.

        Parameters
        ----------
        speed : float
            1 holds the run up to real time, 2 to twice that. Not given: as fast as it is computed, with at most 60 samples a second.
        """
        if speed is not None and not speed > 0:
            raise InputError(
                f"foxglove: speed {speed!r}; expected a number above 0, or none: as fast as it is computed"
            )
        feed = LiveFeed(self, speed)
        with watched(feed.send):
            yield

    def _tell(self, part: RunPart, begin: float, start: int, speed: float, scene: bool) -> None:
        """Send all samples of a part at the times that they have in the log."""
        told = _Messages(self)
        known = len(self._channels)
        _Log(told).samples(part, begin, scene)
        if len(self._channels) > known:
            self._advertise()
        for at, _, channel, data in sorted(told.messages, key=lambda m: m[:2]):
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
            self._client,
            HOST,
            self.port,
            subprotocols=list(PROTOCOLS),
            process_request=self._refusal,
            max_size=MOST_HEARD,
        ) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            self._ready.set()
            await self._stop.wait()

    def _refusal(self, connection: Any, request: Any) -> Any:
        """Return the answer for a web page that may not listen, and for one that reached this computer by another name."""
        hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
        own = len(hosts) == 1 and urlsplit(f"//{hosts[0]}").hostname in OWN
        page = not origins or (len(origins) == 1 and self._welcome(origins[0]))
        return None if own and page else connection.respond(403, "This page may not listen to articulus.\n")

    def _welcome(self, origin: str) -> bool:
        """Whether pages of an origin may listen: none of another computer by default, but Foxglove's own."""
        try:
            place = urlsplit(origin)
            return (
                origin in self.origins
                or (place.scheme in ("http", "https") and place.hostname in OWN)
                or place.scheme == "file"
            )
        except ValueError:
            return False

    async def _client(self, connection: Any) -> None:
        listener = self._clients[connection] = _Listener()
        sending = asyncio.create_task(listener.send_to(connection))
        try:
            info = {
                "op": "serverInfo", "name": f"articulus {articulus.__version__}", "capabilities": [], "supportedEncodings": ["json"], "metadata": {},
                "sessionId": str(id(self)),
            }  # fmt: skip
            listener.tell(json.dumps(info))
            if self._channels:
                listener.tell(json.dumps({"op": "advertise", "channels": self._channels}))
            async for message in connection:
                self._heed(listener, message)
        finally:
            sending.cancel()
            del self._clients[connection]

    def _heed(self, listener: _Listener, message: Any) -> None:
        """Take a wish of a client; what is none is passed over, as the protocol says."""
        subscribed = listener.subscribed
        try:
            wish = json.loads(message)
            if wish["op"] == "subscribe":
                for each in wish["subscriptions"]:
                    channel, number = int(each["channelId"]), int(each["id"])
                    if 0 < channel <= len(self._channels) and 0 <= number < 1 << 32:
                        subscribed[channel] = number
                        if channel in self._last:
                            listener.tell(_binary(number, *self._last[channel]))
            elif wish["op"] == "unsubscribe":
                gone = set(map(int, wish["subscriptionIds"]))
                for channel in [c for c, number in subscribed.items() if number in gone]:
                    del subscribed[channel]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return

    def _advertise(self) -> None:
        message = json.dumps({"op": "advertise", "channels": self._channels})
        for listener in list(self._clients.values()):
            self._loop.call_soon_threadsafe(listener.tell, message)

    def _send(self, channel: int, at: int, data: bytes) -> None:
        lasting = self._channels[channel - 1]["topic"] in STATE
        if lasting:
            self._last[channel] = at, data
        for listener in list(self._clients.values()):
            number = listener.subscribed.get(channel)
            if number is None:
                continue
            if lasting:
                self._loop.call_soon_threadsafe(listener.tell, _binary(number, at, data))
            elif len(listener.waiting) >= MOST_WAITING:
                self.dropped += 1
                listener.waiting.popleft()
                listener.waiting.append(_binary(number, at, data))
            else:
                listener.waiting.append(_binary(number, at, data))
                self._loop.call_soon_threadsafe(listener.fresh.set)


class LiveFeed:
    """Samples sent to a player as they come; those of another mechanism, or that begin again, are another run.

    Parameters
    ----------
    player : LivePlayer
    speed : float
        As in `LivePlayer.follow`.
    """

    def __init__(self, player: LivePlayer, speed: float | None = None):
        self.player, self.speed = player, speed
        self._mechanism: Mechanism | None = None
        self._begin = self._end = self._began = 0.0
        self._start = 0

    def send(self, part: RunPart) -> None:
        """Send the samples of a part."""
        if not len(part.t):
            return
        fresh = part.mechanism is not self._mechanism or part.t[0] < self._end
        if fresh:
            self._mechanism, self._begin = part.mechanism, float(part.t[0])
            self._began, self._start = time.monotonic(), time.time_ns()
        self._end = float(part.t[-1])
        for k, scene in zip(self._choose(part.t), itertools.chain([fresh], itertools.repeat(False))):
            one = slice(k, k + 1)
            signals = {n: dataclasses.replace(s, values=s.values[one]) for n, s in part.signals.items()}
            if self.speed is not None:
                _wait(self._began + (part.t[k] - self._begin) / self.speed)
            sample = RunPart(part.mechanism, part.t[one], part.q[one], signals)
            self.player._tell(sample, self._begin, self._start, self.speed or 1.0, scene)

    @contextlib.contextmanager
    def polling(self, read: Callable[[], RunPart]) -> Iterator[None]:
        """Send what a function returns 60 times a second, from a thread of its own, within a block."""
        done = threading.Event()

        def work() -> None:
            while not done.wait(1 / FRAMES):
                part = read()
                if part.t[0] != self._end:
                    self.send(part)

        thread = threading.Thread(target=work, daemon=True, name="articulus-foxglove-feed")
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(WAIT)

    def _choose(self, t: np.ndarray) -> Iterator[int]:
        """Yield which samples are sent: no more than a listener can see, and the first."""
        spacing = (
            (self.speed or 1.0) / FRAMES
            if self.speed is not None
            else float(t[-1] - t[0]) / (CHUNK_SECONDS * FRAMES)
        )
        due = -math.inf
        for k, at in enumerate(t):
            if at >= due:
                yield k
                due = at + spacing * (1 - 1e-9)


class _Listener:
    """Someone who is connected: what it wants, and what waits for it."""

    def __init__(self) -> None:
        self.subscribed: dict[int, int] = {}
        self.told: collections.deque[str | bytes] = collections.deque()
        self.waiting: collections.deque[bytes] = collections.deque()
        self.fresh = asyncio.Event()

    def tell(self, message: str | bytes) -> None:
        """Let a message that must not be lost wait; in the server's thread."""
        self.told.append(message)
        if len(self.told) > MOST_WAITING:  # it never reads
            self.told.popleft()
        self.fresh.set()

    async def send_to(self, connection: Any) -> None:
        """Send what waits, first what must not be lost."""
        closed = require("websockets.exceptions", "articulus.bridges.foxglove", "view").ConnectionClosed
        with contextlib.suppress(OSError, closed):
            while True:
                await self.fresh.wait()
                self.fresh.clear()
                for queue in (self.told, self.waiting):
                    while queue:
                        await connection.send(queue.popleft())


def _wait(due: float, until: Callable[[], bool] = lambda: False) -> bool:
    """Wait until a time of the monotonic clock; return False as soon as `until` says so."""
    while not until():
        ahead = due - time.monotonic()
        if ahead <= 0:
            return True
        time.sleep(min(ahead, 0.05))
    return False


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


def _binary(subscription: int, at: int, data: bytes) -> bytes:
    return struct.pack("<BIQ", 1, subscription, at) + data
