"""Whether residuals are white noise: the test of Ljung & Box 1978."""

from __future__ import annotations

import numpy as np
from scipy import stats

LAGS = 20
"""Lags of the test of residuals."""
RANDOM = 1e-3
"""Probability of the residuals' correlation below which they are no white noise."""


def correlations(residuals: np.ndarray, lags: int = LAGS) -> np.ndarray:
    """Return the correlation of residuals (samples, ...) with themselves at lags 1, 2, ..., (lags, ...)."""
    r = residuals - residuals.mean(axis=0)
    size = np.maximum(np.sum(r * r, axis=0), 1e-300)
    return np.array([np.sum(r[j:] * r[:-j], axis=0) / size for j in range(1, lags + 1)])


def whiteness(residuals: np.ndarray) -> np.ndarray:
    """Return the probability that residuals (samples, ...) as correlated as these are white, (...); 1 for very few samples."""
    n = len(residuals)
    lags = min(LAGS, n // 5)
    if lags < 1:
        return np.ones(residuals.shape[1:])
    weights = 1.0 / (n - np.arange(1, lags + 1))
    q = n * (n + 2) * np.tensordot(weights, correlations(residuals, lags) ** 2, 1)
    return np.asarray(stats.chi2.sf(q, lags))
