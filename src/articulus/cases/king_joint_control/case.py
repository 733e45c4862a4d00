"""King's joint controller: steps of the arm of three links (example 4.6), one link with two sampling rates (section 4.9.1)."""

import warnings

import numpy as np

import articulus as art
from articulus.cases.king_pseudolink.case import bent_position, flexible
from articulus.errors import DoubtfulResult
from articulus.motion.inversion.tracking import joint_control
from articulus.simulation.loop.components import ComputedTorque
from articulus.structure import beam, beam_body, normal_modes

STEP = np.radians(10.0)
TIMES = np.array([0.1, 0.2, 0.4])
PLANE = ("link2.z1", "link3.z1")
"""Modal coordinates in the plane of the arm, whose joints turn about y."""


def compute() -> dict:
    return {**steps(), **two_rates()}


def steps() -> dict:
    """Return what steps of all joints give: the joints know nothing of the vibration of the links."""
    arm = flexible(gravity=0.0)
    q0 = np.array(arm.positions(bent_position(45.0)), dtype=float)
    joints = [arm.v_slice(name).start for name in arm.joint_names]
    law = ComputedTorque(100.0, 20.0, tuple(q0[joints] + STEP))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # a step bends the links by more than a tenth
        run = art.simulate(arm, 1.5, q0=q0, controller=law, step=1e-3)
    turned = np.degrees([np.interp(TIMES, run.t, run.q[:, k] - q0[k]) for k in joints])
    modes = [k for k in range(arm.nv) if k not in joints]
    swings = [np.ptp(run.q[(run.t >= a) & (run.t <= a + 0.5)][:, modes], axis=0).max() for a in (0.5, 1.0)]
    poles = art.Loop(arm, components=[ComputedTorque(100.0, 20.0, tuple(q0[joints]))]).linearize(q0).poles
    rates = np.sort(poles[poles.imag > 1.0].imag)
    held = poles[np.abs(poles.imag) <= 1.0]
    return {
        "example 4.6: joints 0.1, 0.2 and 0.4 s after a step of 10 deg [deg]": turned,
        "example 4.6: poles of the joints [1/s]": np.sort(held.real),
        "example 4.6: the oscillations of the links are sustained, their damping ratio is below 1e-9 (1 = yes)": bool(np.abs(poles[poles.imag > 1.0].real).max() < 1e-9 * rates[0]),
        "example 4.6: frequencies of the links in the plane of the arm, joints driven [Hz]": in_plane(rates),
        "example 4.6: the links still swing when the joints are there (1 = yes)": bool(min(swings) > 1e-3 and swings[1] > 0.8 * swings[0]),
    }  # fmt: skip


def in_plane(rates: np.ndarray) -> list[float]:
    """Return the two frequencies of the plane among those of the arm with its joints held [Hz]."""
    arm = flexible(gravity=0.0)
    q = np.array(arm.positions(bent_position(45.0)), dtype=float)
    places = [arm.v_names.index(name) for name in PLANE]
    tangent, _, H = arm.inverse_dynamics_derivatives(q, np.zeros(arm.nv), np.zeros(arm.nv))
    own = np.ix_(places, places)
    wanted = np.sqrt(np.linalg.eigvals(np.linalg.solve(H[own], tangent[own])).real)
    return [float(rates[np.abs(rates - w).argmin()] / (2 * np.pi)) for w in np.sort(wanted)]


def two_rates() -> dict:
    """Return what two rates do to the link of section 4.9.1, with its damping of 3 % and with none."""
    arm, bare = link(0.03), link(0.0)
    design, other = joint_control(arm, at=np.zeros(2)), joint_control(bare, at=np.zeros(2))
    whole = [np.exp(design.poles(slow, 0.01).real.max() * slow) for slow in (0.05, 0.02)]
    run = art.simulate(arm, 1.0, components=design.components((0.1,), slow=0.05, fast=0.01), step=1e-3)
    late = np.abs(run.q[run.t > 0.8, 1]).max() / np.abs(run.q[:, 1]).max()
    alone = art.Loop(bare, components=other.components((0.0,), slow=0.05)[:1]).linearize(
        np.zeros(2), step=0.05
    )
    both = [alone.poles.real.max(), other.poles(0.05, 0.002).real.max()]
    return {
        "one link, slow part at 20 Hz and fast part at 100 Hz: stable (1 = yes)": whole[0] < 1,
        "one link, slow part at 20 and 50 Hz, fast part at 100 Hz: size of the slowest pole over a slow period": whole,
        "one link, two rates: the deflection is damped out within a second (1 = yes)": bool(late < 0.01),
        "one link without damping, slow part at 20 Hz: size of the slowest pole over a slow period, alone and with the fast part at 500 Hz": np.exp(0.05 * np.array(both)),
    }  # fmt: skip


def link(damping: float) -> art.Mechanism:
    """Return the link of 1 m, 1 kg and 2 kg payload, of one mode at 10 Hz with its joint locked."""
    unit = beam(1.0, EI=1.0, mass_per_length=1.0, tip_mass=2.0, planes="y")
    EI = (2 * np.pi * 10.0 / normal_modes(unit, 1).omega[0]) ** 2
    arm = art.Mechanism("link", gravity=(0, 0, 0))
    arm.flexible("link", beam_body(1.0, EI=EI, mass_per_length=1.0, modes=1, tip_mass=2.0, damping=damping))
    arm.joint("q", art.Revolute((0, 0, 1)), "ground", "link")
    return arm
