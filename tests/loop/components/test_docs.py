"""The page about components shows every number with its unit, and its code runs."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from articulus.simulation.loop.components import ALL_COMPONENTS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "components.md").read_text()
FENCE = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


def rows(component: type) -> list[str]:
    """Return the lines of the table of a component."""
    out = []
    for f in dataclasses.fields(component):
        if not f.metadata:
            continue
        default = (
            "" if f.default is dataclasses.MISSING else "not given" if f.default is None else f"{f.default}"
        )
        m = f.metadata
        out.append(f"| `{f.name}` | {m['unit']} | {m['size']} | {default} | {m['meaning']} |")
    return out


@pytest.mark.parametrize("component", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_every_number_is_on_the_page(component: type) -> None:
    heading = f"### {component.__name__} (`{component.type_name}`)"
    assert heading in PAGE
    section = PAGE.split(heading)[1].split("\n#")[0]
    assert not [row for row in rows(component) if row not in section]
    assert all(f"`{name}` [{unit}]" in section for name, unit in component.signals.items())


def test_the_code_of_the_page_runs() -> None:
    scope: dict[str, object] = {"__name__": "page"}
    blocks = FENCE.findall(PAGE)
    assert len(blocks) > len(ALL_COMPONENTS) / 2
    for code in blocks:
        exec(compile(code, "docs/components.md", "exec"), scope)  # noqa: S102 (a page of this repository)
