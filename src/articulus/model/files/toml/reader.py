"""Reading the TOML format of mechanisms (schema 1, `docs/toml.md`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.asset_paths import why_outside
from articulus.model.files.modes_file import modes_from_bytes
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_bytes, load_text
from articulus.model.files.toml.beam import LISTS, BeamTable
from articulus.model.files.toml.couplings import read_coupling
from articulus.model.files.toml.equipment import read_equipment
from articulus.model.files.toml.fields import CONSTRAINTS, JOINTS, table_fields
from articulus.model.files.toml.lines import key_lines
from articulus.model.files.toml.numbers import Numbers, short_text
from articulus.model.files.toml.values import Values, nothing_attached
from articulus.model.mechanism import (
    GROUND,
    MAX_BODIES,
    Body,
    Connection,
    Constraint,
    Description,
    Frame,
    Joint,
    LoopJoint,
    Prismatic,
    Revolute,
)
from articulus.model.mechanism.denavit_hartenberg import DHPlace
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import parameters_in, with_values
from articulus.model.mechanism.pose import Pose

SCHEMA = 1
TOP = (
    "schema", "name", "source", "gravity", "visuals", "parameters", "body", "joint", "frame", "loop", "constraint",
    "coupling", "component", "state", "collision",
)  # fmt: skip
MAX_VALUES = 1_000_000
"""Lines and list entries of a text; a body of a large model takes some 25."""
MAX_PARTS = 16
"""Parts of a dotted key."""
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(
    rf"(?m)(?:^|[\[{{,])[ \t]*+(?:(?:{_PART}\.[ \t]*+){{{MAX_PARTS},}}+{_PART}[=\]]|(?:{_PART}\.[ \t]*+){{1000}})"
)
"""Such a key before its end; or a thousand parts without one, which no text in quotes has."""
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_END = " (at end of document)"


def read_toml(path: StrPath) -> Description:
    """Return the mechanism of a TOML file; raise ModelError with everything that is wrong in it.

    Modes of flexible bodies and meshes are read from the files that it names, which lie in its folder.
    """
    folder = as_path(path).parent

    def load_beside(filename: str) -> bytes:
        if reason := why_outside(filename, folder, {}):
            raise ModelError(Finding(filename, f"a file that is not read: {reason}", "one beside the model"))
        return load_bytes(folder / filename)

    return parse_toml(load_text(path), as_path(path).name, load_beside)


def parse_toml(
    text: str, name: str = "model.toml", attached: Callable[[str], bytes] = nothing_attached
) -> Description:
    """Return the mechanism of a TOML text.

    Parameters
    ----------
    text : str
        The file's content.
    name : str
        Stands for the file in messages.
    attached : callable
        Returns the content of a file that the text names: modes of a flexible body, or a mesh.
    """
    try:
        return _parse(text, name, attached)
    except RecursionError:
        raise ModelError(Finding(name, "values nested too deeply", "a few levels at most")) from None


def _parse(text: str, name: str, attached: Callable[[str], bytes]) -> Description:
    data = load_tables(text, name)
    report = Report(name, key_lines(text))
    if data.get("schema") != SCHEMA or isinstance(data["schema"], bool):
        found = short_text(data["schema"]) if "schema" in data else "no schema"
        report.add(
            "schema" if "schema" in data else "", found, f"schema = {SCHEMA}", "It names the file format."
        )
    bodies = data.get("body")
    if isinstance(bodies, dict) and len(bodies) > MAX_BODIES:
        report.add("body", f"{len(bodies)} bodies", f"at most {MAX_BODIES}")
    report.raise_if_any()
    return _Reader(data, report, attached).description()


def load_tables(text: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML text; raise ModelError with the line of a syntax error."""
    _check_size(text, name)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or an integer with thousands of digits
        message = str(error)
    found = _LINE.search(message)
    line = int(found[1]) if found else text.count("\n") + 1 if message.endswith(_END) else 1
    reason = _LINE.sub("", message).removesuffix(_END)
    raise ModelError(Finding(f"{name}:{line}", f"a syntax error: {reason}", "valid TOML"))


