"""A client of `articulus serve` in plain Python: the names of what it gets, and proportional and derivative feedback.

Start `articulus serve two_link --rate 1000` in another window, then this file.
"""

import json
import socket
import struct
import sys

HEAD = struct.Struct("<4sQdQII")


def connect(port: int = 47470) -> tuple[socket.socket, dict]:
    """Return a socket that gets states, and the server's description."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(2.0)
    link.connect(("127.0.0.1", port))
    link.send(b"ATCH")
    while True:
        data = link.recv(65_000)
        if data[:4] == b"ATCD":
            return link, json.loads(data[4:])


def state(link: socket.socket) -> tuple[int, float, int, tuple[float, ...]]:
    """Return tick, time [s], flags and values of the next state."""
    while True:
        data = link.recv(65_000)
        if data[:4] == b"ATCS":
            _, tick, time, _, flags, count = HEAD.unpack_from(data)
            return tick, time, flags, struct.unpack_from(f"<{count}d", data, HEAD.size)


def command(link: socket.socket, number: int, values: list[float]) -> None:
    """Send commands."""
    link.send(struct.pack(f"<4sQ{len(values)}d", b"ATCC", number, *values))


if __name__ == "__main__":
    link, told = connect(int(sys.argv[1]) if len(sys.argv) > 1 else 47470)
    n = len(told["commands"])
    print(told["mechanism"], told["rate"], "1/s:", ", ".join(told["columns"]))
    start = state(link)[3][:n]
    for k in range(1, 1001):
        tick, time, flags, values = state(link)
        q, v = values[:n], values[n : 2 * n]
        command(link, k, [100 * (a - b) - 20 * c for a, b, c in zip(start, q, v)])
    print(
        f"tick {tick}, t = {time:.3f} s, flags {flags}, off by", [round(a - b, 6) for a, b in zip(q, start)]
    )
