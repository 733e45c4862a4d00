"""Forward sensitivities: a tangent for each parameter goes along with the run, each in a lane of the processor.

s_{k+1} = A_k s_k + B_k e with the derivatives A, B of the step that was taken: exact for the run as computed, whatever its step.
Source: Hairer, Nørsett & Wanner 1993, section I.14 (the variational equation, discretized by the method itself).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus import kernel
from articulus.simulation.gradients.steps import Steps


@dataclass(frozen=True, eq=False)
class Tangents:
    """States at the samples of a run and their derivatives.

    Parameters
    ----------
    states : array, (samples, nc + nd)
    tangents : array, (directions, samples, nx)
        Tangents of the entries of (c, d) that have one.
    """

    states: np.ndarray
    tangents: np.ndarray


def forward(steps: Steps, start: np.ndarray, direction: np.ndarray, at: np.ndarray) -> Tangents:
    """Return states and tangents at given steps of a run.

    Parameters
    ----------
    start : array, (directions, nx)
        Tangents at the start.
    direction : array, (directions, chosen)
        Directions in the chosen parameters.
    at : array of int, ascending
        Steps to sample.
    """
    s = np.array(start, order="C")
    p = np.column_stack([np.full(len(s), steps.h), direction])
    states = np.empty((len(at), steps.engine.logged))
    tangents = np.empty((len(s), len(at), steps.nodes.nx))
    every = _spacing(at)
    for chunk in steps.forward():
        by = steps.derivatives(chunk)
        inside = (at >= chunk.first) & (at < chunk.stop)
        states[inside] = chunk.after[at[inside] - chunk.first]
        first = -(-chunk.first // every)
        log = np.empty((len(s), -(-chunk.stop // every) - first, steps.nodes.nx))
        failed = np.full(len(s), kernel.NEVER)
        periods = [1] if steps.nodes.updates else []
        go = steps.native_code.tangent.on(
            s, p, by, failed, log, first=chunk.first, every=every, periods=periods
        )
        last = min(chunk.stop, steps.count)
        go(chunk.first, last)
        regular = inside & (at % every == 0) & (at < steps.count)
        tangents[:, regular] = log[:, at[regular] // every - first]
        if chunk.stop > steps.count:
            tangents[:, -1] = _closing(steps, s, p, by[-1:])
    return Tangents(states, tangents)


def _closing(steps: Steps, s: np.ndarray, p: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return the tangents at the end of the run, after the maps of sampled components worked there."""
    log = np.empty((len(s), 1, steps.nodes.nx))
    periods = [1] if steps.nodes.updates else []
    go = steps.native_code.tangent.on(s, p, np.array(by), np.full(len(s), kernel.NEVER), log, periods=periods)
    go(0, 0, closing=True)
    return log[:, 0]


def _spacing(at: np.ndarray) -> int:
    """Return the steps between samples that hold all of them but the last."""
    return int(at[1]) if len(at) > 2 else max(int(at[-1]), 1)
