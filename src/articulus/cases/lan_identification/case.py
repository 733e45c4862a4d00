"""Damping, frequency and time constant of a transient by differential corrections, from wrong values."""

import numpy as np

from articulus.design.modal import decay_fit
from articulus.study.records import Record

INTERVAL, SAMPLES = 0.05, 200
TRUE = np.array([2.0, 0.1, 0.5])
"""Frequency [rad/s], damping ratio, rate of the real mode [1/s]; assumed."""
WRONG = (1.35, 0.65, 0.66), (0.7, 1.4, 1.3), (1.3, 1.3, 0.7), (0.65, 0.7, 0.7)
"""Estimates over the true values."""


def transient() -> Record:
    t = INTERVAL * np.arange(SAMPLES)
    w, z, s = TRUE
    d = w * np.sqrt(1 - z * z)
    x = np.exp(-z * w * t) * (np.cos(d * t) + 0.4 * np.sin(d * t)) + 0.7 * np.exp(-s * t) + 0.2 + 0.01 * t
    return Record("transient", t, {"x": x})


def compute() -> dict:
    record = transient()
    fits = []
    for k in WRONG:
        w, z, rate = TRUE * k
        fits.append(decay_fit(record, "x", 1, 1, trend=True, guess=([w], [z], [rate])))
    found = np.array([[f.frequencies[0], f.damping[0], f.rates[0]] for f in fits])
    return {
        "frequency, damping ratio and rate from four wrong starts over the true ones": found / TRUE,
        "G is below 1e-7 from all of them (1 = yes)": max(f.error for f in fits) < 1e-7,
        "corrections, at most": max(f.iterations for f in fits),
    }
