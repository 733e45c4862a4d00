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

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "gallery"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_theme"]
html_css_files = ["gallery.css"]
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


ACCESSIBLE = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    ('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">'),
)
"""What the theme leaves out for readers with a screen reader or a keyboard, as axe-core finds it."""


def _make_accessible(app, error):
    """Write what the theme leaves out into every page."""
    if error is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            for found, better in ACCESSIBLE:
                text = text.replace(found, better)
            page.write_text(text, encoding="utf-8")


def setup(app):
    """Register the hooks; that of docstrings ahead of napoleon."""
    app.connect("autodoc-process-docstring", _as_plain_text, priority=100)
    app.connect("build-finished", _make_accessible)
