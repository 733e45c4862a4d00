"""Times as whole numbers of steps: one rule for ends, samples and sampling periods."""

from __future__ import annotations

import numpy as np

from articulus.errors import Finding, InputError

MOST = 2.0**53
"""Steps that can be counted: beyond, a float64 cannot distinguish one number of steps from the next."""


def steps_in(span: float, step: float) -> int | None:
    """Return how many steps make a time, at least one; None when no whole number of them does (to 1e-9)."""
    ratio = span / step
    if not ratio <= MOST:
        return None
    count = round(ratio)
    return count if count >= 1 and abs(count * step - span) <= 1e-9 * max(span, step) else None


def whole_steps(name: str, span: float, step: float, hint: str = "") -> int:
    """Return how many steps make a time, or raise what is wrong with it, and what to do."""
    count = steps_in(span, step)
    if count is None:
        found = f"{span:.9g} s, {span / step:.6g} steps of {step:.9g} s"
        raise InputError(Finding(name, found, "a whole number of steps", hint))
    return count


def end_hint(span: float, step: float) -> str:
    """Return what to do about an end that no whole number of steps reaches: the next shorter step, or the verb that chooses it."""
    if not step < span < MOST * step:
        return ""
    nearest = span / np.ceil(span / step)
    return f"step={nearest:.12g} would do; `run` of a plan or motion chooses a step that ends where the motion does"
