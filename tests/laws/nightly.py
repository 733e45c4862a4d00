"""Run the laws on many random trees: `python tests/laws/nightly.py --cases 10000 --bodies 30`.

Prints one line for each broken law with what reproduces it, and exits with 1 if there was any. The environment
variable ARTICULUS_LAW_CASES sets the number of cases where `--cases` is not given.
"""

from __future__ import annotations

import argparse
import os
import sys
from multiprocessing import get_context
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.model.mechanism import ALL_JOINTS
from laws import LAWS, SMALL_LAWS

SMALL = 5
"""Number of bodies up to which automatic differentiation is affordable."""


def case(seed: int, most: int) -> tuple[art.Mechanism, zoo.State]:
    """Return a random mechanism with at most `most` bodies, and a state; all options drawn from the seed."""
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(1, most + 1))
    kinds = rng.permutation(np.array(ALL_JOINTS, dtype=object))[: rng.integers(2, len(ALL_JOINTS) + 1)]
    chance = rng.random(8)
    mech = zoo.random_mechanism(
        int(rng.integers(2**31)),
        bodies,
        list(kinds),
        branching=float(chance[0]),
        floating=bool(chance[1] < 0.3),
        roots=int(rng.integers(1, min(bodies, 3) + 1)),
        rotors=float(chance[2]),
        armature=bool(chance[3] < 0.4),
        friction=bool(chance[4] < 0.4),
        springs=bool(chance[5] < 0.4),
        parameters=[k for k in zoo.PARAMETER_KINDS if rng.random() < 0.2] if chance[6] < 0.4 else (),
    )
    return mech, zoo.random_state(mech, rng)


def attempt(job: tuple[int, int]) -> str:
    """Return what went wrong with one case, or nothing."""
    seed, most = job
    mech, state = case(seed, most)
    choice = LAWS + SMALL_LAWS if len(mech.body_names) <= SMALL else LAWS
    law = choice[seed % len(choice)]
    try:
        law(mech, state)
    except pytest.skip.Exception:  # the reference does not know a joint
        return ""
    except Exception as error:  # noqa: BLE001  (a crash of a law is a finding like any other)
        return f"seed {seed}, bodies {most}, {law.__name__}: {type(error).__name__}: {error}"
    finally:
        zoo._function.cache_clear()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("ARTICULUS_LAW_CASES", "10000")))
    parser.add_argument("--bodies", type=int, default=30, help="largest number of bodies")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    jobs = [(seed, options.bodies) for seed in range(options.first, options.first + options.cases)]
    with get_context("spawn").Pool(options.workers) as pool:
        broken = [text for text in pool.imap_unordered(attempt, jobs, chunksize=8) if text]
    print(*broken, f"{len(jobs)} cases, {len(broken)} broken", sep="\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
