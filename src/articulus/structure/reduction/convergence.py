"""What a reduction lost: frequencies and static compliance against the full structure, over the neighbor's angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from articulus.structure.compliance import compliance, reduced_compliance
from articulus.structure.element.base import Node
from articulus.structure.flexible_body import rigid_inertia
from articulus.structure.reduction.base import Reduction
from articulus.structure.solution.eigenvalues import finite_modes, shift
from articulus.structure.structure import COMPONENTS, Structure


@dataclass(frozen=True, eq=False)
class Convergence:
    """A table of errors.

    Parameters
    ----------
    angles : array, (a,) [rad]
        Angles of the neighboring joint.
    full, reduced : array, (a, k) [rad/s]
        Lowest elastic frequencies.
    compliance : dict of component to two floats [m/N, rad/(N m)]
        Static displacement at the station for a unit force along or moment about each axis: full, reduced.
    """

    angles: np.ndarray
    full: np.ndarray
    reduced: np.ndarray
    compliance: dict[str, tuple[float, float]]

    @property
    def error(self) -> np.ndarray:
        """Relative errors of the frequencies, (a, k)."""
        return self.reduced / self.full - 1

    @property
    def worst(self) -> float:
        """Largest relative error of all frequencies."""
        return float(np.abs(self.error).max())

    def __str__(self) -> str:
        lines = ["angle [deg]  mode  full [Hz]     reduced [Hz]  error [%]"]
        for angle, full, reduced in zip(self.angles, self.full, self.reduced):
            for k, (a, b) in enumerate(zip(full, reduced), start=1):
                hertz = (a / (2 * np.pi), b / (2 * np.pi))
                lines.append(
                    f"{np.degrees(angle):11.1f}  {k:4d}  {hertz[0]:<12.6g}  {hertz[1]:<12.6g}  {100 * (b / a - 1):9.3g}"
                )
        lines.append("static compliance  full          reduced       error [%]")
        for name, (a, b) in self.compliance.items():
            lines.append(f"{name:>17}  {a:<12.6g}  {b:<12.6g}  {100 * (b / a - 1):9.3g}")
        return "\n".join(lines)


def convergence(
    reduction: Reduction,
    station: Node,
    *,
    count: int = 3,
    attached: Structure | None = None,
    root: Node = 0,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    angles: Sequence[float] = (0.0,),
) -> Convergence:
    """Return the errors of a reduction.

    Parameters
    ----------
    reduction : Reduction
        Compared with its full structure.
    station : str or int
        Node where forces act and the neighbor is attached.
    count : int
        Elastic frequencies to compare.
    attached : Structure
        Neighbor, clamped at its node `root`, which is put at the station behind a hinge that is locked at each angle;
        its own axes are those of this structure at angle zero. No neighbor if not given.
    root : str or int
        Node of the neighbor at the hinge.
    axis : three floats
        Axis of the hinge.
    angles : sequence of floats [rad]
        Angles of the hinge.
    """
    s, unit = reduction.structure, np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    swept = np.asarray(angles, dtype=float) if attached is not None else np.zeros(1)
    full, reduced = [], []
    for angle in swept:
        M, K = _couple_neighbor(s, station, attached, root, Rotation.from_rotvec(angle * unit).as_matrix())
        more = M.shape[0] - s.count
        T = sp.csr_array(block_diag(reduction.basis, np.eye(more)))
        full.append(_lowest(M, K, count))
        reduced.append(_lowest(T.T @ M @ T, T.T @ K @ T, count))
    exact, found = np.diag(compliance(s, station)), np.diag(reduced_compliance(s, reduction.basis, station))
    kinds = {name: (a, b) for name, a, b in zip(COMPONENTS, exact, found) if a > 0}
    return Convergence(swept, np.array(full), np.array(reduced), kinds)


def _couple_neighbor(
    s: Structure, station: Node, attached: Structure | None, root: Node, turn: np.ndarray
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return mass and stiffness matrix of the structure with its neighbor, whose motion is relative to the station."""
    if attached is None:
        return s.M, s.K
    inertia, momentum = rigid_inertia(
        attached, np.eye(attached.count), attached.positions[attached.node(root)]
    )
    rows = s.rows(station)
    carried = block_diag(turn.T, turn.T) @ np.vstack([rows[3:], rows[:3]])
    M = sp.block_array([
        [s.M + sp.csr_array(carried.T @ inertia @ carried), sp.csr_array(carried.T @ momentum)],
        [sp.csr_array(momentum.T @ carried), attached.M],
    ])  # fmt: skip
    return sp.csr_array(M), sp.csr_array(sp.block_diag([s.K, attached.K]))


def _lowest(M: sp.sparray, K: sp.sparray, count: int) -> np.ndarray:
    """Return the lowest elastic circular frequencies; what is lower than a millionth of the typical one is rigid."""
    M, K = M.toarray(), K.toarray()
    squares, _ = finite_modes(M, K, shapes=False)
    squares = squares[squares > 1e-6 * shift(np.diag(M), np.diag(K))]
    out = np.full(count, np.nan)
    out[: min(count, len(squares))] = np.sqrt(squares[:count])
    return out
