"""Upper bounds of mu by scalings: D of complex blocks, D and G of real ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.control.robust.blocks import BlockStructure, hermitian_basis
from articulus.control.robust.centers import Basis, Cone, least_ratio

MOST_G = 1e5
"""Largest scaling G of real blocks, over D and the size of M: keeps the search from running away along it."""
ZERO = 1e-9
"""An upper bound below this part of the largest singular value is as good as zero."""
SWEEPS = 100


@dataclass(frozen=True, eq=False)
class Scalings:
    """M* D M + j (G M - M* G) <= bound^2 D at each of f matrices, D > 0.

    Parameters
    ----------
    bound : array, (f,)
    D, G : complex arrays, (f, n, n)
        Hermitian; D commutes with every Delta of the structure, G is that of its real blocks.
    """

    bound: np.ndarray
    D: np.ndarray
    G: np.ndarray


def upper(M: np.ndarray, structure: BlockStructure, enough: float | np.ndarray = 0.0) -> Scalings:
    """Return the least bounds that scalings give for square matrices M (f, n, n), or the first found below `enough`."""
    scale = np.exp(osborne(M, structure))
    N = scale[:, :, None] * M / scale[:, None, :]
    size = np.maximum(np.linalg.norm(N, 2, axis=(-2, -1)), np.finfo(float).tiny)
    N = N / size[:, None, None]
    E, factor, cones, start = search_space(structure)
    conjugate = N.conj().swapaxes(-1, -2)[:, None]
    P = np.where(
        (factor == 0)[None, :, None, None], conjugate @ E @ N[:, None], 1j * (E @ N[:, None] - conjugate @ E)
    )
    D0 = np.where((factor == 0)[:, None, None], E, 0.0)
    x, ratios = least_ratio(
        P,
        D0,
        cones,
        np.tile(start, (len(M), 1)),
        np.maximum(np.minimum(enough, 1e100 * size) / size, ZERO) ** 2,
    )
    both = scale[:, :, None] * scale[:, None, :]
    D, G = (both * Basis(E[None]).sum(np.where(factor == kind, x, 0.0)) for kind in (0, 1))
    return Scalings(size * np.sqrt(np.maximum(ratios, 0.0)), D, G * size[:, None, None])


def search_space(structure: BlockStructure) -> tuple[np.ndarray, np.ndarray, list[Cone], np.ndarray]:
    """Return a basis (k, n, n) of D and G block by block, which of them are of G, the cones D > 0, and where D = I, G = 0."""
    bases: list[np.ndarray] = []
    kinds: list[int] = []
    cones, start = [], []
    for block, place in zip(structure.blocks, structure.slices):
        inner = hermitian_basis(block.size) if block.repeated else [np.eye(block.size, dtype=complex)]
        whole = structure.inside(place, inner)
        small = np.array(inner) if block.repeated else np.ones((1, 1, 1), dtype=complex)
        here = slice(len(kinds), len(kinds) + len(inner) * (2 if block.real else 1))
        bases.append(whole)
        kinds += [0] * len(inner)
        start += [float(np.trace(m).real > 0) for m in inner]
        if block.real:  # -MOST_G D < G < MOST_G D; D > 0 follows
            bases.append(whole)
            kinds += [1] * len(inner)
            start += [0.0] * len(inner)
            both = [np.concatenate([small, sign / MOST_G * small]) for sign in (1.0, -1.0)]
            cones += [Cone(Basis(b[None]), here) for b in both]
        else:
            cones.append(Cone(Basis(small[None]), here))
    return np.concatenate(bases), np.array(kinds), cones, np.array(start)


def osborne(M: np.ndarray, structure: BlockStructure) -> np.ndarray:
    """Return logarithms l (f, n) of diagonal scalings that bring e^l M e^-l near its least Frobenius norm.

    Rows of full blocks share one. Entries that are zero count as 1e-21 of the largest, so that scalings of reducible matrices
    stay finite: their off-diagonal parts fall to about 1e-10.
    """
    counts = np.concatenate([np.ones(b.size) if b.repeated else [b.size] for b in structure.blocks])
    member = np.repeat(np.eye(len(counts)), counts.astype(int), axis=1)
    weights = member @ (M.real**2 + M.imag**2) @ member.T
    largest = weights.max(axis=(1, 2), keepdims=True)
    weights = weights / np.where(largest > 0, largest, 1.0) + 1e-42
    level = np.zeros((len(M), len(counts)))
    for _ in range(SWEEPS if len(counts) > 1 else 0):
        before = level.copy()
        for i in range(len(counts)):
            factor = np.exp(2.0 * (level - level[:, [i]]))
            factor[:, i] = 0.0
            into = (weights[:, :, i] * factor).sum(axis=1)
            out = (weights[:, i] / np.where(factor > 0, factor, np.inf)).sum(axis=1)
            level[:, i] += 0.25 * np.log(into / out)
        if np.abs(level - before).max(initial=0.0) < 1e-3:
            break
    return (level - level.mean(axis=1, keepdims=True)) @ member
