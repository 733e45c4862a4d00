"""Components that a study file can hold."""

from __future__ import annotations

from articulus.declared import fields_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import ALL_COMPONENTS

TYPES: dict[str, type[Component]] = {
    c.type_name: c for c in ALL_COMPONENTS if all(f.kind not in ("signal", "code") for f in fields_of(c))
}
"""Components that a study file can hold, by the name of their type."""

IN_PYTHON: tuple[str, ...] = tuple(c.type_name for c in ALL_COMPONENTS if c.type_name not in TYPES)
"""Types of components that hold a function of the user's, which no file can."""
