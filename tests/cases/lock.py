"""Add the expected numbers of new rows to `expected.lock`: `python tests/cases/lock.py`. Nothing is ever taken out of it.

A line is case, quantity, origin, tolerance and expected number, between tabs. Rows of origin `identity` are not independent
of this package and are left out.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
CASES = HERE.parents[1] / "src" / "articulus" / "cases"
LOCK, WITHDRAWN = HERE / "expected.lock", HERE / "withdrawn.toml"


class Line(NamedTuple):
    """A row whose number is independent of this package."""

    case: str
    quantity: str
    origin: str
    tolerance: float
    expected: Any

    def __str__(self) -> str:
        return "\t".join(
            [self.case, self.quantity, self.origin, repr(self.tolerance), json.dumps(self.expected)]
        )

    @classmethod
    def of(cls, text: str) -> Line:
        case, quantity, origin, tolerance, expected = text.split("\t")
        return cls(case, quantity, origin, float(tolerance), json.loads(expected))


def locked() -> list[Line]:
    """Return the lines of the lock."""
    return [Line.of(text) for text in LOCK.read_text(encoding="utf-8").splitlines()]


def independent(folder: Path = CASES) -> list[Line]:
    """Return the independent rows of all cases in a folder."""
    found = []
    for path in sorted(folder.glob("*/case.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["row"]:
            if row["origin"] != "identity":
                line = (row["quantity"], row["origin"], float(row["tolerance"]), _numbers(row["expected"]))
                found.append(Line(path.parent.name, *line))
    return found


def withdrawn() -> list[dict[str, Any]]:
    """Return numbers that turned out to be wrong, each with its reason."""
    return tomllib.loads(WITHDRAWN.read_text(encoding="utf-8")).get("withdrawn", [])


def lost(lines: Iterable[Line], rows: Iterable[Line], gone: Iterable[dict[str, Any]]) -> list[Line]:
    """Return the lines that no row holds any more, with the same number and origin and no wider tolerance."""
    excused = {(g["case"], g["quantity"], json.dumps(_numbers(g["expected"]))) for g in gone}
    held: dict[tuple[str, str, str, str], float] = {}
    for r in rows:
        key = (r.case, r.quantity, r.origin, json.dumps(r.expected))
        held[key] = min(held.get(key, float("inf")), r.tolerance)
    return [
        line
        for line in lines
        if (line.case, line.quantity, json.dumps(line.expected)) not in excused
        and held.get((line.case, line.quantity, line.origin, json.dumps(line.expected)), float("inf"))
        > line.tolerance
    ]


def _numbers(value: Any) -> Any:
    return [_numbers(x) for x in value] if isinstance(value, list) else float(value)


def main() -> None:
    """Append the rows that the lock does not have."""
    lines = locked() if LOCK.exists() else []
    known = {str(line) for line in lines}
    new = [row for row in independent() if str(row) not in known]
    LOCK.write_text("".join(f"{line}\n" for line in [*lines, *new]), encoding="utf-8")
    print(f"{len(new)} rows added to {LOCK.name}, {len(lines) + len(new)} in all")


if __name__ == "__main__":
    main()
