"""Beam links in implicit methods: the mechanism cut at its elements, beside the same run with full matrices."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import PointOnPoint
from articulus.simulation.exact_beams import Beam, Section, simulate
from articulus.simulation.integrate import StepControl
from articulus.simulation.integrate import method as find_method
from articulus.simulation.loop.components import PD, BeamForces, PrescribedForce, SpringDamper, Torque
from articulus.simulation.loop.constraint_equations import ClosingEquations
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.results.diagnostics import energy_error
from articulus.simulation.running import steppers
from articulus.simulation.running.beam_problem import equations_of

SOFT = Section(mass=1.0, EA=2e3, EIy=2.0, EIz=3.0, GJ=2.5, GAy=1e3, GAz=1e3, rotary=(2e-3, 1e-3, 1e-3))
RUN = {"method": "generalized_alpha", "step": 2e-3, "sample": 0.02}


def pendulum(elements: int = 3) -> tuple[art.Mechanism, list]:
    """A rod on a hinge with friction, a load at its end, a spring at its middle, driven by a torque."""
    m = art.Mechanism("pendulum", gravity=(0.5, 2.0, -9.81))
    rod = BeamForces.link(m, "rod", Beam.straight(1.0, elements, SOFT), damping=2e-3)
    m.joint("hinge", art.Revolute(axis=(0, 1, 0)), "ground", "rod_0", damping=0.05)
    m.body("load", mass=0.3, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 2e-3))
    m.joint("grip", art.Revolute(axis=(0, 0, 1)), f"rod_{elements}", "load", damping=0.01)
    m.frame("post", "ground", (0.4, 0.3, 0.5))
    spring = SpringDamper(
        "post", f"rod_{elements - 1}", stiffness=20.0, damping=0.3, length=0.4, name="spring"
    )
    return m, [rod, spring, PrescribedForce("hinge", 2.0, name="push")]


@pytest.fixture
def full(monkeypatch):
    """Lets runs take full matrices."""

    def run(*arguments, **options) -> art.Run:
        with monkeypatch.context() as patched:
            patched.setattr(steppers, "beams_of", lambda *_: None)
            return art.simulate(*arguments, **options)

    return run


def test_the_cut_mechanism_moves_as_the_whole_does(full) -> None:
    """Both err by the square of the step, in other coordinates: half the step, a quarter of the difference."""
    m, components = pendulum()
    gaps = []
    for step in (2e-3, 1e-3):
        options = RUN | {"step": step, "components": components}
        cut, whole = art.simulate(m, 0.2, **options), full(m, 0.2, **options)
        gaps.append([np.abs(cut[name] - whole[name]).max() for name in ("q", "v", "energy")])
    assert (np.array(gaps[1]) < 0.3 * np.array(gaps[0])).all()
    assert gaps[1][0] < 1e-4 < 0.1 < np.abs(cut.q - cut.q[0]).max()


def test_steps_go_on_with_the_same_bits_from_what_is_remembered() -> None:
    """A checkpoint holds the row alone; the tangent of an earlier step, which the iteration still uses, is made again from it."""
    m, components = pendulum()
    system = art.Loop(m, components=components).system
    stepper = steppers.AlphaStepper(system, find_method("generalized_alpha"), 2e-3, StepControl(), [])
    p, w = np.zeros(system.np), np.zeros(system.nw)
    row, rows = np.concatenate([system.c0, system.d0, np.zeros(stepper.extra)]), []
    for k in range(6):
        row = stepper.advance(row, p, w, 2e-3 * k, 2e-3 * (k + 1))
        rows.append(row)
    made = rows[2][-stepper.extra :]
    assert not np.array_equal(made[1 : 1 + system.description.nv], 0)
    again = rows[2]
    for k in range(3, 6):
        equations_of(system, ())._last = None
        again = stepper.advance(again, p, w, 2e-3 * k, 2e-3 * (k + 1))
    np.testing.assert_array_equal(again, rows[5])


def test_what_looks_at_all_coordinates_at_once_gets_full_matrices() -> None:
    """A controller on every coordinate means those of the joints between nodes, which the parts do not have."""
    m, components = pendulum()
    assert equations_of(art.Loop(m, components=components).system, ()) is not None
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv)
    hold = ca.Function("hold", [t, q, v], [-0.01 * v], ["t", "q", "v"], ["u"])
    assert equations_of(art.Loop(m, hold, components).system, ()) is None
    hinge = art.Loop(m, PD(0.1, 0.01, joints=("hinge",)), [*components, Torque("hinge", name="motor")]).system
    assert equations_of(hinge, ()) is not None


def test_a_link_of_64_elements_is_a_beam_alone_of_64_elements() -> None:
    """The same elements on a hinge: `beams.simulate` has the same method in the same coordinates; both end their iteration at 1e-8."""
    beam, gravity = Beam.straight(1.0, 64, SOFT), (0.0, 2.0, -9.81)
    m = art.Mechanism("rod", gravity=gravity)
    rod = BeamForces.link(m, "rod", beam)
    m.joint("hinge", art.Revolute(axis=(0, 1, 0)), "ground", "rod_0")
    run = art.simulate(m, 0.2, components=[rod], outputs=("energy",), **RUN)
    alone = simulate(beam.support(0, "hinge y").weighing(gravity), 0.2, 100, rho_inf=0.8)
    tip = m.pose("rod_64", run.q[-1])[:3, 3]
    assert tip[2] < -0.15
    np.testing.assert_allclose(tip, alone.position[-1, -1], atol=1e-6)
    error, moved = energy_error(run)
    assert error < 1e-3 * moved


def bow(elements: int) -> art.Loop:
    """A rod on a hinge at one end and a pin at the other."""
    m = art.Mechanism("bow")
    rod = BeamForces.link(m, "rod", Beam.straight(1.0, elements, SOFT))
    m.joint("left", art.Revolute(axis=(0, 1, 0)), "ground", "rod_0")
    m.frame("right", "ground", (1.0, 0, 0))
    m.constrain(PointOnPoint("pin", f"rod_{elements}", "right"))
    return art.Loop(m, components=[rod])


def test_accelerations_of_long_beams_in_loops_are_left_out_with_a_warning_unless_named() -> None:
    loop = bow(10)
    with pytest.warns(RuntimeWarning, match="vdot and multipliers are omitted"):
        run = loop.simulate(4e-3, **RUN | {"sample": 4e-3})
    assert "vdot" not in run.signals
    assert "energy" in run.signals
    assert Outputs(loop.system, ("vdot",)).names == ("vdot",)


def test_what_a_run_is_doubted_by_does_not_derive_accelerations_of_long_beams(monkeypatch) -> None:
    monkeypatch.delattr(ClosingEquations, "acceleration")
    assert bow(16).system.reporting(("energy", "constraint")).n_out() == 2
