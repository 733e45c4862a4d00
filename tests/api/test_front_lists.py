"""The front lists are short, every name has one home, and a name that lives beside them is refused with where it is."""

from __future__ import annotations

import pytest

import articulus as art
from articulus.study import campaign

FRONTS = (art, art.control, art.trajectory, art.inversion, art.structure, art.components, campaign)


def test_at_most_280_names() -> None:
    assert sum(len(front.__all__) for front in FRONTS) <= 280


def test_every_name_exists_and_has_one_home() -> None:
    homes: dict[object, str] = {}
    for front in FRONTS:
        for name in front.__all__:
            value = getattr(front, name)
            if callable(value):
                assert homes.setdefault(value, front.__name__) == front.__name__, name


@pytest.mark.parametrize(
    ("front", "name", "home"),
    [
        (art.control, "zvd", "control.filters.zvd"),
        (art.control, "modal_access", "control.analysis.modal_access"),
        (art.components, "StarTracker", "components.spacecraft.StarTracker"),
        (art.trajectory, "PathMotion", "trajectory.path_motion.PathMotion"),
        (art.trajectory, "solve_stages", "trajectory.staircase.solve_stages"),
        (art.inversion, "ServoPlan", "inversion.servo.ServoPlan"),
        (art.structure, "guyann", None),
    ],
)
def test_other_homes_are_told(front: object, name: str, home: str | None) -> None:
    with pytest.raises(AttributeError) as told:
        getattr(front, name)
    assert (f"did you mean {home}?" in str(told.value)) is (home is not None)
