"""Laws of attitude parts: momentum between craft and gyros, wheels, coils; feedback, steering, allocation, filter."""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import spacecraft as sc
from articulus.simulation.loop import components as c
from articulus.spacecraft.attitude import mrp_of_quaternion, quaternion_of_matrix
from spacecraft_zoo import AXES, COILS, EPOCH, WHEELS

J = (12.0, 10.0, 8.0)
RNG = np.random.default_rng(3)


@functools.cache
def craft() -> art.Mechanism:
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", 120.0, (0, 0, 0), J)
    return m.joint("hub", art.Free(), "ground", "hub")


def wheels(**more) -> list:
    parts = [c.ReactionWheel("hub", 0.01, axis, name=name, **more) for name, axis in zip(WHEELS, AXES)]
    return [*(c.spacecraft.Tachometer(name) for name in WHEELS), *parts]


def turned(angle: float, axis=(0.6, 0.0, 0.8)) -> np.ndarray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis)), 0, 0, 0])


def angle_left(run: art.Run) -> float:
    return float(2 * np.arccos(min(1.0, abs(run.q[-1, 0]))))


def test_quaternions_of_matrices_and_their_parameters() -> None:
    """All four branches; the Rodrigues parameters are tan(angle / 4) axis, never longer than 1."""
    R = ca.SX.sym("R", 3, 3)
    f = ca.Function("f", [R], [quaternion_of_matrix(R), mrp_of_quaternion(quaternion_of_matrix(R))])
    for _ in range(200):
        q = RNG.normal(size=4) * (RNG.random(4) > 0.3)
        if not q.any():
            continue
        q /= np.linalg.norm(q)
        found, sigma = (np.array(x).ravel() for x in f(art.spatial.rotation_of_quaternion(q)))
        assert min(np.abs(found - q).max(), np.abs(found + q).max()) < 1e-14
        assert np.linalg.norm(sigma) <= 1 + 1e-12
        assert np.linalg.norm(sigma) == pytest.approx(np.tan(np.arccos(min(1, abs(q[0]))) / 2), abs=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        c.spacecraft.MrpFeedback("hub", inertia=J, stiffness=2.0, damping=6.0, name="law"),
        c.spacecraft.QuaternionFeedback("hub", inertia=J, stiffness=1.0, damping=6.0, name="law"),
        c.spacecraft.MrpSteering("hub", inertia=J, linear=0.3, rate_limit=0.1, damping=8.0, name="law"),
        c.spacecraft.MrpFeedback("hub", inertia=J, stiffness=2.0, damping=6.0, period=0.1, name="law"),
    ],
    ids=lambda law: f"{law.type_name}-{law.period}",
)
def test_laws_point_the_craft_by_four_wheels_and_keep_momentum(law) -> None:
    parts = [
        c.spacecraft.InertialPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES, WHEELS),
        *wheels(),
    ]
    v0 = np.array([0.01, -0.02, 0.015, 0, 0, 0])
    run = art.simulate(craft(), 120.0, turned(2.5), v0, components=parts, step=0.05)
    assert angle_left(run) < 1e-3
    assert run["law.error"][0] == pytest.approx(2.5, abs=1e-9)
    R = np.array([art.spatial.rotation_of_quaternion(q[:4]) for q in run.q])
    own = run.v[:, :3] * J + sum(np.outer(run[f"{n}.momentum"], axis) for n, axis in zip(WHEELS, AXES))
    whole = np.einsum("kij,kj->ki", R, own)
    assert np.abs(whole - whole[0]).max() < 1e-8
    assert run.ok


