"""Implicit methods at every size: Newton's stop is relative to the mechanism; and what a step costs in native calls."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.kernel import Kernel
from articulus.model.mechanism import Distance

METHODS = ("generalized_alpha", "hht", "newmark")


def slider(length: float) -> art.Mechanism:
    """Return a point on two slides that a rod keeps on a circle; gravity is such that times do not depend on the length."""
    m = art.Mechanism("slider", gravity=(0, 0, -10 * length))
    for name in ("cross", "point"):
        m.body(name, 1.0, inertia=(length**2,) * 3)
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "cross")
    m.joint("z", art.Prismatic((0, 0, 1)), "cross", "point")
    return m.constrain(Distance("rod", "ground", "point", length))


def swing(length: float) -> tuple[np.ndarray, float]:
    """Return positions over the length, and how far the rod is off in the end, over its length."""
    m, start = slider(length), length * np.array([0.6, -0.8])
    run = art.simulate(m, 0.02, q0=start, method="generalized_alpha", step=1e-3, outputs=())
    return run.q / length, float(np.abs(np.hypot(*run.q[1:].T) / length - 1).max())


def test_newton_converges_alike_at_every_size() -> None:
    # Newton's stop is relative to the length: what is left is rounding at every size
    found, off = swing(1.0)
    assert off < 1e-13
    for length in (1e-9, 1e-6, 1e3, 1e6):
        other, off = swing(length)
        assert off < 1e-13
        np.testing.assert_allclose(other, found, rtol=0, atol=1e-12)


def beside_a_wheel(length: float) -> np.ndarray:
    """Return how a mass on a slide moves, over the length, pulled by a spring from the side, beside a wheel that turns by 4 rad a step."""
    m = art.Mechanism("craft", gravity=(0, 0, 0)).body("wheel", 1.0, inertia=(length**2,) * 3)
    m.body("mass", 1.0, (0.1 * length, 0, 0), (length**2,) * 3).frame("post", "ground", (0, length, 0))
    m.joint("turn", art.Revolute((0, 0, 1)), "ground", "wheel")
    m.joint("slide", art.Prismatic((1, 0, 0)), "ground", "mass")
    spring = art.components.SpringDamper("post", "mass", stiffness=100.0, length=0.5 * length)
    start = {"q0": [0, 0.8 * length], "v0": [100.0, 0], "components": [spring], "outputs": ()}
    return art.simulate(m, 1.0, method="generalized_alpha", step=0.04, **start).q[:, 1] / length


def test_a_large_rotation_does_not_end_the_iteration_of_a_small_slide() -> None:
    # 1e-8 of 4 rad is more than the whole slide of nanometers: measured alike, one iteration would do, and the slide be off by 2e-5
    np.testing.assert_allclose(beside_a_wheel(2.0**-30), beside_a_wheel(1.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e6])
def test_rest_converges(length: float) -> None:
    m = slider(length)
    run = art.simulate(
        m, 0.02, q0=[0.0, -length], method="generalized_alpha", step=1e-3, outputs=(), rtol=1e-8
    )
    np.testing.assert_allclose(run.q[-1] / length, [0.0, -1.0], rtol=0, atol=1e-12)
    assert run.statistics["evaluations"] <= 3 * 20


@pytest.mark.parametrize("method", METHODS)
def test_native_calls_of_a_step(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # one for an iteration of Newton, which gives residual and matrix together, and two for the power at the ends of the step
    calls, plain = 0, Kernel.__call__

    def counted(self: Kernel, *inputs: object) -> object:
        nonlocal calls
        calls += 1
        return plain(self, *inputs)

    m = art.load("pendulum_chain", n=1)
    counts = []
    for steps in (20, 120):
        monkeypatch.setattr(Kernel, "__call__", plain)
        loop, calls = art.Loop(m), 0
        monkeypatch.setattr(Kernel, "__call__", counted)
        run = loop.simulate(steps * 1e-3, q0=[1.0], method=method, step=1e-3, outputs=())
        counts.append((calls, run.statistics["evaluations"]))
    (few, first), (many, last) = counts
    assert many - few <= last - first + 2 * 100
    assert last - first <= 3 * 100
