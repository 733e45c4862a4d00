"""What a run reports: signals computed from the logged states, all samples at once in native code."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from articulus import kernel
from articulus.errors import InputError, did_you_mean
from articulus.simulation.loop.component import Actuator, Component
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.signal_meanings import meaning_of
from articulus.simulation.results.signal import (
    Signal,
    coupled_signal,
    force_signal,
    position_signal,
    velocity_signal,
)

ENERGY = ("kinetic", "potential", "input", "dissipated")
MOMENTUM = ("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")


class Outputs:
    """The signals of a run.

    Parameters
    ----------
    system : System
    names : sequence of str, optional
        Signals besides q and v; all if not given, but for those that the system leaves out.
    """

    def __init__(self, system: System, names: Sequence[str] | None = None):
        self.system = system
        known = system.outputs
        left_out = system.left_out if names is None else ("q", "v")
        chosen = tuple(n for n in (known if names is None else names) if n not in left_out)
        for name in chosen:
            if name not in known:
                raise InputError(f"outputs: no signal '{name}'; {did_you_mean(name, [*known, 'q', 'v'])}")
        self.names = tuple(n for n in chosen if system.size(n))

    @functools.cached_property
    def _kernel(self) -> kernel.Kernel:
        return self.system.reporting_kernel(self.names)

    def signals(
        self, samples: np.ndarray, p: np.ndarray, w: np.ndarray, t: np.ndarray, h: float, single: bool
    ) -> dict[str, Signal]:
        """Return all signals from samples (rows, time, nc + nd), parameters (rows, np) and noise (rows, time, nw)."""
        values = {name: samples[..., self.system.places[name]] for name in "qv"}
        values |= self.values(samples, p, w, t, h)
        return {name: self._signal(name, each[0] if single else each) for name, each in values.items()}

    def values(
        self, samples: np.ndarray, p: np.ndarray, w: np.ndarray, t: np.ndarray, h: float
    ) -> dict[str, np.ndarray]:
        """Return the values of all signals but q and v, (rows, time, n) each, from what `signals` takes."""
        if not self.names:
            return {}
        nc = self.system.nc
        c, d = np.ascontiguousarray(samples[..., :nc]), np.ascontiguousarray(samples[..., nc:])
        found = self._kernel(c, d, p[:, None, :], w, t, np.full((), h))
        found = found if isinstance(found, tuple) else (found,)
        values = {name: np.reshape(each, (*samples.shape[:2], -1)) for name, each in zip(self.names, found)}
        if "energy" in values:
            values["energy"] = _with_balance(values["energy"])
        return values

    def blank(self) -> dict[str, Signal]:
        """Return all signals without a sample: what a run will report, with names and units."""
        d = self.system.description
        sizes = {"q": d.nq, "v": d.nv} | {name: self.system.size(name) for name in self.names}
        if "energy" in sizes:
            sizes["energy"] += 1
        return {name: self._signal(name, np.zeros((0, n))) for name, n in sizes.items()}

    def _signal(self, name: str, values: np.ndarray) -> Signal:
        d, net = self.system.description, self.system.network
        if name == "q":
            return position_signal(d, values)
        if name == "v":
            return velocity_signal(d, values)
        if name == "coupled":
            return coupled_signal(d, values)
        if name == "vdot":
            rates = velocity_signal(d, values)
            return Signal("vdot", values, rates.labels, tuple(f"{u}^2" for u in rates.units), "acceleration")
        if name == "tau":
            return force_signal(d, values, meaning="joint force of the components")
        if name == "u":
            if not net.driven:
                return force_signal(d, values, "u", "command")
            return Signal("u", values, net.command_names, self._command_units(), "command")
        if name == "energy":
            return Signal(name, values, (*ENERGY, "balance"), "J", "energies and work")
        if name == "momentum":
            units = ("kg m^2/s",) * 3 + ("kg m/s",) * 3
            return Signal(name, values, MOMENTUM, units, "momentum about the ground origin")
        if name == "constraint":
            return Signal(name, values, ("position", "velocity"), "-", "largest residual of the constraints")
        if name == "projected":
            meaning = "sum of the energies that each return onto the constraints added or took"
            return Signal(name, values, ("",), "J", meaning)
        if name == "multipliers":
            return Signal(name, values, d.constraint_rows, "-", "multipliers of the constraints")
        if name == "stops":
            of_joints = force_signal(d, np.zeros((0, d.nv))).units
            own = tuple(of_joints[k] for k in self.system.stop_places)
            again = [net.stops[:i].count(joint) for i, joint in enumerate(net.stops)]
            labels = tuple(f"{joint}.{n}" if n else joint for joint, n in zip(net.stops, again))
            return Signal(name, values, labels, own, "force of the stop on a joint that rests there")
        n = values.shape[-1]
        labels = tuple(map(str, range(n))) if n > 1 else ("",)
        owner, _, signal = name.rpartition(".")
        component = next((type(c) for c in net.components if c.name == owner), None)
        return Signal(name, values, labels, self._units(name, n), meaning_of(signal, component))

    def _units(self, name: str, count: int) -> tuple[str, ...]:
        """Return the unit of each entry of a component's signal."""
        owner, _, signal = name.rpartition(".")
        component = next((c for c in self.system.network.components if c.name == owner), None)
        if component is None:
            return ("-",) * count
        return self._fitting(component, component.signal_units().get(signal, "-"), count)

    def _command_units(self) -> tuple[str, ...]:
        """Return the unit of the command of each actuator."""
        actuators = (c for c in self.system.network.components if isinstance(c, Actuator))
        return tuple(unit for a in actuators for unit in self._fitting(a, a.command_unit(), 1))

    def _fitting(self, component: Component, unit: str, count: int) -> tuple[str, ...]:
        """Return a component's unit for each of some entries: of "rad or m" the one that fits its joint, of "N m, N" halves."""
        turning, sliding = unit.partition(" or ")[::2]
        if not sliding:
            parts = unit.split(", ")
            return tuple(part for part in parts for _ in range(count // len(parts)))
        joints = getattr(component, "joint", "") or getattr(component, "joints", ())
        chosen = {joints} if isinstance(joints, str) else set(joints)
        d = self.system.description
        found = [
            c.joint for c in (d.connections if chosen else d.independent) if not chosen or c.name in chosen
        ]
        turns = [t for joint in found for t in joint.rotational[: joint.nv]]
        return tuple(turning if t else sliding for t in turns) if len(turns) == count else (unit,) * count


def _with_balance(energy: np.ndarray) -> np.ndarray:
    """Return energies with what is unaccounted for: stored minus stored at the start minus input plus dissipated."""
    kinetic, potential, put_in, dissipated = np.moveaxis(energy, -1, 0)
    stored = kinetic + potential
    balance = stored - stored[..., :1] - (put_in - put_in[..., :1]) + (dissipated - dissipated[..., :1])
    return np.concatenate([energy, balance[..., None]], axis=-1)
