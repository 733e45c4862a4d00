"""Liquid in tanks: potential flow by another way (Ritz, polynomials), and what the mechanism does with the equivalent masses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulus as art
from articulus import spacecraft as sc
from articulus.errors import InputError
from articulus.simulation.results.diagnostics import energy_error

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(24)


class Ritz:
    """Flow potentials cos(theta) r^(2i+1) z^j in a cylinder of radius R from 0 to h, integrals by Gauss's rule."""

    def __init__(self, R: float, h: float, n: int = 7):
        self.R, self.h = R, h
        self.powers = [(2 * i + 1, j) for i in range(n) for j in range(n)]
        self.r, self.wr = (POINTS + 1) * R / 2, WEIGHTS * R / 2
        self.z, self.wz = (POINTS + 1) * h / 2, WEIGHTS * h / 2
        r, z = (x.ravel() for x in np.meshgrid(self.r, self.z, indexing="ij"))
        w = np.outer(self.wr, self.wz).ravel()
        f, fr, fz = self.at(r, z), self.at(r, z, 1), self.at(r, z, 2)
        self.stiffness = math.pi * (
            (fr * w * r) @ fr.T + (fz * w * r) @ fz.T + (f * w / r) @ f.T
        )  # cos^2 and sin^2 both have the mean 1/2

    def at(self, r, z, by: int = 0):
        r, z = np.broadcast_arrays(np.asarray(r, float) / self.R, np.asarray(z, float) / self.h - 0.5)
        rows = []
        for a, b in self.powers:
            if by == 1:
                rows.append(a * r ** (a - 1) * z**b / self.R)
            elif by == 2:
                rows.append(r**a * (b * z ** (b - 1) if b else 0 * z) / self.h)
            else:
                rows.append(r**a * z**b)
        return np.array(rows)

    def lowest(self):
        """Return omega^2 / g of the lowest wave, its coefficients, its mass per density, and its height in the tank."""
        R, h = self.R, self.h
        top, wall, floor = self.at(self.r, h), self.at(R, self.z), self.at(self.r, 0.0)
        surface = math.pi * (top * self.wr * self.r) @ top.T
        scale = 1 / np.sqrt(np.diag(self.stiffness))
        K = self.stiffness * np.outer(scale, scale)
        values, vectors = np.linalg.eigh(K)
        keep = values > 1e-13 * values[-1]
        T = scale[:, None] * vectors[:, keep] / np.sqrt(values[keep])
        inverse, shapes = np.linalg.eigh(T.T @ surface @ T)
        c, rate = T @ shapes[:, -1], 1 / inverse[-1]
        pushes = math.pi * (top @ (self.wr * self.r**2)) @ c
        mass = rate * pushes**2 / (c @ surface @ c)
        force = math.pi * R * (wall @ self.wz) @ c
        moment = math.pi * (R * (wall @ (self.wz * self.z)) + floor @ (self.wr * self.r**2)) @ c
        return rate, c, mass, moment / force - 1 / rate

    def inertia_under_a_lid(self):
        """Return the inertia per density of the liquid that fills the tank, across the axis about its center."""
        wall = math.pi * self.R * self.at(self.R, self.z) @ (self.wz * (self.z - self.h / 2))
        ends = math.pi * (self.at(self.r, 0.0) - self.at(self.r, self.h)) @ (self.wr * self.r**2)
        pushed = wall + ends
        return pushed @ np.linalg.lstsq(self.stiffness, pushed, rcond=1e-13)[0]

    def damping(self, omega, viscosity):
        """Return the ratio of the lowest wave: mean loss in Stokes layers over the energy."""
        _, c, *_ = self.lowest()
        along = (c @ self.at(self.R, self.z, 2)) ** 2 + (c @ self.at(self.R, self.z)) ** 2 / self.R**2
        floor = (c @ self.at(self.r, 0.0, 1)) ** 2 + (c @ self.at(self.r, 0.0)) ** 2 / self.r**2
        squares = math.pi * (self.R * along @ self.wz + floor @ (self.wr * self.r))
        loss = 0.5 * math.sqrt(viscosity * omega / 2) * squares
        return loss / (2 * omega * 0.5 * c @ self.stiffness @ c)


TANKS = [(0.5, 2.0, 0.6), (1.0, 0.8, 0.5), (0.3, 0.4, 0.9)]


@pytest.mark.parametrize(("R", "H", "fill"), TANKS)
def test_equivalents_are_those_of_potential_flow(R, H, fill) -> None:
    """Ritz with 49 polynomials is at 1e-7 in the frequency, at some 1e-4 in the inertia: potentials are not smooth in corners."""
    tank, ritz = sc.Tank(R, H, 800.0), Ritz(R, fill * H)
    slosh = tank.slosh(fill)
    rate, _, mass, height = ritz.lowest()
    assert slosh.frequencies(9.81)[0] ** 2 == pytest.approx(9.81 * rate, rel=1e-6)
    assert slosh.masses[0] == pytest.approx(800 * mass, rel=1e-5)
    assert slosh.heights[0] == pytest.approx(height, rel=1e-4)
    middle = fill * H / 2
    lid = (
        slosh.inertia
        + slosh.mass * (slosh.height - middle) ** 2
        + slosh.masses @ (slosh.heights - middle) ** 2
    )
    assert lid == pytest.approx(800 * ritz.inertia_under_a_lid(), rel=1e-3)
    omega = slosh.frequencies(2.0)[0]
    assert tank.laminar_damping(fill, 2.0, 1e-6) == pytest.approx(ritz.damping(omega, 1e-6), rel=1e-3)


