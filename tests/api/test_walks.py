"""What `tests/api/walks.py` counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from articulus.errors import Finding, InputError

from .walks import walk


def test_a_walk_has_functions_of_the_package_and_the_modules_on_the_stack() -> None:
    found = walk(lambda: str(InputError(Finding("a", "1", "2"))))
    assert list(found.modules) == ["errors.py"]
    assert found.chain == ("errors.py",)
    assert found.across == 1
    assert found.calls >= len(found.modules["errors.py"]) > 1


def test_a_walk_is_listed() -> None:
    place = Path(__file__).with_name("walks.py")
    done = subprocess.run(
        [sys.executable, str(place), "dynamics"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("dynamics: calls ")
    assert "dynamics/mechanism.py" in lines[1]
    assert "Mechanism.forward_dynamics" in lines[1]
