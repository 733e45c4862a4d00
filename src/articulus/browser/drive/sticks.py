"""What the operator does, as a component: held values that are written from outside while the machine runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.simulation.loop.component import Scope, Sensor

NAME = "sticks"


@dataclass(frozen=True)
class Sticks(Sensor):
    """Deflections of the sticks, the mode and a switch for the soil, renewed at every period.

    They are memories that the component never changes by itself: whoever runs the loop writes them (`Plant.put`), and a
    log of the held values is a log of what the operator did.

    Parameters
    ----------
    count : int
        Number of axes.
    period : number [s]
        Sampling period.
    name : str

    Signals: `axes`, each from -1 to 1; `mode`, the number of the mode; `soil`, 1 when there is soil; `rise` [m] of the ground before the tool over its level and
    `load` [N], the weight of what the tool holds, both as `Terrain` has them.
    """

    count: int
    period: float
    name: str = NAME

    type_name = "sticks"
    signals: ClassVar = {"axes": "-", "mode": "-", "soil": "-", "rise": "m", "load": "N"}

    def measure(self, s: Scope) -> dict[str, SX]:
        return {
            "axes": s.memory("axes", [0.0] * self.count),
            "mode": s.memory("mode", 0.0),
            "soil": s.memory("soil", 0.0),
            "rise": s.memory("rise", 0.0),
            "load": s.memory("load", 0.0),
        }
