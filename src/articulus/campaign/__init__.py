"""From one run to a million: what varies, how it runs, what is kept, what comes out.

The package can be called: `articulus.campaign(study, runs=1000)` is `articulus.campaign.run.campaign`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from articulus.campaign.design import Campaign
from articulus.campaign.distributions import (
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
from articulus.campaign.explore import failure_probability, run_until, worst_case
from articulus.campaign.result import Result
from articulus.campaign.run import campaign
from articulus.campaign.table import Table

__all__ = [
    "Attitude",
    "Campaign",
    "Correlated",
    "Direction",
    "Inertia",
    "LogNormal",
    "Normal",
    "Result",
    "Rows",
    "Stats",
    "Table",
    "Uniform",
    "failure_probability",
    "run_until",
    "show",
    "worst_case",
]


def show(folder: Any) -> Result:
    """Return the campaign of a folder, as far as it is done."""
    return Result(folder)


class _Callable(ModuleType):
    """A module that runs a campaign when it is called."""

    def __call__(self, *args: Any, **given: Any) -> Result:
        return campaign(*args, **given)


sys.modules[__name__].__class__ = _Callable
