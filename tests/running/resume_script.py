"""A run with a checkpoint after every four steps, for a process that is killed: python resume_script.py CASE CHECKPOINT OUT."""

from __future__ import annotations

import sys

import numpy as np
from resume_cases import CASES

from articulus.running import runner

runner.CHUNK_SECONDS, runner.FIRST_CHUNK = 0.0, 4  # chunks do not grow
name, checkpoint, out = sys.argv[1:]
run = CASES[name](checkpoint=checkpoint, checkpoint_interval=0.0)
np.savez(out, **{key: signal.values for key, signal in run.signals.items()})
