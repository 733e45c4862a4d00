"""Errors carry what they say as data, keep it when pickled, and nobody reads their sentences back."""

import ast
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import articulus as art
from articulus.errors import ArticulusError, Finding, InputError, ModelError, unknown_name, unlike
from articulus.simulation.loop.component import Controller, Sensor
from articulus.simulation.loop.components import PD, RateGyro, Torque
from articulus.simulation.loop.equations import Network, UnfitComponents

SOURCE = Path(art.__file__).parent
OURS = {"ArticulusError", "InputError", "ModelError", "NumericalError", "UnsupportedOperation", "KernelError"}
TAKES_APART = {
    *("split", "rsplit", "splitlines", "partition", "rpartition", "startswith", "endswith"),
    *("removeprefix", "removesuffix", "find", "rfind", "index", "count", "strip", "lstrip", "rstrip"),
}
PATTERNS = {"match", "fullmatch", "search", "sub", "findall", "finditer"}


def caught(call: Callable[[], object]) -> ArticulusError:
    with pytest.raises(ArticulusError) as info:
        call()
    return info.value


# the data


@pytest.mark.parametrize(
    ("call", "where", "found", "expected", "field"),
    [
        (lambda: art.Revolute(axis=(0, 0, 2)), "Revolute.axis", "(0.0, 0.0, 2.0) of length 2", "a unit vector", "axis"),
        (lambda: art.Pose((1, 2)), "Pose.xyz", "2", "3 numbers", "xyz"),
        (lambda: art.Mechanism("m").body("b", mass="heavy"), "body 'b', mass", "'heavy'", "a number", "mass"),
        (lambda: Torque("lift", limit=-1.0), "Torque 'lift_torque', limit", "-1", "at least 0", "limit"),
    ],
)  # fmt: skip
def test_errors_of_arguments_say_where_what_and_what_was_expected(call, where, found, expected, field):
    error = caught(call)
    assert isinstance(error, InputError)
    (finding,) = error.findings
    assert (finding.where, finding.found, finding.expected, finding.field) == (where, found, expected, field)


def test_a_text_alone_is_a_finding_with_this_text():
    error = InputError("path: it is damaged")
    assert str(error) == str(error.findings[0]) == "path: it is damaged"
    assert error.findings[0].expected == ""


def test_findings_are_told_line_by_line():
    findings = [Finding("q", "3 numbers", "4", "Is a joint missing?"), Finding("", "nan", "numbers")]
    assert (
        str(InputError(findings))
        == "q: found 3 numbers; expected 4. Is a joint missing?\nfound nan; expected numbers"
    )
    assert InputError(iter(findings)).findings == tuple(findings)


def test_the_object_around_stands_in_front_and_its_field_counts():
    inner = unlike("3 numbers", "2").within("Pose.xyz", "xyz")
    outer = inner.within("body 'boom', at", "at")
    assert str(outer) == "body 'boom', at: Pose.xyz: expected 3 numbers, found 2"
    assert outer.findings == (Finding("body 'boom', at: Pose.xyz", "2", "3 numbers", field="at"),)


def test_an_unknown_name_has_the_nearest_as_its_hint():
    error = unknown_name("joint", "elbo", ["elbow", "lift"])
    assert str(error) == "no joint 'elbo'; did you mean 'elbow'?"
    assert (error.findings[0].found, error.findings[0].hint) == ("no joint 'elbo'", "did you mean 'elbow'?")


@pytest.mark.parametrize(
    "error",
    [
        InputError("a text"),
        InputError(Finding("q", "3", "4", "hint", "kind", "q")),
        unlike("3 numbers", "2").within("Pose.xyz", "xyz"),
        unknown_name("joint", "elbo", ["elbow"]),
        ModelError([Finding("a.toml:1: mass", "-1", "a number above 0"), Finding("b", "c", "d")]),
        UnfitComponents({1: InputError(Finding("component 'x'", "a", "b")), 0: InputError("c")}),
    ],
    ids=str,
)
def test_findings_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is type(error)
    assert (str(copy), copy.findings) == (str(error), error.findings)


# all components in one pass


class Counting(Sensor):
    """A sensor that counts how often it works."""

    name, worked = "counting", 0

    def measure(self, s):
        type(self).worked += 1
        return {"x": s.t}


class Reader(Controller):
    """A controller that reads a signal."""

    def __init__(self, name: str, signal: str):
        self.name, self.signal = name, signal

    def work(self, s):
        s.command(s.read(self.signal))


