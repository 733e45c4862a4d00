"""Second-order motion on symbols or numbers: a position that is displaced by velocities, and an acceleration."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.simulation.integrate.base import Array, Integrator


def add(q: Array, dq: Array) -> Array:
    """Return q + dq: how positions are displaced where each has its own velocity."""
    return q + dq


@dataclasses.dataclass(frozen=True)
class SecondOrder:
    """v' = a(t, q, v), and q moves with v.

    Parameters
    ----------
    acceleration : callable
        From time [s], position (..., nq) and velocity (..., nv) to v', (..., nv).
    displace : callable
        From q and dq, (..., nv), to the position that is reached when the velocity is dq for one second; exact on the
        group of rotations for quaternions.
    """

    acceleration: Callable[[Array, Array, Array], Array]
    displace: Callable[[Array, Array], Array] = add


class SecondOrderMethod(Integrator):
    """A method with fixed steps for q and v; one file and one `advance` each, arithmetic only."""

    kind = "second order"
    order: int
    explicit: bool = True
    evaluations: int
    """Evaluations of the acceleration in a step."""

    @abc.abstractmethod
    def advance(self, problem: SecondOrder, t: Array, q: Array, v: Array, h: Array) -> tuple[Array, Array]:
        """Return q and v at t + h; numbers, SX and MX alike."""

    def integrate(
        self, problem: SecondOrder, t0: float, t1: float, q0: Any, v0: Any, steps: int
    ) -> tuple[Array, Array, Array]:
        """Return times, positions and velocities of `steps` equal steps from t0 to t1.

        Parameters
        ----------
        problem : SecondOrder
        t0, t1 : float [s]
        q0, v0 : arrays, (..., nq) and (..., nv)
        steps : int

        Returns
        -------
        t : array, (steps + 1,) [s]
        q : array, (..., steps + 1, nq)
        v : array, (..., steps + 1, nv)
        """
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"{self.name}: steps = {steps!r}; expected an integer of at least 1")
        t, h = np.linspace(t0, t1, steps + 1), (t1 - t0) / steps
        rows = [(np.array(q0, dtype=float), np.array(v0, dtype=float))]
        for start in t[:-1]:
            rows.append(self.advance(problem, float(start), *rows[-1], h))
        q, v = (np.stack(column, axis=-2) for column in zip(*rows))
        return t, q, v
