"""C99 source of anything that runs: quantities of a mechanism, laws, the whole step of a loop. No allocation, no library but libm."""

from articulus.bridges.c.law import export_law
from articulus.bridges.c.loop import export_loop
from articulus.bridges.c.motion import export_motion
from articulus.bridges.c.quantities import export_quantities

__all__ = ["export_law", "export_loop", "export_motion", "export_quantities"]
