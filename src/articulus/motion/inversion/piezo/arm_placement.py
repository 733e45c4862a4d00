"""Which bay of an articulated structure to make active: a cost for each configuration of the joints, averaged or the worst.

Source: Devasia, Paden & Bayo 1993.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import value_of
from articulus.motion.inversion.piezo.criteria import Criterion, cost_of
from articulus.motion.inversion.piezo.locked import locked_modes
from articulus.simulation.loop.components.piezo_pair import PiezoPair

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bay:
    """A stretch of a flexible body that a piezoelectric pair may bend, between two of its stations.

    Parameters
    ----------
    body : str
    first, second : str
        Stations of the body where it begins and ends.
    gain : float [N m/V]
        Moment by voltage: `PiezoLayers.gain` or `StackBay.gain`.
    axis : three floats
        Axis of bending, in the frame of the body.
    """

    body: str
    first: str
    second: str
    gain: float
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def name(self) -> str:
        """Body and stations."""
        return f"{self.body}: {self.first} to {self.second}"


@dataclass(frozen=True, eq=False)
class Placement:
    """Costs of candidates over configurations; the smaller the better.

    Parameters
    ----------
    criterion : str
    names : tuple of str, (m,)
        Names of the candidates.
    positions : array, (c, nq)
        Positions of the mechanism at each configuration.
    costs : array, (c, m)
        Costs of each candidate at each configuration.
    omega : array, (c, k) [rad/s]
        Frequencies of the modes that were examined.
    """

    criterion: str
    names: tuple[str, ...]
    positions: np.ndarray
    costs: np.ndarray
    omega: np.ndarray

    @property
    def average(self) -> np.ndarray:
        """Mean cost of each candidate over the configurations, (m,)."""
        return self.costs.mean(0)

    @property
    def worst(self) -> np.ndarray:
        """Largest cost of each candidate over the configurations, (m,)."""
        return self.costs.max(0)

    @property
    def best(self) -> str:
        """Candidate of the smallest average cost."""
        return self.names[int(self.average.argmin())]

    @property
    def safest(self) -> str:
        """Candidate whose largest cost is the smallest."""
        return self.names[int(self.worst.argmin())]

    @property
    def best_at(self) -> tuple[str, ...]:
        """Best candidate at each configuration, (c,)."""
        return tuple(self.names[k] for k in self.costs.argmin(1))

    def penalty(self, name: str) -> np.ndarray:
        """Return by which part a candidate costs more than the best at each configuration, (c,)."""
        if name not in self.names:
            raise InputError(f"placement: no candidate '{name}'; {did_you_mean(name, self.names)}")
        least = self.costs.min(1)
        return (self.costs[:, self.names.index(name)] - least) / np.abs(least)

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"{self.criterion}: {len(self.names)} candidates, {len(self.costs)} configurations"]
        lines.append(f"  {'candidate':{width}s} {'average':>12s} {'worst':>12s}")
        for k in np.argsort(self.average, kind="stable"):
            lines.append(f"  {self.names[k]:{width}s} {self.average[k]:12.5g} {self.worst[k]:12.5g}")
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Return a figure: the cost of every candidate at every configuration over that of the best one there."""
        import matplotlib.pyplot as plt

        least = self.costs.min(1, keepdims=True)
        figure, ax = plt.subplots(figsize=(1.5 + 0.35 * len(self.names), 4.2), layout="constrained")
        image = ax.imshow((self.costs - least) / np.abs(least), aspect="auto", cmap="viridis_r")
        ax.plot(self.costs.argmin(1), range(len(self.costs)), "o", color="tab:red", label="best")
        ax.set_xticks(range(len(self.names)), self.names, rotation=90, fontsize=7)
        ax.set(ylabel="configuration", title=f"{self.criterion}: cost above the best")
        figure.colorbar(image, label="part of the best")
        ax.legend(frameon=False, loc="upper right")
        return figure


