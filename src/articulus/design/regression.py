"""Joint forces as a linear function of unknown inertias, armatures and friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.dynamics.regressor import PARAMETERS
from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.numerics.lyapunov import one_thread

UNITS = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
"""Units of `PARAMETERS`."""
TERMS = ("armature", "damping", "coulomb", "offset")
"""What a joint may have beside the inertia of the bodies: forces along its acceleration, its velocity, the sign of its velocity
and 1."""
ROWS = 512
"""States whose regressors are kept at a time where their products are summed: few calls, and they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Regression:
    """tau = Y(q, v, vdot) phi + known(q, v, vdot): the unknown numbers phi of a mechanism, and what they are multiplied by.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of rigid bodies, without closed loops or coupled joints.
    terms : tuple of str
        Which of `TERMS` are unknown for every joint, beside the ten inertial parameters of every moving body.
    """

    mechanism: Mechanism
    terms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d = self.mechanism.description
        if d.flexible or d.constraints or d.couplings:
            kind = "flexible bodies" if d.flexible else "closed loops" if d.constraints else "coupled joints"
            hint = "Fit named parameters to runs instead"
            if kind == "coupled joints" and not d.constraints:
                names = ", ".join(
                    repr(n)
                    for n in sorted({n for c in d.couplings for n in c.to} - {c.joint for c in d.couplings})
                )
                hint = f"Lock those that others follow, such as a gripper's: with_locked({names}); or fit named parameters to runs"
            raise UnsupportedOperation(
                f"regression of '{d.name}': it has {kind}; expected a tree of rigid bodies. {hint}"
            )
        object.__setattr__(self, "terms", as_terms(self.terms))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of phi: "upper.m", ..., "upper.Jyz" of every body, then "elbow.damping" of every joint."""
        bodies = [f"{body.name}.{name}" for body in self.mechanism.description.bodies for name in PARAMETERS]
        return (*bodies, *(f"{dof}.{term}" for term in self.terms for dof in self.dofs))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of phi; those of joints for revolutes (for sliding joints N in place of N m)."""
        rates = {"armature": "kg m^2", "damping": "N m s/rad", "coulomb": "N m", "offset": "N m"}
        bodies = len(self.mechanism.description.bodies)
        return UNITS * bodies + tuple(rates[term] for term in self.terms for _ in self.dofs)

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the degrees of freedom, (nv)."""
        return self.mechanism.description.coordinate_names(rates=True)

    def matrix(self, q: Any, v: Any, vdot: Any) -> np.ndarray:
        """Return Y, (..., nv, n)."""
        Y = self.mechanism.regressor(q, v, vdot)
        rates = np.broadcast_to(np.asarray(v, float), Y.shape[:-1])
        columns = {
            "armature": np.broadcast_to(np.asarray(vdot, float), rates.shape),
            "damping": rates,
            "coulomb": rates / np.hypot(rates, self._coulomb_speeds()),
            "offset": np.ones_like(rates),
        }
        eye = np.eye(rates.shape[-1])
        return np.concatenate([Y, *(columns[term][..., None] * eye for term in self.terms)], axis=-1)

    def products(self, q: Any, v: Any, vdot: Any) -> np.ndarray:
        """Return the sum of Y'Y over all states, (n, n), without keeping Y: what least squares of any number of samples needs.

        Parameters
        ----------
        q, v, vdot : array, (samples, nq), (samples, nv), (samples, nv)
        """
        states = [np.ascontiguousarray(x, dtype=float) for x in (q, v, vdot)]
        n, inertial = len(self.names), 10 * len(self.mechanism.description.bodies)
        total = np.zeros((n, n))
        kernel = self.mechanism.kernel("regressor")
        plain = len(kernel.input_shapes) == 3 and not self.terms and len(states[0]) >= ROWS
        begins = _first_columns(self.mechanism) if plain else np.zeros(self.mechanism.nv, int)
        if plain:
            parts = [np.empty((ROWS, x.shape[1])) for x in states]
            go = kernel.bind(*parts, out=np.empty((ROWS, self.mechanism.nv, inertial)))
        sums = [np.zeros((n - begin, n - begin)) for begin in begins]
        room = [np.empty((min(ROWS, len(states[0])), n - begin)) for begin in begins]
        with one_thread():
            for first in range(0, len(states[0]), ROWS):
                part = [x[first : first + ROWS] for x in states]
                if plain and len(part[0]) == ROWS:
                    for to, product in zip(parts, part):
                        to[:] = product
                    go()
                    Y = go.outputs[0]
                else:
                    Y = self.matrix(*part)
                for joint, begin in enumerate(begins):
                    rows = room[joint][: len(Y)]
                    rows[:] = Y[:, joint, begin:]
                    sums[joint] += rows.T @ rows  # of whole rows: half of a symmetric product is computed
        for begin, found in zip(begins, sums):
            total[begin:, begin:] += found
        return total

    def values(self) -> np.ndarray:
        """Return phi of the mechanism as it is, (n,)."""
        return np.concatenate(
            [self.mechanism.inertial_parameters(), *(self._joint_values(t) for t in self.terms)]
        )

    def known(self, q: Any, v: Any, vdot: Any) -> np.ndarray:
        """Return the joint forces of the model that do not depend on phi (springs, rotors, friction that is not asked for), (..., nv)."""
        total = self.mechanism.inverse_dynamics(q, v, vdot)
        return total - self.matrix(q, v, vdot) @ self.values()

    def _joint_values(self, term: str) -> np.ndarray:
        nv = self.mechanism.nv
        values = np.zeros(nv)
        if term != "offset":
            for c in self.mechanism.description.connections:
                found = values_of(getattr(c, term))
                values[self.mechanism.description.v_slices[c.name]] = found if found else 0.0
        return values

    def _coulomb_speeds(self) -> np.ndarray:
        speeds = np.ones(self.mechanism.nv)
        for c in self.mechanism.description.connections:
            speeds[self.mechanism.description.v_slices[c.name]] = value_of(c.coulomb_speed)
        return speeds


def _first_columns(mechanism: Mechanism) -> np.ndarray:
    """Return for each joint force the first column of the regressor that can differ from zero."""
    d = mechanism.description
    inward = {c.child: c for c in d.connections}
    first = np.full(mechanism.nv, 10 * len(d.bodies))
    for b, body in reversed(list(enumerate(d.bodies))):
        at = body.name
        while at in inward:
            first[d.v_slices.get(inward[at].name, slice(0, 0))] = 10 * b
            at = inward[at].parent
    return first


def as_terms(terms: str | Sequence[str]) -> tuple[str, ...]:
    """Return the terms in the order of `TERMS`; raise InputError for an unknown one."""
    given = (terms,) if isinstance(terms, str) else tuple(terms)
    for term in given:
        if term not in TERMS:
            raise InputError(
                f"terms: found '{term}'; expected some of {', '.join(TERMS)}. {did_you_mean(str(term), TERMS)}"
            )
    return tuple(term for term in TERMS if term in given)
