"""From one run to a million: what varies, how it runs, what is kept, what comes out.

The package can be called: `articulus.campaign(study, runs=1000)` is `articulus.study.campaign.run.campaign`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from articulus.study.campaign.table import Table

_LATE = {
    "design": ("Campaign",),
    "distributions": (
        "Attitude",
        "Correlated",
        "Direction",
        "Inertia",
        "LogNormal",
        "Normal",
        "Rows",
        "Stats",
        "Uniform",
    ),
    "explore": ("failure_probability", "run_until", "worst_case"),
    "result": ("Result",),
    "table": ("Table",),
}
"""Names that are imported when first asked for: whether a campaign is finished can be told without them."""

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


def __getattr__(name: str) -> Any:
    for module, held in _LATE.items():
        if name in held:
            return getattr(import_module(f"articulus.study.campaign.{module}"), name)
    raise AttributeError(f"module 'articulus.study.campaign' has no attribute '{name}'")


def show(folder: Any) -> Result:
    """Return the campaign of a folder, as far as it is done."""
    from articulus.study.campaign.result import Result

    return Result(folder)


class _Callable(ModuleType):
    """A module that runs a campaign when it is called."""

    def __call__(self, *args: Any, **given: Any) -> Result:
        from articulus.study.campaign.run import campaign

        return campaign(*args, **given)


sys.modules[__name__].__class__ = _Callable
