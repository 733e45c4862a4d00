"""What a pair of piezoelectric layers, or a bay of piezoelectric stacks, pushes a beam with.

Layers on both faces, driven in opposition, strain the section linearly over its height: their moment bends the layers and the
adhesive as well as the beam, so that the moment that is left for the beam alone is smaller by I_b / I_Eq.

Source: Devasia, Meressi, Paden & Bayo 1993, appendix.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from articulus.errors import InputError
from articulus.simulation.loop.components.piezo_pair import PiezoPair


@dataclass(frozen=True)
class PiezoLayers:
    """Equal piezoelectric layers on both faces of a beam of rectangular section, driven in opposition.

    Parameters
    ----------
    width, thickness : float [m]
        Width and thickness of the beam; the layers are as wide.
    young : float [Pa]
        Young's modulus of the beam.
    layer_thickness : float [m]
        Thickness of each layer.
    layer_young : float [Pa]
    d31 : float [m/V]
        Strain along the beam by field across a layer.
    adhesive_thickness, adhesive_young : float [m], [Pa]
        Thickness and Young's modulus of the bond between beam and layer; none if not given.
    capacitance : float [F]
        Capacitance of one layer as a sensor; without it there is no `sensor_gain`.
    """

    width: float
    thickness: float
    young: float
    layer_thickness: float
    layer_young: float
    d31: float
    adhesive_thickness: float = 0.0
    adhesive_young: float = 0.0
    capacitance: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "capacitance":
                continue
            least = 0.0 if field.name.startswith("adhesive") else 1e-300
            if not isinstance(value, int | float) or not least <= value < float("inf"):
                raise InputError(
                    f"PiezoLayers, {field.name}: found {value!r}; expected a {'number >= 0' if least == 0.0 else 'positive number'} in SI units"
                )

    @property
    def lever(self) -> float:
        """From the middle of the beam to the middle of a layer [m]."""
        return self.thickness / 2 + self.adhesive_thickness + self.layer_thickness / 2

    @property
    def section_gain(self) -> float:
        """Moment on the whole section by voltage, K* [N m/V] (A3)."""
        return 2 * self.width * self.layer_young * self.d31 * self.lever

    @property
    def beam_inertia(self) -> float:
        """Second moment of area of the bare beam [m^4]."""
        return self.width * self.thickness**3 / 12

    @property
    def inertia(self) -> float:
        """Second moment of area of the whole section, layers and adhesive taken by their stiffness: I_Eq [m^4] (A4)."""
        bond = self.thickness / 2 + self.adhesive_thickness / 2
        parts = (
            (self.adhesive_young, self.adhesive_thickness, bond),
            (self.layer_young, self.layer_thickness, self.lever),
        )
        return self.beam_inertia + sum(
            2 * self.width * E / self.young * (t**3 / 12 + t * at**2) for E, t, at in parts
        )

    @property
    def gain(self) -> float:
        """Moment on the bare beam by voltage, K [N m/V] (A6): what a beam model without the stiffness of the layers takes."""
        return self.section_gain * self.beam_inertia / self.inertia

    @property
    def sensor_gain(self) -> float:
        """Voltage of one open layer by the rotation of one of its ends against the other [V/rad].

        Its charge is the integral of d31 E_p times the strain, which is lever times curvature.
        """
        if self.capacitance is None:
            raise InputError("PiezoLayers.sensor_gain: a layer has no capacitance; set capacitance [F]")
        return self.width * self.layer_young * self.d31 * self.lever / self.capacitance

    def pair(self, first: str, second: str, **others: Any) -> PiezoPair:
        """Return the component for a run, between two frames on stations of a flexible body that has the bare beam's stiffness.

        Parameters
        ----------
        first, second : str
            Frames where the layers begin and end.
        **others
            Of `PiezoPair`: voltage_limit, axis, name.
        """
        return PiezoPair(first, second, gain=self.gain, **others)


@dataclass(frozen=True)
class StackBay:
    """Piezoelectric or electrostrictive stacks in place of the bars along a bay of a truss, driven in opposition on both sides.

    Parameters
    ----------
    area : float [m^2]
        Section of one stack.
    strain_per_volt : float [1/V]
        Free strain by voltage.
    young : float [Pa]
    lever : float [m]
        From the axis of the truss to the stacks.
    count : int
        Stacks in the bay.

    Source: Devasia & Bayo 1993.
    """

    area: float
    strain_per_volt: float
    young: float
    lever: float
    count: int = 4

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise InputError(
                    f"StackBay, {field.name}: found {getattr(self, field.name)!r}; expected a positive number in SI units"
                )

    @property
    def gain(self) -> float:
        """Moment by voltage [N m/V] of the blocked stacks."""
        return self.strain_per_volt * self.count * self.young * self.area * self.lever

    def pair(self, first: str, second: str, **others: Any) -> PiezoPair:
        """Return the component for a run, between the frames at the ends of the bay; others as of `PiezoPair`."""
        return PiezoPair(first, second, gain=self.gain, **others)
