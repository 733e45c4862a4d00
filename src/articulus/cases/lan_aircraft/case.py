"""A fighter whose pitch damper and limiter are designed through simulation: damping identified from runs, deep stall prevented."""

import warnings
from typing import Any

import casadi as ca
import numpy as np

import articulus as art
from articulus.design import AtMost, CoDesign, Optimum
from articulus.design.modal import DecayFigure
from articulus.design.objectives import Aim, AtLeast, Objective, WeightedFigure
from articulus.errors import DoubtfulResult
from articulus.model.library import fighter as model
from articulus.model.mechanism import Parameter
from articulus.simulation.gradients import Largest, Mean
from articulus.simulation.loop.components import FrameWrench, PrescribedCommand, RateGyro, Table
from articulus.simulation.loop.components.aircraft import AirData, ControlSurface, LimitedFeedback
from articulus.simulation.loop.components.aircraft.table_aerodynamics import standard_density

FEET, DEG = 0.3048, np.pi / 180
STEP: dict[str, Any] = {"step": 0.01, "sample": 0.05}
SOUND = {10000: 328.39, 30000: 303.14}
"""Speed of sound by height [ft], standard atmosphere [m/s]."""
KICKS = {"elevator": -6.0, "aileron": 3.0, "rudder": 3.0}
"""Impulsive deflections of the damper's run [deg], for 0.2 s; assumed."""
STIFFNESS = 1.5
"""Feedback of the angle of attack in the damper's run, assumed: without it this aircraft is unstable in pitch, which the F-5A of the source is not."""
LIMITER: dict[str, Any] = {"K_alpha": 3.0, "start": 15 * DEG, "K_r": 0.0}
"""Numbers of the limiter before its design, assumed."""
SHORT: dict[str, Any] = {"after": 0.3, "until": 6.0, "trend": True}
"""Part of the damper's run from which damping and frequency are identified [s]."""
SPECIFIED = 0.65


def table(times: Any, values: Any) -> Table:
    """Return a command over time."""
    return Table(times, values)


def find_trim(mach: float, feet: int) -> tuple[Any, model.LevelFlight]:
    """Return the air and level flight at a Mach number and height."""
    height = feet * FEET
    air = model.fighter_aerodynamics(altitude=height)
    return air, model.trim(air, mach * SOUND[feet], float(standard_density(height)))


def flight(air: Any, level: model.LevelFlight, *parts: Any) -> art.Loop:
    """Return the aircraft with its sensors and constant thrust, and further parts."""
    thrust = FrameWrench("aircraft", (0, 0, 0, level.thrust, 0, 0), follows=True, name="thrust")
    sensors = AirData("aircraft", name="air_data"), RateGyro("aircraft", name="gyro")
    return art.Loop(art.load("fighter"), None, [*sensors, *parts, air, thrust])


def design_damper() -> tuple[art.Loop, model.LevelFlight]:
    """Return the flight of example 1: Mach 0.3, 10,000 ft, all surfaces kicked; elevator and pitch rate limited as printed."""
    air, level = find_trim(0.3, 10000)
    _, aileron, rudder = model.fighter_surfaces()
    kicks = [
        PrescribedCommand(name, table([0, 0.01, 0.2, 0.21], [0, d * DEG, d * DEG, 0]), name=f"{name}_kick")
        for name, d in KICKS.items()
    ]
    damper = LimitedFeedback(
        "elevator", "gyro.rate.1", Parameter("K_q", 0.2, range=(0, 5)), lower=-4 * DEG, upper=4 * DEG, name="damper"
    )  # fmt: skip
    loop = flight(
        air, level, *kicks, PrescribedCommand("elevator", level.elevator, name="trim"), damper,
        LimitedFeedback("elevator", "air_data.alpha", STIFFNESS, offset=level.alpha, name="stiffness"),
        ControlSurface("elevator", -17 * DEG, 5.5 * DEG, 26 * DEG, 20.2, level.elevator), aileron, rudder,
    )  # fmt: skip
    return loop, level


def damper_design(printed: bool) -> tuple[Optimum, art.Run]:
    """Return the gain for the specified damping ratio, and its run."""
    loop, level = design_damper()
    damping, frequency = (DecayFigure("air_data.alpha", kind, **SHORT) for kind in ("damping", "frequency"))
    problem = CoDesign(
        loop, {"K_q": (0.1, 0.9)}, Objective(Aim(damping, SPECIFIED, printed=printed)), (AtLeast("frequency", frequency, 1.5),), 8.0,
        level.q0, level.v0, settings=STEP,
    )  # fmt: skip
    found = problem.minimize()
    return found, loop.simulate(8.0, level.q0, level.v0, params=found.values, step=0.01, sample=0.01)


def maneuver(
    roll: float = -10.0, begin: float = 22.0, limited: bool = True
) -> tuple[art.Loop, model.LevelFlight]:
    """Return the flight of example 3: Mach 0.5, 30,000 ft, full stabilator after 1 s, roll control for 12 s."""
    air, level = find_trim(0.5, 30000)
    pull = PrescribedCommand("elevator", table([0, 1, 1.01], [level.elevator, level.elevator, -25 * DEG]))
    times = [0, begin, begin + 0.01, begin + 12, begin + 12.01]
    side = PrescribedCommand("aileron", table(times, [0, 0, roll * DEG, roll * DEG, 0]))
    laws = [
        LimitedFeedback(
            "elevator", "air_data.alpha", Parameter("K_alpha", LIMITER["K_alpha"]), offset=Parameter("start", LIMITER["start"]), lower=0.0,
            name="limiter",
        ),
        LimitedFeedback("elevator", "gyro.rate.1", 1.0, name="damper"),
        LimitedFeedback("rudder", "gyro.rate.2", Parameter("K_r", LIMITER["K_r"]), name="yaw_damper"),
    ]  # fmt: skip
    return flight(
        air, level, pull, side, *(laws if limited else []), *model.fighter_surfaces(level.elevator)
    ), level


