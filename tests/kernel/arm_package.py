"""`make arm`, second half: the package itself on aarch64 in emulation: kernels, laws, cases. `python tests/kernel/arm_package.py [tests ...]`

A root of Debian's arm64 packages (Python 3.11 and its libraries, by apt-get into a folder, nothing is installed) and wheels for aarch64 are put
together below build/arm; qemu-aarch64-static runs that Python. Takes, by estimate, 20 minutes of processor time or more. For Debian 12.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "arm"
EMULATOR = "qemu-aarch64-static"
DEBIAN = ("python3", "libpython3.11-stdlib", "libstdc++6", "zlib1g")
WHEELS = (
    "numpy", "scipy", "casadi", "llvmlite", "threadpoolctl", "typer", "rich", "matplotlib", "control", "pytest", "mpmath", "hypothesis",
)  # fmt: skip
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_26", "manylinux_2_27", "manylinux_2_28")
TESTS = (
    "tests/kernel", "tests/laws/test_law_corners.py", "tests/laws/test_law_pendulum.py", "tests/laws/test_law_reference.py",
    "tests/laws/test_law_coupled.py", "tests/laws/test_law_flexible.py",
)  # fmt: skip
NOT_THERE = (
    # a second Python, which takes minutes to start in emulation: beyond the tests' limits of time
    "tests/kernel/test_cache.py::test_two_processes_at_once",
    "tests/kernel/test_interrupts.py::test_no_interrupt_is_lost_while_equations_are_written",
    "tests/kernel/test_large_process.py::test_code_and_constants_of_a_library_stay_together",
    "tests/kernel/test_widths.py::test_rollouts_of_other_widths_thread_counts_and_optimization_give_the_same_bits",
    # the sign of the smaller and the larger of 0 and -0, which IEEE 754 leaves open, is another one there
    "tests/kernel/test_ops.py::test_binary[OP_FMIN]",
    "tests/kernel/test_ops.py::test_binary[OP_FMAX]",
)
CASES = ("two_link", "puma600", "slider_crank", "seven_joint_arm", "kharitonov_families", "linear_regulators")
START = "import sys, pytest; sys.executable = {python!r}; sys.exit(pytest.main(sys.argv[1:]))"


def run(*command: str | Path, **more: object) -> None:
    """Run a command; its failure ends everything."""
    subprocess.run([str(x) for x in command], check=True, **more)  # type: ignore[call-overload]


def debian() -> None:
    """Unpack Debian's packages for arm64 into the root."""
    state = PLACE / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Install-Recommends": "false", "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status", "Dir::Cache::archives": state / "archives", "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "",
        "Debug::NoLocking": "true",
    }  # fmt: skip
    apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in options.items())]
    run(*apt, "update")
    run(*apt, "install", "--download-only", "-y", *DEBIAN)
    for package in sorted((state / "archives").glob("*.deb")):
        run("dpkg", "-x", package, PLACE / "root")


def wheels() -> None:
    """Put wheels for aarch64, and one of this package, beside the root."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    platforms = [x for name in PLATFORMS for x in ("--platform", f"{name}_aarch64")]
    only = ["--python-version", "3.11", "--implementation", "cp", "--only-binary=:all:"]
    run(*pip, "install", "--upgrade", "--target", PLACE / "packages", *platforms, *only, *WHEELS)
    shutil.rmtree(PLACE / "wheel", ignore_errors=True)
    run(*pip, "wheel", "--no-deps", "--wheel-dir", PLACE / "wheel", ROOT)
    for old in (*(PLACE / "packages").glob("articulus-*"), PLACE / "packages" / "articulus"):
        shutil.rmtree(old, ignore_errors=True)
    (wheel,) = (PLACE / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        held.extractall(PLACE / "packages")


def python() -> Path:
    """Return a program that is Python for aarch64, also for those that it starts."""
    root, program = PLACE / "root", PLACE / "python"
    program.write_text(
        f'#!/bin/sh\nexport PYTHONHOME="{root}/usr" PYTHONPATH="{PLACE}/packages" PYTHONDONTWRITEBYTECODE=1\n'
        f'export XDG_CACHE_HOME="{PLACE}/cache" OPENBLAS_NUM_THREADS=1\n'
        f'exec {EMULATOR} -L "{root}" "{root}/usr/bin/python3.11" "$@"\n'
    )
    program.chmod(0o755)
    return program


def main(tests: list[str]) -> int:
    """Put the root together, run tests and cases; return 1 if anything fails."""
    if shutil.which(EMULATOR) is None or shutil.which("apt-get") is None:
        print(f"{EMULATOR} and apt-get are needed: Debian, apt-get install qemu-user-static")
        return 2
    PLACE.mkdir(parents=True, exist_ok=True)
    if not (PLACE / "root").exists():
        debian()
    wheels()
    there, environment = python(), {**os.environ, "PYTHONPATH": ""}
    options = [
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        "-q",
        *(f"--deselect={name}" for name in NOT_THERE),
        *(tests or TESTS),
    ]
    failed = subprocess.run([there, "-c", START.format(python=str(there)), *options], cwd=ROOT, env=environment, check=False).returncode  # fmt: skip
    if not tests:
        failed |= subprocess.run([there, "-m", "articulus", "verify", *CASES], cwd=PLACE, env=environment, check=False).returncode  # fmt: skip
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