def test_a_network_tells_of_all_components_in_one_pass_but_not_of_what_follows():
    description = art.load("two_link").description
    joint = description.connections[0].name
    Counting.worked = 0
    components = [
        Torque("elbo", name="torque"),  # no such joint
        Counting(),
        RateGyro("nowhere", name="gyro"),  # no such frame
        Reader("follows", "gyro.rate"),  # only because the gyro is refused
        Reader("typing", "countin.x"),
        Torque(joint, name="twice"),
        Torque(joint, name="twice"),
    ]
    with pytest.raises(UnfitComponents) as info:
        Network(description, components)
    assert sorted(info.value.reasons) == [0, 2, 4, 6]
    assert Counting.worked == 1
    assert len(str(info.value).splitlines()) == len(info.value.findings) == 4
    assert info.value.reasons[6].findings[0].found == "the name a second time"


def test_components_that_fit_are_not_refused():
    description = art.load("two_link").description
    network = Network(description, [PD(kp=1.0, kd=1.0)])
    assert not network.refusals


# no sentence is read back


HANDLER = re.compile(r"\bexcept\b([^:]*)\bas\b")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _handlers(tree: ast.AST) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
            if names & OURS:
                yield node


def _is_text(node: ast.AST, errors: set[str], texts: set[str]) -> bool:
    """Return whether an expression is the text of an error, or made of it."""
    match node:
        case ast.Name(id=name):
            return name in texts
        case ast.Call(func=ast.Name(id="str" | "brief" | "repr"), args=[argument, *_]):
            return _is_error(argument, errors) or _is_text(argument, errors, texts)
        case ast.JoinedStr(values=values):
            parts = [v.value for v in values if isinstance(v, ast.FormattedValue)]
            return any(_is_error(p, errors) or _is_text(p, errors, texts) for p in parts)
        case ast.Subscript(value=ast.Attribute(value=argument, attr="args")):
            return _is_error(argument, errors)
        case ast.Call(func=ast.Attribute(value=inner)):
            return _is_text(inner, errors, texts)
    return False


def _is_error(node: ast.AST, errors: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in errors


def _parsed(body: list[ast.stmt], errors: set[str], texts: set[str], functions: dict[str, ast.FunctionDef]) -> Iterator[int]:  # fmt: skip
    """Yield the lines that take the text of an error apart, or look for words in it; functions of the module are followed."""
    nodes = [n for statement in body for n in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_text(node.value, errors, texts):
            texts = texts | {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
                apart = name in TAKES_APART and _is_text(value, errors, texts)
                searched = name in PATTERNS and any(_is_text(a, errors, texts) for a in arguments)
                if apart or searched:
                    yield node.lineno
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in functions:
                own = functions[name].args.args
                given = {a.arg for a, x in zip(own, arguments) if _is_text(x, errors, texts)}
                if given:
                    rest = {k: f for k, f in functions.items() if k != name}
                    yield from _parsed(functions[name].body, set(), given, rest)
            case ast.Compare(ops=ops, comparators=others):
                if any(
                    isinstance(op, ast.In | ast.NotIn) and _is_text(x, errors, texts)
                    for op, x in zip(ops, others)
                ):
                    yield node.lineno


def parsed_back(source: str) -> list[int]:
    """Return the lines of a module that read a sentence of one of our errors back."""
    if not any(names.intersection(OURS) for names in map(_words, HANDLER.findall(source))):
        return []  # most modules; parsing all of them takes seconds
    tree = ast.parse(source)
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    return sorted(
        {line for h in _handlers(tree) for line in _parsed(h.body, {h.name or ""}, set(), functions)}
    )


@pytest.mark.parametrize(
    "use",
    [
        'found = str(error).partition("found ")[2]',
        "text = str(error)\n    m = PATTERN.match(text)",
        'lost = "no joint" in str(error)',
        'x = f"{error}".split(";")',
        "x = cut(str(error))",
        'x = error.args[0].startswith("a")',
    ],
)
def test_the_search_finds_each_way_to_read_a_sentence_back(use):
    module = f'def cut(text):\n    return text.split(":")\n\ntry:\n    f()\nexcept InputError as error:\n    {use}\n'
    assert parsed_back(module)
    assert not parsed_back(module.replace("InputError", "KeyError"))


def test_no_module_reads_sentences_of_our_own_errors_back():
    lines = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in parsed_back(path.read_text())
    ]
    assert lines == []
