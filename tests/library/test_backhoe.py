"""The backhoe of the library: its count of degrees of freedom, the linkage of its bucket, and the force that holds its boom."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.library import backhoe as data
from articulus.model.mechanism import Lock
from articulus.simulation.solve.assembly import assemble


@pytest.fixture(scope="module")
def digger() -> art.Mechanism:
    return art.load("backhoe")


def placed(digger: art.Mechanism, **slides: float) -> np.ndarray:
    """Return the closed position with the slides and the swing held where they are given."""
    driven = ("swing", "boom_rod", "dipper_rod", "bucket_rod")
    return np.asarray(assemble(digger, digger.q(**slides), fixed=driven).q)


def test_four_degrees_of_freedom_without_a_redundant_constraint(digger: art.Mechanism) -> None:
    """Yae, Hwang & Chern 1989: three to dig and the swing; 66 - 20 - 16 - 12 - 15 of the source's joints, and one more."""
    assert (digger.nv, len(digger.constraint_names)) == (17, 13)
    assert np.abs(digger.constraint_residual(digger.neutral)).max() < 1e-12
    for q in (digger.neutral, placed(digger, boom_rod=0.1, dipper_rod=-0.1, bucket_rod=0.1)):
        singular = np.linalg.svd(digger.constraint_jacobian(q), compute_uv=False)
        assert singular[-1] > 1e-2 * singular[0]


def test_the_bucket_turns_as_its_four_bar_linkage_says(digger: art.Mechanism) -> None:
    """Circles about hinges in the plane of the dipper: barrel and first coupler place the pin, the second coupler the bucket."""
    eye, pin, hinge = (
        np.array(data.EYES["bucket"][0][1]),
        np.array(data.EYES["bucket"][1][1]),
        np.array(data.COUPLER_1),
    )
    wrist = np.array([data.DIPPER[0], 0.0])
    reach, start = data.COUPLER_2[0], np.radians(data.COUPLER_2[1])
    link = wrist + reach * np.array([np.cos(start), np.sin(start)])
    moved, end = pin, link
    for slide in (-0.1, 0.05, 0.15, 0.22, 0.3):  # from each one the nearer crossing is the next
        moved = _crossing(eye, np.linalg.norm(pin - eye) + slide, hinge, np.linalg.norm(pin - hinge), moved)
        end = _crossing(moved, np.linalg.norm(link - pin), wrist, reach, end)
        turned = np.arctan2(*(end - wrist)[::-1]) - start
        found = placed(digger, bucket_rod=slide)[digger.q_slice("bucket")]
        assert found == pytest.approx([turned], abs=1e-9)


def _crossing(a: np.ndarray, r: float, b: np.ndarray, s: float, near: np.ndarray) -> np.ndarray:
    """Return the point at distance r of a and s of b that is nearer to a given one."""
    d = np.linalg.norm(b - a)
    along = (r**2 - s**2 + d**2) / (2 * d)
    e = (b - a) / d
    foot, off = a + along * e, np.sqrt(r**2 - along**2) * np.array([-e[1], e[0]])
    return min((foot + off, foot - off), key=lambda p: np.linalg.norm(p - near))


def test_the_cylinder_of_the_boom_holds_what_virtual_work_says() -> None:
    """F ds = dV, with the other cylinders held; differences of fourth order leave 1e-7."""
    digger = art.load("backhoe")
    for k, joint in enumerate(("swing", "boom_rod", "dipper_rod", "bucket_rod")):
        digger.constrain(Lock(f"hold{k}", joint, (0.0,)))
    run = art.simulate(digger, 1e-3, step=1e-3)
    at = digger.constraint_names.index("hold1")
    free, h = art.load("backhoe"), 1e-3
    V = [free.energy(placed(free, boom_rod=k * h), np.zeros(free.nv))[1] for k in (-2, -1, 1, 2)]
    force = (V[0] - 8 * V[1] + 8 * V[2] - V[3]) / (12 * h)
    assert force > 1e4
    assert np.abs(run["multipliers"][0, at]) == pytest.approx(force, rel=1e-6)
