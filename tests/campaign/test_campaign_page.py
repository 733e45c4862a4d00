"""The page of a campaign: the numbers it gets are those of the results, and they follow a campaign that runs."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
pytest.importorskip("h5py", reason="needs the extra data: pip install 'articulus[data]'")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import articulus as art
from articulus.campaign import Result, driver, shards
from articulus.campaign.causes import grouped
from articulus.campaign.ledger import Ledger
from articulus.campaign.page import CampaignPage
from articulus.campaign.page.cells import Cells
from articulus.campaign.page.watch import Watch
from articulus.campaign.statistics import joint_rate, judged, summary
from articulus.cli.commands import app

from ..browser.browser import PATIENCE, chromium, kept
from ..browser.viewer.served import foreign

STUDY = """
schema = 1
[study]
name = "arm"
model = "two_link"
[[component]]
type = "pd"
name = "servo"
kp = "900 N m/rad"
kd = "400 N m s/rad"
[run]
t_end = "0.1 s"
step = "1 ms"
sample = "10 ms"
[campaign]
runs = 120
seed = 3
requirements = ["turn < 30 deg", "rate < 0.3 rad/s"]
bands = ["q.joint1"]
[campaign.vary]
"q.joint1" = {normal = ["20 deg", "8 deg"]}
[campaign.figures]
turn = {signal = "q.joint1"}
rate = {signal = "v.joint1", at = "peak"}
settling = {signal = "q.joint1", at = "settling", target = 0, band = "16 deg"}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign in shards of 20 runs, some of which count as failed; it is read only."""
    place = tmp_path_factory.mktemp("page") / "arm.campaign"
    planned = art.Campaign.read(STUDY) if hasattr(art, "Campaign") else art.campaign.Campaign.read(STUDY)
    from articulus.campaign import work

    held = driver.Folder(place)
    held.claim(planned)
    ledger = held.ledger()
    scale = driver.Driver(planned, held, ledger).scale()
    for first in range(0, 120, 20):
        rows = work.run(planned, first, 20, scale)
        ledger.add(shards.write(place, ledger.next_file(), [rows], held.digest))
    ledger.close()
    return place
