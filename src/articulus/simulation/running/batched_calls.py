"""Native code that several runs ask for at once.

What a run does at an event is written as a coroutine: wherever it needs native code, it awaits an `KernelCall`. `run_one` answers the
asks of one coroutine by themselves; `run_batched` continues with many coroutines at once and answers what they ask of the same code in
one call over all their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Code = Callable[..., Any]
"""Native code, or a function of CasADi where one run asks."""


class KernelCall:
    """A call of native code for one row; awaited, it gives what the code returns."""

    def __init__(self, kernel: Code, *arguments: Any):
        self.kernel, self.arguments = kernel, arguments

    def __await__(self) -> Generator[KernelCall, Any, Any]:
        return (yield self)


def run_one(coroutine: Coroutine[KernelCall, Any, T]) -> T:
    """Return the result of a coroutine."""
    answer = None
    while True:
        try:
            ask = coroutine.send(answer)
        except StopIteration as end:
            return end.value
        answer = ask.kernel(*ask.arguments)


def run_batched(coroutines: Sequence[Coroutine[KernelCall, Any, T]]) -> list[T]:
    """Return the results of coroutines, of which no one waits for another."""
    results: dict[int, T] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(coroutines)))
    while answers:
        asked: dict[int, tuple[Code, dict[int, KernelCall]]] = {}
        for i, answer in answers.items():
            try:
                ask = coroutines[i].send(answer)
            except StopIteration as end:
                results[i] = end.value
            else:
                asked.setdefault(id(ask.kernel), (ask.kernel, {}))[1][i] = ask
        answers = {}
        for kernel, asks in asked.values():
            answers |= zip(asks, _answers(kernel, list(asks.values())))
    return [results[i] for i in range(len(coroutines))]


def _answers(kernel: Code, asks: list[KernelCall]) -> list[Any]:
    """Return what native code gives for each row; a single one goes twice, by the code that all have."""
    rows = asks if len(asks) > 1 else asks * 2
    found = kernel(*map(_stack, zip(*(ask.arguments for ask in rows))))
    if isinstance(found, tuple):
        return [tuple(each[i] for each in found) for i in range(len(asks))]
    return [found[i] for i in range(len(asks))]


def _stack(rows: tuple[Any, ...]) -> np.ndarray:
    """Return numbers or columns of one length as rows."""
    return np.concatenate(rows).reshape(len(rows), -1) if isinstance(rows[0], np.ndarray) else np.array(rows)
