"""Rows of batches with 256-bit vectors, on a processor that has wider ones: measured in a new process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain

from articulus.bench import rows, runs
from articulus.bench.child import one_core_json
from articulus.bench.machine import peak_gflops
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.kernel.jit import width

LANES = 4
"""Numbers in a 256-bit vector."""
MEASURED = (rows.forward, rows.generated_c, rows.inverse, rows.derivatives, runs.rollouts)


def batches(effort: Effort) -> Iterator[Measurement]:
    """Yield the rows of batches with 256-bit vectors; none where the rows before them have no wider ones."""
    if width() <= LANES:
        return
    code = f"from {__name__} import main; main()"
    found = one_core_json(["-c", code, json.dumps(asdict(effort))], {"ARTICULUS_LANES": str(LANES)})
    for fields in found:
        bar = fields["bar"]
        yield Measurement(**fields | {"bar": FigureLimit(**bar) if bar else None})


def measure_narrow(effort: Effort) -> Iterator[Measurement]:
    """Yield the rows with the vectors of this process, their names and shares of the peak with this width."""
    peak = 1e9 * peak_gflops(effort.seconds)
    for row in chain.from_iterable(give(effort) for give in ((rows.inverse,) if effort.quick else MEASURED)):
        yield replace(row, name=f"{row.name}, {64 * width()}-bit vectors").with_share(peak)


def main() -> None:
    """Print the rows of a process with an effort as its argument."""
    given = Effort(**json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps([asdict(row) for row in measure_narrow(given)]))
