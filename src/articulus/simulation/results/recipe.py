"""`Recipe`: how a run was made, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Recipe:
    """What a file or another process gets instead of the equations of a run.

    Parameters
    ----------
    text : str
        Components and events as TOML; empty where they cannot be written.
    refused : str
        Why there is no text.
    settings : dict
        Settings of the run (`RunSettings` without events) and the form of loops: plain numbers, texts and lists.
    q0, v0 : array or None
        Initial state as given.
    params : dict of parameter name to number or list of numbers
        As given.
    p : array, (rows, parameters)
        Values of all parameters.
    states : array, (rows, time, n)
        Continuous states besides q and v, then held values of sampled components, at the times of the run.
    """

    text: str
    refused: str
    settings: Mapping[str, Any]
    q0: np.ndarray | None
    v0: np.ndarray | None
    params: Mapping[str, Any]
    p: np.ndarray
    states: np.ndarray
