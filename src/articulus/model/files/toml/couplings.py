"""[coupling.joint] tables of TOML files: joints that follow others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from articulus.declared import Field
from articulus.errors import InputError, did_you_mean
from articulus.model.files.toml.fields import table_fields
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.values import Values
from articulus.model.mechanism import Coupling, Joint, Vector

FIELDS: dict[str, Field] = {f.name: f for f in table_fields(Coupling)}
"""Keys of a table; the coupled joint is the table's name."""


def read_coupling(
    values: Values, joint: str, table: dict[str, Any], joints: Mapping[str, Joint]
) -> Coupling | None:
    """Return the coupling of a table; None when something is wrong in it, which goes to the report."""
    path, report, before = f"coupling.{joint}", values.report, len(values.report.findings)
    values.unknown_keys(table, FIELDS, path)
    to = _names(values, table, path)
    for at, name in ((path, joint), *((f"{path}.to", name) for name in to or ())):
        if name not in joints:
            report.add(at, f"'{name}'", "the name of a joint", did_you_mean(name, joints))
    if to is None or len(report.findings) > before:
        values.numbers.note_used(table)
        return None
    own, others = _unit(joints[joint]), [_unit(joints[name]) for name in to]
    fields: dict[str, Any] = {"to": to}
    if "offset" in table:
        fields["offset"] = values.numbers.number(table["offset"], own, f"{path}.offset")
    if "ratio" in table:
        units = [f"{own}/{other}" for other in others]
        fields["ratio"] = _vector(values, table["ratio"], units, f"{path}.ratio")
    if "polynomial" in table:
        coefficients = table["polynomial"]
        powers = range(1, len(coefficients) if isinstance(coefficients, list) else 1)
        units = [own, *(f"{own}/{others[0]}^{k}" for k in powers)]
        fields["polynomial"] = values.numbers.vector(coefficients, units, f"{path}.polynomial")
    if len(report.findings) > before:
        return None
    try:
        return Coupling(joint, **fields)
    except InputError as error:
        report.add_error(path, error)
        return None


def _names(values: Values, table: dict[str, Any], path: str) -> tuple[str, ...] | None:
    given = table.get("to")
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        at, found = (f"{path}.to", short_text(given)) if "to" in table else (path, "no to")
        values.report.add(at, found, 'to = "joint", or a list of joints')
        return None
    return tuple(names)


def _vector(values: Values, given: Any, units: list[str], path: str) -> Vector | None:
    if isinstance(given, list) or len(units) > 1:
        return values.numbers.vector(given, units, path)
    number = values.numbers.number(given, units[0], path)
    return None if number is None else (number,)


def _unit(joint: Joint) -> str:
    return "m" if joint.nv == 1 and not joint.rotational[0] else "rad"


def coupling_pairs(coupling: Coupling, value: Any) -> Iterator[str]:
    """Yield the lines of a table; `value` makes a text of a field and what it holds."""
    for name, field in FIELDS.items():
        held = getattr(coupling, name)
        usual = (1.0,) * len(coupling.to) if name == "ratio" else field.default
        if name == "to" or repr(held) != repr(usual):
            yield f"{name} = {value(field, held)}"
