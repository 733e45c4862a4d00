"""The design desk: sliders, runs made anew, poles and responses as plain data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import articulus as art
import flexible_zoo
from articulus.browser.desk import Desk
from articulus.browser.packing import unpack
from articulus.errors import InputError, UnsupportedOperation
from articulus.linear import LinearModel
from articulus.simulation.loop.components import PD

MASS, KP, KD = 2.0, 30.0, 4.0


def slider() -> art.Mechanism:
    """Return a mass on a level slide: q'' = u / m."""
    m = art.Mechanism("slider")
    m.body("mass", art.Parameter("mass", MASS), (0, 0, 0), (0.1, 0.1, 0.1))
    return m.joint("x", art.Prismatic((1, 0, 0)), "ground", "mass")


def servo(period: float | None = None) -> PD:
    return PD(art.Parameter("kp", KP), art.Parameter("kd", KD), target=1.0, period=period)


@pytest.fixture(scope="module")
def desk() -> Desk:
    run = art.simulate(slider(), 5.0, controller=servo(), step=1e-2)
    return Desk(run, {"mass": (1.0, 3.0)})


def poles(entries: list[dict[str, Any]]) -> np.ndarray:
    return np.sort_complex([p["re"] + 1j * p["im"] for p in entries])


def test_what_the_page_is_told(desk: Desk) -> None:
    told = desk.describe()
    json.dumps(told, allow_nan=False)
    assert told["parameters"] == [
        {"name": "mass", "value": MASS, "default": MASS, "low": 1.0, "high": 3.0},
        {"name": "kp", "value": KP, "default": KP, "low": KP / 4, "high": 4 * KP},
        {"name": "kd", "value": KD, "default": KD, "low": KD / 4, "high": 4 * KD},
    ]
    assert told["span"] == [0.0, 5.0]
    assert told["inputs"] == [{"name": "tau.x", "unit": "N"}]
    assert {"name": "v.x", "unit": "m/s"} in told["outputs"]
    assert (told["input"], told["output"], told["linear"]) == ("tau.x", "q.x", None)


@pytest.mark.parametrize(("value", "low", "high"), [(-2.0, -8.0, 8.0), (0.0, -1.0, 1.0), (0.5, 0.125, 2.0)])
def test_ranges_without_being_told(value: float, low: float, high: float) -> None:
    law = PD(KP, KD, target=art.Parameter("goal", value))
    told = Desk(art.simulate(slider(), 0.1, controller=law)).describe()["parameters"][1]
    assert (told["name"], told["low"], told["high"]) == ("goal", low, high)


def test_the_answer_is_the_loop_of_the_equation(desk: Desk) -> None:
    """m s^2 + kd s + kp: poles, damping, and the response 1 / (kp - m w^2 + j kd w)."""
    kp, kd = 50.0, 6.0
    answer = desk.design({"kp": kp, "kd": kd})
    json.dumps(answer, allow_nan=False)
    assert answer["values"] == {"mass": MASS, "kp": kp, "kd": kd}
    assert answer["failure"] is None
    loop = answer["loop"]
    np.testing.assert_allclose(poles(loop["poles"]), np.sort_complex(np.roots([MASS, kd, kp])), rtol=1e-12)
    for pole in loop["poles"]:
        assert pole["omega"] == pytest.approx(np.sqrt(kp / MASS))
        assert pole["zeta"] == pytest.approx(kd / (2 * np.sqrt(kp * MASS)))
    response = loop["response"]
    s = 1j * np.array(response["omega"])
    expected = 1 / (MASS * s**2 + kd * s + kp)
    np.testing.assert_allclose(response["magnitude"], np.abs(expected), rtol=1e-9)
    np.testing.assert_allclose(response["phase"], np.degrees(np.angle(expected)), atol=1e-7)
    assert (response["unit"], loop["t"], loop["period"], loop["states"]) == ("m/N", 5.0, None, 2)
    assert s[0].imag < np.sqrt(kp / MASS) < s[-1].imag


def test_the_motion_is_that_of_the_new_values(desk: Desk) -> None:
    """The step response overshoots by exp(-pi zeta / sqrt(1 - zeta^2)); single precision and the samples allow 1e-4."""
    answer = desk.design({"kd": 2.0})
    signal = next(s for s in answer["run"]["signals"] if s["name"] == "q")
    zeta = 2.0 / (2 * np.sqrt(KP * MASS))
    peak = 1 + np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2))
    assert unpack(signal["values"]).max() == pytest.approx(peak, abs=1e-4)
    assert answer["run"]["status"] == "complete"


def test_a_family_is_a_root_locus_with_its_motions(desk: Desk) -> None:
    answer = desk.design({"kd": 3.0}, vary="mass")
    json.dumps(answer, allow_nan=False)
    family = answer["family"]
    assert (family["name"], family["failure"], family["labels"]) == ("mass", None, ["x"])
    masses = [line["value"] for line in family["lines"]]
    np.testing.assert_allclose(masses, np.geomspace(1.0, 3.0, 8))
    for mass, line in zip(masses, family["lines"]):
        assert line["failure"] is None
        np.testing.assert_allclose(
            poles(line["poles"]), np.sort_complex(np.roots([mass, 3.0, KP])), rtol=1e-12
        )
        single = desk.run.again({"kd": 3.0, "mass": mass})
        at = np.searchsorted(single.t, unpack(line["t"])[:, 0] - 1e-4)
        np.testing.assert_allclose(unpack(line["q"])[:, 0], single.q[at, 0], atol=1e-6)


def test_another_pair_at_another_time(desk: Desk) -> None:
    answer = desk.design({}, at=2.004, output="v.x")
    response = answer["loop"]["response"]
    assert answer["loop"]["t"] == pytest.approx(2.0)
    s = 1j * np.array(response["omega"])
    np.testing.assert_allclose(response["magnitude"], np.abs(s / (MASS * s**2 + KD * s + KP)), rtol=1e-9)


def test_a_sampled_loop_ends_at_its_highest_frequency() -> None:
    desk = Desk(art.simulate(slider(), 1.0, controller=servo(0.05), step=1e-2))
    loop = desk.design({})["loop"]
    assert loop["period"] == pytest.approx(0.05)
    assert loop["response"]["omega"][-1] == pytest.approx(np.pi / 0.05)
    assert max(abs(p["im"]) for p in loop["poles"]) <= np.pi / 0.05


def test_a_pole_on_the_axis_is_no_number() -> None:
    """An undamped mass on a spring: the response at its own frequency is beyond all numbers, or enormous by rounding."""
    desk = Desk(art.simulate(slider(), 0.1, controller=PD(art.Parameter("kp", 8.0), 0.0)))
    answer = desk.design({})
    json.dumps(answer, allow_nan=False)
    response = answer["loop"]["response"]
    at = int(np.argmin(np.abs(np.array(response["omega"]) - 2.0)))
    magnitude = response["magnitude"][at]
    assert magnitude is None or magnitude > 1e12


def test_a_failed_run_says_why() -> None:
    desk = Desk(art.simulate(slider(), 1.0, q0=[0.5], controller=servo(), step=1e-2), {"kd": (0.0, 1e5)})
    answer = desk.design({"kd": 1e5}, vary="kd")
    json.dumps(answer, allow_nan=False)
    assert "failed at t = " in answer["failure"]
    assert answer["run"]["status"] == "failed"
    assert answer["loop"] is None
    assert answer["family"] is None
    lines = desk.design({}, vary="kd")["family"]["lines"]
    assert lines[0]["failure"] is None
    assert "failed at t = " in lines[-1]["failure"]
    assert lines[-1]["poles"] == []


def test_a_python_controller_has_motion_but_no_model() -> None:
    run = art.simulate(slider(), 0.1, controller=lambda t, q, v: -KP * q - KD * v)
    desk = Desk(run)
    told = desk.describe()
    assert "has no derivatives" in told["linear"]
    assert (told["inputs"], told["outputs"], told["input"]) == ([], [], "")
    answer = desk.design({"mass": 3.0}, vary="mass")
    assert answer["run"]["status"] == "complete"
    assert "has no derivatives" in answer["loop"]["failure"]
    assert "was written for one run" in answer["family"]["failure"]


def test_what_rounding_leaves_of_a_pole_at_the_origin_is_not_unstable(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = np.array([0.0, 9e-17, -2.0 + 1.0j, -2.0 - 1.0j, -np.inf])
    monkeypatch.setattr(LinearModel, "poles", property(lambda model: found))
    answered = desk.design({})["loop"]["poles"]
    origin = {"re": 0.0, "im": 0.0, "omega": 0.0, "zeta": None}
    assert answered[:2] == [origin, origin]
    assert [p["re"] for p in answered[2:]] == [-2.0, -2.0]


def test_nothing_to_push_has_poles_but_no_response() -> None:
    """A clamped flexible body: modes and no joint that moves."""
    m = art.Mechanism("clamped", gravity=(0, 0, art.Parameter("g", -9.81)))
    m.flexible("beam", flexible_zoo.random_modes(np.random.default_rng(0), 2))
    m.joint("clamp", art.Fixed(), "ground", "beam")
    desk = Desk(art.simulate(m, 0.01))
    assert (desk.describe()["inputs"], desk.describe()["input"]) == ([], "")
    answer = desk.design({"g": -5.0})
    assert answer["run"] is not None
    assert len(answer["loop"]["poles"]) == 4
    assert answer["loop"]["response"] is None


def test_margins_are_those_of_the_equation(desk: Desk) -> None:
    """L = (kp + kd s) / (m s^2): |L| = 1 at w^4 m^2 = kp^2 + kd^2 w^2, phase margin atan(kd w / kp), any gain."""
    kp, kd = 50.0, 6.0
    answer = desk.margins({"kp": kp, "kd": kd})
    json.dumps(answer, allow_nan=False)
    (channel,) = answer["channels"]
    w = np.sqrt((kd**2 + np.sqrt(kd**4 + 4 * MASS**2 * kp**2)) / (2 * MASS**2))
    phase = np.arctan(kd * w / kp)
    assert (channel["name"], channel["gain_up"], answer["failure"], answer["all"]) == ("x", None, None, None)
    assert channel["phase"] == pytest.approx(np.degrees(phase), rel=1e-9)
    assert channel["omega"] == pytest.approx(w, rel=1e-9)
    assert channel["delay"] == pytest.approx(phase / w, rel=1e-9)
    (pole,) = answer["poles"]
    assert pole["zeta"] == pytest.approx(kd / (2 * np.sqrt(kp * MASS)))
    assert desk.margins({"kp": kp}, at=0.3)["note"].startswith("the mechanism moves at this time")


def test_margins_that_are_not_defined_say_why() -> None:
    free = Desk(art.simulate(slider(), 0.1))
    assert not free.margins({})["controlled"]
    fast = art.simulate(slider(), 0.2, controller=servo(period=0.05), step=1e-2)
    found = Desk(fast).margins({"kd": 100.0})  # beyond 2 m / T = 80
    assert "not asymptotically stable" in found["failure"]
    assert found["channels"] == []
    stable = Desk(fast).margins({})["channels"][0]
    assert 1.0 < stable["gain_up"] < 30.0
    outside = Desk(art.simulate(slider(), 0.1, controller=lambda t, q, v: -v))
    assert "no derivatives" in outside.margins({})["failure"]


def test_messages(desk: Desk) -> None:
    run = desk.run
    with pytest.raises(InputError, match="no parameter 'mas'; did you mean 'mass'"):
        desk.design({"mas": 1.0})
    with pytest.raises(InputError, match="no parameter 'k'"):
        desk.design({}, vary="k")
    with pytest.raises(InputError, match="no parameter 'k'"):
        Desk(run, {"k": (0, 1)})
    with pytest.raises(InputError, match="expected two numbers, low < high"):
        Desk(run, {"kp": (2, 1)})
    with pytest.raises(InputError, match="'kp' = nan; expected a finite number"):
        desk.design({"kp": float("nan")})
    with pytest.raises(InputError, match=r"no signal 'q\.y'; did you mean 'q\.x'"):
        desk.design({}, output="q.y")
    with pytest.raises(InputError, match="found a batch of 2 runs"):
        Desk(run.again({"kp": np.array([1.0, 2.0])}))
    by_hand = art.Run(run.mechanism, run.t, run.signals)
    with pytest.raises(UnsupportedOperation, match="put together by hand"):
        Desk(by_hand)
