"""Look at mechanisms and runs in a browser: pose them, play them, see their modes, change their parameters."""

from articulus.browser.viewer.session import ViewerSession
from articulus.browser.viewer.source import Source
from articulus.browser.viewer.viewing import Viewing, view

__all__ = ["Source", "ViewerSession", "Viewing", "view"]