def _check_size(text: str, name: str) -> None:
    """Refuse what costs the parser far more than its length: very many values, keys of very many parts."""
    if text.count(",") + text.count("\n") > MAX_VALUES:
        raise ModelError(
            Finding(
                name, f"more than {MAX_VALUES} lines and list entries", "fewer", "Keep tables in a CSV file."
            )
        )
    found = _LONG_KEY.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ModelError(Finding(f"{name}:{line}", f"a key of more than {MAX_PARTS} parts", "a shorter key"))


class _Reader(Values):
    """Turns the tables of one file into objects; what is wrong goes to the report and a stand-in takes its place.

    The stand-ins keep the rest of the mechanism whole, so that one reading finds all the mistakes.
    """

    def __init__(self, data: dict[str, Any], report: Report, attached: Callable[[str], bytes]):
        super().__init__(report, Numbers(report, data.get("parameters", {})), attached)
        self.data = data
        self.childless = False
        self.without_modes: set[str] = set()

    def description(self) -> Description:
        self.unknown_keys(self.data, TOP, "")
        bodies = tuple(self._body(name, t) for name, t in self._tables("body"))
        joints = [self._connection(name, t) for name, t in self._tables("joint")]
        frames = tuple(self._frame(name, t) for name, t in self._tables("frame"))
        top = {f.name: self.value(f, self.data, "") for f in table_fields(Description)}
        name = self.text(self.data, "name", "") or ""
        connections = tuple(c for c in joints if c is not None)
        self.joints = {c.name: c.joint for c in connections}
        top["constraints"] = self._constraints()
        found = [read_coupling(self, name, t, self.joints) for name, t in self._tables("coupling")]
        top["couplings"] = tuple(c for c in found if c is not None)
        top["equipment"] = read_equipment(self.data, self.report)
        self.numbers.note_unused()
        return self._build(name, bodies, connections, frames, **top)

    def _build(self, *parts: Any, **top: Any) -> Description:
        top["locate"] = self.report.locate
        try:
            built = Description.build(*parts, **top)
        except ModelError as error:
            self.report.findings += [f for f in error.findings if not self._follows(f)]
            self.report.raise_if_any()
            raise
        self.report.raise_if_any()
        return built

    def _follows(self, finding: Finding) -> bool:
        """Return whether a finding only follows from a joint without a child, or from modes that were not read."""
        if self.childless and finding.found == "no joint that carries it":
            return True
        return any(finding.expected == f"a station of flexible body '{name}'" for name in self.without_modes)

    def _tables(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        tables = self.data.get(kind, {})
        if not isinstance(tables, dict):
            self.report.add(kind, short_text(tables), f"one table for each {kind}", f"Write [{kind}.name].")
            return []
        for name, table in tables.items():
            if not isinstance(table, dict):
                self.report.add(
                    f"{kind}.{name}", short_text(table), "a table", f"Write [{kind}.name], then its keys."
                )
        return [(n, t) for n, t in tables.items() if isinstance(t, dict)]

    def _body(self, name: str, table: dict[str, Any]) -> Body:
        path = f"body.{name}"
        rigid = {} if table.get("massless") else {"mass": 1.0, "inertia": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)}
        if "flexible" in table or "beam" in table:
            held = self.arguments(Body, table, path, more_keys=("flexible", "beam"))
            modes = self._modes(table, path)
            if modes is not None:
                return Body(name, **held, modes=modes)
            self.without_modes.add(name)
            return Body(name, **held | rigid)
        for key in rigid:
            if key not in table:
                self.report.add(path, f"no {key}", f'{key}, or massless = "reason"')
        return Body(
            name, **self.arguments(Body, rigid | table, path, more_keys=("flexible", "beam"), stand_in=rigid)
        )

    def _modes(self, table: dict[str, Any], path: str) -> Modes | None:
        """Return what makes a body flexible, from a file or from a beam."""
        if "flexible" in table and "beam" in table:
            self.report.add(f"{path}.beam", "a beam and a file of modes", "one of the two")
            return None
        return self._file(table, path) if "flexible" in table else self._beam(table["beam"], f"{path}.beam")

    def _file(self, table: dict[str, Any], path: str) -> Modes | None:
        filename = self.text(table, "flexible", path)
        if filename is None:
            return None
        try:
            modes = modes_from_bytes(self.with_attached(filename), filename)
        except ModelError as error:
            self.unread(f"{path}.flexible", filename, error)
            return None
        return self._with_declared(modes, f"{path}.flexible")

    def _with_declared(self, modes: Modes, path: str) -> Modes | None:
        """Return modes whose parameters have the values of the [parameters] table."""
        values: dict[str, float] = {}
        for p in parameters_in(modes):
            self.numbers.used.add(p.name)
            if p.name in self.numbers.declared:
                values[p.name] = self.numbers.declared[p.name].parameter.value
            else:
                self.report.add(path, f"data that follow the parameter '{p.name}'", "it under [parameters]")
        try:
            return with_values(modes, values)
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _beam(self, given: Any, path: str) -> Modes | None:
        if not isinstance(given, dict):
            self.report.add(
                path, short_text(given), "a table, such as {length = ..., EI = ..., mass_per_length = ...}"
            )
            return None
        before = len(self.report.findings)
        listed = {k: [x] if k in LISTS and not isinstance(x, list) else x for k, x in given.items()}
        held = self.arguments(BeamTable, listed, path)
        if len(self.report.findings) > before:
            return None
        try:
            return BeamTable(**held).body()
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _connection(self, name: str, table: dict[str, Any]) -> Connection | None:
        path = f"joint.{name}"
        kind = self._joint_type(table, path)
        if kind is None:
            self.childless = True
            return None
        joint = self._joint(kind, table, path)
        own = tuple(f.name for f in table_fields(kind))
        held = self.arguments(
            Connection, table, path, joint.rotational, ("type", "dh", *own), {"parent": GROUND, "child": ""}
        )
        if "dh" in table:
            held |= self._dh(joint, table, path)
        if not held["child"]:
            if table.get("child") == "":
                self.report.add(f"{path}.child", "an empty text", "the name of a body")
            self.childless = True
            return None
        return Connection(name, joint, **held)

    def _dh(self, joint: Joint, table: dict[str, Any], path: str) -> dict[str, Pose]:
        """Return where a joint is by its four numbers of Denavit and Hartenberg, in place of `at` and `child_at`."""
        at, table_of_dh = f"{path}.dh", table["dh"]
        for key in ("at", "child_at", "axis"):
            if key in table:
                self.report.add(
                    at, f"`dh` beside `{key}`", "one of the two: `dh` places the joint, its axis is z"
                )
        if not isinstance(joint, (Revolute, Prismatic)):
            self.report.add(at, f"`dh` of a {joint.type_name} joint", "a revolute or prismatic joint")
        if not isinstance(table_of_dh, dict):
            self.report.add(
                at,
                short_text(table_of_dh),
                'a table, such as {convention = "standard", a = 0.4, alpha = "90 deg"}',
            )
            return {}
        before = len(self.report.findings)
        place = self.arguments(DHPlace, table_of_dh, at)
        if len(self.report.findings) > before:
            return {}
        try:
            places = DHPlace(**place).poses()
        except InputError as error:
            self.report.add_error(at, error)
            return {}
        return dict(zip(("at", "child_at"), places))

    def _joint_type(self, table: dict[str, Any], path: str) -> type[Joint] | None:
        named = self.text(table, "type", path)
        if named is not None and named not in JOINTS:
            self.report.add(f"{path}.type", f"'{named}'", "a joint type", did_you_mean(named, JOINTS))
        kind = JOINTS.get(named or "")
        if kind is None:
            self._report_unknown_type(table, path)
        return kind

    def _report_unknown_type(self, table: dict[str, Any], path: str) -> None:
        """Report what can be said about a joint whose type is not known."""
        fields = table_fields(Connection)
        every = (
            {f.name for kind in JOINTS.values() for f in table_fields(kind)}
            | {f.name for f in fields}
            | {"type"}
        )
        self.unknown_keys(table, every, path)
        for f in fields:
            if f.kind in ("text", "refers", "pose"):
                self.value(f, table, path)

    def _joint(self, kind: type[Joint], table: dict[str, Any], path: str) -> Joint:
        before = len(self.report.findings)
        held = {f.name: self.value(f, table, path) for f in table_fields(kind)}
        if len(self.report.findings) > before:
            return kind()
        try:
            joint = kind(**held)
        except InputError as error:
            self.report.add_error(path, error)
            return kind()
        for p in set(parameters_in(tuple(held.values()))) - set(parameters_in(joint)):
            self.report.add(path, f"the parameter '{p.name}' in a direction", "plain numbers there")
        return joint

    def _constraints(self) -> tuple[Constraint, ...]:
        """Return loops and other constraints in the order of their lines."""
        tables: list[tuple[str, Constraint | None]] = []
        tables += [(f"loop.{name}", self._loop(name, t)) for name, t in self._tables("loop")]
        tables += [
            (f"constraint.{name}", self._constraint(name, t)) for name, t in self._tables("constraint")
        ]
        tables.sort(key=lambda pair: self.report.lines.get(pair[0], 0))
        return tuple(c for _, c in tables if c is not None)

    def _loop(self, name: str, table: dict[str, Any]) -> LoopJoint | None:
        path = f"loop.{name}"
        kind = self._joint_type(table, path)
        if kind is None:
            return None
        joint, before = self._joint(kind, table, path), len(self.report.findings)
        own = tuple(f.name for f in table_fields(kind))
        held = self.arguments(LoopJoint, table, path, joint.rotational, ("type", *own))
        return LoopJoint(name, joint, **held) if len(self.report.findings) == before else None

    def _constraint(self, name: str, table: dict[str, Any]) -> Constraint | None:
        path, before = f"constraint.{name}", len(self.report.findings)
        named = self.text(table, "type", path)
        if named is not None and named not in CONSTRAINTS:
            hint = "Write [loop.name]." if named == "loop" else did_you_mean(named, CONSTRAINTS)
            self.report.add(f"{path}.type", f"'{named}'", "a constraint type", hint)
        joint = table.get("joint")
        if isinstance(joint, str) and joint not in self.joints:
            self.report.add(
                f"{path}.joint", f"'{joint}'", "the name of a joint", did_you_mean(joint, self.joints)
            )
        if len(self.report.findings) > before:
            self.numbers.note_used(table)
            return None
        kind = CONSTRAINTS[named or ""]
        held = self.arguments(kind, table, path, self._turning(table), ("type",))
        if len(self.report.findings) > before:
            return None
        try:
            return kind(name, **held)  # type: ignore[call-arg]
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _turning(self, table: dict[str, Any]) -> tuple[bool | None, ...]:
        """Return for each coordinate that a constraint is about whether it turns; lengths where no joint is named."""
        joint = self.joints.get(str(table.get("joint")))
        if joint is None:
            return (False,)
        turning = joint.rotational if joint.nq == joint.nv else (None,) * 4 + (False,) * (joint.nq - 4)
        if "coordinate" in table and table["coordinate"] in joint.coordinate_names:
            return (turning[joint.coordinate_names.index(table["coordinate"])],)
        return turning

    def _frame(self, name: str, table: dict[str, Any]) -> Frame:
        return Frame(name, **self.arguments(Frame, table, f"frame.{name}", stand_in={"body": GROUND}))
