"""Attitudes, inertias and correlated numbers from a study's file to the table and the report."""

from __future__ import annotations

import numpy as np

import articulus as art

MODEL = """
schema = 1
name = "sat"
gravity = [0, 0, 0]
[parameters]
ixx = 1.0
iyy = 2.0
izz = 2.5
[body.hub]
mass = 20
inertia = [{parameter = "ixx"}, {parameter = "iyy"}, {parameter = "izz"}]
[joint.base]
type = "free"
parent = "ground"
child = "hub"
"""
STUDY = """
schema = 1
[study]
name = "sat"
model = "sat.toml"
[initial.v]
base = [0.1, 0.2, 0.3, 0, 0, 0]
[run]
t_end = "0.5 s"
step = "50 ms"
[campaign]
runs = 160
sampler = "saltelli"
requirements = ["spin < 20 deg/s"]
[campaign.figures]
spin = {signal = "v.base.wz", at = "peak"}
[[campaign.group]]
names = ["q.base"]
attitude = {within = "30 deg"}
[[campaign.group]]
names = ["ixx", "iyy", "izz"]
rows = [[1.0, 2.0, 2.5], [1.1, 2.0, "2.4 kg m^2"]]
[[campaign.group]]
vary = {"v.base.wx" = {normal = [0.1, 0.02]}, "v.base.wz" = {uniform = ["10 deg/s", "17 deg/s"]}}
correlation = [[1, 0.5], [0.5, 1]]
"""


def test_groups_go_from_the_file_to_the_report(tmp_path):
    (tmp_path / "sat.toml").write_text(MODEL)
    (tmp_path / "study.toml").write_text(STUDY)
    result = art.campaign.run(tmp_path / "study.toml")
    t = result.table
    q = np.stack([t.inputs[f"q.base.q{c}"] for c in "wxyz"])
    np.testing.assert_allclose(np.linalg.norm(q, axis=0), 1, atol=1e-12)
    assert (q[0] >= np.cos(np.radians(15)) - 1e-12).all()
    assert set(t.inputs["izz"]) == {2.5, 2.4}
    assert np.radians(10) <= t.inputs["v.base.wz"].min() < t.inputs["v.base.wz"].max() <= np.radians(17)
    again = result.replay(7)
    assert abs(again["v.base.wz"]).max() == t.figures["spin"][7]
    text = result.report(replay=False).read_text()
    assert "Sobol indices of spin" in text
    assert "spin &lt; 20 deg/s" in text
