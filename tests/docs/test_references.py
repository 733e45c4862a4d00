"""What is cited is listed, what is public is documented, and what the README shows of the cases is what they hold."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import articulus as art
from articulus import cases
from articulus.cases.case import ORIGINS

ROOT = Path(__file__).resolve().parents[2]
NAME = r"[A-Z][a-z]+"
CITATION = re.compile(rf"{NAME}(?:, {NAME})*(?: & {NAME})? (?:19|20)\d\d\b")


def test_every_citation_is_listed() -> None:
    listed = (ROOT / "docs" / "references.md").read_text()
    texts = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]
    cited = {c for path in texts if "_build" not in path.parts for c in CITATION.findall(path.read_text())}
    assert len(cited) > 10
    assert not [c for c in cited if c not in listed]


def test_every_public_name_is_on_the_api_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    names = [n for n in art.__all__ if n != "kernel"] + art.kernel.__all__
    assert not [n for n in names if not re.search(rf"\b{n}\b", page) and n != "Instructions"]


def test_every_page_is_in_the_contents() -> None:
    docs = ROOT / "docs"
    listed = {
        (index.parent / line).relative_to(docs)
        for index in (
            docs / "index.md",
            docs / "control" / "index.md",
            docs / "inversion" / "index.md",
            docs / "trajectory" / "index.md",
            docs / "campaign" / "index.md",
            docs / "design" / "index.md",
        )
        for line in index.read_text().splitlines()
    }
    pages = [p.relative_to(docs).with_suffix("") for p in docs.rglob("*.md")]
    assert not [p for p in pages if p.parts[0] != "_build" and p != Path("index") and p not in listed]


def test_verification_table_of_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    expected = {c.name: c for c in cases.find()}
    rows = [
        line.strip("| ").split(" | ")
        for line in text.splitlines()
        if re.match(r"\| `\w+` \| \w+\d{4}, ", line)
    ]
    assert len(rows) >= 5
    for name, _, quantity, number, *_, origin in rows:
        held = [r for r in expected[name.strip("`")].expected if r.quantity == quantity]
        assert held, quantity
        shown = [float(x) for x in number.split()], origin
        assert shown in [(list(_flat(r.expected)), r.origin) for r in held], quantity


def test_counts_of_the_cases_are_those_that_the_pages_tell() -> None:
    page = (ROOT / "docs" / "cases.md").read_text()
    found = cases.find()
    for case in found:
        counts = Counter(row.origin for row in case.expected)
        origins = ", ".join(f"{counts[origin]} {origin}" for origin in ORIGINS if counts[origin])
        assert re.search(rf"^\| `{case.name}` \| .* \| {len(case.expected)} \| {origins} \|", page, re.M), (
            case.name,
            len(case.expected),
            origins,
        )
    own = [row for case in found for row in case.expected if not row.same_as]
    deviating, sources = sum(bool(row.deviation) for row in own), {case.source for case in found}
    told = f"{len(own)} rows, in {len(found)} cases from {len(sources)} publications. All of them pass except {deviating}"
    assert told in (ROOT / "README.md").read_text(), told


def _flat(value: object) -> list[float]:
    return [x for item in value for x in _flat(item)] if isinstance(value, list) else [float(value)]  # type: ignore[arg-type]


def test_no_page_names_a_machine() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.py"),
    ]
    assert not [p for p in pages if re.search(r"/(home|work|root|Users)/", p.read_text())]


def test_references_are_one_table_in_order() -> None:
    lines = [r for r in (ROOT / "docs" / "references.md").read_text().splitlines() if r.startswith("|")]
    assert lines[0].startswith("| key")  # rows above the head are no rows
    keys = [line.split("|")[1].strip().casefold() for line in lines[2:]]
    assert keys == sorted(set(keys))
