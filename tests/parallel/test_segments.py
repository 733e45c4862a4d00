"""A chain in segments has the accelerations of the serial recursion, whatever its joints, length and lanes."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.bench.models import chain
from articulus.errors import InputError
from articulus.parallel import SegmentedChain


def mixed_chain(n: int, seed: int, scale: float = 1.0, passive: bool = True) -> art.Mechanism:
    """Return hinges and slides in any directions, some with springs, friction, armature; lengths in `scale` meters."""
    rng = np.random.default_rng(seed)
    m = art.Mechanism("mixed", gravity=(1.0, -2.0, -9.81))
    for i in range(n):
        moments = scale**2 * rng.uniform(0.1, 0.2, 3)
        m.body(
            f"b{i}", mass=rng.uniform(0.5, 2), com=tuple(scale * rng.normal(size=3)), inertia=tuple(moments)
        )
        axis = tuple(rng.normal(size=3) * [1, 1, 0.3] if i % 2 else (0, 0, 1))
        axis = tuple(np.array(axis) / np.linalg.norm(axis))
        m.joint(
            f"j{i}",
            art.Prismatic(axis=axis) if i % 3 == 2 else art.Revolute(axis=axis),
            parent=f"b{i - 1}" if i else "ground",
            child=f"b{i}",
            at=tuple(scale * rng.normal(size=3)),
            **(drive(i % 3 == 2, scale, passive) if i % 4 == 1 else {}),
        )
    return m


def drive(slides: bool, scale: float, passive: bool) -> dict[str, float]:
    """Return friction, spring and armature of a joint: of a hinge they are moments."""
    values = {"armature": 0.05} | ({"damping": 0.3, "stiffness": 2.0} if passive else {})
    return {name: x if slides else x * scale**2 for name, x in values.items()}


@pytest.mark.parametrize(("n", "segments"), [(1, 8), (5, 2), (8, 8), (13, 4), (29, 8), (29, 2)])
def test_mixed_chains(n, segments):
    m = mixed_chain(n, n)
    parts = SegmentedChain(m, segments)
    for q, v, tau in np.random.default_rng(n).normal(size=(3, 3, n)):
        expected = m.forward_dynamics(q, v, tau)
        # rounding of 1e-16, times the squares of arms that are many bodies long, about one point for all of a segment
        assert parts.forward_dynamics(q, v, tau) == pytest.approx(
            expected, abs=1e-10 * np.abs(expected).max()
        )


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_of_any_size(scale):
    m = mixed_chain(16, 3, scale)
    q, v, tau = np.random.default_rng(1).normal(size=(3, 16))
    q[2::3] *= scale
    tau = scale**2 * tau
    expected = m.forward_dynamics(q, v, tau)
    found = SegmentedChain(m, 8).forward_dynamics(q, v, tau)
    for kind in (np.arange(16) % 3 == 2, np.arange(16) % 3 != 2):
        assert found[kind] == pytest.approx(expected[kind], abs=1e-9 * np.abs(expected[kind]).max())


def test_a_long_chain():
    model = chain(200)
    q, v, tau = (x[0] for x in model.states(1))
    expected = model.mechanism.forward_dynamics(q, v, tau)
    parts = SegmentedChain(model.mechanism, 8)
    for _ in range(2):  # nothing is left from the call before
        assert parts.forward_dynamics(q, v, tau) == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def branched() -> art.Mechanism:
    m = mixed_chain(3, 0)
    m.body("side", 1.0, inertia=(1, 1, 1)).joint("aside", art.Revolute(), parent="b0", child="side")
    return m


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (branched, "joint 'aside' of 'mixed' begins a branch"),
        (lambda: art.load("n_four_bar"), "constraints"),
        (
            lambda: (
                art.Mechanism("m").body("b", 1.0, inertia=(1, 1, 1)).joint("j", art.Free(), "ground", "b")
            ),
            "'j' of 'm' is free",
        ),
    ],
)
def test_what_is_no_chain_of_hinges_and_slides(make, words):
    with pytest.raises(InputError, match=words):
        SegmentedChain(make())


def test_a_number_of_segments_that_no_vector_has():
    with pytest.raises(InputError, match="3 segments; expected 2, 4 or 8"):
        SegmentedChain(mixed_chain(9, 0), 3)
