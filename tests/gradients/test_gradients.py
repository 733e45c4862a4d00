"""Gradients of runs: forward and adjoint agree with each other to rounding, and with central differences to what these allow."""

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, UnsupportedOperation
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.gradients import ALL_FIGURES, Final, Largest, Mean, Rms
from articulus.simulation.loop.components import (
    PD,
    PID,
    BearingFriction,
    GroundContact,
    JointFriction,
    PrescribedForce,
    Table,
    WhiteNoise,
)
from articulus.structure import beam_body
from closed_zoo import four_bar

BY_DIFFERENCES = 2e-6
"""Central differences with relative steps of 1e-5 of runs of a second: h^2 of truncation and 1e-16 / h of rounding, over the largest
derivative."""


def pendulum(**joint):
    m = art.Mechanism("double")
    m.body("upper", mass=art.Parameter("m1", 1.3), com=(0, 0, -0.3), inertia=(0.05, 0.05, 0.01))
    m.body("fore", mass=art.Parameter("m2", 0.8), com=(0.05, 0, -0.2), inertia=(0.02, 0.03, 0.01))
    m.joint(
        "shoulder",
        art.Revolute(axis=(0, 1, 0)),
        parent="ground",
        child="upper",
        damping=art.Parameter("b", 0.1),
        **joint,
    )
    m.joint("elbow", art.Revolute(axis=(0.6, 0.8, 0)), parent="upper", child="fore", at=(0, 0, -0.6))
    return m


def gains(**more):
    return PD(
        kp=(art.Parameter("kp", 9.0), 4.0), kd=(art.Parameter("kd", 1.0), 0.5), target=(0.4, -0.3), **more
    )


def differences(loop, figure, names, t_end, q0=None, v0=None, params=None, **settings):
    """Return central differences of a figure by simulate alone, and its value."""
    settings = {"outputs": None, **settings}
    values = {p.name: value_of(p) for p in loop.system.network.parameters} | (params or {})
    labels = {s: loop.signals[s].columns for s in "qv"}

    def at(name, shift):
        q, v, given = np.array(q0, float), np.array(v0, float), dict(params or {})
        if name.startswith(("q0.", "v0.")):
            (q if name[0] == "q" else v)[labels[name[0]].index(f"{name[0]}.{name[3:]}")] += shift
        elif name:
            given[name] = values[name] + shift
        return figure(loop.simulate(t_end, q, v, params=given, **settings))

    out = []
    for name in names:
        h = 1e-5 * max(1.0, abs(values.get(name, 1.0)))
        out.append((at(name, h) - at(name, -h)) / (2 * h))
    return at("", 0.0), np.array(out)


def check(loop, figure, by_run, names, t_end, q0, v0, tolerance=BY_DIFFERENCES, **settings):
    """Require that both ways give what differences give, and the value that the run gives."""
    forward = loop.gradient(figure, t_end, q0, v0, by=names, mode="forward", **settings)
    back = loop.gradient(figure, t_end, q0, v0, by=names, mode="adjoint", **settings)
    value, expected = differences(loop, by_run, names, t_end, q0, v0, **settings)
    size = np.abs(expected).max()
    assert size > 1e-6
    assert forward.value == pytest.approx(value, rel=1e-12, abs=1e-14)
    assert back.value == forward.value
    np.testing.assert_allclose(
        forward.gradient, back.gradient, rtol=1e-10, atol=1e-12 * size
    )  # order of sums alone
    np.testing.assert_allclose(forward.gradient, expected, rtol=tolerance, atol=tolerance * size)
    return forward


NAMES = ("m1", "m2", "b", "kp", "kd", "q0.shoulder", "v0.elbow")
START = ([0.3, -0.2], [0.1, 0.5])


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler", "central_difference"])
def test_every_way_of_fixed_steps(method):
    loop = art.Loop(pendulum(), gains())
    check(
        loop, lambda s: ca.sumsqr(s["q"]) + s["v.elbow"] * s.p["m1"], lambda r: (r.q[-1] ** 2).sum() + r.v[-1, 1] * _m1(r),
        NAMES, 0.1, *START, step=5e-4, method=method,
    )  # fmt: skip


