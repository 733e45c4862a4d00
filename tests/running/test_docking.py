"""Capture, latch and release: momentum, closed forms of plastic impacts, refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.model.mechanism import Lock, LoopJoint
from articulus.simulation.loop.components import Expression
from articulus.simulation.loop.events import Capture, Latch, Release


def two_bodies(joint: art.Joint | None = None) -> art.Mechanism:
    """Return a chaser and a target that float, with a probe, a port and a weld between them."""
    m = art.Mechanism("docking", gravity=(0, 0, 0))
    m.body("chaser", 100.0, (0, 0, 0), (20, 25, 30))
    m.joint("a", art.Free(), "ground", "chaser")
    m.body("target", 300.0, (0.1, 0, 0.05), (80, 70, 90))
    m.joint("b", art.Free(), "ground", "target")
    m.frame("probe", "chaser", (1.0, 0.0, 0.0)).frame("port", "target", (-1.5, 0.0, 0.0))
    return m.constrain(LoopJoint("weld", joint or art.Fixed(), "probe", "port"))


def approach(m: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    d = m.description
    q, v = m.neutral.copy(), np.zeros(m.nv)
    q[d.q_slices["b"]][4:] = 2.65, 0.04, -0.03
    v[d.v_slices["a"]] = 0.01, -0.02, 0.005, 0.1, 0.02, 0.0
    v[d.v_slices["b"]] = 0.0, 0.01, 0.02, 0.0, 0.01, 0.005
    return q, v


@pytest.mark.parametrize("method", ["rk4", "dormand_prince", "rosenbrock"])
def test_docking_keeps_momentum_and_holds_the_pose_that_it_finds(method: str) -> None:
    """Momentum to 1e-12; the energy lost is that of [M G'; G 0]; two bodies off their ports by 0.1 m stay where they met."""
    m, dock = two_bodies(), Capture("weld", distance=0.12, speed=0.3, angle=0.2)
    q0, v0 = approach(m)
    given = {"method": method, "step": 0.01, "events": [dock]}
    run = art.simulate(m, 1.5, q0, v0, **given)
    (event,) = run.events
    scale = np.abs(run["momentum"]).max()
    assert np.abs(run["momentum"] - run["momentum"][0]).max() < 1e-12 * scale
    after = run.t > event.time
    gaps = np.array([np.linalg.solve(m.pose("probe", q), m.pose("port", q)) for q in run.q[after]])
    assert np.linalg.norm(gaps[0][:3, 3]) == pytest.approx(0.12, abs=1e-9)
    assert np.abs(gaps - gaps[0]).max() < 1e-11  # projection after each step
    q = run.q[after][0]
    M, G = m.mass_matrix(q), m.constraint_jacobian(q)
    before = art.simulate(m, 1.5, q0, v0, events=[Capture("weld", 1e-9, 1.0)], step=0.01).v[after][0]
    wanted = before - np.linalg.solve(M, G.T @ np.linalg.solve(G @ np.linalg.solve(M, G.T), G @ before))
    lost = (before @ M @ before - wanted @ M @ wanted) / 2
    assert lost > 0.1
    # velocities of a whole step after the capture, before and after which both turn a little
    assert run["energy.dissipated"][-1] == pytest.approx(lost, rel=1e-2)
    assert np.abs(run["energy.balance"]).max() < 1e-12
    batch = art.rollout(
        m, 1.5, np.tile(q0, (2, 1)), v0 * np.array([[1.0], [1.1]]), outputs=("momentum",), **given
    )
    assert batch.events[-1].time == pytest.approx(event.time, abs=1e-12)
    assert np.abs(batch.q[0, -1] - run.q[-1]).max() < 1e-12
    assert np.abs(np.diff(batch["momentum"], axis=1)).max() < 1e-11


def test_a_latch_opens_by_force() -> None:
    """A link that swings into its latch is held; it opens when the moment that holds it against a growing push is reached."""
    m = art.Mechanism("gate", gravity=(0, 0, 0))
    m.body("link", 2.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "link")
    m.constrain(Lock("bolt", "hinge", (0.3,)))
    t = ca.SX.sym("t")
    push = Expression(ca.Function("push", [t], [2.0 * t], ["t"], ["u"]))
    events = [Latch("bolt"), Release("bolt", limit=3.0)]
    run = art.simulate(m, 2.0, v0=[0.5], step=0.01, components=[push], events=events)
    assert [e.name for e in run.events] == ["latch", "release"]
    inertia = 0.1 + 2.0 * 0.25
    assert 0.5 * run.events[0].time + run.events[0].time ** 3 / 3 / inertia == pytest.approx(0.3, abs=1e-9)
    assert run.events[1].time == pytest.approx(1.5, abs=1e-9)
    held = (run.t > run.events[0].time) & (run.t <= 1.5)
    assert np.abs(run.q[held, 0] - 0.3).max() < 1e-12
    assert run.v[-1, 0] == pytest.approx((2.0**2 - 1.5**2) / inertia, abs=1e-9)


def test_refusals() -> None:
    m = two_bodies()
    with pytest.raises(InputError, match=r"event 'latch': constraint 'weld' is a LoopJoint; expected a Lock"):
        art.simulate(m, 0.1, events=[Latch("weld")])
    with pytest.raises(
        InputError, match=r"event 'release': constraint 'weld' has no row 'q'; expected some of x"
    ):
        art.simulate(m, 0.1, events=[Release("weld", 1.0, rows="q")])
    with pytest.raises(InputError, match=r"event 'capture': no constraint 'wld'"):
        art.simulate(m, 0.1, events=[Capture("wld", 1.0, 1.0)])
    with pytest.raises(InputError, match=r"event 'capture': distance -1.0; expected a number above 0"):
        Capture("weld", -1.0, 1.0)
    m.constrain(Lock("brake", "a", tuple(m.neutral[:7])))
    with pytest.raises(InputError, match=r"constraint 'brake' is between 0 frames; expected a constraint"):
        art.simulate(m, 0.1, events=[Capture("brake", 1.0, 1.0)])
