"""Positions and velocities by the names of joints and coordinates, and what is known about them as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.expression import evaluate
from articulus.model.mechanism.numbers import as_array, values_of

Array = np.ndarray


@dataclass(frozen=True)
class LimitArrays:
    """Limits of all joints in the order of the coordinates; infinite where nothing is known, and for quaternions and modes.

    Positions and speeds of a joint that follows one other by ratio and offset limit that one; position limits that leave
    it no range, as some vendors' files have them, do not count. Those of other couplings do not count either.

    Attributes
    ----------
    lower, upper : array, (nq,) [rad, m]
    velocity : array, (nv,) [rad/s, m/s]
    effort : array, (nv,) [N m, N]
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


def limit_arrays(d: Description) -> LimitArrays:
    """Return the limits of a mechanism with every parameter at its own value."""
    lower, upper = np.full(d.nq, -np.inf), np.full(d.nq, np.inf)
    velocity, effort = np.full(d.nv, np.inf), np.full(d.nv, np.inf)
    for c in d.connections:
        q, v = d.q_slices[c.name], d.v_slices[c.name]
        if v.stop == v.start:
            continue
        velocity[v] = values_of(c.limits.velocity) or np.inf
        effort[v] = values_of(c.limits.effort) or np.inf
        if c.joint.nq == c.joint.nv:
            lower[q] = values_of(c.limits.lower) or -np.inf
            upper[q] = values_of(c.limits.upper) or np.inf
    held = {c.name: c.limits for c in d.connections}
    for name, leader, ratio, offset in _followers(d):
        q, v, own = d.q_slices[leader].start, d.v_slices[leader].start, held[name]
        ends = [values_of(own.lower) or (-np.inf,), values_of(own.upper) or (np.inf,)]
        low, high = sorted((end - offset) / ratio for (end,) in ends)
        low, high = max(low, lower[q]), min(high, upper[q])
        if low < high:
            lower[q], upper[q] = low, high
        velocity[v] = min(velocity[v], (values_of(own.velocity) or (np.inf,))[0] / abs(ratio))
    return LimitArrays(lower, upper, velocity, effort)


def _followers(d: Description) -> Iterator[tuple[str, str, float, float]]:
    """Yield the joints whose position is a line of one coordinate: name, joint of the coordinate, ratio, offset."""
    lines: dict[str, tuple[str, float, float]] = {}
    for coupling in d.couplings:
        numbers = coupling.polynomial or (coupling.offset, *coupling.ratio)
        first = coupling.to[0]
        leader, ratio, offset = lines.get(first, (first, 1.0, 0.0))
        if len(numbers) != 2 or (first in d.coupled and first not in lines):
            continue
        b, a = values_of(numbers)
        if a * ratio:
            lines[coupling.joint] = leader, a * ratio, a * offset + b
            yield coupling.joint, *lines[coupling.joint]


def by_name(
    d: Description, given: Mapping[str, Any], start: Array, rates: bool = False, what: str = ""
) -> Array:
    """Return positions, or with `rates` velocities, accelerations or forces, from values by name, (..., n).

    Parameters
    ----------
    d : Description
    given : dict of name to number or array
        Names of joints or of single coordinates ("base.x"), or of flexible bodies for all their modes. A joint with one
        coordinate takes a number or an array (...), one with several an array (..., coordinates).
    start : array, (n,)
        The rest.
    rates : bool
    what : str
        How messages call them; "q" or "v" if not given.
    """
    what = what or ("v" if rates else "q")
    for name in given:
        d.require_independent(name, what)
    places = _places(d, rates)
    entries = {name: _entry(what, name, value, places) for name, value in given.items()}
    try:
        batch = np.broadcast_shapes(*(value.shape[:-1] for value in entries.values()))
    except ValueError:
        shapes = {name: value.shape[:-1] for name, value in entries.items()}
        raise InputError(f"{what}: shapes of a batch do not broadcast: {shapes}") from None
    out = np.broadcast_to(start, (*batch, start.size)).copy()
    for name, value in entries.items():
        out[..., places[name]] = value
    return out


def _places(d: Description, rates: bool) -> dict[str, slice]:
    """Return where joints, the modes of flexible bodies and single coordinates are."""
    single = {name: slice(i, i + 1) for i, name in enumerate(d.coordinate_names(rates))}
    modes = {b.name: d.mode_slices(b.name)[0 if rates else 1] for b in d.bodies if b.modes is not None}
    return single | modes | (d.v_slices if rates else d.q_slices)


