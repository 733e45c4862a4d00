"""Look at mechanisms and runs in a browser: pose them, play them, see their modes, change their parameters."""

from articulus.studio.viewer.session import Session
from articulus.studio.viewer.viewing import Viewing, view

__all__ = ["Session", "Viewing", "view"]
