"""What surrounds a craft in orbit: where it is, the air, the Sun and its shadow, the magnetic field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.errors import InputError
from articulus.model.mechanism.numbers import (
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    three,
    values_of,
)
from articulus.simulation.loop.component import Component, Scope, Sensor
from articulus.simulation.loop.components.checks import check_frame, wrong
from articulus.spacecraft import EARTH, EXPONENTIAL, Atmosphere, Epoch, MagneticField, sun_position, sunlight
from articulus.spacecraft.fields import digest


@dataclass(frozen=True)
class SpaceEnvironment(Sensor):
    """The surroundings of a craft near the Earth, for all parts that read them.

    The ground frame is inertial: its axes are the mean equator and equinox of the epoch, moved to `center` in the ground frame.

    Parameters
    ----------
    frame : str
        Body or frame at which air, light and field are taken; they are the same for the whole craft.
    epoch : str
        Instant of t = 0 in UTC, such as "2025-03-20T09:01:00Z". Without one there is no Sun and no magnetic field.
    center : three numbers [m]
        The Earth's center, ground frame.
    altitudes, densities : numbers [m], [kg/m^3]
        Rows of the atmosphere, exponential between them; CIRA-72 (Vallado 2013, table 8-4) if none is given.
    scale_height : number [m]
        Beyond the last row.
    magnetic : str
        "wmm2025" (to degree 6), or the path of a WMM or IGRF file.
    magnetic_digest : str
        What tells the content of that file; filled in. A study that states one refuses a file with another content.
    name : str

    Signals: `position` [m] and `velocity` [m/s] from the Earth's center, `altitude` above the ellipsoid [m], `density` [kg/m^3] and `wind` [m/s],
    the velocity of air that turns with the Earth; with an epoch `sun` [m] from the craft, `sunlight` [-] from 0 in the umbra to 1, and `magnetic_field` [T]. All in ground axes.

    Notes
    -----
    Sources: `articulus.spacecraft`, module by module.
    """

    frame: str
    epoch: str = ""
    center: Vector = quantity("m", "the Earth's center, ground frame", size="3", default=(0.0, 0.0, 0.0))
    altitudes: tuple[float, ...] = quantity("m", "rows of the atmosphere", size="rows", default=())
    densities: tuple[float, ...] = quantity("kg/m^3", "density of each row", size="rows", default=())
    scale_height: float = quantity("m", "scale height beyond the last row", default=268e3)
    magnetic: str = "wmm2025"
    magnetic_digest: str = ""
    name: str = "space"

    type_name = "space_environment"
    signals: ClassVar = {
        "position": "m",
        "velocity": "m/s",
        "altitude": "m",
        "density": "kg/m^3",
        "wind": "m/s",
        "sun": "m",
        "sunlight": "-",
        "magnetic_field": "T",
    }
    floors: ClassVar = {"altitude": (0.0, "the craft is below the surface of the Earth")}

    def __post_init__(self) -> None:
        convert(self, center=three, altitudes=as_numbers, densities=as_numbers, scale_height=as_number)
        self.atmosphere  # noqa: B018 (checks its numbers)
        if not self.epoch:
            return
        try:
            Epoch.of(self.epoch)
        except InputError as error:
            raise error.within(f"SpaceEnvironment '{self.name}'", "epoch") from None
        MagneticField.read(self.magnetic)
        found = digest(self.magnetic)
        if self.magnetic_digest not in ("", found):
            raise wrong(
                self,
                "magnetic",
                f"'{self.magnetic}' with digest {found}",
                f"the file with digest {self.magnetic_digest}",
            )
        object.__setattr__(self, "magnetic_digest", found)

    @property
    def atmosphere(self) -> Atmosphere:
        """Return the density over altitude."""
        if not self.altitudes and not self.densities:
            return EXPONENTIAL
        return Atmosphere(values_of(self.altitudes), values_of(self.densities), self.scale_height)

    def signal_units(self) -> dict[str, str]:
        return self.signals if self.epoch else dict(list(self.signals.items())[:5])

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        p = s.ask("pose", s.q, frames=[self.frame])[:3, 3] - ca.vertcat(*map(s.number, self.center))
        v = s.ask("velocity", s.q, s.v, frames=[self.frame])[3:]
        altitude = EARTH.altitude(p)
        out = {
            "position": p,
            "velocity": v,
            "altitude": altitude,
            "density": self.atmosphere.density(altitude),
            "wind": EARTH.rotation * ca.vertcat(-p[1], p[0], 0),
        }
        return out | self._at_epoch(s, p) if self.epoch else out

    def _at_epoch(self, s: Scope, p: SX) -> dict[str, SX]:
        """Return what needs an epoch."""
        epoch = Epoch.of(self.epoch)
        sun, R = sun_position(epoch, s.t), epoch.earth_rotation(s.t, EARTH.rotation)
        year = 2000.0 + (epoch.days + 0.5) / 365.25
        field = MagneticField.read(self.magnetic).field(ca.mtimes(R, p), year)
        return {
            "sun": sun - p,
            "sunlight": sunlight(p, sun, EARTH.radius),
            "magnetic_field": ca.mtimes(R.T, field),
        }


def surroundings(s: Scope, component: Component, environment: str, *wanted: str) -> list[SX]:
    """Return signals of the environment by name; raise InputError that says which component has none, or no epoch."""
    out = []
    for signal in wanted:
        try:
            out.append(s.read(f"{environment}.{signal}"))
        except InputError:
            hint = "A SpaceEnvironment gives it"
            hint += ", with an epoch" if signal in ("sun", "sunlight", "magnetic_field") else ""
            raise wrong(
                component,
                "environment",
                f"no signal '{environment}.{signal}'",
                "the name of a SpaceEnvironment that has it",
                hint,
            ) from None
    return out