def test_small_errors_behave_as_the_docstring_says() -> None:
    """J a'' = -K/4 a - P a' about a principal axis: a damped oscillator in closed form; 1 mrad is small to 1e-6."""
    law = c.spacecraft.MrpFeedback("hub", stiffness=4.0, damping=1.0, name="law")
    m = craft()
    parts = [
        c.spacecraft.InertialPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES[:3], WHEELS[:3]),
        *wheels()[4:7],
    ]
    run = art.simulate(m, 20.0, turned(1e-3, (0, 0, 1)), components=parts, step=0.05)
    free = J[2]
    a, w = 1 / (2 * free), np.sqrt(1 / free - 1 / (4 * free**2))
    want = 1e-3 * np.exp(-a * run.t) * (np.cos(w * run.t) + a / w * np.sin(w * run.t))
    np.testing.assert_allclose(2 * run.q[:, 3], want, atol=2e-9)


def test_null_space_evens_out_speeds_without_a_torque() -> None:
    """Four wheels at unequal speeds: those in the null space slow down, the craft does not notice."""
    m = craft()
    spin = [
        c.ReactionWheel("hub", 0.01, axis, name=n, momentum=h)
        for n, axis, h in zip(WHEELS, AXES, (0.1, 0.1, 0.1, -0.1732050807568877))
    ]
    law = c.spacecraft.MrpFeedback("hub", stiffness=2.0, damping=6.0, name="law")
    parts = [
        *(c.spacecraft.Tachometer(n) for n in WHEELS),
        c.spacecraft.InertialPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES, WHEELS, damping=1e-3),
        *spin,
    ]
    run = art.simulate(m, 60.0, components=parts, step=0.05)
    assert np.abs(run.q[:, 1:4]).max() < 1e-6
    assert max(abs(run[f"{n}.momentum"][-1]) for n in WHEELS) < 0.01


def test_gyro_momentum_is_exchanged_exactly() -> None:
    m = craft()
    gyro = c.spacecraft.ControlMomentGyro("hub", 2.0, (0, 0, 1), (1, 0, 0), angle=0.3, name="gyro")
    t = ca.SX.sym("t")
    swing = ca.Function("swing", [t], [0.5 * ca.sin(t)], ["t"], ["u"])
    v0 = np.array([0.1, 0.2, -0.1, 0, 0, 0])
    run = art.simulate(
        m, 20.0, m.neutral, v0, components=[c.Expression(swing), gyro], method="rk8", step=0.05
    )
    d = run["gyro.angle"].ravel()
    np.testing.assert_allclose(d, 0.3 + 0.5 * (1 - np.cos(run.t)), atol=1e-10)
    own = run.v[:, :3] * J + 2.0 * np.column_stack([np.cos(d), np.sin(d), 0 * d])
    whole = np.array([art.spatial.rotation_of_quaternion(q[:4]) @ h for q, h in zip(run.q, own)])
    assert np.abs(whole - whole[0]).max() < 1e-11


def pyramid():
    tilt = np.radians(54.73)
    gimbals = [
        (np.sin(tilt) * np.cos(a), np.sin(tilt) * np.sin(a), np.cos(tilt)) for a in np.arange(4) * np.pi / 2
    ]
    spins = [(-np.sin(a), np.cos(a), 0.0) for a in np.arange(4) * np.pi / 2]
    return gimbals, spins


def test_steering_of_four_gyros_turns_the_craft_and_tells_singular_positions() -> None:
    m, (gimbals, spins) = craft(), pyramid()
    named = tuple(f"gyro{k}" for k in range(4))
    gyros = [
        c.spacecraft.ControlMomentGyro("hub", 1.0, g, x, name=n) for g, x, n in zip(gimbals, spins, named)
    ]
    law = c.spacecraft.MrpFeedback("hub", stiffness=2.0, damping=6.0, name="law")
    steering = c.spacecraft.GyroSteering("law.torque", gimbals, spins, 1.0, named)
    run = art.simulate(
        m, 120.0, turned(1.0), components=[c.spacecraft.InertialPointing(), law, steering, *gyros], step=0.05
    )
    assert angle_left(run) < 1e-3
    np.testing.assert_allclose(run["gyro_steering.angles"][:, 2], run["gyro2.angle"].ravel(), atol=1e-9)
    assert 0.5 < run["gyro_steering.measure"][0] < 2
    singular = c.spacecraft.GyroSteering(
        "law.torque", gimbals, spins, 1.0, named, angles=(np.pi / 2, 0.0, -np.pi / 2, 0.0)
    )
    lost = [
        c.spacecraft.ControlMomentGyro("hub", 1.0, g, x, name=n, angle=a)
        for g, x, n, a in zip(gimbals, spins, named, singular.angles)
    ]
    still = art.simulate(
        m, 0.1, components=[c.spacecraft.InertialPointing(), law, singular, *lost], step=0.05
    )
    assert still["gyro_steering.measure"][0] < 1e-6


