"""Actuators against hand numbers and closed forms."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.components import (
    DeadBand,
    Expression,
    FirstOrderActuator,
    FrameWrench,
    HydraulicRotary,
    LinearDrive,
    Motor,
    ProofMass,
    RateLimit,
    Saturation,
    SecondOrderActuator,
    Torque,
)

from .support import Loop, slider, wheel

MOTOR = {"ratio": 50.0, "torque_constant": 0.06, "resistance": 0.8}


def constant(*values: float) -> Expression:
    return Expression(ca.Function("c", [ca.SX.sym("t")], [ca.DM(values)], ["t"], ["u"]))


def test_torque_is_the_command_up_to_its_limit() -> None:
    for command, force in ((3.0, 3.0), (-8.0, -5.0)):
        loop = Loop(slider(mass=2.0), constant(command), Torque("lift", limit=5.0))
        assert loop.signal("lift_torque.force") == force
        assert loop.rate("v") == force / 2.0


def test_linear_drive_of_one_joint_is_a_servo() -> None:
    servo = LinearDrive("lift", ratios=2.0, gain=30.0, offset=1.0, stiffness=30.0, damping=4.0, upper=20.0)
    loop = Loop(slider(mass=2.0), constant(0.5), servo).put(q=0.1, v=0.3)
    force = 30.0 * 0.5 + 1.0 - 30.0 * 0.2 - 4.0 * 0.6  # position and speed of the drive are twice the joint's
    assert loop.signal("lift_linear_drive.position")[0] == pytest.approx(0.2)
    assert loop.signal("lift_linear_drive.force")[0] == pytest.approx(force)
    assert loop.rate("v")[0] == pytest.approx(2.0 * force / 2.0)
    assert loop.put(q=-1.0).signal("lift_linear_drive.force")[0] == 20.0


def test_linear_drive_over_several_joints_does_the_work_of_its_force() -> None:
    arm = art.load("two_link")
    drive = LinearDrive(arm.joint_names, ratios=(0.5, -2.0), name="cable")
    loop = Loop(arm, constant(3.0), drive).put(v=[0.2, 0.7])
    assert loop.signal("tau") == pytest.approx([1.5, -6.0])
    speed = 0.5 * 0.2 - 2.0 * 0.7
    assert loop.signal("tau") @ [0.2, 0.7] == pytest.approx(3.0 * speed)


def test_linear_drive_refuses_bounds_in_the_wrong_order() -> None:
    with pytest.raises(art.InputError, match="at most upper"):
        LinearDrive("lift", lower=1.0, upper=-1.0)
    with pytest.raises(art.InputError, match="joints"):
        LinearDrive(())


def test_motor_stall_torque_and_no_load_speed() -> None:
    loop = Loop(wheel(), constant(24.0), Motor("spin", **MOTOR))
    assert loop.signal("spin_motor.force")[0] == pytest.approx(50 * 0.06 * 24 / 0.8)  # N kt V / R = 90 N m
    no_load = 24 / (0.06 * 50)  # V / (ke N) = 8 rad/s
    assert loop.put(v=no_load).signal("spin_motor.current")[0] == pytest.approx(0, abs=1e-14)


def test_motor_current_rises_with_the_time_constant_of_its_winding() -> None:
    heavy = wheel(inertia=1e9)
    loop = Loop(heavy, constant(24.0), Motor("spin", **MOTOR, inductance=2e-3, voltage_limit=12.0))
    found = loop.run(0.01, 1e-4, "spin_motor.current")
    exact = 12 / 0.8 * (1 - np.exp(-found["t"] * 0.8 / 2e-3))  # the voltage is limited to 12 V
    assert found["spin_motor.current"].ravel() == pytest.approx(exact, abs=1e-6)  # RK4 with h R / L = 0.04


def test_saturation_and_dead_band() -> None:
    for command, saturated, banded in ((0.3, 0.3, 0.0), (2.0, 1.0, 1.5), (-9.0, -4.0, -8.5)):
        saturation = Loop(slider(), constant(command), Saturation("lift", -4.0, 1.0))
        band = Loop(slider(), constant(command), DeadBand(Torque("lift"), 0.5))
        assert saturation.signal("tau") == saturated
        assert band.signal("tau") == banded


def test_the_outermost_shaping_acts_first() -> None:
    outer_band = DeadBand(Saturation("lift", -1.0, 1.0), 0.5)
    outer_bound = Saturation(DeadBand("lift", 0.5), -1.0, 1.0)
    assert Loop(slider(), constant(3.0), outer_band).signal("tau") == 1.0
    assert Loop(slider(), constant(3.0), outer_bound).signal("tau") == 0.5


def test_rate_limit_climbs_with_its_rate_and_arrives() -> None:
    loop = Loop(slider(), constant(1.0), RateLimit("lift", rate=2.0))
    found = loop.run(1.0, 0.01, "tau")["tau"].ravel()
    assert found[:45] == pytest.approx(2.0 * 0.01 * np.arange(45), abs=1e-12)  # the ramp
    assert found[-1] == pytest.approx(1.0, abs=1e-6)  # settled: 40 steps of a lag of one step


def test_two_rate_limits_keep_their_own_states() -> None:
    loop = Loop(slider(), constant(1.0), RateLimit(RateLimit("lift", rate=1.0), rate=9.0))
    assert loop.run(0.2, 0.01, "tau")["tau"][-1] == pytest.approx(0.2, abs=0.02)  # the slow one counts


def test_first_and_second_order_step_responses() -> None:
    first = Loop(slider(), constant(3.0), FirstOrderActuator("lift", bandwidth=10.0)).run(1.0, 0.01, "tau")
    assert first["tau"].ravel() == pytest.approx(3 * (1 - np.exp(-10 * first["t"])), abs=1e-5)
    w, zeta = 20.0, 0.3
    second = Loop(slider(), constant(3.0), SecondOrderActuator("lift", w, zeta)).run(1.0, 0.002, "tau")
    wd, t = w * np.sqrt(1 - zeta**2), second["t"]
    exact = 3 * (1 - np.exp(-zeta * w * t) * (np.cos(wd * t) + zeta * w / wd * np.sin(wd * t)))
    assert second["tau"].ravel() == pytest.approx(exact, abs=1e-5)  # RK4, w h = 0.04


# proof mass


def test_proof_mass_conserves_momentum_and_has_the_two_mass_frequency() -> None:
    M, m, k = 2.0, 0.5, 80.0
    loop = Loop(slider(mass=M), ProofMass("carriage", mass=m, stiffness=k)).put(
        carriage_proof_mass__stroke=0.1
    )
    found = loop.run(1.0, 0.001, "carriage_proof_mass.stroke")
    w = np.sqrt(k * (1 / m + 1 / M))
    assert found["carriage_proof_mass.stroke"].ravel() == pytest.approx(
        0.1 * np.cos(w * found["t"]), abs=1e-9
    )
    momentum = M * loop.state("v") + m * loop.state("carriage_proof_mass.speed")
    assert momentum == pytest.approx(0, abs=1e-13)


def test_proof_mass_is_the_same_as_a_body_on_a_prismatic_joint() -> None:
    """A wheel that turns with a mass on a radial rail: centrifugal force in, and Coriolis on the rail out of scope."""
    spinning = wheel(inertia=1e9)  # so heavy that its speed stays
    k, m, v = 100.0, 0.4, 5.0
    actuator = ProofMass("disc", mass=m, stiffness=k, axis=(1, 0, 0))
    found = (
        Loop(spinning, actuator)
        .put(v=v, disc_proof_mass__stroke=0.1)
        .run(1.0, 0.001, "disc_proof_mass.stroke")
    )
    w = np.sqrt(k / m - v**2)  # stroke'' = -(k/m - v^2) stroke
    assert found["disc_proof_mass.stroke"].ravel() == pytest.approx(0.1 * np.cos(w * found["t"]), abs=1e-7)


def test_proof_mass_hangs_in_its_spring_and_keeps_its_stroke() -> None:
    held = Loop(slider(mass=1e9, gravity=-10.0), ProofMass("carriage", mass=0.5, stiffness=100.0))
    assert held.rate("carriage_proof_mass.speed") == pytest.approx(-10.0)
    held.put(carriage_proof_mass__stroke=-0.05)
    assert held.rate("carriage_proof_mass.speed") == pytest.approx(0.0, abs=1e-12)  # m g / k = 0.05 m
    stopped = ProofMass("carriage", mass=0.5, stroke=0.02, stop_stiffness=1000.0)
    loop = Loop(slider(), stopped).put(carriage_proof_mass__stroke=0.03)
    assert loop.signal("carriage_proof_mass.force") == pytest.approx(10.0)  # 1000 N/m x 0.01 m


def test_proof_mass_command_pushes_the_frame_and_the_mass_the_other_way() -> None:
    loop = Loop(slider(mass=2.0), constant(3.0), ProofMass("carriage", mass=0.5))
    assert loop.rate("v") == pytest.approx(1.5)
    assert loop.rate("carriage_proof_mass.speed") == pytest.approx(-6.0)


# hydraulics, numbers of the cab of the Cat 215B (Wong 1991, table 5.2)

CAB = {"supply": 4000.0, "gear": 307.0, "damping": 100000.0}


def cab(command: float, mechanism: art.Mechanism | None = None, **changes: float) -> Loop:
    return Loop(
        mechanism or wheel(inertia=1e12), constant(command), HydraulicRotary("spin", **(CAB | changes))
    )


def test_hydraulic_flows_and_torque_by_hand() -> None:
    loop = cab(0.6).put(v=0.01, spin_hydraulic_rotary__pressures=(3000.0, 400.0))
    rates = loop.rate("spin_hydraulic_rotary.pressures")
    swept = 0.01 * 0.7 * 307
    assert rates[0] == pytest.approx(1000 * (26 * 0.03 * np.sqrt(1000) - swept))
    assert rates[1] == pytest.approx(1000 * (swept - 26 * 0.03 * np.sqrt(400)))
    assert loop.signal("spin_hydraulic_rotary.flows") == pytest.approx(
        [26 * 0.03 * np.sqrt(1000), 26 * 0.03 * np.sqrt(400)]
    )
    assert loop.signal("spin_hydraulic_rotary.force")[0] == pytest.approx(
        2600 * 0.7 / 8 * 307 - 100000 * 0.01
    )
    loop = cab(-0.6).put(v=0.01, spin_hydraulic_rotary__pressures=(3000.0, 400.0))
    rates = loop.rate("spin_hydraulic_rotary.pressures")
    assert rates[0] == pytest.approx(1000 * (-26 * 0.03 * np.sqrt(3000) - swept))
    assert rates[1] == pytest.approx(1000 * (swept + 26 * 0.03 * np.sqrt(3600)))


def test_hydraulic_spool_dead_band_and_limit() -> None:
    for command, spool in ((0.09, 0.0), (0.11, 0.0055), (-0.5, -0.025), (3.0, 0.05), (-3.0, -0.05)):
        assert cab(command).signal("spin_hydraulic_rotary.spool")[0] == pytest.approx(spool)


def test_hydraulic_greatest_torque() -> None:
    loop = cab(1.0).put(spin_hydraulic_rotary__pressures=(4000.0, 0.0))
    assert loop.signal("spin_hydraulic_rotary.force") == pytest.approx(107450.0)  # Wong 1991, from table 5.2


def test_hydraulic_closed_valve_and_locked_joint_keep_the_pressures() -> None:
    loop = cab(0.0).put(spin_hydraulic_rotary__pressures=(1234.0, 567.0))
    assert loop.rate("spin_hydraulic_rotary.pressures") == pytest.approx(0.0, abs=1e-12)


def test_hydraulic_no_load_speed() -> None:
    """With no friction both lines settle at P_s / 2 and the speed at k_f x sqrt(P_s / 2) / (D G)."""
    loop = cab(1.0, wheel(inertia=2e4), damping=0.0).put(spin_hydraulic_rotary__pressures=(2000.0, 2000.0))
    speed = 26 * 0.05 * np.sqrt(4000 / 2) / (0.7 * 307)
    assert speed == pytest.approx(0.2705, abs=5e-5)  # the figure of the thesis data
    loop.put(v=speed)
    assert loop.rate("spin_hydraulic_rotary.pressures") == pytest.approx(0.0, abs=1e-9)
    assert loop.rate("v") == pytest.approx(0.0, abs=1e-12)
    loop.put(v=0.0)
    assert loop.run(10.0, 0.01)["v"][-1] == pytest.approx(speed, rel=1e-3)  # and gets there


def test_hydraulic_pressure_feedback_damps_by_the_linear_equations() -> None:
    """Eigenvalues about steady motion, both lines at P_s / 2, against the linear equations written by hand.

    With L = p_in - p_out, S its slow part, a = k_f x / (2 r) and b = k_f r, r = sqrt(P_s / 2):
    L' = beta_v (-a L - 2 b k (L - S) - 2 D G v), S' = (L - S) / T, I v' = D G L / 8; the sum of the pressures decays by beta_v a.
    """
    supply, gear, inertia, k, T, u = 4000.0, 307.0, 2e4, 5e-5, 0.05, 0.6
    k_f, beta, D, r = 26.0, 1000.0, 0.7, np.sqrt(supply / 2)
    x = 0.05 * u
    changes = {"damping": 0.0, "pressure_feedback": k, "feedback_time": T}
    loop = cab(u, wheel(inertia), **changes)
    loop.put(v=k_f * x * r / (D * gear), spin_hydraulic_rotary__pressures=(supply / 2, supply / 2))
    assert loop.rate("spin_hydraulic_rotary.pressures") == pytest.approx([0.0, 0.0], abs=1e-8)
    c = ca.SX.sym("c", loop.system.nc)
    rest = [ca.SX(ca.DM(value)) for value in (loop.d, loop.p, loop.w, loop.t, loop.h)]
    J = np.array(ca.Function("J", [c], [ca.jacobian(loop.system.rhs(c, *rest), c)])(loop.c))
    own = [*range(1, 2), *range(2, 5)]  # speed, two pressures, the slow part
    a, b = k_f * x / (2 * r), k_f * r
    A = [
        [0, D * gear / 8 / inertia, 0],
        [-2 * beta * D * gear, -beta * (a + 2 * b * k), 2 * beta * b * k],
        [0, 1 / T, -1 / T],
    ]
    expected = np.append(np.linalg.eigvals(A), -beta * a)
    found = np.linalg.eigvals(J[np.ix_(own, own)])
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-9)


def test_hydraulic_pressures_stay_in_their_range() -> None:
    loop = cab(1.0, wheel(inertia=2e4)).put(v=5.0, spin_hydraulic_rotary__pressures=(0.0, 3990.0))
    found = loop.run(2.0, 0.01, "spin_hydraulic_rotary.pressures")["spin_hydraulic_rotary.pressures"]
    assert found.min() >= 0
    assert found.max() <= 4000
    assert found.min() == 0  # both bounds were met
    assert found.max() == 4000
    beyond = cab(0.0).put(spin_hydraulic_rotary__pressures=(4100.0, -30.0))
    assert beyond.rate("spin_hydraulic_rotary.pressures") == pytest.approx([-100 / 0.01, 30 / 0.01])


def test_commands_and_wrenches_have_units() -> None:
    """A torque is commanded in what its joint transmits, a motor in volts, a valve in a pure number; shapings change no unit."""
    arm = art.Mechanism("arm")
    for joint, kind, below, body in (
        ("spin", art.Revolute(axis=(0, 0, 1)), "ground", "wheel"),
        ("lift", art.Prismatic(axis=(0, 0, 1)), "wheel", "lifted"),
        ("wrist", art.Revolute(axis=(1, 0, 0)), "lifted", "hand"),
    ):
        arm.body(body, mass=1.0, inertia=(1.0, 1.0, 1.0))
        arm.joint(joint, kind, parent=below, child=body)
    parts = [
        Torque("spin"),
        RateLimit(FirstOrderActuator("lift", 10.0), 1.0),
        Motor("wrist", **MOTOR),
        ProofMass("hand", mass=1.0, stiffness=1.0, damping=0.0),
        HydraulicRotary("spin", supply=1e3, gear=10.0, damping=1.0),
        FrameWrench("hand", np.zeros(6)),
    ]
    run = art.simulate(arm, 2e-3, components=[constant(0, 0, 0, 0, 0), *parts], step=1e-3)
    units = {"spin_torque": "N m", "lift_torque": "N", "wrist_motor": "V", "hand_proof_mass": "N"}
    u = run.signals["u"]
    assert dict(zip(u.labels, u.units)) == units | {"spin_hydraulic_rotary": "-"}
    assert run.signals["hand_frame_wrench.wrench"].units == ("N m",) * 3 + ("N",) * 3
