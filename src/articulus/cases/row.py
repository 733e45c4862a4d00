"""One line of the verification table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Value = float | list


@dataclass(frozen=True)
class CaseRow:
    """An expected number beside the computed one.

    Parameters
    ----------
    case : str
        Name of the case.
    source : str
        Publication, with section, table or equation.
    quantity : str
        What is compared, with its unit.
    expected : float or nested list of float
        What the computed number should be.
    computed : float, nested list of float, or None
        What articulus says; None when the case stopped before it.
    tolerance : float
        Largest difference of any entry that counts as agreement.
    origin : str
        Where the expected number comes from, a key of `articulus.cases.ORIGINS`.
    reason : str
        Why the tolerance is what it is, and more on the origin.
    passed : bool
        Whether they agree; of a known deviation, whether they differ as far as it says.
    deviation : str
        Why they are known to differ; "" where they should agree.
    same_as : str
        "case: quantity" of the row that this one repeats; "" if it stands for itself.
    """

    case: str
    source: str
    quantity: str
    expected: Value
    computed: Value | None
    tolerance: float
    origin: str
    reason: str
    passed: bool
    deviation: str = ""
    same_as: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON knows it; numbers that are not finite become null."""
        return {
            "case": self.case,
            "source": self.source,
            "quantity": self.quantity,
            "expected": _finite(self.expected),
            "computed": _finite(self.computed),
            "tolerance": self.tolerance,
            "origin": self.origin,
            "reason": self.reason,
            "deviation": self.deviation or None,
            "same_as": self.same_as or None,
            "pass": self.passed,
        }


def agrees(expected: Value, computed: Value, tolerance: float) -> bool:
    """Return whether the shapes are equal and no entry differs by more than the tolerance (NaN never agrees)."""
    a, b = np.asarray(expected, dtype=float), np.asarray(computed, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance))


def _finite(value: Value | None) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if value is not None and math.isfinite(value) else None
