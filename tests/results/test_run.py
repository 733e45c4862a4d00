"""Runs: what they hold, what they refuse, what they say about themselves."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from synthetic import made_up, mixed

import articulus as art
from articulus.errors import Finding, InputError, ModelError, NumericalError
from articulus.simulation.results.compare import compare
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal, position_signal, velocity_signal
from articulus.simulation.results.status import Occurrence, RunStatus


def test_units_and_names_follow_the_joints() -> None:
    run = made_up()
    q, v, tau = (run.signals[name] for name in ("q", "v", "tau"))
    assert q.columns[:2] + q.columns[7:] == ("q.base.qw", "q.base.qx", "q.lift", "q.reach")
    assert q.units == ("-",) * 4 + ("m",) * 3 + ("rad", "m")
    assert v.units == ("rad/s",) * 3 + ("m/s",) * 3 + ("rad/s", "m/s")
    assert tau.units == ("N m",) * 3 + ("N",) * 3 + ("N m", "N")
    assert run.signals["height"].columns == ("height",)


@pytest.mark.parametrize("batch", [None, 3])
def test_values_by_name(batch: int | None) -> None:
    run = made_up(batch)
    lead = () if batch is None else (batch,)
    assert run.batch == batch
    assert run.q.shape == (*lead, 41, 9)
    assert run.tau.shape == (*lead, 41, 8)
    assert np.array_equal(run["q.lift"], run.q[..., 7])
    assert np.array_equal(run["gyro.rate.y"], run["gyro.rate"][..., 1])
    assert np.array_equal(run["height"], run.signals["height"].values)


def test_unknown_names() -> None:
    run = made_up()
    with pytest.raises(InputError, match=r"no signal 'gyro\.rates'.*did you mean 'gyro\.rate'"):
        run["gyro.rates"]
    with pytest.raises(InputError, match="no signal 'u' in this run"):
        _ = run.u
    with pytest.raises(InputError, match="no entry 'lifft'; did you mean 'lift'"):
        run.signals["q"].entry("lifft")


def test_nothing_after_a_failure() -> None:
    """The failed run has no value after its last good time, in any signal; the others and earlier times keep theirs."""
    whole, run = made_up(3), made_up(3, fail=1)
    late = run.t > 1.0
    for name, signal in run.signals.items():
        assert np.isnan(signal.values[1, late]).all()
        assert np.array_equal(signal.values[1, ~late], whole[name][1, ~late])
        assert np.array_equal(signal.values[[0, 2]], whole[name][[0, 2]])
    assert run.failed.tolist() == [1]
    assert run.status.tolist() == [RunStatus.COMPLETE, RunStatus.FAILED, RunStatus.COMPLETE]


def test_nothing_after_a_stop() -> None:
    run = dataclasses.replace(
        made_up(2),
        events=(Occurrence(0.52, "ground", 1, stop=True),),
        status=[RunStatus.COMPLETE, RunStatus.STOPPED],
    )
    assert np.isnan(run.q[1]).any(axis=1).tolist() == (run.t > 0.52).tolist()
    assert np.isfinite(run.q[0]).all()


def test_failure_raises_on_demand() -> None:
    assert made_up().raise_if_failed().status is RunStatus.COMPLETE
    run = made_up(fail=0)
    assert run.status is RunStatus.FAILED
    with pytest.raises(
        NumericalError, match=r"run 0 failed at t = 1 s \(not finite\): joint 'lift'"
    ) as caught:
        run.raise_if_failed()
    assert caught.value.result is run
    assert caught.value.rows.tolist() == [0]


def test_wrong_shapes_are_named() -> None:
    d, t = mixed().description, np.linspace(0, 1, 5)
    q, v = position_signal(d, np.zeros((5, 9))), velocity_signal(d, np.zeros((5, 8)))
    with pytest.raises(InputError, match="found no signal 'v'"):
        Run(mixed(), t, {"q": q})
    with pytest.raises(InputError, match=r"signal 'v' has shape \(4, 8\); expected \(5, 8\)"):
        Run(mixed(), t, {"q": q, "v": velocity_signal(d, np.zeros((4, 8)))})
    with pytest.raises(InputError, match="signal 'v' stands under the name 'w'"):
        Run(mixed(), t, {"q": q, "v": v, "w": v})
    with pytest.raises(InputError, match=r"shape \(5, 3\); expected \(time, 2\)"):
        Signal("a", np.zeros((5, 3)), ("x", "y"))
    with pytest.raises(InputError, match="1 different labels"):
        Signal("a", np.zeros((5, 2)), ("x", "x"))


def test_figures_of_trust() -> None:
    """The figures are the extremes of the signals, failed parts left out."""
    run = made_up(4, fail=2)
    shown = dict(run.figures())
    error = np.nanmax(np.abs(run["energy.balance"]))
    assert shown["energy balance error"].startswith(f"{error:.2g} J")
    assert shown["failure"].startswith("run 2 failed at t = 1 s")
    assert shown["work"] == "2,000 steps, 8,000 evaluations, 0 rejected"
    assert "200 times real time" in shown["wall-clock time"]
    assert run.mechanism.description.fingerprint[:12] in shown["model"]
    assert "3 complete, 1 failed" in run.summary().splitlines()[0]
    assert repr(made_up()) == "<Run of 'mixed': 0 to 2 s, 41 rows, complete>"


def test_momentum_and_constraint_figures() -> None:
    run, t = made_up(), made_up().t[:, None]
    labels = ("hx", "hy", "hz", "px", "py", "pz")
    momentum = Signal("momentum", 7 + t * [0, 1, 0, 0, 0, -3], labels, ("N m s",) * 3 + ("N s",) * 3)
    residual = Signal("constraint", np.abs(np.sin(t)) * [1e-9, 1e-7], ("position", "velocity"), "-")
    run = dataclasses.replace(run, signals={**run.signals, "momentum": momentum, "constraint": residual})
    shown = dict(run.figures())
    assert shown["momentum change"] == "2 N m s, 6 N s"
    assert shown["constraint residual"] == "position 1e-09, velocity 1e-07"


def test_compare_finds_the_difference() -> None:
    a = made_up(3)
    values = a.q.copy()
    values[1, 17, 7] += 1e-3
    b = dataclasses.replace(a, signals={**a.signals, "q": position_signal(a.mechanism.description, values)})
    found = compare(a, b)
    worst = found.differences[0]
    assert (worst.name, worst.unit, worst.run, worst.time) == ("q.lift", "rad", 1, a.t[17])
    assert found["q"] == found["q.lift"] == pytest.approx(1e-3, rel=1e-9)
    assert found["v"] == 0
    assert not found.identical
    assert compare(a, a).identical
    assert "q.lift" in str(found).splitlines()[1]


def test_compare_on_common_times() -> None:
    """Every second row of a fine run compares equal with a coarse one; times may differ by rounding."""
    fine, every = made_up(), slice(None, None, 2)
    signals = {n: dataclasses.replace(s, values=s.values[every]) for n, s in fine.signals.items()}
    coarse = dataclasses.replace(fine, t=fine.t[every] + 1e-13, signals=signals)
    for found in (compare(fine, coarse), compare(coarse, fine)):
        assert found.times == 21
        assert found.identical
    with pytest.raises(InputError, match="no common time"):
        compare(fine, dataclasses.replace(fine, t=fine.t + 0.01))
    with pytest.raises(InputError, match="found 1 and 3 runs"):
        compare(fine, made_up(3))


def test_compare_counts_a_failure_of_one() -> None:
    assert compare(made_up(2), made_up(2, fail=0))["q"] == np.inf
    assert compare(made_up(2, fail=0), made_up(2, fail=0)).identical


def fallen(angle: float) -> Run:
    """Return a short run; the target of a worker process."""
    return art.simulate(art.load("two_link"), 0.01, [angle, 0.0])


def refused(_: float) -> Run:
    raise ModelError([Finding("a.toml:1", "x", "y"), Finding("a.toml:2", "z", "y")])


def test_a_run_survives_pickle_and_a_process_pool() -> None:
    run = fallen(0.4)
    back = pickle.loads(pickle.dumps(run))  # noqa: S301
    assert all(np.array_equal(back[name], run[name]) for name in run.names)
    assert (back.status, back.meta, back.statistics) == (run.status, run.meta, run.statistics)
    assert back.mechanism.description == run.mechanism.description
    assert np.array_equal(back.again().q, run.q)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert np.array_equal(pool.submit(fallen, 0.4).result(timeout=60).q, run.q)
        with pytest.raises(ModelError) as error:
            pool.submit(refused, 0.0).result(timeout=60)
    assert str(error.value).splitlines() == ["a.toml:1: found x; expected y", "a.toml:2: found z; expected y"]
    assert len(error.value.findings) == 2
