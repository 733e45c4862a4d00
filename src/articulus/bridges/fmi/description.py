"""The description of a model for FMI: its variables with names, units and start values, as XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as xml

from articulus.bridges.c.loop import count_gaps
from articulus.bridges.stepped import SteppedLoop
from articulus.model.files.units import UnitError, parse_unit

NO_UNIT = ("", "-")
GAP = "gap."
"""Beginning of the names of gaps, the event indicators of model exchange."""
COUNTED = ("kg", "m", "s", "rad")


@dataclass(frozen=True)
class Variable:
    """One variable of an FMU.

    Parameters
    ----------
    reference : int
    name, unit : str
    causality, variability : str
    initial : str
        Empty: what the standard takes by itself.
    start : float or None
    derivative : int or None
        Reference of the state whose derivative it is.
    meaning : str
    """

    reference: int
    name: str
    unit: str
    causality: str
    variability: str
    initial: str = ""
    start: float | None = None
    derivative: int | None = None
    meaning: str = ""


def variables(s: SteppedLoop) -> list[Variable]:
    """Return all variables in the order of their references: time, parameters, inputs, outputs, states, their derivatives, gaps."""
    out = [Variable(0, "time", "s", "independent", "continuous")]

    def add(*given: object, **named: object) -> None:
        out.append(Variable(len(out), *given, **named))  # type: ignore[arg-type]

    for p in s.parameters:
        add(p.name, p.unit, "parameter", "tunable", "exact", p.start)
    for u in s.inputs:
        add(u.name, u.unit, "input", "continuous", "", u.start)
    for name, unit, meaning in reported(s):
        add(name, unit, "output", "continuous", "calculated", None, None, meaning)
    first = len(out)
    names = list(state_names(s))
    for (name, unit), start in zip(names, s.c0.tolist()):
        add(f"state.{name}", unit, "local", "continuous", "exact", start)
    for k, (name, unit) in enumerate(names):
        rate = "1/s" if unit in NO_UNIT else f"{unit}/s"
        add(f"rate.{name}", rate, "local", "continuous", "calculated", None, first + k)
    for k in range(count_gaps(s)):
        add(
            f"{GAP}{k}",
            "",
            "local",
            "continuous",
            "calculated",
            None,
            None,
            "gap, negative while two things touch",
        )
    return out


def reported(s: SteppedLoop) -> Iterator[tuple[str, str, str]]:
    """Yield name, unit and meaning of every output."""
    for signal in s.outputs:
        size = len(signal.labels) - (signal.name == "energy")
        for name, unit in list(zip(signal.columns, signal.units))[:size]:
            yield name, unit, signal.meaning


def state_names(s: SteppedLoop) -> Iterator[tuple[str, str]]:
    """Yield name and unit of every continuous state; the units of components' own states are not known."""
    known = {signal.name: signal for signal in s.outputs if signal.name in ("q", "v")}
    for name, at in s.system.places.items():
        n = at.stop - at.start
        if name in known:
            yield from zip(known[name].columns, known[name].units)
        else:
            unit = "J" if name.startswith("work.") or name == "projected" else ""
            yield from ((f"{name}.{k}" if n > 1 else name, unit) for k in range(n))


