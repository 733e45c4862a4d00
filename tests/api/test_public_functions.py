"""`art.simulate`, `art.campaign.run` and the other late functions are plain functions, whichever of their modules was imported first."""

from __future__ import annotations

import subprocess
import sys

FUNCTIONS = {
    "assemble": "mechanism",
    "equilibrium": "mechanism",
    "inverse_kinematics": "mechanism",
    "simulate": "mechanism",
    "rollout": "mechanism",
}
"""Function, and the first of its arguments."""

CHECK = """
import inspect, pickle, pydoc, types
import articulus as art
for name, first in {functions}.items():
    found = getattr(art, name)
    assert type(found) is types.FunctionType, (name, found)
    assert next(iter(inspect.signature(found).parameters)) == first, name
    assert pydoc.render_doc(found, renderer=pydoc.plaintext).startswith(
        f"Python Library Documentation: function {{name}} in module articulus."
    ), name
    assert pickle.loads(pickle.dumps(found)) is found, name
    assert getattr(art, name) is found, name
assert type(art.campaign) is types.ModuleType
assert type(art.campaign.run) is types.FunctionType
assert next(iter(inspect.signature(art.campaign.run).parameters)) == "study"
assert pickle.loads(pickle.dumps(art.campaign.run)) is art.campaign.run
"""


FIRST = (
    "import articulus",
    "import articulus.simulation.running, articulus.simulation.solve.equilibrium",
    "import articulus.simulation.solve.inverse_kinematics, articulus.simulation.solve.assembly, articulus.simulation.loop.events",
    "from articulus import simulate; import articulus.simulation.running.calls",
    "import articulus.study.campaign.calls, articulus.study.campaign.explore, articulus.study.campaign.search",
    "from articulus import *",
)
EACH_IN_A_FORK = """
import os, sys, traceback
import casadi, llvmlite.binding, numpy
assert "articulus" not in sys.modules
for code in {codes}:
    if not os.fork():
        try:
            exec(code, {{}})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.wait()[1]:
        sys.exit("after: " + code.splitlines()[0])
"""
"""Of a process that has imported what articulus imports of others, but nothing of articulus."""


def test_plain_functions_whatever_was_imported_first() -> None:
    codes = [f"{first}\n{CHECK.format(functions=FUNCTIONS)}" for first in FIRST]
    code = EACH_IN_A_FORK.format(codes=codes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
