"""What error of a step adaptive methods allow in each state where none is given: a share of what is large for it."""

from __future__ import annotations

import numpy as np

from articulus.simulation.loop.functions import OWN, System

SHARE = 1e-10
"""Error of a step over what is large for a state [-]: 0.1 nm for a mechanism of 1 m, 1e-10 rad for angles."""
WORK = 100.0
"""Work that counts as large, over the mass times the square of length over time [-]. Work is an account of what the other states do, which
decide about the steps: with less, a force that jumps while little work is done would make steps too small. A balance is told to 1e-8 of
the characteristic energy, so that slow motions without gravity, which have less energy than the scales say, are judged rightly too."""


def state_sizes(system: System) -> np.ndarray:
    """Return what is large for each continuous state, (nc,), from the scales of the mechanism at the usual values of its parameters.

    Positions as displacements of the mechanism's length or 1 rad, velocities as these in the characteristic time. Units of the states of
    components are not known: 1, or less where the mechanism is shorter than 1 m.
    """
    d = system.description
    scales = d.scales()
    momentum = scales.mass * scales.length / scales.time * min(1.0, scales.length)
    sizes = np.full(system.nc, min(1.0, scales.length))
    for name, at in system.places.items():
        if name == "q":
            sizes[at] = d.position_sizes(scales)
        elif name == "v":
            sizes[at] = scales.displacement / scales.time
        elif name.startswith("work."):
            sizes[at] = WORK * scales.mass * (scales.length / scales.time) ** 2
        elif name.startswith(OWN):
            sizes[at] = min(momentum, 1.0)
    return sizes


def descriptor_sizes(system: System, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return what is large for accelerations and multipliers of constraint rows, and for residuals of forces and of these rows, (nv + rows,) each."""
    scales = system.description.scales()
    moved = np.where(np.isnan(scales.rows), max(1.0, scales.length), scales.rows)[rows]
    energy = scales.mass * (scales.length / scales.time) ** 2
    unknowns = np.concatenate([scales.displacement / scales.time**2, energy / moved])
    return unknowns, np.concatenate([energy / scales.displacement, moved / scales.time**2])


def absolute(system: System, given: float | None) -> float | np.ndarray:
    """Return the absolute tolerance: the one that is given for all states, else one for each, (nc,)."""
    return SHARE * state_sizes(system) if given is None else given


def recorded_tolerance(system: System, given: float | None) -> float | dict[str, list[float]]:
    """Return the absolute tolerance for the record: one number, or those of each kind of state."""
    if given is not None:
        return given
    sizes = SHARE * state_sizes(system)
    return {name: sizes[at].tolist() for name, at in system.places.items()}
