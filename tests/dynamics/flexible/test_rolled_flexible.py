"""Mechanisms with flexible bodies as graphs of calls: the numbers of the form that is written out, and code that links share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from test_one_tree import mixed

import articulus as art
import zoo
from articulus import structure
from articulus.dynamics.quantities import QUANTITIES, compilable, form, function
from articulus.dynamics.recursion import Rolled
from articulus.dynamics.tree import Tree
from flexible_zoo import soften, state

ROLLED = [name for name, row in QUANTITIES.items() if row.roll_modes_from is not None]


def trees() -> dict[str, art.Mechanism]:
    """Return trees with branches on several stations of a body and rotors, and one with named parameters."""
    made = {level: mixed(level) for level in ("consistent", "ruthless")}
    return made | {"parameters": soften(zoo.get("parameters_rpy"), 3)}


TREES = trees()


@pytest.fixture(autouse=True)
def by_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let derivatives of short mechanisms be found by passes, too."""
    for name in ("derivatives", "state_space"):
        monkeypatch.setitem(QUANTITIES, name, dataclasses.replace(QUANTITIES[name], recursive_modes_from=0))


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", ROLLED)
def test_calls_give_the_numbers_of_the_written_form(name: str, tree: str) -> None:
    """Sums associate differently and both forms solve with M: the difference is rounding times its condition."""
    mech, row = TREES[tree], QUANTITIES[name]
    frames = [f.name for f in mech.description.frames]
    wrenches = (*frames, mech.description.bodies[0].name) if row.external else ()
    written = function(mech.description, name, (), wrenches)
    called = form(Tree(mech.description, row.merge_fixed, row.regroup), name, (), wrenches, calls=True)
    assert called.is_a("MXFunction")
    assert called.name_in() == written.name_in()
    s, rng = state(mech, 5), np.random.default_rng(6)
    known = {
        "q": s.q,
        "v": s.v,
        "vdot": s.vdot,
        "tau": s.tau,
        "p": 1.03 * np.array([*mech.parameters.values()]),
    }
    values = [known.get(x, rng.normal(size=6)) for x in written.name_in()]
    condition = np.linalg.cond(zoo.ask(mech, "mass_matrix", s.q, params=None))
    for a, b in zip(map(np.array, called.call(values)), map(np.array, written.call(values))):
        assert np.abs(a - b).max(initial=0.0) <= 1e-13 * condition * np.abs(b).max(initial=1.0)


def arm(links: int) -> art.Mechanism:
    """Return a spatial arm of links that differ in length and in the axis of their joint."""
    m, rng = art.Mechanism("arm"), np.random.default_rng(4)
    for i in range(links):
        body = structure.beam_body(
            1.0 + 0.1 * i, EI=(100.0, 150.0), mass_per_length=1.0, modes=1, planes="both", elements=4
        )
        m.flexible(f"link{i}", body)
        axis = rng.uniform(0.1, 0.5, 3) + np.eye(3)[2]
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        m.joint(f"joint{i}", art.Revolute(axis=axis / np.linalg.norm(axis)), parent, f"link{i}", node=node)
    return m


@pytest.mark.parametrize("name", ["forward_dynamics", "derivatives"])
def test_links_of_other_lengths_and_axes_share_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer arm needs no function more: cold time does not grow with code."""
    counts, made = [], list[Rolled]()
    init = Rolled.__init__
    monkeypatch.setattr(Rolled, "__init__", lambda self, *given: (init(self, *given), made.append(self))[0])
    for links in (4, 7):
        form(Tree(arm(links).description, regroup=True), name, calls=True)
        counts.append(len(made.pop()._functions))
    assert counts[0] == counts[1]


def test_long_arms_are_calls_and_short_ones_are_written_out() -> None:
    long = (QUANTITIES["inverse_dynamics"].roll_modes_from + 1) // 2  # two nodes a link, but for the last
    for links, calls in ((long - 1, False), (long, True)):
        assert compilable(arm(links).description, "inverse_dynamics").is_a("MXFunction") == calls


def test_native_code_of_calls_is_the_function() -> None:
    """M is symmetric to the bit, M^-1 inverts it to rounding times its condition; a batch has the bits of its rows."""
    mech = arm(12)
    for name in ("mass_matrix", "mass_matrix_inverse"):
        assert compilable(mech.description, name).is_a("MXFunction")
    q = 0.1 * np.random.default_rng(2).normal(size=(5, mech.nq))
    M, inverse = mech.mass_matrix(q), mech.mass_matrix_inverse(q)
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
    assert np.array_equal(inverse, np.swapaxes(inverse, 1, 2))
    assert np.array_equal(M[2], mech.mass_matrix(q[2]))
    written = zoo.ask(mech, "mass_matrix", q[2])
    assert np.abs(M[2] - written).max() <= 1e-12 * np.abs(written).max()
    error = np.abs(M[2] @ inverse[2] - np.eye(mech.nv)).max()
    assert error <= 1e-14 * np.linalg.cond(M[2])
