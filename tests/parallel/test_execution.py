"""Schedules on real threads: the numbers of the serial code, whatever is split; no waiting for ever; nothing here depends on time."""

from __future__ import annotations

import os
import warnings

import casadi as ca
import numpy as np
import pytest
from tests.parallel.test_segments import mixed_chain

import articulus as art
from articulus.dynamics import quantities
from articulus.errors import DoubtfulResult, InputError, KernelError, NumericalError
from articulus.kernel import copy_call, team
from articulus.parallel import (
    SegmentedChain,
    TaskGraph,
    Team,
    TeamCosts,
    ThreadedFunction,
    cp_misf,
    predicted_time,
    run_schedule,
    team_costs,
)
from articulus.parallel.limbs import TRUNK, limb_schedule, limbs_of_coordinates

COSTS = TeamCosts(transfer=1e-7, piece=1e-8)


def two() -> Team:
    """Return a team of two, or where there is one processor only a team of one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        return Team(2)


def forward_function(name: str) -> ca.Function:
    return quantities.function(art.load(name).description, "forward_dynamics")


def test_each_operation_where_the_schedule_puts_it():
    arm = art.load("cat215b")
    with two() as both:
        split = ThreadedFunction(forward_function("cat215b"), both, COSTS, transfer=0.0)
        if both.size == 2:
            assert all(split.schedule.lanes)
            assert split.pieces > split.waits > 10
        for q, v, tau in np.random.default_rng(0).normal(size=(50, 3, 4)):
            expected = arm.forward_dynamics(q, v, tau)
            (found,) = split(q, v, tau)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(expected).max())


def test_where_transfers_are_dear_everything_stays_on_one_processor():
    with two() as both:
        split = ThreadedFunction(forward_function("cat215b"), both, TeamCosts(transfer=1e-3, piece=1e-8))
        assert sum(map(bool, split.schedule.lanes)) == 1
        assert split.predicted == pytest.approx(split.serial_time)
        assert split.pieces == 1
        split.run()


def test_several_outputs_and_signs():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    function = ca.Function("f", [x, y], [ca.horzcat(ca.sin(x), -x * y), -y, ca.cos(x[0]) - ca.sin(x[0]), 3.0])
    with two() as both:
        found = ThreadedFunction(function, both, COSTS, transfer=0.0)([0.3, -0.2], 2.0)
        expected = [np.array(z).squeeze() for z in function([0.3, -0.2], 2.0)]
        for a, b in zip(found, expected, strict=True):
            assert a == pytest.approx(b, rel=1e-15)


def branched_arm() -> art.Mechanism:
    """Return a hinge that carries two arms of two hinges and a lamp that does not move."""
    m = art.Mechanism("branched", gravity=(1.0, -2.0, -9.81))
    m.body("trunk", 2.0, com=(0.1, 0, 0), inertia=(1, 1, 1)).joint(
        "turn", art.Revolute(), parent="ground", child="trunk"
    )
    m.body("lamp", 0.1, inertia=(0.1, 0.1, 0.1)).joint(
        "held", art.Fixed(), parent="trunk", child="lamp", at=(0, 0, 1)
    )
    for side in ("left", "right"):
        for k, parent in enumerate(("trunk", f"{side}0")):
            m.body(f"{side}{k}", 1.0 + k, com=(0.2, 0.1, 0), inertia=(0.2, 0.3, 0.4))
            m.joint(
                f"{side} joint {k}",
                art.Revolute(axis=(0, 1, 0)),
                parent=parent,
                child=f"{side}{k}",
                at=(0.5, 0.2, 0),
            )
    return m


def test_limbs_of_a_tree_and_of_modes():
    for m, trunk in ((branched_arm(), 1), (art.load("hub_with_appendages", modes=6), 6)):
        function = quantities.function(m.description, "forward_dynamics")
        by_q, by_v = limbs_of_coordinates(m.description)
        assert by_v.count(TRUNK) == trunk
        assert len(by_q) == m.nq
        with two() as both:
            split = ThreadedFunction(function, both, COSTS, transfer=0.0, limbs_of=m)
            if both.size == 2:
                assert all(split.schedule.lanes)
                assert split.waits <= 4
                assert split.schedule.findings() == []
            rng = np.random.default_rng(0)
            for _ in range(20):
                q = 0.1 * rng.normal(size=m.nq)
                if m.nq > m.nv:  # the hub's quaternion is of unit length
                    q[:4] /= np.linalg.norm(q[:4])
                v, tau = rng.normal(size=(2, m.nv))
                expected = m.forward_dynamics(q, v, tau)
                assert split(q, v, tau)[0] == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())


def test_every_limb_has_one_processor():
    graph = TaskGraph.of(
        [1, 3, 2, 2, 1, 1, 1, 1], [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5), (4, 6), (4, 7)]
    )
    found = limb_schedule(graph, [TRUNK, 0, 1, 2, TRUNK, 0, 1, 2], 2, 0.5)
    assert found.findings() == []
    for limb in range(3):
        assert found.processor[1 + limb] == found.processor[5 + limb]
    assert found.processor[0] == found.processor[4] == 0


def test_a_chain_has_no_limbs():
    m = mixed_chain(3, 0)
    with two() as both, pytest.raises(InputError, match="has no limbs"):
        ThreadedFunction(quantities.function(m.description, "forward_dynamics"), both, COSTS, limbs_of=m)


def test_prediction_counts_pieces_and_transfers():
    graph = TaskGraph.of([1.0, 1.0, 1.0, 2.0], [(0, 3), (1, 3), (2, 3)])
    schedule = cp_misf(graph, 2)
    costs = TeamCosts(transfer=0.5, piece=0.25)
    one, other = schedule.lanes
    assert sorted((len(one), len(other))) == [1, 3] or sorted((len(one), len(other))) == [2, 2]
    # the second processor hears 0.5 late that the step begins, and what it leaves arrives 0.5 late
    assert predicted_time(schedule, costs) >= schedule.makespan + 0.5
    alone = cp_misf(graph, 1)
    assert predicted_time(alone, costs) == graph.work


def test_tasks_that_are_calls_of_native_code():
    values = np.zeros(5)
    values[0] = 7.0
    graph = TaskGraph.of([1.0] * 4, [(0, 1), (1, 2), (2, 3)])
    schedule = cp_misf(graph, 2)
    turns = type(schedule)(graph, 2, (0.0, 1.0, 2.0, 3.0), (0, 1, 0, 1), 0.0, 4.0, "in turn")
    with two() as both:
        step = run_schedule(
            turns, [copy_call(values[k : k + 1], values[k + 1 : k + 2]) for k in range(4)], both
        )
        for first in range(100):
            values[0] = first
            assert step() == 0
            assert (values == first).all()


def test_a_chain_in_two_threads():
    with two() as both:
        for n, segments in ((1, 2), (13, 4), (40, None)):
            m = mixed_chain(n, n)
            parts = SegmentedChain(m, segments, both)
            for q, v, tau in np.random.default_rng(n).normal(size=(3, 3, n)):
                expected = m.forward_dynamics(q, v, tau)
                found = parts.forward_dynamics(q, v, tau)
                # as in test_segments: arms that are many bodies long
                assert found == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())


def test_one_processor_is_told_and_gives_the_same(monkeypatch):
    monkeypatch.setattr(team, "cores", lambda: 1)
    with pytest.warns(DoubtfulResult, match="everything runs in one thread"):
        alone = Team(2)
    with alone:
        assert alone.size == 1
        assert team_costs(alone) == TeamCosts(0.0, 0.0)
        m = mixed_chain(9, 1)
        q, v, tau = np.random.default_rng(0).normal(size=(3, 9))
        expected = m.forward_dynamics(q, v, tau)
        assert SegmentedChain(m, 2, alone).forward_dynamics(q, v, tau) == pytest.approx(expected, abs=1e-9)


def test_waits_in_a_circle_are_refused():
    a = copy_call(np.zeros(1), np.zeros(1))
    with two() as both, pytest.raises(InputError, match="for ever"):
        both.bind([[a], [a]], [((0, 0), (1, 0)), ((1, 0), (0, 0))])


def test_threads_end_with_the_block():
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    both = two()
    target = np.zeros(1)
    for k in range(3):  # the same team again
        with both:
            call = both.bind(
                [[copy_call(np.full(1, 1.0 + k), target)], [copy_call(np.zeros(1), np.zeros(1))]], []
            )
            assert call() == 0
            assert target == 1.0 + k
    if before is not None:
        assert os.sched_getaffinity(0) == before
    with pytest.raises(KernelError, match="within its `with` block"):
        call()
    with both, pytest.raises(KernelError, match="one `with` block at a time"):
        both.__enter__()


@pytest.mark.parametrize("size", [0, True, 1.5, "2"])
def test_bad_sizes(size):
    with pytest.raises(InputError, match="expected a whole number"):
        Team(size)


def test_bad_arguments():
    with two() as both:
        x = ca.SX.sym("x", 2)
        split = ThreadedFunction(ca.Function("f", [x], [1 / x]), both, COSTS)
        with pytest.raises(InputError, match="found 2 arguments; expected 1"):
            split(1.0, 2.0)
        with pytest.raises(InputError, match=r"shape \(3,\); expected \(2,\)"):
            split([1.0, 2.0, 3.0])
        with pytest.raises(NumericalError, match="not finite"):
            split([0.0, 1.0])
        with pytest.raises(InputError, match="expected an SX function"):
            ThreadedFunction("f", both)
        with pytest.raises(InputError, match="0 calls for 1 tasks"):
            run_schedule(cp_misf(TaskGraph.of([1.0], []), 1), [], both)
        with pytest.raises(InputError, match="no place 3"):
            both.bind([[]], [((0, 3), (0, 0))])


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_strided_copies(axes):
    source = np.random.default_rng(0).normal(size=(3, 4, 5)).transpose(axes)[::-1, 1:]
    target = np.zeros((*source.shape, 2))[..., 1]
    copy_call(source, target)()
    assert (target == source).all()
    with pytest.raises(InputError, match="expected equal shapes"):
        copy_call(source, target[1:])
    with pytest.raises(InputError, match="float64"):
        copy_call(np.zeros(3, int), np.zeros(3))
