"""A loop as a functional mock-up unit: C source, description and shared libraries in one file (FMI 2.0 and 3.0)."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bridges.c.loop import LoopModule, count_gaps
from articulus.bridges.c.module import identifier
from articulus.bridges.fmi.description import description, reported, variables
from articulus.bridges.stepped import SteppedLoop, stepped
from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.model.files.storage import StrPath, as_path, write_bytes
from articulus.simulation.running import Loop

PLATFORMS = {
    "linux64": ("x86_64-linux-gnu", "linux64", "x86_64-linux", ".so"),
    "win64": ("x86_64-windows-gnu", "win64", "x86_64-windows", ".dll"),
    "darwin64": ("x86_64-macos", "darwin64", "x86_64-darwin", ".dylib"),
    "aarch64": ("aarch64-linux-gnu", "aarch64-linux", "aarch64-linux", ".so"),
    "darwin-aarch64": ("aarch64-macos", "aarch64-darwin", "aarch64-darwin", ".dylib"),
}
"""Target of the cross-compiler, folder of the library in FMI 2.0 and in 3.0, ending of its name."""
VERSIONS = ("2.0", "3.0")
FLAGS = ("-O2", "-std=c99", "-shared", "-fPIC", "-fvisibility=hidden")


def export_fmu(
    loop: Loop,
    path: StrPath,
    q0: Any = None,
    v0: Any = None,
    *,
    version: str = "3.0",
    platforms: Sequence[str] | None = None,
    name: str = "",
    **given: Any,
) -> Path:
    """Write a loop as a functional mock-up unit, for co-simulation and for model exchange; return its path.

    Parameters
    ----------
    loop : Loop
    path : path
        Ends in .fmu.
    q0, v0 : arrays or dicts
        State at the start, as of `articulus.simulate`.
    version : str
        Of FMI: "2.0" or "3.0".
    platforms : sequence of str
        Keys of `PLATFORMS` for which a library is built; that of this computer if not given. Others than that need the extra `cross`. None
        (an empty sequence): source alone.
    name : str
        Model identifier; from the name of the file if not given.
    **given
        step, method, t0, params, inputs, wrenches, outputs, fixed: see `articulus.bridges.stepped.stepped`.

    Raises
    ------
    UnsupportedOperation
        A controller in Python, a method without a single step, or no compiler.
    """
    place = as_path(path)
    if place.suffix != ".fmu":
        raise InputError(f"export_fmu: found {place.name}; expected a name that ends in .fmu")
    if version not in VERSIONS:
        raise InputError(f"export_fmu: found version {version!r}; expected '2.0' or '3.0'")
    wanted = (here(),) if platforms is None else tuple(platforms)
    for platform in wanted:
        if platform not in PLATFORMS:
            raise InputError(f"export_fmu: no platform '{platform}'; {did_you_mean(platform, PLATFORMS)}")
    s = stepped(loop, q0, v0, what="export_fmu", **given)
    write_bytes(place, _pack(s, version, wanted, name or identifier(place.stem)))
    return place


def here() -> str:
    """Return the platform of this computer."""
    import platform

    arm = platform.machine().lower() in ("aarch64", "arm64")
    if sys.platform == "darwin":
        return "darwin-aarch64" if arm else "darwin64"
    if sys.platform == "win32":
        return "win64"
    return "aarch64" if arm else "linux64"


def _pack(s: SteppedLoop, version: str, platforms: Sequence[str], name: str) -> bytes:
    """Return the bytes of the archive; every time in it is the same, so that equal models make equal files."""
    three = version == "3.0"
    sources = _sources(s, three)
    token = hashlib.sha256("".join(sources.values()).encode()).hexdigest()[:32]
    token = f"{{{token[:8]}-{token[8:12]}-{token[12:16]}-{token[16:20]}-{token[20:]}}}"
    sources["interface.h"] = _interface(s, token)
    compiled = ["model.c", "fmi3.c" if three else "fmi2.c"]
    files: dict[str, bytes] = {"modelDescription.xml": description(s, version, name, token, compiled)}
    files |= {f"sources/{file}": text.encode() for file, text in sources.items()}
    if three:
        files["sources/buildDescription.xml"] = _build_description(name, compiled)
    for platform in platforms:
        _, two_folder, three_folder, ending = PLATFORMS[platform]
        folder = three_folder if three else two_folder
        files[f"binaries/{folder}/{name}{ending}"] = _library(sources, compiled, platform)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in files.items():
            archive.writestr(zipfile.ZipInfo(file, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _sources(s: SteppedLoop, three: bool) -> dict[str, str]:
    """Return the C files but interface.h, which holds the token made of them."""
    module = LoopModule(s, "model", derivatives=True)
    own = resources.files("articulus.bridges.fmi")
    names = ("common.h", "fmi3.c" if three else "fmi2.c")
    out = {file: own.joinpath(file).read_text(encoding="utf-8") for file in names}
    return out | {"model.h": module.header(), "model.c": module.source()}


def _interface(s: SteppedLoop, token: str) -> str:
    """Return interface.h: what the interface must know of the model."""

    def table(values: Sequence[object]) -> str:
        return "{" + (", ".join(map(str, values)) or "0") + "}"

    every = variables(s)
    nominals = np.maximum(1.0, np.abs(s.c0)).tolist()
    lines = {
        "N_PARAMETERS": len(s.parameters),
        "N_INPUTS": len(s.inputs),
        "N_OUTPUTS": len(list(reported(s))),
        "N_STATES": s.system.nc,
        "N_NOISE": s.system.nw,
        "N_SAMPLED": len(s.updates),
        "N_GAPS": count_gaps(s),
        "STEP": repr(s.h),
        "TOKEN": f'"{token}"',
        "START_PARAMETERS": table([repr(v.start) for v in every if v.causality == "parameter"]),
        "PERIODS": table([f"{period}ULL" for period, _ in s.updates]),
        "NOMINALS": table([repr(x) for x in nominals]),
    }
    return "".join(f"#define {key} {value}\n" for key, value in lines.items())


def _build_description(name: str, sources: Sequence[str]) -> bytes:
    files = "\n".join(f'            <SourceFile name="{file}"/>' for file in sources)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
        f'    <BuildConfiguration modelIdentifier="{name}">\n        <SourceFileSet language="C99">\n{files}\n'
        "        </SourceFileSet>\n    </BuildConfiguration>\n</fmiBuildDescription>\n"
    ).encode()


def _library(sources: dict[str, str], compiled: Sequence[str], platform: str) -> bytes:
    """Return the shared library of the sources for a platform."""
    with tempfile.TemporaryDirectory() as folder:
        for file, text in sources.items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        math = [] if platform.startswith(("win", "darwin")) else ["-lm"]
        command = [*_compiler(platform), *FLAGS, "-o", "library", *compiled, *math]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NumericalError(f"export_fmu: the compiler failed for {platform}: {done.stderr[-2000:]}")
        return (Path(folder) / "library").read_bytes()


def _compiler(platform: str) -> list[str]:
    """Return the command that compiles for a platform: the system's own compiler for this one, else the cross-compiler."""
    own = shutil.which("gcc") or shutil.which("cc")
    if platform == here() and own:
        return [own]
    if importlib.util.find_spec("ziglang") is None:
        raise UnsupportedOperation(
            f"export_fmu: found no compiler for {platform}; expected gcc on this platform, or the extra `cross` for any: "
            "pip install 'articulus[cross]'; or platforms=() for source alone"
        )
    return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[platform][0]]
