"""Images on the pages are there, and are saved by the code of their page."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_images_are_drawn_by_their_page() -> None:
    shown = {page: re.findall(r"!\[.*?\]\((.*?)\)", page.read_text()) for page in DOCS.glob("*.md")}
    assert sum(map(len, shown.values())) >= 3
    for page, images in shown.items():
        for image in images:
            assert (DOCS / image).is_file(), image
            if Path(image).parent.name != "pictures":  # those are of pages in a browser
                assert f'savefig("{Path(image).name}")' in page.read_text(), image