def _m1(run):
    return run.meta["parameters"]["m1"]["value"]


def test_sampled_controllers_that_hold_values():
    loop = art.Loop(
        pendulum(),
        PID(
            kp=art.Parameter("kp", 9.0),
            ki=art.Parameter("ki", 5.0),
            kd=art.Parameter("kd", 1.0),
            target=(0.4, -0.3),
            period=0.01,
        ),
    )
    check(
        loop,
        Final("q.elbow"),
        lambda r: r.q[-1, 1],
        ("m1", "kp", "ki", "kd", "q0.elbow"),
        0.25,
        *START,
        step=1e-3,
    )


@pytest.mark.parametrize("period", [None, 0.01])
def test_one_joint(period):
    """All there is has one row: a held command of one number, a position, a velocity."""
    m = art.Mechanism("single")
    m.body("rod", mass=art.Parameter("m", 1.0), com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    m.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="ground", child="rod")
    loop = art.Loop(m, PD(art.Parameter("kp", 10.0), 1.0, **({"period": period} if period else {})))
    check(loop, Final("q.hinge"), lambda r: r.q[-1, 0], ("m", "kp", "q0.hinge"), 0.2, [0.3], [0.1], step=1e-3)


def test_figures_over_samples_with_noise():
    loop = art.Loop(pendulum(), gains(period=0.02), [WhiteNoise(0.3, joint="elbow")])
    ways = {Mean: np.mean, Rms: lambda y: np.sqrt(np.mean(y**2)), Largest: np.max}
    for figure, by_run in ways.items():
        check(
            loop, figure("tau.shoulder"), lambda r, f=by_run: f(r["tau"][:, 0]), ("m2", "kd", "b"), 0.2, *START,
            step=2e-3, sample=0.01, seed=3,
        )  # fmt: skip


def test_energy_that_was_dissipated():
    loop = art.Loop(pendulum(), gains())
    check(loop, "energy.dissipated", lambda r: r["energy"][-1, 3], ("b", "m2", "kp"), 0.3, *START, step=1e-3)


def test_friction_has_a_gradient():
    loop = art.Loop(
        pendulum(), gains(), [JointFriction("elbow", art.Parameter("mu", 0.2), stiffness=30.0, damping=0.5)]
    )
    found = check(loop, Final("q.elbow"), lambda r: r.q[-1, 1], ("mu", "m1"), 0.3, *START, step=1e-3)
    assert abs(found["mu"]) > 1e-3


def test_every_number_of_friction_has_a_gradient():
    """Bristles through sticking, break-away and sliding: none of the six derivatives is zero, each is that of differences."""
    m = art.Mechanism("rod").body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod")
    p = art.Parameter
    bristles = JointFriction(
        "pin", coulomb=p("coulomb", 1.0), static=p("static", 1.5), stiffness=p("stiffness", 300.0), damping=p("damping", 2.0),
        stribeck_speed=p("stribeck", 0.05), viscous=p("viscous", 0.3),
    )  # fmt: skip
    push = PrescribedForce("pin", Table([0.0, 1.0, 2.0], [0.0, 6.0, -2.0]))
    names = ("coulomb", "static", "stiffness", "damping", "stribeck", "viscous")
    found = check(
        art.Loop(m, None, [push, bristles]),
        Final("q.pin"),
        lambda r: r.q[-1, 0],
        names,
        1.5,
        [0.0],
        [0.0],
        step=1e-3,
    )
    assert min(abs(found[name]) for name in names) > 1e-6


def test_friction_that_holds_has_a_gradient():
    """A rod that never slides rests where its bristles are bent: q = load / stiffness, and coulomb bends them by creeping."""
    m = art.Mechanism("rod", gravity=(0, 0, 0)).body("rod", mass=2.0, inertia=(0.5, 0.5, 0.5))
    m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod")
    bristles = JointFriction(
        "pin",
        coulomb=art.Parameter("coulomb", 5.0),
        stiffness=art.Parameter("stiffness", 300.0),
        damping=20.0,
    )
    loop = art.Loop(m, None, [PrescribedForce("pin", (1.0,)), bristles])
    found = check(
        loop, Final("q.pin"), lambda r: r.q[-1, 0], ("coulomb", "stiffness"), 1.0, [0.0], [0.0], step=1e-3
    )
    assert found["stiffness"] == pytest.approx(-1.0 / 300.0**2, rel=0.3)
    assert abs(found["coulomb"]) > 1e-7


