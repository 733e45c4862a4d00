"""Every row of every published case."""

import functools

import pytest

from articulus import cases

CASES = {case.name: case for case in cases.find()}
LONG = (
    "contact_chains",
    "draper_design",
    "draper_noise",
    "eisler_arm",
    "flexible_four_bar",
    "free_flexible_body",
    "gear_rotors",
    "ider_flexible_arm",
    "king_pseudolink",
    "ledesma_planar",
    "ledesma_spatial",
    "lexan_truss",
    "loop_orders",
    "multiple_chains",
    "noise_covariance",
    "padilla_slew",
    "park_interaction",
    "recursive_inversion",
    "reconfiguration",
    "reduced_regulator",
    "sliding_attitude",
    "space_crane",
    "spatial_chain",
    "spinning_beam",
    "srms_assembly",
    "srms_handling",
    "srms_slew",
    "stable_inversion",
    "staircase_rocket",
    "truss_manipulator",
    "two_stage_launcher",
    "yae_backhoe",
)
"""Cases that take more than 1.5 s of processor time: their rows are computed by `make slow`, and by `make verify` as all others."""
ROWS = [
    pytest.param(name, i, id=f"{name}-{i + 1}", marks=[pytest.mark.nightly] if name in LONG else [])
    for name, case in CASES.items()
    for i in range(len(case.expected))
]


@functools.cache
def rows(name):
    return CASES[name].rows()


@pytest.mark.parametrize(("name", "i"), ROWS)
def test_row_agrees(name, i):
    row = rows(name)[i]
    assert row.passed, (
        f"{row.quantity}: expected {row.expected}, computed {row.computed}, {row.origin}: {row.reason}"
    )


def test_the_required_cases_are_there():
    assert set(cases.names()) >= {
        "bayo_link",
        "beam_frequencies",
        "bent_beam",
        "cat215b",
        "cat215b_hydraulics",
        "closed_operators",
        "contact_of_shapes",
        "double_four_bar",
        "draper_tetrahedron",
        "flexible_operators",
        "free_flexible_body",
        "gear_rotors",
        "human_torso",
        "inertia_matrix",
        "king_arm",
        "loop_orders",
        "minas_truss",
        "multiple_chains",
        "n_body_pendulum",
        "padilla_slew",
        "park_rotation",
        "puma600",
        "rectangle_four_bar",
        "resting_contact",
        "rotating_frame",
        "sampled_computed_torque",
        "servo_constraints",
        "slider_crank",
        "spatial_operators",
        "spinning_beam",
        "torso_computed_torque",
        "two_link",
        "van_der_pol",
    }


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_case_says_where_it_comes_from(case):
    assert case.title
    year = case.source.rstrip("ab")[-4:]  # a letter where an author has two of a year
    assert case.source in case.reference.replace(" ", "").lower() or year in case.reference
    for expected in case.expected:
        assert expected.where, expected.quantity
        assert expected.reason, expected.quantity


def test_rows_that_repeat_others_name_them():
    """So that no number counts twice in the totals."""
    held = {f"{case.name}: {row.quantity}": row for case in CASES.values() for row in case.expected}
    again = [row for case in CASES.values() for row in case.expected if row.same_as]
    assert again
    for row in again:
        assert row.same_as in held, row.quantity
        assert not held[row.same_as].same_as, row.quantity
