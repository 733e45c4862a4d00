"""Everything that touches LLVM: the host's target, object code, loading."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
from functools import cache, lru_cache

import llvmlite
from llvmlite import binding as llvm

from ..errors import InputError, KernelError
from .target import Target

_lock = threading.RLock()
_serial = itertools.count()

WIDTHS = ("1", "2", "4", "8")
"""Lane counts that code is written for."""


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _triple() -> str:
    return llvm.get_process_triple()


@cache
def _cpu() -> tuple[str, str]:
    """Return the host's CPU name and feature string."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def versions() -> dict[str, str]:
    """Return what object code depends on besides its source: LLVM, llvmlite, CPU."""
    name, features = _cpu()
    return {
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "llvmlite": llvmlite.__version__,
        "triple": _triple(),
        "cpu": name,
        "features": features,
        "optimization": str(optimization()),
    }


def optimization() -> int:
    """Return the effort of LLVM's code generator: ARTICULUS_OPTIMIZATION (0 or 1), else 1.

    With 0 code is made in about a third of the time and runs 1.2 to 1.6 times as long. Results do not depend on it.
    """
    chosen = os.environ.get("ARTICULUS_OPTIMIZATION", "").strip() or "1"
    if chosen not in ("0", "1"):
        raise InputError(f"environment variable ARTICULUS_OPTIMIZATION = {chosen!r}; expected 0 or 1")
    return int(chosen)


@cache
def widest() -> int:
    """Return how many doubles the widest vector register of this processor holds."""
    features = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2


def width() -> int:
    """Return the lanes of batch kernels: ARTICULUS_LANES (1, 2, 4 or 8), else those of the widest vector register.

    Results do not depend on it.
    """
    chosen = os.environ.get("ARTICULUS_LANES", "").strip()
    if not chosen:
        return widest()
    if chosen not in WIDTHS:
        raise InputError(f"environment variable ARTICULUS_LANES = {chosen!r}; expected 1, 2, 4 or 8")
    return int(chosen)


def host(lanes: int | None = None) -> Target:
    """Return the target of this machine with the given lane count, or with that of batch kernels (`width`)."""
    return _target(lanes or width())


@cache
def _target(lanes: int) -> Target:
    arm = _triple().startswith(("aarch64", "arm64"))
    fma = bool(llvm.get_host_cpu_features().get("fma") or arm)
    return Target(lanes, fma, 32 if widest() == 8 or arm else 16)


def _machine(effort: int) -> llvm.TargetMachine:
    name, features = _cpu()
    target = llvm.Target.from_triple(_triple())
    return target.create_target_machine(name, features, opt=effort, reloc="pic", codemodel="small", jit=True)


def compile_object(text: str, hurried: bool = False) -> bytes:
    """Return the object code of one module in LLVM text; `hurried`: without optimization."""
    with _lock:
        _initialize()
        try:
            module = llvm.parse_assembly(text)
            module.triple = _triple()
            return _machine(0 if hurried else optimization()).emit_object(module)
        except RuntimeError as reason:
            raise KernelError(f"LLVM refused the emitted code: {reason}") from reason


PER_ENGINE = 256
"""Libraries after which a new engine is made (1 ms). An engine keeps some 9 KB of each library that it ever loaded, until it
goes itself: with the last library of its own."""


@lru_cache(maxsize=1)
def _engine(generation: int) -> llvm.LLJIT:
    """Return the engine that loads libraries. JITLink puts code and constants of a library side by side; LLVM's older linker asks for memory
    section by section, and where these come to lie more than 2 GB apart, in a large process, it ends the process."""
    _initialize()
    return llvm.create_lljit_compiler(_machine(optimization()), use_jit_link=sys.platform != "win32")


class Native:
    """Loaded object code; unloads when the last reference goes.

    Attributes
    ----------
    lanes : int
        Rows computed at once.
    slots : int
        Workspace values the code needs.
    address : int
        Address of `i64 run(ptr frame)`.
    """

    def __init__(self, code: bytes, lanes: int):
        with _lock:
            builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            builder.export_symbol("run").export_symbol("slots")
            serial = next(_serial)
            try:
                self._library = builder.link(_engine(serial // PER_ENGINE), f"kernel{serial}")
            except RuntimeError as reason:
                raise KernelError(f"object code could not be loaded: {reason}") from reason
        self.lanes = lanes
        self.address = self._library["run"]
        self.slots = ctypes.c_int64.from_address(self._library["slots"]).value
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address)
        self.run_holding_lock = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address)
