"""Equations on the pages are read, and what is not known is refused."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
mathml = runpy.run_path(str(DOCS / "mathml.py"))["mathml"]
EQUATIONS = [
    e for page in sorted(DOCS.rglob("*.md")) for e in re.findall(r"\$\$(.*?)\$\$", page.read_text(), re.S)
]


def test_every_equation_of_the_pages_is_well_formed() -> None:
    assert len(EQUATIONS) >= 5
    for text in EQUATIONS:
        assert ElementTree.fromstring(mathml(text, True)).tag.endswith("}math")


def test_scripts_and_fractions_are_where_they_belong() -> None:
    found = mathml(r"\frac{a}{b_1^2} \dot{v}'", False)
    assert (
        "<mfrac><mrow><mi>a</mi></mrow><mrow><msubsup><mi>b</mi><mn>1</mn><mn>2</mn></msubsup></mrow></mfrac>"
        in found
    )
    assert '<msup><mover><mrow><mi>v</mi></mrow><mo stretchy="false">.</mo></mover><mo>′</mo></msup>' in found


@pytest.mark.parametrize("text", [r"\unknown{a}", "{a", r"\begin{bmatrix} a \end{aligned}", "a # b"])
def test_what_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="equation"):
        mathml(text, False)
