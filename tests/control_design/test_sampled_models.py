"""Sampled models against fine simulations of the delay, scipy, and the laws of the bilinear transformation."""

import shutil
import subprocess

import numpy as np
import pytest
import scipy.signal

from articulus.control import c_source, difference_equation, sample
from articulus.control.plant import of_matrices
from articulus.control.sampling import continuous
from articulus.errors import InputError

RNG = np.random.default_rng(7)
MODEL = of_matrices(
    RNG.normal(size=(4, 4)) - 2 * np.eye(4),
    RNG.normal(size=(4, 2)),
    RNG.normal(size=(3, 4)),
    RNG.normal(size=(3, 2)),
)


@pytest.mark.parametrize(("method", "name"), [("hold", "zoh"), ("trapezoidal", "bilinear")])
def test_response_is_that_of_scipy(method, name):
    ours = sample(MODEL, 0.1, method)
    theirs = of_matrices(
        *scipy.signal.cont2discrete((MODEL.A, MODEL.B, MODEL.C, MODEL.D), 0.1, name)[:4], 0.1
    )
    omega = np.linspace(0.1, 30.0, 7)
    np.testing.assert_allclose(ours.response(omega), theirs.response(omega), rtol=1e-10)


@pytest.mark.parametrize("delay", [0.0, 0.04, 0.1, 0.13, 0.25])
def test_delay_is_exact(delay):
    """Held inputs through the delayed plant, against the same at a hundred times the rate, where the delay is whole."""
    coarse, fine = sample(MODEL, 0.1, delay=delay), sample(MODEL, 0.001)
    u = RNG.normal(size=(20, 2))
    y = _outputs(coarse, u)
    late = round(delay / 0.001)
    held = np.vstack([np.zeros((late, 2)), np.repeat(u, 100, axis=0)])[:2000]
    np.testing.assert_allclose(y, _outputs(fine, held)[::100], rtol=1e-9, atol=1e-10)


def test_bilinear_goes_back_and_keeps_gramians():
    there = sample(MODEL, 0.2, "trapezoidal")
    back = continuous(there)
    for name in "ABCD":
        np.testing.assert_allclose(getattr(back, name), getattr(MODEL, name), atol=1e-12)
    P = scipy.linalg.solve_continuous_lyapunov(MODEL.A, -MODEL.B @ MODEL.B.T)
    np.testing.assert_allclose(
        scipy.linalg.solve_discrete_lyapunov(there.A, there.B @ there.B.T), P, rtol=1e-9
    )


def test_difference_equation_runs_like_the_states():
    law = sample(MODEL, 0.1, "trapezoidal")
    b, a = difference_equation(law)
    y = RNG.normal(size=(30, 2))
    u = sum(np.array([scipy.signal.lfilter(b[i, j], a, y[:, j]) for i in range(3)]) for j in range(2)).T
    np.testing.assert_allclose(u, _outputs(law, y), rtol=1e-8, atol=1e-9)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_c_source_compiles_and_gives_the_same_numbers(tmp_path):
    law = sample(MODEL, 0.1, "trapezoidal")
    y = RNG.normal(size=(5, 2))
    rows = "".join(f"{{{', '.join(repr(float(x)) for x in row)}}}," for row in y)
    main = (
        f"#include <stdio.h>\nint main(void) {{ controller_state s; controller_reset(&s); double u[3], y[5][2] = {{{rows}}};\n"
        'for (int k = 0; k < 5; k++) { controller_step(&s, y[k], u); printf("%.17g %.17g %.17g\\n", u[0], u[1], u[2]); } }'
    )
    (tmp_path / "a.c").write_text(c_source(law) + main)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
    out = subprocess.run([tmp_path / "a"], check=True, capture_output=True, text=True).stdout
    np.testing.assert_allclose(np.array(out.split(), dtype=float).reshape(5, 3), _outputs(law, y), rtol=1e-12)


def test_wrong_periods_are_refused():
    with pytest.raises(InputError, match="found a model with the period"):
        sample(sample(MODEL, 0.1), 0.2)
    with pytest.raises(InputError, match="found a continuous one"):
        c_source(MODEL)


def _outputs(model, u):
    x, rows = np.zeros(len(model.A)), []
    for k in range(len(u)):
        rows.append(model.C @ x + model.D @ u[k])
        x = model.A @ x + model.B @ u[k]
    return np.array(rows)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_c_source_holds_commands_at_their_limit(tmp_path):
    """An integrator under a constant input: u is held, and back-calculation keeps the state from winding up."""
    law = of_matrices([[1.0]], [[0.1]], [[1.0]], [[0.0]], 0.1)
    main = "\n#include <stdio.h>\nint main(void) { controller_state s; double y[1] = {1.0}, u[1]; controller_reset(&s);\n"
    main += 'for (int i = 0; i < 100; i++) controller_step(&s, y, u); printf("%.17g %.17g", u[0], s.x[0]); return 0; }\n'
    x = 0.0
    for _ in range(100):
        u = min(max(x, -2.0), 2.0)
        x = x + 0.1 + 0.5 * (u - x)
    (tmp_path / "a.c").write_text(c_source(law, limit=2.0, back=[[0.5]]) + main)
    subprocess.run(["cc", "-std=c99", "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
    found = subprocess.run([tmp_path / "a"], check=True, capture_output=True, text=True).stdout.split()
    np.testing.assert_allclose([float(v) for v in found], [2.0, x], rtol=1e-14)
    with pytest.raises(InputError, match="without `limit`"):
        c_source(law, back=[[1.0]])
