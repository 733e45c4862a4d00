"""Wong's triangular mesh: inertia matrix and force vector of a serial arm, cycle by cycle on n (n + 1)/2 + n processors.

Row 0 is a pipeline for [J wd + w x J w; m pdd], row 1 one for the columns of Hbar = [C; rho x C]; the rows below keep J c and
m (rho x c). Then all rows are multiplied by Hbar' at once: in n + 1 sweeps the vectors of Hbar move up row by row while the sums
move from column to column. A cycle is one product of a matrix and a vector, or two vectors.

Source: Wong 1991, chapter 4.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism import value_of
from articulus.parallel.animation import CellWork, animate
from articulus.parallel.comparison import is_serial

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

COST = {"A": (4, 0), "c": (8, 5), "rho": (8, 11), "Jc": (9, 6), "m": (9, 3)}
"""Multiplications and additions of the operations of the inertia matrix (table 4.1)."""
FORCE = ("A", "w", "wd", "W", "-Wk", "Wl", "pdd", "a", "b", "Ld")
"""Operations of a processor of row 0 (table 4.3); a = J w and b = J wd move to row 1 when the load is balanced."""
OFFLOADED = ("a", "b")
BALANCED = (*FORCE[:7], "w x a", "Ld")
"""Of row 0 when row 1 computes a and b (tables 4.4 to 4.6; the source has a x w, whose sign is wrong)."""


@dataclass(frozen=True)
class Operation:
    """What a processor does in a cycle.

    Attributes
    ----------
    row, column : int
        Processor: row from 0, column from 1.
    cycle : int
        From 1.
    name : str
        "c21" is the axis of joint 1 in axes of body 2.
    multiplications, additions : int
    """

    row: int
    column: int
    cycle: int
    name: str
    multiplications: int = 0
    additions: int = 0


@dataclass(frozen=True)
class Link:
    """A body of a serial chain: rotation from the axes of the body before, joint axis, vectors from its center of mass to both hinges."""

    A: np.ndarray
    axis: np.ndarray
    k: np.ndarray
    l: np.ndarray
    mass: float
    J: np.ndarray


@dataclass(frozen=True, eq=False)
class MeshRun:
    """What the mesh computed, and what every processor did when.

    Attributes
    ----------
    M : ndarray (n, n)
        Inertia matrix.
    bias : ndarray (n,)
        Joint torques at zero acceleration.
    operations : tuple of Operation
        Operations of the first phase.
    sweeps : int
        Sweeps of the second phase.
    """

    M: np.ndarray
    bias: np.ndarray
    operations: tuple[Operation, ...]
    sweeps: int

    def last_cycle(self, row: int) -> int:
        """Return the cycle in which a row of processors has done the first phase.

        Parameters
        ----------
        row : int
        """
        return max(o.cycle for o in self.operations if o.row == row)

    @cached_property
    def inertia_operations(self) -> tuple[int, int]:
        """Multiplications and additions of phases 1 to 5 of the inertia matrix, all processors together."""
        chosen = [o for o in self.operations if o.row > 0 and o.name not in OFFLOADED]
        return sum(o.multiplications for o in chosen), sum(o.additions for o in chosen)

    def table(self, row: int) -> list[list[str]]:
        """Return what each processor of a row does, cycle by cycle; "" where it waits.

        Parameters
        ----------
        row : int
        """
        n = len(self.M)
        cells = {(o.cycle, o.column): o.name for o in self.operations if o.row == row}
        return [
            [cells.get((cycle, i), "") for i in range(1, n + 1)]
            for cycle in range(1, self.last_cycle(row) + 1)
        ]

    def animation(self, cycle_duration: float = 1.0) -> str:
        """Return an animated SVG picture: which processor does what, one cycle after the other.

        Parameters
        ----------
        cycle_duration : float [s]
            Time for which a cycle is shown.
        """
        n = len(self.M)
        cells = [(row, column - 1) for row in range(n + 1) for column in range(max(row, 1), n + 1)]
        work = (CellWork(o.row, o.column - 1, o.cycle, o.cycle, o.name) for o in self.operations)
        return animate(cells, work, max(o.cycle for o in self.operations), cycle_duration)


def chain_links(mechanism: Mechanism, q: Any) -> list[Link]:
    """Return the bodies of a serial arm with revolute joints at a position, in the symbols of the source.

    Parameters
    ----------
    mechanism : Mechanism
    q : array_like (n,)
    """
    held = mechanism.description
    if (
        not is_serial(mechanism)
        or any(c.joint.type_name != "revolute" for c in held.connections)
        or held.parameters
    ):
        raise InputError(
            f"'{mechanism.name}': expected one chain of bodies on revolute joints, without parameters and fixed bodies"
        )
    q = mechanism.positions(q)
    poses = [mechanism.pose(c.child, q) for c in held.connections]
    hinges = [
        mechanism.pose(c.parent, q) @ _matrix(c) if c.parent != "ground" else _matrix(c)
        for c in held.connections
    ]
    bodies = {b.name: b for b in held.bodies}
    links, before = [], np.eye(3)
    for i, (c, pose) in enumerate(zip(held.connections, poses)):
        R, body = pose[:3, :3], bodies[c.child]
        center = pose[:3, 3] + R @ np.asarray(body.com, dtype=float)
        axis = mechanism.jacobian(c.child, q)[:3, i]
        following = hinges[i + 1][:3, 3] if i + 1 < len(hinges) else center
        links.append(
            Link(
                R.T @ before, R.T @ axis, R.T @ (hinges[i][:3, 3] - center), R.T @ (following - center), float(value_of(body.mass)),
                body.inertia_matrix(),
            )
        )  # fmt: skip
        before = R
    return links


def _matrix(connection: Any) -> np.ndarray:
    return np.asarray(connection.at.matrix(), dtype=float)


def run_mesh(mechanism: Mechanism, q: Any, v: Any, balanced: bool = True) -> MeshRun:
    """Return what the mesh computes for a serial arm, and when.

    Parameters
    ----------
    mechanism : Mechanism
        One chain of bodies on revolute joints.
    q, v : array_like (n,)
        Positions [rad] and velocities [rad/s].
    balanced : bool
        Whether row 1 does a part of the work of row 0.

    Returns
    -------
    MeshRun
    """
    links = chain_links(mechanism, q)
    H, G, inertia = _inertia_rows(links)
    loads, force = _force_row(
        links, mechanism.velocities(v), np.asarray(mechanism.description.gravity, float), balanced
    )
    products, sweeps = _sweep(H, G, loads)
    return MeshRun(products[1:, 1:], products[0, 1:], tuple(inertia + force), sweeps)


def _inertia_rows(links: list[Link]) -> tuple[dict, dict, list[Operation]]:
    """Return Hbar and H = diag(J, m) Hbar by (body, joint), and what rows 1 to n do."""
    n = len(links)
    done: list[Operation] = [Operation(1, i, 1, "A", *COST["A"]) for i in range(1, n + 1)]
    bar, weighted = {}, {}
    c: dict[tuple[int, int], np.ndarray] = {}
    rho: dict[tuple[int, int], np.ndarray] = {}
    for i, body in enumerate(links, 1):
        for j in range(i, 0, -1):
            at = 2 + 2 * (i - j)
            if i == j:
                c[i, j], rho[i, j] = body.axis, body.k
            else:  # from the neighbor to the west, one cycle before
                c[i, j] = body.A @ c[i - 1, j]
                rho[i, j] = body.A @ (rho[i - 1, j] - links[i - 2].l) + body.k
            done.append(Operation(1, i, at, f"c{i}{j}", *(COST["c"] if i - j > 1 else (0, 0))))
            done.append(Operation(1, i, at + 1, f"r{i}{j}", *(COST["rho"] if i > j else (0, 0))))
            # the processor of row j keeps the column of joint j; that of row 1 is busy until it has the last
            start = at + 2
            done.append(Operation(j, i, start, f"J{i}c{i}{j}", *(COST["Jc"] if i > j else (0, 0))))
            done.append(
                Operation(j, i, start + 1, f"m{i}(r{i}{j}xc{i}{j})", *(COST["m"] if i > j else (0, 0)))
            )
            turned = np.cross(rho[i, j], c[i, j])
            bar[i, j] = np.concatenate([c[i, j], turned])
            weighted[i, j] = np.concatenate([body.J @ c[i, j], body.mass * turned])
    return bar, weighted, done


def _force_row(
    links: list[Link], v: np.ndarray, gravity: np.ndarray, balanced: bool
) -> tuple[dict[int, np.ndarray], list[Operation]]:
    """Return [J wd + w x J w; m pdd] by body, and what row 0 (and row 1 for it) does."""
    names = BALANCED if balanced else FORCE
    done, loads = [], {}
    w, wd, pushed = np.zeros(3), np.zeros(3), -gravity  # of the ground
    for i, (body, rate) in enumerate(zip(links, v), 1):
        start = 2 * i - 1
        done += [Operation(0, i, start + s, name) for s, name in enumerate(names)]
        if balanced:
            row1 = 2 * i + 4
            done += [Operation(1, i, row1 + s, name) for s, name in enumerate(OFFLOADED)]
        w_before = body.A @ w
        w = w_before + body.axis * rate
        wd = body.A @ wd + np.cross(w, body.axis * rate)
        W = _skew(wd) + _skew(w) @ _skew(w)
        pdd = body.A @ pushed - W @ body.k
        loads[i] = np.concatenate([body.J @ wd + np.cross(w, body.J @ w), body.mass * pdd])
        pushed = pdd + W @ body.l
    return loads, done


def _sweep(bar: dict, weighted: dict, loads: dict) -> tuple[np.ndarray, int]:
    """Return the products of Hbar' with all rows, row 0 the force vector, and the number of sweeps.

    Processor (k, i) holds H of joint k in body i. At sweep s it sees Hbar of joint k + s in body i, which came up from row k + s, and adds
    the product to the sum of that pair, which has come from column i + 1.
    """
    n = len(loads)
    held = {(0, i): load for i, load in loads.items()} | {(k, i): x for (i, k), x in weighted.items()}
    seen = {(k, i): bar[i, k] for i in range(1, n + 1) for k in range(1, i + 1)}
    out = np.zeros((n + 1, n + 1))
    for s in range(n + 1):
        for k in range(n + 1 - s):
            j = k + s
            if j == 0:
                continue
            moving = 0.0
            for i in range(n, j - 1, -1):
                moving += float(seen[k, i] @ held[k, i])
            out[k, j] = out[j, k] = moving
        seen = {(k - 1, i): x for (k, i), x in seen.items() if k > 0}
    return out, n + 1


def _skew(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def busiest(run: MeshRun) -> int:
    """Return the cycles in which more than one operation falls on a processor: none in a schedule that is possible.

    Parameters
    ----------
    run : MeshRun
    """
    return sum(times > 1 for times in Counter((o.row, o.column, o.cycle) for o in run.operations).values())
