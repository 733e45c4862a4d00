"""The code of the page runs and prints what stands below it; its table of cards is complete."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from articulus.model.files.fe.bulk import CARDS, IGNORED

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "fe.md").read_text()


def test_code_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
    assert len(found) == 3
    for code, printed in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, scope)  # noqa: S102 (a page of this repository)
        assert out.getvalue() == printed


@pytest.mark.parametrize("card", [*CARDS, *IGNORED])
def test_cards_of_the_page(card: str) -> None:
    assert f"`{card}`" in PAGE
