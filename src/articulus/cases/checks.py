"""What the scripts of several cases need."""

from __future__ import annotations

from typing import Any

import numpy as np


def relative(found: Any, expected: Any) -> float:
    """Return the largest difference over the largest expected entry [-]."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())
