"""No module needs what only POSIX systems have to be imported."""

from __future__ import annotations

import subprocess
import sys

BLOCKED = ("fcntl", "grp", "pwd", "posix_ipc", "pty", "resource", "syslog", "termios", "tty")
CHECK = """
import importlib, pkgutil, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in {blocked}:
            raise ModuleNotFoundError(f"{{name}} is not on this platform", name=name)

for name in {blocked}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Blocker())
import articulus
failed = []
for found in pkgutil.walk_packages(articulus.__path__, "articulus."):
    if ".cases." in found.name or found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        if error.name in {blocked}:
            failed.append(found.name)
print(failed)
"""


def test_every_module_is_imported_without_posix_modules() -> None:
    text = CHECK.format(blocked=BLOCKED)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stdout + done.stderr
