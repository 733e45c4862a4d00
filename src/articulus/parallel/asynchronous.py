"""Fixed-point iterations whose components are computed without waiting for each other, from old values (Barhen & Gulati 1989)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.numerics.streams import stream


@dataclass(frozen=True, eq=False)
class Contraction:
    """How fast x = A x + b contracts in the best weighted maximum norm, max |x_i| / w_i.

    Attributes
    ----------
    factor : float
        Spectral radius of |A|. Below one an asynchronous iteration converges for every bounded delay; not below one, some order of
        updates diverges for some matrix with these absolute values.
    weights : ndarray (n,)
        w, positive; of components that depend on no others some positive number.
    """

    factor: float
    weights: np.ndarray


def contraction(A: Any) -> Contraction:
    """Return the contraction of a linear iteration x = A x + b, or of a nonlinear one whose derivatives A bounds.

    Parameters
    ----------
    A : array_like (n, n)
    """
    size = np.abs(_square(A))
    n = len(size)
    # a little of every entry makes the matrix irreducible: its Perron vector is positive
    lifted = size + np.finfo(float).eps * max(size.max(initial=0.0), 1e-300)
    values, vectors = np.linalg.eig(lifted)
    weights = np.abs(np.real(vectors[:, int(np.argmax(values.real))]))
    factor = float(np.abs(np.linalg.eigvals(size)).max()) if n else 0.0
    return Contraction(factor, weights / weights.max())


def _square(A: Any) -> np.ndarray:
    A = np.asarray(A, dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size or not np.isfinite(A).all():
        raise InputError(f"A {A.shape}; expected a square matrix of finite numbers")
    return A


def iterate_asynchronously(
    step: Callable[[int, np.ndarray], float], x0: Any, updates: int, delay: int, seed: int = 0
) -> np.ndarray:
    """Return the states of an asynchronous iteration, (updates + 1, n): one component at a time, in random order, from old values.

    Parameters
    ----------
    step : callable
        From a component and a state (n,) to the new value of the component.
    x0 : array_like (n,)
    updates : int
        Updates of single components.
    delay : int
        Every value that an update reads may be as many updates old; drawn anew for each value.
    seed : int

    Returns
    -------
    ndarray (updates + 1, n)
    """
    x = np.array(x0, dtype=float)
    if x.ndim != 1 or not x.size or updates < 0 or delay < 0:
        raise InputError(
            f"x0 {x.shape}, updates = {updates!r}, delay = {delay!r}; expected a vector and numbers from 0"
        )
    rng = stream(seed)
    states = np.empty((updates + 1, len(x)))
    states[0] = x
    components = np.arange(len(x))
    for k in range(updates):
        if k % len(x) == 0:
            order = rng.permutation(len(x))
        i = int(order[k % len(x)])
        age = rng.integers(0, delay + 1, len(x)).clip(max=k)
        states[k + 1] = states[k]
        states[k + 1, i] = step(i, states[k - age, components])
    return states
