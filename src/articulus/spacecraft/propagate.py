"""Flight of many points in the field of a planet, in native code and vector lanes."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.errors import Finding, InputError, NumericalError
from articulus.simulation.integrate import Method
from articulus.simulation.integrate import method as find_method
from articulus.spacecraft.bodies import moon_position, sun_position
from articulus.spacecraft.epoch import FRAME, Epoch
from articulus.spacecraft.fields import GravityField
from articulus.spacecraft.planet import EARTH, MOON_MU, SUN_MU, Planet
from articulus.spacecraft.third_body import third_body


@dataclass(frozen=True)
class OrbitRun:
    """A flight: times, and positions and velocities from the planet's center.

    Parameters
    ----------
    t : (samples,) [s]
        Since the epoch.
    position, velocity : (..., samples, 3) [m], [m/s]
    frame, epoch : str
        Axes and the instant t = 0; an empty epoch says that nothing here rests on one.
    field, method : str
        Gravity and integration method, in words.
    """

    t: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    frame: str
    epoch: str
    field: str
    method: str


def propagate(
    position: Any,
    velocity: Any,
    duration: float,
    *,
    step: float,
    samples: int = 1,
    field: GravityField | None = None,
    epoch: Epoch | str | None = None,
    third_bodies: bool = False,
    method: str = "rk8",
    planet: Planet = EARTH,
) -> OrbitRun:
    """Return the flight of points, one or many at once: x'' = grad U(x), by fixed steps in native code.

    Parameters
    ----------
    position, velocity : (3,) or (..., 3) [m], [m/s]
        From the planet's center, in inertial axes (`FRAME`); leading axes are a batch.
    duration, step : float [s]
        The duration is a whole number of steps.
    samples : int
        Equal parts of the duration at whose ends the motion is given, beside the start.
    field : GravityField
        Its own mu and radius count; the planet's mu alone if not given.
    epoch : Epoch or text
        Instant of t = 0, in UTC. A field that changes with longitude, and third bodies, cannot do without.
    third_bodies : bool
        Whether Sun and Moon pull, by `sun_position` and `moon_position`.
    method : str
        One with fixed steps: "rk8" with 60 to 160 s keeps a low orbit to a millimeter a day.

    Raises
    ------
    InputError
        An epoch that is missing, a start below the surface.
    NumericalError
        An orbit that goes below the surface or runs off, with its row and time; `result` is the whole flight.
    """
    r, v = (np.asarray(x, dtype=float) for x in (position, velocity))
    if r.shape != v.shape or r.shape[-1:] != (3,) or not (np.isfinite(r).all() and np.isfinite(v).all()):
        raise InputError(
            Finding(
                "propagate",
                f"position {r.shape}, velocity {v.shape}",
                "finite numbers of one shape, (..., 3)",
            )
        )
    integrator = find_method(method)
    if not isinstance(integrator, Method):
        raise InputError(
            Finding(
                "propagate, method",
                f"'{method}'",
                "an explicit method with fixed steps, such as 'rk8'",
                field="method",
            )
        )
    count = _whole(duration, step, samples)
    _require_above(np.linalg.norm(r, axis=-1), planet)
    start = _epoch(epoch, field, third_bodies)
    loop = _loop(integrator, field, start, third_bodies, planet)
    rows = int(np.prod(r.shape[:-1], dtype=int))
    x = np.zeros((rows, 6 * (1 + integrator.past)))
    x[:, :6] = np.concatenate([r, v], axis=-1).reshape(rows, 6)
    log = np.empty((rows, samples + 1, 6))
    failed = _march(loop, integrator, x, log, step, count, count // samples)
    flight = log.reshape(*r.shape[:-1], samples + 1, 6)
    run = OrbitRun(
        np.linspace(0.0, count * step, samples + 1),
        flight[..., :3],
        flight[..., 3:],
        FRAME if start else "inertial axes, z along the pole",
        str(start) if start else "",
        _words(field, third_bodies, planet),
        f"{method}, steps of {step:g} s",
    )
    _judge(run, failed, step, planet)
    return run


def _march(
    loop: tuple, method: Method, x: np.ndarray, log: np.ndarray, step: float, count: int, every: int
) -> np.ndarray:
    """Fill the samples; return the steps at which rows failed."""
    failed, w = np.full(len(x), kernel.NEVER), np.zeros((count, 0))
    p = np.array([step])
    first, rest = (one.on(x, p, w, failed, log, every=every) for one in loop)
    started = min(method.past, count)
    first(0, started)
    rest(started, count)
    log[:, -1] = x[:, :6]
    return failed


@functools.lru_cache(maxsize=32)
def _loop(
    method: Method, field: GravityField | None, epoch: Epoch | None, third_bodies: bool, planet: Planet
) -> tuple:
    """Return the native loops of the first steps and of the others."""
    rate = _rate(field, epoch, third_bodies, planet)
    made = [
        _recurrence(one, method.past, rate) for one in ((method.starter if method.past else method), method)
    ]
    return tuple(made)


def _recurrence(method: Method, past: int, rate: ca.Function) -> Any:
    x, p, w, k = MX.sym("x", 6 * (1 + past)), MX.sym("p", 1), MX.sym("w", 0), MX.sym("k")
    c, slopes = x[:6], tuple(x[6 * (i + 1) : 6 * (i + 2)] for i in range(past))
    t = k * p[0]
    if method.past == past:
        after, slopes = method.advance(lambda at, state: rate(state, at), t, c, slopes, p[0])
    else:
        after, _ = method.advance(lambda at, state: rate(state, at), t, c, (), p[0])
        slopes = (rate(c, t), *slopes)[:past]
    made = ca.Function(
        "step", [x, p, w, k], [ca.densify(ca.vertcat(after, *slopes))], ["x", "p", "w", "k"], ["x_next"]
    )
    return kernel.recurrence(f"propagate {method.name} {past} {rate.serialize()}", lambda: [made], 6)


def _rate(field: GravityField | None, epoch: Epoch | None, third_bodies: bool, planet: Planet) -> ca.Function:
    """Return the rate of (position, velocity)."""
    x, t = SX.sym("x", 6), SX.sym("t")
    whole = field or GravityField("two bodies", planet.mu, planet.radius, ())
    R = epoch.earth_rotation(t, planet.rotation) if whole.needs_orientation and epoch else SX.eye(3)
    acceleration = ca.mtimes(R.T, whole.potential_and_acceleration(ca.mtimes(R, x[:3]), central=True)[1])
    if third_bodies and epoch:
        acceleration += third_body(x[:3], sun_position(epoch, t), SUN_MU)
        acceleration += third_body(x[:3], moon_position(epoch, t), MOON_MU)
    return ca.Function("rate", [x, t], [ca.cse(ca.vertcat(x[3:], acceleration))])


def _whole(duration: float, step: float, samples: int) -> int:
    if not (0 < step < np.inf and 0 < duration < np.inf):
        raise InputError(Finding("propagate", f"duration {duration!r} s, step {step!r} s", "numbers above 0"))
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > 1e-9 * duration:
        raise InputError(
            Finding(
                "propagate, duration", f"{duration / step:.9g} steps", "a whole number of steps", field="step"
            )
        )
    if not isinstance(samples, int) or samples < 1 or count % samples:
        raise InputError(
            Finding("propagate, samples", repr(samples), f"a divisor of the {count} steps", field="samples")
        )
    return count


def _epoch(epoch: Epoch | str | None, field: GravityField | None, third_bodies: bool) -> Epoch | None:
    if epoch is not None:
        return Epoch.of(epoch)
    if third_bodies:
        raise InputError(
            Finding(
                "propagate, epoch",
                "none, with third bodies",
                "the instant of t = 0: Sun and Moon move",
                field="epoch",
            )
        )
    if field is not None and field.needs_orientation:
        raise InputError(
            Finding(
                "propagate, epoch",
                f"none, with terms of '{field.name}' that change with longitude",
                "the instant of t = 0, which determines the rotation of the planet",
                "field.up_to(degree, order=0) has zonal terms alone",
                field="epoch",
            )
        )
    return None


def _require_above(r: np.ndarray, planet: Planet) -> None:
    lowest = float(np.min(r, initial=np.inf))
    if lowest <= planet.radius:
        hint = "Lengths are in meters and count from the center"
        raise InputError(
            Finding(
                "propagate, position",
                f"{lowest:.7g} m from the center",
                f"above the surface, {planet.radius:.7g} m",
                hint,
                field="position",
            )
        )


def _judge(run: OrbitRun, failed: np.ndarray, step: float, planet: Planet) -> None:
    distance = np.linalg.norm(run.position, axis=-1).reshape(len(failed), -1)
    for row, when in enumerate(failed):
        if when >= 0:
            raise NumericalError(
                f"flight {row} is not finite from t = {when * step:.6g} s on; expected a shorter step than {step:g} s",
                result=run,
            )
    below = np.argwhere(distance <= planet.radius)
    if below.size:
        row, k = below[0]
        raise NumericalError(
            f"flight {row} is below the surface of the {planet.name} at t = {run.t[k]:.6g} s", result=run
        )


def _words(field: GravityField | None, third_bodies: bool, planet: Planet) -> str:
    mu = (field or planet).mu
    name = f"{field.name} to degree {field.degree}" if field else "two bodies"
    return f"{name}, mu = {mu:.10g} m^3/s^2" + (", Sun and Moon" if third_bodies else "")
