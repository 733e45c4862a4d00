"""xacro files: macros that the package `xacro` expands to URDF.

Their expressions can run any code, so that a file is expanded only where this is asked for: in a process of its own, whose time and
memory are bounded, and with includes from the folders of the model only.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from articulus.errors import Finding, InputError, ModelError, UnsupportedOperation, brief
from articulus.model.files.asset_paths import package_folder, why_not_inside
from articulus.model.files.storage import MAX_BYTES, StrPath, as_path, load_text, note_file
from articulus.model.files.urdf.reader import parse_urdf
from articulus.model.mechanism import Description

SECONDS = 20
"""Processor time that the expansion may take [s]; the largest robots take half a second."""
MEMORY = 2 << 30
"""Address space of the process that expands [bytes]."""

CHILD = """
import json, sys
held = json.load(sys.stdin)
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (held["seconds"], held["seconds"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (held["memory"], held["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
sys.path[:] = held["path"]
out, sys.stdout = sys.stdout, sys.stderr
import xacro
try:
    text = xacro.process_file(held["file"], mappings=held["arguments"]).toprettyxml(indent="  ")
    if len(text) > held["most"]:
        raise ValueError(f"it expands to more than {held['most'] >> 20} MB")
    found = {"text": text, "includes": [str(x) for x in xacro.all_includes]}
except BaseException as error:
    found = {"refused": f"{type(error).__name__}: {error}"[:2000]}
json.dump(found, out)
"""
"""What the process runs."""


def read_xacro(
    path: StrPath, *, expand_xacro: bool = False, arguments: Mapping[str, str] | None = None, **options: Any
) -> Description:
    """Return the mechanism of a xacro file; needs the package `xacro`.

    Parameters
    ----------
    path : path
    expand_xacro : bool
        Whether the file, which can run any code, is trusted.
    arguments : mapping of str to str
        Values of the file's <xacro:arg>.
    **options
        Those of `read_urdf`.

    Raises
    ------
    InputError
        Without `expand_xacro`.
    ModelError
        What xacro refuses; an include outside of the model's package, of `package_roots` and of the paths of ROS; more than SECONDS
        of processor time or MEMORY.
    """
    place = as_path(path)
    load_text(place)  # the messages of a file that is missing, too large or no text
    if expand_xacro is not True:
        raise InputError(
            f"{place.name}: found a xacro file, whose expressions can run any code; expected load(path, expand_xacro=True) "
            "(articulus info path --set expand_xacro=true) if you trust it, or the URDF that xacro makes of it"
        )
    roots = options.get("package_roots")
    text = _expand(place, arguments or {}, roots if isinstance(roots, Mapping) else {})
    return parse_urdf(text, place.name, folder=place.parent, **options)


def _expand(place: Path, arguments: Mapping[str, str], roots: Mapping[str, Any]) -> str:
    if importlib.util.find_spec("xacro") is None:
        raise UnsupportedOperation(
            f"{place.name}: xacro macros are expanded by the package xacro, which is not installed: pip install xacro"
        )
    request = {
        "file": str(place.absolute()),
        "arguments": {str(k): str(v) for k, v in arguments.items()},
        "path": sys.path,
        "seconds": SECONDS,
        "memory": MEMORY,
        "most": MAX_BYTES,
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=json.dumps(request), capture_output=True, text=True
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _refusal(place, f"macros that take more than {SECONDS} s or {MEMORY >> 30} GB to expand")
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        reply = {"refused": done.stderr.strip().rpartition("\n")[2] or f"it ended with {done.returncode}"}
    if "refused" in reply:
        raise _refusal(place, f"what xacro refuses ({brief(reply['refused'])})")
    _require_inside(place, reply["includes"], roots)
    return str(reply["text"])


def _require_inside(place: Path, includes: list[str], roots: Mapping[str, Any]) -> None:
    """Note the files that were included; raise ModelError for one that lies elsewhere."""
    ros = [
        p
        for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
        for p in os.environ.get(name, "").split(os.pathsep)
    ]
    allowed = [package_folder(place.parent), *(Path(p) for p in ros if p), *(Path(p) for p in roots.values())]
    for included in includes:
        file = place.parent / included
        if why := why_not_inside(file, allowed):
            raise _refusal(place, f"the include of '{included}', which may not be read: {why}")
        note_file(file)


def _refusal(place: Path, found: str) -> ModelError:
    return ModelError(Finding(place.name, found, "a file that expands to URDF"))
