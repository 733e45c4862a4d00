"""One line of the benchmark."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class FigureLimit:
    """A limit that a figure should keep.

    Parameters
    ----------
    limit : float
    at_least : bool
        Whether the figure should be at least, or at most, the limit.
    unit : str
        Written after the figure and the limit.
    """

    limit: float
    at_least: bool = True
    unit: str = "x"

    def accepts(self, figure: float) -> bool:
        return figure >= self.limit if self.at_least else figure <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Measurement:
    """A measurement of ours beside a peer's.

    Parameters
    ----------
    name : str
        What is computed.
    n : int
        Degrees of freedom of the mechanism.
    ours_us, peer_us : float, optional [microseconds]
        Per evaluation.
    peer : str
        Who the peer is; empty if there is none.
    value : float, optional
        The figure that the bar is about; None if it could not be measured.
    unit : str
        Unit of that figure.
    bar : FigureLimit, optional
        None for rows that only inform.
    flops : int, optional
        Floating-point operations of one evaluation of ours.
    peak_share : float, optional
        Part of the core's peak flops that ours reached.
    failed : bool
        Whether ours and the peer's results differ, so that there is nothing to time.
    note : str
    """

    name: str
    n: int
    ours_us: float | None = None
    peer: str = ""
    peer_us: float | None = None
    value: float | None = None
    unit: str = "x"
    bar: FigureLimit | None = None
    flops: int | None = None
    peak_share: float | None = None
    failed: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the peer's time is ours."""
        return self.peer_us / self.ours_us if self.peer_us and self.ours_us else None

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar or without the figure."""
        if self.bar is None or (self.value is None and not self.failed):
            return None
        return self.value is not None and self.bar.accepts(self.value)

    def with_share(self, peak: float) -> Measurement:
        """Return the row with its share of a peak [flop/s]; a row without flops, or with a share, as it is."""
        if self.flops is None or self.ours_us is None or self.peak_share is not None:
            return self
        return replace(self, peak_share=self.flops / (1e-6 * self.ours_us * peak))

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON knows it."""
        fields = asdict(self) | {
            "bar": str(self.bar) if self.bar else None,
            "ratio": self.ratio,
            "met": self.met,
        }
        return {key: _round_figure(value) for key, value in fields.items()}


def _round_figure(value: Any) -> Any:
    """Return a float with four digits, or None if it is not finite; anything else as it is."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if math.isfinite(value) else None
