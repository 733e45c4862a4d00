"""Pages of orbits: numbers against closed forms, and the page as a person uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus import spacecraft as sc
from articulus.browser.orbit import Track, described, elements, export_orbit, tracks_of
from articulus.browser.packing import unpack
from articulus.errors import InputError

from .browser import kept, opened
from .test_accessible_browser import violations

EPOCH = "2025-03-20T12:00:00Z"


def flight(orbit: sc.Orbit, duration: float = 12000.0, epoch: str | None = EPOCH) -> sc.OrbitRun:
    state = orbit.state()
    return sc.propagate(state.position, state.velocity, duration, step=10.0, samples=400, epoch=epoch)


def test_elements_are_those_of_the_orbit() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        e = rng.uniform(0.01, 0.7)
        orbit = sc.Orbit(
            rng.uniform(6.7e6, 2e7) / (1 - e), e, rng.uniform(0.1, 3.0), *rng.uniform(0.1, 6.0, 3)
        )
        run = flight(orbit, 4000.0)
        r, v = run.position, run.velocity
        found = elements(r, v, sc.EARTH.mu)
        expected = [
            orbit.semi_major_axis / 1e3,
            orbit.eccentricity,
            np.degrees(orbit.inclination),
            np.degrees(orbit.ascending_node),
        ]
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-6)


def test_a_circle_over_the_equator_goes_around_at_its_rate_less_the_planet_s() -> None:
    """Longitude grows by n - w; light is lost behind the Earth, near an equinox for asin(R / r) / pi of the time."""
    radius = 7.0e6
    orbit = sc.Orbit(radius, 0.0, 0.0)
    told = described(tracks_of(flight(orbit))[0], sc.Epoch.of(EPOCH), sc.EARTH)
    t, place, light = unpack(told["t"])[:, 0], unpack(told["place"]), unpack(told["light"])[:, 0]
    longitude = np.unwrap(np.radians(place[:, 1]))
    rate = np.sqrt(sc.EARTH.mu / radius**3) - sc.EARTH.rotation
    np.testing.assert_allclose(longitude - longitude[0], rate * t, atol=1e-4)
    np.testing.assert_allclose(place[:, 0], 0.0, atol=1e-6)
    np.testing.assert_allclose(place[:, 2], (radius - sc.EARTH.radius) / 1e3, rtol=1e-4)
    assert 1 - light[t <= 2 * orbit.period].mean() == pytest.approx(
        np.arcsin(sc.EARTH.radius / radius) / np.pi, abs=0.01
    )  # samples and half-shadow
    assert place[0, 1] == pytest.approx(
        ((-np.degrees(sc.Epoch.of(EPOCH).sidereal_angle) + 180) % 360) - 180, abs=1e-4
    )


def test_runs_batches_and_what_is_none() -> None:
    craft = art.Mechanism("craft", gravity=(0, 0, 0))
    craft.body("hub", 20.0, inertia=(0.4, 0.35, 0.25))
    craft.joint("hub", art.Free(), "ground", "hub")
    state = sc.Orbit(7e6, 0.01, 1.0).state()
    loop = art.Loop(craft, components=[art.components.CentralGravity()])
    run = loop.simulate(
        600.0, [1, 0, 0, 0, *state.position], [0, 0, 0, *state.velocity], step=1.0, sample=10.0
    )
    (track,) = tracks_of({"craft": run})
    np.testing.assert_allclose(track.velocity[0], state.velocity, rtol=1e-12)
    np.testing.assert_allclose(elements(track.position, track.velocity, sc.EARTH.mu)[:, 0], 7e3, rtol=1e-6)
    many = sc.propagate(np.tile(state.position, (3, 1)), np.tile(state.velocity, (3, 1)), 600.0, step=10.0)
    assert [t.name for t in tracks_of({"three": many})] == ["three 1", "three 2", "three 3"]
    with pytest.raises(InputError, match="expected an OrbitRun or a Run"):
        tracks_of({"wrong": 7})
    with pytest.raises(InputError, match="no flights"):
        tracks_of({})
    away = Track("away", np.zeros(1), state.position[None], 2 * state.velocity[None])
    assert np.isnan(unpack(described(away, None, sc.EARTH)["elements"])[0, 0]), "no ellipse"


def test_the_page_plays_and_tells_where_everything_is(browser: Any, tmp_path: Path) -> None:
    low = flight(sc.Orbit(6.878e6, 0.001, np.radians(97.4)))
    high = flight(sc.Orbit(2.66e7, 0.6, np.radians(63.4)))
    export_orbit({"<b>low</b>": low, "high": high}, tmp_path / "o.html", title="Two & more")
    with opened(browser, tmp_path / "o.html") as page:
        assert page.inner_text("h1") == "Two & more"
        assert page.locator("#names li").all_inner_texts() == ["<b>low</b>", "high"]
        page.evaluate("articulus.orbits.seek(6000)")
        assert "2025-03-20 13:40:00 UTC" in page.inner_text("#now")
        place = unpack(described(tracks_of(low)[0], sc.Epoch.of(EPOCH), sc.EARTH)["place"])
        k = int(np.argmin(np.abs(low.t - 6000.0)))
        row = page.locator("#state tbody tr").first.inner_text()
        assert f"{place[k, 0]:.2f}°" in row
        assert f"{place[k, 2]:.1f} km" in row
        assert ("Sun" in row) or ("shadow" in row)
        page.locator("#play").click()
        page.wait_for_function("() => articulus.orbits.time !== 6000")
        page.locator("#play").click()
        assert not page.evaluate("articulus.orbits.playing")
        kept(page, "orbits")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_can_be_used_by_everybody(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    export_orbit(flight(sc.Orbit(7e6, 0.01, 1.0), epoch=None), tmp_path / "o.html")
    with opened(browser, tmp_path / "o.html", color_scheme=scheme) as page:
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page) == []
        assert "UTC" not in page.inner_text("#now")
