"""Distributions of a campaign: laws of each, and that a row depends on its own point alone."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy import special, stats

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.model.files.report import Report
from articulus.model.mechanism.numbers import quantity
from articulus.study.campaign import design, distributions
from articulus.study.campaign.distributions import (
    OWN,
    Attitude,
    Axis,
    Correlated,
    Direction,
    Inertia,
    LogNormal,
    Normal,
    Rows,
    Scalar,
    Stats,
    Uniform,
    axes_of,
    draw,
    require_ranges,
)
from articulus.study.campaign.report import sections
from articulus.study.campaign.samplers import MonteCarlo
from articulus.study.campaign.vary_reader import read_axes
from articulus.study.courses import Courses
from articulus.study.numbers import StudyNumbers

N = 20_000
ALL = [
    Uniform(-1, 3),
    Normal(2, 0.5),
    Normal(0, 1, 1, 2),
    LogNormal(3, 0.2),
    Rows.of([1, 2, 5], [1, 1, 2]),
    Stats("weibull_min", {"c": 1.5, "scale": 2.0}),
    Correlated((Normal(0, 1), LogNormal(1, 0.3)), ((1, 0.7), (0.7, 1))),
    Direction((1, 2, 3), 0.4),
    Attitude((1, 1, 0, 0), 0.5),
    Attitude(deviation=0.1),
    Inertia((1, 2, 2.5, 0.1, 0.2, -0.1), 0.3, 0.2),
]


def points(dims, count=N, seed=1):
    return MonteCarlo(dims, seed).rows(0, count)


@pytest.mark.parametrize("d", ALL, ids=lambda d: type(d).__name__)
def test_rows_do_not_depend_on_the_cut_and_keep_within_the_limits(d):
    u = points(d.dims, 301)
    whole = d.values(u)
    parts = np.concatenate([d.values(u[a:b]) for a, b in ((0, 1), (1, 8), (8, 15), (15, 301))])
    assert whole.shape == (301, d.width)
    assert whole.tobytes() == parts.tobytes()
    assert (whole >= d.limits[0]).all()
    assert (whole <= d.limits[1]).all()


@pytest.mark.parametrize(
    ("d", "law"),
    [
        (Uniform(-1, 3), stats.uniform(-1, 4)),
        (Normal(2, 0.5), stats.norm(2, 0.5)),
        (Normal(0, 1, 1, 2), stats.truncnorm(1, 2)),
        (Normal(1, 2, -3, 2), stats.truncnorm(-2, 0.5, loc=1, scale=2)),
        (LogNormal(3, 0.2), stats.lognorm(0.2, scale=3)),
        (Stats("gamma", {"a": 2.0}), stats.gamma(2.0)),
    ],
    ids=lambda x: str(x) if hasattr(x, "dims") else "",  # a law of scipy.stats prints its address
)
def test_one_number_inverts_its_distribution_function(d, law):
    u = np.linspace(1e-6, 1 - 1e-6, 101)
    np.testing.assert_allclose(law.cdf(d.values(u[:, None])[:, 0]), u, rtol=1e-9)


def test_the_far_tail_of_a_truncated_normal_keeps_its_digits():
    x = Normal(0, 1, 6, 9).values(np.array([[0.5]]))[0, 0]
    share = 0.5 * (special.ndtr(-6) + special.ndtr(-9))
    assert x == pytest.approx(-special.ndtri(share), rel=1e-12)


def test_correlation_and_shares_are_those_asked_for():
    d = Correlated((Normal(0, 1), LogNormal(1, 0.3)), ((1, 0.7), (0.7, 1)))
    x = d.values(points(2))
    z = np.stack([x[:, 0], np.log(x[:, 1])])
    assert np.corrcoef(z)[0, 1] == pytest.approx(0.7, abs=4 * (1 - 0.49) / math.sqrt(N))
    rank = stats.spearmanr(x[:, 0], x[:, 1]).statistic
    assert rank == pytest.approx(6 / math.pi * math.asin(0.35), abs=4 / math.sqrt(N))
    many = Rows.of([1, 2, 5], [1, 1, 2]).values(points(1))[:, 0]
    assert (many == 5).mean() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(N))


def test_directions_fill_a_cone_evenly():
    d = Direction((1, 2, 3), 0.4)
    x = d.values(points(2))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, atol=1e-12)
    cosine = x @ np.array([1, 2, 3]) / math.sqrt(14)
    assert cosine.min() >= math.cos(0.4) - 1e-12
    share = (1 - cosine) / (1 - math.cos(0.4))  # uniform on a sphere
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_attitudes_fill_the_rotations_evenly_and_angles_are_limited():
    q = Attitude().values(points(3))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-12)
    # of all rotations: mean of q q^T is a quarter of the identity (deviation of an entry below 0.25)
    np.testing.assert_allclose(q.T @ q / N, np.eye(4) / 4, atol=4 * 0.25 / math.sqrt(N))
    about = np.array([1, 1, 0, 0]) / math.sqrt(2)
    near = Attitude((1, 1, 0, 0), 0.5).values(points(3))
    angle = 2 * np.arccos(np.clip(np.abs(near @ about), 0, 1))
    assert angle.max() <= 0.5 + 1e-7
    share = (angle - np.sin(angle)) / (0.5 - math.sin(0.5))
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_inertias_are_those_of_rigid_bodies_even_from_a_flat_one():
    for nominal in ((1, 2, 2.5, 0.1, 0.2, -0.1), (1, 2, 3)):
        d = Inertia(nominal, 0.8, 0.5)
        x = d.values(points(6, 2000))
        J = x[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
        a, b, c = np.linalg.eigvalsh(J).T
        assert (a > 0).all()
        assert (c <= (a + b) * (1 + 1e-12)).all()
    still = Inertia((1, 2, 2.5, 0.1, 0.2, -0.1), 1e-9, 0.0).values(points(6, 5))
    np.testing.assert_allclose(still, np.tile([1, 2, 2.5, 0.1, 0.2, -0.1], (5, 1)), rtol=1e-7)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Uniform(2, 1), "lower number first"),
        (lambda: Normal(0, -1), "positive"),
        (lambda: Normal(0, 1, 20, 30), "nearer to the mean"),
        (lambda: LogNormal(-1, 0.1), "positive"),
        (lambda: Rows.of([1, 2], [1, -1]), "none negative"),
        (lambda: Stats("weibul_min", {"c": 1}), "weibull_min"),
        (lambda: Stats("weibull_min", {"k": 1}), "expected c"),
        (lambda: Correlated((Normal(0, 1),) * 2, ((1, 1.2), (1.2, 1))), "positive definite"),
        (lambda: Direction(within=90), "Degrees"),
        (lambda: Inertia((1, 1, 5), 0.1), "at most the sum"),
        (lambda: Axis(("a", "b"), Direction()), "expected 3"),
        (lambda: axes_of({"a": [1], ("b", "a"): Rows(((1, 2),))}), "more than once"),
    ],
)
def test_what_makes_no_sense_is_refused(make, told):
    with pytest.raises(InputError, match=told):
        make()


def test_distributions_that_leave_the_valid_range_are_named():
    axes = axes_of({"mass": Normal(1, 0.1), "length": Uniform(0, 2), "k": LogNormal(1, 0.1)})
    with pytest.raises(ModelError, match=r"'mass'.*truncated.*\n.*'length'.*0 to 1") as caught:
        require_ranges(axes, {"mass": (0.5, 2.0), "length": (0.0, 1.0)})
    assert len(caught.value.findings) == 2
    require_ranges(axes, {"length": (0.0, 2.0)})


def test_drawn_gives_every_name():
    axes = axes_of({"m": Uniform(0, 1), ("x", "y", "z"): Direction(), "k": [3.0]})
    found = draw(axes, points(4, 7))
    assert list(found) == ["m", "x", "y", "z", "k"]
    np.testing.assert_allclose(found["x"] ** 2 + found["y"] ** 2 + found["z"] ** 2, 1, rtol=1e-12)
    assert (found["k"] == 3).all()


# TOML


def read(table, folder=Path()):
    report = Report("x.toml", {})
    numbers = StudyNumbers(report, {"payload": "1 kg", "angle": 0.1})
    return read_axes(Courses(report, numbers, folder), table, None), report.findings


def test_forms_of_toml(tmp_path):
    (tmp_path / "m.csv").write_text("c,load [g],w\n1,500,1\n2,1500,3\n")
    axes, findings = read(
        {
            "vary": {
                "payload": {"uniform": [0, "500 g"]},
                "angle": {"normal": ["1 deg", 0.1], "truncated": [-1, 1]},
                "mu": {"lognormal": [0.3, 0.1]},
                "a": {"values": [1, 2], "weights": [1, 3]},
                "b": {"from": 0, "to": 1, "count": 3},
                "c": [5, 6],
                "d": {"table": "m.csv", "column": "load", "weights": "w"},
                "e": {"stats": "weibull_min", "c": 1.5, "scale": "2 mm"},
            },
            "group": [
                {
                    "correlation": [[1, 0.5], [0.5, 1]],
                    "vary": {"f": {"uniform": [0, 1]}, "g": {"normal": [0, 1]}},
                },
                {"names": ["x", "y", "z"], "direction": {"within": "10 deg"}},
                {"names": ["q.base"], "attitude": {"deviation": "1 deg"}},
                {"names": ["h", "i"], "table": "m.csv", "columns": ["c", "load"]},
                {"names": ["j", "k"], "rows": [[1, "2 mm"], [3, 4]]},
                {"names": [*"lmnopr"], "inertia": {"nominal": [1, 2, 2.5], "spread": 0.1}},
            ],
        },
        tmp_path,
    )
    assert not findings
    held = {name: a.distribution for a in axes for name in a.names}
    assert held["payload"] == Uniform(0, 0.5)
    assert held["angle"] == Normal(math.radians(1), 0.1, -1, 1)
    assert held["mu"] == LogNormal(0.3, 0.1)
    assert held["a"] == Rows.of([1, 2], [0.25, 0.75])
    assert held["b"] == Rows.of([0, 0.5, 1])
    assert held["d"] == Rows.of([0.5, 1.5], [1, 3])
    assert held["e"] == Stats("weibull_min", {"c": 1.5, "scale": 2e-3})
    assert held["g"].members == (Uniform(0, 1), Normal(0, 1))
    assert held["y"].within == pytest.approx(math.radians(10))
    assert held["q.base.qz"].deviation == pytest.approx(math.radians(1))
    assert held["i"] == Rows(((1, 0.5), (2, 1.5)))
    assert held["k"] == Rows(((1, 2e-3), (3, 4)))
    assert held["o"] == Inertia((1, 2, 2.5), 0.1)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"vary": {"payload": {"uniform": [0, "5 m"]}}}, "kg"),
        ({"vary": {"a": {"unifrom": [0, 1]}}}, "uniform"),
        ({"vary": {"a": {"uniform": [1, 0]}}}, "lower number first"),
        ({"vary": {"a": {"normal": [1, 2], "truncate": [0, 1]}}}, "truncate"),
        ({"vary": {"a": 3}}, "uniform"),
        ({"vary": {"a": {"table": "missing.csv", "column": "c"}}}, "missing.csv"),
        ({"group": [{"names": ["a", "b"], "direction": {}}]}, "expected 3"),
        ({"group": [{"names": ["a"]}]}, "correlation"),
        ({"vary": {"a": [1]}, "group": [{"names": ["a"], "rows": [[1]]}]}, "more than once"),
    ],
)
def test_mistakes_in_toml_are_told(table, told):
    _, findings = read(table)
    assert findings
    assert told in "\n".join(map(str, findings))


# a new distribution: a class, and an entry in the list


@dataclasses.dataclass(frozen=True)
class Triangle(Scalar):
    """A triangle over [low, high], with its peak at a share of the way."""

    low: float = quantity(OWN, "least value")
    high: float = quantity(OWN, "greatest value")
    peak: float = quantity("-", "share of the way to the peak", default=0.5)
    lists: ClassVar = {"triangle": ("low", "high"), "peak": ("peak",)}

    @property
    def limits(self):
        return (self.low,), (self.high,)

    def values(self, u):
        up, down = np.sqrt(u * self.peak), 1 - np.sqrt((1 - u) * (1 - self.peak))
        return self.low + (self.high - self.low) * np.where(u < self.peak, up, down)


@dataclasses.dataclass(frozen=True)
class Ring:
    """Points on a circle about the origin."""

    radius: float = quantity("m", "radius")
    shift: tuple[float, ...] = quantity("m", "center", size="2", default=(0.0, 0.0))
    key: ClassVar = "ring"
    dims: int = dataclasses.field(default=1, init=False)
    width: int = dataclasses.field(default=2, init=False)

    @property
    def limits(self):
        return tuple(c - self.radius for c in self.shift), tuple(c + self.radius for c in self.shift)

    def values(self, u):
        turn = 2 * math.pi * u
        return np.hstack([np.cos(turn), np.sin(turn)]) * self.radius + self.shift


def test_a_class_and_an_entry_in_the_list_make_a_distribution(monkeypatch):
    for kind in (Triangle, Ring):
        monkeypatch.setattr(distributions, kind.__name__, kind, raising=False)
    monkeypatch.setattr(
        distributions, "ALL_DISTRIBUTIONS", (*distributions.ALL_DISTRIBUTIONS, Triangle, Ring)
    )
    assert art.campaign.Triangle is Triangle
    group = [{"names": ["x", "y"], "ring": {"radius": "20 mm", "shift": [0, "1 cm"]}}]
    vary = {"payload": {"triangle": [0, "500 g"], "peak": [0.25]}, "angle": {"triangle": ["-1 deg", "1 deg"]}}
    axes, findings = read({"vary": vary, "group": group})
    assert not findings
    held = {name: a.distribution for a in axes for name in a.names}
    assert held["payload"] == Triangle(0, 0.5, 0.25)
    assert held["angle"].high == pytest.approx(math.radians(1))
    assert held["y"] == Ring(0.02, (0.0, 0.01))
    assert [design._from_plain(design._plain(a)) for a in axes] == list(axes)
    assert sections._axis_texts(axes[0]) == ("triangle", "low 0, high 0.5, peak 0.25")
    x = draw(axes, np.random.default_rng(0).random((20_000, 3)))["payload"]
    assert x.mean() == pytest.approx(
        0.5 * (1 + 0.25) / 3, abs=5 * 0.11 / 20_000**0.5
    )  # printed: (a + b + c)/3
    wrong = {"payload": {"triangle": [0, "5 m"]}, "angle": {"triangle": [0]}, "b": {"triangel": [0, 1]}}
    told = [
        str(f) for f in read({"vary": wrong, "group": [{"names": ["x", "y"], "ring": {"shift": [0, 0]}}]})[1]
    ]
    for path, part in (
        ("payload.triangle", "kg"),
        ("angle.triangle", "2"),
        ("vary.b", "{triangle = [low, high]}"),
        ("group[0].ring", "no radius"),
    ):
        assert any(path in text and part in text for text in told), (path, told)


def test_every_distribution_of_the_list_is_public():
    names = [kind.__name__ for kind in distributions.ALL_DISTRIBUTIONS]
    assert set(names) <= set(art.campaign.__all__)
    assert all(getattr(art.campaign, n) is getattr(distributions, n) for n in names)
