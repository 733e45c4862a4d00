"""The design desk in a real browser, against a pendulum whose equations are written by hand."""

from __future__ import annotations

from typing import Any

import matplotlib.image
import numpy as np
import pytest
from scipy.integrate import solve_ivp

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

import articulus as art
from articulus.simulation.results import Run

from ..browser import kept
from .served import looked_at

INERTIA, WEIGHT = 1 / 3, 9.81 / 2  # slender rod of 1 m and 1 kg about its end; m g l/2
KP, KD, START = 30.0, 1.0, 1.0
POINT = 5e-6
"""Positions in float32, over the error of the run's steps of 1 ms [m]."""


def pd_run() -> Run:
    gains = art.Parameter("kp", KP), art.Parameter("kd", KD)
    rod, controller = art.load("pendulum_chain", n=1), art.components.PD(*gains)
    return art.simulate(rod, 2.0, q0=[START], controller=controller, step=1e-3, sample=0.01)


# by hand: I a'' = -m g l/2 sin a - kp a - kd a'


def angle(kp: float, t: float, kd: float = KD) -> float:
    """Return the angle at a time [rad]."""

    def rate(_: float, x: np.ndarray) -> list[float]:
        return [x[1], -(WEIGHT * np.sin(x[0]) + kp * x[0] + kd * x[1]) / INERTIA]

    return float(solve_ivp(rate, (0, t), [START, 0.0], rtol=1e-10, atol=1e-12).y[0, -1])


def tip(a: float) -> list[float]:
    """Return where the end of the rod is, by a turn about y [m]."""
    return [-np.sin(a), 0.0, -np.cos(a)]


def polynomial(kp: float, a: float) -> list[float]:
    """Return the characteristic polynomial about an angle."""
    return [INERTIA, KD, kp + WEIGHT * np.cos(a)]


def same_poles(found: np.ndarray, kp: float, a: float) -> None:
    expected = np.sort_complex(np.roots(polynomial(kp, a)))
    np.testing.assert_allclose(np.sort_complex(found), expected, rtol=1e-6)


# the page


def until(page: Any, condition: str, argument: Any = None) -> None:
    page.wait_for_function(condition, arg=argument)


def settled(page: Any) -> None:
    """Wait until the answer to what the sliders say is drawn."""
    until(
        page,
        "() => { const d = articulus.live.desk; return d.drawn && JSON.stringify(d.drawn.values) === JSON.stringify(d.values); }",
    )


def open_desk(page: Any) -> None:
    page.get_by_role("tab", name="Design").click()
    settled(page)


def slide(page: Any, name: str, share: float) -> float:
    """Move a slider to a part of its way and return the value that its field then shows."""
    page.evaluate(
        "([name, share]) => { const s = document.querySelector(`.knob input[type=range][aria-label='${name}']`);"
        "s.value = Number(s.min) + share * (s.max - s.min); s.dispatchEvent(new Event('input')); }",
        [name, share],
    )
    settled(page)
    return float(page.input_value(f"[aria-label='Value of {name}']"))


def write(page: Any, name: str, text: str) -> None:
    """Type a value into a field."""
    field = page.get_by_label(f"Value of {name}")
    field.click()
    field.press("Control+a")
    field.press_sequentially(text)
    field.press("Enter")


def tip_at(page: Any, t: float) -> list[float]:
    """Return where the tip is shown at a time, also while it plays, (3,) [m]."""
    return page.evaluate(
        "t => { articulus.player.seek(t); return articulus.player.tracks[0].view.position('tip').toArray(); }",
        t,
    )


def poles(page: Any, which: str = "poles") -> np.ndarray:
    """Return the poles that the map shows [rad/s]."""
    found = page.evaluate("which => articulus.live.desk.poles.data[which]", which)
    return np.array([complex(p["re"], p["im"]) for p in found])


def until_phase_margin(page: Any, kp: float) -> None:
    """Wait until the table shows that of L = (kp + kd s) / (I s^2 + m g l/2 cos a), three digits of it."""
    weight = WEIGHT * np.cos(angle(kp, 2.0))
    squares = np.roots([INERTIA**2, -(2 * INERTIA * weight + KD**2), weight**2 - kp**2])
    degrees = np.degrees(np.arctan(KD * np.sqrt(squares.max()) / kp))
    until(
        page,
        "text => document.querySelector('#chart-margins tbody tr td:nth-of-type(2)')?.textContent === text",
        f"{degrees:.3g}°",
    )


def contrast(page: Any, name: str) -> list[float]:
    """Return how much the pixels of each open chart differ, from a screenshot that is kept."""
    out = []
    for canvas in page.locator("#charts canvas:visible").all():
        canvas.scroll_into_view_if_needed()
        picture = matplotlib.image.imread(kept(page, name))[..., :3]
        box = canvas.bounding_box()
        x, y, w, h = (round(box[k]) for k in ("x", "y", "width", "height"))
        out.append(float(picture[y : y + h, x : x + w].reshape(-1, 3).std(axis=0).max()))
    return out


