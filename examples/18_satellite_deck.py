"""A satellite with two composite panels: write its Nastran deck, read it back, let it tumble as one flexible body."""

# %% A deck from a script: a hub, and on each side a yoke of two tubes, hinges, a sandwich panel and a sensor at its tip
import numpy as np
from scipy.linalg import eigh

import articulus as art
from articulus import structure as st
from articulus.model import files

skin = files.Orthotropic(1, E1=1.4e11, E2=9e9, nu12=0.3, G12=5e9, rho=1600.0)
core = files.Orthotropic(2, E1=1e6, E2=1e6, nu12=0.3, G12=1e6, rho=32.0, G1Z=1.9e8, G2Z=9e7)
aluminium = files.FeMaterial(3, E=7e10, G=2.63e10, nu=0.33, rho=2700.0)
half = [files.Layer(skin, 2e-4, angle) for angle in np.radians([0, 90, 45, -45])]
layers = (*half, files.Layer(core, 0.02, 0.0), *reversed(half))
sandwich = files.LayUp(10, layers, bottom=-0.0108, nsm=1.2)  # solar cells
r = 0.02
tube = files.FeSection(11, area=2 * np.pi * r * 1e-3, I1=np.pi * r**3 * 1e-3, I2=np.pi * r**3 * 1e-3, J=2 * np.pi * r**3 * 1e-3)  # fmt: skip
COLUMNS, ROWS = 9, 5  # grids along and across a panel of 3 m x 1.6 m


def wing(side: int, first: int) -> dict[str, list]:
    """Grids from `first` on: the corners of the panel in rows, two yoke roots, and a sensor; `side` is 1 or -1 along y."""
    x, y = np.linspace(-0.8, 0.8, ROWS), side * np.linspace(1.0, 4.0, COLUMNS)
    grids = [files.FeGrid(first + ROWS * j + i, (x[i], y[j], 0.0)) for j in range(COLUMNS) for i in range(ROWS)]  # fmt: skip
    left, right, sensor = (first + ROWS * COLUMNS + k for k in range(3))
    roots = [files.FeGrid(left, (-0.3, side * 0.5, 0.0)), files.FeGrid(right, (0.3, side * 0.5, 0.0))]
    tip = [first + ROWS * (COLUMNS - 1) + i for i in range(ROWS)]
    corners = [first + ROWS * j + i for j in range(COLUMNS - 1) for i in range(ROWS - 1)]
    quads = [(a, a + 1, a + ROWS + 1, a + ROWS)[:: 1 if side > 0 else -1] for a in corners]
    shells = [files.FeShell(1000 + a, q, sandwich, along=(0.0, 1.0, 0.0)) for a, q in zip(corners, quads)]
    ends, z = ((), (4,)), (0.0, 0.0, 1.0)  # the panel turns freely about one tube; the other holds it
    yoke = [files.FeBeam(2000 + left, (left, first + 1), z, tube, aluminium, pins=ends)]
    yoke += [files.FeBeam(2000 + right, (right, first + ROWS - 2), z, tube, aluminium)]
    return {
        "grids": [*grids, *roots, files.FeGrid(sensor, (0.0, side * 4.1, 0.1))],
        "shells": shells,
        "beams": yoke,
        "rigids": [files.Rigid(3000 + first, 1, (1, 2, 3, 4, 5, 6), (left, right))],
        "means": [files.MeanElement(4000 + first, sensor, (1, 2, 3, 4, 5, 6), ((1.0, (1, 2, 3, 4, 5, 6), tuple(tip)),))],
        "masses": [files.PointMass(5000 + first, sensor, 0.8, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)],
    }  # fmt: skip


inertia = ((30.0, 0.0, 0.0), (0.0, 25.0, 0.0), (0.0, 0.0, 35.0))
hub = files.PointMass(1, 1, 180.0, (0, 0, 0), inertia)
parts = {"grids": [files.FeGrid(1, (0.0, 0.0, 0.0))], "masses": [hub]}
for side, first in ((1, 101), (-1, 201)):
    for name, more in wing(side, first).items():
        parts[name] = [*parts.get(name, []), *more]
files.write_bulk("satellite.bdf", files.BulkModel("satellite", **{k: tuple(v) for k, v in parts.items()}))

# %% Read it as any other deck; frequencies of the free satellite, and on a fixed hub
model = files.read_bulk("satellite.bdf")
craft = files.bulk_structure(model)
free = st.normal_modes(craft, 14).elastic
on_hub = craft.fix({"grid1": "all"})
fixed = st.normal_modes(on_hub, 24)
print(f"{len(model.shells)} shells, {craft.count} degrees of freedom, {craft.samples.mass.sum():.1f} kg")
print("free:", free.hertz[:5].round(3), "Hz; hub fixed:", fixed.hertz[:5].round(3), "Hz")

# %% One flexible body on a free joint; its frame is the hub
stations = {"hub": "grid1", "sensor": "grid148"}
body = st.modes_of(on_hub, fixed.shapes[:, :16], origin="grid1", stations=stations, damping=None)
ship = art.Mechanism("satellite", gravity=(0, 0, 0)).flexible("satellite", body)
ship.joint("base", art.Free(), parent="ground", child="satellite")
M = ship.mass_matrix(ship.neutral)
K = np.zeros_like(M)
K[6:, 6:] = body.stiffness
found = np.sqrt(eigh(K, M, eigvals_only=True)[6:]) / (2 * np.pi)

# %% It tumbles: momentum stays, and so does energy
v0 = np.zeros(ship.nv)
v0[:3] = 0.02, 0.05, -0.03
run = art.simulate(ship, 10.0, q0=ship.neutral, v0=v0, step=2e-3, sample=0.05)
change = np.abs(ship.momentum(run.q[-1], run.v[-1]) - ship.momentum(ship.neutral, v0)).max()
print(f"momentum changed by {change:.1e} N m s; energy by {np.abs(run['energy.balance']).max():.1e} J")
assert np.allclose(found[:5], free.hertz[:5], rtol=0.01)
assert change < 1e-6
assert np.abs(run["energy.balance"]).max() < 1e-6
