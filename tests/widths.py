"""Run the tests of native code and the published cases at every vector width of this processor: `make widths`.

The laws of tests/laws are about expressions, which know no width; the one that compares them with native code is here.

The widest one is that of `make test`. Narrower ones run here, the first with one thread, the others with three.
"""

from __future__ import annotations

import os
import subprocess
import sys

from articulus.kernel import jit

FOLDERS = (
    "tests/kernel",
    "tests/laws/test_law_kernel.py",
    "tests/laws/test_law_parameters.py",
    "tests/laws/test_law_corners.py",
    "tests/running/test_open.py",
    "tests/cases",
)


def main() -> int:
    narrower = [width for width in jit.WIDTHS if int(width) < jit.widest()]
    for width in narrower:
        threads = "1" if width == narrower[0] else "3"
        print(f"{width} lanes, {threads} threads", flush=True)
        given = {"ARTICULUS_LANES": width, "ARTICULUS_THREADS": threads}
        done = subprocess.run([sys.executable, "-m", "pytest", *FOLDERS], env=os.environ | given)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
