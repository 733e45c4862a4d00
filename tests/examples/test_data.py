"""Data of the examples are what the repository itself writes."""

from __future__ import annotations

from pathlib import Path

from articulus.model import files

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"


def test_forearm() -> None:
    aluminium = files.FeMaterial(1, E=7.0e10, G=2.63e10, nu=0.33, rho=2700.0)
    strip = files.FeSection(1, area=1.5e-4, I1=6.0e-10, I2=1.2e-8, J=1.2e-9)
    model = files.beam_model(0.8, material=aluminium, section=strip, elements=8, tip=0.3, name="forearm")
    assert (DATA / "forearm.bdf").read_text() == files.bulk_text(model)
