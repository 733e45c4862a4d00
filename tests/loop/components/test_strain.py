"""Strain gauges and piezoelectric pairs on flexible bodies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import structure
from articulus.errors import InputError
from articulus.simulation.loop.components import Expression, PiezoPair, StrainSensor

from .support import Loop, function_of_time

EI, LENGTH = 30.0, 1.5
BEAM = structure.beam_body(LENGTH, EI=EI, mass_per_length=0.4, modes=3, damping=0.01, elements=12)


def boom(joint: art.Joint | None = None, beam=BEAM) -> art.Mechanism:
    m = art.Mechanism("boom", gravity=(0, 0, 0))
    m.flexible("beam", beam)
    m.joint("root", joint or art.Fixed(), parent="ground", child="beam")
    m.frame("near", "beam", node="node2").frame("far", "beam", node="node5")
    return m


def test_strain_is_the_curvature_of_the_deflection() -> None:
    """The mean curvature between two stations is the difference of the slopes there over their distance."""
    eta, m = np.array([0.02, -0.005, 0.001]), boom()
    sensor = StrainSensor("near", "far", depth=0.004, name="gauge")
    loop = Loop(m, sensor).put(q=eta)
    slopes = [
        m.pose(frame, eta)[1, 0] for frame in ("near", "far")
    ]  # of the x axis; sine, third order from the angle
    curvature = np.diff(slopes)[0] / (3 * LENGTH / 12)
    assert loop.signal("gauge.curvature") == pytest.approx(curvature, rel=1e-2)
    assert loop.signal("gauge.strain") == pytest.approx(0.004 * loop.signal("gauge.curvature"), rel=1e-14)
    small = Loop(m, sensor).put(q=1e-4 * eta).signal("gauge.curvature")
    slopes = [m.pose(frame, 1e-4 * eta)[1, 0] for frame in ("near", "far")]
    assert small == pytest.approx(np.diff(slopes) / (3 * LENGTH / 12), rel=1e-9)


def test_static_bending_by_a_pair_is_moment_over_stiffness() -> None:
    """Between the patches a beam has the curvature M / EI, outside none; 40 modes of 60 elements come within 2 percent."""
    beam = structure.beam_body(LENGTH, EI=EI, mass_per_length=0.4, modes=40, elements=60)
    m = art.Mechanism("boom", gravity=(0, 0, 0)).flexible("beam", beam)
    m.joint("root", art.Fixed(), parent="ground", child="beam")
    for name, node in (("a", 10), ("b", 30), ("c", 50)):
        m.frame(name, "beam", node=f"node{node}")
    tau = moment_on_modes(m, "a", "b", 0.3)
    eta = np.linalg.solve(beam.stiffness, tau)
    inside, outside = (
        Loop(m, StrainSensor(*pair, depth=1.0, name="g")).put(q=eta).signal("g.curvature")
        for pair in (("a", "b"), ("b", "c"))
    )
    assert inside == pytest.approx(0.3 / EI, rel=0.02)
    assert abs(outside) < 0.02 * 0.3 / EI


def moment_on_modes(m: art.Mechanism, first: str, second: str, moment: float) -> np.ndarray:
    """Return the forces of a pair by the Jacobians of its frames."""
    J = [m.jacobian(frame, m.neutral)[2] for frame in (first, second)]
    return moment * (J[1] - J[0])


def test_pair_and_gauge_are_dual_and_the_voltage_saturates() -> None:
    """A pair on the stations of a gauge pushes the modes as the gauge feels them: vdot = M^-1 gain V row."""
    m = boom(art.Revolute(axis=(0, 0, 1)))
    pair = PiezoPair("near", "far", gain=0.01, voltage_limit=20.0, name="patch")
    row = Loop(m, StrainSensor("near", "far", depth=1.0, name="g"))
    rows = [row.put(q=np.eye(m.nq)[k]).signal("g.curvature")[0] for k in range(m.nq)]
    for command, voltage in ((5.0, 5.0), (50.0, 20.0), (-50.0, -20.0)):
        loop = Loop(m, Expression(function_of_time(lambda t, u=command: u + 0 * t)), pair)
        assert loop.signal("patch.voltage") == pytest.approx([voltage])
        assert loop.signal("patch.moment") == pytest.approx([0.01 * voltage])
        expected = 0.01 * voltage * 3 * LENGTH / 12 * np.linalg.solve(m.mass_matrix(m.neutral), rows)
        assert loop.signal("vdot") == pytest.approx(expected, rel=1e-10)


def excitation() -> Expression:
    """Return 30 V at 10 rad/s."""
    return Expression(function_of_time(lambda t: 30 * ca.sin(10 * t)))


def test_energy_and_momentum_of_a_free_boom_under_a_pair() -> None:
    """Work of the pair less what damping takes is stored; the pair gives a free body no momentum."""
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", mass=2.0, inertia=(0.1, 0.1, 0.1)).flexible("beam", BEAM)
    m.joint("float", art.Free(), parent="ground", child="hub")
    m.joint("clamp", art.Fixed(), parent="hub", child="beam")
    m.frame("near", "beam", node="node2").frame("far", "beam", node="node5")
    pair = PiezoPair("near", "far", gain=0.05, voltage_limit=20.0)
    run = art.simulate(
        m, 1.0, controller=excitation(), components=[pair], v0=[0.1, 0.2, 0.3, 0, 0, 0, 0.3, 0, 0], step=5e-4,
        outputs=("energy", "momentum"), sample=0.01,
    )  # fmt: skip
    stored = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(run["energy.input"]) > 1e-3
    assert run["energy.dissipated"][-1] > 1e-3
    # RK4 at omega h = 0.1 of the fastest mode: h^4 omega^5 of its energy
    assert np.abs(run["energy.balance"]).max() < 1e-5 * stored.max()
    momentum = run["momentum"]
    assert np.abs(momentum - momentum[0]).max() < 1e-6 * np.abs(momentum).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"second": "fare"},
            r"StrainSensor 'near_strain_sensor', second: found 'fare'; .* did you mean 'far'",
        ),
        ({"second": "hub"}, "'hub', not on a station; expected a frame on a flexible body's station"),
        ({"second": "elsewhere"}, "'elsewhere' on 'other'; expected a frame on 'beam', as 'near' is"),
        ({"second": "same"}, "'same' at the place of 'near'; expected a frame some way off"),
        (
            {"axis": (1.0, 0.0, 0.0)},
            "about which no mode turns 'far' against 'near'; expected the axis of bending",
        ),
    ],
)
def test_wrong_pairs_are_named(change: dict, message: str) -> None:
    m = boom(art.Revolute())
    m.flexible("other", BEAM).joint("next", art.Fixed(), parent="beam", child="other", node="tip")
    m.frame("hub", "beam").frame("elsewhere", "other", node="tip").frame("same", "beam", node="node2")
    sensor = StrainSensor(**({"first": "near", "second": "far", "depth": 0.01} | change))
    with pytest.raises(InputError, match=message):
        Loop(m, sensor)
