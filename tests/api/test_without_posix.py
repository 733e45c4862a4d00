"""No module needs a module of POSIX systems to be imported; what does need one says so when it is called."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import articulus
from articulus.errors import InputError
from articulus.study.campaign.driver import Folder

POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
MENTIONED = re.compile(rf"^(?:import|from) (?:{'|'.join(POSIX_ONLY)})\b", re.MULTILINE)


def imports_posix(source: str) -> bool:
    """Tell whether a module imports one of these modules when it is imported itself, not in a function or in a text."""
    if not MENTIONED.search(source):
        return False
    top = ast.parse(source).body
    whole = [a.name for node in top if isinstance(node, ast.Import) for a in node.names]
    return bool(POSIX_ONLY & {*whole, *(node.module for node in top if isinstance(node, ast.ImportFrom))})


def test_no_module_imports_posix_at_its_top() -> None:
    assert imports_posix("import os\nimport fcntl\n")
    sources = sorted(Path(articulus.__file__).parent.rglob("*.py"))
    assert len(sources) > 1000
    assert not [str(p) for p in sources if imports_posix(p.read_text(encoding="utf-8"))]


def test_a_folder_is_not_locked_without_flock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as where there is none
    with pytest.raises(InputError, match=r"Linux and macOS.*no module fcntl"), Folder(tmp_path).lock():
        pass
    assert not list(tmp_path.iterdir())
