"""What the panel shows of a machine: pressures, flows and power of its hydraulics, where its tool is, and what the ground does to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.browser.drive.plant import Plant
from articulus.simulation.loop.components import HydraulicCylinder, HydraulicRotary
from articulus.simulation.loop.outputs import Outputs

PSI, CUBIC_INCH = 6894.757293, 1.6387064e-5


@dataclass(frozen=True)
class Gauge:
    """One number of the panel.

    Parameters
    ----------
    name, unit : str
    full : float
        Where its bar ends; 0 for none.
    group : str
        Name of the rows that stand together.
    """

    name: str
    unit: str
    full: float = 0.0
    group: str = ""


class Gauges:
    """The gauges of a machine: pressures, flows and power where it has hydraulics, depth, reach, force and load where it digs."""

    def __init__(self, plant: Plant):
        self.plant, self._digging = plant, plant.machine.digging
        parts = plant.system.network.components
        self._drives = [c for c in parts if isinstance(c, HydraulicRotary | HydraulicCylinder)]
        names = [f"{c.name}.{kind}" for c in self._drives for kind in ("pressures", "flows")]
        if self._digging is not None:
            names.append(f"{self._digging.tip}_soil.force")
        self._outputs = Outputs(plant.system, tuple(names)) if names else None
        self.all = tuple(self._describe())

    def _describe(self) -> list[Gauge]:
        out = []
        for c in self._drives:
            full = _value(c.supply) * (PSI if isinstance(c, HydraulicRotary) else 1.0) / 1e6
            out += [Gauge(c.name, "MPa", full, "pressure"), Gauge(c.name, "L/min", 0.0, "flow")]
        if self._drives:
            out.append(Gauge("power", "kW", 100.0, "power"))
        if self._digging is not None:
            out += [
                Gauge("depth of the edge", "m"),
                Gauge("reach of the edge", "m"),
                Gauge("force on the edge", "kN", 100.0, "soil"),
            ]
            out += [
                Gauge("in the bucket", "m³", self._digging.capacity, "soil"),
                Gauge("weight of it", "kN", 0.0, "soil"),
            ]
            out += [Gauge(f"force.{x}", "kN", 0.0, "arrow") for x in "xyz"] + [
                Gauge(f"edge.{x}", "m", 0.0, "arrow") for x in "xyz"
            ]
        return out

    def at(self, state: np.ndarray) -> np.ndarray:
        """Return the numbers of all gauges at a state, (gauges,)."""
        if self._outputs is None:
            return np.zeros(0)
        plant = self.plant
        noise = np.zeros((1, 1, plant.system.nw))
        signals = self._outputs.signals(state[None, None], plant.p[None], noise, np.zeros(1), plant.h, True)
        out: list[float] = []
        power = 0.0
        for c in self._drives:
            pressures, flows = (
                np.ravel(signals[f"{c.name}.{kind}"].values) for kind in ("pressures", "flows")
            )
            imperial = isinstance(c, HydraulicRotary)
            p, supply = (x * (PSI if imperial else 1.0) for x in (float(pressures.max()), _value(c.supply)))
            entering = abs(float(flows[0])) if imperial else float(np.maximum(flows, 0.0).sum())
            flow = entering * (CUBIC_INCH if imperial else 1.0)
            power += supply * flow
            out += [p / 1e6, 6e4 * flow]
        if self._drives:
            out.append(power / 1e3)
        if self._digging is not None:
            out += self._digs(state, np.ravel(signals[f"{self._digging.tip}_soil.force"].values))
        return np.array(out)

    def _digs(self, state: np.ndarray, force: np.ndarray) -> list[float]:
        digging, plant = self._digging, self.plant
        assert digging is not None
        x, y, z = plant.machine.mechanism.pose(digging.tip, plant.q(state))[:3, 3]
        load = plant.load(state)
        size = float(np.linalg.norm(force))
        depth = max(plant.machine.ground - z, 0.0)
        return [
            depth,
            float(np.hypot(x, y)),
            size / 1e3,
            load / digging.unit_weight,
            load / 1e3,
            *(force / 1e3),
            x,
            y,
            z,
        ]


def _value(number: object) -> float:
    return float(getattr(number, "value", number))  # type: ignore[arg-type]
