"""Fits to measured runs: truth within its covariance, and refusals by name."""

import json

import numpy as np
import pytest

import articulus as art
from articulus.design.fits.least_squares import least_squares
from articulus.errors import DoubtfulResult, InputError
from articulus.simulation.loop.components import PD, JointFriction, PrescribedForce, Table
from articulus.study.records import Record

START = ([0.3, -0.2], [0.1, 0.5])
TRUTH = {"m1": 1.5, "m2": 0.7, "b": 0.15}
NOISE = {"q.shoulder": 1e-3, "q.elbow": 2e-3}
NAMES = tuple(TRUTH)


@pytest.fixture(scope="module")
def loop():
    m = art.Mechanism("double")
    m.body("upper", mass=art.Parameter("m1", 1.3), com=(0, 0, -0.3), inertia=(0.05, 0.05, 0.01))
    m.body("fore", mass=art.Parameter("m2", 0.8), com=(0.05, 0, -0.2), inertia=(0.02, 0.03, 0.01))
    m.joint("shoulder", art.Revolute(axis=(0, 1, 0)), "ground", "upper", damping=art.Parameter("b", 0.1))
    m.joint("elbow", art.Revolute(axis=(0.6, 0.8, 0)), "upper", "fore", at=(0, 0, -0.6))
    gain, twice = art.Parameter("kp", 9.0), art.Parameter("twice", 1.0)
    return art.Loop(m, PD(kp=(gain * twice, 4.0), kd=(1.0, 0.5), target=(0.4, -0.3)))


def record(loop, seed=0, noise=NOISE, t_end=1.5, start=START):
    run = loop.simulate(t_end, *start, step=1e-3, sample=0.01, params=TRUTH)
    return Record.of(run, noise=noise, seed=seed)


def experiment(loop, r, **more):
    return art.design.Experiment(r, loop, list(NOISE), *START, **more)


def test_estimates_spread_as_their_deviations_say(loop):
    away = []
    for seed in range(8):
        found = art.design.fit(experiment(loop, record(loop, seed)), NAMES)
        away.append((found.values - [TRUTH[n] for n in NAMES]) / found.deviations)
        assert found.ok, found.warnings
    size = np.sqrt(np.mean(np.square(away)))
    assert 0.6 < size < 1.5  # 24 normal numbers of deviation one: their rms is 1 +- 0.15


def test_friction_of_bristles_is_found():
    """All numbers of LuGre friction but the damping, from 25 to 50 % off, through reversals: within four deviations."""
    truth = {"coulomb": 1.0, "static": 1.5, "stiffness": 300.0, "stribeck": 0.05, "viscous": 0.3}
    wrong = {"coulomb": 1.3, "static": 2.0, "stiffness": 200.0, "stribeck": 0.07, "viscous": 0.2}
    m = art.Mechanism("rod").body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod")
    p = {k: art.Parameter(k, x) for k, x in wrong.items()}
    friction = JointFriction(
        "pin", coulomb=p["coulomb"], static=p["static"], stiffness=p["stiffness"], damping=2.0, stribeck_speed=p["stribeck"],
        viscous=p["viscous"],
    )  # fmt: skip
    t = np.arange(401) * 0.01
    rod = art.Loop(m, None, [PrescribedForce("pin", Table(t, (2.5 + 0.5 * t) * np.sin(2 * t))), friction])
    run = rod.simulate(4.0, step=1e-3, sample=0.01, params=truth)
    measured = art.design.Experiment(Record.of(run, noise={"q.pin": 1e-4}), rod, ["q.pin"])
    found = art.design.fit(measured, list(truth), force=True)
    assert np.abs((found.values - list(truth.values())) / found.deviations).max() < 4
    assert found.ok, found.warnings


def test_exact_records_give_the_truth(loop):
    found = art.design.fit(experiment(loop, record(loop, noise={})), NAMES)
    np.testing.assert_allclose(found.values, [TRUTH[n] for n in NAMES], rtol=1e-7)


def test_several_records_tell_more_than_one(loop):
    one = experiment(loop, record(loop, 1))
    both = [one, experiment(loop, record(loop, 2))]
    few, many = (art.design.fit(e, NAMES) for e in (one, both))
    assert (many.deviations < few.deviations).all()
    assert "2 records" in many.scope


def test_a_late_record_is_found_and_can_be_fitted(loop):
    r, late = record(loop), 0.013
    shifted = Record("late", r.t, {n: np.interp(r.t - late, r.t, r[n]) for n in NOISE}, r.units)
    with pytest.raises(InputError, match=r"clock: found the records are late by 0.01"):
        art.design.fit(experiment(loop, shifted), NAMES)
    with pytest.warns(DoubtfulResult):  # the first samples hold: residuals are not white
        found = art.design.fit(experiment(loop, shifted), NAMES, delay=True)
    assert found.delay == pytest.approx(late, abs=2e-3)