@pytest.mark.parametrize("modes", [1, 3, 50])
def test_mass_and_center_are_those_of_the_liquid(modes) -> None:
    for depth in 10.0 ** np.arange(-2, 2):
        tank = sc.Tank(0.7, depth / 0.6, 1000.0)
        s, m = tank.slosh(0.6, modes), tank.mass(0.6)
        assert s.mass + s.masses.sum() == pytest.approx(m, rel=1e-13)
        assert s.mass * s.height + s.masses @ s.heights == pytest.approx(m * depth / 2, rel=1e-10)
        assert s.mass > 0
        assert s.inertia > 0


def test_a_shallow_liquid_moves_as_a_whole() -> None:
    """The sum over all waves of 2 / (xi^2 - 1) is 1; what 200 of them leave is 2 / (pi^2 200)."""
    tank = sc.Tank(1.0, 1e-5, 1000.0)
    assert tank.slosh(0.5, 200).mass / tank.mass(0.5) == pytest.approx(2 / (math.pi**2 * 200), rel=0.02)


def craft(model, damping=0.0, g=3.0, free=False, modes=2):
    m = art.Mechanism("craft", gravity=(0, 0, -g))
    m.body("hub", mass=200.0, inertia=(40.0, 50.0, 30.0))
    m.joint("flight", art.Prismatic(axis=(1, 0, 0)) if free else art.Fixed(), "ground", "hub")
    return sc.add_tank(
        m, "hub", TANK, 0.6, at=(0.2, 0.1, -0.5), acceleration=g, damping=damping, modes=modes, model=model
    )


TANK = sc.Tank(0.5, 1.2, 900.0)


@pytest.mark.parametrize("model", ["pendulum", "spring"])
def test_linear_mechanism_has_the_frequencies_of_the_closed_form(model) -> None:
    m, ratio = craft(model, damping=0.02), 0.02
    omega = np.repeat(TANK.slosh(0.6, 2).frequencies(3.0), 2)
    poles = np.linalg.eigvals(np.array(m.linearize().A))
    above = poles[poles.imag > 0]
    above = above[np.argsort(abs(above))]
    expected = omega * (-ratio + 1j * math.sqrt(1 - ratio**2))
    np.testing.assert_allclose(above, expected, rtol=1e-10)


@pytest.mark.parametrize("model", ["pendulum", "spring"])
def test_frequency_of_a_free_craft(model) -> None:
    """Two masses on a spring: the craft with the fixed part, and the wave."""
    m, s = craft(model, free=True, modes=1), TANK.slosh(0.6)
    own = s.frequencies(3.0)[0]
    poles = np.linalg.eigvals(np.array(m.linearize().A)).imag
    expected = own * math.sqrt(1 + s.masses[0] / (200.0 + s.mass))
    assert poles.max() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("model", ["pendulum", "spring"])
def test_energy_lost_is_what_the_damping_takes(model) -> None:
    """Over five cycles, on a craft that slides freely; rk8 with 100 steps a cycle leaves rounding alone."""
    m = craft(model, damping=0.05, modes=1, free=True)
    period = 2 * math.pi / TANK.slosh(0.6).frequencies(3.0)[0]
    q = np.zeros(m.nq)
    q[1:3] = (0.3, -0.2) if model == "pendulum" else (0.1, 0.05)
    run = art.simulate(m, 5 * period, q0=q, step=period / 100, method="rk8")
    error, at_play = energy_error(run)
    assert error < 1e-10 * at_play
    dissipated = run.signals["energy"].entry("dissipated")
    assert dissipated[-1] > 0.5 * at_play


def test_bad_input() -> None:
    m = art.Mechanism("craft")
    m.body("hub", mass=1.0, inertia=(1, 1, 1)).joint("flight", art.Free(), "ground", "hub")
    for fill in (0.0, 1.0, -0.1, math.nan, "half"):
        with pytest.raises(InputError, match="does not slosh"):
            TANK.slosh(fill)
    assert TANK.slosh(np.float32(0.5), np.int64(1)).mass == TANK.slosh(0.5).mass
    for numbers in ((0.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, math.inf)):
        with pytest.raises(InputError, match="above zero"):
            sc.Tank(*numbers)
    for wrong, text in (
        ({"model": "wave"}, "pendulum"),
        ({"model": "spring"}, "acceleration along the axis"),
        ({"damping": 0.1}, "acceleration along the axis"),
        ({"damping": -0.1, "acceleration": 1.0}, "zero or more"),
        ({"modes": 0}, "integer from 1"),
        ({"acceleration": 0.0}, "above zero"),
    ):
        with pytest.raises(InputError, match=text):
            sc.add_tank(m, "hub", TANK, 0.5, **wrong)
    assert m.body_names == ("hub",)
    with pytest.raises(InputError, match="a Mechanism"):
        sc.add_tank("hub", "hub", TANK, 0.5)
