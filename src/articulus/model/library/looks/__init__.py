"""What the machines of the library look like: one function per model, named like it. Shapes are ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module

from articulus.model.mechanism import GROUND, Description
from articulus.model.mechanism.visual import Visual

Looks = dict[str, tuple[Visual, ...]]
"""Shapes by body; those of ground by "ground"."""

LOOKS = {"cat215b": "cat215b"} | dict.fromkeys(
    (
        "hub_with_appendages",
        "human_torso",
        "king_arm",
        "padilla_arm",
        "puma600",
        "rrc7",
        "two_link",
    ),
    "machines",
)
"""Models that have shapes, and the module of their function."""


def with_looks(description: Description, name: str) -> Description:
    """Return a model of the library with its shapes; the same one when it has none."""
    if name not in LOOKS:
        return description
    make: Callable[[], Looks] = getattr(import_module(f"{__package__}.{LOOKS[name]}"), name)
    looks = make()
    bodies = tuple(dataclasses.replace(b, visuals=looks.get(b.name, ())) for b in description.bodies)
    return dataclasses.replace(description, bodies=bodies, visuals=looks.get(GROUND, ()))
