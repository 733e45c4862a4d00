"""What a derivative of a run is by: named parameters, and entries of the initial state."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.running.specification import Specification

STARTS = ("q0", "v0")
"""Beginnings of the names of entries of the initial state: "q0.lift", "v0.lift"."""
SAME_START = 1e-9
"""Change of an initial state, over the sizes of coordinates, up to which parameters are said not to move it [-]."""
NUDGE = 1e-4
"""Part of itself by which a parameter is changed to see whether it moves the start."""


@dataclass(frozen=True)
class Variables:
    """By what a run is differentiated.

    Parameters
    ----------
    names : tuple of str
    parameters : tuple of int
        Places in p of the parameters among them.
    columns : tuple of int
        For each name the number of its parameter in `parameters`, or -1.
    starts : tuple of int
        For each name its place in c, or -1.
    """

    names: tuple[str, ...]
    parameters: tuple[int, ...]
    columns: tuple[int, ...]
    starts: tuple[int, ...]

    def directions(self) -> np.ndarray:
        """Return the directions in the parameters, (names, parameters)."""
        out = np.zeros((len(self.names), len(self.parameters)))
        for row, k in enumerate(self.columns):
            if k >= 0:
                out[row, k] = 1.0
        return out

    def tangents(self, states: np.ndarray, nx: int) -> np.ndarray:
        """Return the tangents at the start, (names, nx), where `states` are the entries of c that have one."""
        out = np.zeros((len(self.names), nx))
        for row, place in enumerate(self.starts):
            if place >= 0:
                out[row, int(np.flatnonzero(states == place)[0])] = 1.0
        return out

    def gather(self, by_parameters: np.ndarray, by_start: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Return the derivative by each name from those by the parameters and by the state at the start, (names,)."""
        starts = self.tangents(states, len(by_start)) @ by_start
        return starts + self.directions() @ by_parameters


def variables(setup: Specification, names: Sequence[str] | str | None) -> Variables:
    """Return what is meant by names; all parameters if None.

    Raises
    ------
    InputError
        An unknown name.
    UnsupportedOperation
        A parameter that moves the start of a run with closed loops; an initial state of such a mechanism or of a ball joint.
    """
    system = setup.system
    known = [p.name for p in system.network.parameters]
    given = known if names is None else [names] if isinstance(names, str) else list(names)
    if not given:
        raise InputError("gradient: found no parameter; expected names, such as 'payload' or 'q0.lift'")
    starts = _start_places(system)
    twice = [name for k, name in enumerate(given) if name in given[:k]]
    if twice:
        raise InputError(f"gradient: found '{twice[0]}' twice; expected every name once")
    for name in given:
        if name not in known and name not in starts:
            raise InputError(f"gradient: no parameter '{name}'; {did_you_mean(str(name), [*known, *starts])}")
    places = [known.index(name) for name in given if name in known]
    if system.closing is not None:
        _require_still_start(
            setup, [name for name in given if name in known], [n for n in given if n in starts]
        )
    columns = [places.index(known.index(name)) if name in known else -1 for name in given]
    at = [starts[name] if name in starts and name not in known else -1 for name in given]
    return Variables(tuple(given), tuple(places), tuple(columns), tuple(at))


def _start_places(system: System) -> dict[str, int]:
    """Return the places in c of the entries of the initial state that may be varied one by one."""
    d, signals = system.description, Outputs(system, ()).blank()
    free = np.ones(d.nq, dtype=bool)
    for c in d.connections:
        if c.joint.nq != c.joint.nv and c.name in d.q_slices:
            free[d.q_slices[c.name]] = False
    out = {}
    for word, kind in zip(STARTS, "qv"):
        for k, column in enumerate(signals[kind].columns):
            if kind == "v" or free[k]:
                out[f"{word}.{column.removeprefix(f'{kind}.')}"] = system.places[kind].start + k
    return out


def _require_still_start(setup: Specification, parameters: Sequence[str], starts: Sequence[str]) -> None:
    """Refuse what moves the positions in which loops are closed: how these follow is a choice of the search that closes them."""
    if starts:
        raise UnsupportedOperation(
            f"gradient: '{starts[0]}' of a mechanism with closed loops: its start is the nearest one that closes them; expected parameters"
        )
    c, p, *_ = setup.start()
    names = [x.name for x in setup.system.network.parameters]
    d = setup.system.description
    sizes = np.concatenate([d.position_sizes(d.scales()), d.scales().displacement])
    for name in parameters:
        value = p[:, names.index(name)]
        nudged = setup.with_params({name: float(value[0]) * (1 + NUDGE) or NUDGE})
        if not np.max(np.abs(_start(nudged) - c[0])[: len(sizes)] / sizes, initial=0.0) <= SAME_START:
            raise UnsupportedOperation(
                f"gradient: the parameter '{name}' moves the start in which the loops are closed; expected parameters that do not "
                "change the geometry of the loops, such as masses and gains"
            )


def _start(setup: Specification) -> np.ndarray:
    """Return the start of a run; no numbers where its loops cannot be closed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a start that nobody asked for
        try:
            return setup.start()[0][0]
        except NumericalError:
            return np.full(setup.system.nc, np.nan)