def test_thrusters_by_hysteresis_hold_a_craft_in_its_band() -> None:
    m = art.Mechanism("jets", gravity=(0, 0, 0))
    m.body("hub", 120.0, (0, 0, 0), J).joint("hub", art.Free(), "ground", "hub")
    jets, rows = [], []
    for k, (y, fx) in enumerate(((0.5, -1), (-0.5, 1), (0.5, 1), (-0.5, -1))):
        m.frame(f"jet{k}", "hub", (0, y, 0))
        jets.append(c.Thruster(f"jet{k}", (fx, 0, 0), upper=1.0, name=f"jet{k}"))
        rows.append((0, 0, -y * fx))
    law = c.spacecraft.MrpFeedback("hub", stiffness=8.0, damping=12.0, name="law")
    trigger = c.spacecraft.SchmittTrigger("law.torque", 1.0, rows, tuple(j.name for j in jets), period=0.1)
    run = art.simulate(
        m,
        60.0,
        turned(0.5, (0, 0, 1)),
        components=[c.spacecraft.InertialPointing(), law, trigger, *jets],
        step=0.02,
    )
    firing = run["schmitt_trigger.firing"]
    assert set(np.unique(firing)) == {0.0, 1.0}
    assert angle_left(run) < 0.2
    changes = np.flatnonzero(np.abs(np.diff(firing[:, 0])) > 0)
    assert (np.diff(changes) >= 5).all()  # no pulse below the period of five steps


def orbiting(period: float = 1.0) -> list:
    return [
        c.spacecraft.SpaceEnvironment("hub", EPOCH),
        c.CentralGravity(),
        c.spacecraft.Magnetometer("hub", name="compass"),
    ]


def start() -> tuple[np.ndarray, np.ndarray]:
    s = sc.Orbit(6.878e6, 0.0, 1.2).state()
    return np.array([1.0, 0, 0, 0, *s.position]), np.array([0.02, -0.03, 0.04, *s.velocity])


def test_coils_stop_the_tumbling() -> None:
    """An hour and a half in the field of the Earth; a coil never drives the craft: |w| falls."""
    coils = [c.spacecraft.Magnetorquer("hub", axis, limit=30.0, name=n) for n, axis in zip(COILS, AXES)]
    law = c.spacecraft.BDotDamping("compass.field", AXES[:3], COILS, period=1.0, gain=3e6)
    q0, v0 = start()
    run = art.simulate(craft(), 5400.0, q0, v0, components=[*orbiting(), law, *coils], step=1.0, sample=60.0)
    speed = np.linalg.norm(run.v[:, :3], axis=1)
    assert speed[-1] < 0.3 * speed[0]
    assert np.abs(run["coil0.dipole"]).max() <= 30.0


def test_coils_take_momentum_out_of_wheels() -> None:
    coils = [c.spacecraft.Magnetorquer("hub", axis, limit=30.0, name=n) for n, axis in zip(COILS, AXES)]
    law = c.spacecraft.MrpFeedback("hub", stiffness=2.0, damping=6.0, name="law")
    parts = [
        *orbiting(),
        c.spacecraft.InertialPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES, WHEELS),
        c.spacecraft.MomentumDumping("compass.field", WHEELS, AXES, AXES[:3], COILS, gain=2e-3),
        *wheels(momentum=0.3),
        *coils,
    ]
    q0, v0 = start()
    v0[:3] = 0
    run = art.simulate(craft(), 5400.0, q0, v0, components=parts, step=0.25, sample=60.0)
    held = np.linalg.norm(run["momentum_dumping.momentum"], axis=1)
    assert held[-1] < 0.05 * held[0]
    assert 2 * np.abs(run.q[:, 1:4]).max() < 0.01