def test_directions_that_cannot_be_told_are_named(loop):
    with pytest.raises(InputError, match=r"cannot identify: .*kp.*twice"):
        art.design.fit(experiment(loop, record(loop)), ("m1", "kp", "twice"))
    looked = art.design.check(experiment(loop, record(loop)), ("m1", "kp", "twice"))
    (direction,) = looked.null_directions
    assert set(direction) == {"kp", "twice"}
    assert direction["kp"] == pytest.approx(-direction["twice"], rel=1e-4)  # a product: of opposite shares


def test_wrong_loops_are_doubted(loop):
    m = loop.mechanism
    stiff = art.Loop(m, PD(kp=(8.7, 4.0), kd=(1.0, 0.5), target=(0.4, -0.3)))
    with pytest.warns(DoubtfulResult):
        found = art.design.fit(
            art.design.Experiment(record(loop), stiff, list(NOISE), *START), ("m1", "b"), force=True
        )
    assert not found.ok
    assert any("no white noise" in w for w in found.warnings)
    assert found.verdict.startswith("doubtful")


def test_bounds_hold_and_are_told(loop):
    with pytest.warns(DoubtfulResult):
        found = art.design.fit(experiment(loop, record(loop)), NAMES, {"m1": (1.0, 1.4)})
    assert found["m1"] == 1.4
    assert "'m1' stays at its bound 1.4: the truth may lie beyond" in found.warnings
    for bounds, word in (
        ({"m1": (1.3, 2.0)}, "at the edge"),
        ({"m1": (2.0, 3.0)}, "outside"),
        ({"m1": (3.0, 2.0)}, "lower one first"),
    ):
        with pytest.raises(InputError, match=word):
            art.design.fit(experiment(loop, record(loop)), NAMES, bounds)


def test_gaps_do_not_count(loop):
    r = record(loop, noise={})
    kept = np.r_[0:40, 60 : len(r)]
    x = r["q.elbow"][kept].copy()
    x[5:9] = np.nan
    holey = Record("holey", r.t[kept], {"q.shoulder": r["q.shoulder"][kept], "q.elbow": x}, r.units)
    looked = art.design.check(experiment(loop, holey), NAMES)
    assert looked.ok
    assert "2 gaps" in looked.notes[0]
    found = art.design.fit(experiment(loop, holey), NAMES)
    np.testing.assert_allclose(found.values, [TRUTH[n] for n in NAMES], rtol=1e-6)


def test_results_as_json(loop, tmp_path):
    found = art.design.fit(experiment(loop, record(loop)), NAMES)
    found.to_json(tmp_path / "fit.json")
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["parameters"]["m2"]["value"] == found["m2"]
    assert "held out" in str(found)


def test_bad_input(loop):
    r = record(loop)
    for names, word in (((), "no parameter"), (("m3",), "no parameter 'm3'")):
        with pytest.raises(InputError, match=word):
            art.design.fit(experiment(loop, r), names)
    with pytest.raises(InputError, match=r"no entry 'q.wrist'"):
        art.design.Experiment(r, loop, ["q.wrist"])
    wrong = Record("wrong", r.t, {"q.elbow": r["q.elbow"]}, {"q.elbow": "m"})
    with pytest.raises(InputError, match=r"is in m; expected the unit of 'q.elbow', rad"):
        art.design.Experiment(wrong, loop)
    flat = Record("flat", r.t, {"q.elbow": np.zeros(len(r))}, {"q.elbow": "rad"})
    with pytest.raises(InputError, match=r"one value for 'q.elbow' throughout"):
        art.design.check(art.design.Experiment(flat, loop), ("m1",))


def test_least_squares_of_rosenbrock():
    def f(x):
        return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), np.array([[-20 * x[0], 10], [-1, 0]])

    free = least_squares(f, np.array([-1.2, 1.0]), np.ones(2), np.full(2, -np.inf), np.full(2, np.inf))
    np.testing.assert_allclose(free.x, 1.0, rtol=1e-8)
    held = least_squares(f, np.array([-1.2, 0.2]), np.ones(2), np.full(2, -2.0), np.array([0.5, 2.0]))
    np.testing.assert_allclose(held.x, [0.5, 0.25], rtol=1e-6)
    assert held.at_bound.tolist() == [True, False]


def test_command_line(loop, tmp_path):
    from typer.testing import CliRunner

    from articulus.cli import app

    run = loop.simulate(1.0, *START, step=1e-3, sample=0.01, params=TRUTH)
    run.to_csv(tmp_path / "run.csv")
    loop.save_study(tmp_path / "arm.toml", 1.0, *START, step=1e-3)
    given = [
        "fit",
        str(tmp_path / "arm.toml"),
        str(tmp_path / "run.csv"),
        "--by",
        "m1",
        "--by",
        "b",
        "--by",
        "m2",
    ]
    found = CliRunner().invoke(app, [*given, "--output", str(tmp_path / "fit.json")])
    assert found.exit_code == 0, found.output
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["parameters"]["m1"]["value"] == pytest.approx(1.5, rel=1e-6)