def _entry(what: str, name: str, value: Any, places: Mapping[str, slice]) -> Array:
    """Return one value as an array (..., coordinates)."""
    if name not in places:
        raise InputError(f"{what}: no joint or coordinate '{name}'; {did_you_mean(str(name), places)}")
    array, size = as_array(f"{what}, '{name}'", value), places[name].stop - places[name].start
    if size == 1:
        return array[..., None]
    if array.shape[-1:] != (size,):
        raise InputError(f"{what}: '{name}' has shape {array.shape}; expected (..., {size})")
    return array


class Named:
    """What a mechanism knows by name."""

    @property
    def description(self) -> Description:
        """The frozen, validated data."""
        raise NotImplementedError

    def q(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> Array:
        """Return a position from values by name, (..., nq); the rest is neutral.

        Parameters
        ----------
        values : dict of name to number or array [rad, m]
            For names that are no Python words, such as "base.x".
        **named : number or array
            Names of joints, of single coordinates (`q_names`), or of flexible bodies for all their modes. A joint with one
            coordinate takes a number, or an array for a batch; one with several an array (..., coordinates).

        Examples
        --------
        >>> import articulus as art
        >>> art.load("two_link").q(joint2=0.3)
        array([0. , 0.3])
        """
        return by_name(self.description, {**(values or {}), **named}, self.description.neutral)

    def v(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> Array:
        """Return velocities, accelerations or joint forces from values by name, (..., nv); the rest is zero. See `q`."""
        zero = np.zeros(self.description.nv)
        return by_name(self.description, {**(values or {}), **named}, zero, rates=True)

    def positions(self, q: Any, name: str = "q") -> Array:
        """Return positions as an array (..., nq): from an array, from a dict of names (see `q`), or neutral for None."""
        if q is None:
            return self.description.neutral.copy()
        d = self.description
        return (
            by_name(d, q, d.neutral, what=name)
            if isinstance(q, Mapping)
            else as_array(f"argument '{name}'", q)
        )

    def velocities(self, v: Any, name: str = "v") -> Array:
        """Return velocities as an array (..., nv): from an array, from a dict of names (see `v`), or zero for None."""
        if v is None:
            return np.zeros(self.description.nv)
        if not isinstance(v, Mapping):
            return as_array(f"argument '{name}'", v)
        return by_name(self.description, v, np.zeros(self.description.nv), rates=True, what=name)

    @property
    def limits(self) -> LimitArrays:
        """Limits of all joints as arrays in the order of q and v."""
        return limit_arrays(self.description)

    def joint_index(self, joint: str) -> int:
        """Return where a joint is in `joint_names` (and in the rows of `reactions`)."""
        return list(self.description.v_slices).index(self._joint(joint))

    def joint_position(self, joint: str, q: Any, *, params: Mapping[str, Any] | None = None) -> Array:
        """Return the position of a joint, coupled ones included, (...) [rad, m]; (..., coordinates) where it has several.

        Parameters
        ----------
        joint : str
        q : array, (..., nq), or dict
        params : dict of parameter name to number or array
            Of couplings with named parameters.
        """
        d, at = self.description, self.positions(q)
        if self._joint(joint) not in d.coupled:
            found = at[..., d.q_slices[joint]]
            return found[..., 0] if found.shape[-1] == 1 else found
        values = {p.name: p.value for p in d.parameters} | dict(params or {})
        followed = [self.joint_position(name, at, params=params) for name in d.coupled[joint].to]
        return d.coupled[joint].position(followed, lambda x: evaluate(x, lambda p: values[p.name], np))

    def q_slice(self, joint: str) -> slice:
        """Return where the coordinates of a joint are in q; an empty slice for a coupled joint."""
        return self.description.q_slices[self._joint(joint)]

    def v_slice(self, joint: str) -> slice:
        """Return where the velocities of a joint are in v; an empty slice for a coupled joint."""
        return self.description.v_slices[self._joint(joint)]

    def _joint(self, joint: str) -> str:
        slices = self.description.v_slices
        if joint not in slices:
            raise InputError(
                f"no joint '{joint}' in '{self.description.name}'; {did_you_mean(str(joint), slices)}"
            )
        return joint
