"""Draw the figures of the pages anew: `python docs/figures.py` runs their code and keeps what it saves."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).resolve().parent
CODE = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
IMAGE = re.compile(r"\]\((?:\.\./)?_static/(\w+)/(\w+\.png)\)")


def draw(page: Path) -> None:
    """Run the Python blocks of a page as one script and copy the images that it shows to `_static/<page>`."""
    text = page.read_text()
    with TemporaryDirectory() as folder:
        script = Path(folder) / "page.py"
        script.write_text("\n".join(CODE.findall(text)))
        os.chdir(folder)
        runpy.run_path(str(script))
        for name, image in IMAGE.findall(text):
            kept = DOCS / "_static" / name / image
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder) / image, kept)
        os.chdir(DOCS)


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("inversion/*.md")]):
        if IMAGE.search(page.read_text()):
            draw(page)
