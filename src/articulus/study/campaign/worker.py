"""A worker process: `python -m articulus.study.campaign.worker`. Reads chunks from its input, writes rows to its output.

Input: one line with the order, then a line "first count" for each chunk. Output: frames of 8 bytes with a length and so many bytes;
the first frame is the machine, which the driver compares with its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from typing import BinaryIO


def main() -> None:
    """Work until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's
    _die_with_parent()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what code prints must not get among the frames
    _limit_memory()
    from articulus.study.campaign.encoding import encode, read_order
    from articulus.study.campaign.machine import machine
    from articulus.study.campaign.work import attempt

    _send(out, json.dumps(machine()).encode())
    campaign, scale = read_order(sys.stdin.readline())
    for line in sys.stdin:
        first, count = map(int, line.split())
        _send(out, encode(attempt(campaign, (first, count), scale)))


def _send(out: BinaryIO, content: bytes) -> None:
    out.write(len(content).to_bytes(8, "little") + content)
    out.flush()


def _die_with_parent() -> None:
    """Ask the system to end this process with the driver (Linux); elsewhere it ends when its input does."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == 1:
            os._exit(1)


def _limit_memory() -> None:
    """Let memory beyond the limit of ARTICULUS_WORKER_MEMORY [bytes] be refused, before the system ends other processes."""
    text = os.environ.get("ARTICULUS_WORKER_MEMORY", "")
    if text.isdigit():
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = int(text) if hard == resource.RLIM_INFINITY else min(int(text), hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


if __name__ == "__main__":
    main()
