"""`Ports`: names and units of the inputs and outputs of a linear model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ports:
    """Names and units of what goes into the linear model of a loop and comes out of it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
