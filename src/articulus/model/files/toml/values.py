"""Values of TOML keys, read as the declarations of the mechanism's fields say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from articulus.declared import Field
from articulus.declared.field import pick
from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.csv_table import columns_of
from articulus.model.files.report import Report
from articulus.model.files.storage import decode
from articulus.model.files.toml.fields import TIME_FUNCTIONS, VISUALS, table_fields
from articulus.model.files.toml.mesh import MeshFile
from articulus.model.files.toml.numbers import Numbers, short_text
from articulus.model.files.units import UnitError, check_dimension, parse_unit
from articulus.model.mechanism import Pose, Spline, TimeFunction, Vector, Visual


def nothing_attached(filename: str) -> bytes:
    """Refuse a file that a text without a folder names."""
    raise ModelError(Finding(filename, "a text without a folder", "a file, by read_toml"))


class Values:
    """Reads values; every refusal goes to the report and a stand-in takes the value's place.

    `attached` gives the content of a file that the text names.
    """

    def __init__(self, report: Report, numbers: Numbers, attached: Callable[[str], bytes] = nothing_attached):
        self.report = report
        self.numbers = numbers
        self.with_attached = attached

    def arguments(
        self,
        cls: type,
        table: dict[str, Any],
        path: str,
        rotational: Sequence[bool | None] = (),
        more_keys: Iterable[str] = (),
        stand_in: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the arguments of `cls` that a table holds, a stand-in for each that is wrong."""
        fields = table_fields(cls)
        self.unknown_keys(table, (*(f.name for f in fields), *more_keys), path)
        given = stand_in or {}
        return {f.name: self.value(f, table, path, rotational, given.get(f.name, f.default)) for f in fields}

    def unknown_keys(self, table: dict[str, Any], known: Iterable[str], path: str) -> None:
        """Report every key of a table that is not known."""
        names = set(known)
        for key in table:
            if key not in names:
                self.report.add(
                    below(path, key), f"the unknown key '{key}'", "a known key", did_you_mean(key, names)
                )

    def text(self, table: dict[str, Any], key: str, path: str) -> str | None:
        """Return a text that has to be there, else None."""
        if key not in table:
            self.report.add(path, f"no {key}", f'{key} = "..."')
            return None
        if not isinstance(table[key], str):
            self.report.add(below(path, key), short_text(table[key]), "a text in quotes")
            return None
        return str(table[key])

    def value(
        self,
        field: Field,
        table: dict[str, Any],
        path: str,
        rotational: Sequence[bool | None] = (),
        stand_in: Any = None,
    ) -> Any:
        """Return the value of one key, its default without the key, the stand-in when it is wrong."""
        if field.name not in table:
            if field.required:
                self.report.add(path, f"no {field.name}", _requirement(field))
                return stand_in
            return field.default
        given, at = table[field.name], below(path, field.name)
        found = self._read(field, given, table, path, at, rotational)
        if found is None:
            return stand_in if stand_in is not None else field.default
        return found

    def _read(
        self,
        field: Field,
        given: Any,
        table: dict[str, Any],
        path: str,
        at: str,
        rotational: Sequence[bool | None],
    ) -> Any:
        match field.kind:
            case "text" | "refers":
                return self.text(table, field.name, path)
            case "flag":
                if isinstance(given, bool):
                    return given
                self.report.add(at, short_text(given), "true or false")
                return None
            case "pose":
                return self._pose(given, at)
            case "number":
                return self.numbers.number(given, field.units(rotational)[0], at)
            case "vector":
                return self._vector(field, given, at, rotational)
            case "function":
                return self._function(given, at, rotational)
            case "visual":
                return self._visuals(given, at)
            case _:
                return self._record(field, given, at, rotational)

    def _vector(self, field: Field, given: Any, at: str, rotational: Sequence[bool | None]) -> Vector | None:
        if field.size == "any":
            count = len(given) if isinstance(given, list) else 1
            return self.numbers.vector(given, [pick(field.unit, all(rotational))] * count, at)
        units = field.units(rotational)
        per_joint = field.size in ("nv", "nq")
        if per_joint and not units:
            self.report.add(at, short_text(given), "no such key: this joint has no degree of freedom")
            return None
        if per_joint and len(units) == 1 and not isinstance(given, list):
            number = self.numbers.number(given, units[0], at)
            return None if number is None else (number,)
        if field.size == "6" and isinstance(given, list) and len(given) == 3:
            diagonal = self.numbers.vector(given, units[:3], at)
            return None if diagonal is None else (*diagonal, 0.0, 0.0, 0.0)
        return self.numbers.vector(given, units, at)

    def _record(self, field: Field, given: Any, at: str, rotational: Sequence[bool | None]) -> Any:
        if not isinstance(given, dict) or field.record is None:
            self.report.add(at, short_text(given), f"a table, such as {_example(field)}")
            return None
        before = len(self.report.findings)
        held = self.arguments(field.record, given, at, rotational)
        return field.record(**held) if len(self.report.findings) == before else None

    def _function(self, given: Any, at: str, rotational: Sequence[bool | None]) -> TimeFunction | None:
        """Return a function of time: a table with its type, or a number for a constant."""
        if not isinstance(given, dict) or given.keys() & {"parameter", "expression"}:
            number = self.numbers.number(given, "rad" if all(rotational) else "m", at)
            return None if number is None else TimeFunction.of(number)
        if "csv" in given:
            return self.spline_of_file(given, "rad" if all(rotational) else "m", at)
        found: TimeFunction | None = self._read_typed(
            given, at, TIME_FUNCTIONS, "a function of time", rotational
        )
        return found

    def spline_of_file(self, given: dict[str, Any], unit: str, at: str) -> TimeFunction | None:
        """Return the spline through the times and one column of a CSV file, in the SI unit `unit`."""
        before = len(self.report.findings)
        self.unknown_keys(given, ("type", "csv", "column"), at)
        if given.get("type") != Spline.type_name:
            expected = '"spline"; straight lines between the rows would have no acceleration'
            self.report.add(f"{at}.type", short_text(given.get("type")), expected)
        name = self.text(given, "csv", at)
        wanted = [self.text(given, "column", at)] if "column" in given else []
        if name is None or len(self.report.findings) > before:
            return None
        try:
            columns = columns_of(
                decode(self.with_attached(name), name), name, [w for w in wanted if w is not None]
            )
        except ModelError as error:
            self.unread(f"{at}.csv", name, error)
            return None
        if len(columns.names) > 1:
            hint = f'column = "{columns.names[0]}"' if columns.names[0] else "Give the columns a heading."
            self.report.add(f"{at}.csv", f"'{name}': {len(columns.names)} columns", "the name of one", hint)
            return None
        try:
            measured = parse_unit(columns.units[0] or unit)
            check_dimension(measured, unit, f"{columns.names[0]} [{columns.units[0]}]")
            return Spline(columns.times, tuple(float(measured.factor) * row[0] for row in columns.rows))
        except UnitError as error:
            self.report.add(f"{at}.csv", f"'{name}': {error}", f"a column in {unit}")
        except InputError as error:
            self.report.add_error(f"{at}.csv", error)
        return None

    def _read_typed(
        self,
        given: dict[str, Any],
        at: str,
        kinds: Mapping[str, type],
        expected: str,
        rotational: Sequence[bool | None] = (),
    ) -> Any:
        """Return the object that a table with a type describes; None when something is wrong in it."""
        before = len(self.report.findings)
        named = self.text(given, "type", at)
        if named is not None and named not in kinds:
            self.report.add(f"{at}.type", f"'{named}'", expected, did_you_mean(named, kinds))
        if len(self.report.findings) > before:
            self.numbers.note_used(given)
            return None
        kind = kinds[named or ""]
        held = self.arguments(kind, given, at, rotational, ("type",))
        if len(self.report.findings) > before:
            return None
        try:
            return kind(**held)
        except InputError as error:
            self.report.add_error(at, error)
            return None

    def _visuals(self, given: Any, at: str) -> tuple[Visual, ...] | None:
        """Return what is drawn: a list of tables, each with its type."""
        example = 'a list of tables, such as [{type = "box", size = [1, 0.2, 0.2]}]'
        if not isinstance(given, list):
            self.report.add(at, short_text(given), example)
            return None
        found = []
        for k, table in enumerate(given):
            if isinstance(table, dict):
                found.append(self._visual(table, f"{at}[{k}]"))
            else:
                self.report.add(f"{at}[{k}]", short_text(table), example)
        return tuple(v for v in found if v is not None)

    def _visual(self, table: dict[str, Any], at: str) -> Visual | None:
        found: Visual | MeshFile | None = self._read_typed(table, at, VISUALS, "a shape")
        if not isinstance(found, MeshFile):
            return found
        try:
            return found.visual(self.with_attached)
        except InputError as error:
            self.report.add_error(at, error)
        except ModelError as error:
            self.unread(f"{at}.file", found.file, error)
        return None

    def unread(self, at: str, filename: str, error: ModelError) -> None:
        """Report why a file that the model names is not read."""
        first = error.findings[0]
        self.report.add(at, f"'{filename}': {first.found}", first.expected, first.hint)

    def _pose(self, given: Any, at: str) -> Pose | None:
        before = len(self.report.findings)
        if isinstance(given, list):
            given = {"xyz": given}
        if not isinstance(given, dict):
            self.report.add(at, short_text(given), "three numbers in m, or {xyz = [...], rpy = [...]}")
            return None
        held = self.arguments(Pose, given, at)
        if len(self.report.findings) > before:
            return None
        try:
            return Pose(**held)
        except InputError as error:
            self.report.add_error(at, error)
            return None


def below(path: str, key: str) -> str:
    """Return the path of a key of the table at `path`."""
    return f"{path}.{key}" if path else key


def _requirement(field: Field) -> str:
    return f'{field.name} = "..."' if field.kind in ("text", "refers") else f"{field.name} [{field.unit}]"


def _example(field: Field) -> str:
    keys = [f.name for f in table_fields(field.record)] if field.record else []
    return "{" + ", ".join(f"{key} = ..." for key in keys) + "}"
