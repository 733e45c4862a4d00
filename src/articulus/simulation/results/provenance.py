"""Where a run comes from: model, method, seed, versions, date."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from articulus.dynamics.mechanism import Mechanism

PACKAGES = ("articulus", "casadi", "numpy", "llvmlite")


def provenance(
    mechanism: Mechanism,
    *,
    method: str,
    step: float | None,
    seed: int | Sequence[int] | None,
    settings: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the `meta` of a run.

    Parameters
    ----------
    mechanism : Mechanism
    method : str
        Name of the integration method.
    step : float [s]
        Its step; None where the method chooses its steps.
    seed : int, or one for each run
        Seed of the random streams; None without noise.
    settings : dict
        Everything else that was asked for: plain numbers, texts, lists and dicts.
    parameters : dict of name to {"value": number or list with a number per run, "default": number}
    """
    return {
        "model": mechanism.name,
        "fingerprint": mechanism.description.fingerprint,
        "method": method,
        "step": step,
        "seed": list(seed) if isinstance(seed, Sequence) else seed,
        "settings": dict(settings),
        "parameters": dict(parameters or {}),
        "versions": dict(_versions()),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    return tuple((name, version(name)) for name in PACKAGES)
