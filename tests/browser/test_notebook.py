"""What a notebook shows: pictures without a browser, tables, plots."""

from __future__ import annotations

import io

import numpy as np
import pytest

import articulus as art
from articulus.browser.picture import HEIGHT, WIDTH, picture
from articulus.model.mechanism.visual import Box, Sphere

Image = pytest.importorskip("PIL.Image", reason="package pillow (extra `mesh`) is not installed")


def pixels(content: bytes) -> np.ndarray:
    """Return a PNG file as another reader sees it, (height, width, 4)."""
    image = Image.open(io.BytesIO(content))
    assert image.size == (WIDTH, HEIGHT)
    return np.asarray(image)


def cube(*visuals, **options) -> art.Mechanism:
    m = art.Mechanism("cube", **options).body("b", 1.0, inertia=(0.1, 0.1, 0.1), visuals=visuals)
    return m.joint("turn", art.Revolute((0, 0, 1)), "ground", "b")


def test_a_ball_is_round_and_fills_the_height() -> None:
    seen = pixels(picture(cube(Sphere(0.5, color="#ff0000"))))[..., 3] > 128
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    high, wide = np.ptp(rows) + 1, np.ptp(columns) + 1
    assert high == pytest.approx(0.9 * HEIGHT, rel=0.03)  # a ball of twenty sides
    assert wide == pytest.approx(high, rel=0.03)
    assert seen.sum() == pytest.approx(np.pi / 4 * high * wide, rel=0.03)


def test_what_is_nearer_hides_what_is_behind() -> None:
    behind = Box((1, 1, 1), color="#0000ff", at=(-6, 9, -4))
    seen = pixels(picture(cube(Box((3, 3, 3), color="#ff0000"), behind)))
    middle = seen[HEIGHT // 2, WIDTH // 2]
    assert middle[0] > 60, "the near box is seen"
    assert middle[2] == 0
    assert picture(cube(behind)) != picture(cube(behind), [0.5]), "it turns with the joint"


@pytest.mark.parametrize("name", ["cat215b", "two_link", "padilla_arm"])
def test_mechanisms_show_a_picture_and_a_table(name: str) -> None:
    shown = art.load(name)._repr_html_()
    assert "data:image/png;base64," in shown
    assert all(f"<td>{joint}</td>" in shown for joint in art.load(name).joint_names)


def test_names_are_escaped() -> None:
    m = (
        art.Mechanism("<b>&")
        .body("x<y", 1.0, inertia=(1, 1, 1))
        .joint("j", art.Revolute((0, 0, 1)), "ground", "x<y")
    )
    shown = m._repr_html_()
    assert "x&lt;y" in shown
    assert "<b>&<" not in shown


def test_runs_figures_and_linear_models_show_themselves() -> None:
    run = art.simulate(art.load("two_link"), 0.05, q0=[0.3, 0.1])
    shown = run._repr_html_()
    assert "data:image/png" in shown
    assert "<iframe" in shown
    assert "sandbox=" in shown
    assert run.plot("q")._repr_png_().startswith(b"\x89PNG")
    table = art.load("two_link").linearize()._repr_html_()
    assert table.count("<tr>") == 3  # two oscillations, each once
    assert "frequency" in table
