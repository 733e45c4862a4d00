"""Runs that ask for native code together: the same answers as alone, in fewer calls."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import kernel
from articulus.errors import NumericalError
from articulus.simulation.loop.events import Bounce
from articulus.simulation.running.batched_calls import KernelCall, run_batched, run_one


def halves() -> Any:
    x, t = ca.SX.sym("x", 2), ca.SX.sym("t")
    return kernel.compile(ca.Function("f", [x, t], [x / 2 - t, ca.sum1(x)]))


async def halved(code: Any, x: np.ndarray) -> float:
    """Ask as often as it takes to come below one."""
    while (found := await KernelCall(code, x, 0.01))[1] > 1:
        x = found[0]
    return float(found[1])


@pytest.mark.parametrize("count", [1, 7])
def test_together_as_alone(count: int) -> None:
    code, starts = halves(), [np.array([1.0 + k, 0.5]) for k in range(count)]
    assert run_batched([halved(code, x) for x in starts]) == [run_one(halved(code, x)) for x in starts]


def test_many_ask_in_one_call() -> None:
    calls = []

    def code(x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        calls.append(np.shape(x))
        return x / 2 - t[:, None], x.sum(axis=-1)

    run_batched([halved(code, np.array([3.0, 0.5])) for _ in range(5)])
    assert set(calls) == {(5, 2)}
    assert len(calls) < 6


def test_what_fails_says_so() -> None:
    async def failing() -> None:
        await KernelCall(halves(), np.ones(2), 0.0)
        raise NumericalError("no way on")

    with pytest.raises(NumericalError, match="no way on"):
        run_batched([failing()])


def test_impacts_of_a_batch_share_their_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty balls from one height meet the floor in the same step: as many calls of native code as for one ball."""
    m = art.Mechanism("ball").body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("z", art.Prismatic((0, 0, 1)), "ground", "ball")
    counts = []

    def counted(function: Any, *arguments: Any) -> Any:
        counts[-1] += 1
        return plain(function, *arguments)

    plain = kernel.Kernel.__call__
    monkeypatch.setattr(kernel.Kernel, "__call__", counted)
    for rows in (2, 20):
        counts.append(0)
        run = art.rollout(
            m, 0.6, np.full((rows, 1), 1.0), events=[Bounce("z", 0.0, -1, 0.5)], step=0.01, sample=0.1
        )
        assert len(run.events) == rows
        assert [e.time for e in run.events] == pytest.approx([np.sqrt(2 / 9.81)] * rows, abs=1e-12)
    assert counts[0] == counts[1]
