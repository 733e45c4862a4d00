"""Numbers of a study: in the unit that a component's field declares, which need not be an SI unit."""

from __future__ import annotations

import re
from typing import Any

from articulus.errors import InputError
from articulus.model.files.expression_units import dimension_of
from articulus.model.files.toml.numbers import Numbers, expected_number
from articulus.model.files.units import Unit, UnitError, base_text, parse_quantity, parse_unit
from articulus.model.mechanism import Number
from articulus.model.mechanism.expression import parse

OPEN = ("any", "command", "signal", "state", "see mode")
"""Units that only the surroundings of a component decide: any unit is taken, as its SI value."""

_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s+(\S.*?)\s*")


class StudyNumbers(Numbers):
    """Reads numbers as `Numbers` does, into units such as psi, ohm or "unit of the signal" too."""

    def number(self, value: Any, unit: str, path: str) -> Number | None:
        """Return one number in the unit `unit`."""
        if unit in OPEN:
            return super().number(value, self._own_unit(value), path)
        if (plain := _as_declared(value, unit)) is not None:
            return plain
        factor = factor_of(unit)
        if isinstance(value, str) and factor is None:
            self.report.add(path, repr(value), f"{expected_number(unit)}, without any other unit")
            return None
        if isinstance(value, dict) and factor not in (None, 1.0) and self._own_unit(value) != "-":
            self.report.add(
                path, "a parameter with a unit", f"a parameter that is a plain {expected_number(unit)[2:]}"
            )
            return None
        number = super().number(value, "-" if factor is None else unit, path)
        return number / factor if isinstance(value, str) and isinstance(number, float) and factor else number

    def _own_unit(self, value: Any) -> str:
        """Return the unit that a number or parameter brings along, in base units."""
        if isinstance(value, dict):
            unit = self._unit_of(value)
            return base_text(unit) if unit else "-"
        try:
            return base_text(parse_quantity(value)[1]) if isinstance(value, str) else "-"
        except UnitError:
            return "-"

    def _unit_of(self, table: dict[str, Any]) -> Unit | None:
        """Return the unit of a parameter or of an expression; None when it has none or cannot be read."""
        units = {name: held.unit for name, held in self.declared.items()}
        if isinstance(text := table.get("expression"), str):
            try:
                return dimension_of(parse(text, self._declared_parameter), units)
            except (InputError, UnitError):
                return None
        return units.get(str(table.get("parameter")))


def _as_declared(value: Any, unit: str) -> float | None:
    """Return the number of a text whose unit is written exactly as it is declared."""
    match = _NUMBER_AND_UNIT.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] != unit or factor_of(unit) == 1.0:
        return None
    try:
        return float(match[1])
    except ValueError:
        return None


def factor_of(unit: str) -> float | None:
    """Return the SI value of a unit; None for one that is not known."""
    try:
        return float(parse_unit(unit).factor)
    except UnitError:
        return None
