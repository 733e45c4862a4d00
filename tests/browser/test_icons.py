"""Pages that are served have an icon of their own: browsers ask for /favicon.ico else, which is refused without the token, and logged."""

from __future__ import annotations

from pathlib import Path

import pytest

import articulus

PAGES = sorted(p for p in Path(articulus.__file__).parent.rglob("*.html") if p.name != "template.html")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.parent.parent.name)
def test_a_page_asks_for_no_icon(page: Path) -> None:
    assert '<link rel="icon" href="data:,">' in page.read_text(encoding="utf-8").partition("<body")[0]
