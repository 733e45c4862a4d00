"""From function to loaded code, through the cache: each lane count is compiled when first needed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Protocol

import casadi as ca

from . import cache, jit
from .interrupts import heed_interrupts
from .program import Signature
from .target import Target

LONG_TEXT = 1_000_000
"""Characters of LLVM text, for which LLVM takes 0.27 s with optimization and 0.10 s without."""


class Translatable(Protocol):
    """What can be compiled: a `Program`, or several in a loop."""

    @property
    def signature(self) -> Signature:
        """Names, shapes, size."""

    def text(self, target: Target) -> str:
        """Return the LLVM text of the whole module."""


class Source:
    """Where a kernel's code comes from: the cache, or a function that is built at most once.

    Parameters
    ----------
    key : str
        Text that determines the function completely.
    build : callable
        Returns the program; called only when the cache does not have what is asked.
    hurried : bool
        Whether long code is made without optimization.
    """

    def __init__(self, key: str, build: Callable[[], Translatable], hurried: bool = False):
        self._key = hashlib.sha256(key.encode()).hexdigest()
        self._build, self._hurried = build, hurried
        self._program: Translatable | None = None
        self._signature: Signature | None = None
        self._native: dict[int, jit.Native] = {}
        self._lock = threading.RLock()

    def signature(self) -> Signature:
        """Return names, shapes and size; from the cache without building anything if possible."""
        with self._lock:
            if self._signature is None:
                self._signature = self._load_signature()
            return self._signature

    def _load_signature(self) -> Signature:
        fields = self._fields("signature")
        text = cache.load(fields)
        if text is not None:
            return _signature(json.loads(text))
        with heed_interrupts():
            signature = self._build_program().signature
        cache.store(fields, json.dumps(asdict(signature)).encode())
        return signature

    def native(self, lanes: int) -> jit.Native:
        """Return loaded code for a lane count."""
        native = self._native.get(lanes)
        return native or self._load(lanes)

    def _load(self, lanes: int) -> jit.Native:
        with self._lock:
            if lanes not in self._native:
                fields = self._fields(str(lanes))
                code = cache.load(fields)
                if code is None:
                    with heed_interrupts():
                        text = self._build_program().text(jit.host(lanes))
                        code = jit.compile_object(text, self._hurried and len(text) > LONG_TEXT)
                    cache.store(fields, code)
                self._native[lanes] = jit.Native(code, lanes)
            return self._native[lanes]

    def _build_program(self) -> Translatable:
        if self._program is None:
            self._program = self._build()
        return self._program

    def _fields(self, what: str) -> dict[str, str]:
        return {
            "key": self._key,
            "lanes": what,
            "source": cache.source_digest(),
            "casadi": ca.CasadiMeta.version(),
            **jit.versions(),
        }


def _signature(fields: dict) -> Signature:
    """Return the signature from its JSON form (tuples come back as lists)."""
    for name in ("input_names", "output_names"):
        fields[name] = tuple(fields[name])
    for name in ("input_shapes", "output_shapes"):
        fields[name] = tuple(map(tuple, fields[name]))
    return Signature(**fields)