def bays(
    mechanism: Mechanism, body: str, gain: float, *, axis: Sequence[float] = (0.0, 0.0, 1.0)
) -> tuple[Bay, ...]:
    """Return the bays between all neighboring stations of a body, from its root on.

    Parameters
    ----------
    mechanism : Mechanism
    body : str
        Flexible body along x.
    gain : float [N m/V]
        Moment by voltage.
    axis : three floats
        Axis of bending, in the frame of the body.
    """
    stations = _modes(mechanism, body).stations
    ordered = sorted(stations, key=lambda name: (stations[name].position[0], name.startswith("node")))
    kept = [ordered[0]]
    for name in ordered[1:]:
        if stations[name].position[0] > stations[kept[-1]].position[0] + 1e-12:
            kept.append(name)
    x, y, z = map(float, axis)
    return tuple(Bay(body, a, b, float(gain), (x, y, z)) for a, b in itertools.pairwise(kept))


def placement(
    mechanism: Mechanism,
    candidates: Sequence[Bay | PiezoPair],
    *,
    configurations: Sequence[Any],
    criterion: Criterion = "passive",
    modes: int | None = None,
    feedback: float | None = None,
    R: float = 1.0,
) -> Placement:
    """Return what each candidate costs at each configuration of a mechanism whose joints are locked there.

    Parameters
    ----------
    mechanism : Mechanism
        With flexible bodies.
    candidates : sequence of Bay or PiezoPair
        One of them is to be chosen; `bays` gives those of a body.
    configurations : sequence of positions (nq,) or dicts of joint to number
    criterion : str
        As for `beam_placement`.
    modes : int
        How many modes of lowest frequency count; all if not given.
    feedback : float [V^2 s/J]
        Gain of the passive feedback; the best for each candidate and configuration if not given.
    R : float [J/V^2]
        Weight of the voltage, for "lqr".
    """
    if not len(candidates) or not len(configurations):
        raise InputError("placement: found no candidates or no configurations; expected at least one of both")
    places = [_as_bay(mechanism, c) for c in candidates]
    found = [locked_modes(mechanism, q, modes) for q in configurations]
    pushes = np.stack([_turning(mechanism, bay, found[0].places) for bay in places])
    costs = [cost_of(criterion, each.modal, feedback=feedback, R=R)(pushes @ each.shapes) for each in found]
    return Placement(
        criterion,
        tuple(bay.name for bay in places),
        np.stack([each.q for each in found]),
        np.stack(costs),
        np.stack([each.modal.omega for each in found]),
    )


def _turning(mechanism: Mechanism, bay: Bay, places: np.ndarray) -> np.ndarray:
    """Return gain times the rotation of the second station against the first by the modal coordinates of the mechanism, (n,)."""
    held = _modes(mechanism, bay.body)
    axis = np.array(bay.axis) / np.linalg.norm(bay.axis)
    turning = axis @ (held.station(bay.second).rotation - held.station(bay.first).rotation)
    if not turning.any():
        raise InputError(
            f"placement, candidate '{bay.name}': found no mode that turns one end against the other about {bay.axis}; expected the "
            "axis of bending"
        )
    every = np.zeros(mechanism.nv)
    every[mechanism.description.mode_slices(bay.body)[0]] = bay.gain * turning
    return every[places]


def _as_bay(mechanism: Mechanism, candidate: Bay | PiezoPair) -> Bay:
    """Return where a component lies as a bay."""
    if isinstance(candidate, Bay):
        return candidate
    if not isinstance(candidate, PiezoPair):
        raise InputError(
            f"placement, candidates: found {type(candidate).__name__}; expected Bay or PiezoPair"
        )
    frames = {f.name: f for f in mechanism.description.frames}
    first, second = frames.get(candidate.first), frames.get(candidate.second)
    if first is None or second is None or not (first.node and second.node) or first.body != second.body:
        raise InputError(
            f"placement, candidate '{candidate.name}': found frames '{candidate.first}' and '{candidate.second}'; expected two on "
            "stations of one flexible body"
        )
    x, y, z = (float(a) for a in first.at.rotation() @ np.array(candidate.axis))
    return Bay(first.body, first.node, second.node, value_of(candidate.gain), (x, y, z))


def _modes(mechanism: Mechanism, body: str) -> Modes:
    by_name = {b.name: b.modes for b in mechanism.description.bodies if b.modes is not None}
    if body not in by_name:
        raise InputError(f"placement: no flexible body '{body}'; {did_you_mean(body, by_name)}")
    return by_name[body]
