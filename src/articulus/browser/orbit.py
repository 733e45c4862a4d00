"""One HTML file that plays orbits: the planet with its night, tracks in space and over ground, altitude and elements over time."""

from __future__ import annotations

import html
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.browser.export import SCRIPTS, asset, hash_of, json_text, policy
from articulus.browser.packing import chosen_rows, pack
from articulus.errors import InputError, UnsupportedOperation
from articulus.model.files.storage import StrPath, write_text
from articulus.simulation.results import Run
from articulus.spacecraft import EARTH, Epoch, OrbitRun, Planet, sun_position, sunlight

ROWS = 4000
"""Most samples of a track."""
MOST = 12
"""Most tracks of a page."""
ORBIT_SCRIPTS = (
    *(name for name in SCRIPTS if name in ("three.min.js", "unpack.js", "elements.js", "numbers.js", "axes.js", "svg_pen.js")),
    "charts.js",
    "response.js",
    "lines.js",
    "orbit.js",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Track:
    """A flight about a planet.

    Parameters
    ----------
    name : str
    t : array, (samples,) [s]
    position, velocity : arrays, (samples, 3) [m], [m/s]
        From the planet's center, in inertial axes.
    """

    name: str
    t: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


def export_orbit(
    what: OrbitRun | Run | Mapping[str, OrbitRun | Run],
    path: StrPath,
    *,
    body: str = "",
    epoch: Epoch | str | None = None,
    title: str = "Orbits",
    planet: Planet = EARTH,
) -> None:
    """Write one self-contained HTML file that plays flights about a planet.

    Parameters
    ----------
    what : OrbitRun, Run, or dict of name to these
        A batch of flights is shown by its first `MOST`. Of a run, the ground frame is inertial with its origin at the planet's center.
    path : path of the file
    body : str
        Whose flight a run shows: a body or frame; the first body if not given.
    epoch : Epoch or str
        Of t = 0, if flights do not know theirs. Without one there is no Sun, and longitudes are counted from the x axis at t = 0.
    title : str
    planet : Planet
    """
    tracks = tracks_of(what, body)
    known = epoch or next(
        (each.epoch for each in _names_of(what).values() if isinstance(each, OrbitRun) and each.epoch), None
    )
    write_text(path, orbit_page(tracks, None if known is None else Epoch.of(known), title, planet))


def tracks_of(what: Any, body: str = "") -> list[Track]:
    """Return the tracks of flights and runs, each finite and above no ground."""
    found = [track for name, each in _names_of(what).items() for track in _tracks(name, each, body)]
    if not found:
        raise InputError("orbit page: found no flights; expected one or more")
    return found[:MOST]


def _names_of(what: Any) -> dict[str, Any]:
    return dict(what) if isinstance(what, Mapping) else {"orbit": what}


def _tracks(name: str, what: Any, body: str) -> list[Track]:
    if isinstance(what, OrbitRun):
        shape = (-1, len(what.t), 3)
        positions, velocities = what.position.reshape(shape), what.velocity.reshape(shape)
        t = what.t
    elif isinstance(what, Run):
        mechanism, t = what.mechanism, what.t
        frame = body or mechanism.description.bodies[0].name
        q, v = (np.reshape(x, (-1, len(t), np.shape(x)[-1])) for x in (what.q, what.v))
        positions = mechanism.pose(frame, q)[..., :3, 3]
        velocities = mechanism.velocity(frame, q, v)[..., 3:]
    else:
        raise InputError(f"orbit page: found {type(what).__name__} '{name}'; expected an OrbitRun or a Run")
    out = []
    for k in range(min(len(positions), MOST)):
        good = np.flatnonzero(np.isfinite(positions[k]).all(axis=1) & np.isfinite(velocities[k]).all(axis=1))
        if not len(good):
            raise InputError(f"orbit page: found no finite sample of '{name}'; expected a flight")
        rows = good[chosen_rows(len(good), 1, ROWS)]
        label = name if len(positions) == 1 else f"{name} {k + 1}"
        out.append(Track(label, t[rows], positions[k][rows], velocities[k][rows]))
    return out


def orbit_page(tracks: list[Track], epoch: Epoch | None, title: str, planet: Planet = EARTH) -> str:
    """Return the text of the page."""
    if epoch is not None and planet != EARTH:
        raise UnsupportedOperation(
            f"orbit page: found an epoch for {planet.name}; the Sun is known about the Earth only"
        )
    told = {
        "title": title,
        "planet": {"name": planet.name, "radius": planet.radius / 1e3, "rotation": planet.rotation},
        "epoch": None if epoch is None else str(epoch),
        "angle": 0.0 if epoch is None else epoch.sidereal_angle,
        "tracks": [described(track, epoch, planet) for track in tracks],
    }
    style = asset("player.css") + asset("orbit.css")
    return string.Template(asset("orbit.html")).substitute(
        title=html.escape(title),
        policy=f"{policy(ORBIT_SCRIPTS)}; style-src {hash_of(style)}",
        style=style,
        scripts="\n".join(f"<script>{asset(script)}</script>" for script in ORBIT_SCRIPTS),
        data=json_text(told),
    )


def described(track: Track, epoch: Epoch | None, planet: Planet) -> dict[str, Any]:
    """Return a track as plain data.

    Returns
    -------
    dict
        name; t [s]; position [km]; place: latitude, longitude (planet-fixed) [deg], altitude [km], speed [km/s]; elements: semi-major axis [km], eccentricity, inclination, right
        ascension of the ascending node [deg], NaN where the flight is no ellipse; sun: directions (samples, 3), light: 1 in the Sun, 0 in the shadow, both null without an epoch.
    """
    r, v, t = track.position, track.velocity, track.t
    distance = np.linalg.norm(r, axis=1)
    angle = (0.0 if epoch is None else epoch.sidereal_angle) + planet.rotation * t
    longitude = (np.degrees(np.arctan2(r[:, 1], r[:, 0]) - angle) + 180.0) % 360.0 - 180.0
    p = ca.SX.sym("p", 3)
    altitude = np.array(ca.Function("altitude", [p], [planet.altitude(p)]).map(len(t))(r.T)).ravel()
    place = np.column_stack(
        [
            np.degrees(np.arcsin(r[:, 2] / distance)),
            longitude,
            altitude / 1e3,
            np.linalg.norm(v, axis=1) / 1e3,
        ]
    )
    sun = light = None
    if epoch is not None:
        s = ca.SX.sym("s", 3)
        places = np.array([np.array(sun_position(epoch, x)).ravel() for x in t])
        lit = ca.Function("sunlight", [p, s], [sunlight(p, s, planet.radius)]).map(len(t))
        light = np.array(lit(r.T, places.T)).ravel()
        sun = places / np.linalg.norm(places, axis=1)[:, None]
    return {
        "name": track.name,
        "t": pack(t[:, None]),
        "position": pack(r / 1e3),
        "place": pack(place),
        "elements": pack(elements(r, v, planet.mu)),
        "sun": None if sun is None else pack(sun),
        "light": None if light is None else pack(light[:, None]),
    }


def elements(r: np.ndarray, v: np.ndarray, mu: float) -> np.ndarray:
    """Return semi-major axis [km], eccentricity [-], inclination and right ascension of the ascending node [deg] of states (samples, 3)."""
    h = np.cross(r, v)
    energy = 0.5 * (v * v).sum(axis=1) - mu / np.linalg.norm(r, axis=1)
    e = np.linalg.norm(np.cross(v, h) / mu - r / np.linalg.norm(r, axis=1)[:, None], axis=1)
    bound = energy < 0
    a = np.where(bound, -mu / (2 * np.where(bound, energy, -1.0)) / 1e3, np.nan)
    inclination = np.degrees(np.arccos(np.clip(h[:, 2] / np.linalg.norm(h, axis=1), -1, 1)))
    node = np.degrees(np.unwrap(np.arctan2(h[:, 0], -h[:, 1])))
    node += 360.0 * (node[0] < -1e-9)  # it begins between 0 and 360 degrees
    return np.column_stack([a, e, inclination, node])