def test_friction_under_load_has_a_gradient():
    bearing = BearingFriction(
        "elbow", friction=art.Parameter("mu", 0.2), deflection=art.Parameter("give", 1e-2), radius=0.05, damping=art.Parameter("lag", 1e-2),
        preload=art.Parameter("press", 5.0), lag=5e-3,
    )  # fmt: skip
    names = ("mu", "give", "lag", "press")
    found = check(art.Loop(pendulum(), gains(), [bearing]), Final("q.elbow"), lambda r: r.q[-1, 1], names, 0.3, *START, step=1e-3)  # fmt: skip
    assert min(abs(found[name]) for name in names) > 1e-8


def test_turning_body_with_contact():
    m = art.Mechanism("ball")
    m.body("ball", mass=art.Parameter("m", 2.0), com=(0.02, 0, 0), inertia=(0.02, 0.03, 0.04))
    m.joint("free", art.Free(), parent="ground", child="ball")
    ground = GroundContact(
        "ball", stiffness=art.Parameter("k", 4e4), dissipation=0.5, friction=0.3, slip_speed=0.05
    )
    q0, v0 = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.005], [0.3, 1.0, 0.2, 0.5, 0.0, -0.4]
    loop = art.Loop(m, None, [ground])
    found = check(
        loop,
        lambda s: s["q"][6] + s["v"][1] * s["q"][0],
        lambda r: r.q[-1, 6] + r.v[-1, 1] * r.q[-1, 0],
        ("m", "k"),
        0.2,
        q0,
        v0,
        step=5e-4,
    )
    assert found["k"] != 0


def test_long_runs_keep_the_starts_of_chunks_alone(monkeypatch):
    from articulus.simulation.gradients import adjoint, steps

    loop = art.Loop(pendulum(), gains(period=0.02), [WhiteNoise(0.3, joint="elbow")])
    given = {
        "figure": Mean("q.elbow"),
        "t_end": 0.4,
        "q0": START[0],
        "v0": START[1],
        "by": NAMES,
        "mode": "adjoint",
        "step": 2e-3,
        "sample": 0.02,
        "seed": 1,
    }
    whole = loop.gradient(**given)
    monkeypatch.setattr(adjoint, "KEPT_BYTES", 0)
    monkeypatch.setattr(steps, "CHUNK_BYTES", 0)
    again = loop.gradient(**given)
    np.testing.assert_allclose(again.gradient, whole.gradient, rtol=1e-12)
    assert again.value == whole.value
    forward = loop.gradient(**{**given, "mode": "forward"})
    np.testing.assert_allclose(forward.gradient, whole.gradient, rtol=1e-10)


def test_sensitivities_over_time_are_those_of_runs():
    loop = art.Loop(pendulum(), gains(period=0.01))
    names = ("m2", "kp", "v0.shoulder")
    found = loop.sensitivities(0.2, *START, by=names, outputs=["q", "tau"], step=1e-3, sample=0.005)
    run = loop.simulate(0.2, *START, step=1e-3, sample=0.005)
    np.testing.assert_array_equal(found.signals["q"], run.q)
    np.testing.assert_array_equal(found.signals["tau"], run["tau"])
    assert found.by["tau"].shape == (*run["tau"].shape, len(names))
    for name in names:
        for output in ("q", "tau"):
            _, expected = differences(
                loop, lambda r, o=output: r[o], [name], 0.2, *START, step=1e-3, sample=0.005
            )
            size = np.abs(expected).max()
            np.testing.assert_allclose(found.of(output, name), expected[0], atol=BY_DIFFERENCES * size)


