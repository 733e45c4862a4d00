"""A long run of the mutation test: python tests/files/fuzz_long.py --seconds 600 [--kind toml] [--seed 0].

ARTICULUS_FUZZ_SECONDS sets the length when --seconds does not. Ends with code 1 and the seed at the first text that
gives anything but a Description or a refusal, takes more than a second, or needs more than 1 GB.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files.mutate import READERS, check

MAX_SECONDS = 1.0
MAX_KILOBYTES = 1_000_000


def main() -> int:
    options = _options()
    counts: Counter[str] = Counter()
    end = time.monotonic() + options.seconds
    seed = options.seed
    while time.monotonic() < end:
        for kind in options.kind:
            start = time.perf_counter()
            try:
                counts[f"{kind} {check(kind, seed)}"] += 1
            except Exception as error:  # noqa: BLE001
                print(f"{kind} seed {seed}: {type(error).__name__}: {error}")
                return 1
            if time.perf_counter() - start > MAX_SECONDS:
                print(f"{kind} seed {seed}: {time.perf_counter() - start:.1f} s")
                return 1
        seed += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"seeds {options.seed} to {seed - 1}: {dict(sorted(counts.items()))}; peak memory {peak // 1000} MB"
    )
    return int(peak > MAX_KILOBYTES)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=float(os.environ.get("ARTICULUS_FUZZ_SECONDS", "60"))
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", nargs="*", choices=sorted(READERS), default=sorted(READERS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
