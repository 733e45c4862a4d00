"""Linear models about operating points as TOML or JSON files, without loss."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError, ModelError
from articulus.linear import LinearModel
from articulus.model.files.data_file import load_data
from articulus.model.files.storage import StrPath, as_path, load_text, write_text
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.reader import load_tables
from articulus.model.files.toml.texts import quote
from articulus.simulation.loop.component import Component
from articulus.study.loop_text import component_lines

SCHEMA = 1
MATRICES = ("A", "B", "C", "D")
NAMES = ("states", "inputs", "outputs", "input_units", "output_units")
KEYS = ("name", "t", "period", *NAMES, *MATRICES)
POINT = ("inputs", "outputs", "q")
HEAD = "# x' = A x + B u, y = C x + D u: small changes about the operating point; `articulus reduce`, `design-controller` and `invert` read it"


@dataclass(frozen=True, eq=False)
class OperatingModel:
    """A linear model with the values that its inputs and outputs have at the operating point.

    Parameters
    ----------
    model : LinearModel
        Model of the changes from there.
    inputs : array, (nu,)
        Constant values that hold the operating point, beside what other controllers give.
    outputs : array, (ny,)
    q : array, (nq,), or None
        Position of the mechanism; None for a model that comes from elsewhere.
    """

    model: LinearModel
    inputs: np.ndarray
    outputs: np.ndarray
    q: np.ndarray | None = None

    @staticmethod
    def about_zero(model: LinearModel) -> OperatingModel:
        """Return a model whose inputs and outputs are zero at the operating point."""
        return OperatingModel(model, np.zeros(len(model.inputs)), np.zeros(len(model.outputs)))

    def value(self, name: str) -> float:
        """Return what an input or output is at the operating point; 0 for one that it does not know."""
        held = dict(zip(self.model.inputs, self.inputs)) | dict(zip(self.model.outputs, self.outputs))
        return float(held.get(name, 0.0))


def write_linear_model(found: OperatingModel | LinearModel, path: StrPath) -> None:
    """Write a linear model as a .toml or .json file, whole or not at all; `read_linear_model` gives the same numbers."""
    place = as_path(path)
    held = found if isinstance(found, OperatingModel) else OperatingModel.about_zero(found)
    data = _tables(held)
    if place.suffix not in WRITERS:
        raise InputError(f"{place.name}: found the ending '{place.suffix}'; expected .toml or .json")
    write_text(place, WRITERS[place.suffix](data))


def is_linear_model(path: StrPath) -> bool:
    """Whether a path leads to a file of a linear model."""
    place = as_path(path)
    if place.suffix == ".json":
        return place.is_file()
    return (
        place.suffix == ".toml"
        and place.is_file()
        and "linear_model" in load_tables(load_text(place), place.name)
    )


def read_linear_model(path: StrPath) -> OperatingModel:
    """Return the linear model of a .toml or .json file; raise ModelError with everything that is wrong in it."""
    place = as_path(path)
    data = load_data(place)
    findings: list[Finding] = []

    def wrong(where: str, found: str, expected: str) -> None:
        findings.append(Finding(f"{place.name}: {where}", found, expected))

    if data.get("schema") != SCHEMA or isinstance(data.get("schema"), bool):
        wrong("schema", short_text(data.get("schema")), f"schema = {SCHEMA}, as `articulus linearize` writes")
    table, point = data.get("linear_model"), data.get("operating_point", {})
    if not isinstance(table, dict) or not isinstance(point, dict):
        wrong("linear_model", short_text(table), "a table [linear_model], and one [operating_point]")
        raise ModelError(findings)
    for name, keys, known in (("linear_model", table, KEYS), ("operating_point", point, POINT)):
        for key in set(keys) - set(known):
            wrong(f"{name}.{key}", "an unknown key", ", ".join(known))
    names = {key: _texts(table.get(key), f"linear_model.{key}", wrong) for key in NAMES}
    n, m, p = (len(names[key]) for key in NAMES[:3])
    sizes = dict(zip(MATRICES, ((n, n), (n, m), (p, n), (p, m))))
    matrices = {k: _matrix(table.get(k), s, f"linear_model.{k}", k in "CD", wrong) for k, s in sizes.items()}
    for kind, count in (("input", m), ("output", p)):
        if len(names[f"{kind}_units"]) != count:
            wrong(f"linear_model.{kind}_units", f"{len(names[f'{kind}_units'])} texts", f"{count}, one each")
    times = {"t": table.get("t", 0.0), "period": table.get("period")}
    for key, value in times.items():
        if value is not None and (not _is_number(value) or (key == "period" and value <= 0)):
            wrong(f"linear_model.{key}", short_text(value), "a time [s], of a period above zero")
    values = {
        key: np.zeros(count) if key not in point else _row(point[key], count, f"operating_point.{key}", wrong)
        for key, count in (("inputs", m), ("outputs", p))
    }
    q = _row(point["q"], None, "operating_point.q", wrong) if "q" in point else None
    if findings:
        raise ModelError(findings)
    model = LinearModel(**matrices, **names, **times, name=str(table.get("name", "")))  # type: ignore[arg-type]
    return OperatingModel(model, values["inputs"], values["outputs"], q)


# writing


def _tables(found: OperatingModel) -> dict[str, Any]:
    model = found.model
    table: dict[str, Any] = {"name": model.name, "t": float(model.t)}
    table |= {} if model.period is None else {"period": float(model.period)}
    table |= {key: list(getattr(model, key)) for key in NAMES}
    table |= {key: np.asarray(getattr(model, key), dtype=float).tolist() for key in MATRICES}
    point = {"inputs": found.inputs.tolist(), "outputs": found.outputs.tolist()}
    point |= {} if found.q is None else {"q": found.q.tolist()}
    return {"schema": SCHEMA, "linear_model": table, "operating_point": point}


def _toml(data: Mapping[str, Any]) -> str:
    lines = [HEAD, f"schema = {data['schema']}"]
    for name in ("linear_model", "operating_point"):
        lines += ["", f"[{name}]", *(f"{key} = {toml_value(x)}" for key, x in data[name].items())]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Return a text, a number or a list of them as TOML; rows of matrices stand on lines of their own."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        rows = [toml_value(x) for x in value]
        if value and isinstance(value[0], list):
            return "[\n" + "".join(f"  {row},\n" for row in rows) + "]"
        return f"[{', '.join(rows)}]"
    return "nan" if math.isnan(value) else repr(float(value))


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"


WRITERS = {".toml": _toml, ".json": _json}


# reading


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _texts(given: Any, where: str, wrong: Any) -> tuple[str, ...]:
    if isinstance(given, list) and all(isinstance(x, str) for x in given):
        return tuple(given)
    wrong(where, "nothing" if given is None else short_text(given), "a list of texts")
    return ()


def _matrix(given: Any, size: tuple[int, int], where: str, open_: bool, wrong: Any) -> np.ndarray:
    """Return a matrix of a size; entries may be NaN where it is open: outputs without a derivative."""
    found = _numbers(given)
    if found is None or (found.shape != size and found.size + size[0] * size[1] > 0):
        shape = short_text(given) if found is None else " x ".join(map(str, found.shape))
        wrong(where, shape, f"a matrix of {size[0]} x {size[1]} numbers")
        return np.zeros(size)
    if not (np.isfinite(found) | (np.isnan(found) & open_)).all():
        wrong(where, "numbers that are not finite", "finite numbers")
    return found.reshape(size)


def _row(given: Any, count: int | None, where: str, wrong: Any) -> np.ndarray:
    found = _numbers(given)
    if (
        found is None
        or found.ndim != 1
        or (count is not None and len(found) != count)
        or not np.isfinite(found).all()
    ):
        wrong(where, short_text(given), f"{'' if count is None else f'{count} '}finite numbers")
        return np.zeros(count or 0)
    return found


def _numbers(given: Any) -> np.ndarray | None:
    """Return numbers, or rows of them, as an array; None for what is none."""
    rows: Sequence[Any] = given if isinstance(given, list) else [None]
    flat = [x for row in rows for x in (row if isinstance(row, list) else [row])]
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in flat):
        return None
    try:
        return np.array(given, dtype=float)
    except (ValueError, OverflowError):  # rows of different lengths
        return None


def component_text(component: Component, format: str, head: str) -> str:
    """Return a component as the text of a file, "toml" or "json", that `file = ...` in a component of a study names."""
    lines = list(component_lines(component))
    if format == "json":
        return json.dumps(tomllib.loads("\n".join(lines)), indent=1) + "\n"
    return "\n".join([f"# {head}", *lines]) + "\n"


def replace_model(found: OperatingModel, model: LinearModel) -> OperatingModel:
    """Return another model of the same inputs and outputs about the same operating point."""
    return dataclasses.replace(found, model=model)
