"""Thin shells where transverse shear counts: a measure from the modes, and a warning."""

from __future__ import annotations

import numpy as np

from articulus.errors import doubtful
from articulus.structure.structure import Structure

COUNTS = 0.1
"""D k^2 / S above which thin shells are doubtful: frequencies are then about five percent too high."""


def shear_ratios(structure: Structure, omega: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return D k^2 / S of modes in thin shells whose transverse shear is known but left out, (k,) [-].

    Bending waves of the circular frequency omega have k^2 = omega sqrt(mass / D), so that the ratio at a point is omega sqrt(mass D) / S;
    that of a mode is the mean over its elastic energy. Modes that do not bend the shells come out too large.

    Parameters
    ----------
    omega : array, (k,) [rad/s]
    shapes : array, (n, k)
    """
    s = structure.samples
    if s is None or not s.lag.any():
        return np.zeros(len(omega))
    energy = (s.stiffness[:, None] * (s.strain @ shapes) ** 2).reshape(len(s.mass), 6, -1).sum(axis=1)
    total = energy.sum(axis=0)
    return omega * (s.lag @ energy) / np.where(total > 0, total, 1.0)


def warn_if_shear_counts(structure: Structure, omega: np.ndarray, shapes: np.ndarray) -> None:
    """Warn where modes bend thin shells that would yield to transverse shear."""
    ratios = shear_ratios(structure, omega, shapes)
    many = np.flatnonzero(ratios > COUNTS)
    if not len(many):
        return
    first, worst = many[0], ratios.max()
    doubtful(
        f"normal modes: {len(many)} of {len(omega)} modes, from {omega[first] / (2 * np.pi):.4g} Hz on, bend thin shells that would yield to "
        f"transverse shear: D k^2 / S is up to {worst:.2g}, where thin shells need it small beside 1. With shear these frequencies are lower, "
        f"about {100 * (1 - 1 / np.sqrt(1 + ratios[first])):.0f} to {100 * (1 - 1 / np.sqrt(1 + worst)):.0f} %: take MindlinQuadrilateral or "
        "MindlinTriangle instead of ShellQuadrilateral or ShellTriangle"
    )
