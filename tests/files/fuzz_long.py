"""A long run of the mutation tests: python tests/files/fuzz_long.py [--files 2000] [--seconds 60] [--kind toml] [--seed 0].

Every reader gets broken files, until it had `--files` of them or `--seconds` have passed. Whatever a reader does with a file but read or
refuse it, more than a second of processor time and more than 500 MB are told with the seed, and the program ends with code 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files.fuzz_kinds import KINDS, check
from files.mutate import READERS

MAX_SECONDS = 1.0
MAX_KILOBYTES = 500_000
HANGS = 60
"""Seconds after which a file counts as one that is never done with: the program ends and says where it was."""


def main() -> int:
    faulthandler.enable()
    options = _options()
    faults = sum(_fuzz(kind, options.seed, options.files, options.seconds) for kind in options.kind)
    return int(faults > 0)


def _fuzz(kind: str, seed: int, files: int, seconds: float) -> int:
    """Try a reader, print what came of it, and return the number of faults."""
    counts: Counter[str] = Counter()
    told: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        check(kind, seed, place)  # what is made or imported once is no file's fault
        end = time.monotonic() + seconds
        for number in range(seed, seed + files):
            if time.monotonic() > end:
                break
            faulthandler.dump_traceback_later(HANGS, exit=True)
            outcome = _tried(kind, number, place)
            counts[outcome.partition(":")[0]] += 1
            if outcome not in ("read", "refused") and outcome not in told:
                told.add(outcome)
                print(f"  {kind} seed {number}: {outcome}", flush=True)
        faulthandler.cancel_dump_traceback_later()
    print(f"{kind}: {sum(counts.values())} files, {dict(sorted(counts.items()))}", flush=True)
    return sum(count for outcome, count in counts.items() if outcome not in ("read", "refused"))


def _tried(kind: str, number: int, folder: Path) -> str:
    start, before = time.process_time(), _peak()
    try:
        outcome = check(kind, number, folder)
    except Exception as error:  # noqa: BLE001
        where = traceback.extract_tb(error.__traceback__)
        ours = [f for f in where if "articulus" in f.filename] or where
        return (
            f"{type(error).__name__}: {str(error)[:100]} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"
        )
    seconds, memory = time.process_time() - start, _peak() - before
    if seconds > MAX_SECONDS:
        return f"slow: {seconds:.1f} s"
    return f"large: {memory // 1000} MB" if memory > MAX_KILOBYTES else outcome


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument(
        "--seconds", type=float, default=float(os.environ.get("ARTICULUS_FUZZ_SECONDS", "60"))
    )
    parser.add_argument("--seed", type=int, default=0)
    kinds = [*READERS, *KINDS]
    parser.add_argument("--kind", nargs="*", choices=kinds, default=kinds)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
