"""Aircraft: forces of the air by tables, control surfaces, flow angles, feedback within limits."""

from articulus.simulation.loop.components.aircraft.air_data import AirData
from articulus.simulation.loop.components.aircraft.control_surface import ControlSurface
from articulus.simulation.loop.components.aircraft.limited_feedback import LimitedFeedback
from articulus.simulation.loop.components.aircraft.table_aerodynamics import TableAerodynamics

SENSORS = (AirData,)
CONTROLLERS = (LimitedFeedback,)
ACTUATORS = (ControlSurface,)
DISTURBANCES = (TableAerodynamics,)

__all__ = ["AirData", "ControlSurface", "LimitedFeedback", "TableAerodynamics"]
