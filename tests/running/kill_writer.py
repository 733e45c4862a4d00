"""Writes checkpoints in children that are killed; prints what was left of each as JSON lines.

A child dies (SIGKILL, no clean-up) at a chosen call that touches the disk, or at any time. Checkpoint number k has step k, a state full
of k, and one logged row for each step.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.simulation.results.status import FinalState
from articulus.simulation.running import checkpoint

CALLS = ("fsync", "replace", "fchmod", "close")


def dying(fatal: int) -> None:
    """Make the `fatal`-th call of any of CALLS the last thing this process does; file writes before it stay as they are."""
    count = 0

    def wrap(call: Callable) -> Callable:
        def wrapped(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments)

        return wrapped

    for name in CALLS:
        setattr(os, name, wrap(getattr(os, name)))


def run(path: Path, wide: int) -> None:
    """Write checkpoints for ever."""
    writer = checkpoint.CheckpointWriter(path, "model", {})
    for k in itertools.count(1):
        writer.write(
            FinalState(k, 0.1 * k, np.full((3, wide), float(k))), {"q": np.full((1, 3, 4), float(k))}
        )


def left(path: Path, status: int) -> dict[str, Any]:
    """Return how the child ended, and the step of the checkpoint that it left and whether that is whole."""
    found: dict[str, Any] = {"killed": os.WIFSIGNALED(status), "step": 0, "whole": True}
    try:
        c = checkpoint.read(path)
    except InputError as error:
        return {**found, "error": str(error)}
    steps = np.arange(1.0, c.state.step + 1)[:, None, None]
    logged = np.array_equal(c.log["q"], np.broadcast_to(steps, (c.state.step, 3, 4)))
    return {**found, "step": c.state.step, "whole": logged and bool((c.state.x == c.state.step).all())}


def at_calls(folder: Path, count: int) -> None:
    for fatal in range(1, count + 1):
        path = folder / f"run{fatal}.ckpt"
        child = os.fork()
        if child == 0:
            dying(fatal)
            run(path, 50)
        print(json.dumps(left(path, os.waitpid(child, 0)[1])))


def at_times(folder: Path, count: int) -> None:
    for k in range(1, count + 1):
        path = folder / f"run{k}.ckpt"
        child = os.fork()
        if child == 0:
            run(path, 80_000)
        time.sleep(0.01 + 0.0237 * k)
        os.kill(child, signal.SIGKILL)
        print(json.dumps(left(path, os.waitpid(child, 0)[1])))


if __name__ == "__main__":
    {"at_calls": at_calls, "at_times": at_times}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
