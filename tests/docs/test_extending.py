"""The recipes of docs/extending, followed in a scratch copy of the repository: one file, one entry, and the tests pass.

The code comes from the pages; what a recipe adds to a list, and nothing else, is written here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "extending"
PACKAGE = "src/articulus"
LOOP = f"{PACKAGE}/simulation/loop"
IGNORED = shutil.ignore_patterns("_build", "pictures", "*.gif", "*.png", ".pytest_cache")


def block(page: str, part: str, language: str = "python") -> str:
    """Return the one block of a page that holds a text."""
    content = (PAGES / f"{page}.md").read_text()
    found = [b for b in re.findall(rf"^```{language}\n(.*?)^```$", content, re.S | re.M) if part in b]
    assert len(found) == 1, (page, part, len(found))
    return found[0]


class Scratch:
    """A copy of the package, its tests and its pages."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=IGNORED)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, folder / name)

    def write(self, path: str, text: str) -> None:
        """Add a file; it must be new."""
        place = self.folder / path
        assert not place.exists(), path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)

    def enter(self, path: str, after: str, text: str) -> None:
        """Add an entry behind a text that stands in a file once."""
        place = self.folder / path
        held = place.read_text()
        assert held.count(after) == 1, (path, after, held.count(after))
        place.write_text(held.replace(after, after + text))

    def python(self, *arguments: str) -> str:
        """Return what a Python process on the copy prints; it has to end well."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "ARTICULUS_CACHE": "off"}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
            "1"  # they take a second to import, and none is needed
        )
        environment.pop("PYTEST_XDIST_WORKER", None)
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stdout

    def passes(self, *selected: str) -> None:
        """Run tests of the copy; some must be selected, and all pass."""
        self.python("-m", "pytest", "-o", "addopts=", "-q", "-x", "-p", "no:cacheprovider", *selected)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def test_joint(scratch: Scratch) -> None:
    scratch.write(f"{PACKAGE}/model/mechanism/joint/gimbal.py", block("joint", "class Gimbal"))
    entry = f"{PACKAGE}/model/mechanism/joint/__init__.py"
    scratch.enter(
        entry, "joint.free import Free\n", "from articulus.model.mechanism.joint.gimbal import Gimbal\n"
    )
    scratch.enter(entry, "    Planar,\n    Free,\n", "    Gimbal,\n")
    row = scratch.python(
        "-c",
        "from articulus.model.files.toml.tables import joint_table; print(joint_table().splitlines()[-1])",
    )
    free = re.search(r"^\| `free` \| 7 .*\n", (ROOT / "docs" / "toml.md").read_text(), re.M)
    assert free is not None
    scratch.enter("docs/toml.md", free[0], row)
    assert "gimbal" in row
    scratch.passes(
        "tests/mechanism/test_order.py",
        "tests/dynamics/test_constraints.py",
        "tests/laws/test_law_reference.py",
        "tests/oracles/test_pinocchio.py",
        "tests/files/test_docs.py",
        "-k",
        "consistent or unique or closed_where or dynamics[every_joint] or dynamics[one_of_each] or joint_types",
    )


def test_constraint(scratch: Scratch) -> None:
    scratch.write(f"{PACKAGE}/model/mechanism/constraint/on_sphere.py", block("constraint", "class OnSphere"))
    entry = f"{PACKAGE}/model/mechanism/constraint/__init__.py"
    scratch.enter(
        entry,
        "constraint.no_slip import NoSlip\n",
        "from articulus.model.mechanism.constraint.on_sphere import OnSphere\n",
    )
    scratch.enter(entry, "    Distance,\n    Lock,\n", "    OnSphere,\n")
    table = scratch.python(
        "-c",
        "from articulus.model.files.toml.tables import TABLES, field_table; print(field_table(TABLES['on_sphere']))",
    )
    scratch.enter("docs/toml.md", '\n### `type = "lock"`\n', f"\n{table}")
    example = '        "on_sphere": OnSphere("c", "tool", (0.1, 0.2, 0.3), art.Parameter("radius", 0.7)),\n'
    laws = "tests/dynamics/test_constraints.py"
    scratch.enter(laws, '        "no_slip": art.NoSlip("c", "tool", 0.3),\n', example)
    scratch.enter(
        laws,
        "from articulus.dynamics.tree import Tree\n",
        "from articulus.model.mechanism.constraint.on_sphere import OnSphere\n",
    )
    scratch.passes(
        laws, "tests/files/test_docs.py", "tests/mechanism/test_constraint_data.py", "-k", "on_sphere or type"
    )


def test_component(scratch: Scratch) -> None:
    scratch.write(f"{LOOP}/components/tether.py", block("component", "class Tether"))
    entry = f"{LOOP}/components/__init__.py"
    module = LOOP.removeprefix("src/").replace("/", ".") + ".components"
    importing = f"from {module}.tether import Tether\n"
    scratch.enter(entry, f"from {module}.strain_sensor import StrainSensor\n", importing)
    scratch.enter(entry, "DISTURBANCES: tuple[type[Component], ...] = (\n", "    Tether,\n")
    tests = "tests/loop/components"
    scratch.enter(f"{tests}/test_components.py", "from .support import Loop, floater, slider\n", importing)
    example = '    Tether: lambda: Tether("wrist", (9.0, 0.0, 3.0), length=1.0, stiffness=10.0),\n'
    scratch.enter(f"{tests}/test_components.py", '    FramePose: lambda: FramePose("wrist"),\n', example)
    fields = "import sys; sys.path.insert(0, 'tests'); from loop.components.test_docs import rows"
    rows = scratch.python("-c", f"{fields}\n{importing}\nprint(*rows(Tether), sep='\\n')")
    section = f"\n### Tether (`tether`)\n\n`tension` [N], `length` [m]\n\n| | | | | |\n|---|---|---|---|---|\n{rows}\n"
    page = scratch.folder / "docs" / "components.md"
    page.write_text(page.read_text() + section)
    found = [f"{tests}/test_{name}.py" for name in ("components", "derivatives", "docs")]
    scratch.passes(*found, "-k", "tether or listed_once")


def test_method(scratch: Scratch) -> None:
    scratch.write(f"{PACKAGE}/simulation/integrate/three_eighths.py", block("method", "class ThreeEighths"))
    entry = f"{PACKAGE}/simulation/integrate/__init__.py"
    scratch.enter(
        entry,
        "from articulus.simulation.integrate.sundials import Cvodes, Idas, Sundials\n",
        "from articulus.simulation.integrate.three_eighths import ThreeEighths\n",
    )
    scratch.enter(entry, "AB4(), RK4(), AM4()", ", ThreeEighths()")
    scratch.passes(
        "tests/integrate/test_methods.py",
        "tests/running/test_open.py",
        "-k",
        "three_eighths or kinds or by_name",
    )


def test_quantity(scratch: Scratch) -> None:
    row = re.search(
        r'QUANTITIES\["joint_power"\] = (Quantity\(.*?\n\))\n', block("quantity", "joint_power"), re.S
    )
    assert row is not None
    scratch.enter(
        f"{PACKAGE}/dynamics/quantities.py",
        "QUANTITIES: dict[str, Quantity] = {\n",
        f'    "joint_power": {row[1]},\n',
    )
    scratch.enter(
        f"{PACKAGE}/dynamics/mechanism.py",
        '        return self._ask("gravity", (q,), (), params)\n',
        "\n    def joint_power(self, v: Any, tau: Any, *, params: Params | None = None) -> Array:\n"
        '        """Return the power of the joint forces, (...) [W]."""\n'
        '        return self._ask("joint_power", (v, tau), (), params)\n',
    )
    methods = "tests/api/test_mechanism_class.py"
    scratch.enter(methods, '    "gravity": ("q",),\n', '    "joint_power": ("v", "tau"),\n')
    scratch.enter(methods, '        "gravity": [(n,)],\n', '        "joint_power": [()],\n')
    scratch.passes(
        "tests/dynamics/test_quantities.py",
        "tests/dynamics/flexible/test_one_coordinate.py",
        "tests/laws/test_law_coupled.py",
        methods,
        "-k",
        "joint_power or list_of_methods or every_quantity_says",
    )


STUDY = """
schema = 1
[study]
name = "ratchet"
model = "two_link"
[run]
t_end = 0.1
step = 0.01
[[event]]
type = "ratchet"
joint = "joint1"
"""


def test_event(scratch: Scratch) -> None:
    scratch.write(f"{LOOP}/events/ratchet.py", block("event", "class Ratchet"))
    entry = f"{LOOP}/events/__init__.py"
    module = LOOP.removeprefix("src/").replace("/", ".") + ".events"
    scratch.enter(
        entry,
        f"from {module}.crossing import Crossing\n",
        f"from {module}.ratchet import Ratchet\n",
    )
    scratch.enter(entry, "(Crossing, Bounce, Switch", ", Ratchet")
    scratch.enter(
        "docs/studies.md", '`side` (`"upper"`, `"lower"`), `restitution` |\n', "| `ratchet` | `joint` |\n"
    )
    scratch.write("ratchet.toml", STUDY)
    read = "from articulus.study import read_study; print(read_study('ratchet.toml').settings.events)"
    assert scratch.python("-c", read) == "(Ratchet(joint='joint1', name='ratchet 0'),)\n"
    scratch.passes("tests/study/test_docs.py", "-k", "every_key")


def test_reader(scratch: Scratch) -> None:
    scratch.write(f"{PACKAGE}/model/files/points.py", block("reader", "def parse_points"))
    entry, table = f"{PACKAGE}/model/files/model.py", "tests/files/mutate.py"
    scratch.enter(
        entry,
        "from __future__ import annotations\n",
        "\nfrom articulus.model.files.points import read_points\n",
    )
    scratch.enter(entry, "READERS: dict[str, Reader] = {\n", '    ".points": read_points,\n')
    scratch.enter(
        table,
        "from articulus.model.files.storage import decode\n",
        "from articulus.model.files.points import parse_points\n",
    )
    scratch.enter(
        table, "READERS = {\n", '    "points": (parse_points, ["ball 1 0 0 0\\nblock 2 1 1 1\\n"]),\n'
    )
    scratch.write("two.points", "ball 1 0 0 0\nblock 2 1 1 1\n")
    assert scratch.python("-c", "import articulus as art; print(art.load('two.points').nv)") == "12\n"
    scratch.passes("tests/files/test_fuzz.py", "-k", "points")


def test_case(scratch: Scratch) -> None:
    folder = f"{PACKAGE}/cases/quarter_period"
    scratch.write(f"{folder}/case.py", block("case", "def compute"))
    scratch.write(f"{folder}/case.toml", block("case", "[[row]]", "toml"))
    scratch.write(f"{folder}/__init__.py", '"""A pendulum of large amplitude."""\n')
    assert "K(1/2)" in scratch.python("-m", "articulus", "verify", "quarter_period")
    scratch.passes("tests/cases", "-k", "quarter_period")


def test_library_model(scratch: Scratch) -> None:
    scratch.write(
        f"{PACKAGE}/model/library/cart_pole.toml", block("library_model", 'name = "cart_pole"', "toml")
    )
    scratch.write(f"{PACKAGE}/model/library/train.py", block("library_model", "def train"))
    scratch.enter(f"{PACKAGE}/model/library/__init__.py", "GENERATORS = (\n", '    "train",\n')
    scratch.passes("tests/library/test_library.py", "-k", "cart_pole or train")


RUN_SETTING = """
import inspect
import tempfile
from pathlib import Path

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.simulation.running import Loop
from articulus.study.reader import parse_study, read_study
from articulus.study.schema import json_schema