def test_closed_loops_by_parameters_that_leave_their_start():
    m = four_bar()
    loop = art.Loop(
        m, PD(kp=art.Parameter("kp", 3.0), kd=art.Parameter("kd", 0.2), target=0.5, joints=("crank_pin",))
    )
    check(
        loop,
        lambda s: ca.sumsqr(s["v"]),
        lambda r: (r.v[-1] ** 2).sum(),
        ("kp", "kd"),
        0.1,
        np.zeros(3),
        np.zeros(3),
        step=1e-3,
    )
    with pytest.raises(UnsupportedOperation, match="closed loops"):
        loop.gradient("q.crank_pin", 0.05, by="v0.crank_pin", step=1e-3)


def test_parameters_that_move_the_start_of_closed_loops_are_refused():
    m = art.Mechanism("square")
    for name, parent, at in (
        ("crank", "ground", (0, 0, 0)),
        ("coupler", "crank", (0, 0, 1)),
        ("rocker", "ground", (art.Parameter("base", 1.0), 0, 0)),
    ):
        m.body(name, mass=1.0, com=(0.1, 0, 0.1), inertia=(0.1, 0.1, 0.1))
        m.joint(f"{name}_pin", art.Revolute(axis=(0, 1, 0)), parent, name, at=at)
    m.loop("pin", art.Revolute(axis=(0, 1, 0)), "coupler", "rocker", at=(1, 0, 0), child_at=(0, 0, 1))
    with pytest.raises(UnsupportedOperation, match="'base' moves the start"):
        art.Loop(m).gradient("v.crank_pin", 0.01, by="base", step=1e-3)


def test_dimensions_of_a_flexible_body():
    given = {
        "EI": 40.0,
        "mass_per_length": 1.2,
        "modes": 2,
        "elements": 4,
        "damping": 0.02,
    }
    m = art.Mechanism("flexible arm")
    m.flexible("beam", beam_body(art.Parameter("L", 1.5, range=(1.0, 2.0)), **given))
    m.joint("hub", art.Revolute(axis=(0, 0, 1)), "ground", "beam", damping=0.1)
    loop = art.Loop(m, PD(kp=art.Parameter("kp", 20.0), kd=2.0, target=0.4, joints=("hub",)))
    zero = np.zeros(m.nv)
    check(
        loop,
        lambda s: ca.sumsqr(s["q"]),
        lambda r: (r.q[-1] ** 2).sum(),
        ("L", "kp"),
        0.1,
        zero,
        zero,
        step=5e-4,
    )


def test_what_has_no_derivative_is_refused_by_name():
    loop = art.Loop(pendulum(), gains())
    for settings, word in (
        ({"method": "dormand_prince"}, "dormand_prince"),
        ({"method": "ab2"}, "looks back"),
        ({"events": [art.events.Crossing("q.elbow", 0.1)]}, "event"),
    ):
        with pytest.raises(UnsupportedOperation, match=word):
            loop.gradient("q.elbow", 0.1, *START, step=1e-3, **settings)
    with pytest.raises(UnsupportedOperation, match="Python controller"):
        art.Loop(pendulum(), lambda t, q, v: -q).gradient("q.elbow", 0.1, step=1e-3)
    for bad, word in (
        ({"by": "m3"}, "valid names"),
        ({"by": []}, "no parameter"),
        ({"by": ["m1", "m1"]}, "twice"),
        ({"mode": "back"}, "adjoint"),
    ):
        with pytest.raises(InputError, match=word):
            loop.gradient("q.elbow", 0.1, *START, step=1e-3, **bad)
    for figure, word in (
        ("q.elbo", "did you mean"),
        ("q", "found 2 numbers"),
        (lambda s: np.sin(3.0) if s["x"] else 0, "no signal 'x'"),
        (lambda s: ca.SX.sym("z"), "symbol 'z'"),
    ):
        with pytest.raises(InputError, match=word):
            loop.gradient(figure, 0.1, *START, step=1e-3)


@pytest.mark.parametrize("figure", ALL_FIGURES)
def test_weights_are_the_derivative_of_the_value(figure):
    y = np.random.default_rng(0).normal(size=9)
    one, h = figure("q"), 1e-6
    by = [(one.value(y + h * e) - one.value(y - h * e)) / (2 * h) for e in np.eye(9)]
    np.testing.assert_allclose(one.weights(y), by, atol=1e-9)
