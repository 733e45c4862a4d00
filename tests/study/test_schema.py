"""JSON Schema: it takes every TOML file of the repository that the readers take, and refuses what they refuse."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from articulus import cli
from articulus.model import library
from articulus.model.files.toml.writer import toml_text
from articulus.study.schema import KINDS, json_schema

from .json_schema import errors
from .support import BASE, changed
from .test_reader import GRID

ROOT = Path(__file__).parents[2]


@cache
def schema(kind: str) -> dict[str, Any]:
    return json_schema(kind)


def wrong(text: str, kind: str) -> list[str]:
    return list(errors(tomllib.loads(text), schema(kind)))


def kind_of(data: dict[str, Any]) -> str:
    return next(
        (kind for kind, key in (("study", "study"), ("task", "plan"), ("model", "body")) if key in data), ""
    )


def documents() -> dict[str, str]:
    """Return every whole TOML file of sources, examples and pages, by its place."""
    files = [*(ROOT / "src").rglob("*.toml"), *(ROOT / "examples").rglob("*.toml")]
    found = {str(p.relative_to(ROOT)): p.read_text() for p in files}
    for page in (ROOT / "docs").rglob("*.md"):
        blocks = re.findall(r"```toml\n(.*?)```", page.read_text(), re.S)
        found |= {f"{page.relative_to(ROOT)}, block {i}": text for i, text in enumerate(blocks)}
    return {place: text for place, text in found.items() if re.search(r"(?m)^schema = 1$", text)}


def test_every_file_of_the_repository_fits() -> None:
    held = {place: text for place, text in documents().items() if kind_of(tomllib.loads(text))}
    assert len(held) >= 15
    assert {kind_of(tomllib.loads(text)) for text in held.values()} == {"model", "study", "task"}
    for place, text in held.items():
        assert wrong(text, kind_of(tomllib.loads(text))) == [], place


@pytest.mark.parametrize("name", library.names())
def test_every_model_of_the_library_fits(name: str) -> None:
    assert wrong(toml_text(library.read(name)), "model") == []


MODEL = toml_text(library.read("two_link"))
TASK = (ROOT / "examples" / "tasks" / "excavator_wall.toml").read_text()
CAMPAIGN = changed(("kp = 300", 'kp = {parameter = "stiffness"}')) + GRID
REFUSED = {
    "misspelled key of a body": ("model", MODEL, "mass =", "mas =", "mas"),
    "misspelled table": ("model", MODEL, "gravity =", "gravty =", "gravty"),
    "text for a number": ("model", MODEL, "mass = ", 'mass = "heavy" # ', "mass"),
    "number without unit in quotes": ("model", MODEL, "mass = ", 'mass = "12" # ', "mass"),
    "no parent": ("model", MODEL, 'parent = "ground"\n', "", "parent"),
    "unknown joint": ("model", MODEL, 'type = "revolute"', 'type = "revolt"', "type"),
    "schema 2": ("study", BASE, "schema = 1", "schema = 2", "schema"),
    "misspelled key of a component": ("study", BASE, "kp = 300", "kpp = 300", "kpp"),
    "missing key of a component": ("study", BASE, "kp = 300\n", "", "kp"),
    "unknown component": ("study", BASE, 'type = "pd"', 'type = "pdd"', "type"),
    "misspelled run setting": ("study", BASE, 'step = "1 ms"', 'stp = "1 ms"', "stp"),
    "unknown method": ("study", BASE, 'step = "1 ms"', 'method = "rk5"', "method"),
    "step of zero": ("study", BASE, 'step = "1 ms"', "step = 0", "step"),
    "seed of 1.5": ("study", BASE, 'step = "1 ms"', "seed = 1.5", "seed"),
    "no name of a study": ("study", BASE, 'name = "arm"\n', "", "name"),
    "two bounds of a check": ("study", BASE, 'less = "0.001 J"', "less = 1\ngreater = 0", "check"),
    "sweep": ("study", BASE, "[outputs]", "[sweep]\n[outputs]", "sweep"),
    "no campaign": ("campaign", BASE, "", "", "campaign"),
    "unknown sampler": ("campaign", CAMPAIGN, '"grid"', '"gird"', "sampler"),
    "three numbers of a normal distribution": ("campaign", CAMPAIGN, '"1 deg"]', '"1 deg", 2]', "q.joint1"),
    "runs of zero": ("campaign", CAMPAIGN, "runs = 12", "runs = 0", "runs"),
    "misspelled key of a task": ("task", TASK, "duration =", "duraton =", "duraton"),
    "radius as a list": ("task", TASK, "radius = ", "radius = [1] # ", "radius"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_readers_refuse_is_refused(case: tuple[str, str, str, str, str]) -> None:
    kind, text, old, new, said = case
    assert old in text
    found = wrong(text.replace(old, new, 1), kind)
    assert found
    assert any(said in each for each in found), found
    if old:
        assert wrong(text, kind) == []


def test_a_component_of_a_file_fits() -> None:
    head, _, rest = BASE.partition("[[component]]")
    assert wrong(f'{head}[[component]]\nfile = "pd.toml"\nkp = 300\n\n[[component]]{rest}', "study") == []


def test_meanings_units_and_defaults_are_in_it() -> None:
    run = schema("study")["properties"]["run"]["properties"]
    assert run["step"]["description"].endswith("[s]")
    assert (run["step"]["default"], run["method"]["default"]) == (1e-3, "rk4")
    pd = next(t for t in schema("study")["$defs"]["component"]["oneOf"] if t["title"] == "pd")
    assert pd["properties"]["kp"]["description"] == "stiffness [N m/rad or N/m]"


@pytest.mark.parametrize("kind", KINDS)
def test_command(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["schema", kind])
    assert not end.value.code
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(schema(kind)))
    with pytest.raises(SystemExit):
        cli.main(["schema", kind, "--output", str(tmp_path / "s.json")])
    assert json.loads((tmp_path / "s.json").read_text())["title"] == f"articulus {kind}"


def test_unknown_kind(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["schema", "modell"])
    assert end.value.code == 2
    assert "did you mean 'model'?" in " ".join(capsys.readouterr().err.split())
