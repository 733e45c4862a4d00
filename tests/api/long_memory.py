"""Memory over many mechanisms: python tests/api/long_memory.py [--mechanisms 2000].

Every mechanism is another structure as far as the program can know: it is built, compiled, asked and simulated, then
dropped. Ends with code 1 when memory or mappings grow in the second half, where all tables have been full for long.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from pathlib import Path

LIMIT_KILOBYTES = 5.0
"""Growth per mechanism in the second half [KB]; 85 KB when every kernel was kept, below 1 KB when none is."""
LIMIT_MAPPINGS = 50


def pendulum(k: int):
    """Return a pendulum whose mass is part of its equations."""
    import articulus as art

    pendulum = art.Mechanism("pendulum")
    pendulum.body("rod", mass=1.0 + k / 1000, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    pendulum.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="ground", child="rod")
    return pendulum


def use(k: int) -> None:
    """Ask a mechanism for its accelerations and run it for two steps."""
    import articulus as art

    made = pendulum(k)
    made.forward_dynamics([0.1], [0.0], [0.0])
    art.simulate(made, 2e-3, [0.1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mechanisms", type=int, default=2000)
    count = parser.parse_args().mechanisms
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARTICULUS_CACHE"] = str(Path(folder) / "cache")
        found = []
        for k in range(count + 1):
            if k in (count // 2, count):
                found.append(_memory())
                print(f"{k} mechanisms: {found[-1][0]} KB, {found[-1][1]} mappings", flush=True)
            if k < count:
                use(k)
    kilobytes, mappings = (after - before for before, after in zip(*found))
    print(f"{kilobytes / (count - count // 2):.2f} KB per mechanism, {mappings} mappings")
    return int(kilobytes > LIMIT_KILOBYTES * (count - count // 2) or mappings > LIMIT_MAPPINGS)


def _memory() -> tuple[int, int]:
    """Return the resident memory [KB] and the number of mappings of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024, len(Path("/proc/self/maps").read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
