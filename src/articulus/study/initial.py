"""The [initial] table of a study: positions and velocities, by joint or all in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import did_you_mean
from articulus.model.files.toml.numbers import short_text
from articulus.model.mechanism import Description, Varying, Vector
from articulus.simulation.results.signal import position_signal, velocity_signal
from articulus.study.courses import Courses


def coordinate_units(description: Description, key: str) -> tuple[str, ...]:
    """Return the unit of each position ("q") or velocity ("v")."""
    make, n = (position_signal, description.nq) if key == "q" else (velocity_signal, description.nv)
    return make(description, np.zeros((0, n))).units


def coordinate_unit(values: Courses, name: str, description: Description | None, path: str) -> str:
    """Return the unit of an entry of the initial state, such as "q.lift"; parameters, which are none, take any, as their SI value."""
    if name[:2] not in ("q.", "v.") or description is None:
        return "any"
    names = [f"{name[0]}.{n}" for n in description.coordinate_names(rates=name[0] == "v")]
    if name not in names:
        values.report.add(
            path, f"no entry '{name}'", "an entry of the initial state", did_you_mean(name, names)
        )
        return "any"
    return coordinate_units(description, name[0])[names.index(name)]


def read_state(
    values: Courses, table: dict[str, Any], key: str, description: Description | None
) -> np.ndarray:
    """Return the positions ("q") or velocities ("v") at the start; what is not given is neutral and at rest."""
    if key == "q":
        values.unknown_keys(table, ("q", "v"), "initial")
    return read_coordinates(values, table.get(key, {}), key, description, f"initial.{key}")


def read_coordinates(
    values: Courses, given: Any, key: str, description: Description | None, path: str
) -> np.ndarray:
    """Return the positions ("q") or velocities ("v") that a list or a table by joint gives, at a path of a file."""
    if description is None:
        return np.zeros(0)
    state = np.array(description.neutral if key == "q" else np.zeros(description.nv), dtype=float)
    units = coordinate_units(description, key)
    if isinstance(given, list):
        _put(values, state, slice(0, len(units)), units, given, path)
        return state
    if not isinstance(given, dict):
        values.report.add(path, short_text(given), f"a list of {len(units)} numbers, or a table by joint")
        return state
    slices = description.q_slices if key == "q" else description.v_slices
    for joint, number in given.items():
        if joint not in slices:
            hint = did_you_mean(joint, slices)
            values.report.add(f"{path}.{joint}", f"no joint '{joint}'", "the name of a joint", hint)
            continue
        if joint in description.coupled:
            followed = ", ".join(f"'{name}'" for name in description.leaders(joint))
            expected = f"{followed}, which it follows by a coupling"
            values.report.add(f"{path}.{joint}", f"the coupled joint '{joint}'", expected)
            continue
        at = slices[joint]
        _put(values, state, at, units[at], number, f"{path}.{joint}")
    return state


def _put(
    values: Courses, state: np.ndarray, at: slice, units: tuple[str, ...], given: Any, path: str
) -> None:
    if len(units) == 1 and not isinstance(given, list):
        number = values.numbers.number(given, units[0], path)
        found: Vector | None = None if number is None else (number,)
    else:
        found = values.numbers.vector(given, list(units), path)
    if found is None:
        return
    if any(isinstance(x, Varying) for x in found) or not np.isfinite(np.array(found, dtype=float)).all():
        values.report.add(path, short_text(given), "plain finite numbers")
        return
    state[at] = found
