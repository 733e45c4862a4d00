"""A law whose tasks run in an order of their own, in a simulation: each input is as old as the order makes it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.parallel import ControlTask, run_nonstrict
from articulus.simulation.loop.components import Expression

TASKS = (
    ControlTask("1", 1, ("t",)),
    ControlTask("4", 10, ("q",)),
    ControlTask("3", 1, needs=("1", "4")),
)
UNIT = 1e-3


def cart() -> art.Mechanism:
    m = art.Mechanism("cart", gravity=(0, 0, 0)).body("b", 1.0, inertia=(1, 1, 1))
    return m.joint("x", art.Prismatic(axis=(1, 0, 0)), parent="ground", child="b")


def law() -> Expression:
    t, q = ca.SX.sym("t"), ca.SX.sym("q")
    return Expression(ca.Function("law", [t, q], [t + 1e3 * q], ["t", "q"], ["u"]))


def test_each_input_is_as_old_as_the_order_makes_it():
    """In the order 1 4 3 the output comes 12 units after t was read and 11 after q; in 4 1 3 after 2 and 12; a round takes 12."""
    for order, old in (("143", (12, 11)), ("413", (2, 12))):
        late = run_nonstrict(law(), TASKS, order, "3", UNIT)
        assert late.delays == old
        assert late.every == 12
        run = art.simulate(cart(), 0.1, [0.0], [1.0], controller=late, step=UNIT)
        u = run.u.ravel()
        t, q = run.t, run.q.ravel()
        for k in range(24, 96):
            n = k // 12 * 12  # the last change
            assert u[k] == pytest.approx(t[n - old[0]] + 1e3 * q[n - old[1]], abs=1e-9)


def test_until_an_input_is_there_the_first_one_holds():
    late = run_nonstrict(law(), TASKS, "143", "3", UNIT)
    run = art.simulate(cart(), 0.02, [0.5], [1.0], controller=late, step=UNIT)
    assert run.u.ravel()[:12] == pytest.approx(np.full(12, 500.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: run_nonstrict(law(), (*TASKS[1:2], ControlTask("3", 1, needs=("4",))), "43", "3", UNIT),
            "tasks read",
        ),
        (
            lambda: run_nonstrict(
                law(), (*TASKS[:2], ControlTask("3", 0.5, needs=("1", "4"))), "143", "3", UNIT
            ),
            "whole",
        ),
        (lambda: Expression(law().function, period=0.1, delays=(1,)), "delays: found 1 numbers"),
        (lambda: Expression(law().function, period=0.1, delays=(1, -1)), "delays: found -1"),
        (lambda: Expression(law().function, delays=(1, 1)), "period"),
        (lambda: Expression(law().function, period=0.1, delays=1), "delays: found 1"),
        (lambda: Expression(law().function, period=0.1, every=True), "every: found True"),
        (lambda: Expression(law().function, period=0.1, every=0), "every: found 0"),
    ],
)
def test_what_does_not_fit(make, words):
    with pytest.raises(InputError, match=words):
        make()
