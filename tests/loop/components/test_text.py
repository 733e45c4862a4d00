"""Components and events as text: what is read back is what was written."""

from __future__ import annotations

import casadi as ca
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop.components import ALL_COMPONENTS, PD
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.events import Bounce, Crossing
from articulus.simulation.loop.table import Table
from articulus.study.fields import TYPES
from articulus.study.loop_text import parts_text, read_parts

from .test_components import DIGGER, EXAMPLES, HOSTS, companions


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_every_component_comes_back_equal_or_says_that_it_cannot(kind: type) -> None:
    component, host = EXAMPLES[kind](), HOSTS.get(kind, DIGGER)
    network = Network(host.description, [*companions(kind), component])
    if kind not in TYPES.values():
        with pytest.raises(
            InputError, match=f"'{component.name}' is of class .*, which cannot be written to a file"
        ):
            parts_text(host, network)
        return
    assert read_parts(parts_text(host, network), host) == (network.components, ())


def test_parameters_expressions_and_tables_come_back_equal() -> None:
    kp = art.Parameter("kp", 0.1)
    course = Table((0.0, 0.5, 1.0), ((0.0,) * 4, (0.1, 1 / 3, 1e-7, -2.0), (1.0,) * 4), hold=True)
    pd = PD(kp=(kp, 2.0, 3.0, kp * 2), kd=kp / 7, target=course, period=0.01, name='say "pd"')
    found, _ = read_parts(parts_text(DIGGER, Network(DIGGER.description, [pd])), DIGGER)
    assert found == (pd,)


def test_events_come_back_equal_and_functions_are_refused() -> None:
    bounce = Bounce("boom", at=0.3, side=-1, restitution=0.5, name="edge")
    network = Network(DIGGER.description, [])
    assert read_parts(parts_text(DIGGER, network, [bounce]), DIGGER) == ((), (bounce,))
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", 4), ca.SX.sym("v", 4)
    crossing = Crossing(ca.Function("f", [t, q, v], [q[0]]), name="zero")
    with pytest.raises(InputError, match="event 'zero', function: a Function cannot be written to a file"):
        parts_text(DIGGER, network, [crossing])


def test_an_equal_name_is_not_enough() -> None:
    """A class of the user's own with the type name of one of the package is refused."""

    class Mine(PD):
        pass

    with pytest.raises(InputError, match="component 'pd' is of class Mine"):
        parts_text(DIGGER, Network(DIGGER.description, [Mine(kp=1.0, kd=1.0)]))
