"""Images on the pages are there, and are saved by the code of their page."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_images_are_drawn_by_their_page() -> None:
    pages = [*DOCS.glob("*.md"), *DOCS.glob("inversion/*.md")]
    shown = {page: re.findall(r"!\[.*?\]\((.*?)\)", page.read_text()) for page in pages}
    assert sum(map(len, shown.values())) >= 3
    for page, images in shown.items():
        for image in images:
            assert (page.parent / image).is_file(), image
            if Path(image).parent.name not in ("pictures", "theory"):  # pages in a browser; docs/diagrams.py
                assert f'savefig("{Path(image).name}"' in page.read_text(), image


def test_diagrams_of_the_theory_are_those_of_their_script() -> None:
    """Each is shown on a page, and is what `docs/diagrams.py` draws."""
    pages = "".join(page.read_text() for page in [*(DOCS / "theory").glob("*.md"), DOCS / "architecture.md"])
    shown = set(re.findall(r"\]\((?:\.\./)?_static/theory/(\w+)\.svg\)", pages))
    drawn = runpy.run_path(str(DOCS / "diagrams.py"))["DIAGRAMS"]
    assert shown == set(drawn)
    for name, draw in drawn.items():
        assert (DOCS / "_static" / "theory" / f"{name}.svg").read_text() == draw().svg(), name
