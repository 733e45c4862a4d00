"""Controllers designed on the page of a run, against a pendulum and a mass on a slide whose equations are written by hand."""

from __future__ import annotations

import json
import runpy
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.browser.packing import unpack
from articulus.errors import DoubtfulResult, InputError
from articulus.study.linear.desk import FORMS, ControlDesk

INERTIA, WEIGHT = 1 / 3, 9.81 / 2  # slender rod of 1 m and 1 kg about its end; m g l/2
LQG = {"Q": "{q = 100, v = 1}", "R": "0.01", "W": "0.001", "V": "1e-6"}


def pd_run() -> Any:
    rod = art.load("pendulum_chain", n=1)
    law = art.components.PD(art.Parameter("kp", 30.0), art.Parameter("kd", 1.0))
    return art.simulate(rod, 2.0, q0=[1.0], controller=law, step=1e-3, sample=0.01)


@pytest.fixture(scope="module")
def desk() -> ControlDesk:
    return ControlDesk(pd_run())


def stiffness(desk: ControlDesk) -> float:
    """Return that of gravity about the last position [N m/rad]."""
    return float(WEIGHT * np.cos(desk.run.q[-1, 0]))


def form(method: str, period: str = "", **arguments: str) -> dict[str, Any]:
    given = FORMS[method][1] | {"Q": LQG["Q"]} | arguments
    known = {key: value for key, value in given.items() if key in FORMS[method][1]}
    return {"method": method, "arguments": known, "measured": ["q.hinge1"], "period": period}


def designed(desk: ControlDesk, *arguments: Any, **more: Any) -> dict[str, Any]:
    answer = desk.design(form(*arguments, **more))
    json.dumps(answer, allow_nan=False)
    assert answer["failure"] is None, answer["failure"]
    return answer


def matrices(answer: dict[str, Any]) -> list[np.ndarray]:
    """Return A, B, C, D of the controller u = K y in the file."""
    table = tomllib.loads(answer["toml"])
    n = len(table.get("A", []))
    shapes = {"A": (0, 0), "B": (0, len(table["measured"])), "C": (1, 0)}
    return [np.array(table[key]) if n or key == "D" else np.zeros(shapes[key]) for key in "ABCD"]


def loop(desk: ControlDesk, answer: dict[str, Any], s: np.ndarray) -> np.ndarray:
    """Return L = -K P at places s, P = 1 / (I s^2 + k)."""
    A, B, C, D = matrices(answer)
    K = np.array([(C @ np.linalg.solve(x * np.eye(len(A)) - A, B) + D)[0, 0] for x in s])
    return -K / (INERTIA * s**2 + stiffness(desk))


def test_what_the_page_is_told(desk: ControlDesk) -> None:
    told, plant = desk.describe(), desk.plant(None)
    json.dumps([told, plant], allow_nan=False)
    assert told["refused"] is None
    assert {m["name"] for m in told["methods"]} >= {"lqr", "lqg", "mixsyn", "pidtune", "fixed_order"}
    assert plant["commands"] == [{"name": "tau.hinge1", "unit": "N m"}]
    assert plant["measured"] == ["q.hinge1"]
    assert plant["t"] == 2.0
    omega = np.sqrt(stiffness(desk) / INERTIA)
    np.testing.assert_allclose([p["omega"] for p in plant["poles"]], omega, rtol=1e-7)
    pairs = plant["pairs"]
    w = np.array(pairs["omega"])
    shown = np.array([x if x is not None else np.nan for x in pairs["magnitude"][0][0]])
    off = np.abs(w / omega - 1) > 1e-2
    np.testing.assert_allclose(shown[off], 1 / np.abs(stiffness(desk) - INERTIA * w[off] ** 2), rtol=1e-5)


def test_margins_stand_where_they_were_asked_for(desk: ControlDesk) -> None:
    answer = designed(desk, "pidtune", crossover="12", phase_margin="50")
    channel = answer["curves"]["channels"][0]
    assert channel["marks"]["omega_phase"] == pytest.approx(12.0, rel=1e-6)
    assert channel["marks"]["phase"] == pytest.approx(50.0, abs=1e-4)
    expected = loop(desk, answer, 1j * np.array(channel["omega"]))
    np.testing.assert_allclose(channel["magnitude"], np.abs(expected), rtol=1e-5)
    turn = np.radians(channel["phase"]) - np.angle(expected)
    np.testing.assert_allclose(np.exp(1j * turn), 1.0, atol=1e-5)


