"""Discrete adjoint: back from a figure to all parameters at once.

With J = sum_k g_k(x_k) and x_{k+1} = F_k(x_k, p): lambda_k = A_k' lambda_{k+1} + dg_k/dx, dJ/dp = sum_k B_k' lambda_{k+1}. The products
with A' go step by step; those with B' are one evaluation per node of what lambda leaves at it, all steps side by side.
Source: Griewank & Walther 2008, sections 3.2 (reverse mode) and 12 (checkpoints).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from articulus import kernel
from articulus.simulation.gradients.steps import KEPT_BYTES, Chunk, Steps


def states_at(steps: Steps, at: np.ndarray) -> tuple[np.ndarray, list[Chunk | np.ndarray]]:
    """Return the states at given steps, (samples, nc + nd), and what of every chunk is kept: itself, or the state at its start."""
    keep = 8 * (steps.count + 1) * (steps.engine.logged + steps.system.nd) <= KEPT_BYTES
    states, kept = np.empty((len(at), steps.engine.logged)), list[Chunk | np.ndarray]()
    for chunk in steps.forward():
        inside = (at >= chunk.first) & (at < chunk.stop)
        states[inside] = chunk.after[at[inside] - chunk.first]
        before = np.concatenate([chunk.after[:1, : steps.system.nc], chunk.held[:1]], axis=1)
        kept.append(chunk if keep else before)
    return states, kept


def adjoint(
    steps: Steps, kept: list[Chunk | np.ndarray], sources: np.ndarray, at: np.ndarray, chosen: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives by the state at the start, (nx,), and by chosen parameters, (chosen,).

    Parameters
    ----------
    steps : Steps
        Without chosen parameters of their own.
    kept : list
        Of `states_at`.
    sources : array, (samples, nx)
        Derivative of the figure by the state at every sample.
    at : array of int
        Steps of the samples.
    chosen : tuple of int
        Entries of p.
    """
    n, made = steps.nodes, steps.native_code
    own = sum(len(node.rows) for node in n.nodes)
    x, p = np.zeros((1, own + n.nx)), np.full((1, 1), steps.h)
    total = np.zeros(len(chosen))
    for chunk in _backwards(steps, kept):
        length = chunk.stop - chunk.first
        by, points = steps.derivatives(chunk, points=True)
        given = np.zeros((length, n.width + n.nx))
        given[:, : n.width] = by
        inside = (at >= chunk.first) & (at < chunk.stop)
        given[at[inside] - chunk.first, n.width :] += sources[inside]
        log = np.empty((1, length, own + n.nx))
        go = made.adjoint.on(x, p, given[::-1], np.full(1, kernel.NEVER), log)
        go(0, length)
        marks = np.concatenate([log[0, 1:, :own], x[:, :own]])[::-1]
        if chosen:
            total += _by_parameters(steps, chunk, marks, points, chosen)
    return x[0, own:], total


def _backwards(steps: Steps, kept: list[Chunk | np.ndarray]) -> Iterator[Chunk]:
    """Yield the chunks from the last to the first, gone through again where only their start was kept."""
    noise = None
    for (first, stop), found in zip(reversed(steps.chunks()), reversed(kept)):
        if isinstance(found, Chunk):
            yield found
            continue
        if noise is None:
            noise = steps.noise()
        yield steps.march(
            steps.engine.rows(found[:, : steps.system.nc], found[:, steps.system.nc :]),
            first,
            stop,
            noise[first:stop],
        )


def _by_parameters(
    steps: Steps, chunk: Chunk, marks: np.ndarray, points: np.ndarray, chosen: tuple[int, ...]
) -> np.ndarray:
    """Return sum mu' F_p over all nodes of all steps of a chunk; calls of the same node are one batch."""
    system, length = steps.system, len(marks)
    size = system.nc + system.nd + 1
    places, at = dict[int, list[tuple[np.ndarray, np.ndarray]]](), 0
    first: dict[int, int] = {}
    for k, node in enumerate(steps.nodes.nodes):
        mu, where = marks[:, at : at + len(node.rows)], points[:, k * size : (k + 1) * size]
        at += len(node.rows)
        if k < len(steps.nodes.updates):
            mu = mu * steps.fires(chunk.first, chunk.stop)[:, k : k + 1]
        places.setdefault(id(node), []).append((mu, where))
        first.setdefault(id(node), k)
    total = np.zeros(len(chosen))
    for key, calls in places.items():
        mu = np.concatenate([m for m, _ in calls])
        where = np.concatenate([w for _, w in calls])
        used = mu.any(axis=1)
        if not used.any():
            continue
        w = np.concatenate([np.broadcast_to(chunk.w, (length, system.nw))] * len(calls))
        c, d, t = (
            np.ascontiguousarray(part[used])
            for part in (where[:, : system.nc], where[:, system.nc : -1], where[:, -1])
        )
        pull = steps.native_code.pull(first[key], chosen)
        total += pull(c, d, steps.p, w[used], t, np.full((), steps.h), np.ascontiguousarray(mu[used])).sum(
            axis=0
        )
    return total
