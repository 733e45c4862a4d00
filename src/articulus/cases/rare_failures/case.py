"""A mass that slides freely from a normal place with a normal speed: where it is after a second is normal too, so that everything is known."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

import articulus as art
from articulus.study.campaign.calls import run as run_campaign
from articulus.study.campaign.sensitivity import sobol_indices
from articulus.study.campaign.statistics import judge

STUDY = """
schema = 1
[study]
name = "slider"
model = "slider.toml"
[run]
t_end = "1 s"
step = "0.1 s"
"""
PLACE, SPEED = (0.2, 0.03), (1.0, 0.04)  # mean and deviation [m], [m/s]
MEAN, DEVIATION = PLACE[0] + SPEED[0], float(np.hypot(PLACE[1], SPEED[1]))
RUNS = 20_000


def compute() -> dict:
    rate = rate_of(1.5)
    rare = art.campaign.failure_probability(**campaign_above(4.753424308822899), runs_per_level=4000, seed=1)
    common = art.campaign.failure_probability(**campaign_above(-1.0), runs_per_level=4000, seed=1)
    worst = art.campaign.worst_case(**campaign_above(4.753424308822899), runs=1500, batch=32)
    return {
        "limit at 1.5 deviations: pass rate of 20,000 runs": rate.rate,
        "the exact 95 % bounds hold the probability (1 = yes)": bool(
            rate.low < special.ndtr(1.5) < rate.high
        ),
        "limit at 4.7534 deviations, subset simulation: probability [1e-6]": 1e6 * rare.probability,
        "limit at -1 deviation, subset simulation: probability": common.probability,
        "subset simulation: number of runs is below 30,000 (1 = yes)": rare.runs < 30_000,
        "worst place within three deviations of each, by differential evolution [m]": worst.value,
        "Sobol indices of place and speed: first, total": indices(),
    }


def campaign_above(deviations: float) -> dict[str, Any]:
    """Return the campaign whose limit lies some deviations above the mean."""
    return {
        "study": STUDY,
        "folder": Path(__file__).parent,
        "vary": {"q.slide": art.campaign.Normal(*PLACE), "v.slide": art.campaign.Normal(*SPEED)},
        "figures": {"place": {"signal": "q.slide", "at": "end"}},
        "requirements": [f"place < {MEAN + deviations * DEVIATION!r} m"],
    }


def rate_of(deviations: float) -> Any:
    result = run_campaign(**campaign_above(deviations), runs=RUNS)
    (found,) = judge(result.campaign.requirements, result.table.figures)
    return found.rate


def indices() -> list[float]:
    result = run_campaign(**campaign_above(1.5), runs=6 * 2048, sampler="saltelli")
    found = sobol_indices(result.campaign.points, result.table.figures["place"], result.campaign.names)
    return [*found.first, *found.total]