@pytest.mark.parametrize("method", ["lqg", "mixsyn", "fixed_order"])
def test_singular_values_steps_and_loci_are_those_of_the_loop(desk: ControlDesk, method: str) -> None:
    answer = designed(desk, method, starts="2")
    curves = answer["curves"]
    assert curves["stable"]
    values = curves["values"]
    L = loop(desk, answer, 1j * np.array(values["omega"]))
    away = (
        np.abs(np.array(values["omega"]) / np.sqrt(stiffness(desk) / INERTIA) - 1) > 1e-2
    )  # from the undamped pole
    np.testing.assert_allclose(np.array(values["loop"][0])[away], np.abs(L)[away], rtol=1e-4)
    np.testing.assert_allclose(values["sensitivity"][0], np.abs(1 / (1 + L)), rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(values["complementary"][0], np.abs(L / (1 + L)), rtol=1e-4)
    steps = curves["steps"]
    rest = loop(desk, answer, np.zeros(1, dtype=complex))[0]  # the response settles at its value at rest
    end = steps["values"][0][0][-1]
    assert end == pytest.approx(
        (rest / (1 + rest)).real, abs=0.03
    )  # after five time constants: e^-5 and some swing
    loci = curves["loci"]
    omega = np.array(loci["omega"])
    inside = (omega > 0.1) & (np.abs(omega / np.sqrt(stiffness(desk) / INERTIA) - 1) > 1e-2)
    at = np.array(loci["re"][0])[inside] + 1j * np.array(loci["im"][0])[inside]
    np.testing.assert_allclose(at, loop(desk, answer, 1j * omega[inside]), rtol=1e-3, atol=1e-9)


def test_the_root_locus_solves_the_equation_at_every_gain(desk: ControlDesk) -> None:
    """State feedback: I s^2 + k + g (k1 + k2 s) = 0."""
    answer = designed(desk, "place", poles="[[-3, 3]]")
    np.testing.assert_allclose(sorted(p["im"] for p in answer["curves"]["poles"]), [-3.0, 3.0], rtol=1e-6)
    k1, k2 = -matrices(answer)[3][0]
    locus = answer["curves"]["locus"]
    gain = np.array(locus["gain"])
    assert (np.diff(gain) > 0).all()
    for re, im in zip(locus["re"], locus["im"]):
        s = np.array(re) + 1j * np.array(im)
        sizes = INERTIA * np.abs(s) ** 2 + stiffness(desk) + gain * (abs(k1) + abs(k2 * s))
        assert np.abs(INERTIA * s**2 + stiffness(desk) + gain * (k1 + k2 * s)).max() < 1e-5 * sizes.max()
        assert (np.abs(np.diff(s)) < 0.5 * (np.abs(s[:-1]) + np.abs(s[1:]))).all(), "a path leaps"
    assert locus["zeros"][0]["re"] == pytest.approx(-k1 / k2, rel=1e-6)


def test_mu_of_one_command_is_its_complementary_sensitivity(desk: ControlDesk) -> None:
    answer = designed(desk, "lqg")
    found = desk.robustness(answer["number"], 30.0)
    L = loop(desk, answer, 1j * np.array(found["omega"]))
    np.testing.assert_allclose(found["upper"], 0.3 * np.abs(L / (1 + L)), rtol=1e-3)
    worst = found["worst"][0]
    factor = worst["gain"] * np.exp(1j * np.radians(worst["phase"]))
    at = loop(desk, answer, np.array([1j * found["at"]]))[0]
    assert abs(1 + factor * at) < 1e-6, "the worst factor brings the loop to -1"
    assert found["size"] == pytest.approx(abs(factor - 1) / 0.3, rel=1e-6)
    with pytest.raises(InputError, match="above 0"):
        desk.robustness(answer["number"], -1.0)
    with pytest.raises(InputError, match="design it again"):
        desk.robustness(10_000, 20.0)


def slide() -> art.Mechanism:
    m = art.Mechanism("slide")
    m.body("mass", art.Parameter("mass", 2.0), (0, 0, 0), (0.1, 0.1, 0.1))
    return m.joint("x", art.Prismatic((1, 0, 0)), "ground", "mass")


def test_mu_over_a_parameter_ends_where_the_loop_becomes_unstable() -> None:
    """A pendulum that stands on its head, with gains k1, k2: it falls where m g h = k1."""
    m = art.Mechanism("stand")
    m.body("bob", art.Parameter("mass", 2.0), (0, 0, 0.5), (0.1, 0.1, 0.1))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob")
    run = art.simulate(m, 0.1, controller=art.components.PD(30.0, 4.0), step=1e-2)
    desk = ControlDesk(run)
    assert desk.describe()["parameters"] == ["mass"]
    answer = desk.design(
        {"method": "place", "arguments": {"poles": "[[-2.5, 2.5]]"}, "measured": ["q.hinge"]}
    )
    assert answer["failure"] is None
    found = desk.robustness(answer["number"], 40.0, ["mass"])
    worst = found["worst"][0]
    assert (worst["name"], worst["low"], worst["high"]) == ("mass", pytest.approx(1.2), pytest.approx(2.8))
    assert worst["value"] == pytest.approx(-matrices(answer)[3][0, 0] / (9.81 * 0.5), rel=1e-5)
    with pytest.raises(InputError, match="no parameter 'length'"):
        desk.robustness(answer["number"], 40.0, ["length"])


@pytest.mark.parametrize(
    ("method", "period"), [("pidtune", ""), ("lqg", "0.01"), ("mixsyn", ""), ("fixed_order", "")]
)
def test_python_toml_and_run_are_the_same_controller(
    desk: ControlDesk, tmp_path: Path, method: str, period: str
) -> None:
    answer = designed(desk, method, period, starts="2")
    (tmp_path / "got.py").write_text(answer["python"])
    names = runpy.run_path(str(tmp_path / "got.py"))
    warnings.simplefilter("ignore", DoubtfulResult)  # mixsyn: the page told it among its notes
    rod = art.load("pendulum_chain", n=1)
    component = names["controller"](art.Loop(rod), desk.run.q[-1])
    for mine, theirs in zip([component.A, component.B, component.C, component.D], matrices(answer)):
        np.testing.assert_array_equal(np.array(mine), theirs)
    run = art.simulate(rod, 2.0, q0=[1.0], controller=component, step=1e-3, sample=0.01)
    signal = next(s for s in answer["run"]["signals"] if s["name"] == "q")
    shown = unpack(signal["values"])[:, 0]
    assert shown[-1] == pytest.approx(float(run.q[-1, 0]), abs=1e-6)  # single precision
    assert answer["curves"]["period"] == (float(period) if period else None)


def test_several_commands_at_once() -> None:
    """The return difference of an LQR is never below one (R = I): S at most 1, and 60 degrees at each command (Safonov & Athans 1977)."""
    arm = art.load("puma600")
    run = art.simulate(arm, 0.1, q0=[0, -0.8, 1.6, 0, 0, 0], step=1e-3)
    desk = ControlDesk(run)
    measured = desk.plant(0.0)["measured"]
    answer = desk.design(
        {"method": "lqr", "arguments": {"Q": LQG["Q"], "R": "0.01"}, "measured": measured, "at": 0.0}
    )
    curves = answer["curves"]
    assert max(curves["values"]["sensitivity"][0]) <= 1 + 1e-6
    assert min(c["marks"]["phase"] for c in curves["channels"]) >= 60.0
    assert len(curves["values"]["loop"]) == len(curves["loci"]["re"]) == 6
    singular = np.array(curves["values"]["loop"])
    assert (np.diff(singular, axis=0) <= 0).all()


@pytest.mark.parametrize(
    ("method", "arguments", "key", "text"),
    [
        ("lqr", {"Q": "q = 1"}, "Q", "expected a number"),
        ("lqr", {"Q": ""}, "Q", "found nothing"),
        ("lqr", {"Q": "{wrong = 1}"}, "Q", "found nothing named 'wrong'"),
        ("lqr", {"R": "{file = '/etc/passwd'}"}, "R", "expected numbers"),
        ("lqr", {"R": "1\n[other]\nx = 1"}, "R", ""),
        ("pidtune", {"crossover": "[1]"}, "crossover", "expected"),
        ("fixed_order", {"order": "1.5"}, "order", "expected"),
    ],
)
def test_mistakes_stand_at_their_field(desk: ControlDesk, method: str, arguments: dict[str, str], key: str, text: str) -> None:  # fmt: skip
    answer = desk.design(form(method, **arguments))
    if text:
        assert answer["findings"][0]["key"] == key
        assert text in answer["findings"][0]["text"]
        assert answer["curves"] is None


def test_other_mistakes_are_told(desk: ControlDesk) -> None:
    assert "expected lqr" in desk.design({**form("lqr"), "method": "magic"})["failure"]
    assert "measured" in desk.design({**form("lqr"), "measured": []})["failure"]
    assert "period" in desk.design(form("lqr", "-1"))["failure"]
    assert "crossover" in desk.design(form("pidtune", crossover="1e6", phase_margin="170"))["failure"]


def test_a_run_with_a_python_controller_has_a_plant_all_the_same() -> None:
    run = art.simulate(slide(), 0.2, controller=lambda t, q, v: -5 * q - v, step=0.01)
    assert ControlDesk(run).plant(None)["commands"] == [{"name": "tau.x", "unit": "N"}]


@pytest.mark.parametrize(
    "message",
    [
        {"do": "control", "form": {"method": "lqr"}},
        {"do": "control", "form": {"method": 1, "arguments": {}}},
        {"do": "control", "form": {"method": "lqr", "arguments": {"Q": 1}}},
        {"do": "control", "form": {"method": "lqr", "arguments": {}, "measured": "q"}},
        {"do": "control", "form": {"method": "lqr", "arguments": {}, "at": "soon"}},
        {"do": "plant", "at": "soon"},
        {"do": "mu", "number": 1, "percent": "many", "parameters": []},
        {"do": "mu", "number": 1, "percent": 20, "parameters": [1]},
    ],
)
def test_messages_without_sense_are_refused(message: dict[str, Any]) -> None:
    from articulus.browser.viewer.session import ViewerSession
    from articulus.browser.web import MessageError

    session = ViewerSession(pd_run())
    with pytest.raises(MessageError):
        session.answer(message)


def test_runs_beside_each_other_have_no_form() -> None:
    from articulus.browser.viewer.session import ViewerSession

    assert ViewerSession([pd_run(), pd_run()]).control is None
