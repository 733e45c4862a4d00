"""Run the tests of native code at every vector width of this processor, optimized as users have it: `make widths`.

No result may depend on width and optimization, bit by bit (tests/kernel/test_widths.py); `make test` has four without
optimization, at most. Here the tests of the kernel run at every width, with one thread and with three; what is built on the kernel (laws of native
code and of parameters, batches of runs, published cases that compute in batches) at the two widest.
"""

from __future__ import annotations

import os
import subprocess
import sys

from articulus import cases
from articulus.kernel import jit

KERNEL = (
    "tests/kernel",
    "--deselect=tests/kernel/test_widths.py",  # runs all widths itself
    "--deselect=tests/kernel/test_instructions.py",  # compiles nothing
)
CASES = {
    *("bend_45", "bent_beam", "cat215b_hydraulics", "contact_of_shapes", "draper_noise", "human_torso"),
    *("resting_contact", "sampled_computed_torque", "stable_inversion", "stochastic_regulator"),
    *("time_elements_transfer", "torso_computed_torque", "two_stage_launcher"),
}
"""Published cases that take at most 2.5 s and have three or more kernels for batches: beams, hydraulics, contacts, noise, control,
inversion, trajectories. Of the others some are longer, mostly arms with flexible links; many have code for single states only, which is
the same at every width."""
ABOVE = (
    "tests/laws/test_law_kernel.py",
    "tests/laws/test_law_parameters.py",
    "tests/running/test_open.py",
    *(
        f"tests/cases/test_published.py::test_row_agrees[{case.name}-{i + 1}]"
        for case in cases.find()
        if case.name in CASES
        for i in range(len(case.expected))
    ),
)


def main() -> int:
    widths = [width for width in jit.WIDTHS if int(width) <= jit.widest()]
    for width in widths:
        threads = "1" if width == widths[0] else "3"
        print(f"{width} lanes, {threads} threads", flush=True)
        selected = (*KERNEL, *ABOVE) if width in widths[-2:] else KERNEL
        given = {
            "ARTICULUS_LANES": width,
            "ARTICULUS_ONE_WIDTH": width,
            "ARTICULUS_THREADS": threads,
            "ARTICULUS_OPTIMIZATION": "1",
        }
        done = subprocess.run([sys.executable, "-m", "pytest", *selected], env=os.environ | given)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
