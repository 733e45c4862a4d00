"""How slow this machine is now, for tests that bound a time of day while others use the processor."""

from __future__ import annotations

import time


def slowness() -> float:
    """Return how many times longer work takes here than on a processor that does nothing else."""
    start, used = time.perf_counter(), time.process_time()
    while time.process_time() < used + 0.1:
        pass
    return (time.perf_counter() - start) / 0.1
