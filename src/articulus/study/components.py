"""The [[component]] tables of a study: read, and put together with the mechanism to see whether they fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from articulus.declared import Field, fields_of
from articulus.declared.field import pick
from articulus.errors import ArticulusError, InputError, ModelError, did_you_mean
from articulus.model.files.data_file import load_data
from articulus.model.files.report import Report
from articulus.model.files.toml.fields import CONSTRAINTS
from articulus.model.files.toml.numbers import short_text
from articulus.model.load import load
from articulus.model.mechanism import Constraint, Description
from articulus.simulation.loop.component import Actuator, Component
from articulus.simulation.loop.components import Observer
from articulus.simulation.loop.contact import SHAPES
from articulus.simulation.loop.equations import UnfitComponents
from articulus.simulation.running.loop import Loop
from articulus.study.courses import Courses
from articulus.study.fields import IN_PYTHON, TYPES
from articulus.study.numbers import StudyNumbers

FILE = "file"
"""Key of a component that names a TOML or JSON file with its other keys, such as `articulus design-controller` writes."""


class Components(Courses):
    """Reads components.

    Parameters
    ----------
    description : Description or None
        The mechanism; without one, units that depend on a joint are not checked.
    """

    def __init__(self, report: Report, numbers: StudyNumbers, folder: Path, description: Description | None):
        super().__init__(report, numbers, folder)
        self.description = description

    def component(self, table: Any, path: str, base: type = Component) -> Component | None:
        """Return the component of a table, None when anything is wrong with it."""
        if not isinstance(table, dict):
            self.report.add(path, short_text(table), 'a table, such as {type = "torque", joint = "..."}')
            return None
        before = len(self.report.findings)
        if FILE in table:
            table = self._with_file(table, path)
            if len(self.report.findings) > before:
                return None
        named = self.text(table, "type", path)
        types = {name: kind for name, kind in TYPES.items() if issubclass(kind, base)}
        if named in IN_PYTHON:
            self.report.add(f"{path}.type", f"'{named}'", "a component without code", "Use it from Python.")
        elif named is not None and named not in types:
            what = "a component" if base is Component else f"a {base.__name__.lower()}"
            self.report.add(f"{path}.type", f"'{named}'", f"the type of {what}", did_you_mean(named, types))
        if len(self.report.findings) > before:
            return None
        return self._object(types[named or ""], table, path, ("type",))

    def _with_file(self, table: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the keys of a component that a file holds, with those of the table itself in their place."""
        at, own = f"{path}.{FILE}", {key: held for key, held in table.items() if key != FILE}
        name = self.text(table, FILE, path)
        if name is None:
            return own
        try:
            held = load_data(self.folder / name)
        except ModelError as error:
            self.unread(at, name, error)
            return own
        if isinstance(held.get(FILE), str):
            self.report.add(at, f"'{name}', which names a file, too", "a file with the keys of a component")
        return held | own

    def around(self, kind: type, table: dict[str, Any], path: str, known: dict[str, Any]) -> Any:
        """Return a component by the keys of a table, of which some fields are known: the component inside, its name."""
        return self._object(kind, table, path, known=known)

    def _object(
        self,
        kind: type,
        table: dict[str, Any],
        path: str,
        more: tuple[str, ...] = (),
        known: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        before = len(self.report.findings)
        fields = [f for f in fields_of(kind) if f.name not in known]
        self.unknown_keys(table, (*more, *(f.name for f in fields)), path)
        held = dict(known)
        for f in fields:
            if f.name in table:
                held[f.name] = self._field(f, table, f"{path}.{f.name}")
            elif f.required:
                unit = f" [{f.unit}]" if f.unit else ""
                self.report.add(
                    path, f"no {f.name}", f"{f.name}{unit} in a {table.get('type', kind.__name__)}"
                )
        if len(self.report.findings) > before:
            return None
        try:
            return kind(**held)
        except InputError as error:
            self.tell(error, path)
            return None

    def _field(self, field: Field, table: dict[str, Any], at: str) -> Any:
        value = table[field.name]
        match field.kind:
            case "number" | "vector":
                return self.numeric(value, self._units(field, table), at)
            case "component":
                if field.record is Actuator and isinstance(value, str):
                    return value
                return self.component(value, at, field.record or Component)
            case "shape":
                return self._shape(value, at)
            case "constraint":
                return self._constraints(value, at)
            case "record":
                return self._observer(value, at)
            case "model":
                return self._model(value, at)
            case "names":
                return self._check(value, at, isinstance(value, str) or _texts(value), "names in quotes")
            case "integer":
                whole = isinstance(value, int) and not isinstance(value, bool)
                return self._check(value, at, whole, "a whole number")
            case "flag":
                return self._check(value, at, isinstance(value, bool), "true or false")
            case _:
                return self._check(value, at, isinstance(value, str), "a text in quotes")

    def _check(self, given: Any, at: str, good: bool, expected: str) -> Any:
        if not good:
            self.report.add(at, short_text(given), expected)
            return None
        return given

    def _shape(self, given: Any, at: str) -> Any:
        if isinstance(given, list):
            return self._all([self._shape(each, f"{at}[{i}]") for i, each in enumerate(given)])
        types = {kind.type_name: kind for kind in SHAPES}
        if not isinstance(given, dict) or not isinstance(given.get("type"), str):
            self.report.add(
                at, short_text(given), 'a table, such as {type = "sphere", frame = "foot", radius = 0.02}'
            )
            return None
        if given["type"] not in types:
            hint = did_you_mean(given["type"], types)
            self.report.add(f"{at}.type", f"'{given['type']}'", "the type of a shape", hint)
            return None
        return self._object(types[given["type"]], given, at, ("type",))

    def _constraints(self, given: Any, at: str) -> tuple[Constraint, ...] | None:
        """Return constraints: tables with type and name, or names of constraints of the mechanism."""
        items = given if isinstance(given, list) else [given]
        return self._all(
            [
                self._constraint(each, f"{at}[{i}]" if isinstance(given, list) else at)
                for i, each in enumerate(items)
            ]
        )

    def _constraint(self, given: Any, at: str) -> Constraint | None:
        if isinstance(given, str) and self.description is not None:
            own = {c.name: c for c in self.description.constraints}
            if given not in own:
                self.report.add(
                    at,
                    f"no constraint '{given}'",
                    "the name of a constraint of the model, or a table",
                    did_you_mean(given, own),
                )
            return own.get(given)
        if not isinstance(given, dict):
            self.report.add(
                at,
                short_text(given),
                'a table, such as {type = "prescribed_point", name = "line", frame = "tip", x = 0.5}',
            )
            return None
        before = len(self.report.findings)
        name, kind = self.text(given, "name", at), self.text(given, "type", at)
        if kind is not None and kind not in CONSTRAINTS:
            self.report.add(f"{at}.type", f"'{kind}'", "a constraint type", did_you_mean(kind, CONSTRAINTS))
        if len(self.report.findings) > before:
            return None
        turning = self._turning(given) if "joint" in given else [False]
        held = self.arguments(CONSTRAINTS[kind or ""], given, at, turning, ("type", "name"))
        if len(self.report.findings) > before:
            return None
        try:
            return CONSTRAINTS[kind or ""](name, **held)  # type: ignore[call-arg]
        except InputError as error:
            self.report.add_error(at, error)
            return None

    def _observer(self, given: Any, at: str) -> Observer | None:
        if not isinstance(given, dict):
            self.report.add(at, short_text(given), "a table with A, B, C, L and measured")
            return None
        return self._object(Observer, given, at)

    def _model(self, given: Any, at: str) -> Description | None:
        """Return what a controller believes the mechanism to be."""
        if not isinstance(given, str):
            self.report.add(at, short_text(given), "the name of a library model or the path of a model file")
            return None
        try:
            return load_model(given, self.folder).description
        except ArticulusError as error:
            self.report.add(at, str(error), "a model")
            return None

    # units

    def unit_of(self, table: dict[str, Any], key: str, entry: int | None = None) -> str:
        """Return the unit in which a number of a component is read; "any" where entries differ, or where it is not known."""
        kind = TYPES.get(str(table.get("type")))
        fields = {f.name: f for f in fields_of(kind) if f.numeric} if kind else {}
        units = self._units(fields[key], table) if key in fields else ["any"]
        if entry is not None and entry < len(units):
            return units[entry]
        return units[0] if len(set(units)) == 1 else "any"

    def _units(self, field: Field, table: dict[str, Any]) -> list[str]:
        """Return the unit of each entry of a field, one for all where they do not differ."""
        if ", " in field.unit:
            parts = field.unit.split(", ")
            count = int(field.size.rpartition(" ")[2])  # of a row: 2 of "rows x 2"
            return [part for part in parts for _ in range(count // len(parts))]
        if " or " not in field.unit:
            return [field.unit]
        turning = self._turning(table)
        return [pick(field.unit, turns) for turns in turning] or ["any"]

    def _turning(self, table: dict[str, Any]) -> list[bool]:
        """Return whether each degree of freedom that a component works on turns; nothing where this is not known."""
        if self.description is None:
            return []
        joints = {c.name: c.joint for c in self.description.connections}
        given = table.get("joint") or table.get("joints") or [c.name for c in self.description.independent]
        names = [given] if isinstance(given, str) else given
        if not all(isinstance(n, str) and n in joints for n in names):
            return []
        return [turns for n in names for turns in joints[n].rotational[: joints[n].nv]]

    # together with the mechanism

    def tell(self, error: InputError, path: str) -> None:
        """Note what a component said about itself at `path`."""
        for f in error.findings:
            where = self._within(path, f.field) if f.field else path
            expected = f.expected or "components that fit the mechanism and each other"
            self.report.add(where, f.found, expected, f.hint)

    def _within(self, path: str, key: str) -> str:
        """Return the path of a key of a component, or of what is nested in it."""
        inside = (p for p in self.report.lines if p.startswith(f"{path}.") and p.endswith(f".{key}"))
        return min(inside, key=len, default=f"{path}.{key}")

    def fits(self, loop: Loop, paths: list[str]) -> bool:
        """Whether all components of a loop, of tables at some paths, fit the mechanism and each other; note every one that does not."""
        try:
            loop.system.network.check_feedback()
        except UnfitComponents as error:
            for position, reason in error.reasons.items():
                self.tell(reason, paths[position])
            return False
        return True


def _texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(x, str) for x in given)


def load_model(name: str, folder: Path, **options: Any) -> Any:
    """Return the mechanism of a library name, or of a path that starts from `folder`; a file cannot say that it is trusted."""
    if "expand_xacro" in options or Path(name).suffix.lower() == ".xacro":
        raise InputError(
            f"{name}: found a xacro file, whose expressions can run any code, in a study; expected a model that is only read. Save what "
            "load(path, expand_xacro=True) returns as .toml or .urdf, and name that"
        )
    if not Path(name).suffix and "/" not in name:
        return load(name, **options)
    return load(folder / name, **options)
