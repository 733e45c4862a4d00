"""Control-structure and thermal-structural interaction, each field by its own solution."""

from articulus.control.interaction.partitioned import (
    Partitioned,
    PartitionedRun,
    modal_filter,
    modal_gains,
)
from articulus.control.interaction.step_limits import (
    direct_step_limit,
    feedback_step_limit,
    observer_step_limit,
)
from articulus.control.interaction.thermoelastic import Thermoelastic

__all__ = [
    "Partitioned",
    "PartitionedRun",
    "Thermoelastic",
    "direct_step_limit",
    "feedback_step_limit",
    "modal_filter",
    "modal_gains",
    "observer_step_limit",
]
