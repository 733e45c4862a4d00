"""`articulus export`: models and loops for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from articulus.cli.arguments import Settings, options
from articulus.cli.printing import new_console
from articulus.errors import InputError


def export(
    model: Annotated[
        str, typer.Argument(help="Library name, path of a model, or path of a study (for its loop).")
    ],
    c: Annotated[
        list[str] | None,
        typer.Option(
            "--c",
            metavar="QUANTITY",
            help="Write C99 source of a quantity, such as forward_dynamics, pose:tool or forward_dynamics@tool; of a study also `step`, "
            "the step of its loop, or `law:NAME`, one sampled component of it. Several: repeat it, or put commas between.",
        ),
    ] = None,
    fmu: Annotated[
        bool,
        typer.Option("--fmu", help="Write the loop of a study as a functional mock-up unit, <name>.fmu."),
    ] = False,
    version: Annotated[str, typer.Option("--fmi", help="Version of FMI: 3.0 or 2.0.")] = "3.0",
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            help="Platform of a library in the FMU: linux64, win64, darwin64, aarch64 or darwin-aarch64; that of this computer if none is "
            "given. Others need the extra `cross`.",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", help="Folder of the files.")] = Path(),
    name: Annotated[
        str, typer.Option("--name", help="Prefix of names and files; that of the model if not given.")
    ] = "",
    real: Annotated[str, typer.Option("--real", help="Type of a number in C: double or float.")] = "double",
    wrench: Annotated[
        list[str] | None,
        typer.Option(
            "--wrench", metavar="FRAME", help="Frame on which a wrench acts from outside, in a step."
        ),
    ] = None,
    settings: Settings = None,
) -> None:
    """Write a model or the loop of a study for other programs."""
    asked = [each for text in c or () for each in text.split(",")]
    if fmu == bool(asked):
        raise InputError(
            "export: expected --c QUANTITY, --c step of a study, or --fmu of a study, one of them"
        )
    if fmu:
        return _tell([_fmu(model, output, name, version, platform, wrench or [])])
    laws = [each.removeprefix("law:") for each in asked if each.startswith("law:")]
    if laws:
        if len(asked) > 1:
            raise InputError(
                "export: found --c law:NAME beside others; expected it alone, in a separate folder"
            )
        return _tell(_law(model, laws[0], output, name, real))
    wanted = [each for each in asked if each != "step"]
    if wanted and len(wanted) < len(asked):
        raise InputError(
            "export: found --c step beside quantities; expected one or the other, in folders of their own"
        )
    paths = (
        _quantities(model, wanted, output, name, real, settings)
        if wanted
        else _step(model, output, name, real, wrench or [])
    )
    _tell(paths)


def _tell(paths: list[Path]) -> None:
    console = new_console()
    for path in paths:
        console.print(f"wrote {path}", soft_wrap=True)


def _fmu(
    model: str, output: Path, name: str, version: str, platforms: list[str] | None, wrenches: list[str]
) -> Path:
    from articulus.bridges.fmi import export_fmu
    from articulus.bridges.stepped import of_study
    from articulus.study.runner import make_folder

    study = _study(model)
    given = of_study(study, "export_fmu")
    make_folder(output)
    path = output / f"{name or study.name}.fmu"
    return export_fmu(study.loop, path, version=version, platforms=platforms, wrenches=wrenches, **given)


def _quantities(
    model: str, asked: list[str], output: Path, name: str, real: str, settings: Any
) -> list[Path]:
    from articulus.bridges.c import export_quantities
    from articulus.model.load import load
    from articulus.study import is_study, read_study

    mechanism = read_study(model).mechanism if is_study(model) else load(model, **options(settings))
    return export_quantities(mechanism, asked, output, name=name, real=real)


def _step(model: str, output: Path, name: str, real: str, wrenches: list[str]) -> list[Path]:
    from articulus.bridges.c import export_loop
    from articulus.bridges.stepped import of_study

    study = _study(model)
    given = of_study(study, "export of C")
    return export_loop(study.loop, output, name=name or study.name, real=real, wrenches=wrenches, **given)


def _law(model: str, component: str, output: Path, name: str, real: str) -> list[Path]:
    from articulus.bridges.c import export_law

    return export_law(_study(model).loop, component, output, name=name, real=real)


def _study(path: str) -> Any:
    from articulus.study import is_study, read_study

    if not is_study(path):
        raise InputError(f"export: found {path}; expected the path of a study, whose loop has a step")
    return read_study(path)
