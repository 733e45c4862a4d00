"""Reading the TOML formats of designs and of inversions of linear models (schema 1, `docs/control/command_line.md`)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.declared import Field
from articulus.errors import ArticulusError, DoubtfulResult, Finding, ModelError, did_you_mean
from articulus.linear import LinearModel
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.reader import load_tables
from articulus.motion.inversion.paths import Path as OutputPath
from articulus.study.courses import Courses
from articulus.study.linear.methods import METHODS, weighted_names
from articulus.study.linear.model_file import OperatingModel, read_linear_model
from articulus.study.linear.source import PlantSource, linear_plant
from articulus.study.numbers import StudyNumbers
from articulus.study.tables import Tables, report_of
from articulus.study.tip import read_path

SCHEMA = 1
HEAD = ("name", "purpose", "model", "options")
PLANT = (
    Field("inputs", "names", meaning="inputs of the linear model"),
    Field("outputs", "names", meaning="outputs of the linear model"),
    Field("at", "number", unit="s", size="1", meaning="time of the study about which it is"),
    Field("trim", "flag", meaning="whether it is about a state that commands hold"),
)
PERIOD = Field("period", "number", unit="s", size="1", meaning="sampling period", above=0)
DESIGN = (*HEAD, *(f.name for f in PLANT), "method", PERIOD.name)
INVERSION = (
    Field("method", "choice", meaning="time or frequency", words={"time": "time", "frequency": "frequency"}),
    Field("step", "number", unit="s", size="1", meaning="between the times of the result", above=0),
    Field("pre", "number", unit="s", size="1", meaning="length before the path", least=0),
    Field("post", "number", unit="s", size="1", meaning="length after the path", least=0),
    Field("cut", "number", unit="-", size="1", meaning="part of the peak that may be cut off", above=0),
)
WEIGHTS = ("input_weights", "output_weights")


@dataclass(frozen=True, eq=False)
class DesignTask:
    """A controller to be designed.

    Parameters
    ----------
    name, purpose, filename, text : str
    plant : OperatingModel
        As it was linearized.
    model : LinearModel
        The plant of the design: sampled where a period was given.
    method : str
    arguments : dict
        Arguments of the method, beside the plant.
    notes : tuple of str
        Why the plant is doubtful.
    """

    name: str
    purpose: str
    filename: str
    text: str
    plant: OperatingModel
    model: LinearModel
    method: str
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class InversionTask:
    """A path of the outputs of a linear model, whose inputs are wanted; fields as of `DesignTask`."""

    name: str
    purpose: str
    filename: str
    text: str
    plant: OperatingModel
    path: OutputPath
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


def read_design(path: StrPath) -> DesignTask:
    """Return the design task of a TOML file; raise ModelError with everything that is wrong in it."""
    place = as_path(path)
    return _reader(load_text(place), place.name, place.parent).design()


def read_inversion(path: StrPath) -> InversionTask:
    """Return the inversion task of a TOML file; raise ModelError with everything that is wrong in it."""
    place = as_path(path)
    return _reader(load_text(place), place.name, place.parent).inversion()


def read_arguments(method: str, table: Mapping[str, Any], model: LinearModel) -> dict[str, Any]:
    """Return the arguments of a design method from a table `[arguments]` without files; raise ModelError with everything that is wrong in it."""
    data = {"schema": SCHEMA, "arguments": dict(table)}
    for key, value in table.items():
        if isinstance(value, dict) and "file" in value:
            told = short_text(value)
            raise ModelError(Finding(f"arguments.{key}", told, "numbers, or {num = [...], den = [...]}"))
    reader = _Reader(data, "", Report("form", {}), Path())
    found = reader._arguments(method, model)
    reader.report.raise_if_any()
    return found


def _reader(text: str, name: str, folder: Path) -> _Reader:
    try:
        data = load_tables(text, name)
        return _Reader(data, text, report_of(data, text, name, SCHEMA), folder)
    except RecursionError:
        raise ModelError(Finding(name, "values nested too deeply", "a few levels at most")) from None


class _Reader(Tables):
    """Turns the tables of one file into a task; all that is wrong goes to the report."""

    def __init__(self, data: dict[str, Any], text: str, report: Report, folder: Path):
        super().__init__(data, text, report, folder, Courses(report, StudyNumbers(report, {}), folder))

    def design(self) -> DesignTask:
        self.values.unknown_keys(self.data, ("schema", "design", "arguments"), "")
        head, plant, notes = self._plant("design", DESIGN)
        table = self.table("design")
        named = self.values.text(table, "method", "design")
        period = (
            self.values.read_declared(PERIOD, table["period"], "design.period") if "period" in table else None
        )
        if named is not None and named not in METHODS:
            self.report.add("design.method", f"'{named}'", "a design method", did_you_mean(named, METHODS))
        self.report.raise_if_any()
        assert plant is not None
        assert named is not None
        model = linear_plant(plant, period)
        arguments = self._arguments(named, model)
        self.report.raise_if_any()
        return DesignTask(
            head["name"], head["purpose"], self.report.name, self.text, plant, model, named, arguments, notes
        )

    def inversion(self) -> InversionTask:
        self.values.unknown_keys(self.data, ("schema", "inversion"), "")
        fields = {f.name: f for f in (*INVERSION, PERIOD)}
        known = (*HEAD, *(f.name for f in PLANT), *fields, *WEIGHTS, "path")
        head, plant, notes = self._plant("inversion", known)
        table = self.table("inversion")
        arguments = {
            name: self.values.read_declared(f, table[name], f"inversion.{name}")
            for name, f in fields.items()
            if name in table
        }
        for name in WEIGHTS:
            if name in table:
                arguments[name] = self._numbers(table[name], f"inversion.{name}")
        path = None
        if plant is not None:
            path = read_path(self.values, table.get("path"), list(plant.model.output_units), self.folder)
        self.report.raise_if_any()
        assert plant is not None
        assert path is not None
        return InversionTask(
            head["name"], head["purpose"], self.report.name, self.text, plant, path, arguments, notes
        )

    def _plant(
        self, key: str, known: Sequence[str]
    ) -> tuple[dict[str, Any], OperatingModel | None, tuple[str, ...]]:
        """Return head and plant of a table, and why the plant is doubtful."""
        head, table, before = self.head(key, tuple(known)), self.table(key), len(self.report.findings)
        held = {
            f.name: self.values.read_declared(f, table[f.name], f"{key}.{f.name}")
            for f in PLANT
            if f.name in table
        }
        options = table.get("options", {})
        if not isinstance(options, dict):
            self.report.add(f"{key}.options", short_text(options), "a table, such as {n = 5}")
        if len(self.report.findings) > before or head["model"] is None:
            return head, None, ()
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", DoubtfulResult)
                found = PlantSource(head["model"], self.folder, options, **held).load()
        except ArticulusError as error:
            expected = "a linear model, a study, a model file or the name of a library model"
            self.report.add(f"{key}.model", str(error), expected)
            return head, None, ()
        return head, found, tuple(dict.fromkeys(str(each.message) for each in told))

    # arguments of a method

    def _arguments(self, named: str, model: LinearModel) -> dict[str, Any]:
        method, table = METHODS[named], self.table("arguments")
        kinds = method.kinds
        self.values.unknown_keys(table, kinds, "arguments")
        for key in method.required:
            if key not in table:
                self.report.add("arguments", f"no {key}", f"{key}, as {named} needs it")
        found: dict[str, Any] = {}
        for key in sorted(
            set(table) & set(kinds), key=lambda k: kinds[k] != "names"
        ):  # names are needed by weights
            found[key] = self._argument(kinds[key], table[key], f"arguments.{key}", model, found)
        return found

    def _argument(self, kind: str, given: Any, at: str, model: LinearModel, known: Mapping[str, Any]) -> Any:
        match kind:
            case "names":
                listed = [given] if isinstance(given, str) else given
                good = isinstance(listed, list) and listed and all(isinstance(x, str) for x in listed)
                return tuple(listed) if good else self._refuse(at, given, "names in quotes")
            case "flag" | "integer":
                return self.values.read_declared(Field("", kind, meaning=""), given, at)
            case "number":
                return self.values.read_declared(
                    Field("", "number", unit="any", size="1", meaning=""), given, at
                )
            case "poles":
                return self._poles(given, at)
            case "weight" if isinstance(given, dict):
                return self._weight(given, at)
            case "matrix" | "weight":
                return self._numbers(given, at)
            case _ if isinstance(given, dict):
                return self._by_name(given, at, kind, model, known)
            case _:
                return self._numbers(given, at)

    def _refuse(self, at: str, given: Any, expected: str) -> None:
        self.report.add(at, short_text(given), expected)

    def _numbers(self, given: Any, at: str) -> Any:
        """Return a number, a list or a matrix of plain finite numbers."""
        try:
            found = np.array(given, dtype=float) if _plain(given) else None
        except ValueError:  # rows of different lengths
            found = None
        if found is None or not np.isfinite(found).all():
            return self._refuse(at, given, "a finite number, a list of numbers or a matrix")
        return found if found.ndim else float(found)

    def _by_name(
        self, given: dict[str, Any], at: str, kind: str, model: LinearModel, known: Mapping[str, Any]
    ) -> np.ndarray | None:
        """Return weights of a table by names, zero for those that it leaves out: "q" stands for every "q.<name>"."""
        try:
            names = weighted_names(kind, model, known)
        except ArticulusError as error:
            self._refuse(at, given, f"names that exist: {error}")
            return None
        weights = np.zeros(len(names))
        for name, value in _flat(given):
            rows = [k for k, each in enumerate(names) if each == name or each.startswith(f"{name}.")]
            number = self._numbers(value, f"{at}.{name}")
            if not rows:
                self.report.add(
                    f"{at}.{name}", f"nothing named '{name}'", f"one of the {kind}", did_you_mean(name, names)
                )
            elif isinstance(number, float):
                weights[rows] = number
            elif number is not None:
                self._refuse(f"{at}.{name}", value, "a number")
        return weights

    def _poles(self, given: Any, at: str) -> list[complex] | None:
        """Return poles: numbers, and pairs [real, imaginary] that stand for two conjugate ones."""
        expected = "a list of real numbers and of pairs [real part, imaginary part], each of which is two conjugate poles"
        if not isinstance(given, list):
            self._refuse(at, given, expected)
            return None
        poles: list[complex] = []
        for k, each in enumerate(given):
            found = self._numbers(each, f"{at}[{k}]")
            if isinstance(found, float):
                poles.append(complex(found))
            elif found is not None and found.shape == (2,):
                poles += [complex(*found), complex(found[0], -found[1])]
            elif found is not None:
                self._refuse(f"{at}[{k}]", each, expected)
        return poles

    def _weight(self, given: dict[str, Any], at: str) -> Any:
        """Return a weight over frequency: {num = [...], den = [...]} in falling powers of s, or {file = "..."}."""
        if set(given) == {"file"} and isinstance(given["file"], str):
            try:
                return read_linear_model(self.folder / given["file"]).model
            except ArticulusError as error:
                return self._refuse(f"{at}.file", given["file"], f"a linear model: {error}")
        if set(given) != {"num", "den"}:
            return self._refuse(at, given, '{num = [...], den = [...]} or {file = "weight.toml"}')
        num, den = (self._numbers(given[key], f"{at}.{key}") for key in ("num", "den"))
        return None if num is None or den is None else (list(np.atleast_1d(num)), list(np.atleast_1d(den)))


def _plain(given: Any) -> bool:
    if isinstance(given, list):
        return all(map(_plain, given))
    return isinstance(given, int | float) and not isinstance(given, bool)


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return the values of nested tables by dotted names: q.boom = 1 is a table in a table."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _flat(value, f"{before}{key}.") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found