def test_hill_pointing_follows_the_orbit() -> None:
    q0, v0 = start()
    law = c.spacecraft.MrpFeedback("hub", inertia=J, stiffness=2.0, damping=8.0, name="law")
    parts = [
        c.spacecraft.SpaceEnvironment("hub"),
        c.CentralGravity(),
        c.spacecraft.HillPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES, WHEELS),
        *wheels(),
    ]
    run = art.simulate(craft(), 600.0, q0, v0, components=parts, step=0.1, sample=1.0)
    R = art.spatial.rotation_of_quaternion(run.q[-1, :4])
    down = -run["space.position"][-1] / np.linalg.norm(run["space.position"][-1])
    assert np.degrees(np.arccos(min(1, R[:, 2] @ down))) < 0.05
    assert run["law.error"][-1] < 1e-3


def test_imbalance_shakes_with_the_square_of_the_speed() -> None:
    m = craft()
    shake = c.spacecraft.WheelImbalance("wheel0", "hub", (1, 0, 0), static=1e-4, dynamic=1e-5)
    run = art.simulate(m, 0.5, components=[*wheels(momentum=2.0)[4:5], shake], step=1e-4)
    force = np.linalg.norm(run["wheel0_imbalance.force"], axis=1)
    np.testing.assert_allclose(force, 1e-4 * run["wheel0.speed"].ravel() ** 2, rtol=1e-9)
    assert run.ok


def test_tachometer_sees_the_wheel() -> None:
    t = ca.SX.sym("t")
    push = c.Expression(ca.Function("push", [t], [0.1 * ca.sin(t)], ["t"], ["u"]))
    run = art.simulate(
        craft(), 5.0, components=[c.spacecraft.Tachometer("wheel0"), push, *wheels()[4:5]], step=0.01
    )
    np.testing.assert_allclose(
        run["wheel0_tachometer.speed"].ravel(), run["wheel0.speed"].ravel(), atol=1e-12
    )
    np.testing.assert_allclose(
        run["wheel0_tachometer.momentum"].ravel(), run["wheel0.momentum"].ravel(), atol=1e-15
    )


def test_star_tracker_and_gyro_have_the_noise_that_they_state() -> None:
    m = craft()
    tracker = c.spacecraft.StarTracker(
        "hub", noise=(1e-4, 2e-4, 1e-3), bias=(0, 0, 5e-3), period=0.1, name="tracker"
    )
    gyro = c.spacecraft.DriftingGyro("hub", 0.1, noise=1e-3, drift=1e-4, bias=(1e-2, 0, 0), name="gyro")
    run = art.simulate(m, 400.0, turned(1.0), components=[tracker, gyro], step=0.1, seed=5)
    exact = turned(1.0)[:4]
    error = np.array(
        [
            2 * art.spatial.quaternion_multiply(art.spatial.quaternion_inverse(exact), q)[1:]
            for q in run["tracker.attitude"]
        ]
    )
    np.testing.assert_allclose(error.std(axis=0), [1e-4, 2e-4, 1e-3], rtol=0.06)
    np.testing.assert_allclose(error.mean(axis=0), [0, 0, 5e-3], atol=1e-4)
    walk = run["gyro.bias"] - [1e-2, 0, 0]
    np.testing.assert_allclose((run["gyro.rate"] - run["gyro.bias"]).std(axis=0), 1e-3, rtol=0.06)
    np.testing.assert_allclose(np.diff(walk, axis=0).std(), 1e-4 * np.sqrt(0.1), rtol=0.06)


