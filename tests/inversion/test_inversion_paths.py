"""Paths: derivatives against differences of the positions, rest outside, jumps named, files."""

import math

import numpy as np
import pytest

from articulus.errors import DoubtfulResult, InputError
from articulus.motion.inversion import Circle, Line, Path, Profile, SplinePath, from_csv, sample_path
from articulus.motion.inversion.paths import require_smooth

PATHS = {
    "polynomial": Profile(1.0),
    "sine": Profile(1.0, law="sine"),
    "line": Line((0.0, 1.0), (2.0, -1.0), Profile(1.0, order=6)),
    "circle": Circle((0.0, 0.0, 1.0), (0.0, 2.0, 1.0), 4.0, Profile(1.0), normal=(3.0, 0.0, 0.0)),
    "curve": SplinePath([[0, 0], [1, 1], [2, 0], [3, 1], [4, 5]], profile=Profile(1.0)),
    "few points": SplinePath([[0, 0], [1, 1], [2, 0]], profile=Profile(1.0)),
    "timed": SplinePath([[0, 0], [1, 1], [2, 0], [3, 1]], times=[0.0, 0.3, 0.6, 1.0]),
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_each_derivative_is_the_slope_of_the_one_before(path: Path) -> None:
    t = np.linspace(0.01, 0.99, 197)
    h = 1e-4
    low, here, high = (path.derivatives(t + s, 4) for s in (-h, 0.0, h))
    for k in range(4):
        slope = (high[k] - low[k]) / (2 * h)
        # error h^2 / 6 of the third derivative above, and of a knot inside the step h / 2 times the jump of the next
        assert np.abs(slope - here[k + 1]).max() < 2e-4 * np.abs(here[k + 1]).max()


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_rests_before_and_after(path: Path) -> None:
    found = path.derivatives([-1.0, path.t0 - 1e-9, path.t_end + 1e-9, 3.0])
    assert np.array_equal(found[0, 0], found[0, 1])
    assert np.array_equal(found[0, 2], found[0, 3])
    assert not found[1:].any()


def test_sine_has_the_acceleration_of_its_name() -> None:
    s = np.linspace(0.0, 1.0, 301)
    motion = sample_path(Profile(0.5, law="sine", t0=2.0), 2.0 + 0.5 * s)
    size = 2 * np.pi / (0.75 * 0.5**2)  # so that the way is 1
    expected = size * np.sin(2 * np.pi * s) * (1 - np.cos(2 * np.pi * s))
    expected[-1] = 0.0
    assert np.allclose(motion.acceleration[:, 0], expected, atol=1e-11 * size)
    assert motion.y[-1, 0] == 1.0
    assert motion.t0 == 2.0
    assert motion.t_end == 2.5


def test_near_its_ends_the_sine_grows_as_the_fifth_power() -> None:
    x = np.array([1e-4, 1e-3])
    leading = (2 * np.pi) ** 4 / 30 * x**5  # x^5 (2 pi)^5 (2^5 / 8 - 1) / (1.5 pi 5!)
    assert np.allclose(Profile(1.0, law="sine").position(x)[:, 0], leading, rtol=1e-4, atol=0)


def test_circle_keeps_its_radius_and_speed() -> None:
    circle = PATHS["circle"]
    t = np.linspace(0, 1, 101)
    motion = sample_path(circle, t)
    law = Profile(1.0).derivatives(t)
    assert np.allclose(np.linalg.norm(motion.y - (0, 0, 1), axis=1), 2.0, atol=1e-13)
    assert np.allclose(np.linalg.norm(motion.velocity, axis=1), 8.0 * law[1, :, 0], atol=1e-11)
    assert not motion.y[:, 0].any()


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_profile_jumps_where_and_by_how_much(order: int) -> None:
    found = Line(0.0, 2.0, Profile(0.5, order=order, t0=1.0)).jumps(order + 1)
    # f^(n+1)(0+) = (2 n + 1)! / n! of the polynomial x^(n+1) C(2 n + 1, n) + ...
    size = 2 * math.factorial(2 * order + 1) / math.factorial(order) / 0.5 ** (order + 1)
    assert [(j.derivative, j.time) for j in found] == [(order + 1, 1.0), (order + 1, 1.5)]
    assert [j.size for j in found] == pytest.approx([size, size], rel=1e-9)


@pytest.mark.parametrize(("order", "enough"), [(1, False), (2, True)])
def test_too_rough_for_a_relative_degree(order: int, enough: bool) -> None:
    path = Line(0.0, 1.0, Profile(1.0, order=order))
    if enough:
        require_smooth(path, 3, "test")
        return
    with pytest.raises(InputError, match=r"derivative 2 of coordinate 0 jumps by 6 at t = 0 s.*order 3"):
        require_smooth(path, 3, "test")


def test_samples_with_a_corner_are_found_rough() -> None:
    t = np.linspace(0.0, 1.0, 1001)
    corner = sample_path(np.minimum(t, 0.5) * (t > 0), t).path.jumps(3)
    assert corner[0].derivative == 1
    assert min(abs(corner[0].time - 0.5), corner[0].time) < 2e-3
    assert corner[0].size == pytest.approx(1.0, rel=1e-6)
    third = sample_path(Profile(1.0, order=2).position(t), t).path.jumps(3)
    assert third[0].derivative == 3
    assert not sample_path(Profile(1.0).position(t), t).path.jumps(3)


def test_samples_have_the_derivatives_of_the_motion_they_come_from() -> None:
    t = np.linspace(-0.5, 1.5, 801)
    wanted = sample_path(Line((0.0, 1.0), (1.0, 3.0), Profile(1.0)), t)
    found = sample_path(wanted.y, t)
    assert (found.t0, found.t_end) == pytest.approx((0.0, 1.0), abs=3e-3)
    for k in range(3):
        assert (
            np.abs(found.derivatives[k] - wanted.derivatives[k]).max()
            < 1e-4 * np.abs(wanted.derivatives[k]).max()
        )


def test_file_in_other_units(tmp_path) -> None:
    t = np.linspace(0.0, 1.0, 41)
    y = Profile(1.0).position(t)[:, 0]
    rows = [f"{a * 1000:.17g},{b * 1000:.17g},{90 * b:.17g}" for a, b in zip(t, y)]
    (tmp_path / "tip.csv").write_text("t [ms],x [mm],turn [deg]\n" + "\n".join(rows))
    path = from_csv(tmp_path / "tip.csv", ["turn", "x"])
    assert np.allclose(path.position([0.3]), [[np.pi / 2, 1.0]] * Profile(1.0).position([0.3]), atol=1e-7)
    (tmp_path / "moving.csv").write_text("\n".join(f"{a},{a}" for a in t))
    with pytest.warns(DoubtfulResult, match="rest"):
        from_csv(tmp_path / "moving.csv")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Profile(0.0), "positive duration"),
        (lambda: Profile(1.0, order=11), "0 to 10"),
        (lambda: Profile(1.0, law="cosine"), "'sine'"),
        (lambda: Line((0, 1), (1,), Profile(1.0)), "2 and 1 coordinates"),
        (lambda: Line(0, 1, 0.5), "Profile"),
        (lambda: Circle((0, 0, 0), (1, 0, 1), 1.0, Profile(1.0)), "plane"),
        (lambda: SplinePath([[0], [0]], profile=Profile(1.0)), "equal points"),
        (lambda: SplinePath([0, 1], times=[1, 0]), "ascending"),
        (lambda: SplinePath([0, 1]), "either times or a profile"),
        (lambda: sample_path("tip.csv", [0.0, 1.0]), "expected numbers"),
    ],
)
def test_refused(made, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made()
