"""What follows from moving in time: the linear model is the derivative of the flow; what is conserved stays."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
import zoo
from laws import close
from zoo import ask


def displacement(mech, q, other):
    """Return the small displacement from q to `other` in the directions of the velocities, to first order."""
    out = np.zeros(mech.nv)
    for c in mech.description.connections:
        Q, V = mech.description.q_slices[c.name], mech.description.v_slices[c.name]
        if c.joint.nq == c.joint.nv:
            out[V] = other[Q] - q[Q]
            continue
        w, u, w2, u2 = q[Q][0], q[Q][1:4], other[Q][0], other[Q][1:4]
        out[V][:3] = 2 * (w * u2 - w2 * u - np.cross(u, u2))
        if isinstance(c.joint, art.Free):
            pose = art.Pose(quaternion=tuple(q[Q][:4])).rotation()
            out[V][3:] = pose.T @ (other[Q][4:] - q[Q][4:])
    return out


def flow(mech, q, v, tau, t, steps):
    """Return the state after the time t, by the classical Runge-Kutta method."""
    h = t / steps

    def rate(x):
        q, v = x[: mech.nq], x[mech.nq :]
        return np.r_[ask(mech, "position_rate", q, v), ask(mech, "forward_dynamics", q, v, tau)]

    x = np.r_[q, v]
    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[: mech.nq], x[mech.nq :]


@pytest.mark.parametrize("name", ["free_body", "screws", "crosses", "balls", "parameters_quaternion"])
def test_linear_model_is_the_derivative_of_the_flow(name):
    """A = d Phi/dt at t = 0 for the transition matrix Phi of small displacements, in a state of fast motion."""
    mech = zoo.get(name)
    s = zoo.random_state(mech, 31, speed=2.0)
    n = mech.nv

    def transition(t):
        q, v = flow(mech, s.q, s.v, s.tau, t, steps=1)
        columns = []
        eps = 2e-5
        for e in np.eye(2 * n):
            pair = []
            for sign in (eps, -eps):
                start = ask(mech, "integrate_position", s.q, sign * e[:n])
                q2, v2 = flow(mech, start, s.v + sign * e[n:], s.tau, t, steps=1)
                pair.append(np.r_[displacement(mech, q, q2), v2 - v])
            columns.append((pair[0] - pair[1]) / (2 * eps))
        return np.array(columns).T

    def slope(h):
        return (transition(h) - transition(-h)) / (2 * h)

    found = (4 * slope(3e-4) - slope(6e-4)) / 3
    # Richardson and one step of the method leave h^4 = 1e-14 times fifth derivatives, the differences eps^2 = 4e-10 times third (1e3 relative for
    # the shortest links) and a rounding of 1e-16 / (eps h) = 2e-8
    close(mech.linearize(s.q, s.v, s.tau).A, found, 1e-6)
    given, held = mech.linearize(s.q, s.v, mech.bias(s.q, s.v)), mech.linearize(s.q, s.v)
    close(held.A, given.A, 1e-9)  # forces of zero acceleration, which are those that are not given
    close(held.B, given.B, 1e-9)


def test_free_mechanism_keeps_its_momentum():
    """Without gravity and outer forces, joint torques change nothing of the total momentum."""
    mech = zoo.get("spacecraft")
    s = zoo.random_state(mech, 32)
    tau = s.tau.copy()
    tau[:6] = 0.0
    before = ask(mech, "momentum", s.q, s.v)
    q, v = flow(mech, s.q, s.v, tau, 0.1, steps=40)
    assert np.abs(v - s.v).max() > 0.1
    # the method's own error: step^4 = (2.5e-3)^4 = 4e-11 times the fifth derivatives of the motion
    close(ask(mech, "momentum", q, v), before, 1e-8)


def test_conservative_mechanism_keeps_its_energy():
    mech = zoo.random_mechanism(33, 5, springs=True, armature=True, rotors=0.5, floating=True)
    s = zoo.random_state(mech, 33)
    before = sum(ask(mech, "energy", s.q, s.v))
    q, v = flow(mech, s.q, s.v, 0 * s.tau, 0.1, steps=80)
    assert np.abs(v - s.v).max() > 0.1
    # the method's own error: step^4 = (1.25e-3)^4 = 2e-12 times the fifth derivatives of the motion
    close(sum(ask(mech, "energy", q, v)), before, 1e-8)


def test_energy_falls_by_friction():
    mech = zoo.get("crosses")
    s = zoo.random_state(mech, 34)
    q, v = flow(mech, s.q, s.v, 0 * s.tau, 0.05, steps=40)
    assert sum(ask(mech, "energy", q, v)) < sum(ask(mech, "energy", s.q, s.v))


def test_integrated_position_keeps_quaternions_unit_and_composes():
    """Two half steps of a constant velocity are one whole step; tiny and large steps alike."""
    mech = zoo.get("every_joint")
    s = zoo.random_state(mech, 35)
    for size in (1e-12, 1e-4, 9.9e-4, 1.01e-3, 0.1, 3.0):
        step = size * s.v
        half = ask(mech, "integrate_position", s.q, step / 2)
        twice = ask(mech, "integrate_position", half, step / 2)
        close(ask(mech, "integrate_position", s.q, step), twice, 1e-13)
        for c in mech.description.connections:
            if c.joint.nq != c.joint.nv:
                quaternion = twice[mech.description.q_slices[c.name]][:4]
                assert abs(np.linalg.norm(quaternion) - 1) < 1e-14
