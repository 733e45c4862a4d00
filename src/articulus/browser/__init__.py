"""Mechanisms and runs in a browser: scenes, pages that play runs, a viewer, machines to drive."""

from articulus.browser.export import export_html, policy, replay_fragment
from articulus.browser.picture import animation
from articulus.browser.scene import Scene, scene_of
from articulus.browser.viewer import Viewing, view

__all__ = ["Scene", "Viewing", "animation", "export_html", "policy", "replay_fragment", "scene_of", "view"]
