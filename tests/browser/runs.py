"""Runs that need no simulation: positions in, a Run out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import articulus as art
from articulus.simulation.results import Run
from articulus.simulation.results.signal import Signal, position_signal, velocity_signal


def kinematic_run(
    mechanism: art.Mechanism, q: np.ndarray | None = None, more: Mapping[str, Signal] | None = None
) -> Run:
    """Return a run of one second through given positions (rows, nq); without, one in which every coordinate swings."""
    d = mechanism.description
    t = np.linspace(0, 1, 11 if q is None else len(q))
    if q is None:
        q = mechanism.neutral + 0.5 * np.sin(2 * np.pi * t[:, None] + np.arange(mechanism.nq))
    signals = [position_signal(d, q), velocity_signal(d, np.zeros((t.size, mechanism.nv)))]
    return Run(mechanism, t, {s.name: s for s in signals} | dict(more or {}))