def description(s: SteppedLoop, version: str, name: str, token: str, sources: list[str]) -> bytes:
    """Return modelDescription.xml.

    Parameters
    ----------
    s : SteppedLoop
    version : str
        "2.0" or "3.0".
    name : str
        Model identifier.
    token : str
    sources : list of str
        Files to compile.
    """
    every = variables(s)
    three = version == "3.0"
    root = xml.Element("fmiModelDescription", fmiVersion=version, modelName=name, generationTool="articulus")
    root.set("instantiationToken" if three else "guid", token)
    root.set("description", f"Loop of '{s.system.description.name}'")
    root.set("variableNamingConvention", "flat")
    if not three:
        root.set("numberOfEventIndicators", str(count_gaps(s)))
    _interfaces(root, s, three, name, sources)
    _units(root, every)
    logs = xml.SubElement(root, "LogCategories")
    xml.SubElement(logs, "Category", name="logStatusError")
    step = repr(s.h)
    xml.SubElement(
        root,
        "DefaultExperiment",
        startTime=repr(s.settings.t0),
        stopTime=repr(s.settings.t0 + 1.0),
        stepSize=step,
    )
    (_variables_3 if three else _variables_2)(root, every)
    xml.indent(root)
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _interfaces(root: xml.Element, s: SteppedLoop, three: bool, name: str, sources: list[str]) -> None:
    can = {"modelIdentifier": name}
    state = "FMUState" if three else "FMUstate"
    can |= {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    can["providesDirectionalDerivatives" if three else "providesDirectionalDerivative"] = "true"
    steps = {"canHandleVariableCommunicationStepSize": "true"}
    if three:
        steps["fixedInternalStepSize"] = repr(s.h)
    for kind, more in (("ModelExchange", {}), ("CoSimulation", steps)):
        element = xml.SubElement(root, kind, can | more)
        if not three:
            files = xml.SubElement(element, "SourceFiles")
            for source in sources:
                xml.SubElement(files, "File", name=source)


def _units(root: xml.Element, every: list[Variable]) -> None:
    definitions = xml.SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(v.unit for v in every if v.unit not in NO_UNIT):
        element = xml.SubElement(definitions, "Unit", name=unit)
        try:
            found = parse_unit(unit)
        except UnitError:
            continue
        powers = {base: str(n) for base, n in zip(COUNTED, found.dimension) if n}
        if found.factor != 1:
            powers["factor"] = repr(float(found.factor))
        xml.SubElement(element, "BaseUnit", powers)


def _attributes(v: Variable) -> dict[str, str]:
    out = {
        "name": v.name,
        "valueReference": str(v.reference),
        "causality": v.causality,
        "variability": v.variability,
    }
    if v.initial:
        out["initial"] = v.initial
    if v.meaning:
        out["description"] = v.meaning
    return out


def _initial(every: list[Variable]) -> list[Variable]:
    """Return what is calculated at initialization: outputs, and derivatives of states."""
    return [v for v in every if v.initial == "calculated" and not v.name.startswith(GAP)]


def _variables_3(root: xml.Element, every: list[Variable]) -> None:
    held = xml.SubElement(root, "ModelVariables")
    for v in every:
        element = xml.SubElement(held, "Float64", _attributes(v))
        if v.unit not in NO_UNIT:
            element.set("unit", v.unit)
        if v.derivative is not None:
            element.set("derivative", str(v.derivative))
        if v.start is not None:
            element.set("start", repr(v.start))
    structure = xml.SubElement(root, "ModelStructure")
    for kind, chosen in (
        ("Output", [v for v in every if v.causality == "output"]),
        ("ContinuousStateDerivative", [v for v in every if v.derivative is not None]),
        ("InitialUnknown", _initial(every)),
        ("EventIndicator", [v for v in every if v.name.startswith(GAP)]),
    ):
        for v in chosen:
            xml.SubElement(structure, kind, valueReference=str(v.reference))


def _variables_2(root: xml.Element, every: list[Variable]) -> None:
    held = xml.SubElement(root, "ModelVariables")
    for v in every:
        given = _attributes(v)
        element = xml.SubElement(held, "ScalarVariable", given)
        real = xml.SubElement(element, "Real")
        if v.unit not in NO_UNIT:
            real.set("unit", v.unit)
        if v.derivative is not None:
            real.set("derivative", str(v.derivative + 1))  # counted from 1
        if v.start is not None:
            real.set("start", repr(v.start))
    structure = xml.SubElement(root, "ModelStructure")
    for kind, chosen in (
        ("Outputs", [v for v in every if v.causality == "output"]),
        ("Derivatives", [v for v in every if v.derivative is not None]),
        ("InitialUnknowns", _initial(every)),
    ):
        element = xml.SubElement(structure, kind)
        for v in chosen:
            xml.SubElement(element, "Unknown", index=str(v.reference + 1))