def test_a_slider_changes_motion_poles_and_response(browser: Any) -> None:
    with looked_at(browser, pd_run()) as (page, _):
        assert page.locator("#charts").is_hidden()
        open_desk(page)
        np.testing.assert_allclose(tip_at(page, 0.5), tip(angle(KP, 0.5)), atol=POINT)
        same_poles(poles(page), KP, angle(KP, 2.0))
        until_phase_margin(page, KP)
        assert page.evaluate("articulus.player.tracks.length") == 1, "nothing is changed yet"

        kp = slide(page, "kp", 0.8)
        assert kp > 2 * KP
        np.testing.assert_allclose(tip_at(page, 0.5), tip(angle(kp, 0.5)), atol=POINT)
        assert page.evaluate("articulus.player.tracks.map(t => t.name)") == ["design", "as run"]
        same_poles(poles(page), kp, angle(kp, 2.0))
        same_poles(poles(page, "reference"), KP, angle(KP, 2.0))
        _check_response(page, kp)
        until_phase_margin(page, kp)

        page.select_option("#design-at", "cursor")
        for t in (0.1, 0.25):
            page.evaluate("t => articulus.player.seek(t)", t)
            until(page, "t => articulus.live.desk.drawn.loop.t === t", t)
            same_poles(poles(page), kp, angle(kp, t))


def _check_response(page: Any, kp: float) -> None:
    """Compare the curves with 1 / (I s^2 + kd s + k)."""
    shown = page.evaluate("articulus.live.desk.response.data")
    for curve, gain in ((shown["response"], kp), (shown["reference"], KP)):
        s = 1j * np.array(curve["omega"])
        expected = 1 / np.polyval(polynomial(gain, angle(gain, 2.0)), s)
        np.testing.assert_allclose(curve["magnitude"], np.abs(expected), rtol=1e-6)
        np.testing.assert_allclose(curve["phase"], np.degrees(np.unwrap(np.angle(expected))), atol=1e-4)
    assert (shown["response"]["unit"], shown["response"]["input"]) == ("rad/(N m)", "tau.hinge1")


def test_a_family_is_the_root_locus_and_charts_can_be_read(browser: Any) -> None:
    with looked_at(browser, pd_run()) as (page, _):
        open_desk(page)
        slide(page, "kp", 0.7)
        page.locator("#design-family").check()
        until(page, "() => articulus.live.desk.family.data")
        shown = page.evaluate(
            "articulus.live.desk.family.data.family.lines.map(l => ({ value: l.value, poles: l.poles, q: l.q.values.at(-1) }))"
        )
        assert [line["value"] for line in shown] == sorted(line["value"] for line in shown)
        for line in shown:
            last = angle(line["value"], 2.0)
            same_poles(np.array([complex(p["re"], p["im"]) for p in line["poles"]]), line["value"], last)
            assert line["q"] == pytest.approx(last, abs=POINT)
        differences = contrast(page, "desk")
        assert len(differences) == 3
        assert min(differences) > 0.05, "a chart is blank"
        _point_at_a_pole(page)


def _point_at_a_pole(page: Any) -> None:
    page.locator("#chart-poles canvas").scroll_into_view_if_needed()
    box = page.locator("#chart-poles canvas").bounding_box()
    found = page.evaluate("articulus.live.desk.poles.marks.at(-1)")
    page.mouse.move(box["x"] + found["at"][0], box["y"] + found["at"][1])
    text = page.inner_text("#chart-poles .readout")
    assert f"ζ {found['pole']['zeta']:.4g}" in text
    assert f"ω {found['pole']['omega']:.4g} rad/s" in text


def test_numbers_are_typed_and_taken_back_while_it_plays(browser: Any) -> None:
    with looked_at(browser, pd_run()) as (page, _):
        open_desk(page)
        page.locator("#play").click()
        write(page, "kp", "6.125e-1")
        settled(page)
        assert page.evaluate("articulus.live.desk.drawn.values.kp") == 0.6125
        assert page.evaluate("[articulus.player.playing, articulus.player.speed]") == [True, 1]
        page.locator("#design-reset").click()
        settled(page)
        assert page.input_value("[aria-label='Value of kp']") == "30"
        assert page.evaluate("articulus.player.tracks.length") == 1
        np.testing.assert_allclose(tip_at(page, 0.5), tip(angle(KP, 0.5)), atol=POINT)


def test_a_run_that_fails_says_so_and_the_last_motion_stays(browser: Any) -> None:
    with looked_at(browser, pd_run()) as (page, _):
        open_desk(page)
        kp = slide(page, "kp", 0.6)
        write(page, "kp", "1e9")
        settled(page)
        assert "failed at t" in page.inner_text("#banner")
        assert "failed at t" in page.inner_text("#charts .why")
        assert page.locator("#chart-poles").is_hidden()
        np.testing.assert_allclose(tip_at(page, 0.5), tip(angle(kp, 0.5)), atol=POINT)
        slide(page, "kp", 0.5)
        assert page.locator("#banner").is_hidden()
        assert page.locator("#chart-poles").is_visible()


def test_without_a_linear_model_the_reason_stands_in_place_of_charts(browser: Any) -> None:
    model = art.Mechanism("pendulum")
    model.body("bob", mass=art.Parameter("mass", 2.0), com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    model.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="ground", child="bob")
    run = art.simulate(model, 0.5, q0=[1.0], controller=lambda t, q, v: -5 * q - v, step=0.01)
    with looked_at(browser, run) as (page, _):
        open_desk(page)
        assert "has no derivatives" in page.inner_text("#charts .why")
        assert page.locator("#charts canvas:visible").count() == 0
        before = page.evaluate("articulus.live.q")
        page.evaluate("articulus.player.seek(0.5)")
        slide(page, "mass", 0.9)
        assert not np.allclose(page.evaluate("articulus.live.q"), before)
