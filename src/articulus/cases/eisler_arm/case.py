"""Frequencies of a flexible two-link arm, and its fastest straight line with limited torques: stiff, then soft."""

import warnings

import numpy as np

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.motion.trajectory import Plan, path_speed, solve_problem
from articulus.motion.trajectory.convected_chain import ConvectedChain, ConvectedLink, Segment

BRACKET = 1e5  # N m^2, "rigid"
MOTOR = 5.415  # kg, outer bracket of link 1 and motor of joint 2
SHARE = 0.5  # of it along the bracket, the rest at the joint: assumed
TORQUE, SLEW = (16.0, 4.0), (400.0, 100.0)  # N m, printed; N m/s, assumed
BEGIN, FINISH = np.array([0.0, 1.13]), np.array([1.13, 0.0])  # m
TRACKING, KEPT = 5e-3, 4.2e-3  # m, printed; kept at the points of the mesh
DRAWN_IN = 0.975
"""Share of the torques that the points of the mesh may take, so that they stay within their limits between the points."""
LENGTHS = 0.6745, 0.593  # m


def compute() -> dict:
    soft = arm(100.0)
    plans, rigid = lines(), rigid_time()
    rest = [replay(arm(EI), plan) for EI, plan in plans.items()]
    held, locked, free = (soft.frequencies(start(), h) for h in ("nodes", "joints", "free"))
    return {
        "length of the arm [m]": float(soft.lengths.sum()),
        "mass of the arm [kg]": sum(s.mass for link in soft.links for s in link.segments)
        + soft.links[0].mass,
        "EI = 100, inner ends of the links fixed: first frequency [Hz]": held[0],
        "EI = 100, inner ends of the links fixed: second frequency [Hz]": held[1],
        "EI = 100, joints locked: first frequency [Hz]": locked[0],
        "EI = 100, joints locked: second frequency [Hz]": locked[1],
        "EI = 100, joints free: first frequency [Hz]": free[0],
        "EI = 1000: frequencies over those of EI = 100, joints free": float(
            arm(1000.0).frequencies(start(), "free")[0] / free[0]
        ),
        "rigid arm on the line, exact: time [s]": rigid,
        "EI = 1000 and 100: faster than printed, simulated within 5 mm of the line and 16 and 4 N m (1 = yes)": float(
            all(
                plan.duration < 1.505 and row["off"] < TRACKING and plan_torque(plan) < 1 + 1e-6
                for plan, row in zip(plans.values(), rest)
            )
        ),
        "EI = 1000 and 100: time over that of the rigid arm": [p.duration / rigid for p in plans.values()],
        "EI = 1000 and 100: simulated with the torques alone, less than 0.1 % of the peak energy is left at the end (1 = yes)": float(
            all(row["left"] < 1e-3 * row["peak"] for row in rest)
        ),
        "EI = 1000 and 100: peak of the kinetic energy at this part of the time": [
            row["when"] for row in rest
        ],
    }


def arm(EI: float) -> ConvectedChain:
    first = (
        Segment(0.0635, 0.545, BRACKET),
        Segment(0.504, 0.640, EI, 3),
        Segment(0.107, SHARE * MOTOR, BRACKET),
    )
    second = (Segment(0.104, 0.830, BRACKET), Segment(0.489, 0.313, EI, 3))
    return ConvectedChain((ConvectedLink(first, mass=(1 - SHARE) * MOTOR), ConvectedLink(second)))


def start() -> list[float]:
    """Return the absolute angles of straight links with the tip at the start [rad]; the side of the elbow is inferred."""
    a, b = LENGTHS
    D = float(np.linalg.norm(BEGIN))
    first = np.pi / 2 - np.arccos((a**2 + D**2 - b**2) / (2 * a * D))
    elbow = BEGIN - a * np.array([np.cos(first), np.sin(first)])
    return [first, float(np.arctan2(elbow[1], elbow[0]))]


def lines() -> dict[float, Plan]:
    """Return the fastest lines, the softer arm begun at the motion of the stiffer one."""
    plans: dict[float, Plan] = {}
    for EI in (1000.0, 100.0):
        phase = arm(EI).phase(
            start(),
            FINISH,
            torque=tuple(DRAWN_IN * limit for limit in TORQUE),
            slew=SLEW,
            duration=(0.8, 2.0),
            tolerance=KEPT,
            smooth=0.1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DoubtfulResult
            )  # the limits are drawn in by more than it tells of
            plans[EI] = solve_problem(
                phase,
                intervals=50,
                tolerance=1e-6,
                guess=plans.get(1000.0),
                options={"ipopt.mu_strategy": "monotone"},
            )
    return plans


def plan_torque(plan: Plan) -> float:
    """Return the largest torque over its limit, between the points of the mesh too."""
    at_points = max(float(np.abs(plan[f"torque.{k + 1}"]).max()) / limit for k, limit in enumerate(TORQUE))
    between = [DRAWN_IN * each.ratio for each in plan.overload if each.entry.startswith("torque")]
    return max([at_points, *between])


def replay(chain: ConvectedChain, plan: Plan) -> dict[str, float]:
    """Return what a simulation with the planned torques alone does."""
    t, theta, rate = chain.play(plan, 2000)
    kinetic, strain = chain.kinetic_energy(theta, rate), chain.strain_energy(theta)
    along = (FINISH - BEGIN) / np.linalg.norm(FINISH - BEGIN)
    tip = chain.tip(theta) - BEGIN
    return {
        "off": float(np.abs(along[0] * tip[:, 1] - along[1] * tip[:, 0]).max()),
        "left": float(kinetic[-1] + strain[-1]),
        "peak": float(kinetic.max()),
        "when": float(t[kinetic.argmax()] / t[-1]),
    }


def rigid_time() -> float:
    """Return the time of the rigid arm along the line, by reachability on a grid of 400 intervals."""
    m = art.Mechanism("rigid", gravity=(0, 0, 0))
    inner = [(0.0635, 0.545), (0.504, 0.640), (0.107, SHARE * MOTOR)]
    for name, parts, point in (
        ("link1", inner, (1 - SHARE) * MOTOR),
        ("link2", [(0.104, 0.830), (0.489, 0.313)], 0.0),
    ):
        ends = np.cumsum([0.0, *(length for length, _ in parts)])
        masses = np.array([mass for _, mass in parts] + [point])
        centers = np.append((ends[1:] + ends[:-1]) / 2, ends[-1])
        c = float(masses @ centers / masses.sum())
        own = sum(mass * length**2 / 12 for length, mass in parts)
        about = float(own + masses @ (centers - c) ** 2)
        m.body(name, float(masses.sum()), (c, 0, 0), (1e-6, about, about))
    m.joint("hub", art.Revolute((0, 0, 1)), "ground", "link1")
    m.joint("elbow", art.Revolute((0, 0, 1)), "link1", "link2", at=(LENGTHS[0], 0, 0))
    m.frame("tip", "link2", (LENGTHS[1], 0, 0))
    first, second = start()
    q = [np.array([first, second - first])]
    for s in np.linspace(0, 1, 61)[1:]:
        point3 = np.append(BEGIN + s * (FINISH - BEGIN), 0.0)
        q.append(art.inverse_kinematics(m, art.goals.FramePoint("tip", point3), guess=q[-1]).q)
    limits = dict(zip(("hub", "elbow"), TORQUE))
    return float(path_speed(m, np.array(q), torque_limit=limits, grid=400).duration)
