"""New processes on one core that answer in JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from articulus.bench.timing import one_core


def one_core_json(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Any:
    """Return what a new Python process prints in its last line.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of the interpreter.
    environment : dict of str
        Variables besides those of this process.

    Raises
    ------
    subprocess.CalledProcessError
        The process failed.
    """
    command, variables = [sys.executable, *arguments], {**os.environ, **(environment or {})}
    with one_core():
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
