"""From one run to a million: what varies, how it runs, what is kept, what comes out: `articulus.campaign.run(study, runs=1000)`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from articulus.study.campaign.calls import run
    from articulus.study.campaign.design import Campaign
    from articulus.study.campaign.distributions import (
        Attitude,
        Correlated,
        Direction,
        Inertia,
        LogNormal,
        Normal,
        Rows,
        Stats,
        Uniform,
    )
    from articulus.study.campaign.explore import failure_probability, run_until, worst_case
    from articulus.study.campaign.result import Result
    from articulus.study.campaign.table import CampaignTable

_LATE = {
    "calls": ("run",),
    "design": ("Campaign",),
    "explore": ("failure_probability", "run_until", "worst_case"),
    "result": ("Result",),
    "table": ("CampaignTable",),
}
"""Names that are imported when first asked for: whether a campaign is finished can be told without them. So are all distributions."""

__all__ = [
    "Attitude",
    "Campaign",
    "CampaignTable",
    "Correlated",
    "Direction",
    "Inertia",
    "LogNormal",
    "Normal",
    "Result",
    "Rows",
    "Stats",
    "Uniform",
    "failure_probability",
    "run",
    "run_until",
    "show",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    for module, held in _LATE.items():
        if name in held:
            return getattr(import_module(f"articulus.study.campaign.{module}"), name)
    if name[:1].isupper():
        for kind in import_module("articulus.study.campaign.distributions").ALL_DISTRIBUTIONS:
            if kind.__name__ == name:
                return kind
    raise AttributeError(f"module 'articulus.study.campaign' has no attribute '{name}'")


def show(folder: Any) -> Result:
    """Return the campaign of a folder, as far as it is done."""
    from articulus.study.campaign.result import Result

    return Result(folder)