arm = art.load("two_link")
assert art.simulate(arm, 0.01).meta["settings"]["patience"] == 60.0
assert art.simulate(arm, 0.01, patience=3.0).meta["settings"]["patience"] == 3.0
assert inspect.signature(art.simulate).parameters["patience"].default == 60.0
assert "ongest time of the clock" in art.simulate.__doc__
said = []
study = 'schema = 1;[study];name = "a";model = "two_link";[run];t_end = 0.01;patience = '.replace(";", chr(10))
for wrong in (lambda: art.simulate(arm, 0.01, patienc=3.0), lambda: parse_study(study + "-1")):
    try:
        wrong()
    except (InputError, ModelError) as error:
        said.append(str(error))
assert "did you mean 'patience'?" in said[0]
assert "study.toml:7: run.patience: found -1; expected a finite number above 0" in said[1]
assert parse_study(study + '"2 min"').settings.patience == 120.0
with tempfile.TemporaryDirectory() as folder:
    path = Loop(arm).save_study(Path(folder) / "a.toml", 0.01, patience=5.0)
    assert "patience = 5.0" in path.read_text()
    assert read_study(path).settings.patience == 5.0
assert json_schema("study")["properties"]["run"]["properties"]["patience"]["default"] == 60.0
print("all")
"""


def test_run_setting(scratch: Scratch) -> None:
    """One place: a field of RunSettings."""
    place = scratch.folder / f"{PACKAGE}/simulation/running/settings.py"
    held, before = place.read_text(), "    first_run: int = "
    assert held.count(before) == 1
    place.write_text(held.replace(before, block("run_setting", "patience: float") + before))
    assert scratch.python("-c", RUN_SETTING) == "all\n"


DISTRIBUTION = """
import numpy as np
from scipy import stats

