"""Copies of many values by a loop over a table of places: written out, each would be two instructions to compile."""

from __future__ import annotations

import numpy as np

from .graph import StraightCode
from .target import Target
from .writer import CodeWriter

LOOPED_FROM = 8
"""Copies from which a step is a loop."""


class Copies:
    """The table of places that the copying steps of a program read.

    Parameters
    ----------
    target : Target
    prefix : str
        Begins every name, so that several programs fit in one module.
    """

    def __init__(self, target: Target, prefix: str = ""):
        self._target, self._prefix = target, prefix
        self._offsets: list[int] = []

    def call(self, step: StraightCode) -> str | None:
        """Return the text that runs a step; None for a step that computes something or copies little."""
        if step.operations or step.code.constant or sum(map(len, step.outputs)) < LOOPED_FROM:
            return None
        code, values = step.code, np.concatenate(step.code.outputs).tolist()
        sources = [step.inputs[code.first[x]][code.second[x]] for x in values]
        return self.between(np.array(sources), np.concatenate(step.outputs))

    def between(self, sources: np.ndarray, places: np.ndarray) -> str:
        """Return the text that copies values from slots to other slots."""
        begin = len(self._offsets)
        self._offsets += (np.stack([sources, places], axis=1).ravel() * self._target.bytes).tolist()
        table = f"ptr @{self._prefix}places, i64 {begin}, i64 {len(self._offsets)}"
        return f"call void @{self._prefix}copies(ptr %w, {table})"

    def text(self) -> list[str]:
        """Return the table and the loop; complete after the last `call`."""
        if not self._offsets:
            return []
        values = ", ".join(f"i32 {x}" for x in self._offsets)
        size = f"[{len(self._offsets)} x i32]"
        return [f"@{self._prefix}places = internal constant {size} [{values}], align 64\n", self._loop()]

    def _loop(self) -> str:
        w = CodeWriter(self._target)
        w.label("entry")
        w.line("br label %next")
        w.label("next")
        at = w.phi("i64", "%begin", "entry")
        where = w.do(f"getelementptr inbounds i32, ptr %places, i64 {at}")
        source, place = (w.load(w.offset(where, 4 * k), "i32", 4) for k in range(2))
        source, place = (w.do(f"zext i32 {x} to i64") for x in (source, place))
        w.store(w.load(w.offset("%w", source)), w.offset("%w", place))
        following = w.do(f"add i64 {at}, 2")
        w.close(at, following, "next")
        w.line(f"br i1 {w.do(f'icmp slt i64 {following}, %end')}, label %next, label %done")
        w.label("done")
        w.line("ret void")
        return w.function(f"internal void @{self._prefix}copies(ptr %w, ptr %places, i64 %begin, i64 %end)")
