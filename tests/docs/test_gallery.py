"""The gallery: its exhibits have pages and runs, and moving pictures are files that others can read."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.browser import animation
from articulus.errors import InputError

DOCS = Path(__file__).resolve().parents[2] / "docs"
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("docutils")


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gallery"]


def test_every_exhibit_is_explained_on_a_page(gallery):
    names = [e.name for e in gallery.EXHIBITS]
    assert len(set(names)) == len(names)
    for e in gallery.EXHIBITS:
        assert (DOCS / e.page.replace(".html", ".md")).exists()
    (shown,) = re.findall(r"```\{player\} (\w+)", (DOCS / "index.md").read_text())
    assert shown in names


def test_an_exhibit_is_written_once(gallery, tmp_path):
    exhibit = next(e for e in gallery.EXHIBITS if e.name == "fall")
    gallery.write(tmp_path, exhibit)
    assert {f.name for f in tmp_path.iterdir()} == {"fall.html", "fall.png", "fall_still.png"}
    when = (tmp_path / "fall.png").stat().st_mtime_ns
    gallery.write(tmp_path, exhibit)
    assert (tmp_path / "fall.png").stat().st_mtime_ns == when


def test_a_moving_picture_moves_and_its_viewer_does_not():
    arm = art.load("two_link")
    q = np.linspace([0.0, 0.0], [0.0, 1.5], 4)
    shown = Image.open(io.BytesIO(animation(arm, q, 2.0, width=140)))
    assert (shown.n_frames, shown.size) == (4, (140, 100))
    frames = []
    for k in range(4):
        shown.seek(k)
        assert shown.info["duration"] == 500
        frames.append(np.asarray(shown.convert("RGBA")).astype(int))
    moved = [np.abs(f - frames[0]).sum(axis=2) > 60 for f in frames]
    assert not moved[0].any()
    assert moved[3].sum() > moved[1].sum() > 0
    still = (frames[0][..., 3] > 200) & ~moved[3]
    assert still.sum() > 100, "the first link stays where it is"


def test_nothing_to_show():
    with pytest.raises(InputError, match="no positions"):
        animation(art.load("two_link"), [], 1.0)
