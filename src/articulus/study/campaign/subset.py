"""Subset simulation: probabilities of rare failures as a product of larger ones (Au & Beck 2001)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from articulus.errors import InputError, NumericalError
from articulus.numerics.streams import counter_stream
from articulus.study.campaign.search import Badness

SHARE = 0.1
"""Share of the runs that the next level keeps."""
MOST_LEVELS = 20
FLAT = 0.5
"""Probability of a level that does not get worse, beyond which the figure says nothing."""
ACCEPTED = 0.44
"""Share of accepted moves that the length of moves is steered to (Papaioannou, Betz, Zwirglmaier & Straub 2015)."""


@dataclass(frozen=True, eq=False)
class Rare:
    """Probability of a rare failure.

    Parameters
    ----------
    probability : float
        NaN where no run failed: then it is below the upper one of `bounds`, and `warnings` says how far the runs came.
    variation : float
        Estimated standard deviation of the probability over its value, with the correlation of the chains; where no run failed, of that of the last level.
    levels : tuple of float
        Badness that each level demands; the last one is 0 where runs failed.
    runs : int
    points : array, (some, dims)
        Points of the unit cube that fail, from the last level.
    confidence : float
    at_most : float
        Probability of the last level, which that of the failure is a part of; NaN where runs failed.
    warnings : tuple of str
        What is doubtful.
    """

    probability: float
    variation: float
    levels: tuple[float, ...]
    runs: int
    points: np.ndarray
    confidence: float
    at_most: float = math.nan
    warnings: tuple[str, ...] = ()

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the probability, as of a log-normal estimate; approximate: in 200 repetitions those of 95 % held it in 87 to 94 %.

        The levels are taken as independent of each other, which they are not quite. Where no run failed: 0 and a bound of the probability of the last level.
        """
        width = float(special.ndtri((1 + self.confidence) / 2)) * math.sqrt(math.log1p(self.variation**2))
        if math.isnan(self.probability):
            return 0.0, min(1.0, self.at_most * math.exp(width))
        return self.probability * math.exp(-width), min(1.0, self.probability * math.exp(width))


def failure_probability(
    badness: Badness, dims: int, *, runs_per_level: int = 2000, seed: int = 0, confidence: float = 0.95
) -> Rare:
    """Return the probability that the badness is above 0.

    Runs of a level that are the worst tenth are where chains of the next one begin; a chain moves in the space of normal variables
    and stays where the badness is at least that of the level. All chains take a step at once, as one batch. Where levels do not get worse
    any more, or the failure is below 1e-20, what is known is returned: an upper bound (Au & Beck 2001, with the failure as a part of the last level).

    Parameters
    ----------
    badness : function
        Badness of points of the unit cube; see `search.Badness`. It has to tell near misses from far ones.
    dims : int
    runs_per_level : int
        A multiple of ten; 1000 or more.
    seed : int
    confidence : float

    Raises
    ------
    NumericalError
        More than half of the runs have the same figure: it does not tell where to go.
    """
    chains = round(runs_per_level * SHARE)
    if dims < 1 or runs_per_level < 100 or chains / SHARE != runs_per_level:
        raise InputError(
            f"subset simulation: found {dims} coordinates, {runs_per_level} runs per level; expected at least 1, and a multiple of 10 "
            "from 100 on"
        )
    generator = counter_stream(seed)
    z = generator.standard_normal((runs_per_level, dims))
    bad = _evaluate(badness, z)
    levels: list[float] = []
    runs, variance, scale = runs_per_level, 0.0, 0.6
    probability, steps = 1.0, runs_per_level
    while True:
        order = np.argsort(-bad, kind="stable")
        level = _level(bad[order], chains)
        if level >= 0 or np.count_nonzero(bad > 0) >= chains:
            break
        if (stuck := bool(levels) and level <= levels[-1]) or len(levels) == MOST_LEVELS:
            if probability > FLAT:
                raise NumericalError(
                    f"subset simulation: {100 * probability:.0f} % of the runs are at {level:.6g} and none is worse, the failure is at 0: the figure is flat. "
                    "Expected one that distinguishes near misses from safe runs"
                )
            if (bad > 0).any():
                break
            told = _tell_unreached(stuck, level, probability)
            none = np.zeros((0, dims))
            return Rare(
                math.nan, math.sqrt(variance), tuple(levels), runs, none, confidence, probability, (told,)
            )
        variance += _squared_variation(bad >= level, steps)
        levels.append(level)
        probability *= float((bad >= level).mean())
        seeds = order[:chains]
        z, bad, scale = _chains(badness, generator, z[seeds], bad[seeds], level, scale)
        steps = z.shape[0] // chains
        runs += z.shape[0] - chains
    failed = bad > 0
    probability *= float(failed.mean())
    variance += _squared_variation(failed, steps)
    return Rare(probability, math.sqrt(variance), (*levels, 0.0), runs, special.ndtr(z[failed]), confidence)


def _tell_unreached(stuck: bool, level: float, probability: float) -> str:
    """Return in words that no run failed."""
    how = "does not get worse than that" if stuck else "has come that far"
    return (
        f"no run failed: the worst ones miss the failure by {-level:.4g}, with probability {probability:.1g} in the last level, and the figure {how}. "
        "The failure is rarer, cannot happen, or lies apart from where the figure leads"
    )


def _level(falling: np.ndarray, chains: int) -> float:
    """Return the badness between the worst tenth and the others."""
    above, below = float(falling[chains - 1]), float(falling[chains])
    return above if not math.isfinite(above + below) else (above + below) / 2


def _evaluate(badness: Badness, z: np.ndarray) -> np.ndarray:
    found = np.asarray(badness(np.clip(special.ndtr(z), 2.0**-53, 1 - 2.0**-53)), dtype=float)
    return np.where(np.isnan(found), math.inf, found)


def _chains(
    badness: Badness,
    generator: np.random.Generator,
    z: np.ndarray,
    bad: np.ndarray,
    level: float,
    scale: float,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the states of all chains, those of one step after the other, their badness, and the length of moves at the end.

    A candidate rho z + sqrt(1 - rho^2) xi has the normal distribution again; it is taken where its badness reaches the level.
    """
    all_z, all_bad = [z], [bad]
    for step in range(round(1 / SHARE) - 1):
        spread = min(scale, 1.0)
        candidate = math.sqrt(1 - spread**2) * z + spread * generator.standard_normal(z.shape)
        found = _evaluate(badness, candidate)
        taken = found >= level
        z, bad = np.where(taken[:, None], candidate, z), np.where(taken, found, bad)
        all_z.append(z)
        all_bad.append(bad)
        scale = math.exp(math.log(scale) + (float(taken.mean()) - ACCEPTED) / math.sqrt(step + 1))
    return np.concatenate(all_z), np.concatenate(all_bad), scale


def _squared_variation(inside: np.ndarray, steps: int) -> float:
    """Return the squared coefficient of variation of the mean of an indicator over chains of some steps (steps = all: independent).

    Au & Beck 2001: the correlation within chains makes a mean less certain.
    """
    p, n = float(inside.mean()), inside.size
    if p == 0:
        return math.inf
    if steps == n or p == 1:
        return (1 - p) / (p * n)
    rows = inside.reshape(steps, -1).astype(float)
    covariance = [float((rows[: steps - k] * rows[k:]).mean()) - p * p for k in range(steps)]
    more = 2 * sum((1 - k / steps) * covariance[k] / (p * (1 - p)) for k in range(1, steps))
    return (1 - p) / (p * n) * (1 + max(more, 0.0))
