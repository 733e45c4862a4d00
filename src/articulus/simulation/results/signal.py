"""A quantity over time, with the name and unit of every entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import Connection, Description, Joint


@dataclass(frozen=True, eq=False)
class Signal:
    """A quantity over time.

    Parameters
    ----------
    name : str
        Name in the run, such as "q" or "gyro.rate".
    values : array, (time, n) or (batch, time, n)
        Kept as float64.
    labels : tuple of str
        A name for each of the n entries.
    unit : str or tuple of str
        Unit of all entries, or one for each; "-" for pure numbers. Stands in the object as one for each.
    meaning : str
        What it is, in a few words.
    """

    name: str
    values: np.ndarray
    labels: tuple[str, ...]
    unit: str | tuple[str, ...] = "-"
    meaning: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        object.__setattr__(self, "labels", tuple(self.labels))
        units = (self.unit,) * len(self.labels) if isinstance(self.unit, str) else tuple(self.unit)
        object.__setattr__(self, "unit", units)
        shape, n = self.values.shape, len(self.labels)
        if len(shape) not in (2, 3) or shape[-1] != n:
            raise InputError(
                f"signal '{self.name}': values have shape {shape}; expected (time, {n}) or (batch, time, {n}), "
                "one entry a label"
            )
        if len(units) != n or len(set(self.labels)) != n:
            raise InputError(
                f"signal '{self.name}': found {len(set(self.labels))} different labels and {len(units)} units; expected {n}"
            )

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each entry."""
        return tuple(self.unit)

    @property
    def columns(self) -> tuple[str, ...]:
        """Full name of each entry, such as "q.lift"."""
        return tuple(f"{self.name}.{label}" if label else self.name for label in self.labels)

    def entry(self, label: str) -> np.ndarray:
        """Return one entry over time, (..., time)."""
        if label not in self.labels:
            raise InputError(
                f"signal '{self.name}' has no entry '{label}'; {did_you_mean(label, self.labels)}"
            )
        return self.values[..., self.labels.index(label)]


def position_signal(description: Description, values: np.ndarray) -> Signal:
    """Return positions (..., time, nq) as the signal "q"."""
    units: list[str] = []
    for c in description.connections:
        own = [] if c.name in description.coupled else _position_units(c.joint)
        units += [*own, *_modal(description, c, "-")]
    return Signal("q", values, description.coordinate_names(), tuple(units), "position")


def coupled_signal(description: Description, values: np.ndarray) -> Signal:
    """Return positions of the coupled joints (..., time, joints) as the signal "coupled"."""
    joints = [c for c in description.connections if c.name in description.coupled]
    units = tuple(unit for c in joints for unit in _position_units(c.joint))
    return Signal("coupled", values, tuple(c.name for c in joints), units, "position of coupled joints")


def velocity_signal(description: Description, values: np.ndarray) -> Signal:
    """Return velocities (..., time, nv) as the signal "v"."""
    units = description.velocity_units("rad/s", "m/s", "1/s")
    return Signal("v", values, description.coordinate_names(rates=True), units, "velocity")


def force_signal(
    description: Description, values: np.ndarray, name: str = "tau", meaning: str = "joint force"
) -> Signal:
    """Return joint forces (..., time, nv) as a signal."""
    units = description.velocity_units("N m", "N", "J")
    return Signal(name, values, description.coordinate_names(rates=True), units, meaning)


def _position_units(joint: Joint) -> list[str]:
    """Return the units of a joint's coordinates; where these are more than its degrees of freedom, a quaternion is among them."""
    if joint.nq == joint.nv:
        return ["rad" if turns else "m" for turns in joint.rotational]
    return ["-" if name.startswith("q") else "m" for name in joint.coordinate_names]


def _modal(description: Description, c: Connection, unit: str) -> list[str]:
    """Return the unit of every modal coordinate of a joint's child."""
    modes, _ = description.mode_slices(c.child)
    return [unit] * (modes.stop - modes.start)
