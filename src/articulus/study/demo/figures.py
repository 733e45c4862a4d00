"""The key figures of the demo: what was asked for, how well the machines followed, what the hydraulics did."""

from __future__ import annotations

import numpy as np

from articulus.model.library.cat215b_drives import JOINTS, SUPPLY
from articulus.simulation.loop.components import HydraulicRotary
from articulus.simulation.results.diagnostics import energy_error
from articulus.simulation.results.run import Run
from articulus.study.runner import Outcome

LITRES_PER_MINUTE = 0.0254**3 * 1e3 * 60
"""Of one in^3/s."""
PASCAL = 4.4482216152605 / 0.0254**2
"""Of one psi."""
MOVES = 5.0
"""Time at which the operator moves the sticks [s]."""
FULL = HydraulicRotary.__dataclass_fields__["spool_limit"].default


def by_joint(run: Run) -> list[tuple[str, ...]]:
    """Return rows of name and one text for each joint of `JOINTS`."""
    wanted, q = np.degrees(run["operator.wanted"]), np.degrees(run.q)
    error = wanted - q
    rows = {
        "asked for [deg]": wanted[-1] - wanted[0],
        "done [deg]": q[-1] - q[0],
        "largest error [deg]": np.abs(error).max(axis=0),
        "error at the end [deg]": error[-1],
        "widest spool [%]": 100 * _peaks(run, "spool") / FULL,
        "peak pressure [MPa]": _peaks(run, "pressures") * PASCAL / 1e6,
        "supply pressure [MPa]": np.array(SUPPLY) * PASCAL / 1e6,
        "peak flow [l/min]": _peaks(run, "flows") * LITRES_PER_MINUTE,
        "peak torque [kN m]": _peaks(run, "force") / 1e3,
    }
    return [(name, *(f"{x:.1f}" for x in np.round(values, 1) + 0.0)) for name, values in rows.items()]


def _peaks(run: Run, signal: str) -> np.ndarray:
    return np.array([np.abs(run[f"{joint}.{signal}"]).max() for joint in JOINTS])


def overall(run: Run) -> list[tuple[str, str]]:
    """Return pairs of name and text."""
    wrist = run["wrist.position"]
    radius, height = np.hypot(wrist[:, 0], wrist[:, 1]), wrist[:, 2]
    first, lowest = (100 * (height[0] - h.min()) for h in (height[run.t <= MOVES], height))
    error, moved = energy_error(run)
    s = run.statistics
    return [
        ("radius of the bucket hinge", f"{radius[0]:.2f} m to {radius[-1]:.2f} m; asked for: 6.50 m"),
        (
            "height of the bucket hinge",
            f"{height[0]:.2f} m to {height[-1]:.2f} m; sags by {first:.1f} cm until the pressures are built up, by {lowest:.1f} cm on the way",
        ),
        (
            "energy balance",
            f"{error:.2g} J unaccounted for, {error / moved:.1g} of the {moved:.3g} J at play",
        ),
        (
            "wall-clock time",
            f"{s['wall_seconds']:.2g} s for {run.t[-1]:g} s: {s['real_time_ratio']:.0f} times real time",
        ),
    ]


def tip_rows(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return rows of forces, and the distance of the tip from its line with them: at worst, and after the motion [m]."""
    motion = outcome.study.tip
    assert motion is not None
    end = motion.inversion.t_end - motion.inversion.t[0]
    return [(tip.name, f"{tip.largest:.2g}", f"{tip.after(end):.2g}") for tip in outcome.tips]
