"""A client of `articulus serve` in shared memory, in plain Python: proportional and derivative feedback.

Start `articulus serve two_link --rate 1000 --shared /dev/shm/arm` in another window, then this file: python shared.py /dev/shm/arm
"""

import json
import mmap
import struct
import sys
import time

MAGIC, VALUES = b"ATCM", 80


def connect(path: str) -> tuple[mmap.mmap, dict]:
    """Return the shared memory, and the server's description."""
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    if memory[:8] != MAGIC + struct.pack("<I", 1):
        raise SystemExit(f"{path} is not shared memory of articulus serve")
    at, size = struct.unpack_from("<II", memory, 72)
    return memory, json.loads(memory[at : at + size])


def state(
    memory: mmap.mmap, after: int = -1, patience: float = 2.0
) -> tuple[int, float, int, tuple[float, ...]]:
    """Return tick, time [s], flags and values of a state later than a tick."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        (before,) = struct.unpack_from("<Q", memory, 8)
        tick, seconds, _, flags, count = struct.unpack_from("<QdQII", memory, 16)
        values = struct.unpack_from(f"<{count}d", memory, VALUES)
        if before and before % 2 == 0 and struct.unpack_from("<Q", memory, 8)[0] == before and tick > after:
            return tick, seconds, flags, values
        time.sleep(1e-4)
    raise SystemExit("the server is silent")


def command(memory: mmap.mmap, number: int, values: list[float]) -> None:
    """Write commands: the sequence is odd meanwhile."""
    count, at = struct.unpack_from("<II", memory, 64)
    sequence = struct.unpack_from("<Q", memory, 48)[0] | 1
    struct.pack_into("<Q", memory, 48, sequence)
    struct.pack_into("<Q", memory, 56, number)
    struct.pack_into(f"<{count}d", memory, at, *values)
    struct.pack_into("<Q", memory, 48, sequence + 1)


if __name__ == "__main__":
    memory, told = connect(sys.argv[1] if len(sys.argv) > 1 else "/dev/shm/arm")
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    n = len(told["commands"])
    tick, _, _, first = state(memory)
    for k in range(1, wanted + 1):
        tick, seconds, flags, values = state(memory, tick)
        q, v = values[:n], values[n : 2 * n]
        command(memory, k, [100 * (a - b) - 20 * c for a, b, c in zip(first, q, v)])
    print(
        f"tick {tick}, t = {seconds:.3f} s, flags {flags}, off by",
        [round(a - b, 6) for a, b in zip(q, first)],
    )
