"""One line of the verification table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Value = float | list


@dataclass(frozen=True)
class Row:
    """A published number beside the computed one.

    Parameters
    ----------
    case : str
        Name of the case.
    source : str
        Publication, with section, table or equation.
    quantity : str
        What is compared, with its unit.
    printed : float or nested list of float
        What the source says.
    computed : float, nested list of float, or None
        What articulus says; None when the case stopped before it.
    tolerance : float
        Largest difference of any entry that counts as agreement.
    reason : str
        Where the printed digits come from and why the tolerance is what it is.
    passed : bool
        Whether they agree.
    """

    case: str
    source: str
    quantity: str
    printed: Value
    computed: Value | None
    tolerance: float
    reason: str
    passed: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON knows it; numbers that are not finite become null."""
        return {
            "case": self.case,
            "source": self.source,
            "quantity": self.quantity,
            "printed": _finite(self.printed),
            "computed": _finite(self.computed),
            "tolerance": self.tolerance,
            "reason": self.reason,
            "pass": self.passed,
        }


def agrees(printed: Value, computed: Value, tolerance: float) -> bool:
    """Return whether the shapes are equal and no entry differs by more than the tolerance (NaN never agrees)."""
    a, b = np.asarray(printed, dtype=float), np.asarray(computed, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance))


def _finite(value: Value | None) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if value is not None and math.isfinite(value) else None