def size(name: str, entry: int = 0) -> Largest:
    """Return the largest size of an angle or rate [deg, deg/s]."""
    return Largest(lambda s: ca.fabs(s[name][entry]) / DEG)


ALPHA = size("air_data.alpha")


def limiter_design() -> Optimum:
    """Return the limiter and yaw damper with the largest mean angle of attack, little sideslip and yaw, at most 26 deg in the maneuver."""
    loop, level = maneuver()
    objective = Objective(
        WeightedFigure(Mean(lambda s: s["air_data.alpha"][0] / DEG), -1.0),
        Aim(size("air_data.beta"), 0.0, scale=10.0),
        Aim(size("gyro.rate", 2), 0.0, scale=10.0),
    )
    bounds = {"K_alpha": (0.5, 6.0), "start": (5 * DEG, 25 * DEG), "K_r": (-0.3, 2.0)}
    problem = CoDesign(loop, bounds, objective, (AtMost("angle of attack", ALPHA, 26.0),), 40.0, level.q0, level.v0, settings=STEP)  # fmt: skip
    return problem.minimize()


def fly(
    flight: tuple[art.Loop, model.LevelFlight], t_end: float, params: Any = None
) -> dict[str, np.ndarray]:
    """Return angle of attack, sideslip [deg] and rates [deg/s] every 50 ms."""
    loop, level = flight
    run = loop.simulate(t_end, level.q0, level.v0, params=params, **STEP)
    names = {"alpha": "air_data.alpha", "beta": "air_data.beta", "rate": "gyro.rate"}
    return {k: np.squeeze(run.signals[n].values) / DEG for k, n in names.items()}


def compute() -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DoubtfulResult
        )  # of searches from printed objectives, which rows show
        return {**_level(), **_damper(), **_departure()}


def _level() -> dict:
    level = find_trim(0.5, 30000)[1]
    return {
        "trim at Mach 0.5, 30,000 ft: angle of attack, elevator [deg] and thrust [kN]": [
            level.alpha / DEG,
            level.elevator / DEG,
            level.thrust / 1e3,
        ]
    }


def _damper() -> dict:
    best, run = damper_design(printed=False)
    spike, _ = damper_design(printed=True)
    loop, level = design_damper()
    existing = loop.gradient(
        DecayFigure("air_data.alpha", **SHORT), 8.0, level.q0, level.v0, params={"K_q": 0.2}, **STEP
    ).value  # fmt: skip
    elevator = np.squeeze(run.signals["elevator.deflection"].values) / DEG
    rate = np.abs(np.diff(elevator)).max() / 0.01
    fed = np.abs(run.signals["gyro.rate"].values[:, 1]).max() / DEG
    found = loop.gradient(
        DecayFigure("air_data.alpha", **SHORT), 8.0, level.q0, level.v0, params=best.values, **STEP
    ).value
    return {
        "damping ratio of the design": found,
        "gain K_q of the design": best.values["K_q"],
        "damping ratio with K_q = 0.2": existing,
        "K_q = 0.2 is not adequate (1 = yes)": existing < SPECIFIED - 0.05,
        "elevator within +5.5 and -17 deg and 26 deg/s, fed-back pitch rate within 4 deg/s (1 = yes)": (
            elevator.min() >= -17 and elevator.max() <= 5.5 and rate <= 26 * (1 + 1e-9) and fed <= 4
        ),
        "gain by objective (4) as printed over that by squares": spike.values["K_q"] / best.values["K_q"],
    }


def _departure() -> dict:
    free = fly(maneuver(0.0, limited=False), 90.0)["alpha"]
    assumed = fly(maneuver(), 40.0, LIMITER)
    best = limiter_design()
    rolled = fly(maneuver(), 40.0, best.values)
    highest = [fly(maneuver(begin=t), 40.0, best.values)["alpha"].max() for t in (20.0, 24.0, 26.0)]
    return {
        "pull-up without limiter: angle of attack after 3, 5 and 10 s [deg]": free[[60, 100, 200]],
        "pull-up without limiter: angle of attack at the end [deg]": free[-200:].mean(),
        "roll with the limiter before its design: largest angle of attack, sideslip [deg], roll and yaw rate [deg/s]": [
            assumed["alpha"].max(),
            np.abs(assumed["beta"]).max(),
            np.abs(assumed["rate"][:, 0]).max(),
            np.abs(assumed["rate"][:, 2]).max(),
        ],
        "with limiter: angle of attack is at most 26 deg in the pull-up with roll (1 = yes)": rolled[
            "alpha"
        ].max()
        <= 26 * (1 + 1e-6),
        "with limiter: mean angle of attack with roll [deg]": rolled["alpha"].mean(),
        "with limiter: no departure for rolls from 20, 24 and 26 s (1 = yes)": max(highest) < 30,
    }
