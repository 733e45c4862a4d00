"""Ground that is dug: a field of heights, what is in the bucket, and what falls out of it.

The cutting edge takes away all that stands above it where it passes. The volume goes into the bucket up to its capacity; what is
too much is pushed in front of the edge. A bucket out of the ground that tilts loses what its opening no longer holds; it falls below the
edge, where loose ground slides to its angle of repose. Ground that was never moved stands vertically. Volume is neither lost nor won.

Limits: the edge alone cuts, walls and bottom of the bucket pass through; soil does not swell; the field ends at its border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CELL = 0.15
"""Size of a cell [m]."""
ROUNDS = 4
"""Times that loose ground slides in one update."""
AHEAD = 0.3
"""Distance in front of the edge at which the ground resists [m]."""


@dataclass(frozen=True)
class Digging:
    """A bucket that digs.

    Parameters
    ----------
    tip : str
        Frame at the middle of the cutting edge.
    bucket : str
        Body that carries the load.
    along : three numbers
        Direction of the edge, axes of the bucket.
    opening : three numbers
        Out of the bucket's opening, axes of the bucket.
    hold : three numbers [m]
        Middle of the load, axes of the bucket.
    width : float [m]
    capacity : float [m^3]
    unit_weight : float [N/m^3]
    reach : float [m]
        Half of the field's side, about the origin.
    repose : float [rad]
        Angle of repose of loose ground.
    """

    tip: str
    bucket: str
    along: tuple[float, float, float] = (0.0, 0.0, 1.0)
    opening: tuple[float, float, float] = (1.0, -1.0, 0.0)
    hold: tuple[float, float, float] = (0.4, 0.45, 0.0)
    width: float = 1.0
    capacity: float = 0.8
    unit_weight: float = 17e3
    reach: float = 9.6
    repose: float = np.radians(35.0)


class Terrain:
    """A square field of heights about the origin.

    Parameters
    ----------
    digging : Digging
    level : float [m]
        Height of the untouched ground.

    Attributes
    ----------
    heights : array, (n, n) [m]
        `heights[i, j]` at x = (i - (n - 1) / 2) CELL, y likewise with j.
    loose : array, (n, n) [m]
        Thickness of ground that was moved.
    load : float [m^3]
        In the bucket.
    """

    def __init__(self, digging: Digging, level: float):
        self.digging, self.level = digging, level
        self.n = 2 * round(digging.reach / CELL) + 1
        self.reset()

    def reset(self) -> None:
        """Return to untouched ground and an empty bucket."""
        self.heights = np.full((self.n, self.n), self.level)
        self.loose = np.zeros((self.n, self.n))
        self.load = 0.0
        self._before: np.ndarray | None = None
        self._heading = np.array([-1.0, 0.0])
        self._disturbed: tuple[slice, slice] | None = None

    @property
    def volume(self) -> float:
        """Volume above the level of the field, and in the bucket [m^3]."""
        return float((self.heights - self.level).sum()) * CELL**2 + self.load

    def height(self, x: float, y: float) -> float:
        """Return the height of the ground at a place [m]; level outside of the field."""
        i, j = self._cells(np.array([[x, y]]))[0]
        inside = 0 <= i < self.n and 0 <= j < self.n
        return float(self.heights[i, j]) if inside else self.level

    def move(self, tip: np.ndarray, rotation: np.ndarray, dt: float) -> tuple[float, float]:
        """Take the edge to where it is now, and return the rise of the ground in front of it over the level [m], and the weight of the load [N].

        Parameters
        ----------
        tip : array, (3,) [m]
        rotation : array, (3, 3)
            Of the bucket.
        dt : float [s]
            Time since the last move.
        """
        d = self.digging
        along = rotation @ np.array(d.along)
        across = np.linspace(-0.5, 0.5, round(d.width / CELL * 2) + 1)[:, None] * d.width * along
        before = tip if self._before is None else self._before
        count = max(1, int(np.ceil(2 * np.linalg.norm(tip - before) / CELL)))
        way = before + np.linspace(0, 1, count + 1)[1:, None] * (tip - before)
        self._before = tip.copy()
        shift = (tip - before)[:2]
        if np.linalg.norm(shift) > 1e-4:
            self._heading = shift / np.linalg.norm(shift)
        edge = (way[:, None] + across[None]).reshape(-1, 3)
        won = self._cut(edge)
        in_ground = won > 0 or self.height(*tip[:2]) > tip[2] + 1e-3
        front = tip[:2] + AHEAD * self._heading + across[:, :2]
        self._fill(
            won,
            in_ground,
            float((rotation @ np.array(d.opening))[2] / np.linalg.norm(d.opening)),
            front,
            tip[:2] + across[:, :2],
            dt,
        )
        self._slide()
        ahead = max(
            float(np.mean([self.height(*place) for place in front[:: max(1, len(front) // 4)]])),
            self.height(*tip[:2]),
        )
        return ahead - self.level, self.load * d.unit_weight

    def _cells(self, places: np.ndarray) -> np.ndarray:
        """Return the indices of the cells of places (k, 2)."""
        return np.rint(places / CELL + (self.n - 1) / 2).astype(int)

    def _inside(self, places: np.ndarray) -> np.ndarray:
        """Return the cells of places (k, 2), each once, (m, 2)."""
        cells = np.unique(self._cells(places), axis=0)
        return cells[((cells >= 0) & (cells < self.n)).all(axis=1)]

    def _cut(self, edge: np.ndarray) -> float:
        """Take away what stands above points of the edge (k, 3); return its volume [m^3]."""
        cells = self._cells(edge[:, :2])
        good = ((cells >= 0) & (cells < self.n)).all(axis=1)
        i, j = cells[good].T
        lowest = self.heights.copy()
        np.minimum.at(lowest, (i, j), edge[good, 2])
        gone = self.heights - lowest
        self.loose = np.maximum(self.loose - gone, 0.0)
        self.heights = lowest
        if gone.any():
            self._disturb(np.argwhere(gone > 0))
        return float(gone.sum()) * CELL**2

    def _fill(
        self, won: float, in_ground: bool, up: float, front: np.ndarray, below: np.ndarray, dt: float
    ) -> None:
        """Put what was cut into the bucket, what does not fit in front of it, and what tilts out below it."""
        capacity = self.digging.capacity
        room = capacity - self.load
        self.load += min(won, room)
        self._pour(max(won - room, 0.0), front)
        held = capacity if in_ground else capacity * min(max((up + 0.1) / 0.4, 0.0), 1.0)
        out = min(max(self.load - held, 0.0), 2.0 * capacity * dt)
        self.load -= out
        self._pour(out, below)

    def _pour(self, volume: float, places: np.ndarray) -> None:
        """Lay a volume evenly on the cells of places; outside of the field nothing leaves the bucket."""
        if volume <= 0.0:
            return
        cells = self._inside(places)
        if not len(cells):
            self.load += volume
            return
        i, j = cells.T
        deep = volume / (len(cells) * CELL**2)
        self.heights[i, j] += deep
        self.loose[i, j] += deep
        self._disturb(cells)

    def _disturb(self, cells: np.ndarray) -> None:
        """Note where loose ground may slide: about these cells, and where it slid before."""
        low, high = cells.min(axis=0), cells.max(axis=0)
        if self._disturbed is not None:
            low = np.minimum(low, [s.start + 6 for s in self._disturbed])
            high = np.maximum(high, [s.stop - 7 for s in self._disturbed])
        self._disturbed = tuple(slice(max(a - 6, 0), min(b + 7, self.n)) for a, b in zip(low, high))  # type: ignore[assignment]

    def _slide(self) -> None:
        """Let loose ground slide down where it is steeper than the angle of repose, a few times; volume stays."""
        if self._disturbed is None:
            return
        h, loose = self.heights[self._disturbed], self.loose[self._disturbed]
        steepest, moved = np.tan(self.digging.repose) * CELL, 0.0
        for _ in range(ROUNDS):
            for axis in (0, 1):
                drop = np.diff(h, axis=axis)
                excess = 0.25 * (np.abs(drop) - steepest) * (np.abs(drop) > steepest)
                giver = np.where(drop > 0, np.delete(loose, 0, axis), np.delete(loose, -1, axis))
                flow = np.sign(drop) * np.minimum(excess, 0.5 * giver)
                for field in (h, loose):
                    gain = np.zeros_like(field)
                    first, second = (slice(None, -1), slice(1, None))
                    lower = (first, slice(None)) if axis == 0 else (slice(None), first)
                    upper = (second, slice(None)) if axis == 0 else (slice(None), second)
                    gain[lower] += flow
                    gain[upper] -= flow
                    field += gain
                moved = max(moved, float(np.abs(flow).max(initial=0.0)))
        if moved < 1e-4:
            self._disturbed = None