from articulus.study.campaign.design import Campaign
from articulus.study.schema import json_schema

study = '''
schema = 1
[study]
name = "a"
model = "two_link"
[run]
t_end = 0.01
[campaign]
runs = 8
[campaign.vary]
"q.joint1" = {triangular = ["-10 deg", 0, "30 deg"]}
'''
campaign = Campaign.read(study)
kind = campaign.axes[0].distribution
u = np.linspace(0.01, 0.99, 50)[:, None]
low, span = np.radians(-10), np.radians(40)
assert np.allclose(kind.values(u), stats.triang(0.25, low, span).ppf(u), rtol=1e-12)
assert Campaign.from_json(campaign.to_json(), ".").axes == campaign.axes
forms = json_schema("campaign")["$defs"]["distribution"]["anyOf"]
assert any(form.get("title") == "triangular" for form in forms)
print("all")
"""


def test_distribution(scratch: Scratch) -> None:
    """Two places: the class, and its name in the list."""
    place = scratch.folder / f"{PACKAGE}/study/campaign/distributions.py"
    held, start = place.read_text(), "ALL_DISTRIBUTIONS: tuple[type[Any], ...] = (\n"
    assert held.count(start) == 1
    text = block("distribution", "class Triangular")
    place.write_text(held.replace(start, f"{text}\n\n{start}    Triangular,\n"))
    assert scratch.python("-c", DISTRIBUTION) == "all\n"


def test_every_recipe_is_followed() -> None:
    pages = {f"test_{page.stem}" for page in PAGES.glob("*.md")}
    assert not pages - set(globals())
