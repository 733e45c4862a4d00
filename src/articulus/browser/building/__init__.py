"""Models built on a page: the text of a TOML file is the one truth, and every change of it is a change of its lines."""

from articulus.browser.building.document import Document
from articulus.browser.building.serving import Building
from articulus.browser.building.session import BuildSession

__all__ = ["BuildSession", "Building", "Document"]
