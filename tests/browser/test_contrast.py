"""Words on the pages can be read: contrast of 4.5 to 1 in light and dark (WCAG 2.2, success criterion 1.4.3), and no control inside another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[2] / "src" / "articulus" / "browser" / "assets"
STYLE = (ASSETS / "player.css").read_text()


def colors(scheme: str) -> dict[str, str]:
    block = STYLE.split(scheme, 1)[1].split("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(color: str) -> float:
    """Return the relative luminance as WCAG 2.2 defines it."""
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [":root {", ":root.dark {"])
@pytest.mark.parametrize("word", ["ink", "soft", "accent", "bad"])
@pytest.mark.parametrize("ground", ["card", "page"])
def test_words_stand_out(scheme: str, word: str, ground: str) -> None:
    held = colors(scheme)
    light, dark = sorted((luminance(held[word]), luminance(held[ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_controls_of_the_pole_map_are_beside_its_heading() -> None:
    assert "this.head.append(button" not in (ASSETS / "poles.js").read_text()
