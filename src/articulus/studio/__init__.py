"""Mechanisms and runs in a browser: scenes, pages that play runs."""

from articulus.studio.export import export_html, policy, replay_fragment
from articulus.studio.scene import Scene, scene_of

__all__ = ["Scene", "export_html", "policy", "replay_fragment", "scene_of"]
