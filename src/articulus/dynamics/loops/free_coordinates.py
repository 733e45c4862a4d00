"""Which degrees of freedom are independent under linear constraints G x = 0, and how the others follow."""

from __future__ import annotations

import numpy as np

from articulus.dynamics.loops.null_space import VelocityPartition, independent_rows, partition

ROUNDED = 1e-10
"""Length of a constraint row over that of the longest below which it is taken as rounding [-]."""
VANISHED = 1e-14
"""Length of a constraint row up to which it is rounding, even if no other is longer [-]: sines of joint angles are not better known."""
DIGITS = 12
"""Decimals of the rows at unit length that decide: which of two equally good degrees of freedom is taken does not hang on rounding."""


def split(G: np.ndarray) -> VelocityPartition:
    """Return which rows and which degrees of freedom are independent under G x = 0; best of rows without units (`Scales.plain`).

    Rows count by direction, not by length; those shorter than ROUNDED of the longest, or than VANISHED, are zero but for
    rounding, as at a singular position.
    """
    return partition(_directions(G))


def rows_of_split(G: np.ndarray) -> tuple[int, ...]:
    """Return the independent rows that `split` finds, without the degrees of freedom."""
    return independent_rows(_directions(G))


def _directions(G: np.ndarray) -> np.ndarray:
    """Return the rows of G at unit length; zeros in place of those that are rounding."""
    length = np.linalg.norm(G, axis=1, keepdims=True)
    moves = length > max(ROUNDED * length.max(initial=0.0), VANISHED)
    return np.round(np.where(moves, G, 0.0) / np.where(moves, length, 1.0), DIGITS)


def tangent(G: np.ndarray, p: VelocityPartition) -> np.ndarray:
    """Return T with x = T x_i for every x with G x = 0, (nv, independent)."""
    i = list(p.independent)
    return np.eye(G.shape[1])[:, i] - following(G, p, G[:, i])


def following(G: np.ndarray, p: VelocityPartition, residual: np.ndarray) -> np.ndarray:
    """Return x with G x = residual that moves dependent degrees of freedom only, (nv, ...)."""
    x, d = np.zeros((G.shape[1], residual.shape[1])), list(p.dependent)
    x[d] = np.linalg.solve(G[np.ix_(p.rows, d)], residual[list(p.rows)])
    return x
