"""From a Nastran file to an arm: read beams and a mass, choose shapes by what they lose, move the arm, look at its strain."""

# %% The file was written by `articulus.model.files.write_bulk`; Nastran reads it too
from pathlib import Path

import casadi as ca
import numpy as np

import articulus as art
from articulus import structure as st
from articulus.model import files

model = files.read_bulk(Path(__file__).parent / "data" / "forearm.bdf")
link = files.bulk_structure(model)
link = link.fix(dict.fromkeys(link.names, ("z", "rx", "ry")))  # the arm works in a plane
print(
    f"{len(model.beams)} beams, {link.count} degrees of freedom, {st.normal_modes(link, 3).hertz.round(2)} Hz"
)

# %% Two of these links behind each other: what do modes of the first lose, over the angles of the elbow?
angles = np.radians([0, 45, 90, 135])
ways = {
    "clamped-free modes": st.modal(link, 3),
    "Craig and Bampton": st.craig_bampton(link, {"grid9": ("y", "rz")}, 1),
}
lost = {
    name: st.reduction.convergence(way, "grid9", count=2, attached=link, angles=angles).worst
    for name, way in ways.items()
}
for name, worst in lost.items():
    print(f"{name}: frequencies up to {100 * worst:.2g} % too high")

# %% The arm
stations = {"root": "grid1", "gauge": "grid2", "tip": "grid9"}
basis = ways["Craig and Bampton"].in_normal_modes().basis
body = st.modes_of(link, basis, stations=stations, damping=0.01, carries=["grid9"])
arm, hinge = art.Mechanism("arm", gravity=(0, 0, 0)), art.Revolute(axis=(0, 0, 1))
arm.flexible("upper", body).flexible("lower", body)
arm.joint("shoulder", hinge, parent="ground", child="upper", armature=0.2)
arm.joint("elbow", hinge, parent="upper", child="lower", node="tip", armature=0.05)
arm.frame("root", body="upper", node="root").frame("gauge", body="upper", node="gauge")

# %% Both joints go to 1 rad in 2 s under PD; a gauge at the root tells how the upper link bends
t = ca.SX.sym("t")
s = ca.fmin(t / 2, 1)
course = ca.Function("course", [t], [ca.repmat(10 * s**3 - 15 * s**4 + 6 * s**5, 2)], ["t"], ["q"])
goal = art.components.PD(kp=[60.0, 20.0], kd=[8.0, 2.0], target=course, joints=("shoulder", "elbow"))
gauge = art.components.StrainSensor("root", "gauge", depth=0.005, name="strain")
motors = [art.components.Torque(name) for name in ("shoulder", "elbow")]
run = art.simulate(arm, 6.0, controller=goal, components=[gauge, *motors], step=1e-3, sample=0.01)
print(f"largest strain {1e6 * np.abs(run['strain.strain']).max():.0f}e-6")

# %% Checks: static shapes lose least, the arm arrives, no energy is unaccounted for
joints = [list(arm.v_names).index(name) for name in ("shoulder", "elbow")]
assert lost["Craig and Bampton"] < 0.01 * lost["clamped-free modes"]
assert np.abs(run.q[-1, joints] - 1.0).max() < 0.02
assert np.abs(run["energy.balance"]).max() < 1e-6