def test_filter_is_as_good_as_it_says() -> None:
    """Errors over their own standard deviations have unit variance; the bias is found; better than the tracker alone by far."""
    m = craft()
    tracker = c.spacecraft.StarTracker("hub", noise=(1e-4, 1e-4, 8e-4), period=0.1, name="tracker")
    gyro = c.spacecraft.DriftingGyro(
        "hub", 0.1, noise=2e-5, drift=1e-6, bias=(1e-4, -2e-4, 1e-4), name="gyro"
    )
    filt = c.spacecraft.AttitudeFilter(
        "tracker.attitude", "gyro.rate", 0.1, (1e-4, 1e-4, 8e-4), 2e-5, 1e-6, 3e-4, name="filter"
    )
    scores, late = [], []
    for seed in range(8):
        run = art.simulate(
            m,
            300.0,
            m.neutral,
            np.array([0.01, 0.02, -0.01, 0, 0, 0]),
            components=[tracker, gyro, filt],
            step=0.1,
            seed=seed,
        )
        error = np.array(
            [
                2 * art.spatial.quaternion_multiply(art.spatial.quaternion_inverse(q[:4]), f)[1:]
                for q, f in zip(run.q, run["filter.attitude"])
            ]
        )
        error *= np.sign((run.q[:, :4] * run["filter.attitude"]).sum(axis=1))[:, None]
        scores.append((error / run["filter.deviation"])[500::250])
        late.append(np.abs(run["filter.bias"][-1] - run["gyro.bias"][-1]).max())
    assert 0.75 < np.std(scores) < 1.3
    assert max(late) < 2e-5
    assert error[-500:].std(axis=0)[2] < 0.4 * 8e-4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: c.spacecraft.ControlMomentGyro("hub", 1.0, (0, 0, 1), (0, 0.6, 0.8)), "right angle"),
        (lambda: c.spacecraft.InertialPointing((1, 1, 0, 0)), "length 1"),
        (lambda: c.spacecraft.MrpFeedback("hub", inertia=(1, 2)), "3 moments"),
        (lambda: c.spacecraft.TorqueAllocation("law.torque", AXES[:2], WHEELS[:2]), "at least 3"),
        (
            lambda: c.spacecraft.SchmittTrigger("law.torque", 1.0, AXES, ("a", "b", "c"), on=0.2, off=0.5),
            "from 0 to 0.2",
        ),
        (lambda: c.spacecraft.DriftingGyro("hub", None), "sampling period"),
        (lambda: c.spacecraft.AttitudeFilter("a", "b", 0.1, tracker_noise=(0, 1, 1)), "above 0"),
        (lambda: c.spacecraft.SunSensor("hub", half_angle=-1.0), "half_angle"),
        (lambda: c.spacecraft.GyroSteering("law.torque", AXES, AXES, 1.0, ("a", "b")), "at least 3"),
    ],
)
def test_wrong_numbers_are_told(make, message) -> None:
    with pytest.raises(art.InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([c.spacecraft.MrpFeedback("hub")], "guidance"),
        ([c.spacecraft.Tachometer("wheel9"), *wheels()[4:]], "wheel9"),
        ([c.spacecraft.Tachometer("jet"), c.Thruster("hub", name="jet")], "ReactionWheel"),
        ([c.spacecraft.Magnetorquer("hub")], "with an epoch"),
        ([c.spacecraft.WheelImbalance("wheel0", "hub")], "wheel0.speed"),
        (
            [
                c.spacecraft.InertialPointing(),
                c.spacecraft.MrpFeedback("hub", name="law"),
                c.spacecraft.TorqueAllocation("law.torque", AXES, ("wheel0", "wheel1", "wheel2", "weel3")),
                *wheels(),
            ],
            "wheel3",
        ),
        (
            [
                c.spacecraft.InertialPointing(),
                c.spacecraft.MrpFeedback("hub", measured=("filter.attitude", "filter.rate")),
            ],
            "filter.attitude",
        ),
    ],
)
def test_parts_that_do_not_fit_are_told(parts, message) -> None:
    with pytest.raises(art.InputError, match=message):
        art.simulate(craft(), 1.0, components=parts, step=0.1)
