"""States and commands of `articulus serve` in memory that programs on this computer share: a file that they map, such as one in /dev/shm.

Little-endian; every number is aligned to its size. Offsets in bytes:

    0   "ATCM", uint32 version, 1
    8   uint64 sequence of the state: odd while the server writes
    16  uint64 tick; 24 float64 time [s]; 32 uint64 number of the last command heard; 40 uint32 flags; 44 uint32 count of values
    48  uint64 sequence of the commands: odd while the client writes, even and another one when it has written
    56  uint64 number of the commands; 64 uint32 count of commands; 68 uint32 offset of the commands
    72  uint32 offset of the description (JSON), 76 uint32 its length
    80  float64 values; then float64 commands; then the description

Who reads takes the sequence, copies, and takes the sequence again: the copy holds if both are the same even number. One client commands.
Processors have to keep the order of stores, as those of the x86 family do; on others a server refuses, and UDP serves.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import platform
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError, UnsupportedOperation
from articulus.model.files.storage import StrPath

MAGIC, VERSION = b"ATCM", 1
STATE_SEQUENCE, COMMAND_SEQUENCE, COMMAND_NUMBER, VALUES = 8, 48, 56, 80
STATE = struct.Struct("<QdQI")
WORD = struct.Struct("<Q")
ORDERED = ("x86_64", "amd64", "i686", "i386")


class SharedStates:
    """A file that a server and programs beside it map.

    Parameters
    ----------
    path : path
        That does not exist yet; for this user alone, removed by `close`.
    description : dict
        What clients of UDP are told.
    values, commands : int
        How many.
    """

    def __init__(self, path: StrPath, description: Mapping[str, Any], values: int, commands: int):
        if platform.machine().lower() not in ORDERED:
            raise UnsupportedOperation(
                f"serve: shared memory on {platform.machine()}; expected a processor of the x86 family, which keeps the order of stores, or UDP"
            )
        self.path = Path(path)
        told = json.dumps(description).encode()
        own, text = VALUES + 8 * values, VALUES + 8 * (values + commands)
        head = bytearray(text) + told
        struct.pack_into("<4sI", head, 0, MAGIC, VERSION)
        struct.pack_into("<I", head, 44, values)
        struct.pack_into("<IIII", head, 64, commands, own, text, len(told))
        try:
            number = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600
            )
        except OSError as error:
            raise InputError(
                f"serve: shared memory {self.path} cannot be made: {error.strerror}; expected a path that does not exist, such as "
                "/dev/shm/arm. Did a server end without removing it?"
            ) from None
        try:
            os.write(number, head)
            self._map = mmap.mmap(number, len(head))
        finally:
            os.close(number)
        self._values = np.frombuffer(self._map, "<f8", values, VALUES)
        self._commands = np.frombuffer(self._map, "<f8", commands, own)
        self._sequence = self._heard = 0

    def tell(self, tick: int, time: float, heard: int, flags: int, values: np.ndarray) -> None:
        """Write a state."""
        self._sequence += 1
        WORD.pack_into(self._map, STATE_SEQUENCE, self._sequence)
        STATE.pack_into(self._map, STATE_SEQUENCE + 8, tick, time, heard, flags)
        self._values[:] = values
        self._sequence += 1
        WORD.pack_into(self._map, STATE_SEQUENCE, self._sequence)

    def commands(self) -> tuple[int, np.ndarray] | None:
        """Return number and values of commands that are new and whole."""
        before = WORD.unpack_from(self._map, COMMAND_SEQUENCE)[0]
        if before == self._heard or before % 2:
            return None
        number, values = WORD.unpack_from(self._map, COMMAND_NUMBER)[0], self._commands.copy()
        if WORD.unpack_from(self._map, COMMAND_SEQUENCE)[0] != before:
            return None
        self._heard = before
        return number, values

    def close(self) -> None:
        """Remove the file; programs that have mapped it keep what it held."""
        del self._values, self._commands
        self._map.close()
        with contextlib.suppress(OSError):
            self.path.unlink()
