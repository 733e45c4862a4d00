"""Sphinx settings. Builds offline: no scripts, fonts or inventories from elsewhere; equations are MathML or plain text."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "articulus"
author = "The articulus developers"
copyright = "the articulus developers, BSD 3-Clause"
version = release = installed("articulus")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"articulus {release}"
html_copy_source = False

nitpicky = False
suppress_warnings = [
    "ref.python"
]  # words of a type such as q or count are names of several attributes: no link then
default_role = "literal"
pygments_style = "default"

myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes as a list: they are no targets for references


def _as_plain_text(app, what, name, obj, options, lines):
    """Escape what reStructuredText would take for markup: docstrings are plain text with names in backticks."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [
                re.sub(r"(?<!\\)(\*(?=\w)|(?<=\w)_(?!\w)|\|)", r"\\\1", part) for part in parts[::2]
            ]
            lines[i] = "`".join(parts)


def setup(app):
    """Register the hook, ahead of napoleon."""
    app.connect("autodoc-process-docstring", _as_plain_text, priority=100)
