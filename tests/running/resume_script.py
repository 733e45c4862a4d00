"""A run with a checkpoint after every four steps, for a process that is killed: python resume_script.py CASE CHECKPOINT OUT [LAST].

After checkpoint number LAST it waits for the signal that kills it.
"""

from __future__ import annotations

import itertools
import signal
import sys

import numpy as np
from resume_cases import CASES

from articulus.simulation.running import runner
from articulus.simulation.running.checkpoint import CheckpointWriter

runner.CHUNK_SECONDS, runner.FIRST_CHUNK = 0.0, 4  # chunks do not grow
name, checkpoint, out, *last = sys.argv[1:]
write, counted = CheckpointWriter.write, itertools.count(1)


def write_and_wait(*arguments, **named) -> None:
    write(*arguments, **named)
    if str(next(counted)) in last:
        signal.pause()


CheckpointWriter.write = write_and_wait
run = CASES[name](checkpoint=checkpoint, checkpoint_interval=0.0)
np.savez(out, **{key: found.values for key, found in run.signals.items()})
