"""What files of studies and of tasks share: their head, the mechanism that they name, and their tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, ModelError
from articulus.model.files.report import Report
from articulus.model.files.toml.lines import key_lines
from articulus.model.files.toml.numbers import short_text
from articulus.study.components import load_model
from articulus.study.courses import Courses

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def report_of(data: dict[str, Any], text: str, name: str, schema: int) -> Report:
    """Return an empty report on a file; raise ModelError unless it is of a schema."""
    report = Report(name, key_lines(text))
    if data.get("schema") != schema or isinstance(data["schema"], bool):
        found = short_text(data["schema"]) if "schema" in data else "no schema"
        report.add(
            "schema" if "schema" in data else "", found, f"schema = {schema}", "It names the file format."
        )
    report.raise_if_any()
    return report


class Tables:
    """The tables of one file; all that is wrong goes to the report.

    Parameters
    ----------
    data : dict
        Tables by name.
    text : str
        Text of the file.
    report : Report
    folder : Path
        Where other files are looked for.
    values : Courses
        Reads numbers, texts and courses.
    """

    def __init__(self, data: dict[str, Any], text: str, report: Report, folder: Path, values: Courses):
        self.data, self.text, self.report, self.folder = data, text, report, folder
        self.values = values

    def table(self, key: str) -> dict[str, Any]:
        """Return a table of the file, empty when it is not there or is none."""
        found = self.data.get(key, {})
        if not isinstance(found, dict):
            self.report.add(key, short_text(found), "a table", f"Write [{key}], then its keys.")
            return {}
        return found

    def tables(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the paths and tables of an array of tables."""
        found = self.data.get(key, [])
        if not isinstance(found, list) or not all(isinstance(t, dict) for t in found):
            self.report.add(
                key, short_text(found), "tables", f"Write [[{key}]] before each, with two brackets."
            )
            return []
        return [(f"{key}[{i}]", t) for i, t in enumerate(found)]

    def head(self, key: str, known: tuple[str, ...]) -> dict[str, Any]:
        """Return name, purpose and model of a table."""
        table = self.table(key)
        self.values.unknown_keys(table, known, key)
        name = self.values.text(table, "name", key)
        if name is not None and not _NAME.fullmatch(name):
            expected = "letters, digits, dots, dashes and underscores"
            self.report.add(f"{key}.name", f"'{name}'", expected, "It names the files that are written.")
        purpose = self.values.text(table, "purpose", key) if "purpose" in table else ""
        return {
            "name": name or "",
            "purpose": purpose or "",
            "model": self.values.text(table, "model", key),
        }

    def mechanism(self, key: str, model: str | None) -> Mechanism | None:
        """Return the mechanism that a table names, with its options."""
        options = self.table(key).get("options", {})
        if not isinstance(options, dict):
            self.report.add(f"{key}.options", short_text(options), "a table, such as {n = 5}")
            return None
        if model is None:
            return None
        try:
            return load_model(model, self.folder, **options)
        except ModelError as error:
            if any(f.found == "no such file" for f in error.findings):
                expected = "a model file, by its path from this file"
                self.report.add(f"{key}.model", f"no file '{model}'", expected)
            else:
                self.report.findings += error.findings
        except ArticulusError as error:
            self.report.add(
                f"{key}.model", str(error), "the name of a library model or the path of a model file"
            )
        return None
