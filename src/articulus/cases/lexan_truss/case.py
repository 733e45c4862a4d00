"""Torques and piezo voltages of least vibration: one link of a lexan truss as a linear structure, both links as an arm."""

from typing import Literal

import numpy as np

import articulus as art
from articulus.motion.inversion import Inversion, Line, Profile, link_by_link
from articulus.motion.inversion.links import minimal_vibration
from articulus.motion.inversion.piezo import StackBay
from articulus.simulation.loop.components import PiezoPair
from articulus.structure import Structure, beam, modes_of, normal_modes

LENGTH, SPANS, DURATION = 1.2, 10, 2.0
EI, AREA, DENSITY, LUMPED = 7e9 * 4.7244e-9, 4.378e-5, 1500.0, 2.0
LOADS = (3.5, 1.0)
ACTIVE = (2, 9)
"""Spans with piezos."""
STACKS = StackBay(area=7.3e-6, strain_per_volt=0.731e-6, young=73e9, lever=1.27e-2, count=4)
MOMENT = STACKS.gain
SLOPE, ACROSS = 5, 1


def compute() -> dict:
    hertz = [normal_modes(link(load), 1).hertz[0] for load in LOADS]
    without, with_piezos = one_link([]), one_link(ACTIVE)
    return (
        {
            "moment of the four stacks of a span by voltage [N m/V]": MOMENT,
            "the same, more digits": MOMENT,
            "first frequencies of links 1 and 2, clamped [Hz]": hertz,
        }
        | figures(without, "torque alone")
        | figures(with_piezos, "torque and piezos")
        | {"link 2, torque and piezos: largest voltages [V]": np.abs(with_piezos.inputs[:, 1:]).max(0)}
        | two_links()
    )


def link(load: float, root: Literal["clamped", "pinned"] = "clamped") -> Structure:
    """Return a link with its lumped masses spread along it and its tip load."""
    line = LUMPED / LENGTH + DENSITY * AREA
    whole = beam(LENGTH, EI=EI, mass_per_length=line, elements=SPANS, planes="y", tip_mass=load, root=root)
    return whole.keep(np.flatnonzero(whole.dofs[:, 1] != 0))


def one_link(active: tuple[int, ...] | list[int]) -> Inversion:
    """Return the inversion of link 2 turning by 22.5 degrees: no Coriolis forces, no damping."""
    held = link(LOADS[1], "pinned")
    places = [tuple(row) for row in held.dofs]
    M, K = (np.asarray(X.toarray()) if hasattr(X, "toarray") else X for X in (held.M, held.K))
    row = {at: np.eye(len(places))[k] for k, at in enumerate(places)}
    piezos = [MOMENT * (row[span, SLOPE] - row[span - 1, SLOPE]) for span in active]
    rigid = np.array([1.0 if c == SLOPE else node * LENGTH / SPANS for node, c in places])
    t = (np.arange(8192) - 3840) * 16 * DURATION / 8192
    turn = Line([0.0], [np.radians(22.5)], Profile(DURATION, law="sine"))
    force = -np.outer(turn.derivatives(t, 2)[2], M @ rigid)
    columns = np.array(piezos).T if piezos else None
    return minimal_vibration(
        M, None, K, row[0, SLOPE], columns, row[SPANS, ACROSS], force, t, t0=0.0, t_end=DURATION
    )


def figures(found: Inversion, what: str) -> dict:
    places = [tuple(row) for row in link(LOADS[1], "pinned").dofs]
    hub, mid = (
        np.abs(np.asarray(found.states)[:, places.index(at)]).max()
        for at in ((0, SLOPE), (SPANS // 2, ACROSS))
    )
    torque = np.abs(found.inputs[:, 0])
    acting = found.t[torque > 1e-3 * torque.max()]
    return {
        f"link 2, {what}: J [m^2 s]": found.figures["J"],
        f"link 2, {what}: largest rotation of the hub [rad]": hub,
        f"link 2, {what}: largest deflection at the middle [m]": mid,
        f"link 2, {what}: first and last time of the torque [s]": [acting[0], acting[-1]],
    }


# both links


def arm() -> tuple[art.Mechanism, list[PiezoPair]]:
    """Return the arm with four modes a link, and the piezos of both links."""
    truss, piezos, parent = art.Mechanism("lexan_truss", gravity=(0, 0, 0)), [], "ground"
    for i, load in enumerate(LOADS):
        name, held = f"link{i + 1}", link(load)
        basis = normal_modes(held, 4).shapes
        truss.flexible(name, modes_of(held, basis, stations={f"node{k}": k for k in range(SPANS + 1)}))
        truss.joint(f"joint{i + 1}", art.Revolute((0, 0, 1)), parent, name, node=f"node{SPANS}" if i else "")
        for k in sorted({n for span in ACTIVE for n in (span - 1, span)} | {SPANS // 2}):
            truss.frame(f"{name}_{k}", name, node=f"node{k}")
        piezos += [STACKS.pair(f"{name}_{s - 1}", f"{name}_{s}", name=f"{name}_span{s}") for s in ACTIVE]
        parent = name
    return truss.frame("tip", parent, node=f"node{SPANS}"), piezos


def two_links() -> dict:
    truss, piezos = arm()
    first, second = np.radians([11.25, -22.5])
    path = Line([0.0, 0.0], [first, second - first], Profile(DURATION, law="sine"))
    torques = link_by_link(truss, "tip", path, path_of="joints", step=DURATION / 512)
    both = link_by_link(truss, "tip", path, path_of="joints", step=DURATION / 512, piezos=piezos)
    alone, helped = deflections(truss, torques), deflections(truss, both)
    span, n, states = both.t[-1] - both.t[0], truss.nq, np.asarray(both.states)
    run = art.simulate(
        truss, span, q0=states[0, :n], v0=states[0, n:], step=DURATION / 4096, outputs=[],
        components=[*both.components(), *piezos],
    )  # fmt: skip
    off = np.abs(run.q[::8] - states[:, :n]).max(0) / np.abs(states[:, :n]).max(0)
    return {
        "both links: hub rotations and deflections at the middle fall when piezos help (1 = yes)": bool(
            (helped < alone).all()
        ),
        "both links: deflections at the middle with piezos over those without fall by more than 30 % (1 = yes)": bool(
            (helped[2:] < 0.7 * alone[2:]).all()
        ),
        "both links: torque and voltages act for a shorter time than torques alone (1 = yes)": bool(
            both.pre + both.post < torques.pre + torques.post
        ),
        "both links, torque and voltages played in a simulation: coordinates less those predicted, relative, below 1e-6 (1 = yes)": bool(
            off.max() < 1e-6
        ),
    }


def deflections(truss: art.Mechanism, found: Inversion) -> np.ndarray:
    """Return the largest hub rotations of links 1 and 2 [rad], then their largest deflections at the middle [m], from the nominal lines."""
    q, nominal = np.asarray(found.states)[:, : truss.nq], np.cumsum(found.outputs, axis=1)
    turns, bends = [], []
    for i, angle in enumerate(nominal.T):
        pose, mid = truss.pose(f"link{i + 1}", q), truss.pose(f"link{i + 1}_{SPANS // 2}", q)
        turns.append(np.abs(np.arctan2(pose[:, 1, 0], pose[:, 0, 0]) - angle).max())
        x, y = (mid - pose)[:, :2, 3].T
        bends.append(np.abs(np.cos(angle) * y - np.sin(angle) * x).max())
    return np.array([*turns, *bends])
