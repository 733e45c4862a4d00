"""Transcriptions, one class for each kind; `scheme` finds one by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from articulus.errors import Finding, InputError
from articulus.motion.trajectory.schemes.collocation import Collocation, hermite_simpson, lobatto, radau
from articulus.motion.trajectory.schemes.riccati import RiccatiSteps, riccati
from articulus.motion.trajectory.schemes.scheme import PlanSettings, Scheme
from articulus.motion.trajectory.schemes.shooting import Shooting, shooting
from articulus.motion.trajectory.schemes.weak import WeakForm, weak

ALL_SCHEMES: dict[str, Callable[[], Scheme]] = {
    "hermite_simpson": hermite_simpson,
    "shooting": shooting,
    "weak": weak,
    "riccati": riccati,
    "riccati semi_implicit_euler": lambda: riccati("semi_implicit_euler"),
}
"""Schemes by name."""
WITH_POINTS: dict[str, Callable[[int], Scheme]] = {"lobatto": lobatto, "radau": radau}
"""Schemes whose name continues with the number of points of an interval."""


def scheme(name: Any) -> Scheme:
    """Return a scheme by its name, such as "hermite_simpson", "shooting", "weak", "lobatto 5", "radau 3" or "riccati"."""
    if not isinstance(name, str):
        raise InputError(f'scheme: found {name!r}; expected a name such as "hermite_simpson"')
    kind, _, count = name.partition(" ")
    if name in ALL_SCHEMES:
        return ALL_SCHEMES[name]()
    if kind in WITH_POINTS and count.isdigit():
        return WITH_POINTS[kind](int(count))
    names = [*(f'"{n}"' for n in ALL_SCHEMES), *(f'"{n} <points>"' for n in WITH_POINTS)]
    raise InputError(Finding("", f'scheme "{name}"', f"{', '.join(names[:-1])} or {names[-1]}"))


__all__ = [
    "ALL_SCHEMES",
    "WITH_POINTS",
    "Collocation",
    "PlanSettings",
    "RiccatiSteps",
    "Scheme",
    "Shooting",
    "WeakForm",
    "hermite_simpson",
    "lobatto",
    "radau",
    "riccati",
    "scheme",
    "shooting",
    "weak",
]
