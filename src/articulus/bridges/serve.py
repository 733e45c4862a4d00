"""A loop at a fixed rate for hardware and programs beside it: states out, commands in, over UDP on this computer, with a watchdog.

Packets are little-endian without padding. The first four bytes say what they are:

    ATCH  client  hello: the server answers with ATCD and sends states to this address for `KEEP` seconds; commands renew that
    ATCD  server  description: the rest is JSON: names, units, rate, tick
    ATCC  client  uint64 number of the packet, then float64 commands, as many as the description names
    ATCS  server  uint64 tick, float64 time [s], uint64 number of the last command heard, uint32 flags, uint32 count, float64 values

Flags: 1 the watchdog holds the safe commands; 2 the last tick began late by more than a period; 4 the run failed and stands still.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.bridges.shared import SharedStates
from articulus.bridges.stepped import stepped
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.kernel.recurrence import NEVER
from articulus.model.files.storage import StrPath
from articulus.simulation.loop.functions import native
from articulus.simulation.running import Loop

HOST = "127.0.0.1"
HELLO, DESCRIPTION, COMMAND, STATE = b"ATCH", b"ATCD", b"ATCC", b"ATCS"
COMMAND_HEAD, STATE_HEAD = struct.Struct("<4sQ"), struct.Struct("<4sQdQII")
UNCOMMANDED, LATE, FAILED = 1, 2, 4
KEEP = 5.0
"""Seconds for which a client that is silent still gets states."""
MOST_CLIENTS = 16
LARGEST = 65_000
"""Bytes of a packet."""
SPIN = 150e-6
"""Seconds before a tick in which the server waits awake: sleeping may last longer than asked."""
TICKS = 1_000_000
"""Ticks whose times are kept, the last ones."""


@dataclass(eq=False)
class DeadlineStatistics:
    """How the ticks of a server kept their times.

    Attributes
    ----------
    ticks, late, uncommanded, heard, refused : int
        Ticks; those that began late by more than a period; those under the watchdog; command packets taken, and packets that were none.
    work, delay : list of float [s]
        Work and delay of each tick: time that it took, and by how much it began late.
    """

    ticks: int = 0
    late: int = 0
    uncommanded: int = 0
    heard: int = 0
    refused: int = 0
    work: list[float] = field(default_factory=list)
    delay: list[float] = field(default_factory=list)

    def add(self, work: float, delay: float) -> None:
        """Note a tick."""
        self.ticks += 1
        for held, value in ((self.work, work), (self.delay, delay)):
            held.append(value)
            if len(held) > TICKS:
                del held[: TICKS // 2]

    def figures(self) -> list[tuple[str, str]]:
        """Return what to tell, as (name, text)."""
        rows = [
            ("ticks", f"{self.ticks}, {self.late} of them began late by more than a period"),
            ("under the watchdog", f"{self.uncommanded} ticks"),
            ("commands heard", f"{self.heard}; {self.refused} packets refused"),
        ]
        if self.work:
            for name, held in (("time of a tick", self.work), ("began late by", self.delay)):
                half, most, worst = 1e6 * np.quantile(held, [0.5, 0.999, 1.0])
                rows.append(
                    (name, f"half within {half:.1f} us, 99.9 % within {most:.1f} us, worst {worst:.1f} us")
                )
        return rows


class Server:
    """A loop that runs in real time and speaks with clients on this computer.

    Parameters
    ----------
    loop : Loop or Mechanism
        Without a Python controller. Commands that come in are added to its own.
    rate : float [1/s]
        Ticks per second: states are sent, commands taken.
    step : float [s]
        Step of the method; a tick is a whole number of steps. A tick if not given.
    q0, v0, params, method :
        As those of `simulate`; a method of fixed steps.
    outputs : sequence of str
        Signals that are sent; "q" and "v" if not given.
    port : int
        Of UDP; 0: any that is free, `server.port` says which.
    watchdog : float [s]
        Without a command for so long the safe commands hold.
    safe : sequence of float
        Commands while nobody commands; zeros if not given.
    shared : path
        Of a file that is shared memory for programs beside this one, as well as UDP; see `articulus.bridges.shared`.
    """

    def __init__(
        self,
        loop: Any,
        rate: float = 1000.0,
        *,
        step: float | None = None,
        q0: Any = None,
        v0: Any = None,
        params: Mapping[str, float] | None = None,
        method: str = "rk4",
        outputs: Sequence[str] = ("q", "v"),
        port: int = 0,
        watchdog: float = 0.1,
        safe: Sequence[float] | None = None,
        shared: StrPath | None = None,
    ):
        if not (rate > 0 and math.isfinite(rate)):
            raise InputError(f"serve: rate {rate!r}; expected a number above 0")
        if not watchdog > 0:
            raise InputError(f"serve: watchdog {watchdog!r} s; expected a time above 0")
        held = Loop(loop, components=loop.components(limits=True)) if isinstance(loop, Mechanism) else loop
        self.rate, self.period, self.watchdog = rate, 1.0 / rate, watchdog
        step = self.period if step is None else step
        if not (step > 0 and math.isfinite(step)):
            raise InputError(f"serve: step {step!r} s; expected a number above 0, or none: a tick")
        self._frames = round(self.period / step)
        if self._frames < 1 or abs(self._frames * step / self.period - 1) > 1e-9:
            raise InputError(
                f"serve: a tick of {self.period:g} s and steps of {step:g} s; expected a whole number of steps in a tick"
            )
        one = stepped(
            held, q0, v0, step=step, method=method, params=params, outputs=tuple(outputs), what="serve"
        )
        self._one, engine, system = one, one.engine, one.system
        self.commands = tuple(e.name.removeprefix("command.") for e in one.inputs)
        self._places = np.array([2 + e.place for e in one.inputs], dtype=int)
        try:
            self.safe = np.zeros(len(self.commands)) if safe is None else np.array(safe, dtype=float)
        except (TypeError, ValueError):
            self.safe = np.full(len(self.commands), math.nan)
        if self.safe.shape != (len(self.commands),) or not np.isfinite(self.safe).all():
            raise InputError(
                f"serve: safe commands {safe!r}; expected {len(self.commands)} finite numbers, for {', '.join(self.commands)}"
            )
        signals = {s.name: s for s in one.outputs}
        self._names = [str(name) for name in outputs]
        self._others = [name for name in self._names if name not in ("q", "v")]
        self._report = native(system.reporting(self._others)) if self._others else None
        self.columns = tuple(c for name in self._names for c in signals[name].columns)
        self.units = tuple(u for name in self._names for u in signals[name].units)
        self.tick = 0
        told = 64 + len(json.dumps(self.description()))  # the tick may have more digits later
        if max(STATE_HEAD.size + 8 * len(self.columns), told) > LARGEST:
            raise InputError(
                f"serve: {len(self.columns)} values, with names and units of {told} bytes; expected packets of at most {LARGEST}: those of fewer outputs"
            )
        self._x = np.concatenate([one.c0, one.d0])[None].copy()
        self._p = np.concatenate([[0.0, step], one.p0])[None].copy()
        self._failed = np.full(1, NEVER)
        self._log = np.zeros((1, 2, engine.logged))
        engine.prepare(1)
        self._march = None if system.nw else self._passage(0, 1 << 50)
        self._step = step
        self._heard, self._last_heard = 0, -math.inf
        self._clients: dict[tuple[str, int], float] = {}
        self.statistics = DeadlineStatistics()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind((HOST, port))
        except (OSError, OverflowError, TypeError) as error:
            self._socket.close()
            raise InputError(
                f"serve: port {port!r} cannot be used: {error}; expected a free one, or 0"
            ) from None
        self.port = self._socket.getsockname()[1]
        self._shared: SharedStates | None = None
        if shared is not None:
            try:
                self._shared = SharedStates(shared, self.description(), len(self.columns), len(self.commands))
            except BaseException:
                self._socket.close()
                raise

    def close(self) -> None:
        """Give the port back, and remove the shared memory."""
        self._socket.close()
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def run(
        self, duration: float = math.inf, until: Callable[[], bool] = lambda: False
    ) -> DeadlineStatistics:
        """Serve for a time [s], or until `until` says so; return how the ticks kept their times."""
        began = time.monotonic()
        count = 0
        while not until() and count * self.period < duration:
            due = began + count * self.period
            _wait(due)
            now = time.monotonic()
            delay = now - due
            late = delay > self.period
            if late:  # what is lost is not made up for: the plant would run faster than time
                self.statistics.late += 1
                began += delay
            self._tick(now, late)
            self.statistics.add(time.monotonic() - now, delay)
            count += 1
        return self.statistics

    def _tick(self, now: float, late: bool) -> None:
        commands = self._listen(now)
        uncommanded = now - self._last_heard > self.watchdog
        if uncommanded:
            self._p[0, self._places] = self.safe
            self.statistics.uncommanded += 1
        elif commands is not None:
            self._p[0, self._places] = commands
        self._tell(now, UNCOMMANDED * uncommanded | LATE * late | FAILED * bool(self._failed[0] >= 0))
        if self._failed[0] < 0:
            first = self.tick * self._frames
            march = self._march or self._passage(first)
            march(first, first + self._frames)
        self.tick += 1

    def _passage(self, first: int, steps: int = 0) -> Callable[[int, int], None]:
        """Return the march from a step on; without noise one serves for all steps."""
        w = np.zeros((1, steps or self._frames, self._one.system.nw))
        return self._one.engine.on(self._x, self._p, w, self._failed, self._log, first=first, every=1 << 60)

    def _listen(self, now: float) -> np.ndarray | None:
        """Return the last command that came in, if one did."""
        found = None
        for _ in range(1000):  # a flood must not stop the clock
            try:
                data, address = self._socket.recvfrom(LARGEST)
            except BlockingIOError:
                break
            except OSError:  # a client that is gone
                continue
            kind = data[:4]
            if kind == HELLO:
                self._keep(address, now)
                self._send(DESCRIPTION + json.dumps(self.description()).encode(), address)
            elif kind == COMMAND and len(data) == COMMAND_HEAD.size + 8 * len(self.commands):
                values = np.frombuffer(data, "<f8", offset=COMMAND_HEAD.size)
                if self._take(COMMAND_HEAD.unpack_from(data)[1], values, now):
                    self._keep(address, now)
                    found = values
            else:
                self.statistics.refused += 1
        new = self._shared.commands() if self._shared is not None else None
        return new[1] if new is not None and self._take(*new, now) else found

    def _take(self, number: int, values: np.ndarray, now: float) -> bool:
        """Note commands that came in; return whether they are numbers."""
        if not np.isfinite(values).all():
            self.statistics.refused += 1
            return False
        self._heard, self._last_heard = number, now
        self.statistics.heard += 1
        return True

    def _keep(self, address: tuple[str, int], now: float) -> None:
        if address in self._clients or len(self._clients) < MOST_CLIENTS:
            self._clients[address] = now

    def _tell(self, now: float, flags: int) -> None:
        for address in [a for a, seen in self._clients.items() if now - seen > KEEP]:
            del self._clients[address]
        if not self._clients and self._shared is None:
            return
        values = self.values()
        if self._shared is not None:
            self._shared.tell(self.tick, self.tick * self.period, self._heard, int(flags), values)
        head = STATE_HEAD.pack(
            STATE, self.tick, self.tick * self.period, self._heard, int(flags), len(values)
        )
        packet = head + values.astype("<f8").tobytes()
        for address in self._clients:
            self._send(packet, address)

    def _send(self, packet: bytes, address: tuple[str, int]) -> None:
        with contextlib.suppress(OSError):  # its buffer is full, or it is gone
            self._socket.sendto(packet, address)

    def values(self) -> np.ndarray:
        """Return what is sent now."""
        system = self._one.system
        c, d = self._x[0, : system.nc], self._x[0, system.nc : system.nc + system.nd]
        found = {name: c[system.places[name]] for name in "qv"}
        if self._report is not None:
            reported = self._report(
                c, d, self._p[0, 2:], np.zeros(system.nw), self.tick * self.period, self._step
            )
            found |= dict(zip(self._others, reported if len(self._others) > 1 else (reported,)))
        return np.concatenate([np.ravel(found[name]) for name in self._names])

    def description(self) -> dict[str, Any]:
        """Return what clients are told."""
        return {
            "mechanism": self._one.loop.mechanism.name, "rate": self.rate, "commands": self.commands, "columns": self.columns, "units": self.units,
            "watchdog": self.watchdog, "tick": self.tick,
        }  # fmt: skip


def _wait(due: float) -> None:
    """Wait until a time of the monotonic clock: asleep, and awake at the end."""
    left = due - time.monotonic() - SPIN
    if left > 0:
        time.sleep(left)
    while time.monotonic() < due:
        pass
